package solver_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
)

// named is a script with a name, which can inspect its options.
type named struct {
	name string
	see  func(opts solver.Options)
	script
}

func (n named) Name() string { return n.name }

func (n named) Solve(ctx context.Context, p *solver.Problem, opts solver.Options,
	report func(*solver.Solution)) (*solver.Solution, error) {
	if n.see != nil {
		n.see(opts)
	}
	return n.script.Solve(ctx, p, opts, report)
}

func bounded(s *solver.Solution, bound float64) *solver.Solution {
	s.Bound = &bound
	return s
}

// TestLadderGivesEveryRungTime: an engine without a time of its own takes its default work, whatever the deadline.
func TestLadderGivesEveryRungTime(t *testing.T) {
	limit := time.Hour
	soon, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	for name, c := range map[string]struct {
		ctx  context.Context
		time time.Duration
	}{
		"time":          {context.Background(), limit},
		"deadline":      {soon, 0},
		"both":          {soon, 2 * limit},
		"deadline last": {soon, limit / 2},
	} {
		for _, direct := range []bool{false, true} {
			var times []time.Duration
			see := func(o solver.Options) { times = append(times, o.Time) }
			boom := says(nil, errors.New("boom"))
			l := solver.Ladder(named{"a", see, boom}, named{"b", see, boom}, named{"c", see, says(plan("a"), nil)})
			var err error
			if direct {
				_, err = l.Solve(c.ctx, pair(), solver.Options{Time: c.time}, nil)
			} else {
				_, err = solver.Solve(c.ctx, l, pair(), solver.Options{Time: c.time})
			}
			require.NoError(t, err, name)
			require.Len(t, times, 3, name)
			want := limit
			if c.time > 0 {
				want = min(limit, c.time)
			}
			assert.Less(t, times[0], want, name)
			assert.Greater(t, times[0], want/2, "%s: a tenth is for the others", name)
			assert.Greater(t, times[2], want*9/10, "%s: the last has all that is left", name)
			assert.LessOrEqual(t, times[2], want, name)
		}
	}
	var last time.Duration = -1
	_, err := solver.Solve(context.Background(),
		solver.Ladder(named{"a", func(o solver.Options) { last = o.Time }, says(plan("a"), nil)}), pair(), solver.Options{})
	require.NoError(t, err)
	assert.Zero(t, last, "no limit is none")
}

// TestLadderDropsAFailedRungsBound: nothing that an engine said before it failed is proven.
func TestLadderDropsAFailedRungsBound(t *testing.T) {
	crash := script(func(_ context.Context, report func(*solver.Solution)) (*solver.Solution, error) {
		report(bounded(plan("a"), 10))
		panic("boom")
	})
	l := solver.Ladder(named{name: "crash", script: crash}, named{name: "next", script: says(bounded(plan("b"), 30), nil)})
	sol, err := solver.Solve(context.Background(), l, pair(), solver.Options{})
	require.NoError(t, err)
	assert.Equal(t, 10.0, sol.Objective, "the better plan")
	assert.Equal(t, "crash", sol.Engine, "whose plan it is")
	assert.Equal(t, solver.StopWork, sol.Stop)
	require.NotNil(t, sol.Bound)
	assert.Equal(t, 30.0, *sol.Bound, "of the rung that answered")
	require.Len(t, sol.Rungs, 2)
	assert.Equal(t, "crash", sol.Rungs[0].Engine)

	sol, err = solver.Solve(context.Background(), solver.Ladder(named{name: "crash", script: crash},
		named{name: "next", script: says(plan("b"), nil)}), pair(), solver.Options{})
	require.NoError(t, err)
	assert.Nil(t, sol.Bound)
	assert.Nil(t, sol.Gap)

	optimal := plan("b")
	optimal.Stop = solver.StopOptimal
	_, err = solver.Solve(context.Background(), solver.Ladder(named{name: "crash", script: crash},
		named{name: "next", script: says(optimal, nil)}), pair(), solver.Options{})
	require.ErrorIs(t, err, solver.ErrEngine, "the optimum is less than a plan in hand")
}

// TestLadderKeepsARungsOwnBound: a rung's answer does not lose the bound that it has reported.
func TestLadderKeepsARungsOwnBound(t *testing.T) {
	e := script(func(_ context.Context, report func(*solver.Solution)) (*solver.Solution, error) {
		report(bounded(plan("a"), 12))
		return plan("b"), nil
	})
	sol, err := solver.Solve(context.Background(), solver.Ladder(named{name: "one", script: e}), pair(), solver.Options{})
	require.NoError(t, err)
	assert.Equal(t, 10.0, sol.Objective)
	require.NotNil(t, sol.Bound)
	assert.Equal(t, 12.0, *sol.Bound)
}

