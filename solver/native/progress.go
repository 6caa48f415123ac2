package native

import (
	"math"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/internal/gap"
	"github.com/hedgesched/hedge/solver/internal/pack"
	"github.com/hedgesched/hedge/solver/native/internal/relax"
	"github.com/hedgesched/hedge/solver/native/internal/search"
)

// progress is what all parts of a search share: the problem, the plan in hand, the best plan and the bound so far,
// and what may be spent on bettering them. A part that holds it, and no other part, can be read by itself.
type progress struct {
	search.Budget
	search.Random
	in        pack.Instance
	cur       pack.State
	best      pack.State // the best plan of this worker
	dual      relax.Dual // the best bound of this worker, and the prices that prove it
	teamBest  pack.State // the best plan of other workers when they have met last, if it is better than best
	teamBound float64    // the bound that the team's leader has proven, for the others
	treeBound float64    // the tree's bound: the highest of its open, pruned and unbranchable nodes; no prices prove it
	proven    bool       // no plan is worth more than the best one
	smallest  float64    // the least value of an option that can fit
	cfg       Config
	target    float64           // the gap to end at
	meet      func(spent int64) // exchanges with the team
	meetAt    int64             // in ops; where the team meets next
	report    func(*solver.Solution)
	reportAt  int64
	reported  float64
}

// reportOps is how many ops there are between two reports of better plans, about 20 milliseconds.
const reportOps = 20_000 * opsPerUnit

// reset forgets all but the problem, the present plan and the best one.
func (p *progress) reset() {
	p.Restart()
	p.proven = false
	p.teamBound, p.treeBound, p.teamBest.Value = math.Inf(1), math.Inf(1), math.Inf(-1)
	p.best.Order = append(p.best.Order[:0], p.cur.Order...)
}

// checkpoint reports whether the present phase of the search may go on. Searches ask it all the while, and it is where
// others are let in: it meets the team, where it may wait for other workers and panics with their errors, and polls,
// if it is time to.
func (p *progress) checkpoint() bool {
	if p.Err() != nil || p.proven {
		return false
	}
	spent := p.Spent()
	if p.Used(spent) {
		return false
	}
	if spent >= p.meetAt {
		p.meet(spent)
	}
	p.poll(spent)
	return p.Err() == nil && !p.reached() && p.InPhase(spent)
}

// late is true once time is over or work exceeds its limit by 5 %: abandon what is under way. Nothing takes it up
// again, as checkpoint is false from the limit on. It polls if it is time to.
func (p *progress) late() bool {
	spent := p.Spent()
	p.poll(spent)
	return p.Late(spent)
}

// poll reads the clock and reports a better plan, every now and then.
func (p *progress) poll(spent int64) {
	if !p.Due(spent) {
		return
	}
	p.ReadClock()
	if p.reportAt <= spent && p.top() > p.reported {
		p.reportAt, p.reported = spent+reportOps, p.top()
		p.report(p.solution(solver.StopNone))
	}
}

// reached says whether the gap is as small as it has to be; that of a bound that is not known never is.
func (p *progress) reached() bool { return p.gap() <= p.target }

func (p *progress) bound() float64 { return min(p.dual.Bound, p.teamBound, p.treeBound) }

// solution is the best plan with the bound proven so far, which an abandoned solve keeps too.
func (p *progress) solution(stop solver.Stop) *solver.Solution {
	best := &p.best
	if p.teamBest.Value > best.Value {
		best = &p.teamBest
	}
	sol := best.Solution(name, stop)
	sol.Work = p.Spent() / opsPerUnit
	if bound := p.bound(); !math.IsInf(bound, 0) {
		if v := sol.Objective; bound < v && bound >= v-float64(inexact*math.Abs(v)) {
			bound = v
		}
		sol.Bound = &bound
	}
	return sol
}

// inexact is how far, relatively, a bound may be below a plan for rounding errors alone. One that is lower is wrong,
// and left as it is for the caller to see.
const inexact = 1e-9

func (p *progress) gap() float64 { return gap.Of(p.bound(), p.top()) }

// top is the value of the best plan that the worker knows of.
func (p *progress) top() float64 { return max(p.best.Value, p.teamBest.Value) }

// keep makes cur the best plan if it is better. It reports whether cur still has
// all its jobs: rounding may have let in more than fits.
func (p *progress) keep() bool {
	noise := p.best.Value + float64(1e-12*math.Abs(p.best.Value)) // a gain up to it is a rounding error
	if p.cur.Value <= noise {
		return true
	}
	stood := p.cur.Settle()
	if p.cur.Value > noise {
		p.best.Copy(&p.cur)
	}
	return stood
}

// adopt makes the best plan the worker's own.
func (p *progress) adopt() {
	if p.teamBest.Value > p.best.Value {
		p.best.Copy(&p.teamBest)
	}
}

// emptyPlan empties the current plan.
func (p *progress) emptyPlan() {
	for j, o := range p.cur.Choice {
		if o >= 0 {
			p.cur.Choice[j] = -1
		}
	}
	clear(p.cur.Preempted)
	p.cur.Rebuild()
}

// leastGain is the relative gain worth searching for: a plan called optimal may be short of the optimum by that part
// of its value, and the bound says by how much. Less costs proofs where preemptions cost far more than the plan is
// worth, for rounding errors of the nodes' programs.
const leastGain = 3e-7

// leastOfAll is the same where the best plan is worth nothing, as a part of the least valuable option. It is no more
// than rounding errors, since the bound is then called 0, which is no part of anything.
const leastOfAll = 1e-8

// enough is what a node's bound, or a plan, must exceed to be worth looking for beside the best one. Where the best
// plan is worth nothing, that is more than rounding errors: a small part of the least valuable option.
func (p *progress) enough() float64 {
	v := p.top()
	if v == 0 {
		return leastOfAll * p.smallest
	}
	return v + float64(leastGain*math.Abs(v))
}
