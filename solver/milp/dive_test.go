package milp_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/milptest"
	"github.com/hedgesched/hedge/solver/milp/milptest/reference"
)

// linear is the reference backend as one of linear programs alone. It counts what it is asked, and gives at most as
// many answers as it is told.
type linear struct {
	milp.Backend
	caps   milp.Caps
	asked  *int
	before func(asked int) error
}

func newLinear(before func(asked int) error) *linear {
	if before == nil {
		before = func(int) error { return nil }
	}
	return &linear{Backend: reference.New(), caps: milp.Caps{Version: "1", Log: true}, asked: new(int), before: before}
}

func (l *linear) Caps() milp.Caps { return l.caps }

func (l *linear) Solve(ctx context.Context, m *milp.Model, opts milp.Options) (*milp.Result, error) {
	*l.asked++
	if err := l.before(*l.asked); err != nil {
		return nil, err
	}
	if m.Integers() > 0 {
		return nil, fmt.Errorf("%w: integers", milp.ErrUnsupported)
	}
	opts.Start = nil
	return l.Backend.Solve(ctx, m, opts)
}

// lpOnly has no counter, and so is safe for concurrent use.
type lpOnly struct{ milp.Backend }

func (lpOnly) Caps() milp.Caps { return milp.Caps{Version: "1", Log: true} }

func TestDivingConforms(t *testing.T) {
	milptest.Run(t, milp.Diving(lpOnly{reference.New()}), milptest.Config{})
}

// mixed is a random model with some integers; most have points.
func mixed(seed uint64) *milp.Model {
	r := rand.New(rand.NewPCG(seed, 7))
	m := &milp.Model{Name: fmt.Sprintf("seed %d", seed), Maximize: r.IntN(2) == 0, Offset: float64(r.IntN(5))}
	n := 2 + r.IntN(7)
	for range n {
		low := float64(r.IntN(5) - 3)
		m.AddVar(milp.Var{Lower: low, Upper: low + float64(r.IntN(6)), Cost: float64(r.IntN(13) - 6), Integer: r.IntN(4) > 0})
	}
	for range 1 + r.IntN(5) {
		row := milp.Row{Lower: math.Inf(-1), Upper: math.Inf(1)}
		middle := 0.0
		for j := range n {
			if v := float64(r.IntN(11) - 5); v != 0 && r.IntN(3) > 0 {
				row.Index, row.Value = append(row.Index, int32(j)), append(row.Value, v)
				middle += v * math.Round((m.Var(j).Lower+m.Var(j).Upper)/2)
			}
		}
		switch r.IntN(5) {
		case 0:
			row.Lower, row.Upper = middle, middle
		case 1, 2:
			row.Lower = middle - float64(r.IntN(3))
		default:
			row.Upper = middle + float64(r.IntN(3))
		}
		m.AddRow(row)
	}
	return m
}

func TestDivingIsNeverWrongAndFindsTheOptimaOfSmallModels(t *testing.T) {
	exact, dive := reference.New(), milp.Diving(newLinear(nil))
	solvable, found, optimal := 0, 0, 0
	for seed := range uint64(1500) {
		m := mixed(seed)
		want, err := milp.Solve(context.Background(), exact, m, milp.Options{Gap: -1})
		require.NoError(t, err, m.Name)
		var told []milp.Point
		got, err := milp.Solve(context.Background(), dive, m, milp.Options{Gap: -1, Incumbent: func(p milp.Point) {
			told = append(told, p)
		}})
		require.NoError(t, err, m.Name)
		if want.Stop == milp.StopInfeasible {
			require.Nil(t, got.X, m.Name)
			require.Contains(t, []milp.Stop{milp.StopInfeasible, milp.StopOther}, got.Stop, m.Name)
			continue
		}
		solvable++
		require.Contains(t, []milp.Stop{milp.StopOptimal, milp.StopOther}, got.Stop, m.Name)
		require.False(t, milp.Better(m, want.Objective+slack(m), got.Bound), "%s: bound %v, optimum %v", m.Name, got.Bound,
			want.Objective)
		if got.X == nil {
			continue
		}
		found++
		require.NoError(t, milp.Check(m, got.X), m.Name)
		require.False(t, milp.Better(m, got.Objective+slack(m), want.Objective), "%s: %v is better than the optimum %v",
			m.Name, got.Objective, want.Objective)
		require.NotEmpty(t, told, m.Name)
		require.Equal(t, got.Objective, told[len(told)-1].Objective, m.Name)
		if math.Abs(got.Objective-want.Objective) < 1e-6 {
			optimal++
		} else {
			require.Equal(t, milp.StopOther, got.Stop, m.Name)
		}
	}
	t.Logf("%d with a point: found one of %d, the best of %d", solvable, found, optimal)
	assert.Greater(t, solvable, 700)
	assert.Equal(t, solvable, found)
	assert.Equal(t, solvable, optimal)
}

