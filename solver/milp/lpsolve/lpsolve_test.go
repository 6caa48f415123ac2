package lpsolve_test

import (
	"testing"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/lpsolve"
	"github.com/hedgesched/hedge/solver/milp/milptest"
)

func TestConformance(t *testing.T) {
	milptest.Run(t, lpsolve.New(), milptest.Config{})
}

func TestLibrary(t *testing.T) {
	milptest.RunLibrary(t, lpsolve.New)
}

func BenchmarkSetUp(b *testing.B) {
	milptest.BenchmarkSetUp(b, lpsolve.New(), false, milp.Options{})
}
