package demo_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/adapters/sim/trace"
	"github.com/hedgesched/hedge/adapters/sim/workload"
	"github.com/hedgesched/hedge/examples/internal/demo"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
)

// Example makes the default workload and says what it is.
func Example() {
	w, err := demo.New(demo.Default())
	if err != nil {
		fmt.Println(err)
		return
	}
	for part := range strings.SplitSeq(w.String(), ", ") {
		fmt.Println(part)
	}
	// Output:
	// 223 jobs (112 with a deadline
	// 245 tasks) in 2m0s on 32 nodes
	// 1.5 h of machine time
	// 20 times as fast as in the log
}

func TestNew(t *testing.T) {
	w, err := demo.New(demo.Default())
	require.NoError(t, err)
	again, err := demo.New(demo.Default())
	require.NoError(t, err)
	require.Equal(t, w.Jobs, again.Jobs, "the same options, the same workload")
	o := w.Options
	id := regexp.MustCompile(`^app-[a-z]+-\d+$`)
	seen, deadlines, work := map[string]bool{}, 0, 0.0
	for i, j := range w.Jobs {
		require.Regexp(t, id, j.ID)
		require.Equal(t, j.Attributes["name"], strings.TrimRight(j.ID, "-0123456789"))
		require.False(t, seen[j.ID])
		seen[j.ID] = true
		assert.Equal(t, fmt.Sprint(j.Tasks), j.Attributes["tasks"])
		assert.LessOrEqual(t, j.Arrive, w.Span)
		if i > 0 {
			assert.GreaterOrEqual(t, j.Arrive, w.Jobs[i-1].Arrive)
		}
		assert.GreaterOrEqual(t, j.Work.Runtime(), o.Shortest/20)
		assert.LessOrEqual(t, j.Work.Runtime(), o.Longest/20)
		work += float64(float64(j.Tasks) * j.Work.Runtime().Seconds())
		if j.Deadline > 0 {
			deadlines++
			assert.InDelta(t, 100, j.Utility.At(j.Deadline.Seconds()), 1e-9)
			assert.Greater(t, j.Deadline, j.Work.Runtime())
			assert.Equal(t, 1, j.Priority)
		} else {
			assert.InDelta(t, 5, j.Utility.At(0), 1e-9)
		}
	}
	assert.Equal(t, 2*time.Minute, w.Span)
	assert.InDelta(t, o.Load, work/(float64(o.Nodes)*w.Span.Seconds()), 0.02, "the load is the one asked for")
	assert.InDelta(t, 0.5, float64(deadlines)/float64(len(w.Jobs)), 0.02)
	assert.GreaterOrEqual(t, w.Window, 10*w.Slot)
}

func TestNewRefuses(t *testing.T) {
	for field, spoil := range map[string]func(*demo.Options){
		"Compress": func(o *demo.Options) { o.Compress = 0.5 },
		"Shortest": func(o *demo.Options) { o.Shortest = -time.Second },
		"Longest":  func(o *demo.Options) { o.Longest = o.Shortest },
	} {
		o := demo.Default()
		spoil(&o)
		_, err := demo.New(o)
		require.ErrorIs(t, err, demo.ErrOptions)
		require.ErrorContains(t, err, "invalid option: "+field+" of ")
	}
	o := demo.Default()
	o.Nodes = 0
	var spec *workload.SpecError
	_, err := demo.New(o)
	require.ErrorAs(t, err, &spec)
}

// TestHistory: what was learnt is of compressed time, and of the attributes that the jobs have.
func TestHistory(t *testing.T) {
	w, err := demo.New(demo.Default())
	require.NoError(t, err)
	h, err := w.History()
	require.NoError(t, err)
	known := 0
	for _, j := range w.Jobs {
		p := h.Predict(predict.Job{ID: j.ID, Attributes: j.Attributes})
		assert.LessOrEqual(t, p.Point, w.Options.Longest.Seconds()/w.Options.Compress+1e-9)
		if p.Expert.Feature != predict.AllFeature {
			known++
		}
	}
	assert.Greater(t, known, len(w.Jobs)/2, "most jobs are of a user or an application that was seen before")
}