// slack is rounding, for the better.
func slack(m *milp.Model) float64 {
	if m.Maximize {
		return -1e-6
	}
	return 1e-6
}

// fleet is a covering model whose relaxation is fractional, so that dives need many linear programs.
func fleet() *milp.Model {
	r := rand.New(rand.NewPCG(3, 3))
	m := &milp.Model{Name: "fleet"}
	for range 12 {
		m.AddVar(milp.Var{Upper: 3, Cost: 5 + float64(r.IntN(9)), Integer: true})
	}
	over := m.AddVar(milp.Var{Upper: 1, Cost: 3})
	for range 9 {
		row := milp.Row{Lower: 7.5, Upper: math.Inf(1), Index: []int32{int32(over)}, Value: []float64{1}}
		for j := range 12 {
			if v := r.IntN(4); v > 0 {
				row.Index, row.Value = append(row.Index, int32(j)), append(row.Value, float64(v))
			}
		}
		m.AddRow(row)
	}
	return m
}

func TestDivingIsDeterministicAndLeavesTheModelAlone(t *testing.T) {
	m := fleet()
	before := m.Clone()
	dive := milp.Diving(newLinear(nil))
	first, err := dive.Solve(context.Background(), m, milp.Options{})
	require.NoError(t, err)
	assert.Equal(t, before, m.Clone())
	assert.Greater(t, first.Nodes, int64(3))
	assert.Greater(t, first.Iterations, first.Nodes)
	for range 5 {
		again, err := dive.Solve(context.Background(), m, milp.Options{})
		require.NoError(t, err)
		again.SetUp = first.SetUp
		assert.Equal(t, first, again)
	}
}

func TestDivingSendsLinearProgramsStraightOn(t *testing.T) {
	m := &milp.Model{Maximize: true}
	m.AddVar(milp.Var{Upper: 1.5, Cost: 2})
	lp := newLinear(nil)
	res, err := milp.Solve(context.Background(), milp.Diving(lp), m, milp.Options{Start: []float64{1}})
	require.NoError(t, err)
	assert.Equal(t, []float64{1.5}, res.X)
	assert.Equal(t, milp.StopOptimal, res.Stop)
	assert.Equal(t, milp.StartRejected, res.Start)
	assert.Equal(t, 1, *lp.asked)
}

func TestDivingHasTheBackendsProperties(t *testing.T) {
	lp := newLinear(nil)
	lp.caps = milp.Caps{Version: "3", Integer: true, Nodes: true, Forgets: true, Deaf: true, Threads: true, MaxInteger: 9}
	dive := milp.Diving(lp)
	assert.Equal(t, "reference", dive.Name())
	assert.Equal(t, milp.Caps{Version: "3", Heuristic: true, Start: true, Incumbents: true, Deaf: true, Threads: true,
		MaxInteger: 9}, dive.Caps())
	assert.True(t, milp.Diving(lp) == dive, "the same backend: milp.Solve refuses one that is busy")
}

