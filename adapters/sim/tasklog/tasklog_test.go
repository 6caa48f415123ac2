package tasklog_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim/decisionlog"
	"github.com/hedgesched/hedge/adapters/sim/tasklog"
)

const second = time.Second

func header() *tasklog.Header {
	return &tasklog.Header{Policy: "fifo", Seed: -7, Workers: 2, Slots: 1}
}

// story is two jobs: one of two tasks, one of which is paused for a second and the other stopped and lost; and a long
// one. Worker 1 crashes at 9 s.
func story() []tasklog.Record {
	task := func(kind tasklog.Kind, at time.Duration, job, task, worker int32) tasklog.Record {
		return tasklog.Record{Kind: kind, At: at * second, Job: job, Task: task, Worker: worker}
	}
	return []tasklog.Record{
		{Kind: tasklog.Submit, At: 1 * second, Job: 0, Durations: []time.Duration{4 * second, 2 * second}},
		task(tasklog.Start, 1, 0, 0, 0),
		task(tasklog.Start, 2, 0, 1, 1),
		task(tasklog.Pause, 3, 0, 0, 0),
		task(tasklog.Stop, 3, 0, 1, 1),
		task(tasklog.Resume, 4, 0, 0, 0),
		task(tasklog.Start, 5, 0, 1, 1),
		task(tasklog.Finish, 6, 0, 0, 0),
		task(tasklog.Finish, 7, 0, 1, 1),
		{Kind: tasklog.Submit, At: 7 * second, Job: 1, Long: true, Durations: []time.Duration{10 * second}},
		task(tasklog.Start, 8, 1, 0, 1),
		task(tasklog.Stop, 9, 1, 0, 1),
		{Kind: tasklog.Loss, At: 9 * second, Worker: 1},
		task(tasklog.Start, 9, 0, 1, 0), // its end may have been lost
		task(tasklog.Finish, 11, 0, 1, 0),
		task(tasklog.Start, 12, 1, 0, 0),
		task(tasklog.Finish, 22, 1, 0, 0),
	}
}

// told are the story's figures, by hand: job 0 takes 10 s, job 1 takes 15 s.
func told() *tasklog.Figures {
	return &tasklog.Figures{Short: tasklog.Class{Jobs: 1, Mean: 10, P50: 10, P90: 10, P99: 10},
		Long:     tasklog.Class{Jobs: 1, Mean: 15, P50: 15, P90: 15, P99: 15},
		All:      tasklog.Class{Jobs: 2, Mean: 12.5, P50: 12.5, P90: 14.5, P99: 14.95},
		Makespan: 21}
}

func written(t testing.TB, h *tasklog.Header, records []tasklog.Record, f *tasklog.Figures) []byte {
	var b bytes.Buffer
	w := tasklog.NewWriter(&b, h)
	for i := range records {
		w.Observe(&records[i])
	}
	require.NoError(t, w.Close(f))
	return b.Bytes()
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	log := written(t, header(), story(), told())
	r, err := tasklog.NewReader(bytes.NewReader(log))
	require.NoError(t, err)
	assert.Equal(t, *header(), r.Header())
	for _, want := range story() {
		var found tasklog.Record
		require.NoError(t, r.Read(&found))
		assert.Equal(t, want, found)
	}
	var end tasklog.Record
	require.NoError(t, r.Read(&end))
	assert.Equal(t, told(), end.Figures)
	assert.ErrorIs(t, r.Read(&end), io.EOF)
	assert.Equal(t, len(story())+1, r.Records())
}

func TestTheStoryPasses(t *testing.T) {
	r, err := tasklog.Check(bytes.NewReader(written(t, header(), story(), told())), nil)
	require.NoError(t, err)
	assert.Equal(t, *told(), r.Figures)
	assert.Equal(t, []int{18, 2, 3, 6, 1, 2, 1}, []int{r.Records, r.Jobs, r.Tasks, r.Starts, r.Pauses, r.Stops, r.Losses})
	assert.InDelta(t, (4+3.0)/(6*2), r.Busy, 1e-12, "slots in use from 1 s to 7 s")
}

