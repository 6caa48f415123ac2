package fxhedge_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"
	"go.uber.org/fx/fxtest"
	"go.uber.org/goleak"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/fxhedge"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
	"github.com/hedgesched/hedge/sched/outlook"
	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/engines"
	"github.com/hedgesched/hedge/solver/greedy"
	"github.com/hedgesched/hedge/utility"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// cluster tells of one node and of jobs a, b, c, ... one after the other, each of which ends in the cycle after its
// start.
type cluster struct {
	mu     sync.Mutex
	events []sched.Event
	err    error
	plans  chan *sched.Plan
}

func newCluster() *cluster {
	c := &cluster{plans: make(chan *sched.Plan, 1000),
		events: []sched.Event{{Kind: sched.NodeUp, Node: &sched.Node{Name: "n"}}}}
	c.submit("a")
	return c
}

func (c *cluster) submit(id string) {
	worth, err := utility.LinearDecay(1, time.Hour)
	if err != nil {
		panic(err)
	}
	c.events = append(c.events, sched.Event{Kind: sched.Submitted, Job: &sched.Job{
		ID: id, Tasks: 1, Attributes: map[string]string{"user": "u"}, Utility: worth, Submitted: time.Now()}})
}

func (c *cluster) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
}

func (c *cluster) Events(context.Context) ([]sched.Event, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	events := c.events
	c.events = nil
	return events, c.err
}

func (c *cluster) Apply(_ context.Context, plan *sched.Plan) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range plan.Decisions {
		if d.Kind == sched.Start {
			c.events = append(c.events, sched.Event{Kind: sched.Finished, ID: d.Job, Runtime: time.Minute})
			c.submit(d.Job + "+")
		}
	}
	select {
	case c.plans <- plan:
	default:
	}
	return nil
}

// start waits until a job is started, and returns the plan.
func (c *cluster) start(t *testing.T) *sched.Plan {
	t.Helper()
	late := time.After(time.Minute)
	for {
		select {
		case plan := <-c.plans:
			for _, d := range plan.Decisions {
				if d.Kind == sched.Start {
					return plan
				}
			}
		case <-late:
			require.Fail(t, "nothing is started")
		}
	}
}

// provide gives an app the cluster.
func (c *cluster) provide() fx.Option { return fx.Supply(fx.Annotate(c, fx.As(new(sched.Cluster)))) }

// config is one of quick cycles, with a history.
func config(t *testing.T) fxhedge.Config {
	return fxhedge.Config{Cycle: time.Millisecond, History: adapters.HistoryFile(filepath.Join(t.TempDir(), "history"))}
}

func TestValidate(t *testing.T) {
	c := newCluster()
	require.NoError(t, fx.ValidateApp(fxhedge.Loop(fxhedge.Config{}), c.provide()))
	require.ErrorContains(t, fx.ValidateApp(fxhedge.Loop(fxhedge.Config{}), fx.NopLogger), "missing type: sched.Cluster")
	lease := fx.Provide(func() (adapters.Lease, fxhedge.Open) { return nil, nil })
	require.NoError(t, fx.ValidateApp(fxhedge.Service(fxhedge.Config{}), lease))
	require.ErrorContains(t, fx.ValidateApp(fxhedge.Service(fxhedge.Config{}), fx.NopLogger), "missing type")
}

// TestLoop: the app runs the loop while it is started, and its history is in the file afterwards, for the next app.
func TestLoop(t *testing.T) {
	conf := config(t)
	c := newCluster()
	registry := prometheus.NewRegistry()
	app := fxtest.New(t, fxhedge.Loop(conf), c.provide(),
		fx.Supply(fx.Annotate(registry, fx.As(new(prometheus.Registerer)))))
	_, err := os.Stat(string(conf.History))
	require.ErrorIs(t, err, os.ErrNotExist)
	app.RequireStart()
	assert.Equal(t, "native", c.start(t).Stats.Engine)
	c.start(t)
	app.RequireStop()
	before := len(c.plans)
	n, err := testutil.GatherAndCount(registry, "hedge_jobs_started_total")
	require.NoError(t, err)
	assert.Equal(t, 1, n)

	var history *fxhedge.History
	app = fxtest.New(t, fxhedge.Loop(conf), newCluster().provide(), fx.Populate(&history))
	assert.Positive(t, history.Predict(predict.Job{Attributes: map[string]string{"user": "u"}}).Samples,
		"what the first app has learnt")
	assert.Len(t, c.plans, before, "no cycle after the stop")
	assert.True(t, history.Until.IsZero())
	app.RequireStart().RequireStop()
}

