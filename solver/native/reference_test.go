package native_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/milptest/reference"
	"github.com/hedgesched/hedge/solver/native"
	"github.com/hedgesched/hedge/solver/native/internal/nativetest"
)

// tight returns a random problem in which gangs of up to five want two to four partitions with little room: 5 to 9
// jobs, up to 3 slots, 2 resources and 3 running jobs.
func tight(seed uint64) *solver.Problem {
	r := rand.New(rand.NewPCG(seed, 77))
	parts, slots := 2+r.IntN(3), 1+r.IntN(3)
	p := &solver.Problem{SlotSeconds: 1, Slots: slots, Resources: []string{"cpu", "memory"}[:1+r.IntN(2)]}
	for x := range parts {
		p.Partitions = append(p.Partitions, solver.Partition{Name: fmt.Sprint(x), Nodes: 9})
		rows := make([][]float64, len(p.Resources))
		for i := range rows {
			for range slots {
				rows[i] = append(rows[i], float64(r.IntN(24))/4)
			}
		}
		p.Capacity = append(p.Capacity, rows)
	}
	demand := func() []float64 {
		d := make([]float64, len(p.Resources))
		for i := range d {
			d[i] = float64(1+r.IntN(4)) / 2
		}
		return d
	}
	for j := range 5 + r.IntN(5) {
		job := solver.Job{ID: fmt.Sprint("j", j)}
		value, count, d := 1+float64(20*r.Float64()), 1+r.IntN(5), demand()
		for start := range slots {
			allowed := r.Perm(parts)
			if r.IntN(2) == 0 {
				allowed = allowed[:1+r.IntN(parts)]
			}
			job.Options = append(job.Options, solver.Option{Start: start, Count: count, Demand: d, Partitions: allowed,
				Usage: []float64{1, 0.75, 0.5}[:slots-start], Value: value * (1 - float64(0.1*float64(start)))})
		}
		p.Jobs = append(p.Jobs, job)
	}
	for m := range r.IntN(4) {
		p.Running = append(p.Running, solver.Running{ID: fmt.Sprint("m", m), PreemptCost: float64(r.IntN(10)),
			Demand: demand(),
			Usage:  []float64{1, 0.5}[:min(2, slots)], Alloc: []solver.Alloc{{Partition: r.IntN(parts), Count: 1 + r.IntN(4)}}})
	}
	return p
}

// limited is a backend that solves at most a number of nodes, so that it does the same on any machine.
type limited struct {
	milp.Backend
	nodes int64
}

func (b limited) Solve(ctx context.Context, m *milp.Model, opts milp.Options) (*milp.Result, error) {
	opts.Nodes = b.nodes
	return b.Backend.Solve(ctx, m, opts)
}

// TestProofsAgainstAGenericSolver: cuts over partitions and decisions about splits act on gangs that brute force is
// too slow for. Neither engine's plan is above the other's bound.
func TestProofsAgainstAGenericSolver(t *testing.T) {
	generic := milp.New(limited{reference.New(), 1000}, nil)
	proven, decided := 0, 0
	n := seeds(100)
	for seed := range uint64(n) {
		p := tight(seed)
		got := solve(t, native.New(nil), p, solver.Options{Work: 100_000, Gap: -1, Threads: 1 + int(seed%2)})
		want, err := solver.Solve(context.Background(), generic, p, solver.Options{Gap: -1, Time: time.Minute})
		require.NoError(t, err, "seed %d", seed)
		assert.GreaterOrEqual(t, *got.Bound*(1+1e-6)+1e-9, want.Objective, "seed %d: native says %s", seed, got.Stop)
		if want.Bound != nil {
			assert.GreaterOrEqual(t, *want.Bound*(1+1e-6)+1e-9, got.Objective, "seed %d: the reference says %s", seed, want.Stop)
		}
		if got.Stop == solver.StopOptimal {
			proven++
		}
		if want.Stop == solver.StopOptimal {
			decided++
		}
	}
	t.Logf("%d problems, %d proven by native, %d by the reference", n, proven, decided)
	assert.GreaterOrEqual(t, 10*proven, 9*n)
	assert.GreaterOrEqual(t, 2*decided, n)
}

// TestBoundsOfPlansNearlyAsGood: where many plans are worth nearly the same, a solve may end with one that is not
// quite the best, but what it says that no plan exceeds, no plan that another seed or limit finds exceeds.
func TestBoundsOfPlansNearlyAsGood(t *testing.T) {
	nativetest.Sequential(t)
	for seed := uint64(110); seed < 150; seed++ {
		p := tight(seed)
		r := rand.New(rand.NewPCG(seed, 1))
		for j := range p.Jobs {
			e := r.Float64() * 4e-6
			for o := range p.Jobs[j].Options {
				opt := &p.Jobs[j].Options[o]
				opt.Value = max(1, math.Round(opt.Value/4)) + float64(e*float64(1+o))
			}
		}
		best, bound := math.Inf(-1), math.Inf(1)
		for i, work := range []int64{60_000, 20_000, 60_000, 2000} {
			s, err := solver.Solve(context.Background(), native.New(&native.Config{NoExact: i == 2}), p,
				solver.Options{Work: work, Gap: -1, Threads: 1 + i%2, Seed: int64(i)})
			require.NoError(t, err)
			best, bound = max(best, s.Objective), min(bound, *s.Bound)
		}
		assert.GreaterOrEqual(t, bound, best*(1-1e-9), "seed %d", seed)
	}
}
