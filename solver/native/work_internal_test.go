package native

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/solvertest"
)

// prepared is a worker about to solve p's relaxation, with far more work than it needs.
func prepared(p *solver.Problem) *worker {
	w := newWorker()
	w.begin(context.Background(), p, solver.Options{Work: 1 << 40, Gap: -1}, Config{}, func(*solver.Solution) {})
	w.greedy.Starts()
	w.greedy.ByPrices()
	w.subproblem.Begin(&w.cur, w.orders.Jobs)
	return w
}

// TestTheLastOfTheWork leaves the search remainders of its work that are too small to share
// out: it must not go on for ever.
func TestTheLastOfTheWork(t *testing.T) {
	for left := range int64(10) {
		w := prepared(solvertest.Cycle(1, 60, 10))
		w.solveRelaxation(1 << 40)
		w.budget.Confine(w.budget.Spent() + left)
		w.rounds()
		assert.GreaterOrEqual(t, w.budget.Spent(), w.budget.Limit()-2)
	}
}
