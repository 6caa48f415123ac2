package native

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/solvertest"
)

// withTally is w's coarse problem up to its tree, with a tally; nil if there is none.
func withTally(w *worker) *worker {
	c := &w.coarse
	c.node.wholeProblem()
	if !c.load() {
		return nil
	}
	c.resume()
	in := c.worker
	in.greedy.starts()
	in.ascent.run()
	if !in.relaxed() {
		return nil
	}
	in.cutRoot()
	if in.tally.plant(); !in.tally.planted {
		return nil
	}
	return in
}

// flat is a problem of gangs that are worth about as much whenever they start, most of them wider than a partition.
func flat(seed uint64) *solver.Problem {
	r := rand.New(rand.NewPCG(seed, 7))
	p := &solver.Problem{SlotSeconds: 10, Slots: 2 + r.IntN(2), Resources: []string{"node"}}
	left := 1 - r.Float64()/2 // of each slot's usage, in the next
	usage := func(slots int) []float64 {
		list := []float64{1}
		for range slots - 1 {
			list = append(list, list[len(list)-1]*left)
		}
		return list
	}
	for x := range 2 + r.IntN(2) {
		p.Partitions = append(p.Partitions, solver.Partition{Name: fmt.Sprint(x), Nodes: 4})
		free := float64(r.IntN(4))
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
	for j := range 3 + r.IntN(3) {
		job := solver.Job{ID: fmt.Sprint(j)}
		count, value, set := 1+r.IntN(4), 4.5+r.Float64()/2, all
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
		p.Running = append(p.Running, solver.Running{ID: fmt.Sprint("r", m), PreemptCost: 3 + 6*r.Float64(), Demand: []float64{1}, Usage: usage(p.Slots),
			Alloc: []solver.Alloc{{Partition: r.IntN(len(all)), Count: 1 + r.IntN(2)}}})
	}
	return p
}

// TestTallyRows: whatever plan there is, its tally is in one of the ranges, and with that the two rows hold.
func TestTallyRows(t *testing.T) {
	plans, preempting := 0, 0
	for seed := range uint64(600) {
		w := prepared(flat(seed))
		w.greedy.starts()
		in := withTally(w)
		if in == nil {
			continue
		}
		y, m := &in.tally, in.cuts
		sum := 0.0
		for j, o := range w.best.Choice {
			if o >= 0 {
				sum += y.counts[o]
				require.InDelta(t, w.in.Opts[o].Value, y.counts[o]*y.unit(), y.unit()/2+1e-9, "job %d", j)
			}
		}
		for k, off := range w.best.Preempted {
			if off {
				sum -= y.costs[k]
				preempting++
			}
		}
		at := -1
		for i := range ranges {
			if y.lo[i] <= sum && sum <= y.hi[i] {
				at = i
			}
		}
		require.GreaterOrEqual(t, at, 0, "seed %d: %v is in no range", seed, sum)
		last := len(m.rhs)
		assert.LessOrEqual(t, sum-y.hi[at], m.rhs[last-2])
		assert.LessOrEqual(t, y.lo[at]-sum, m.rhs[last-1])
		plans++
	}
	assert.Greater(t, plans, 150)
	assert.Greater(t, preempting, 20)
}

// TestTallyDivides: both sides of a division by the tally are without the program's own, and the optimum is worth no more than the better one's bound.
func TestTallyDivides(t *testing.T) {
	divided, lower := 0, 0
	for seed := range uint64(600) {
		p := flat(seed)
		w := prepared(p)
		in := withTally(w)
		if in == nil {
			continue
		}
		in.node.weigh()
		root := in.tally.value()
		d, ok := in.tally.division()
		if !ok {
			continue
		}
		divided++
		before, bound := in.bound(), math.Inf(-1)
		for _, down := range [...]bool{true, false} {
			in.branching.divide(d, down)
			in.node.penalty *= 1e4 // or the program may lean on what has been decided against
			in.node.repenalize()
			b := in.node.solve(maxRounds)
			if bound = max(bound, b); b > in.enough() {
				in.node.weigh()
				if v := in.tally.value(); down {
					require.LessOrEqual(t, v, math.Floor(root)+1e-5, "seed %d", seed)
				} else {
					require.GreaterOrEqual(t, v, math.Ceil(root)-1e-5, "seed %d", seed)
				}
			}
			in.node.revert(0)
			in.node.penalty /= 1e4
		}
		optimum := solvertest.Optimum(p)
		require.GreaterOrEqual(t, max(bound, in.enough()), optimum-1e-6*math.Max(1, optimum), "seed %d", seed)
		if bound < before-1e-3*math.Abs(before) {
			lower++
		}
	}
	assert.Greater(t, divided, 50)
	assert.Greater(t, lower, divided/2)
}

// TestTallyOfNothing: where no job can run there is no tally.
func TestTallyOfNothing(t *testing.T) {
	w := prepared(flat(3))
	require.True(t, w.coarse.load())
	y := &w.coarse.worker.tally
	require.True(t, y.tallied)
	assert.Positive(t, y.unit())
	for o := range y.in.Opts {
		y.in.Opts[o].Dead = true
	}
	assert.Zero(t, y.unit())
	y.plant()
	assert.False(t, y.planted)
}

// TestTallyOfLargeNumbers: what can come to more than is exact is not counted.
func TestTallyOfLargeNumbers(t *testing.T) {
	p := flat(3)
	for j := range p.Jobs {
		for o := range p.Jobs[j].Options {
			p.Jobs[j].Options[o].Value = 1e-9
		}
	}
	p.Jobs[0].Options[0].Value = 1e9
	assert.Nil(t, withTally(prepared(p)))
}
