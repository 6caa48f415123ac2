package sim_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/adapters/sim/decisionlog"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
)

// policies are those that start jobs in any order, with and without preemption.
var policies = map[string]func() sched.Policy{
	"fifo": baseline.NewFIFO, "edf": baseline.NewEDF, "sjf": baseline.NewSJF, "prio": baseline.NewPrio,
}

func simulate(t testing.TB, seed uint64, policy func() sched.Policy, change func(*sim.Config)) (*sim.Result, []byte) {
	t.Helper()
	jobs := workload(seed, 300, 10)
	preferRacks(seed, jobs)
	var log bytes.Buffer
	cfg := sim.Config{
		Nodes: sim.Nodes(8, 4, 2), Jobs: jobs, Policy: policy(), Predictor: fixed(t),
		Cycle: time.Duration(seed%3) * 7 * time.Second, Span: time.Hour, Seed: int64(seed), Log: &log,
		Stopwatch: func() time.Duration { return 0 },
	}
	if change != nil {
		change(&cfg)
	}
	result, err := sim.Run(context.Background(), cfg)
	require.NoError(t, err)
	return result, log.Bytes()
}

// TestLogGivesTheSameFigures checks every log and re-derives every figure by separate code.
func TestLogGivesTheSameFigures(t *testing.T) {
	for name, policy := range policies {
		for seed := range uint64(6) {
			t.Run(fmt.Sprint(name, seed), func(t *testing.T) {
				result, log := simulate(t, seed, policy, nil)
				report, err := decisionlog.Check(bytes.NewReader(log), nil)
				require.NoError(t, err)
				requireSameFigures(t, report.Metrics, result.Metrics)
				require.Len(t, report.Jobs, len(result.Jobs))
				for i, r := range result.Jobs {
					j := report.Jobs[i]
					nodes := []sched.NodeTasks(nil)
					for _, n := range j.Nodes {
						nodes = append(nodes, sched.NodeTasks{Node: n.Node, Tasks: n.Tasks})
					}
					require.Equal(t, r, sim.JobRecord{
						ID: j.ID, Class: sim.Class(j.Class), Tasks: j.Tasks, Submit: j.Submit, Deadline: j.Deadline,
						FirstStart: j.FirstStart, Start: j.Start, Finish: j.Finish, Preemptions: j.Preemptions,
						Lost: j.Lost, Speed: j.Speed, Nodes: nodes,
						// Not of a job's last line in the log; the figures made of them are compared above.
						Runtime: r.Runtime, Stop: r.Stop, Held: r.Held, HeldInWindow: r.HeldInWindow, Told: r.Told,
					})
				}
				requireClasses(t, report.Jobs, result)
				if name == "prio" {
					require.NotZero(t, result.Metrics.Preemptions, "the workload must exercise preemption")
				}
			})
		}
	}
}

// TestCyclesAreRecounted alters the number of cycles in a log's last line.
func TestCyclesAreRecounted(t *testing.T) {
	for name, policy := range policies {
		for seed := range uint64(6) {
			result, log := simulate(t, seed, policy, nil)
			count, more := result.Metrics.Cycles, 1
			if seed%3 == 0 {
				more = count // asked at events: when nothing is to come, a policy may be asked again
			}
			for _, by := range []int{-1, more} {
				altered := bytes.Replace(log, fmt.Appendf(nil, `"cycles":%d`, count), fmt.Appendf(nil, `"cycles":%d`, count+by), 1)
				require.NotEqual(t, log, altered)
				_, err := decisionlog.Check(bytes.NewReader(altered), nil)
				require.ErrorIs(t, err, decisionlog.ErrMismatch, "%s, seed %d, %+d", name, seed, by)
			}
		}
	}
}

// requireSameFigures compares metrics by their JSON, without wall-clock fields: integers and text exactly,
// other numbers to the last few of a float's bits, since the two sides round in different order.
func requireSameFigures(t *testing.T, want, got any) {
	t.Helper()
	w, g := figures(t, want), figures(t, got)
	require.ElementsMatch(t, slices.Collect(maps.Keys(w)), slices.Collect(maps.Keys(g)))
	for name, x := range w {
		y := g[name]
		if f, ok := x.(float64); ok && f != math.Trunc(f) {
			require.InEpsilon(t, x, y, 1e-13, name)
			continue
		}
		require.Equal(t, x, y, name)
	}
}

