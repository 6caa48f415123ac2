package native_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/native"
	"github.com/hedgesched/hedge/solver/solvertest"
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
			b.Run(fmt.Sprintf("%s/%dk", name, ms), func(b *testing.B) { benchmark(b, p, ms*1000) })
		}
	}
}

// BenchmarkCycles is BenchmarkSolve on random cycles.
func BenchmarkCycles(b *testing.B) {
	for i, size := range [][2]int{
		{20, 0}, {25, 15}, {40, 20}, {60, 0}, {60, 40}, {100, 30}, {120, 0}, {150, 60}, {200, 0}, {300, 80}, {400, 0}, {600, 100},
	} {
		p := solvertest.Cycle(uint64(i+1), size[0], size[1])
		for _, ms := range []int64{10, 50, 200, 500} {
			b.Run(fmt.Sprintf("%d-%d/%dk", size[0], size[1], ms), func(b *testing.B) { benchmark(b, p, ms*1000) })
		}
	}
}

// benchmark reports plan and gap reached within work.
func benchmark(b *testing.B, p *solver.Problem, work int64) {
	b.ReportAllocs()
	e := native.New(nil)
	var sol *solver.Solution
	var err error
	for b.Loop() {
		sol, err = solver.Solve(context.Background(), e, p, solver.Options{Work: work})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(sol.Objective, "objective")
	b.ReportMetric(100**sol.Gap, "gap%")
}
