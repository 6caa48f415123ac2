package solver_test

import (
	"context"
	"fmt"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/greedy"
	"github.com/hedgesched/hedge/solver/native"
)

// twoJobs has one node and two jobs that both want it now; the second may also have it a slot later.
func twoJobs() *solver.Problem {
	node := []int{0}
	option := func(start int, value float64) solver.Option {
		return solver.Option{Start: start, Count: 1, Demand: []float64{1}, Partitions: node, Usage: []float64{1},
			Value: value}
	}
	return &solver.Problem{
		SlotSeconds: 60, Slots: 2, Resources: []string{"node"},
		Partitions: []solver.Partition{{Name: "rack", Nodes: 1}},
		Capacity:   [][][]float64{{{1, 1}}}, // [partition][resource][slot]
		Jobs: []solver.Job{
			{ID: "report", Options: []solver.Option{option(0, 10)}},
			{ID: "batch", Options: []solver.Option{option(0, 12), option(1, 11)}},
		},
	}
}

// Solve checks the problem, asks the engine, and verifies what it answers.
func ExampleSolve() {
	solution, err := solver.Solve(context.Background(), native.New(nil), twoJobs(), solver.Options{Work: 10_000})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s %.0f, bound %.3f\n", solution.Stop, solution.Objective, *solution.Bound)
	fmt.Println("report starts in slot 0, batch takes its option", solution.Choice["batch"].Option)
	// Output:
	// optimal 21, bound 21.000
	// report starts in slot 0, batch takes its option 1
}

// A ladder asks one engine after another, each with the best plan so far, and answers with the best of all.
func ExampleLadder() {
	ladder := solver.Ladder(greedy.New(), solver.Share(native.New(nil), 0.5))
	solution, err := solver.Solve(context.Background(), ladder, twoJobs(), solver.Options{Work: 10_000})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, rung := range solution.Rungs {
		fmt.Println(rung.Engine, rung.Stop, rung.Objective)
	}
	fmt.Println("the plan is worth", solution.Objective)
	// Output:
	// greedy iterations 12
	// native optimal 21
	// the plan is worth 21
}
