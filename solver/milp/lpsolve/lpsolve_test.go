package lpsolve_test

import (
	"testing"

	"github.com/hedgesched/hedge/solver/milp/lpsolve"
	"github.com/hedgesched/hedge/solver/milp/milptest"
)

func TestConformance(t *testing.T) {
	milptest.Run(t, lpsolve.New(), milptest.Config{})
}
