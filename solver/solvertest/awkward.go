package solvertest

import (
	"fmt"

	"github.com/hedgesched/hedge/solver"
)

// option is a gang of count on one-resource partitions, one task a unit.
func option(count int, value float64, partitions ...int) solver.Option {
	return solver.Option{Set: "any", Count: count, Demand: []float64{1}, Partitions: partitions, Usage: []float64{1},
		Value: value}
}

// build is a problem of one resource with one job per option.
func build(slots int, capacity []float64, options ...solver.Option) *solver.Problem {
	p := &solver.Problem{SlotSeconds: 1, Slots: slots, Resources: []string{"node"}}
	for x, c := range capacity {
		p.Partitions = append(p.Partitions, solver.Partition{Name: fmt.Sprint(x), Nodes: int(min(c, 1<<20))})
		row := make([]float64, slots)
		for t := range row {
			row[t] = c
		}
		p.Capacity = append(p.Capacity, [][]float64{row})
	}
	for j, o := range options {
		p.Jobs = append(p.Jobs, solver.Job{ID: fmt.Sprintf("j%d", j), Options: []solver.Option{o}})
	}
	return p
}

type awkward struct {
	name string
	p    *solver.Problem
	// want is the optimum, which is obvious enough for every engine to find it.
	want float64
}

func awkwardProblems() []awkward {
	noUse := option(3, 5, 0)
	noUse.Usage = nil
	free := option(1000, 5, 0, 1)
	free.Demand = []float64{0}
	long := option(1, 5, 0)
	long.Usage = []float64{1, 0.5, 1e-300}
	preempt := build(1, []float64{0}, option(2, 10, 0))
	preempt.Running = []solver.Running{{ID: "m", PreemptCost: 3, Demand: []float64{1}, Usage: []float64{1},
		Alloc: []solver.Alloc{{Partition: 0, Count: 2}}}}
	costly := build(1, []float64{0}, option(2, 10, 0))
	costly.Running = []solver.Running{{ID: "m", PreemptCost: 30, Demand: []float64{1}, Usage: []float64{1},
		Alloc: []solver.Alloc{{Partition: 0, Count: 2}}}}
	idle := build(1, []float64{1}, option(1, 10, 0))
	idle.Running = []solver.Running{{ID: "m"}}
	idle.Running[0].Demand = []float64{1}
	bytes := build(1, []float64{3e11}, option(3, 10, 0), option(1, 1, 0))
	bytes.Jobs[0].Options[0].Demand = []float64{1e11}
	bytes.Jobs[1].Options[0].Demand = []float64{1e11}
	const tebi = 1 << 40 // a hundred thousand nodes of 4 TiB, in bytes
	large := build(1, []float64{4e5 * tebi}, option(99_999, 10, 0), option(1, 3, 0))
	for j, d := range []float64{4 * tebi, 4*tebi - 5} {
		large.Jobs[j].Options[0].Demand = []float64{d}
	}
	trace := build(1, []float64{0}, option(2, 10, 0), option(1, 5, 0))
	trace.Running = []solver.Running{{ID: "m", PreemptCost: 3, Demand: []float64{1 << 36}, Usage: []float64{1},
		Alloc: []solver.Alloc{{Partition: 0, Count: 2}}}}
	trace.Jobs[0].Options[0].Demand = []float64{1} // of the tail of a running job, all of a kibibyte
	trace.Jobs[1].Options[0].Demand = []float64{1 << 10}
	denormal := build(1, []float64{1e-310}, option(1, 5, 0))
	denormal.Jobs[0].Options[0].Demand = []float64{1e-310}
	thirds := build(1, []float64{1}, option(3, 10, 0))
	thirds.Jobs[0].Options[0].Demand = []float64{1.0 / 3}
	return []awkward{
		{"no jobs", build(1, []float64{1}), 0},
		{"nothing at all", &solver.Problem{SlotSeconds: 1, Slots: 1}, 0},
		{"no resources", &solver.Problem{SlotSeconds: 1, Slots: 1, Partitions: []solver.Partition{{}},
			Capacity: [][][]float64{{}},
			Jobs: []solver.Job{{ID: "a",
				Options: []solver.Option{{Count: 1, Demand: []float64{}, Partitions: []int{0}, Value: 2}}}}}, 2},
		{"a job without options", &solver.Problem{SlotSeconds: 1, Slots: 1, Jobs: []solver.Job{{ID: ""}}}, 0},
		{"no capacity", build(2, []float64{0, 0}, option(1, 5, 0, 1)), 0},
		{"gang larger than the cluster", build(1, []float64{4, 4}, option(9, 5, 0, 1)), 0},
		{"gang as large as the cluster", build(1, []float64{4, 4}, option(8, 5, 0, 1)), 5},
		{"uses nothing", build(1, []float64{0}, noUse), 5},
		{"demands nothing", build(1, []float64{0, 0}, free), 5},
		{"vanishing usage", build(3, []float64{1}, long), 5},
		{"preemption pays", preempt, 7},
		{"preemption does not pay", costly, 0},
		{"running job that holds nothing", idle, 10},
		{"bytes", bytes, 10},
		{"bytes of a large cluster", large, 13},
		{"little of what a running job holds", trace, 12},
		{"next to nothing of next to nothing", denormal, 5},
		{"thirds", thirds, 10},
	}
}

func checkAwkward(e solver.Solver, _ Claims) error {
	for _, a := range awkwardProblems() {
		sol, err := solve(e, a.p, solver.Options{Work: work})
		if err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
		if !near(sol.Objective, a.want) {
			return fmt.Errorf("%s: objective %v, want %v", a.name, sol.Objective, a.want)
		}
		if sol.Choice == nil || sol.Preempt == nil {
			return fmt.Errorf("%s: choice or preempt is nil", a.name)
		}
	}
	return nil
}
