package clp_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

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

// TestEachIsItsOwn: milp.Solve keeps a book of calls that were abandoned by backend, and one must not keep another busy.
func TestEachIsItsOwn(t *testing.T) {
	owners := map[milp.Backend]bool{}
	for range 10 {
		owners[clp.New()] = true
	}
	assert.Len(t, owners, 10)
}
