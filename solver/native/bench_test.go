package native_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/native"
)

func load(tb testing.TB, name string) *solver.Problem {
	tb.Helper()
	p, err := solver.ReadProblemFile("../testdata/" + name + ".json.gz")
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// BenchmarkSolve reports what the engine reaches within a work limit given in
// thousands of units, which is about milliseconds.
func BenchmarkSolve(b *testing.B) {
	for _, name := range []string{"a-020", "b-060", "c-150", "d-300-multi", "e-400-google", "f-1000-google"} {
		p := load(b, name)
		for _, ms := range []int64{10, 50, 200, 500} {
			b.Run(fmt.Sprintf("%s/%dk", name, ms), func(b *testing.B) {
				b.ReportAllocs()
				e := native.New(nil)
				var sol *solver.Solution
				var err error
				for b.Loop() {
					sol, err = solver.Solve(context.Background(), e, p, solver.Options{Work: ms * 1000})
					if err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(sol.Objective, "objective")
				b.ReportMetric(100**sol.Gap, "gap%")
			})
		}
	}
}