// figures flattens the JSON of metrics.
func figures(t *testing.T, metrics any) map[string]any {
	t.Helper()
	text, err := json.Marshal(metrics)
	require.NoError(t, err)
	var tree map[string]any
	require.NoError(t, json.Unmarshal(text, &tree))
	delete(tree, "cycle_ms")
	delete(tree, "phase_ms")
	delete(tree, "classes") // no figures of the log; requireClasses
	out := map[string]any{}
	flatten(out, "", tree)
	return out
}

func flatten(out map[string]any, path string, v any) {
	if m, ok := v.(map[string]any); ok {
		for k, x := range m {
			flatten(out, path+"/"+k, x)
		}
		return
	}
	out[path] = v
}

// requireClasses computes the figures of classes from a log's jobs and the jobs' runtimes.
func requireClasses(t *testing.T, jobs []decisionlog.Job, result *sim.Result) {
	t.Helper()
	require.Len(t, result.Metrics.Classes, 2)
	for class, got := range result.Metrics.Classes {
		var took, normalised []float64
		total := 0
		for i, j := range jobs {
			if sim.Class(j.Class) != class {
				continue
			}
			total++
			if j.Finish < 0 {
				continue
			}
			took = append(took, (j.Finish - j.Submit).Seconds())
			if runtime := result.Jobs[i].Runtime; runtime > 0 {
				normalised = append(normalised, float64(j.Finish-j.Submit)/float64(runtime))
			}
		}
		require.Equal(t, []int{total, len(took)}, []int{got.Jobs, got.Completed})
		for _, c := range []struct {
			values []float64
			got    sim.Spread
		}{{took, got.JCT}, {normalised, got.Normalised}} {
			slices.Sort(c.values)
			at := func(p int) float64 { return c.values[max((len(c.values)*p+99)/100, 1)-1] }
			sum := 0.0
			for _, v := range c.values {
				sum += v
			}
			want := []float64{sum / float64(len(c.values)), at(50), at(90), at(99)}
			require.InEpsilonSlice(t, want, []float64{c.got.Mean, c.got.P50, c.got.P90, c.got.P99}, 1e-13)
		}
	}
}

func TestBusyTimeIsGoodputAndLostWork(t *testing.T) {
	for seed := range uint64(6) {
		result, _ := simulate(t, seed, baseline.NewPrio, nil)
		m := result.Metrics
		assert.InEpsilon(t, result.BusyMachineHours, m.Goodput.SLO+m.Goodput.BE+m.LostMachineHours, 1e-12)
		sum, hours := 0.0, result.Series.Step.Hours()
		for _, p := range result.Series.Points {
			sum += (p.SLO + p.BestEffort) * hours * 8
			assert.LessOrEqual(t, p.SLO+p.BestEffort, 1+1e-9)
		}
		assert.InEpsilon(t, result.BusyMachineHours, sum, 1e-9)
		assert.LessOrEqual(t, len(result.Series.Points), sim.MaxPoints)
		assert.InEpsilon(t, result.BusyMachineHours/(8*m.MakespanS/3600), m.Utilisation, 1e-12)
	}
}

func TestSameRunSameBytes(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for name, policy := range policies {
		var first []byte
		var result *sim.Result
		for run := range 4 {
			runtime.GOMAXPROCS(1 + run/2)
			r, log := simulate(t, 5, policy, nil)
			if run == 0 {
				first, result = log, r
				continue
			}
			require.Equal(t, string(first), string(log), name)
			require.Equal(t, result, r, name)
		}
	}
}

func TestInputOrderDoesNotMatter(t *testing.T) {
	_, log := simulate(t, 3, baseline.NewFIFO, nil)
	_, reversed := simulate(t, 3, baseline.NewFIFO, func(cfg *sim.Config) {
		for i, j := 0, len(cfg.Jobs)-1; i < j; i, j = i+1, j-1 {
			cfg.Jobs[i], cfg.Jobs[j] = cfg.Jobs[j], cfg.Jobs[i]
		}
	})
	require.Equal(t, string(log), string(reversed))
}

