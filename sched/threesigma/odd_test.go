package threesigma_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/threesigma"
	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/native"
)

// TestOddJobsStopNobody: a job that cannot be planned with is told so, and all others are planned.
func TestOddJobsStopNobody(t *testing.T) {
	sound := forecast(uniform(t, 1, 2))
	for _, c := range []struct {
		name       string
		change     func(*sched.Job)
		prediction predict.Prediction
		code       sched.ReasonCode
	}{
		{"a resource that no node offers", func(j *sched.Job) { j.Demand = sched.Resources{"gpu": 1} }, sound,
			sched.ReasonNoFeasibleSet},
		{"no utility", func(j *sched.Job) { j.Utility = nil }, sound, sched.ReasonPlaced},
		{"a utility that is no number", func(j *sched.Job) { j.Utility = stairs{60, math.NaN(), math.NaN()} }, sound,
			threesigma.ReasonInvalid},
		{"a utility without end", func(j *sched.Job) { j.Utility = stairs{6000, math.Inf(1), 0} }, sound, sched.ReasonPlaced},
		{"a forecast of ages", func(*sched.Job) {}, forecast(uniform(t, 1e17, 1e18)), sched.ReasonPlaced},
		{"no forecast but a point", func(*sched.Job) {}, predict.Prediction{Point: 60}, sched.ReasonPlaced},
		{"a point that is no number", func(*sched.Job) {}, predict.Prediction{Point: math.NaN()}, threesigma.ReasonInvalid},
		{"a negative point", func(*sched.Job) {}, predict.Prediction{Point: -1}, threesigma.ReasonInvalid},
		{"a distribution that is none", func(*sched.Job) {}, predict.Prediction{Dist: nonsense{uniform(t, 1, 1e6)}},
			sched.ReasonNoUtility},
		{"a deadline and a distribution that is none", func(j *sched.Job) { j.Deadline = time.Minute },
			predict.Prediction{Dist: nonsense{uniform(t, 1, 1e6)}}, sched.ReasonNoUtility},
		{"a speed of nearly nothing", func(j *sched.Job) { j.Speeds = sched.SpeedsOf(sched.Speed{Factor: 1e-305}) },
			forecast(uniform(t, 1e4, 1e5)),
			threesigma.ReasonInvalid},
		{"no tasks", func(j *sched.Job) { j.Tasks = 0 }, sound, threesigma.ReasonInvalid},
		{"a demand that is no number", func(j *sched.Job) { j.Demand = sched.Resources{"node": math.NaN()} }, sound,
			threesigma.ReasonInvalid},
		{"a negative demand", func(j *sched.Job) { j.Demand = sched.Resources{"node": -1} }, sound, threesigma.ReasonInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			odd := be(t, "odd", 1)
			c.change(odd)
			p := policy(t, threesigma.Config{})
			for range 2 {
				s := cluster(t, 2, epoch)
				s.Pending = []sched.Pending{{Job: odd, Prediction: c.prediction}, {Job: be(t, "sound", 1), Prediction: sound}}
				got, err := p.Plan(context.Background(), s)
				require.NoError(t, err)
				require.NoError(t, sched.CheckPlan(s, got))
				require.Len(t, got.Decisions, 2)
				assert.Equal(t, c.code, got.Decisions[0].Reason.Code)
				assert.False(t, math.IsNaN(got.Decisions[0].Reason.Probability))
				assert.Equal(t, sched.Start, got.Decisions[1].Kind)
				if c.code == threesigma.ReasonInvalid {
					assert.Contains(t, got.Stats.Fault, "odd")
				} else {
					assert.Empty(t, got.Stats.Fault)
				}
			}
		})
	}
}

// nonsense is a distribution that breaks every rule.
type nonsense struct{ dist.Distribution }

func (nonsense) Quantile(float64) float64 { return math.NaN() }
func (nonsense) Mean() float64            { return math.NaN() }

func (nonsense) CDF(x float64) float64 {
	if x > 90 {
		return math.NaN()
	}
	return 0
}

// TestOddRunningJobsStopNobody: a running job that cannot be forecast holds its nodes for the whole window and is not
// preempted. All others are planned.
func TestOddRunningJobsStopNobody(t *testing.T) {
	for _, c := range []struct {
		name       string
		change     func(*sched.Running)
		prediction predict.Prediction
	}{
		{"a point that is no number", func(*sched.Running) {}, predict.Prediction{Point: math.NaN()}},
		{"a speed of nearly nothing", func(r *sched.Running) { r.Speed = 1e-305 },
			forecast(uniform(t, 1e4, 1e5))},
		{"a distribution that is none", func(*sched.Running) {}, predict.Prediction{Dist: nonsense{uniform(t, 1, 1e6)}}},
		{"a utility that is no number", func(r *sched.Running) { r.Job.Utility = stairs{60, math.NaN(), math.NaN()} },
			forecast(point(t, 1e6))},
		{"a utility without end", func(r *sched.Running) { r.Job.Utility = stairs{1e9, math.Inf(1), 0} },
			forecast(point(t, 1e6))},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := sched.Running{Job: be(t, "odd", 1), Prediction: c.prediction, Started: epoch,
				Nodes: []sched.NodeTasks{{Node: "n0", Tasks: 1}}}
			c.change(&r)
			p := policy(t, threesigma.Config{})
			for range 2 {
				s := cluster(t, 2, epoch.Add(time.Minute), r)
				s.Pending = []sched.Pending{
					{Job: slo(t, "one", 1, 10*time.Minute), Prediction: forecast(point(t, 60))},
					{Job: slo(t, "both", 2, 10*time.Minute), Prediction: forecast(point(t, 60))},
				}
				got := plan(t, p, s)
				assert.Equal(t, sched.Start, got["one"].Kind)
				assert.Equal(t, sched.Defer, got["both"].Kind)
				assert.True(t, got["both"].Start.IsZero(), "the odd job's node is not counted on")
				assert.NotContains(t, got, "odd")
			}
		})
	}
}

