package native

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/native/internal/nativetest"
	"github.com/hedgesched/hedge/solver/solvertest"
)

// cut is a tiny problem with every partition cut in two, so that there are as many cells as it had partitions at most.
func cut(seed uint64) *solver.Problem {
	p := solvertest.Tiny(seed)
	r := rand.New(rand.NewPCG(seed, 5))
	n := len(p.Partitions)
	for x := range n {
		p.Partitions = append(p.Partitions, solver.Partition{Name: fmt.Sprint("half of ", x), Nodes: 1})
		var half [][]float64
		for _, slots := range p.Capacity[x] {
			var row []float64
			for t, v := range slots {
				row = append(row, math.Round(v*r.Float64()*4)/4)
				slots[t] = v - row[t]
			}
			half = append(half, row)
		}
		p.Capacity = append(p.Capacity, half)
	}
	for j := range p.Jobs {
		for o := range p.Jobs[j].Options {
			list := &p.Jobs[j].Options[o].Partitions
			for _, x := range *list {
				*list = append(*list, n+x)
			}
		}
	}
	for m := range p.Running {
		if a := &p.Running[m].Alloc[0]; r.IntN(2) == 0 {
			a.Partition += n
		}
	}
	return p
}

// flat is a problem of gangs that are worth about as much whenever they start, most of them wider than a partition.
func flat(seed uint64) *solver.Problem {
	r := rand.New(rand.NewPCG(seed, 7))
	return flatOf(r, 3+r.IntN(3), 2+r.IntN(2), 2+r.IntN(2), 4)
}

// flatOf has a number of jobs, of slots, and of partitions of equal size.
func flatOf(r *rand.Rand, jobs, slots, parts, nodes int) *solver.Problem {
	p := &solver.Problem{SlotSeconds: 10, Slots: slots, Resources: []string{"node"}}
	left := 1 - r.Float64()/2 // of each slot's usage, in the next
	usage := func(slots int) []float64 {
		list := []float64{1}
		for range slots - 1 {
			list = append(list, list[len(list)-1]*left)
		}
		return list
	}
	for x := range parts {
		p.Partitions = append(p.Partitions, solver.Partition{Name: fmt.Sprint(x), Nodes: nodes})
		free := float64(r.IntN(nodes))
		row := make([]float64, p.Slots)
		for t := range row {
			row[t] = free
			free += r.Float64()
		}
		p.Capacity = append(p.Capacity, [][]float64{row})
	}
	all := make([]int, len(p.Partitions))
	for x := range all {
		all[x] = x
	}
	for j := range jobs {
		job := solver.Job{ID: fmt.Sprint(j)}
		count, value, set := 1+r.IntN(nodes), 4.5+r.Float64()/2, all
		if r.IntN(4) == 0 {
			set = all[:len(all)-1]
		}
		for start := range p.Slots {
			job.Options = append(job.Options, solver.Option{Start: start, Count: count, Demand: []float64{1}, Partitions: set,
				Usage: usage(p.Slots - start), Value: value * (1 - float64(start)/200)})
		}
		p.Jobs = append(p.Jobs, job)
	}
	for m := range r.IntN(3) {
		p.Running = append(p.Running, solver.Running{ID: fmt.Sprint("r", m), PreemptCost: 3 + 6*r.Float64(),
			Demand: []float64{1}, Usage: usage(p.Slots),
			Alloc: []solver.Alloc{{Partition: r.IntN(len(all)), Count: 1 + r.IntN(2)}}})
	}
	return p
}

// steep is flat, but that some jobs are worth many times as much, and some preemptions cost it.
func steep(seed uint64) *solver.Problem {
	p := flat(seed)
	r := rand.New(rand.NewPCG(seed, 8))
	for j := range p.Jobs {
		if j%3 == 1 {
			times := 10 + 30*r.Float64()
			for o := range p.Jobs[j].Options {
				p.Jobs[j].Options[o].Value *= times
			}
		}
	}
	for m := range p.Running {
		p.Running[m].PreemptCost *= 1 + 20*r.Float64()*float64(r.IntN(2))
	}
	return p
}

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
		o := solver.Option{Count: 1 + r.IntN(3), Demand: []float64{float64(1+r.IntN(4)) / 4}, Value: 1,
			Start: r.IntN(p.Slots)}
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

// TestAgainstBruteForce: with little work and with more, with one worker and with two, no plan is worth more than the
// optimum that brute force finds, no bound is below it, and what is called optimal is. Most of these tiny problems
// are proven.
func TestAgainstBruteForce(t *testing.T) {
	nativetest.Sequential(t)
	for name, of := range map[string]func(seed uint64) *solver.Problem{
		"cut": cut, "flat": flat, "steep": steep,
		"gangs": func(seed uint64) *solver.Problem { return gangs(rand.New(rand.NewPCG(seed, 1))) },
	} {
		proven, seeds := 0, 300
		for seed := range uint64(seeds) {
			p := of(seed)
			optimum := solvertest.Optimum(p)
			near := 1e-6 * math.Max(1, optimum)
			for _, work := range []int64{300, 20_000} {
				sol, err := solver.Solve(context.Background(), New(nil), p,
					solver.Options{Work: work, Gap: -1, Threads: 1 + int(seed%2)})
				require.NoError(t, err, "%s(%d)", name, seed)
				require.NoError(t, solver.Verify(p, sol, solver.SplitsInteger), "%s(%d)", name, seed)
				require.GreaterOrEqual(t, *sol.Bound, optimum-near, "%s(%d)", name, seed)
				require.LessOrEqual(t, sol.Objective, optimum+near, "%s(%d)", name, seed)
				if sol.Stop == solver.StopOptimal {
					require.InDelta(t, optimum, sol.Objective, near, "%s(%d)", name, seed)
				}
				if work == 20_000 && sol.Stop == solver.StopOptimal {
					proven++
				}
			}
		}
		t.Logf("%s: %d of %d proven", name, proven, seeds)
		assert.Greater(t, proven, seeds*9/10, name)
	}
}

// TestGangsInParts: tasks that may be split in any way are.
func TestGangsInParts(t *testing.T) {
	p, err := solver.ReadProblemFile("testdata/small/joined-in-parts.json")
	require.NoError(t, err)
	for _, splits := range []solver.SplitRule{solver.SplitsContinuous, solver.SplitsNow} {
		sol, err := solver.Solve(context.Background(), New(nil), p, solver.Options{Work: 20_000, Gap: -1, Splits: splits})
		require.NoError(t, err)
		assert.InDelta(t, 52, sol.Objective, 1e-6)
		assert.GreaterOrEqual(t, *sol.Bound, 52-1e-6)
	}
}

// TestBrimful: where all gangs fit together, but to the brim, no bound says that they do not.
func TestBrimful(t *testing.T) {
	nativetest.Sequential(t)
	found, seeds := 0, 200
	for seed := range uint64(seeds) {
		p := brimful(rand.New(rand.NewPCG(seed, 6)))
		sol, err := solver.Solve(context.Background(), New(nil), p, solver.Options{Work: 5000, Gap: -1})
		require.NoError(t, err, "seed %d", seed)
		require.NoError(t, solver.Verify(p, sol, solver.SplitsInteger), "seed %d", seed)
		require.GreaterOrEqual(t, *sol.Bound, float64(len(p.Jobs))*(1-1e-9), "seed %d", seed)
		if sol.Objective > float64(len(p.Jobs))-0.5 {
			found++
		}
	}
	t.Logf("%d of %d found", found, seeds)
	assert.Greater(t, found, seeds/4)
}
