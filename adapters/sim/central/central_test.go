package central_test

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim/agents"
	"github.com/hedgesched/hedge/adapters/sim/central"
	"github.com/hedgesched/hedge/adapters/sim/tasklog"
	"github.com/hedgesched/hedge/adapters/sim/trace"
	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
	"github.com/hedgesched/hedge/sched/threesigma"
)

func slice(t *testing.T) *agents.Workload {
	r, err := trace.Open("../published/testdata/yahoo.tr", nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	w, err := agents.Read(r)
	require.NoError(t, err)
	return w
}

func minute(t *testing.T) predict.Predictor {
	d, err := dist.NewPoint(60)
	require.NoError(t, err)
	p, err := predict.NewFixed(d)
	require.NoError(t, err)
	return p
}

// lists gives tasks to slots in order, each to the one that is free first: when each job ends, and the share of slots
// in use between the first and the last submission.
func lists(w *agents.Workload, slots int) (ends []time.Duration, busy float64) {
	free := make([]time.Duration, slots)
	from, to := w.Jobs[0].Submit, w.Jobs[len(w.Jobs)-1].Submit
	for i := range w.Jobs {
		end := time.Duration(0)
		for _, d := range w.Tasks(&w.Jobs[i]) {
			slices.Sort(free)
			start := max(free[0], w.Jobs[i].Submit)
			free[0] = start + d
			end = max(end, free[0])
			busy += (min(free[0], to) - min(start, to)).Seconds()
		}
		ends = append(ends, end)
	}
	return ends, busy / ((to - from).Seconds() * float64(slots))
}

// In order of submission and without cycles, tasks run as on a list.
func TestFIFOIsAList(t *testing.T) {
	w := slice(t)
	for _, c := range []struct{ nodes, slots int }{{100, 0}, {100, 1}, {30, 4}, {1, 120}} {
		r, err := central.Run(t.Context(), w, central.Config{Nodes: c.nodes, Slots: c.slots, Policy: baseline.NewFIFO(),
			Predictor: minute(t), Cutoff: 90581100 * time.Microsecond})
		require.NoError(t, err)
		ends, busy := lists(w, c.nodes*max(c.slots, 1))
		last := time.Duration(0)
		for i, want := range ends {
			require.Equal(t, want, r.Jobs[i].End, "job %d", i)
			require.Equal(t, w.Jobs[i].Mean.Seconds() > 90.5811, r.Jobs[i].Long)
			last = max(last, want)
		}
		assert.InDelta(t, busy, r.Busy, 1e-9)
		assert.Equal(t, last-w.Jobs[0].Submit, r.Makespan)
		assert.Equal(t, int64(len(w.Runtimes)), r.Launches)
		assert.Zero(t, r.Messages)
	}
}

// A task that comes between two cycles waits for the second.
func TestTasksWaitForCycles(t *testing.T) {
	w := &agents.Workload{Jobs: []agents.Job{{Submit: 3e9, Mean: 5e9, Tasks: 1}}, Runtimes: []time.Duration{5e9}}
	r, err := central.Run(t.Context(), w, central.Config{Nodes: 2, Cycle: 10 * time.Second, Policy: baseline.NewFIFO(),
		Predictor: minute(t)})
	require.NoError(t, err)
	assert.Equal(t, 15*time.Second, r.Jobs[0].End)
	assert.InDelta(t, 7, r.Jobs[0].Wait, 1e-9)
	assert.Zero(t, r.Busy, "the first submission is the last")
}

// wavering preempts, once, the first task that it sees running, and starts tasks in order of submission.
type wavering struct {
	sched.Policy
	done bool
}

func (p *wavering) Plan(ctx context.Context, s *sched.Snapshot) (*sched.Plan, error) {
	if !p.done && len(s.Running) > 0 {
		p.done = true
		return &sched.Plan{Decisions: []sched.Decision{{Job: s.Running[0].Job.ID, Kind: sched.Preempt,
			Reason: sched.Reason{Code: "wavering"}}}}, nil
	}
	return p.Policy.Plan(ctx, s)
}

// figures are those of a log, computed here.
func figures(r *agents.Result) *tasklog.Figures {
	class := func(of func(j *agents.JobResult) bool) (c tasklog.Class) {
		var seconds []float64
		for i := range r.Jobs {
			if j := &r.Jobs[i]; of(j) {
				seconds = append(seconds, (j.End - j.Submit).Seconds())
				c.Mean += (j.End - j.Submit).Seconds()
			}
		}
		slices.Sort(seconds)
		c.Jobs = len(seconds)
		c.Mean /= float64(c.Jobs)
		for q, at := range map[float64]*float64{0.5: &c.P50, 0.9: &c.P90, 0.99: &c.P99} {
			rank := float64(q * float64(c.Jobs-1))
			i := min(int(rank), c.Jobs-2)
			*at = seconds[i] + float64((rank-float64(i))*(seconds[i+1]-seconds[i]))
		}
		return c
	}
	return &tasklog.Figures{Short: class(func(j *agents.JobResult) bool { return !j.Long }),
		Long: class(func(j *agents.JobResult) bool { return j.Long }),
		All:  class(func(*agents.JobResult) bool { return true }), Makespan: r.Makespan.Seconds()}
}

// What the observer is told is a log that the checker takes, with preemptions and without, for policies that plan by
// names of nodes and by ranges.
func TestWhatIsToldCouldHaveHappened(t *testing.T) {
	w := slice(t)
	w.Jobs = w.Jobs[:60]
	w.Runtimes = w.Runtimes[:w.Jobs[59].First+w.Jobs[59].Tasks]
	w.Runtimes[5] = 0 // starts and ends at once
	planning, err := threesigma.New(threesigma.Config{})
	require.NoError(t, err)
	for name, policy := range map[string]sched.Policy{"fifo": baseline.NewFIFO(), "3sigma": planning,
		"wavering": &wavering{Policy: baseline.NewFIFO()}} {
		var b bytes.Buffer
		log := tasklog.NewWriter(&b, &tasklog.Header{Policy: name, Workers: 40, Slots: 2})
		r, err := central.Run(t.Context(), w, central.Config{Nodes: 40, Slots: 2, Cycle: time.Minute, Policy: policy,
			Predictor: minute(t), Observer: log, Cutoff: 90 * time.Second})
		require.NoError(t, err, name)
		require.NoError(t, log.Close(figures(r)))
		report, err := tasklog.Check(&b, nil)
		require.NoError(t, err, name)
		assert.Equal(t, len(w.Runtimes), report.Tasks)
		assert.InDelta(t, report.Busy, r.Busy, 1e-9, name)
		assert.Equal(t, int64(report.Starts), r.Launches)
		if name == "wavering" {
			assert.Equal(t, 1, report.Stops)
			assert.Equal(t, len(w.Runtimes)+1, report.Starts)
		}
	}
}

// Tasks know their job, their own place, and the attributes of the job.
func TestTasksAreForecast(t *testing.T) {
	w := slice(t)
	told := map[int]bool{}
	p, err := predict.NewPerfect(func(j predict.Job) (float64, bool) {
		task, ok := central.Task(j.ID)
		require.True(t, ok)
		job, err := strconv.Atoi(j.Attributes[central.Job])
		require.NoError(t, err)
		in := &w.Jobs[job]
		assert.True(t, task >= int(in.First) && task < int(in.First+in.Tasks))
		assert.Equal(t, "u"+strconv.Itoa(job%3), j.Attributes["user"])
		told[task] = true
		return w.Runtimes[task].Seconds(), true
	})
	require.NoError(t, err)
	_, err = central.Run(t.Context(), w, central.Config{Nodes: 100, Policy: baseline.NewSJF(), Predictor: p,
		Attributes: func(job int) map[string]string { return map[string]string{"user": "u" + strconv.Itoa(job%3)} }})
	require.NoError(t, err)
	assert.Len(t, told, len(w.Runtimes))
	for _, id := range []string{"", "7", "-000000001", "train"} {
		_, ok := central.Task(id)
		assert.False(t, ok, id)
	}
}

// lazy starts nothing.
type lazy struct{}

func (lazy) Name() string { return "lazy" }

func (lazy) Plan(context.Context, *sched.Snapshot) (*sched.Plan, error) { return &sched.Plan{}, nil }

func TestRefusals(t *testing.T) {
	w := slice(t)
	good := func() central.Config {
		return central.Config{Nodes: 100, Cycle: time.Second, Policy: baseline.NewFIFO(), Predictor: minute(t)}
	}
	for want, change := range map[string]func(c *central.Config){
		"the number of nodes": func(c *central.Config) { c.Nodes = 0 },
		"the number of slots": func(c *central.Config) { c.Slots = -1 },
		"the cutoff":          func(c *central.Config) { c.Cutoff = -1 },
		"no policy":           func(c *central.Config) { c.Policy = nil },
		"no predictor":        func(c *central.Config) { c.Predictor = nil },
		"cycle of":            func(c *central.Config) { c.Cycle = -1 },
	} {
		c := good()
		change(&c)
		_, err := central.Run(t.Context(), w, c)
		assert.ErrorContains(t, err, want)
	}
	c := good()
	c.Policy = lazy{}
	_, err := central.Run(t.Context(), w, c)
	require.ErrorIs(t, err, central.ErrLeft)
	for _, bad := range []*agents.Workload{{}, {Jobs: w.Jobs, Runtimes: w.Runtimes, After: make([][]int32, len(w.Jobs))},
		{Jobs: []agents.Job{{Tasks: 1}, {Tasks: 1, Phase: 1}}, Runtimes: make([]time.Duration, 2)}} {
		_, err := central.Run(t.Context(), bad, good())
		require.ErrorIs(t, err, agents.ErrWorkload)
	}
	_, err = central.Run(t.Context(), &agents.Workload{Jobs: w.Jobs[:1],
		Runtimes: make([]time.Duration, central.MaxTasks+1)}, good())
	require.ErrorContains(t, err, "the number of tasks is 5000001")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = central.Run(ctx, w, good())
	require.ErrorIs(t, err, context.Canceled)
}