func TestCyclesFallOnMultiples(t *testing.T) {
	var at []time.Duration
	result, err := sim.Run(context.Background(), sim.Config{
		Nodes: sim.Nodes(1, 1, 1),
		Jobs: []sim.Job{
			{Job: sched.Job{ID: "a", Tasks: 1}, Arrive: 0, Work: sim.Runtime(20 * time.Second)},
			{Job: sched.Job{ID: "b", Tasks: 1}, Arrive: 20 * time.Second, Work: sim.Runtime(5 * time.Second)},
			{Job: sched.Job{ID: "c", Tasks: 1}, Arrive: 101 * time.Second, Work: sim.Runtime(15 * time.Second)},
		},
		Policy: baseline.NewFIFO(), Predictor: fixed(t), Cycle: 10 * time.Second,
		CycleObserver: func(c *sched.Cycle) { at = append(at, c.Now.Sub(sim.Epoch())) },
	})
	require.NoError(t, err)
	want := []time.Duration{0, 10, 20, 30, 110, 120, 130}
	for i := range want {
		want[i] *= time.Second
	}
	assert.Equal(t, want, at)
	assert.Equal(t, 20*time.Second, result.Jobs[1].Start, "a's completion comes before the cycle of its instant")
	assert.Equal(t, 110*time.Second, result.Jobs[2].Start)
	assert.Equal(t, 9, result.Events)
}

// idle is a policy that never starts anything.
type idle struct{}

func (idle) Name() string { return "idle" }

func (idle) Plan(_ context.Context, s *sched.Snapshot) (*sched.Plan, error) {
	p := &sched.Plan{}
	for _, j := range s.Pending {
		p.Decisions = append(p.Decisions, sched.Decision{Job: j.Job.ID, Reason: sched.Reason{Code: sched.ReasonNoUtility}})
	}
	return p, nil
}

func TestJobsNobodyStartsAreDropped(t *testing.T) {
	for _, cycle := range []time.Duration{0, time.Second} {
		done := 0
		result, log := simulate(t, 1, func() sched.Policy { return idle{} }, func(cfg *sim.Config) {
			cfg.Cycle = cycle
			cfg.Progress = func(d, total int) { done = d; assert.Equal(t, 300, total) }
		})
		assert.Equal(t, 300, done)
		m := result.Metrics
		assert.Equal(t, 300, m.SLO.Jobs+m.BE.Jobs)
		assert.Equal(t, m.SLO.Jobs, m.SLO.Missed)
		assert.Equal(t, 1.0, m.SLO.MissRate)
		assert.Zero(t, m.Utilisation)
		assert.Contains(t, string(log), `"why":"not started in 3 cycles on an idle cluster: `+
			`expected to be worth nothing by the time it is done`)
		report, err := decisionlog.Check(bytes.NewReader(log), nil)
		require.NoError(t, err)
		requireSameFigures(t, report.Metrics, m)
	}
}

// restless is FIFO that stops whatever runs in every other cycle.
type restless struct {
	sched.Policy
	cycle int
}

func (p *restless) Plan(ctx context.Context, s *sched.Snapshot) (*sched.Plan, error) {
	if p.cycle++; p.cycle%2 == 1 {
		return p.Policy.Plan(ctx, s)
	}
	plan := &sched.Plan{}
	for i := range s.Running {
		plan.Decisions = append(plan.Decisions, sched.Decision{Job: s.Running[i].Job.ID, Kind: sched.Preempt})
	}
	return plan, nil
}

func TestPolicyThatGetsNowhere(t *testing.T) {
	run := func(runtime time.Duration) (*sim.Result, error) {
		return sim.Run(context.Background(), sim.Config{
			Nodes: sim.Nodes(1, 1, 1), Policy: &restless{Policy: baseline.NewFIFO()}, Predictor: fixed(t), Cycle: time.Second,
			Jobs: []sim.Job{{Job: sched.Job{ID: "sisyphus", Tasks: 1}, Work: sim.Runtime(runtime)}},
		})
	}
	result, err := run(time.Second)
	require.NoError(t, err)
	assert.Equal(t, 1, result.Metrics.BE.Completed, "a job short enough gets done")
	_, err = run(2 * time.Second)
	require.ErrorIs(t, err, sim.ErrLivelock)
	assert.ErrorContains(t, err, `"sisyphus"`)
	assert.ErrorContains(t, err, "3m21s")
}

func TestChargedSolverTimeDelaysStarts(t *testing.T) {
	var clock time.Duration
	for _, cycle := range []time.Duration{0, 10 * time.Second} {
		result, log := simulate(t, 2, baseline.NewFIFO, func(cfg *sim.Config) {
			cfg.Cycle = cycle
			cfg.ChargeSolverTime = true
			cfg.Stopwatch = func() time.Duration { clock += time.Second; return clock }
		})
		assert.Greater(t, result.Jobs[0].Start, result.Jobs[0].Submit)
		report, err := decisionlog.Check(bytes.NewReader(log), nil)
		require.NoError(t, err)
		assert.Equal(t, 300, report.Metrics.SLO.Completed+report.Metrics.BE.Completed)
		assert.Greater(t, result.Metrics.CycleMS.P50, 0.0)
	}
}

