package tree

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/internal/pack"
	"github.com/hedgesched/hedge/solver/native/internal/nativetest"
	"github.com/hedgesched/hedge/solver/native/internal/relax"
	"github.com/hedgesched/hedge/solver/solvertest"
)

// TestReducedCostsKeepBetterPlans: what a subproblem's prices take out is in no plan that is worth more than what is
// looked for, here in the best one, whatever it is that is looked for; and they do take something out.
func TestReducedCostsKeepBetterPlans(t *testing.T) {
	nativetest.Sequential(t)
	decided, proven := map[int8]int{}, 0
	for seed := range uint64(40) {
		p := solvertest.Cycle(seed, 4+int(seed)%14, int(seed)%7)
		proof := prepared(p)
		proof.Relax(1 << 60)
		proof.Budget.Confine(proof.Budget.Spent() + 100_000*pack.OpsPerUnit)
		proof.tree.Grow()
		if !proof.Known.Proven {
			continue
		}
		best := proof.Known.Best.Solution("tree", solver.StopOptimal)
		proven++
		for _, share := range []float64{0.5, 0.9, 0.99, 0.999, 1 - 1e-7} {
			w := prepared(p)
			w.Relax(math.MaxInt64)
			w.Known.Best.Value = float64(share * best.Objective)
			w.subproblem.solve(maxRounds)
			w.subproblem.reduce()
			for _, d := range w.subproblem.Decided.Trail {
				decided[d.Kind]++
			}
			checkKept(t, w, best)
		}
	}
	assert.Greater(t, proven, 20)
	for kind := range int8(relax.Raised + 1) {
		assert.Positive(t, decided[kind], "decisions of kind %d", kind)
	}
}

// checkKept says that the subproblem allows the plan.
func checkKept(t *testing.T, w *bench, plan *solver.Solution) {
	t.Helper()
	in := &w.In
	for j := range in.P.Jobs {
		c, taken := plan.Choice[in.P.Jobs[j].ID]
		if !taken {
			require.False(t, w.subproblem.Decided.Must[j], "job %d has to run", j)
			continue
		}
		for o := in.JobOpts[j]; o < in.JobOpts[j+1]; o++ {
			opt := &in.Opts[o]
			if opt.Index != c.Option {
				continue
			}
			require.False(t, w.subproblem.Decided.Dead[o], "option %d of job %d", c.Option, j)
			tasks := make([]float64, opt.P1-opt.P0)
			for _, s := range c.Split {
				for i, x := range in.Part[opt.P0:opt.P1] {
					if x == s.Partition {
						tasks[i] = s.Count
					}
				}
			}
			require.True(t, w.subproblem.Decided.Allows(o, tasks), "the split of option %d of job %d: %v", c.Option, j, tasks)
		}
	}
	gone := map[string]bool{}
	for _, id := range plan.Preempt {
		gone[id] = true
	}
	for k := range in.P.Running {
		if gone[in.P.Running[k].ID] {
			require.GreaterOrEqual(t, w.subproblem.Decided.Fix[k], int8(0), "running job %d has to stay", k)
		} else {
			require.LessOrEqual(t, w.subproblem.Decided.Fix[k], int8(0), "running job %d has to go", k)
		}
	}
}
