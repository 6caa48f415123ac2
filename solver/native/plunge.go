package native

import (
	"cmp"
	"slices"
)

// dive follows the program's advice down to a plan.
type dive struct {
	*progress
	relaxation *relaxation
	node       *node
	rounding   *rounding
	lp         *master
	near       []int // scratch: options nearly decided
}

// run follows the program's advice, several decisions at a time, until
// nothing is fractional; only the decision numbered against, counted from 0,
// is the opposite of what it advises. It reports whether there was such a one.
func (d *dive) run(against int) bool {
	d.node.reset()
	steps, began := 0, d.spent()
	// The last decision is taken back when it leads nowhere, but first what was settled along with it: they begin at mark and batch, -1
	// if they stay.
	option, running, mark, batch := -1, -1, -1, -1
	for {
		bound := d.node.solve(diveRounds, 0)
		if !d.proceed() {
			d.roundUnfinished()
			break
		}
		if bound <= d.enough() {
			switch {
			case batch >= 0:
				d.node.revert(batch)
				d.decide(option, running, true)
				mark, batch = batch, -1
				continue
			case mark >= 0:
				d.node.revert(mark)
				d.decide(option, running, false)
				mark = -1
				continue
			}
			break
		}
		option, running = d.node.weigh()
		d.rounding.round()
		if option < 0 && running < 0 {
			break
		}
		batch, mark = -1, len(d.node.undo)
		if steps > against {
			d.settleMost(d.haste(began, steps+1))
			if len(d.node.undo) > mark {
				batch, mark = mark, len(d.node.undo)
			}
		}
		d.decide(option, running, steps != against)
		if steps == against {
			mark = -1
		}
		steps++
	}
	d.node.revert(0)
	return against < steps
}

// How many sweeps a plunge takes per node, which need not be solved to the end;
// the tree's have no limit to speak of. And the weight from which an option is as
// good as decided.
const (
	diveRounds  = 2
	maxRounds   = 1000
	settleAbove = 0.8
	settleAtAll = 0.35
)

// roundUnfinished makes a plan of what a plunge has come to whose share is used up.
func (d *dive) roundUnfinished() {
	if d.ctxErr == nil && !d.proven && d.gap() > d.target {
		d.node.weigh()
		d.rounding.round()
	}
}

// haste is the part of what is open that a plunge has to decide at once to come to an end in time, going by
// what its steps so far have taken.
func (d *dive) haste(began int64, steps int) float64 {
	spent := d.spent()
	each := (spent - began) / int64(steps)
	left := float64(d.phaseEnd()-spent) / float64(each+1)
	return 2 / max(2, left)
}

// settleMost leaves jobs no other option than that which the program has nearly given them, and a given part of those to which it gives it for
// less, most nearly decided first. They may still be left out: to make sure of all of them at once would take the program long, and
// where they do not fit together it would have no solution.
func (d *dive) settleMost(part float64) {
	q := d.node
	d.near = d.near[:0]
	for o, z := range q.weight {
		if z > settleAtAll && z < 1-1e-6 && !d.dual.dead[o] && !d.dual.must[d.in.Opts[o].Job] {
			d.near = append(d.near, o)
		}
	}
	slices.SortStableFunc(d.near, func(a, b int) int { return cmp.Compare(q.weight[b], q.weight[a]) })
	d.spend(int64(len(d.near) * 8))
	most := int(part * float64(len(d.near)))
	for i, o := range d.near {
		if i >= most && q.weight[o] <= settleAbove {
			break
		}
		if !d.dual.dead[o] && !d.dual.must[d.in.Opts[o].Job] {
			d.node.forbidOthers(o)
		}
	}
}

func (d *dive) decide(o, k int, first bool) {
	switch {
	case o >= 0 && first:
		d.node.require(d.in.Opts[o].Job, o)
	case o >= 0:
		d.node.forbid(o)
	default:
		on := d.lp.weight(d.relaxation.runColumn(k)) >= 0.5
		d.node.settleRun(k, on == first)
	}
}

// weigh computes every option's weight and returns the fractional one, or the
// fractional running job, to branch on; -1 if there is none.
func (q *node) weigh() (option, running int) {
	m := q.lp
	clear(q.weight)
	for s, c := range m.key {
		if s < len(q.in.P.Jobs) && m.opt[c] >= 0 {
			q.weight[m.opt[c]] += m.share[s]
		}
	}
	for i, b := range m.basic {
		if b >= 0 && m.opt[b] >= 0 {
			q.weight[m.opt[b]] += m.beta[i]
		}
	}
	option, running = -1, -1
	most := 0.0
	for o, z := range q.weight {
		if z < 1e-6 || z > 1-1e-6 || q.dual.dead[o] || q.dual.must[q.in.Opts[o].Job] {
			continue
		}
		if s := q.in.Opts[o].Value * z; s > most {
			option, most = o, s
		}
	}
	for k := range q.in.P.Running {
		y := m.weight(q.relaxation.runColumn(k))
		if q.dual.fix[k] == 0 && y > 1e-6 && y < 1-1e-6 && q.in.P.Running[k].PreemptCost > most {
			option, running, most = -1, k, q.in.P.Running[k].PreemptCost
		}
	}
	m.ops += int64(len(q.weight) + m.rows)
	return option, running
}