// Each change makes the story impossible in one way.
func TestWhatCannotBeIsFound(t *testing.T) {
	for _, c := range []struct {
		what   string
		want   error
		change func(s []tasklog.Record, f *tasklog.Figures) []tasklog.Record
	}{
		{"a start before the job comes", decisionlog.ErrState, func(s []tasklog.Record, _ *tasklog.Figures) []tasklog.Record {
			s[0].At = 2 * second
			return slices.Concat(s[1:2], s[:1], s[2:])
		}},
		{"no such task", decisionlog.ErrState, func(s []tasklog.Record, _ *tasklog.Figures) []tasklog.Record {
			s[1].Task = 2
			return s
		}},
		{"a job twice", decisionlog.ErrState, func(s []tasklog.Record, _ *tasklog.Figures) []tasklog.Record {
			s[9].Job = 0
			return s
		}},
		{"two tasks in a slot", decisionlog.ErrOvercommit, func(s []tasklog.Record, _ *tasklog.Figures) []tasklog.Record {
			s[2].Worker = 0
			return s
		}},
		{"it runs elsewhere", decisionlog.ErrState, func(s []tasklog.Record, _ *tasklog.Figures) []tasklog.Record {
			s[3].Worker = 1
			return s
		}},
		{"a resume of what runs", decisionlog.ErrState, func(s []tasklog.Record, _ *tasklog.Figures) []tasklog.Record {
			return slices.Delete(s, 3, 4)
		}},
		{"an end of what is paused", decisionlog.ErrState, func(s []tasklog.Record, _ *tasklog.Figures) []tasklog.Record {
			return slices.Delete(s, 5, 6)
		}},
		{"an end too early", decisionlog.ErrRuntime, func(s []tasklog.Record, _ *tasklog.Figures) []tasklog.Record {
			s[16].At -= time.Nanosecond
			return s
		}},
		{"an end too late", decisionlog.ErrRuntime, func(s []tasklog.Record, _ *tasklog.Figures) []tasklog.Record {
			s[16].At += time.Nanosecond
			return s
		}},
		{"a pause too late", decisionlog.ErrRuntime, func(s []tasklog.Record, _ *tasklog.Figures) []tasklog.Record {
			s[0].Durations = []time.Duration{second, 2 * second}
			return s
		}},
		{"a second run without a crash", decisionlog.ErrState, func(s []tasklog.Record, _ *tasklog.Figures) []tasklog.Record {
			return slices.Delete(s, 12, 13)
		}},
		{"a crash that stops nothing", decisionlog.ErrState, func(s []tasklog.Record, _ *tasklog.Figures) []tasklog.Record {
			return slices.Delete(s, 11, 12)
		}},
		{"a task that goes on", decisionlog.ErrIncomplete, func(s []tasklog.Record, _ *tasklog.Figures) []tasklog.Record {
			return s[:16]
		}},
		{"other figures", decisionlog.ErrMismatch, func(s []tasklog.Record, f *tasklog.Figures) []tasklog.Record {
			f.Short.P90 += 1e-6
			return s
		}},
		{"another number of jobs", decisionlog.ErrMismatch, func(s []tasklog.Record, f *tasklog.Figures) []tasklog.Record {
			f.Long.Jobs++
			return s
		}},
		{"another makespan", decisionlog.ErrMismatch, func(s []tasklog.Record, f *tasklog.Figures) []tasklog.Record {
			f.Makespan++
			return s
		}},
	} {
		t.Run(c.what, func(t *testing.T) {
			f := told()
			s := c.change(story(), f)
			_, err := tasklog.Check(bytes.NewReader(written(t, header(), s, f)), nil)
			require.ErrorIs(t, err, c.want)
			var at *tasklog.RecordError
			require.ErrorAs(t, err, &at)
		})
	}
}

func TestTornAndOtherFilesAreRefused(t *testing.T) {
	log := written(t, header(), story(), told())
	for n := range log {
		_, err := tasklog.Check(bytes.NewReader(log[:n]), nil)
		require.Error(t, err, "%d bytes", n)
		var at *tasklog.RecordError
		require.ErrorAs(t, err, &at)
	}
	_, err := tasklog.Check(bytes.NewReader(append(slices.Clone(log), 0)), nil)
	require.ErrorIs(t, err, decisionlog.ErrSyntax)
	log[len(tasklog.Magic)]++
	_, err = tasklog.Check(bytes.NewReader(log), nil)
	require.ErrorIs(t, err, decisionlog.ErrSyntax)
	require.ErrorContains(t, err, "version 2, expected 1")
	_, err = tasklog.Check(strings.NewReader(tasklog.Magic+"\x01"+strings.Repeat("\xff", 20)), nil)
	require.ErrorIs(t, err, decisionlog.ErrSyntax)
	require.ErrorContains(t, err, "more than 64 bits")
}

