package tree

import (
	"cmp"
	"slices"

	"github.com/hedgesched/hedge/solver/internal/pack"
	"github.com/hedgesched/hedge/solver/native/internal/relax"
	"github.com/hedgesched/hedge/solver/native/internal/search"
)

// Dive follows the program's advice down to a plan.
type Dive struct {
	in         *pack.Instance
	budget     *search.Budget
	known      *search.Incumbent
	master     *relax.Master
	subproblem *Subproblem
	rounding   *Rounding
	steps      int   // decisions so far
	began      int64 // in ops
	near       []int // scratch: options nearly decided
}

// NewDive dives into q.
func NewDive(q *Subproblem, r *Rounding) *Dive {
	return &Dive{in: q.in, budget: q.budget, known: q.known, master: q.master, subproblem: q, rounding: r}
}

// Run follows the program's advice, several decisions at a time, until
// nothing is fractional; only the decision numbered against, counted from 0,
// is the opposite of what it advises. It reports whether there was such a one.
func (d *Dive) Run(against int) bool {
	d.subproblem.Reset()
	d.steps, d.began = 0, d.budget.Spent()
	last := step{from: -1}
	for {
		bound := d.subproblem.solve(diveRounds)
		if !d.budget.Checkpoint() {
			d.roundUnfinished()
			break
		}
		if bound <= d.known.Enough() {
			if !d.takeBack(&last) {
				break
			}
			continue
		}
		d.subproblem.reduce() // before there is a decision, which is then about what is left
		d.subproblem.weigh()
		last.option, last.running = d.subproblem.mostFractional()
		d.rounding.Round()
		if last.option < 0 && last.running < 0 {
			break
		}
		d.descend(&last, against)
	}
	d.subproblem.revert(0)
	return against < d.steps
}

// step is the last decision of a dive, about an option or a running job, as it can be taken back.
type step struct {
	option, running int
	from            int  // where in subproblem.Decided.Trail what was decided with it begins; -1 if it stays
	along           bool // jobs were settled along with it
}

// descend decides as the step says, and settles jobs along with it behind the one decision that is against the advice.
func (d *Dive) descend(s *step, against int) {
	s.from, s.along = len(d.subproblem.Decided.Trail), false
	if d.steps > against {
		d.settleMost(d.haste())
		s.along = len(d.subproblem.Decided.Trail) > s.from
	}
	d.decide(s.option, s.running, d.steps != against)
	if d.steps == against {
		s.from = -1
	}
	d.steps++
}

// takeBack takes the last step back where it has led nowhere: first what was settled along with it, then the decision
// itself. It reports whether there was anything to take back.
func (d *Dive) takeBack(s *step) bool {
	if s.from < 0 {
		return false
	}
	d.subproblem.revert(s.from)
	d.decide(s.option, s.running, s.along)
	if !s.along {
		s.from = -1
	}
	s.along = false
	return true
}

// How many sweeps a dive takes per node, which need not be solved to the end;
// the tree's have no limit to speak of. And the weight from which an option is as
// good as decided.
const (
	diveRounds  = 2
	maxRounds   = 1000
	settleAbove = 0.8
	settleAtAll = 0.35
)

// roundUnfinished makes a plan of what a dive has come to whose share is used up.
func (d *Dive) roundUnfinished() {
	if d.budget.Err() == nil && !d.known.Proven && d.known.Gap() > d.known.Target {
		d.subproblem.weigh()
		d.rounding.Round()
	}
}

// haste is the part of what is open that a dive has to decide at once to come to an end in time, going by
// what its steps so far have taken.
func (d *Dive) haste() float64 {
	spent := d.budget.Spent()
	each := (spent - d.began) / int64(d.steps+1)
	left := float64(d.budget.PhaseEnd()-spent) / float64(each+1)
	return 2 / max(2, left)
}

// settleMost leaves jobs no other option than that which the program has nearly given them, and a given part of those
// to which it gives it for less, most nearly decided first. They may still be left out: to make sure of all of them
// at once would take the program long, and where they do not fit together it would have no solution.
func (d *Dive) settleMost(part float64) {
	q := d.subproblem
	d.near = d.near[:0]
	for o, z := range q.weight {
		if z > settleAtAll && z < 1-1e-6 && !q.Decided.Dead[o] && !q.Decided.Settled(o) {
			d.near = append(d.near, o)
		}
	}
	slices.SortStableFunc(d.near, func(a, b int) int { return cmp.Compare(q.weight[b], q.weight[a]) })
	d.budget.Spend(int64(len(d.near) * 8))
	most := int(part * float64(len(d.near)))
	for i, o := range d.near {
		if i >= most && q.weight[o] <= settleAbove {
			break
		}
		if !q.Decided.Dead[o] && !q.Decided.Settled(o) {
			d.subproblem.forbidOthers(o)
		}
	}
}

func (d *Dive) decide(o, k int, first bool) {
	switch {
	case o >= 0 && first:
		d.subproblem.require(d.in.Opts[o].Job, o)
	case o >= 0:
		d.subproblem.forbid(o)
	default:
		on := d.master.Preempted(k) >= 0.5
		d.subproblem.settleRun(k, on == first)
	}
}
