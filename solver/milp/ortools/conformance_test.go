package ortools_test

import (
	"testing"

	"github.com/hedgesched/hedge/solver/milp/milptest"
	"github.com/hedgesched/hedge/solver/milp/ortools"
)

func TestConformance(t *testing.T) {
	for _, c := range []struct {
		solver ortools.Solver
		skip   map[string]string
	}{
		{ortools.GSCIP, nil},
		{ortools.HiGHS, nil},
		{ortools.CPSAT, nil},
		{ortools.GLOP, nil},
		{ortools.PDLP, nil},
	} {
		t.Run(string(c.solver), func(t *testing.T) {
			b := backend(t, ortools.Config{Address: service(t), Solver: c.solver})
			milptest.Run(t, b, milptest.Config{Skip: c.skip})
		})
	}
}