func TestBadInputIsNamed(t *testing.T) {
	job := func(change func(*sim.Job)) []sim.Job {
		j := sim.Job{Job: sched.Job{ID: "culprit", Tasks: 1}, Work: sim.Runtime(time.Second)}
		change(&j)
		return []sim.Job{j}
	}
	work := func(times []time.Duration) func(*sim.Config) {
		return func(c *sim.Config) { c.Jobs = job(func(j *sim.Job) { j.Work = sim.Tasks(times) }) }
	}
	for name, c := range map[string]struct {
		change func(*sim.Config)
		want   error
	}{
		"no policy":    {func(c *sim.Config) { c.Policy = nil }, sim.ErrConfig},
		"no predictor": {func(c *sim.Config) { c.Predictor = nil }, sim.ErrConfig},
		"no nodes":     {func(c *sim.Config) { c.Nodes = nil }, sim.ErrConfig},
		"cycle":        {func(c *sim.Config) { c.Cycle = -1 }, sim.ErrConfig},
		"span":         {func(c *sim.Config) { c.Span = -1 }, sim.ErrConfig},
		"tasks a node": {func(c *sim.Config) { c.TasksPerNode = -1 }, sim.ErrConfig},
		"twin nodes":   {func(c *sim.Config) { c.Nodes = []sched.Node{{Name: "culprit"}, {Name: "culprit"}} }, sim.ErrNode},
		"id":           {func(c *sim.Config) { c.Jobs = job(func(j *sim.Job) { j.ID = "" }) }, sim.ErrJob},
		"not utf-8":    {func(c *sim.Config) { c.Jobs = job(func(j *sim.Job) { j.ID = "culprit\xff" }) }, sim.ErrJob},
		"no tasks":     {func(c *sim.Config) { c.Jobs = job(func(j *sim.Job) { j.Tasks = 0 }) }, sim.ErrJob},
		"arrival":      {func(c *sim.Config) { c.Jobs = job(func(j *sim.Job) { j.Arrive = -1 }) }, sim.ErrJob},
		"too few":      {work(nil), sim.ErrJob},
		"too many":     {work([]time.Duration{1, 2}), sim.ErrJob},
		"a task's":     {work([]time.Duration{-1}), sim.ErrJob},
		"runtime":      {func(c *sim.Config) { c.Jobs = job(func(j *sim.Job) { j.Work = sim.Runtime(-1) }) }, sim.ErrJob},
		"endless": {func(c *sim.Config) {
			c.Jobs = job(func(j *sim.Job) {
				j.Speeds, j.Work = sched.SpeedsOf(sched.Speed{Factor: 1e-6}), sim.Runtime(time.Hour)
			})
		}, sim.ErrJob},
		"deadline": {func(c *sim.Config) { c.Jobs = job(func(j *sim.Job) { j.Deadline = -1 }) }, sim.ErrJob},
		"resource": {func(c *sim.Config) {
			c.Jobs = job(func(j *sim.Job) { j.Demand = sched.Resources{"gpu": 1} })
		}, sim.ErrJob},
		"duplicate": {func(c *sim.Config) { j := job(func(*sim.Job) {}); c.Jobs = append(j, j...) }, sim.ErrDuplicateJob},
		"wide":      {func(c *sim.Config) { c.Jobs = job(func(j *sim.Job) { j.Tasks = 9 }) }, sim.ErrTooWide},
		"nowhere": {func(c *sim.Config) {
			c.Jobs = job(func(j *sim.Job) { j.Required = sched.NodesWith("gpu") })
		}, sim.ErrTooWide},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := sim.Config{Nodes: sim.Nodes(4, 2, 2), Policy: baseline.NewFIFO(), Predictor: fixed(t)}
			c.change(&cfg)
			_, err := sim.Run(context.Background(), cfg)
			require.ErrorIs(t, err, c.want)
			if !errors.Is(c.want, sim.ErrConfig) && name != "id" {
				assert.Contains(t, err.Error(), "culprit")
			}
		})
	}
}

func TestNoJobsAndCanceledContext(t *testing.T) {
	cfg := sim.Config{Nodes: sim.Nodes(4, 2, 2), Policy: baseline.NewFIFO(), Predictor: fixed(t)}
	result, err := sim.Run(context.Background(), cfg)
	require.NoError(t, err)
	assert.Zero(t, result.Events)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	cfg.Jobs, cfg.Policy = workload(1, 3, 2), baseline.NewFIFO()
	_, err = sim.Run(ctx, cfg)
	require.ErrorIs(t, err, context.Canceled)
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, assert.AnError }

