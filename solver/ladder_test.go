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

// named is a script with a name and a look at its options.
type named struct {
	name string
	see  func(opts solver.Options)
	script
}

func (n named) Name() string { return n.name }

func (n named) Solve(ctx context.Context, p *solver.Problem, opts solver.Options, report func(*solver.Solution)) (*solver.Solution, error) {
	if n.see != nil {
		n.see(opts)
	}
	return n.script.Solve(ctx, p, opts, report)
}

func bounded(s *solver.Solution, bound float64) *solver.Solution {
	s.Bound = &bound
	return s
}

// TestLadderGivesEveryRungTime: without a time of its own an engine takes its default work,
// whatever the deadline.
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
	_, err := solver.Solve(context.Background(), solver.Ladder(named{"a", func(o solver.Options) { last = o.Time }, says(plan("a"), nil)}), pair(), solver.Options{})
	require.NoError(t, err)
	assert.Zero(t, last, "no limit is none")
}

// TestLadderDropsAFailedRungsBound: nothing an engine said before it failed is proven.
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

	sol, err = solver.Solve(context.Background(), solver.Ladder(named{name: "crash", script: crash}, named{name: "next", script: says(plan("b"), nil)}), pair(), solver.Options{})
	require.NoError(t, err)
	assert.Nil(t, sol.Bound)
	assert.Nil(t, sol.Gap)

	optimal := plan("b")
	optimal.Stop = solver.StopOptimal
	_, err = solver.Solve(context.Background(), solver.Ladder(named{name: "crash", script: crash}, named{name: "next", script: says(optimal, nil)}), pair(), solver.Options{})
	require.ErrorIs(t, err, solver.ErrEngine, "the optimum is less than a plan in hand")
}

// TestLadderKeepsARungsOwnBound: what a rung reports is not lost to its own answer.
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
	_, err := solver.Solve(context.Background(), solver.Ladder(says(nil, boom), says(nil, bang), says(plan("a", "b"), nil)), pair(), solver.Options{})
	for _, is := range []error{boom, bang, solver.ErrEngine, solver.ErrInfeasible} {
		require.ErrorIs(t, err, is)
	}
	assert.NotContains(t, err.Error(), "\n")
}

// TestShares: a rung has at most its share of the ladder's time, and is the engine itself elsewhere.
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
	_, err = solver.Solve(context.Background(), solver.Ladder(a, named{"c", see, says(plan("a"), nil)}), pair(), solver.Options{})
	require.NoError(t, err)
	assert.Equal(t, []time.Duration{0, 0}, times, "no limit, no share")
}

// closing counts how often it was closed.
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
