package greedy_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/greedy"
	"github.com/hedgesched/hedge/solver/solvertest"
)

func TestConformance(t *testing.T) {
	solvertest.Run(t, greedy.New(), solvertest.Caps{Deterministic: true})
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
