package lpsolve_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/lpsolve"
	"github.com/hedgesched/hedge/solver/milp/milptest"
)

func TestConformance(t *testing.T) {
	milptest.Run(t, lpsolve.New(), milptest.Config{})
}

// TestEachIsItsOwn: milp.Solve keeps a book of calls that were abandoned by backend, and one must not keep another busy.
func TestEachIsItsOwn(t *testing.T) {
	owners := map[milp.Backend]bool{}
	for range 10 {
		owners[lpsolve.New()] = true
	}
	assert.Len(t, owners, 10)
}