// TestSave: the history is saved while the app runs, too.
func TestSave(t *testing.T) {
	conf := config(t)
	conf.Save = time.Nanosecond
	c := newCluster()
	app := fxtest.New(t, fxhedge.Loop(conf), c.provide()).RequireStart()
	c.start(t)
	c.start(t)
	c.start(t)
	h, err := predict.NewHistory(nil)
	require.NoError(t, err)
	_, err = conf.History.Load(h)
	require.NoError(t, err)
	assert.Positive(t, h.Predict(predict.Job{Attributes: map[string]string{"user": "u"}}).Samples)
	app.RequireStop()
}

// until is a cluster that knows until when it was learnt from.
type until struct {
	*cluster
	time time.Time
}

func (u until) LearntUntil() time.Time { return u.time }

func TestUntil(t *testing.T) {
	conf := config(t)
	u := until{newCluster(), time.Unix(1000, 0).UTC()}
	fxtest.New(t, fxhedge.Loop(conf), fx.Supply(fx.Annotate(u, fx.As(new(sched.Cluster))))).RequireStart().RequireStop()
	var history *fxhedge.History
	fxtest.New(t, fxhedge.Loop(conf), newCluster().provide(), fx.Populate(&history)).RequireStart().RequireStop()
	assert.Equal(t, u.time, history.Until)
}

// TestDamagedHistory: it is put aside and told, and the app begins without.
func TestDamagedHistory(t *testing.T) {
	conf := config(t)
	require.NoError(t, os.WriteFile(string(conf.History), []byte("nonsense"), 0o600))
	var out bytes.Buffer
	app := fxtest.New(t, fxhedge.Loop(conf), newCluster().provide(), fx.Supply(slog.New(slog.NewTextHandler(&out, nil))))
	app.RequireStart().RequireStop()
	assert.Contains(t, out.String(), "beginning without a history")
	_, err := os.Stat(string(conf.History) + ".damaged")
	require.NoError(t, err)
}

// TestHistoryNotSaved: stopping the app tells that what was learnt is lost.
func TestHistoryNotSaved(t *testing.T) {
	conf := config(t)
	conf.History = adapters.HistoryFile(filepath.Join(t.TempDir(), "missing", "history"))
	app := fx.New(fxhedge.Loop(conf), newCluster().provide(), fx.NopLogger)
	require.NoError(t, app.Start(t.Context()))
	require.ErrorIs(t, app.Stop(t.Context()), os.ErrNotExist)
}

// TestFailure: a loop that ends by itself shuts the app down, whose stop has the error.
func TestFailure(t *testing.T) {
	c, bad := newCluster(), errors.New("bad")
	c.fail(bad)
	app := fx.New(fxhedge.Loop(config(t)), c.provide(), fx.NopLogger)
	require.NoError(t, app.Start(t.Context()))
	assert.Equal(t, 1, (<-app.Wait()).ExitCode)
	require.ErrorIs(t, app.Stop(t.Context()), bad)
}

// TestUnavailable: a cluster that does not answer is asked again.
func TestUnavailable(t *testing.T) {
	c := newCluster()
	c.fail(adapters.ErrUnavailable)
	app := fxtest.New(t, fxhedge.Loop(config(t)), c.provide()).RequireStart()
	time.Sleep(5 * time.Millisecond)
	c.fail(nil)
	c.start(t)
	app.RequireStop()
}

// counts are metrics of a program's own.
type counts struct {
	estimates      int // by cycle and job
	mu             sync.Mutex
	cycles, failed int
}

func (*counts) Lead(uint64)                                        {}
func (*counts) StandBy()                                           {}
func (*counts) Refused(adapters.Refused)                           {}
func (*counts) Warn()                                              {}
func (c *counts) Estimated(_ *sched.Cycle, told []outlook.Outlook) { c.estimates += len(told) }
func (c *counts) Observe(*sched.Cycle) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cycles++
}

func (c *counts) Fail(error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed++
}

