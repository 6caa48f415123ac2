package relax

import (
	"math"

	"github.com/hedgesched/hedge/solver/internal/pack"
	"github.com/hedgesched/hedge/solver/native/internal/lp"
	"github.com/hedgesched/hedge/solver/native/internal/search"
)

// Relaxation solves the linear relaxation by column generation. It is given the program, and the prices with what has
// been decided; it changes both. It starts from the incumbent, and stops as soon as the budget does.
type Relaxation struct {
	Took int64 // ops of the last one that was solved

	in     *pack.Instance
	budget *search.Budget
	known  *search.Incumbent
	dual   *Dual
	master *Master
	primal lp.Primal
	from   int64 // ops of the program when it was begun
}

// NewRelaxation is the relaxation of the problem in, whatever it holds when it is asked, by the program m at prices d.
func NewRelaxation(
	in *pack.Instance, budget *search.Budget, known *search.Incumbent, d *Dual, m *Master,
) Relaxation {
	return Relaxation{in: in, budget: budget, known: known, dual: d, master: m, primal: lp.NewPrimal(&m.Program)}
}

// Generate sweeps over all options at prices dual.Lam, and adds the columns that would improve the program. It returns
// the bound that these prices prove, and how many columns were added. If the limits are reached on the way, it proves
// nothing.
func (rel *Relaxation) Generate() (bound float64, added int) {
	in, d := rel.in, rel.dual
	d.Window()
	sum := d.CapacityCost()
	for set := range rel.master.Sets() {
		if !rel.budget.Checkpoint() {
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

// generateJob is Generate for one job: only its best column is added.
func (rel *Relaxation) generateJob(j int) (best float64, fresh bool) {
	m, d := rel.master, rel.dual
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

// Crash makes the best plan the program's first basis: its options and
// preemptions are the keys of their sets, and the rows' slacks are basic.
func (rel *Relaxation) Crash() {
	m := rel.master
	m.AllSlacks()
	for j, o := range rel.known.Best.Choice {
		if o >= 0 {
			c, _ := m.Add(o, rel.known.Best.Split[j*rel.in.MaxParts:])
			m.Rekey(j, c)
		}
	}
	for k, on := range rel.known.Best.Preempted {
		if on {
			m.Rekey(len(rel.in.P.Jobs)+k, rel.master.RunColumn(k))
		}
	}
	m.Revalue()
}

// Begin makes the program one for Solve, which starts from the best plan. Columns may be added in between.
func (rel *Relaxation) Begin() {
	rel.from = rel.master.Ops
	rel.Crash()
}

// Solve solves the linear relaxation by column generation from the prices at hand until the ops spent on it reach
// until. It reports whether program and bound have come within loose of each other, relatively, and leaves the prices
// that prove the least bound in the dual's Best. It calls tighter, unless that is nil, at every tighter bound. Begin
// comes first.
func (rel *Relaxation) Solve(until int64, loose float64, tighter func()) bool {
	m, d := rel.master, rel.dual
	defer func() { rel.Took = m.Ops - rel.from }()
	radius := rel.boxIn()
	copy(d.Lam, d.Best)
	exact := false
	for rel.budget.Spent() < until && rel.budget.Checkpoint() {
		bound, added := rel.Generate()
		if d.Improve(bound) && tighter != nil {
			tighter()
		}
		done := rel.Pivots(m.Ops + min(max(0, until-rel.budget.Spent()), RoundOps*int64(m.Rows)))
		value := m.Objective()
		switch {
		case radius > 0:
			radius, added = rel.widen(radius, value, done), 1
		case d.Bound-value <= loose*math.Abs(d.Bound), added == 0 && exact:
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

// RoundOps times rows is what the program may take between two sweeps: prices
// change a lot at first, and an optimum over few columns is soon outdated.
const RoundOps = 15 * pack.OpsPerUnit

// Pivots optimizes the program until its ops reach until, looking at the limits
// now and then. It reports whether it is optimal.
func (rel *Relaxation) Pivots(until int64) bool {
	for m := rel.master; m.Ops < until && rel.budget.Checkpoint(); {
		if rel.primal.Optimize(min(until, m.Ops+512*pack.OpsPerUnit)) {
			return true
		}
	}
	return false
}

// Exists says whether there is anything to be a program about.
func (rel *Relaxation) Exists() bool { return rel.in.Rows > 0 }

// When a relaxation is expected to be solved in time: ops for each row and entry of in.Part, or for each row and job,
// by what it took on random cycles.
const (
	opsPerRowEntry = 10
	opsPerRowJob   = 730
)

// Affordable says whether the linear relaxation can be expected to be solved in a part of the work, by what it took
// on problems of many sizes: too early a start leaves no time for anything else.
func (rel *Relaxation) Affordable() bool {
	need := int64(rel.in.Rows) * max(opsPerRowEntry*int64(len(rel.in.Part)), opsPerRowJob*int64(len(rel.in.P.Jobs)))
	return rel.Exists() && need < rel.budget.Horizon()
}
