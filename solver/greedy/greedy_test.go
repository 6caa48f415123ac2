package greedy_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/greedy"
	"github.com/hedgesched/hedge/solver/solvertest"
)

func TestConformance(t *testing.T) {
	solvertest.Run(t, greedy.New(), solvertest.Claims{Caps: solver.Caps{Deterministic: true, Anytime: true}})
}

func BenchmarkSolve(b *testing.B) {
	for _, name := range []string{"b-060", "d-300-multi", "f-1000-google"} {
		b.Run(name, func(b *testing.B) {
			p, err := solver.ReadProblemFile("../testdata/" + name + ".json.gz")
			require.NoError(b, err)
			e := greedy.New()
			b.ReportAllocs()
			var sol *solver.Solution
			for b.Loop() {
				sol, err = e.Solve(context.Background(), p, solver.Options{}, func(*solver.Solution) {})
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(sol.Objective, "objective")
		})
	}
}

// Of two jobs for one node the one worth more per capacity taken comes first.
func Example() {
	option := func(value float64, usage ...float64) []solver.Option {
		return []solver.Option{{Set: "any", Count: 1, Demand: []float64{1}, Partitions: []int{0}, Usage: usage, Value: value}}
	}
	p := &solver.Problem{
		SlotSeconds: 60, Slots: 2, Resources: []string{"node"},
		Partitions: []solver.Partition{{Name: "rack", Nodes: 1}},
		Capacity:   [][][]float64{{{1, 1}}},
		Jobs:       []solver.Job{{ID: "long", Options: option(12, 1, 1)}, {ID: "short", Options: option(10, 1)}},
	}
	sol, err := solver.Solve(context.Background(), greedy.New(), p, solver.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, placed := sol.Choice["short"]
	fmt.Println("short placed:", placed, "objective:", sol.Objective, "proven:", sol.Bound != nil)
	// Output: short placed: true objective: 10 proven: false
}
