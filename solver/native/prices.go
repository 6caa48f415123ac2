package native

import "github.com/hedgesched/hedge/solver/native/internal/relax"

// Which part of the work an ascent may take, in percent, and how many steps: most where prices will not be bettered
// by the relaxation, little where they will, and more again before a large relaxation, which has its columns from the
// steps.
const (
	aloneShare, aloneSteps   = 45, 1000
	beforeShare, beforeSteps = 8, 30
	levelShare, levelSteps   = 12, 40
	mostRestarts             = 3 // from the best prices with averaged subgradients
)

// ascend betters rough prices, and makes greedy plans by them now and then.
func (w *worker) ascend() {
	ahead := w.relaxation.Affordable()
	share, steps := w.budget.Share(1)*aloneShare/100, aloneSteps
	if ahead {
		share, steps = w.budget.Share(1)*beforeShare/100, beforeSteps
	}
	switch {
	case ahead && w.recall.Warm && w.steady():
	case ahead && w.relaxation.Large():
		w.ascendByLevels()
	default:
		w.ascendBySubgradients(share, steps)
	}
}

// ascendBySubgradients makes at most a number of steps, and stops when the prices have taken a number of ops.
func (w *worker) ascendBySubgradients(ops int64, steps int) {
	restarts := 0
	for i := 1; i <= steps && w.dual.Ops < ops && w.budget.Checkpoint(); i++ {
		if !w.ascent.Step(w.known.Top()) {
			if restarts++; restarts > mostRestarts {
				break
			}
			w.ascent.Again()
		}
		if i == 4 || i%10 == 0 && i <= 60 || i%40 == 0 { // often at first, when prices change the most
			w.greedy.ByPrices()
			w.dual.Evaluate()
		}
	}
}

// ascendByLevels is the ascent before a large relaxation, to which it leaves the columns of the last steps.
func (w *worker) ascendByLevels() {
	share := w.budget.Share(1) * levelShare / 100
	level := w.ascent.Levels(w.known.Top())
	for i := 1; i <= levelSteps && level > 0 && w.dual.Ops < share && w.budget.Checkpoint(); i++ {
		if i == 11 {
			w.dual.Chosen = w.take
		}
		if level = w.ascent.LevelStep(level); i == 10 || i == 25 {
			w.orders.Guide()
			w.greedy.FillByRed()
		}
	}
	w.dual.Chosen = nil
}

// take makes a column of option o with that split.
func (w *worker) take(o int, split []float64) { w.master.Add(o, split) }

// steady says that the memory's prices are good ones, which the first steps of ascent do not better by much.
func (w *worker) steady() bool {
	before := w.dual.Bound
	for range 2 * relax.Patience { // shorter steps, too, before it is believed
		if !w.budget.Checkpoint() || !w.ascent.Step(w.known.Top()) {
			break
		}
	}
	return before-w.dual.Bound <= 0.1*(before-w.known.Top())
}
