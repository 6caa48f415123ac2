package clp_test

import (
	"testing"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/clp"
	"github.com/hedgesched/hedge/solver/milp/milptest"
)

func TestConformance(t *testing.T) {
	milptest.Run(t, clp.New(), milptest.Config{})
}

func TestConformanceOfMethods(t *testing.T) {
	for name, method := range map[string]clp.Method{"dual": clp.Dual, "primal": clp.Primal, "unknown": -1} {
		t.Run(name, func(t *testing.T) { milptest.Run(t, clp.NewMethod(method), milptest.Config{}) })
	}
}

func TestConformanceOfDiving(t *testing.T) {
	milptest.Run(t, milp.Diving(clp.New()), milptest.Config{})
}

func TestLibrary(t *testing.T) {
	milptest.RunLibrary(t, clp.New)
}

func BenchmarkSetUp(b *testing.B) {
	milptest.BenchmarkSetUp(b, clp.New(), false, milp.Options{})
}
