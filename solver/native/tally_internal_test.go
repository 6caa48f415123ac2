package native

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/solvertest"
)

// withTally is w's coarse problem up to its tree, with a tally; nil if there is none.
func withTally(w *worker) *worker {
	in, solved := begunCoarse(w)
	if !solved || !in.tally.planted {
		return nil
	}
	return in
}

// flat is a problem of gangs that are worth about as much whenever they start, most of them wider than a partition.
func flat(seed uint64) *solver.Problem {
	r := rand.New(rand.NewPCG(seed, 7))
	return flatOf(r, 3+r.IntN(3), 2+r.IntN(2), 2+r.IntN(2), 4)
}

// flatOf has so many jobs, slots, and partitions of so many nodes.
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
		p.Running = append(p.Running, solver.Running{ID: fmt.Sprint("r", m), PreemptCost: 3 + 6*r.Float64(), Demand: []float64{1}, Usage: usage(p.Slots),
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

// holds requires that a plan's tally is in a range, and that the two rows hold for the plan with that. It returns the range.
func holds(t *testing.T, in *worker, choice []int, preempted []bool) (at int) {
	y, k := &in.tally, &in.cuts
	sum, plan := 0.0, make([]float64, len(in.in.Part)+len(in.in.P.Running))
	for _, o := range choice {
		if o >= 0 {
			opt := &in.in.Opts[o]
			plan[opt.P0+o%(opt.P1-opt.P0)] = opt.Count // anywhere
			sum += y.counts[o]
			require.InDelta(t, opt.Value, y.counts[o]*y.size, y.size/2+1e-9, "option %d", o)
		}
	}
	for m, off := range preempted {
		if off {
			plan[len(in.in.Part)+m] = 1
			sum -= y.costs[m]
		}
	}
	at = -1
	for i := range ranges {
		if y.lo[i] <= sum && sum <= y.hi[i] {
			at = i
		}
	}
	require.GreaterOrEqual(t, at, 0, "%v is in no range", sum)
	lo, _ := y.options()
	plan[in.in.Opts[lo+at].P0] = 1
	for c := len(k.rhs) - 2; c < len(k.rhs); c++ {
		left := -k.rhs[c]
		for e := k.off[c]; e < k.off[c+1]; e++ {
			left += k.coef[e] * plan[k.at[e]]
		}
		require.LessOrEqual(t, left, 0.0)
	}
	return at
}

// TestTallyRows: whatever plan there is, its tally is in one of the ranges, and with that the two rows hold.
func TestTallyRows(t *testing.T) {
	single, below := 0, 0
	for _, of := range []func(uint64) *solver.Problem{flat, steep} {
		for seed := range uint64(300) {
			w := prepared(of(seed))
			w.greedy.starts()
			in := withTally(w)
			if in == nil {
				continue
			}
			all := make([]bool, len(w.in.P.Running))
			for m := range all {
				all[m] = true
			}
			for _, at := range []int{holds(t, in, w.best.Choice, w.best.Preempted), holds(t, in, nil, nil), holds(t, in, nil, all)} {
				if single++; at == 0 {
					single, below = single-1, below+1
				}
			}
		}
	}
	assert.Greater(t, single, 250)
	assert.Greater(t, below, 50)
}

// TestTallyAbove: one job is worth more than the twenty that could run beside one another in its place, each half a unit and rounded up, so that their tally is far above the program's.
func TestTallyAbove(t *testing.T) {
	p := &solver.Problem{SlotSeconds: 1, Slots: 1, Resources: []string{"node"}}
	for range 2 {
		p.Partitions = append(p.Partitions, solver.Partition{Nodes: 10})
		p.Capacity = append(p.Capacity, [][]float64{{10}})
	}
	add := func(times, count int, value float64) {
		for range times {
			p.Jobs = append(p.Jobs, solver.Job{ID: fmt.Sprint(len(p.Jobs)), Options: []solver.Option{
				{Count: count, Demand: []float64{1}, Partitions: []int{0, 1}, Usage: []float64{1}, Value: value}}})
		}
	}
	add(1, 20, 11)
	add(20, 1, 0.51)
	add(22, 19, 1)
	in := withTally(prepared(p))
	require.NotNil(t, in)
	assert.Equal(t, 1.0, in.tally.size)
	in.node.weigh()
	assert.InDelta(t, 11, in.tally.value(), 1e-6)
	choice := make([]int, len(p.Jobs))
	for j := range choice {
		if choice[j] = -1; 1 <= j && j <= 20 {
			choice[j] = in.in.JobOpts[j]
		}
	}
	assert.Equal(t, ranges-1, holds(t, in, choice, nil))
}

// TestTallyInSearch: the coarse problem's own search has a tally where the enumeration does not prove all before.
func TestTallyInSearch(t *testing.T) {
	planted, divided := 0, 0
	for seed := range uint64(20) {
		w := prepared(flatOf(rand.New(rand.NewPCG(seed, 9)), 14, 8, 4, 12))
		w.limit = w.spent() + 20_000*opsPerUnit
		w.horizon = w.limit
		w.greedy.starts()
		w.coarse.grow(1)
		in := w.coarse.worker
		require.NotNil(t, in)
		require.GreaterOrEqual(t, w.bound(), w.best.Value*(1-1e-9))
		if !in.tally.planted {
			continue
		}
		planted++
		if slices.ContainsFunc(in.tree.nodes, func(n branch) bool { return n.parent >= 0 && in.tally.is(n.c.job) }) {
			divided++
		}
	}
	assert.Greater(t, planted, 5)
	assert.Greater(t, divided, 5)
}

// TestTallyOfManyJobs: the tally is not counted where problems are told apart by how many jobs they have.
func TestTallyOfManyJobs(t *testing.T) {
	p := flatOf(rand.New(rand.NewPCG(1, 9)), 8, 2, 4, 12)
	for len(p.Jobs) < boxJobs-1 {
		job := p.Jobs[0]
		job.ID = fmt.Sprint(len(p.Jobs))
		p.Jobs = append(p.Jobs, job)
	}
	in := withTally(prepared(p))
	require.NotNil(t, in)
	assert.Len(t, in.in.P.Jobs, boxJobs)
	assert.False(t, in.relaxation.large())
	assert.True(t, in.node.dually)
}

// TestTallyDivides: both sides of a division by the tally are without the program's own, and the optimum is worth no more than the better one's bound.
func TestTallyDivides(t *testing.T) {
	divided, lower := 0, 0
	for seed := range uint64(600) {
		p := flat(seed)
		if seed%2 == 0 {
			p = steep(seed)
		}
		in := withTally(prepared(p))
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
			in.node.penalty *= 1e4 // as the tree does where the program leans on what has been decided against
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
	w := prepared(flatOf(rand.New(rand.NewPCG(1, 9)), 8, 2, 4, 12))
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

// TestTallyOfLargeNumbers: where most jobs are nothing beside another one there is no tally.
func TestTallyOfLargeNumbers(t *testing.T) {
	p := flatOf(rand.New(rand.NewPCG(1, 9)), 8, 2, 4, 12)
	require.NotNil(t, withTally(prepared(p)))
	for j := range p.Jobs {
		for o := range p.Jobs[j].Options {
			p.Jobs[j].Options[o].Value = 1e-9
		}
	}
	p.Jobs[0].Options[0].Value = 1e9
	assert.True(t, withTally(prepared(p)) == nil)
}
