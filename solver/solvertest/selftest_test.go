package solvertest_test

import (
	"context"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/native"
	"github.com/hedgesched/hedge/solver/solvertest"
)

// liar is the native engine with its answers bent.
type liar struct {
	honest *native.Engine
	bend   func(p *solver.Problem, s *solver.Solution) (*solver.Solution, error)
	before func(ctx context.Context, p *solver.Problem, opts *solver.Options)
	mute   bool     // it reports nothing
	blind  bool     // it sees no priorities
	fails  []string // the cases that are there to notice it
}

func (l *liar) Name() string { return "liar" }

func (l *liar) Solve(ctx context.Context, p *solver.Problem, opts solver.Options,
	report func(*solver.Solution)) (*solver.Solution, error) {
	if l.before != nil {
		l.before(ctx, p, &opts)
	}
	if l.mute {
		report = func(*solver.Solution) {}
	}
	if l.blind {
		p = withoutPriorities(p)
	}
	sol, err := l.honest.Solve(ctx, p, opts, report)
	if err != nil || l.bend == nil {
		return sol, err
	}
	return l.bend(p, sol)
}

// withoutPriorities is p where everybody may preempt everybody.
func withoutPriorities(p *solver.Problem) *solver.Problem {
	q := *p
	q.Jobs, q.Running = slices.Clone(p.Jobs), slices.Clone(p.Running)
	for j := range q.Jobs {
		q.Jobs[j].Priority = 0
	}
	for m := range q.Running {
		q.Running[m].MinPriority = 0
	}
	return &q
}

// claims are what the liars claim; -short, for the race detector, tries fewer problems.
func claims() solvertest.Claims {
	c := solvertest.Claims{Caps: solver.Caps{Exact: true, Bound: true, Deterministic: true, Anytime: true}, Seeds: 60}
	if testing.Short() {
		c.Seeds = 12
	}
	return c
}

func bend(fails string, f func(p *solver.Problem, s *solver.Solution)) *liar {
	return &liar{honest: native.New(nil), fails: []string{fails},
		bend: func(p *solver.Problem, s *solver.Solution) (*solver.Solution, error) {
			f(p, s)
			return s, nil
		}}
}

func anyChoice(s *solver.Solution, f func(id string, c solver.Choice)) {
	for id, c := range s.Choice {
		f(id, c)
		return
	}
}