func TestOptions(t *testing.T) {
	late := story()
	late[16].At += second
	f := told()
	f.Long = tasklog.Class{Jobs: 1, Mean: 16, P50: 16, P90: 16, P99: 16}
	f.All = tasklog.Class{Jobs: 2, Mean: 13, P50: 13, P90: 15.4, P99: 15.94}
	f.Makespan = 22
	_, err := tasklog.Check(bytes.NewReader(written(t, header(), late, f)), &decisionlog.Options{AnyRuntime: true})
	require.NoError(t, err)
	var b bytes.Buffer
	w := tasklog.NewWriter(&b, header())
	for _, r := range story()[:9] {
		w.Observe(&r)
	}
	require.NoError(t, w.Close(told()))
	const figures = 2 + 3*(1+4*8) + 8 // bytes
	part := b.Bytes()[:b.Len()-figures]
	_, err = tasklog.Check(bytes.NewReader(part), nil)
	require.ErrorIs(t, err, decisionlog.ErrIncomplete)
	r, err := tasklog.Check(bytes.NewReader(part), &decisionlog.Options{Partial: true})
	require.NoError(t, err)
	assert.Equal(t, tasklog.Class{Jobs: 1, Mean: 6, P50: 6, P90: 6, P99: 6}, r.Figures.Short)
}

// A task of 10 s is paused at 4 for one of 2 s. With costs of 3 s each, that ends at 9 and the first one at 18.
func TestPausesAreCharged(t *testing.T) {
	story := []tasklog.Record{
		{Kind: tasklog.Submit, Durations: []time.Duration{10 * second}},
		{Kind: tasklog.Start},
		{Kind: tasklog.Submit, At: 4 * second, Job: 1, Durations: []time.Duration{2 * second}},
		{Kind: tasklog.Pause, At: 4 * second},
		{Kind: tasklog.Start, At: 4 * second, Job: 1},
		{Kind: tasklog.Finish, At: 9 * second, Job: 1},
		{Kind: tasklog.Resume, At: 9 * second},
		{Kind: tasklog.Finish, At: 18 * second},
	}
	of := func(h tasklog.Header) error {
		h.Workers, h.Slots = 1, 1
		log := written(t, &h, story, told())
		const figures = 1 + 1 + 3*(1+4*8) + 8 // bytes
		_, err := tasklog.Check(bytes.NewReader(log[:len(log)-figures]), &decisionlog.Options{Partial: true})
		return err
	}
	assert.NoError(t, of(tasklog.Header{PauseCost: 3 * second, ResumeCost: 3 * second}))
	for _, h := range []tasklog.Header{{}, {PauseCost: 3 * second}, {ResumeCost: 3 * second},
		{PauseCost: 4 * second, ResumeCost: 3 * second}} {
		assert.ErrorIs(t, of(h), decisionlog.ErrRuntime, "%v", h)
	}
}

func TestWriterRefuses(t *testing.T) {
	for _, h := range []tasklog.Header{{}, {Workers: 1}, {Workers: 1, Slots: -1}, {Workers: 1, Slots: 1, Overhead: -1},
		{Workers: 1, Slots: 1, PauseCost: -1}, {Workers: 1, Slots: 1, ResumeCost: 2 * time.Hour},
		{Workers: 1, Slots: 1, Tolerance: 2 * second}, {Workers: 1, Slots: 1, Policy: string(make([]byte, 201))}} {
		require.Error(t, tasklog.NewWriter(io.Discard, &h).Close(told()), "%v", h)
	}
	w := tasklog.NewWriter(io.Discard, header())
	s := story()
	w.Observe(&s[9])
	w.Observe(&s[1])
	require.ErrorContains(t, w.Close(told()), "after")
	w = tasklog.NewWriter(failing{}, header())
	require.ErrorIs(t, w.Close(told()), errFull)
}

var errFull = errors.New("disk full")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFull }

func TestRecordsCostNoAllocation(t *testing.T) {
	w := tasklog.NewWriter(io.Discard, header())
	s := story()
	assert.Zero(t, testing.AllocsPerRun(100, func() { w.Observe(&s[0]) }))
}

func FuzzCheck(f *testing.F) {
	f.Add(written(f, header(), story(), told()))
	f.Add([]byte(tasklog.Magic))
	f.Fuzz(func(t *testing.T, log []byte) {
		for _, o := range []*decisionlog.Options{nil, {Partial: true, AnyRuntime: true}} {
			r, err := tasklog.Check(bytes.NewReader(log), o)
			var at *tasklog.RecordError
			if err != nil && !errors.As(err, &at) {
				t.Fatalf("%v is no record error", err)
			}
			if err == nil && r.Records > len(log) {
				t.Fatalf("%d records of %d bytes", r.Records, len(log))
			}
		}
	})
}
