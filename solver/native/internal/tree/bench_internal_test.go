package tree

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/native/internal/nativetest"
	"github.com/hedgesched/hedge/solver/native/internal/relax"
)

// bench is a problem with all that divides it.
type bench struct {
	*nativetest.Bench
	pool       relax.Cuts
	subproblem *Subproblem
	rounding   *Rounding
	dive       *Dive
	cutting    *Cutting
	tree       *Tree
}

// prepared is a bench about to solve p's relaxation, with far more work than it needs.
func prepared(p *solver.Problem) *bench {
	w := &bench{Bench: nativetest.Prepared(p)}
	w.subproblem = NewSubproblem(&w.In, &w.Budget, &w.Known, &w.Dual, &w.Master, &w.Relaxation)
	w.rounding = NewRounding(&w.Cur, &w.Orders, &w.Ejection, w.subproblem)
	w.dive = NewDive(w.subproblem, w.rounding)
	w.pool.Reset()
	w.cutting = NewCutting(&w.pool, w.subproblem, w.rounding)
	w.tree = New(w.subproblem, w.rounding)
	w.subproblem.Reset()
	w.rounding.Reset()
	w.tree.Reset()
	w.subproblem.Begin(&w.Cur, w.Orders.Jobs)
	return w
}

// checkBasis checks the basis of w's program.
func checkBasis(t *testing.T, w *bench) {
	t.Helper()
	require.NoError(t, w.Master.Check())
}