func TestDivingOutlivesTheFailuresOfItsBackend(t *testing.T) {
	broken := errors.New("broken")
	whole, err := milp.Solve(context.Background(), milp.Diving(newLinear(nil)), fleet(), milp.Options{})
	require.NoError(t, err)
	for fails := 1; fails <= int(whole.Nodes); fails++ {
		lp := newLinear(func(asked int) error {
			if asked >= fails {
				return broken
			}
			return nil
		})
		res, err := milp.Solve(context.Background(), milp.Diving(lp), fleet(), milp.Options{})
		if fails == 1 {
			require.ErrorIs(t, err, broken)
			require.ErrorIs(t, err, milp.ErrBackend)
			continue
		}
		require.NoError(t, err)
		assert.LessOrEqual(t, res.Bound, whole.Bound)
		assert.False(t, math.IsInf(res.Bound, 0))
		assert.Contains(t, []milp.Stop{milp.StopOther, milp.StopOptimal}, res.Stop)
		assert.LessOrEqual(t, *lp.asked, int(whole.Nodes)+20)
	}
}

func TestDivingKeepsTheStartThatItCannotImprove(t *testing.T) {
	start := make([]float64, 13)
	for j := range start {
		start[j] = 3
	}
	start[12] = 1
	lp := newLinear(func(int) error { return errors.New("broken") })
	var told []float64
	res, err := milp.Solve(context.Background(), milp.Diving(lp), fleet(),
		milp.Options{Start: start, Incumbent: func(p milp.Point) {
			told = p.X
		}})
	require.ErrorIs(t, err, milp.ErrBackend)
	assert.Equal(t, start, res.X)
	assert.Equal(t, start, told)

	best, err := milp.Solve(context.Background(), reference.New(), fleet(), milp.Options{Gap: -1})
	require.NoError(t, err)
	for name, c := range map[string]struct {
		start []float64
		use   milp.StartUse
	}{
		"the optimum":  {best.X, milp.StartAccepted},
		"its integers": {append(append([]float64(nil), best.X[:12]...), math.NaN()), milp.StartAccepted},
		"zero":         {make([]float64, 13), milp.StartRejected},
	} {
		res, err := milp.Solve(context.Background(), milp.Diving(newLinear(nil)), fleet(), milp.Options{Start: c.start})
		require.NoError(t, err)
		assert.Equal(t, c.use, res.Start, name)
		if c.use == milp.StartAccepted {
			assert.InDelta(t, best.Objective, res.Objective, 1e-6, name)
		}
	}
}

func TestDivingStopsWithTheContextAndKeepsItsPoint(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	dive := milp.Diving(newLinear(nil))
	res, err := dive.Solve(ctx, fleet(), milp.Options{Incumbent: func(milp.Point) { cancel() }})
	require.NoError(t, err)
	assert.Equal(t, milp.StopCanceled, res.Stop)
	require.NoError(t, milp.Check(fleet(), res.X))
	assert.False(t, math.IsInf(res.Bound, 0))

	res, err = dive.Solve(context.Background(), fleet(), milp.Options{Time: 1})
	require.NoError(t, err)
	assert.Equal(t, milp.StopTime, res.Stop)
}

// ExampleDiving makes a heuristic of a backend that solves linear programs alone.
func ExampleDiving() {
	m := &milp.Model{Maximize: true}
	for _, value := range []float64{3, 4, 5} {
		m.AddVar(milp.Var{Upper: 1, Cost: value, Integer: true})
	}
	m.AddRow(milp.Row{Lower: math.Inf(-1), Upper: 5, Index: []int32{0, 1, 2}, Value: []float64{2, 3, 4}})

	res, err := milp.Solve(context.Background(), milp.Diving(newLinear(nil)), m, milp.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.X, res.Objective, res.Stop)
	// Output:
	// [1 1 0] 7 optimal
}