func liars() map[string]*liar {
	var calls atomic.Int64
	return map[string]*liar{
		"no solution": {honest: native.New(nil), fails: []string{"never above the optimum"},
			bend: func(*solver.Problem, *solver.Solution) (*solver.Solution, error) { return nil, nil }},
		"panic": bend("never above the optimum", func(*solver.Problem, *solver.Solution) { panic("boom") }),
		"panics where it is stopped": {honest: native.New(nil), fails: []string{"notices the end of ctx"},
			before: func(_ context.Context, _ *solver.Problem, opts *solver.Options) {
				if opts.Time == time.Hour {
					panic("boom")
				}
			}},
		"not solved": bend("never above the optimum",
			func(_ *solver.Problem, s *solver.Solution) { s.Stop = solver.StopNone }),
		"bound below": bend("bound", func(_ *solver.Problem, s *solver.Solution) { b := s.Objective - 1; s.Bound = &b }),
		"no bound":    bend("bound", func(_ *solver.Problem, s *solver.Solution) { s.Bound = nil }),
		"calls the empty plan optimal": bend("exact", func(_ *solver.Problem, s *solver.Solution) {
			zero := 0.0
			s.Choice, s.Preempt, s.Stop, s.Bound = nil, nil, solver.StopOptimal, &zero
		}),
		"leaves a job out": bend("exact", func(_ *solver.Problem, s *solver.Solution) {
			anyChoice(s, func(id string, _ solver.Choice) { delete(s.Choice, id) })
		}),
		"one task short": bend("never above the optimum", func(_ *solver.Problem, s *solver.Solution) {
			anyChoice(s, func(_ string, c solver.Choice) { c.Split[0].Count-- })
		}),
		"half tasks": bend("awkward problems", func(_ *solver.Problem, s *solver.Solution) {
			for id, c := range s.Choice {
				if len(c.Split) > 1 {
					c.Split[0].Count -= 0.5
					c.Split[1].Count += 0.5
				}
				s.Choice[id] = c
			}
		}),
		"everything everywhere": bend("larger problems", func(p *solver.Problem, s *solver.Solution) {
			for _, j := range p.Jobs {
				for i, o := range j.Options {
					s.Choice[j.ID] = solver.Choice{Option: i,
						Split: []solver.Split{{Partition: o.Partitions[0], Count: float64(o.Count)}}}
				}
			}
		}),
		"unknown job": bend("never above the optimum",
			func(_ *solver.Problem, s *solver.Solution) { s.Choice["nobody"] = solver.Choice{} }),
		"preempts nobody's job": bend("never above the optimum",
			func(_ *solver.Problem, s *solver.Solution) { s.Preempt = append(s.Preempt, "nobody") }),
		"forgets its preemptions": bend("awkward problems", func(_ *solver.Problem, s *solver.Solution) { s.Preempt = nil }),
		"knows no priorities": {honest: native.New(nil), fails: []string{"priorities", "exact with priorities"},
			blind: true},
		"a moody seed": {honest: native.New(nil), fails: []string{"same answer twice"},
			before: func(_ context.Context, _ *solver.Problem, o *solver.Options) {
				o.Seed = calls.Add(1)
				o.Work = o.Work * (1 + calls.Load()%2*20) / 40
			}},
		"goes by the number of processors": {honest: native.New(nil),
			fails: []string{"same answer on any number of processors"},
			before: func(_ context.Context, _ *solver.Problem, o *solver.Options) {
				o.Work = o.Work * int64(runtime.GOMAXPROCS(0)) / 40
			}},
		"takes any note for its own": {honest: native.New(nil), fails: []string{"memory is advice"},
			before: func(_ context.Context, _ *solver.Problem, o *solver.Options) {
				if note, _ := o.Memory.Note("liar"); note != nil {
					o.Work = note.(int64)
				}
			}},
		"modifies the problem": bend("problem is left alone", func(p *solver.Problem, _ *solver.Solution) {
			if len(p.Hint) > 0 {
				delete(p.Hint, "j1")
			}
		}),
		"sees no large amounts": bend("units do not matter", func(p *solver.Problem, s *solver.Solution) {
			for _, byResource := range p.Capacity {
				if row := byResource[len(byResource)-1]; row[0] > 1e18 {
					s.Choice, s.Preempt = nil, nil
				}
			}
		}),
		"confuses time and cancel": bend("past deadline", func(_ *solver.Problem, s *solver.Solution) {
			switch s.Stop {
			case solver.StopTime:
				s.Stop = solver.StopCanceled
			case solver.StopCanceled:
				s.Stop = solver.StopTime
			}
		}),
		"cuts tasks in half": {honest: native.New(nil), fails: []string{"split rules"},
			before: func(_ context.Context, _ *solver.Problem, o *solver.Options) {
				o.Splits = solver.SplitsContinuous
			}},
		"takes three times the work": {honest: native.New(nil), fails: []string{"stops at the work limit"},
			before: func(_ context.Context, _ *solver.Problem, o *solver.Options) {
				o.Work *= 3
			}},
		"knows no gap": {honest: native.New(nil), fails: []string{"stops at the gap"},
			before: func(_ context.Context, _ *solver.Problem, o *solver.Options) {
				o.Gap = -1
			}},
		"drops its plan at the end": {honest: native.New(nil), mute: true,
			fails: []string{"keeps its plan when time ends", "keeps its plan when canceled"},
			bend: func(_ *solver.Problem, s *solver.Solution) (*solver.Solution, error) {
				if s.Stop == solver.StopTime || s.Stop == solver.StopCanceled {
					s.Choice, s.Preempt = nil, nil
				}
				return s, nil
			}},
	}
}

func TestEveryLieIsNoticed(t *testing.T) {
	for name, l := range liars() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			failed := solvertest.Failures(l, claims())
			for c, err := range failed {
				t.Logf("%s: %v", c, err)
			}
			for _, c := range l.fails {
				assert.Contains(t, failed, c)
			}
			assert.NotEmpty(t, l.fails)
		})
	}
}

// TestADeafEngineIsNoticed: in the time of a bubble, since the case is patient.
func TestADeafEngineIsNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		deaf := &liar{honest: native.New(nil), before: func(context.Context, *solver.Problem, *solver.Options) { <-release }}
		const name = "notices the end of ctx"
		cases := solvertest.Cases()
		at := slices.IndexFunc(cases, func(c solvertest.Case) bool { return c.Name == name })
		require.NotEqual(t, -1, at)
		assert.ErrorContains(t, cases[at].Check(deaf, claims()), "still running")
		close(release)
	})
}

