package native

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/solvertest"
)

// wrong is the engine with a bound of a part of the best plan's value.
type wrong struct {
	*Engine
	part float64
}

func (e wrong) Solve(ctx context.Context, p *solver.Problem, opts solver.Options,
	report func(*solver.Solution)) (*solver.Solution, error) {
	w := newWorker()
	w.begin(ctx, p, opts, e.cfg, report)
	w.run()
	w.dual.Bound = e.part * w.known.Top()
	return w.solution(w.stop()), nil
}

// TestWrongBoundsAreSeen: a bound below the plan is neither hidden nor called a proof, whether the search took itself
// for done or not.
func TestWrongBoundsAreSeen(t *testing.T) {
	for _, work := range []int64{100, 100_000} {
		for part, noticed := range map[float64]bool{0.9: true, 1 - 1e-5: true, 1 - 1e-12: false, 1: false} {
			opts := solver.Options{Work: work, Gap: -1}
			p := solvertest.Cycle(1, 8, 2)
			_, err := solver.Solve(context.Background(), wrong{New(nil), part}, p, opts)
			if !noticed {
				require.NoError(t, err, "%v of the plan within %d", part, work)
				continue
			}
			require.ErrorIs(t, err, solver.ErrEngine, "%v of the plan within %d", part, work)
			sol, err := wrong{New(nil), part}.Solve(context.Background(), p, opts, func(*solver.Solution) {})
			require.NoError(t, err)
			assert.NotEqual(t, solver.StopOptimal, sol.Stop)
			assert.Less(t, *sol.Bound, sol.Objective)
		}
	}
}