func TestLadderWrapsEveryRungsError(t *testing.T) {
	boom, bang := errors.New("boom"), errors.New("bang")
	_, err := solver.Solve(context.Background(),
		solver.Ladder(says(nil, boom), says(nil, bang), says(plan("a", "b"), nil)), pair(), solver.Options{})
	for _, is := range []error{boom, bang, solver.ErrEngine, solver.ErrInfeasible} {
		require.ErrorIs(t, err, is)
	}
	assert.NotContains(t, err.Error(), "\n")
}

// TestShares: a rung has at most its share of the ladder's time. Elsewhere it is the engine itself.
func TestShares(t *testing.T) {
	var times []time.Duration
	see := func(o solver.Options) { times = append(times, o.Time) }
	boom := says(nil, errors.New("boom"))
	a := solver.Share(named{"a", see, boom}, 0.2)
	l := solver.Ladder(a, solver.Share(named{"b", see, boom}, 0.5), named{"c", see, says(plan("a"), nil)})
	assert.Equal(t, "a,b,c", l.Name())
	_, err := solver.Solve(context.Background(), l, pair(), solver.Options{Time: time.Hour})
	require.NoError(t, err)
	require.Len(t, times, 3)
	assert.LessOrEqual(t, times[0], 12*time.Minute)
	assert.Greater(t, times[0], 11*time.Minute)
	assert.LessOrEqual(t, times[1], 30*time.Minute)
	assert.Greater(t, times[1], 29*time.Minute)
	assert.Greater(t, times[2], 59*time.Minute, "the last has all that is left")

	times = nil
	_, err = solver.Solve(context.Background(), solver.Ladder(a, named{"c", see, says(plan("a"), nil)}), pair(),
		solver.Options{})
	require.NoError(t, err)
	assert.Equal(t, []time.Duration{0, 0}, times, "no limit, no share")
}

// closing counts its calls of Close.
type closing struct {
	named
	closed *int
}

func (c closing) Close() error { *c.closed++; return nil }

func TestALadderClosesItsRungs(t *testing.T) {
	n := 0
	l := solver.Ladder(closing{named{name: "a"}, &n}, named{name: "b"}, closing{named{name: "c"}, &n})
	require.NoError(t, l.(io.Closer).Close())
	assert.Equal(t, 2, n)
}

// sees is an engine that records its options and answers with a plan.
func sees(name string, got *solver.Options, sol *solver.Solution) named {
	return named{name, func(o solver.Options) { *got = o }, says(sol, nil)}
}

// TestLadderReturnsTheBestPlan: the best plan of all rungs comes with the lowest bound of all.
func TestLadderReturnsTheBestPlan(t *testing.T) {
	var first, second, third solver.Options
	l := solver.Ladder(sees("a", &first, bounded(plan("b"), 40)), sees("b", &second, bounded(plan("a"), 30)),
		sees("c", &third, plan("b")))
	sol, err := solver.Solve(context.Background(), l, pair(), solver.Options{})
	require.NoError(t, err)
	assert.Equal(t, 10.0, sol.Objective)
	assert.Equal(t, "b", sol.Engine)
	assert.Equal(t, 30.0, *sol.Bound)
	assert.InDelta(t, 2.0/3, *sol.Gap, 1e-9)
	assert.Nil(t, first.Start)
	assert.Equal(t, 7.0, second.Start.Objective, "each starts from the best so far")
	assert.Equal(t, 10.0, third.Start.Objective)
	var values []float64
	for _, r := range sol.Rungs {
		require.NoError(t, r.Err)
		assert.Equal(t, solver.StopWork, r.Stop)
		values = append(values, r.Objective)
	}
	assert.Equal(t, []float64{7, 10, 10}, values, "the third's own plan is worth less than what it was handed")
}

// TestLadderEndsWithAProof: the rungs below a proof are not run, and say so. Bounds of different rungs prove a plan
// together.
func TestLadderEndsWithAProof(t *testing.T) {
	never := script(func(context.Context, func(*solver.Solution)) (*solver.Solution, error) {
		t.Error("run after the proof")
		return nil, nil
	})
	sol, err := solver.Solve(context.Background(),
		solver.Ladder(named{name: "a", script: says(bounded(plan("b"), 10.0005), nil)},
			named{name: "b", script: says(plan("a"), nil)}, named{name: "c", script: never}), pair(), solver.Options{})
	require.NoError(t, err)
	assert.Equal(t, solver.StopGap, sol.Stop)
	assert.Equal(t, "b", sol.Engine)
	require.ErrorIs(t, sol.Rungs[2].Err, solver.ErrSkipped)
	assert.ErrorContains(t, sol.Rungs[2].Err, "the plan of b is proven (gap)")
}

