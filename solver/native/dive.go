package native

import (
	"cmp"
	"slices"

	"github.com/hedgesched/hedge/solver/native/internal/relax"
)

// dive follows the program's advice down to a plan.
type dive struct {
	*progress
	subproblem   *subproblem
	rounding     *rounding
	reducedCosts *reducedCosts
	master       *relax.Master
	steps        int   // decisions so far
	began        int64 // in ops
	near         []int // scratch: options nearly decided
}

// run follows the program's advice, several decisions at a time, until
// nothing is fractional; only the decision numbered against, counted from 0,
// is the opposite of what it advises. It reports whether there was such a one.
func (d *dive) run(against int) bool {
	d.subproblem.reset()
	d.steps, d.began = 0, d.Spent()
	last := step{from: -1}
	for {
		bound := d.subproblem.solve(diveRounds)
		if !d.checkpoint() {
			d.roundUnfinished()
			break
		}
		if bound <= d.enough() {
			if !d.takeBack(&last) {
				break
			}
			continue
		}
		d.reducedCosts.run(d.subproblem.at) // before there is a decision, which is then about what is left
		d.subproblem.weigh()
		last.option, last.running = d.subproblem.mostFractional()
		d.rounding.round()
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
	from            int  // where in subproblem.decided.Trail what was decided with it begins; -1 if it stays
	along           bool // jobs were settled along with it
}

// descend decides as the step says, and settles jobs along with it behind the one decision that is against the advice.
func (d *dive) descend(s *step, against int) {
	s.from, s.along = len(d.subproblem.decided.Trail), false
	if d.steps > against {
		d.settleMost(d.haste())
		s.along = len(d.subproblem.decided.Trail) > s.from
	}
	d.decide(s.option, s.running, d.steps != against)
	if d.steps == against {
		s.from = -1
	}
	d.steps++
}

// takeBack takes the last step back where it has led nowhere: first what was settled along with it, then the decision
// itself. It reports whether there was anything to take back.
func (d *dive) takeBack(s *step) bool {
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
func (d *dive) roundUnfinished() {
	if d.Err() == nil && !d.proven && d.gap() > d.target {
		d.subproblem.weigh()
		d.rounding.round()
	}
}

// haste is the part of what is open that a dive has to decide at once to come to an end in time, going by
// what its steps so far have taken.
func (d *dive) haste() float64 {
	spent := d.Spent()
	each := (spent - d.began) / int64(d.steps+1)
	left := float64(d.PhaseEnd()-spent) / float64(each+1)
	return 2 / max(2, left)
}

// settleMost leaves jobs no other option than that which the program has nearly given them, and a given part of those
// to which it gives it for less, most nearly decided first. They may still be left out: to make sure of all of them
// at once would take the program long, and where they do not fit together it would have no solution.
func (d *dive) settleMost(part float64) {
	q := d.subproblem
	d.near = d.near[:0]
	for o, z := range q.weight {
		if z > settleAtAll && z < 1-1e-6 && !q.decided.Dead[o] && !q.decided.Settled(o) {
			d.near = append(d.near, o)
		}
	}
	slices.SortStableFunc(d.near, func(a, b int) int { return cmp.Compare(q.weight[b], q.weight[a]) })
	d.Spend(int64(len(d.near) * 8))
	most := int(part * float64(len(d.near)))
	for i, o := range d.near {
		if i >= most && q.weight[o] <= settleAbove {
			break
		}
		if !q.decided.Dead[o] && !q.decided.Settled(o) {
			d.subproblem.forbidOthers(o)
		}
	}
}

func (d *dive) decide(o, k int, first bool) {
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
