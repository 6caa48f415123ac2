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

func TestConformanceOfDiving(t *testing.T) {
	milptest.Run(t, milp.Diving(clp.New()), milptest.Config{})
}