// small is a log of ten jobs, one a minute, that run for two minutes each.
func small() demo.Options {
	var log []trace.Job
	for i := range 40 {
		log = append(log, trace.Job{ID: fmt.Sprint("j", i), Submit: time.Duration(i) * time.Minute, Runtime: 2 * time.Minute,
			Tasks: 1, Outcome: trace.Finished,
			Attributes: map[string]string{"user": "u", "name": fmt.Sprint("n", i%3)}})
	}
	return demo.Options{Nodes: 4, Load: 0.5, Hours: 0.25, Compress: 6000, Shortest: time.Minute, Longest: time.Hour,
		Seed: 1, Log: log}
}

// instant is a cluster that runs everything at once.
type instant struct {
	jobs   map[string]demo.Outcome
	submit func(*sim.Job) error
}

func (c *instant) Submit(_ context.Context, j *sim.Job) error {
	if c.submit != nil {
		return c.submit(j)
	}
	now := time.Now()
	c.jobs[j.ID] = demo.Outcome{Placed: now, Started: now.Add(10 * time.Millisecond),
		Finished: now.Add(j.Work.Runtime() + 30*time.Millisecond), Stops: 1}
	return nil
}

func (c *instant) Look(context.Context) (map[string]demo.Outcome, error) { return c.jobs, nil }

func TestRun(t *testing.T) {
	w, err := demo.New(small())
	require.NoError(t, err)
	c := &instant{jobs: map[string]demo.Outcome{}}
	told := 0
	r, err := demo.Run(t.Context(), w, c, demo.RunOptions{Name: "x", OnProgress: func(submitted, _, all int) {
		told = submitted
		assert.Equal(t, len(w.Jobs), all)
	}})
	require.NoError(t, err)
	assert.Equal(t, len(w.Jobs), told)
	assert.Equal(t, demo.Delays{Start: 10 * time.Millisecond, Stop: 20 * time.Millisecond}, r.Delays)
	for i, j := range r.Jobs {
		assert.Equal(t, w.Jobs[i].ID, j.ID)
		assert.GreaterOrEqual(t, j.Submit, w.Jobs[i].Arrive, "no job is early")
		assert.Equal(t, w.Jobs[i].Deadline > 0, j.Class == sim.SLO)
	}
	f := r.Figures()
	assert.Equal(t, len(w.Jobs), f.Stops)
	assert.Zero(t, f.Unfinished)
}

func TestRunEndsEarly(t *testing.T) {
	w, err := demo.New(small())
	require.NoError(t, err)
	broken := errors.New("broken")
	_, err = demo.Run(t.Context(), w, &instant{submit: func(*sim.Job) error { return broken }}, demo.RunOptions{})
	require.ErrorIs(t, err, broken)
	ctx, cancel := context.WithCancel(t.Context())
	_, err = demo.Run(ctx, w, &instant{submit: func(*sim.Job) error { cancel(); return nil }}, demo.RunOptions{})
	require.ErrorIs(t, err, context.Canceled)
	r, err := demo.Run(t.Context(), w, &instant{submit: func(*sim.Job) error { return nil }}, demo.RunOptions{Patience: 1})
	require.NoError(t, err)
	f := r.Figures()
	assert.Equal(t, len(w.Jobs), f.Unfinished)
	assert.Equal(t, f.SLO, f.Missed, "what does not finish misses its deadline")
}

func TestUntil(t *testing.T) {
	asked, broken := 0, errors.New("broken")
	require.NoError(t, demo.Until(t.Context(), time.Hour, "it is so", func() (bool, error) {
		asked++
		return asked == 3, nil
	}))
	assert.Equal(t, 3, asked)
	require.ErrorIs(t, demo.Until(t.Context(), time.Hour, "it is so", func() (bool, error) {
		return false, broken
	}), broken)
	err := demo.Until(t.Context(), time.Millisecond, "it is so", func() (bool, error) { return false, nil })
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorContains(t, err, "it did not come about that it is so")
}

// TestProgress: the first call, and the last.
func TestProgress(t *testing.T) {
	var out strings.Builder
	told := demo.Progress(&out, "x")
	told(1, 0, 4)
	told(4, 4, 4)
	assert.Equal(t, "x: 1 of 4 jobs handed in, 0 finished\nx: 4 of 4 jobs handed in, 4 finished\n", out.String())
}