// TestShrunkNode: a running job that holds far more than its node has any more is not offered to the solver.
func TestShrunkNode(t *testing.T) {
	huge := be(t, "huge", 1)
	huge.Demand = sched.Resources{"node": 1e30}
	s := cluster(t, 2, epoch, sched.Running{Job: huge, Prediction: forecast(point(t, 60)), Started: epoch,
		Nodes: []sched.NodeTasks{{Node: "n0", Tasks: 1}}})
	s.Pending = []sched.Pending{{Job: slo(t, "next", 1, 10*time.Minute), Prediction: forecast(point(t, 60))}}
	assert.Equal(t, epoch.Add(time.Minute), plan(t, policy(t, threesigma.Config{Slot: time.Minute}), s)["next"].Start)
}

// brittle is an engine that fails once it has told of a plan.
type brittle struct{ solver.Solver }

var errBrittle = errors.New("out of licences")

func (e brittle) Solve(ctx context.Context, p *solver.Problem, opts solver.Options,
	report func(*solver.Solution)) (*solver.Solution, error) {
	sol, err := e.Solver.Solve(ctx, p, opts, report)
	if err != nil {
		return nil, err
	}
	report(sol)
	return nil, errBrittle
}

// mute is an engine that fails.
type mute struct{ solver.Solver }

func (mute) Solve(context.Context, *solver.Problem, solver.Options, func(*solver.Solution)) (*solver.Solution, error) {
	return nil, errBrittle
}

// TestFault: a plan that was made in spite of an engine's failure is used, and says so.
func TestFault(t *testing.T) {
	engine := native.New(nil)
	s := cluster(t, 1, epoch)
	s.Pending = []sched.Pending{{Job: be(t, "a", 1), Prediction: forecast(point(t, 60))}}
	for name, c := range map[string]struct {
		engine solver.Solver
		fault  string
	}{
		"sound":    {engine, ""},
		"salvaged": {brittle{engine}, errBrittle.Error()},
		"fallback": {solver.Ladder(mute{engine}, engine), errBrittle.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := policy(t, threesigma.Config{Solver: c.engine}).Plan(context.Background(), s)
			require.NoError(t, err)
			assert.Equal(t, sched.Start, got.Decisions[0].Kind)
			if c.fault == "" {
				assert.Empty(t, got.Stats.Fault)
			} else {
				assert.Contains(t, got.Stats.Fault, c.fault)
			}
		})
	}
	_, err := policy(t, threesigma.Config{Solver: mute{engine}}).Plan(context.Background(), s)
	require.ErrorIs(t, err, solver.ErrEngine)
}

// TestNextToNothing: a demand so small that a node holds more tasks than there are numbers binds nobody.
func TestNextToNothing(t *testing.T) {
	capacity := sched.Resources{"cpu": 4, "mem": 4}
	set, err := sched.NewNodeSet([]sched.Node{
		{Name: "n0", Capacity: capacity, Labels: map[string]string{"rack": "r0"}},
		{Name: "n1", Capacity: capacity, Labels: map[string]string{"rack": "r1"}},
	})
	require.NoError(t, err)
	runs := func(id, node string, tasks int) sched.Running {
		j := be(t, id, tasks)
		j.Demand = sched.Resources{"cpu": 1}
		return sched.Running{Job: j, Prediction: forecast(point(t, 300)), Started: epoch,
			Nodes: []sched.NodeTasks{{Node: node, Tasks: tasks}}}
	}
	gang, other := be(t, "gang", 7), be(t, "other", 1)
	gang.Demand, other.Required = sched.Resources{"cpu": 1, "mem": 1e-300}, sched.NodesWith("rack", "r0")
	other.Demand = sched.Resources{"cpu": 1}
	s := &sched.Snapshot{Now: epoch, Nodes: set, Free: []float64{2, 4, 0, 4},
		Running: []sched.Running{runs("a", "n0", 2), runs("b", "n1", 4)},
		Pending: []sched.Pending{{Job: gang, Prediction: forecast(point(t, 60))},
			{Job: other, Prediction: forecast(point(t, 60))}}}
	got := plan(t, policy(t, threesigma.Config{Slot: time.Minute}), s)
	assert.Equal(t, epoch.Add(5*time.Minute), got["gang"].Start)
	assert.Equal(t, "rack=r1", got["gang"].Reason.Partition)
}
