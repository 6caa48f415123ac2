package native

import (
	"cmp"
	"slices"
)

// plunge follows the program's advice, several decisions at a time, until
// nothing is fractional; only the decision numbered against, counted from 0,
// is the opposite of what it advises. It reports whether there was such a one.
func (w *workspace) plunge(against int) bool {
	w.resetNode()
	steps, began := 0, w.spent()
	// The last decision is taken back when it leads nowhere, but first what was settled along with it: they begin at mark and batch, -1
	// if they stay.
	option, running, mark, batch := -1, -1, -1, -1
	for {
		bound := w.solveNode(diveRounds, 0)
		if w.over() {
			w.roundUnfinished()
			break
		}
		if bound <= w.enough() {
			switch {
			case batch >= 0:
				w.revert(batch)
				w.decide(option, running, true)
				mark, batch = batch, -1
				continue
			case mark >= 0:
				w.revert(mark)
				w.decide(option, running, false)
				mark = -1
				continue
			}
			break
		}
		option, running = w.weigh()
		w.roundProgram()
		if option < 0 && running < 0 {
			break
		}
		batch, mark = -1, len(w.node.undo)
		if steps > against {
			w.settleMost(w.haste(began, steps+1))
			if len(w.node.undo) > mark {
				batch, mark = mark, len(w.node.undo)
			}
		}
		w.decide(option, running, steps != against)
		if steps == against {
			mark = -1
		}
		steps++
	}
	w.revert(0)
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
func (w *workspace) roundUnfinished() {
	if w.ctxErr == nil && !w.proven && w.gap() > w.target {
		w.weigh()
		w.roundProgram()
	}
}

// haste is the part of what is open that a plunge has to decide at once to come to an end in time, going by
// what its steps so far have taken.
func (w *workspace) haste(began int64, steps int) float64 {
	limit := w.phase
	if w.limit > 0 {
		limit = min(limit, w.limit)
	}
	spent := w.spent()
	each := (spent - began) / int64(steps)
	left := float64(limit-spent) / float64(each+1)
	return 2 / max(2, left)
}

// settleMost leaves jobs no other option than that which the program has nearly given them, and a given part of those to which it gives it for
// less, most nearly decided first. They may still be left out: to make sure of all of them at once would take the program long, and
// where they do not fit together it would have no solution.
func (w *workspace) settleMost(part float64) {
	q := &w.node
	q.near = q.near[:0]
	for o, z := range q.weight {
		if z > settleAtAll && z < 1-1e-6 && !w.dual.dead[o] && !q.must[w.in.Opts[o].Job] {
			q.near = append(q.near, o)
		}
	}
	slices.SortStableFunc(q.near, func(a, b int) int { return cmp.Compare(q.weight[b], q.weight[a]) })
	w.ops += int64(len(q.near) * 8)
	most := int(part * float64(len(q.near)))
	for i, o := range q.near {
		if i >= most && q.weight[o] <= settleAbove {
			break
		}
		if !w.dual.dead[o] && !q.must[w.in.Opts[o].Job] {
			w.forbidOthers(o)
		}
	}
}

func (w *workspace) decide(o, k int, first bool) {
	switch {
	case o >= 0 && first:
		w.require(w.in.Opts[o].Job, o)
	case o >= 0:
		w.forbid(o)
	default:
		on := w.lp.weight(w.runColumn(k)) >= 0.5
		w.settleRun(k, on == first)
	}
}

// weigh computes every option's weight and returns the fractional one, or the
// fractional running job, to branch on; -1 if there is none.
func (w *workspace) weigh() (option, running int) {
	m, q := &w.lp, &w.node
	clear(q.weight)
	for s, c := range m.key {
		if s < len(w.in.P.Jobs) && m.opt[c] >= 0 {
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
		if z < 1e-6 || z > 1-1e-6 || w.dual.dead[o] || q.must[w.in.Opts[o].Job] {
			continue
		}
		if s := w.in.Opts[o].Value * z; s > most {
			option, most = o, s
		}
	}
	for k := range w.in.P.Running {
		y := m.weight(w.runColumn(k))
		if q.fix[k] == 0 && y > 1e-6 && y < 1-1e-6 && w.in.P.Running[k].PreemptCost > most {
			option, running, most = -1, k, w.in.P.Running[k].PreemptCost
		}
	}
	m.ops += int64(len(q.weight) + m.rows)
	return option, running
}