func TestLogThatCannotBeWritten(t *testing.T) {
	_, err := sim.Run(context.Background(), sim.Config{
		Nodes: sim.Nodes(4, 2, 2), Jobs: workload(1, 5, 2), Policy: baseline.NewFIFO(), Predictor: fixed(t), Log: failing{},
	})
	require.ErrorIs(t, err, assert.AnError)
}

// Nodes that take nothing, and nodes that take more than can be counted, are in the log and pass its check.
func TestOddCapacities(t *testing.T) {
	nodes := []sched.Node{
		{Name: "cordoned", Capacity: sched.Resources{}}, {Name: "whole"},
		{Name: "endless", Capacity: sched.Resources{"node": 1e19, "cpu": math.MaxFloat64}},
	}
	jobs := []sim.Job{
		{Job: sched.Job{ID: "a", Tasks: 3}, Work: sim.Runtime(time.Second)},
		{Job: sched.Job{ID: "b", Tasks: 1, Demand: sched.Resources{"cpu": 1e300}}, Work: sim.Runtime(time.Second)},
	}
	var log bytes.Buffer
	result, err := sim.Run(context.Background(), sim.Config{
		Nodes: nodes, Jobs: jobs, Policy: baseline.NewFIFO(), Predictor: fixed(t), Log: &log,
	})
	require.NoError(t, err)
	for _, j := range result.Jobs {
		assert.NotEqual(t, "cordoned", j.Nodes[0].Node)
	}
	report, err := decisionlog.Check(&log, nil)
	require.NoError(t, err)
	assert.Equal(t, 3, report.Nodes)
}

func TestResourceVectors(t *testing.T) {
	nodes := []sched.Node{
		{Name: "a", Capacity: sched.Resources{"cpu": 1, "gpu": 1}},
		{Name: "b", Capacity: sched.Resources{"cpu": 1}},
	}
	var jobs []sim.Job
	for i := range 60 {
		demand := sched.Resources{"cpu": 0.1}
		if i%3 == 0 {
			demand = sched.Resources{"cpu": 0.3, "gpu": 0.5}
		}
		jobs = append(jobs, sim.Job{
			Job:    sched.Job{ID: fmt.Sprint(i), Tasks: 1 + i%2, Demand: demand},
			Arrive: time.Duration(i) * time.Second, Work: sim.Runtime(31 * time.Second),
		})
	}
	var log bytes.Buffer
	result, err := sim.Run(context.Background(), sim.Config{
		Nodes: nodes, Jobs: jobs, Policy: baseline.NewFIFO(), Predictor: fixed(t), Log: &log,
	})
	require.NoError(t, err)
	assert.Equal(t, 60, result.Metrics.BE.Completed)
	_, err = decisionlog.Check(&log, nil)
	require.NoError(t, err)
}

// pupil notes what it is taught.
type pupil struct {
	predict.Predictor
	learnt map[string]float64
}

func (p *pupil) Observe(o predict.Observation) error {
	p.learnt[o.Job.ID] = o.Runtime
	return nil
}

// What a run teaches is the runtime at full speed, to the last bit, wherever the job ran.
func TestRunTeachesFullSpeed(t *testing.T) {
	jobs := workload(3, 200, 6)
	preferRacks(3, jobs)
	for i := range jobs {
		if of := jobs[i].Speeds.Of(); len(of) > 1 && i%2 == 0 {
			jobs[i].Speeds = sched.SpeedsOf(of[0], sched.Speed{Factor: 1 / (1 + float64(i)/170)})
		}
	}
	p := &pupil{fixed(t), map[string]float64{}}
	result, err := sim.Run(context.Background(), sim.Config{
		Nodes: sim.Nodes(8, 4, 2), Jobs: jobs, Policy: baseline.NewFIFO(), Predictor: p,
	})
	require.NoError(t, err)
	slowed := 0
	for _, r := range result.Jobs {
		if r.Speed > 0 && r.Speed < 1 {
			slowed++
		}
	}
	require.Greater(t, slowed, 10)
	for i := range jobs {
		assert.Equal(t, max(jobs[i].Work.Runtime(), 1).Seconds(), p.learnt[jobs[i].ID], jobs[i].ID)
	}
}