// TestSaveHistory: a scheduler that begins with the file knows what the workload does.
func TestSaveHistory(t *testing.T) {
	w, err := demo.New(demo.Default())
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "history")
	require.NoError(t, w.SaveHistory(file))
	want, err := w.History()
	require.NoError(t, err)
	got, err := predict.NewHistory(nil)
	require.NoError(t, err)
	_, err = adapters.HistoryFile(file).Load(got)
	require.NoError(t, err)
	for _, j := range w.Jobs[:20] {
		p := predict.Job{ID: j.ID, Attributes: j.Attributes}
		assert.InDelta(t, want.Predict(p).Point, got.Predict(p).Point, 1e-6)
	}
	require.Error(t, w.SaveHistory(filepath.Join(file, "no folder")))
}

// TestPredict: the simulator's word is of the same jobs, and delays make it worse.
func TestPredict(t *testing.T) {
	w, err := demo.New(demo.Default())
	require.NoError(t, err)
	run := func(d demo.Delays) demo.Figures {
		p, err := w.Policy("3sigma")
		require.NoError(t, err)
		r, err := w.Predict(t.Context(), p, 500*time.Millisecond, d)
		require.NoError(t, err)
		require.Equal(t, "simulated: 3sigma", r.Name)
		require.Len(t, r.Jobs, len(w.Jobs))
		return r.Figures()
	}
	none, slow := run(demo.Delays{}), run(demo.Delays{Start: 3 * time.Second, Stop: 3 * time.Second})
	assert.Zero(t, none.Unfinished)
	assert.Less(t, none.Missed, slow.Missed)
	assert.Less(t, none.All, slow.All)
	prio, err := w.Predict(t.Context(), baseline.NewPrio(), 0, demo.Delays{})
	require.NoError(t, err)
	assert.Zero(t, prio.Figures().Unfinished)
}

func TestFigures(t *testing.T) {
	second := time.Second
	r := &demo.Result{Name: "x", Delays: demo.Delays{Start: second}, Jobs: []sim.JobRecord{
		{Class: sim.SLO, Submit: 1 * second, Deadline: 10 * second, Finish: 10 * second},
		{Class: sim.SLO, Submit: 1 * second, Deadline: 10 * second, Finish: 11 * second, Preemptions: 2},
		{Class: sim.SLO, Deadline: 10 * second, Finish: -1},
		{Class: sim.BestEffort, Submit: 2 * second, Finish: 4 * second},
		{Class: sim.BestEffort, Submit: 2 * second, Finish: 6 * second},
	}}
	assert.Equal(t, demo.Figures{SLO: 3, Missed: 2, Mean: 3 * second, P90: 4 * second, All: 25 * second / 4, Unfinished: 1,
		Stops: 2, End: 11 * second}, r.Figures())
	assert.Equal(t, demo.Figures{}, (&demo.Result{}).Figures())
	var out strings.Builder
	require.NoError(t, demo.WriteTable(&out, demo.Summarise(r)))
	assert.Contains(t, out.String(), "2 of 3  66.7 %")
}

// TestPatient: what preempts otherwise waits, and starts what there is room for.
func TestPatient(t *testing.T) {
	w, err := demo.New(demo.Default())
	require.NoError(t, err)
	stops := func(p sched.Policy) int {
		r, err := w.Predict(t.Context(), p, 0, demo.Delays{})
		require.NoError(t, err)
		assert.Zero(t, r.Figures().Unfinished)
		return r.Figures().Stops
	}
	assert.Positive(t, stops(baseline.NewPrio()))
	assert.Zero(t, stops(demo.Patient(baseline.NewPrio())))
}

// TestSummarise: each figure's median is its own, of an even number the lower of the middle two.
func TestSummarise(t *testing.T) {
	run := func(latency, delay time.Duration, stops int) *demo.Result {
		return &demo.Result{Name: "x", Delays: demo.Delays{Start: delay, Stop: 2 * delay},
			Jobs: []sim.JobRecord{{Class: sim.BestEffort, Finish: latency, Preemptions: stops}}}
	}
	a, b, c := run(3, 20, 7), run(1, 30, 9), run(2, 10, 8)
	s := demo.Summarise(a, b, c)
	assert.Equal(t, demo.Summary{Name: "x", Figures: demo.Figures{Mean: 2, P90: 2, All: 2, End: 2, Stops: 8},
		Delays: demo.Delays{Start: 20, Stop: 40}}, s)
	assert.Equal(t, 7, demo.Summarise(a, b).Stops)
	assert.Equal(t, 9, demo.Summarise(b).Stops)
}
