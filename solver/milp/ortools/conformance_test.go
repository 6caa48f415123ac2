package ortools_test

import (
	"strings"
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
		{ortools.CPSAT, continuous(map[string]string{
			"mip:equality knapsack, infeasible": "OR-Tools 9.15 calls the model invalid that CP-SAT's presolve finds " +
				"infeasible by divisors",
			"mip:mixed":                      grid,
			"mip:big M":                      grid,
			"call:names":                     grid,
			"call:start of a linear program": grid,
			"call:partial start":             grid,
			"random:linear":                  grid,
			"random:mixed":                   grid,
			"call:concurrent":                grid + "; TestSolvesAtTheSameTime does it with integers",
		})},
		{ortools.GLOP, nil},
		{ortools.PDLP, nil},
	} {
		t.Run(string(c.solver), func(t *testing.T) {
			b := backend(t, ortools.Config{Address: service(t), Solver: c.solver})
			milptest.Run(t, b, milptest.Config{Skip: c.skip})
		})
	}
}

const grid = "CP-SAT takes continuous variables for integer, and so proves nothing of models with them"

// continuous adds the cases of linear programs to skip: CP-SAT takes continuous variables for integer.
func continuous(skip map[string]string) map[string]string {
	for _, name := range milptest.Cases() {
		if strings.HasPrefix(name, "lp:") {
			skip[name] = grid
		}
	}
	return skip
}