// TestDecorate: each part can be replaced, from outside the module.
func TestDecorate(t *testing.T) {
	base := func(conf fxhedge.Config, more ...fx.Option) *sched.Plan {
		c := newCluster()
		app := fxtest.New(t, append(more, fxhedge.Loop(conf), c.provide())...).RequireStart()
		defer app.RequireStop()
		return c.start(t)
	}
	quick := fxhedge.Config{Cycle: time.Millisecond}
	opened := 0
	plan := base(fxhedge.Config{Cycle: time.Millisecond, Engine: "mine"}, fx.Decorate(func(s *engines.Set) *engines.Set {
		s.Add(engines.Info{Name: "mine"}, func(engines.Spec) (solver.Solver, error) { opened++; return greedy.New(), nil })
		return s
	}))
	assert.Equal(t, "greedy", plan.Stats.Engine)
	assert.Equal(t, 1, opened)

	plan = base(quick, fx.Decorate(func(solver.Solver) solver.Solver { return greedy.New() }))
	assert.Equal(t, "greedy", plan.Stats.Engine)

	plan = base(quick, fx.Decorate(func(fxhedge.NewPolicy) fxhedge.NewPolicy {
		return func() (sched.Policy, error) { return baseline.NewFIFO(), nil }
	}))
	assert.Empty(t, plan.Stats.Engine)

	plan = base(quick, fx.Decorate(func(c fxhedge.Config) fxhedge.Config { c.Engine = "greedy"; return c }))
	assert.Equal(t, "greedy", plan.Stats.Engine)

	var asked predicted
	base(quick, fx.Decorate(func(p predict.Predictor) predict.Predictor { asked.Predictor = p; return &asked }))
	assert.Positive(t, asked.times)

	m := &counts{}
	seen := make(chan *sched.Cycle, 1)
	base(quick, fx.Replace(fx.Annotate(m, fx.As(new(metricsOf)))),
		fx.Supply(fx.Annotate(func(c *sched.Cycle) {
			select {
			case seen <- c:
			default:
			}
		}, fx.ResultTags(`group:"hedge.observers"`))),
		fx.Supply(fx.Annotate(sched.WithFreshPredictions(), fx.ResultTags(`group:"hedge.options"`))))
	assert.Positive(t, m.cycles)
	assert.Zero(t, m.estimates, "nobody has asked for any")
	assert.NotNil(t, <-seen)

	ticks := time.Duration(0)
	plan = base(fxhedge.Config{Cycle: time.Millisecond, Estimates: &outlook.Config{Seed: 1},
		Stopwatch: func() time.Duration { ticks += time.Second; return ticks }},
		fx.Replace(fx.Annotate(m, fx.As(new(metricsOf)))))
	assert.Positive(t, m.estimates)
	assert.InDelta(t, 1, plan.Stats.ValueTime, 1e-9)
}

// predicted counts what is asked of a predictor.
type predicted struct {
	predict.Predictor
	times int
}

func (p *predicted) Predict(f predict.Job) predict.Prediction {
	p.times++
	return p.Predictor.Predict(f)
}

// TestErrors: what is wrong is told when the app is made.
func TestErrors(t *testing.T) {
	made := func(c fxhedge.Config, more ...fx.Option) error {
		return fx.New(fxhedge.Loop(c), newCluster().provide(), fx.NopLogger, fx.Options(more...)).Err()
	}
	require.ErrorIs(t, made(fxhedge.Config{Engine: "nobody"}), engines.ErrUnknown)
	require.ErrorIs(t, made(fxhedge.Config{Engine: "milp+cbc"}), engines.ErrMissing)
	require.ErrorIs(t, made(fxhedge.Config{Cycle: -1}), sched.ErrInvalidOption)
	require.ErrorContains(t, made(fxhedge.Config{CutOff: 2}), "CutOff")
	require.ErrorContains(t, made(fxhedge.Config{Reserve: -1}), "Reserve")
	require.ErrorIs(t, made(fxhedge.Config{Estimates: &outlook.Config{Worlds: 1}}), outlook.ErrConfig)
	taken := prometheus.NewRegistry()
	taken.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: "hedge_jobs_running", Help: "Another's."}))
	require.ErrorContains(t, made(fxhedge.Config{}, fx.Supply(fx.Annotate(taken, fx.As(new(prometheus.Registerer))))),
		"metrics")
}

// closing is an engine that has to be closed.
type closing struct {
	solver.Solver
	closed int
}

func (c *closing) Close() error {
	c.closed++
	return nil
}

func TestClose(t *testing.T) {
	e := &closing{Solver: greedy.New()}
	app := fxtest.New(t, fxhedge.Loop(fxhedge.Config{Engine: "mine"}), newCluster().provide(),
		fx.Decorate(func(s *engines.Set) *engines.Set {
			s.Add(engines.Info{Name: "mine"}, func(engines.Spec) (solver.Solver, error) { return e, nil })
			return s
		}))
	app.RequireStart()
	assert.Zero(t, e.closed)
	app.RequireStop()
	assert.Equal(t, 1, e.closed)
}
