package tree

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/hedgesched/hedge/solver/solvertest"
)

// decideAtRandom decides n things about the subproblem that are not decided yet.
func decideAtRandom(w *bench, r *rand.Rand, n int) {
	in := &w.In
	for range n {
		switch o := r.IntN(len(in.Opts)); r.IntN(4) {
		case 0:
			w.subproblem.forbid(o)
		case 1:
			if !w.subproblem.Decided.Dead[o] && !w.subproblem.Decided.Must[in.Opts[o].Job] {
				w.subproblem.require(in.Opts[o].Job, o)
			}
		case 2:
			if e := in.Opts[o].P0; in.Opts[o].Whole && w.subproblem.Decided.Upper[e] > 0 {
				w.subproblem.confine(o, e, math.Floor(w.subproblem.Decided.Upper[e]/2), false)
			}
		default:
			if k := len(in.P.Running); k > 0 {
				w.subproblem.settleRun(r.IntN(k), r.IntN(2) == 0)
			}
		}
	}
}

// TestDecisionsComeBack: whatever is decided about the subproblem the program's basis stays feasible, and its value is
// no more than before; it is what it was when all has been taken back.
func TestDecisionsComeBack(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 5))
		w := prepared(solvertest.Cycle(seed, 8+int(seed), int(seed)%9))
		w.Relax(math.MaxInt64)
		w.Known.Best.Value = 0 // nothing is given up
		w.subproblem.Reset()
		w.subproblem.solve(maxRounds)
		root := w.Master.Objective()
		for range 3 {
			decideAtRandom(w, r, 1+r.IntN(6))
			w.subproblem.solve(maxRounds)
			checkBasis(t, w)
			assert.LessOrEqual(t, w.Master.Objective(), root*(1+1e-6), "seed %d", seed)
			w.subproblem.revert(0)
			w.subproblem.solve(maxRounds)
			assert.InEpsilon(t, root, w.Master.Objective(), 1e-6, "seed %d", seed)
		}
	}
}
