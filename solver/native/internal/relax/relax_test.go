package relax

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/internal/pack"
	"github.com/hedgesched/hedge/solver/solvertest"
)

// Many partitions are gone through by a heap, few one by one: the cheapest first, and of those that cost the same the
// first.
func TestCheapestPartitions(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 300 {
		n := 1 + r.IntN(3*few)
		o := &pack.Option{P1: n, Count: float64(r.IntN(4 * n))}
		most := make([]float64, n)
		d := &Pricing{Split: make([]float64, n), Decided: &Decisions{Upper: most}}
		unit, want, room := make([]float64, n), make([]float64, n), 0.0
		for i := range n {
			unit[i], most[i] = float64(r.IntN(5)), float64(r.IntN(5))
			room += most[i]
		}
		left, cost := o.Count, 0.0
		for price := range 5 {
			for i := range n {
				if unit[i] == float64(price) {
					want[i] = min(left, most[i])
					left -= want[i]
					cost += float64(want[i] * unit[i])
				}
			}
		}
		if o.Count > room {
			cost = math.Inf(1)
		}
		assert.Equal(t, cost, d.cheapest(o, unit, o.Count, 0))
		assert.Equal(t, want, d.Split)
	}
}

// evaluated is the dual of a problem, about all of it, of which nothing is decided.
func evaluated(p *solver.Problem) (in *pack.Instance, d *Dual) {
	in = &pack.Instance{}
	in.Load(p, solver.SplitsInteger)
	d = &Dual{Late: func() bool { return false }}
	d.Decided = &Decisions{}
	d.Decided.Reset(in)
	d.Reset(in)
	return in, d
}

// TestAnyPricesProveABound: whatever the prices, no plan is worth more than what they prove.
func TestAnyPricesProveABound(t *testing.T) {
	for seed := range uint64(400) {
		p := solvertest.Tiny(seed)
		in, d := evaluated(p)
		optimum, r := solvertest.Optimum(p), rand.New(rand.NewPCG(seed, 1))
		require.GreaterOrEqual(t, d.Bound, optimum*(1-1e-9), "seed %d: no prices", seed)
		for range 10 {
			for row := range in.Rows {
				d.Lam[row] = max(0, 20*r.Float64()-10)
			}
			require.GreaterOrEqual(t, d.Evaluate(), optimum*(1-1e-9), "seed %d", seed)
		}
	}
}

// TestMasterColumns: a column is an option with a split, found again and not added twice, and known by its new number
// when others have gone.
func TestMasterColumns(t *testing.T) {
	for seed := range uint64(40) {
		in, d := evaluated(solvertest.Cycle(seed, 10, 3))
		var m Master
		m.Reset(in)
		r, added := rand.New(rand.NewPCG(seed, 2)), map[int32][]float64{}
		for range 60 {
			for row := range in.Rows {
				d.Lam[row] = max(0, 4*r.Float64()-2)
			}
			d.Window()
			j := r.IntN(len(in.P.Jobs))
			_, o := d.Choose(j, 0)
			if o < 0 {
				continue
			}
			c, fresh := m.Add(o, d.Pick)
			again, twice := m.Add(o, d.Pick)
			require.Equal(t, c, again)
			require.False(t, twice)
			if fresh {
				added[c] = append([]float64{float64(o)}, m.SplitOf(c)...)
			}
			require.Equal(t, in.Opts[o].Job, int(m.Set[c]))
		}
		require.NoError(t, m.Check(), "seed %d", seed)
		m.Drop(0.01)
		kept := 0
		for c := range m.Set {
			if m.Opt[c] < 0 {
				continue
			}
			kept++
			column := append([]float64{float64(m.Opt[c])}, m.SplitOf(int32(c))...)
			known := false
			for _, a := range added {
				known = known || slices.Equal(a, column)
			}
			assert.True(t, known, "seed %d", seed)
		}
		assert.LessOrEqual(t, kept, len(added))
	}
}
