package native

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/internal/pack"
)

// gangs is a random problem of few gangs, each with one option, that nearly fill the partitions.
func gangs(r *rand.Rand) *solver.Problem {
	p := &solver.Problem{SlotSeconds: 1, Slots: 1 + r.IntN(3), Resources: []string{"cpu"}}
	parts := 1 + r.IntN(3)
	for x := range parts {
		p.Partitions = append(p.Partitions, solver.Partition{Name: fmt.Sprint(x), Nodes: 9})
		var free []float64
		for range p.Slots {
			free = append(free, float64(1+r.IntN(16))/4)
		}
		p.Capacity = append(p.Capacity, [][]float64{free})
	}
	for j := range 1 + r.IntN(4) {
		o := solver.Option{Count: 1 + r.IntN(3), Demand: []float64{float64(1+r.IntN(4)) / 4}, Value: 1, Start: r.IntN(p.Slots)}
		for x := range parts {
			if len(o.Partitions) == 0 || r.IntN(4) > 0 {
				o.Partitions = append(o.Partitions, x)
			}
		}
		for t := o.Start; t < p.Slots; t++ {
			o.Usage = append(o.Usage, []float64{1, 0.75, 0.5, 0.25}[min(3, t-o.Start+r.IntN(2))])
		}
		p.Jobs = append(p.Jobs, solver.Job{ID: fmt.Sprint(j), Options: []solver.Option{o}})
	}
	return p
}

// splitsOf asks about the best options of all jobs of p at once, for so many units.
func splitsOf(p *solver.Problem, units int64) (*worker, verdict) {
	w := prepared(p)
	k := &w.conflicts
	k.pick, k.off = make([]int, len(p.Jobs)), make([]bool, len(p.Running))
	for j := range k.pick {
		k.pick[j] = w.in.JobOpts[j]
	}
	k.question()
	return w, k.splits.solve(w.spent() + units*opsPerUnit)
}

// canSplitByTrying tries all splits of the jobs from j on.
func canSplitByTrying(in *pack.Instance, res []float64, j, at int, left float64) bool {
	if j == len(in.Opts) {
		return true
	}
	o := &in.Opts[j]
	if at == o.P0 {
		left = o.Count
	}
	if at == o.P1 {
		return left == 0 && (j+1 == len(in.Opts) || canSplitByTrying(in, res, j+1, in.Opts[j+1].P0, 0))
	}
	rest := append([]float64(nil), res...)
	for n := 0.0; n <= left; n++ {
		if canSplitByTrying(in, rest, j, at+1, left-n) {
			return true
		}
		for t, u := range o.Usage {
			row := in.Part[at]*in.T + o.Start + t
			if rest[row] -= o.Demand[0].D * u; rest[row] < -1e-9 {
				return false
			}
		}
	}
	return false
}

// TestSplitsByTrying: the answer is that of trying all splits.
func TestSplitsByTrying(t *testing.T) {
	count := map[bool]int{}
	for seed := range uint64(3000) {
		w, v := splitsOf(gangs(rand.New(rand.NewPCG(seed, 1))), 1<<20)
		want := canSplitByTrying(&w.in, w.in.Cap, 0, w.in.Opts[0].P0, 0)
		count[want]++
		require.Equal(t, want, v == possible, "seed %d: %v", seed, v)
		require.NotEqual(t, unknown, v, "seed %d", seed)
	}
	assert.Greater(t, count[true], 300)
	assert.Greater(t, count[false], 300)
}

// brimful is a problem of gangs that fill all partitions to the brim, in tenths, split in a way that is forgotten.
func brimful(r *rand.Rand) *solver.Problem {
	p := &solver.Problem{SlotSeconds: 1, Slots: 1 + r.IntN(5), Resources: []string{"cpu", "mem"}[:1+r.IntN(2)]}
	parts := 2 + r.IntN(3)
	var all []int
	for x := range parts {
		all = append(all, x)
		p.Partitions = append(p.Partitions, solver.Partition{Name: fmt.Sprint(x), Nodes: 99})
		p.Capacity = append(p.Capacity, nil)
		for range p.Resources {
			p.Capacity[x] = append(p.Capacity[x], make([]float64, p.Slots))
		}
	}
	for j := range 4 + r.IntN(9) {
		o := solver.Option{Start: r.IntN(p.Slots), Value: 1, Partitions: all}
		for range p.Resources {
			o.Demand = append(o.Demand, float64(1+r.IntN(20))/10)
		}
		left := 1.0
		for range p.Slots - o.Start {
			o.Usage = append(o.Usage, left)
			left = max(0.1, left-float64(r.IntN(4))/10)
		}
		for range 1 + r.IntN(12) {
			o.Count++
			x := r.IntN(parts)
			for i, d := range o.Demand {
				for t, u := range o.Usage {
					p.Capacity[x][i][o.Start+t] += d * u
				}
			}
		}
		p.Jobs = append(p.Jobs, solver.Job{ID: fmt.Sprint(j), Options: []solver.Option{o}})
	}
	return p
}

// TestBrimfulSplits: splits that are there are never called impossible, and mostly found, which verifying confirms.
func TestBrimfulSplits(t *testing.T) {
	found := 0
	for seed := range uint64(400) {
		p := brimful(rand.New(rand.NewPCG(seed, 6)))
		w, v := splitsOf(p, splitUnits)
		require.NotEqual(t, impossible, v, "seed %d", seed)
		if v != possible {
			continue
		}
		found++
		w.node.base.Reset(&w.in)
		require.True(t, w.conflicts.assign(), "seed %d", seed)
		require.NoError(t, solver.Verify(p, w.best.Solution(name, solver.StopNone), solver.SplitsInteger), "seed %d", seed)
		require.InDelta(t, float64(len(p.Jobs)), w.best.Value, 1e-9, "seed %d", seed)
	}
	assert.Greater(t, found, 100)
}