// TestLadderRefutesBounds: a bound below a later rung's verified plan is dropped, and its rung has failed.
func TestLadderRefutesBounds(t *testing.T) {
	sol, err := solver.Solve(context.Background(),
		solver.Ladder(named{name: "liar", script: says(bounded(plan("b"), 8), nil)},
			named{name: "b", script: says(bounded(plan("a"), 30), nil)}), pair(), solver.Options{})
	require.NoError(t, err)
	assert.Equal(t, 30.0, *sol.Bound)
	require.ErrorIs(t, sol.Rungs[0].Err, solver.ErrEngine)
	assert.ErrorContains(t, sol.Rungs[0].Err, "its bound 8 is below 10")

	_, err = solver.Solve(context.Background(), solver.Ladder(named{name: "a", script: says(plan("a"), nil)},
		named{name: "liar", script: says(bounded(plan("b"), 8), nil)}), pair(), solver.Options{})
	require.NoError(t, err, "the rung above has answered")
}

// TestLadderDividesWork: work is divided like time, by what was spent.
func TestLadderDividesWork(t *testing.T) {
	spending := func(name string, got *solver.Options, n int64) named {
		s := plan("b")
		s.Work = n
		return sees(name, got, s)
	}
	var a, b, c, d solver.Options
	boom := named{"boom", func(o solver.Options) { c = o }, says(nil, errors.New("boom"))}
	l := solver.Ladder(solver.Share(spending("a", &a, 200), 0.25), spending("b", &b, 0), boom, spending("d", &d, 5))
	sol, err := solver.Solve(context.Background(), l, pair(), solver.Options{Work: 1000})
	require.NoError(t, err)
	assert.Equal(t, []int64{250, 720, 72, 80}, []int64{a.Work, b.Work, c.Work, d.Work},
		"800 are left of a; b does not count and has spent its 720; one that failed has spent nothing")
	assert.Equal(t, int64(205), sol.Work)
}

// TestStart: an answer is no worse than the plan to start from, which must be feasible.
func TestStart(t *testing.T) {
	start := plan("a")
	start.Engine = "before"
	sol, err := solver.Solve(context.Background(), says(plan("b"), nil), pair(), solver.Options{Start: start})
	require.NoError(t, err)
	assert.Equal(t, 10.0, sol.Objective)
	assert.Equal(t, "before", sol.Engine)
	assert.Nil(t, sol.Gap, "nobody has a bound")
	_, err = solver.Solve(context.Background(), says(plan("b"), nil), pair(), solver.Options{Start: plan("a", "b")})
	require.ErrorIs(t, err, solver.ErrOptions)
	require.ErrorIs(t, err, solver.ErrInfeasible)
}

// TestANestedLadderFailsTheRungThatProved: the first inner rung has the wrong bound and fails, not the last one.
func TestANestedLadderFailsTheRungThatProved(t *testing.T) {
	inner := solver.Ladder(named{name: "liar", script: says(bounded(plan("b"), 8), nil)},
		named{name: "honest", script: says(plan("b"), nil)})
	sol, err := solver.Solve(context.Background(), solver.Ladder(inner, named{name: "late", script: says(plan("a"), nil)}),
		pair(), solver.Options{})
	require.NoError(t, err)
	require.Len(t, sol.Rungs, 3)
	require.ErrorContains(t, sol.Rungs[0].Err, "its bound 8 is below 10")
	assert.NoError(t, sol.Rungs[1].Err)
}

// handle is an engine with Close, Timed and Wait.
type handle struct {
	named
	closed, waited *bool
}

func (h handle) Close() error               { *h.closed = true; return nil }
func (h handle) Wait(context.Context) error { *h.waited = true; return nil }
func (handle) Timed() bool                  { return true }

func TestAShareIsItsEngineElsewhere(t *testing.T) {
	var closed, waited bool
	s := solver.Share(handle{named: named{name: "h"}, closed: &closed, waited: &waited}, 0.5)
	assert.True(t, solver.Timed(s))
	assert.True(t, solver.Timed(solver.Ladder(s)))
	require.NoError(t, solver.Wait(context.Background(), s))
	assert.True(t, waited)
	c, ok := s.(io.Closer)
	require.True(t, ok)
	require.NoError(t, c.Close())
	assert.True(t, closed)
	plain := solver.Share(named{name: "plain"}, 0.5)
	assert.False(t, solver.Timed(plain))
	require.NoError(t, plain.(io.Closer).Close())
	require.NoError(t, solver.Wait(context.Background(), plain))
}
