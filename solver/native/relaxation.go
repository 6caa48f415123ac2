package native

import (
	"math"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/native/internal/lp"
	"github.com/hedgesched/hedge/solver/native/internal/relax"
)

// relaxation solves the linear relaxation by column generation.
type relaxation struct {
	*progress
	recall *recall
	master *relax.Master
	took   int64 // ops of the last one that was solved
	primal *lp.Primal
}

// generate sweeps over all options at prices dual.Lam, and adds the columns that would improve the program. It returns
// the bound that these prices prove, and how many columns were added. If the limits are reached on the way, it proves
// nothing.
func (rel *relaxation) generate() (bound float64, added int) {
	in, d := &rel.in, &rel.dual
	d.Window()
	sum := d.CapacityCost()
	for set := range rel.master.Sets() {
		if !rel.checkpoint() {
			return math.Inf(1), added
		}
		if set < len(in.P.Jobs) {
			best, fresh := rel.generateJob(set)
			sum += best
			if fresh {
				added++
			}
			continue
		}
		sum += d.ReleaseBound(set - len(in.P.Jobs))
	}
	if math.IsInf(sum, -1) {
		return sum, added // a job that must be placed has no option left
	}
	return sum + float64(1e-10*math.Abs(sum)), added
}

// generateJob is generate for one job: only its best column is added.
func (rel *relaxation) generateJob(j int) (best float64, fresh bool) {
	m, d := rel.master, &rel.dual
	if d.Decided.Must[j] {
		best = math.Inf(-1)
	}
	best, pick := d.Choose(j, best)
	if pick < 0 {
		return best, false
	}
	if best > m.Dual(j)+m.Tol {
		_, fresh = m.Add(pick, d.Pick)
	}
	return best, fresh
}

// crash makes the best plan the program's first basis: its options and
// preemptions are the keys of their sets, and the rows' slacks are basic.
func (rel *relaxation) crash() {
	m := rel.master
	m.AllSlacks()
	for j, o := range rel.best.Choice {
		if o >= 0 {
			c, _ := m.Add(o, rel.best.Split[j*rel.in.MaxParts:])
			m.Rekey(j, c)
		}
	}
	for k, on := range rel.best.Preempted {
		if on {
			m.Rekey(len(rel.in.P.Jobs)+k, rel.master.RunColumn(k))
		}
	}
	m.Revalue()
}

// solve solves the linear relaxation by column generation from the prices at
// hand until the ops spent on it reach until. It leaves the prices that prove
// the least bound in dual.Best.
func (rel *relaxation) solve(until int64) bool {
	m, d := rel.master, &rel.dual
	defer func(from int64) { rel.took = m.Ops - from }(m.Ops)
	rel.crash()
	rel.resume()
	radius := rel.boxIn()
	copy(d.Lam, d.Best)
	exact := false
	for rel.Spent() < until && rel.checkpoint() {
		bound, added := rel.generate()
		if d.Improve(bound) && rel.cfg.Relaxation {
			rel.report(rel.solution(solver.StopNone))
		}
		done := rel.pivots(m.Ops + min(max(0, until-rel.Spent()), roundOps*int64(m.Rows)))
		value := m.Objective()
		switch {
		case radius > 0:
			radius, added = rel.widen(radius, value, done), 1
		case d.Bound-value <= rel.cfg.loose()*math.Abs(d.Bound), added == 0 && exact:
			return true
		}
		mix := bestWeight
		exact = added == 0
		if exact {
			mix = 0
		}
		for r := range d.Lam {
			d.Lam[r] = max(0, m.Prices[r]+float64(mix*(d.Best[r]-m.Prices[r])))
		}
	}
	if radius > 0 {
		rel.open()
	}
	return false
}

// bestWeight is the weight of the best prices in those of the next sweep, beside the program's. With 0.7 and 0.85
// most problems need more pivots.
const bestWeight = 0.5

// roundOps times rows is what the program may take between two sweeps: prices
// change a lot at first, and an optimum over few columns is soon outdated.
const roundOps = 15 * opsPerUnit

// pivots optimizes the program until its ops reach until, looking at the limits
// now and then. It reports whether it is optimal.
func (rel *relaxation) pivots(until int64) bool {
	for m := rel.master; m.Ops < until && rel.checkpoint(); {
		if rel.primal.Optimize(min(until, m.Ops+512*opsPerUnit)) {
			return true
		}
	}
	return false
}

// exists says whether there is anything to be a program about.
func (rel *relaxation) exists() bool { return rel.in.Rows > 0 }

// affordable says whether the linear relaxation can be expected to be solved in a part of the work, by what it took
// on problems of many sizes: too early a start leaves no time for anything else.
func (rel *relaxation) affordable() bool {
	need := int64(rel.in.Rows) * max(opsPerRowEntry*int64(len(rel.in.Part)), opsPerRowJob*int64(len(rel.in.P.Jobs)))
	return rel.exists() && need < rel.Horizon()
}
