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

// splitsOf asks about all jobs of p at once.
func splitsOf(p *solver.Problem, in *pack.Instance, apart bool, used int) verdict {
	in.Load(p, solver.SplitsInteger)
	s := &splits{in: in, apart: apart, until: 1 << 40, rows: in.Cap}
	for o := range in.Opts {
		s.jobs = append(s.jobs, chosen{option: o})
	}
	s.rank()
	s.used = min(used, len(s.lines))
	return s.solve()
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

// TestSplitsByTrying: with all lines and partitions apart the answer is exact; with less it may be too hopeful only.
func TestSplitsByTrying(t *testing.T) {
	count := map[bool]int{}
	for seed := range uint64(3000) {
		p := gangs(rand.New(rand.NewPCG(seed, 1)))
		var in pack.Instance
		v := splitsOf(p, &in, true, p.Slots)
		want := canSplitByTrying(&in, in.Cap, 0, in.Opts[0].P0, 0)
		count[want]++
		require.Equal(t, want, v == possible, "seed %d: %v", seed, v)
		require.NotEqual(t, unknown, v)
		for used := 1; used <= p.Slots; used++ {
			for _, apart := range []bool{false, true} {
				if splitsOf(p, &in, apart, used) == impossible {
					require.False(t, want, "seed %d: %d lines", seed, used)
				}
			}
		}
	}
	assert.Greater(t, count[true], 300)
	assert.Greater(t, count[false], 300)
}