func TestTheTruthPasses(t *testing.T) {
	assert.Empty(t, solvertest.Failures(&liar{honest: native.New(nil)}, claims()))
}

func TestOptimumByHand(t *testing.T) {
	p := &solver.Problem{
		SlotSeconds: 1, Slots: 2, Resources: []string{"node"},
		Partitions: []solver.Partition{{Name: "a"}, {Name: "b"}}, Capacity: [][][]float64{{{2, 2}}, {{1, 1}}},
		Jobs: []solver.Job{
			{ID: "wide", Options: []solver.Option{{Count: 3, Demand: []float64{1}, Partitions: []int{0, 1}, Usage: []float64{1},
				Value: 5}}},
			{ID: "long", Options: []solver.Option{{Count: 1, Demand: []float64{1}, Partitions: []int{0}, Usage: []float64{1, 1},
				Value: 4}}},
			{ID: "late", Options: []solver.Option{
				{Start: 1, Count: 2, Demand: []float64{1}, Partitions: []int{0}, Usage: []float64{1}, Value: 3}}},
		},
	}
	assert.Equal(t, 8.0, solvertest.Optimum(p), "wide and late; long excludes both")
	p.Running = []solver.Running{{ID: "m", PreemptCost: 1, Demand: []float64{1}, Usage: []float64{1, 1},
		Alloc: []solver.Alloc{{Partition: 0, Count: 1}}}}
	assert.Equal(t, 11.0, solvertest.Optimum(p))
}

// TestPrioritiesByHand: one node is free and another is preempted, which only the higher of two jobs may take. If that
// takes the free one it leaves none for the other, so it must be able to take the other's as well.
func TestPrioritiesByHand(t *testing.T) {
	one := func(value float64) []solver.Option {
		return []solver.Option{{Count: 1, Demand: []float64{1}, Partitions: []int{0}, Usage: []float64{1}, Value: value}}
	}
	p := &solver.Problem{
		SlotSeconds: 1, Slots: 1, Resources: []string{"node"},
		Partitions: []solver.Partition{{Name: "a"}}, Capacity: [][][]float64{{{1}}},
		Jobs: []solver.Job{
			{ID: "high", Priority: 2, Options: one(5)}, {ID: "low", Priority: 1, Options: one(4)},
		},
		Running: []solver.Running{{ID: "m", PreemptCost: 1, MinPriority: 2, Demand: []float64{1}, Usage: []float64{1},
			Alloc: []solver.Alloc{{Partition: 0, Count: 2}}}},
	}
	assert.Equal(t, 8.0, solvertest.Optimum(p), "low takes what is free, high what is preempted")
	p.Jobs[1].Options[0].Count = 2
	assert.Equal(t, 5.0, solvertest.Optimum(p), "low may not take a second node")
	p.Jobs[1].Priority = 2
	assert.Equal(t, 8.0, solvertest.Optimum(p))
	p.Running[0].MinPriority = 3
	assert.Equal(t, 5.0, solvertest.Optimum(p), "nobody may take the node")
}

// TestPrioritiesMatter in many of the random problems.
func TestPrioritiesMatter(t *testing.T) {
	matter := 0
	for seed := range uint64(60) {
		p := solvertest.Ranked(seed)
		with, without := solvertest.Optimum(p), solvertest.Optimum(withoutPriorities(p))
		require.LessOrEqual(t, with, without, "seed %d", seed)
		if with < without {
			matter++
		}
	}
	assert.Greater(t, matter, 5)
}

func TestCyclesAreValidAndRepeatable(t *testing.T) {
	for seed := range uint64(40) {
		p := solvertest.Cycle(seed, 1+int(seed), int(seed)/2)
		assert.NoError(t, solver.Validate(p), "seed %d", seed)
		assert.Equal(t, p, solvertest.Cycle(seed, 1+int(seed), int(seed)/2))
		assert.Len(t, p.Jobs, 1+int(seed))
		assert.Len(t, p.Running, int(seed)/2)
		assert.NoError(t, solver.Validate(solvertest.CycleOf(seed, solvertest.Shape{Jobs: 20, Running: 5, Slots: 200})),
			"seed %d, many slots", seed)
	}
}
