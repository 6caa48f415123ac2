package native

import "math"

// prove searches the tree with at most that many decisions against advice. If it
// gets through with nothing cut off, the best plan is proven.
func (w *workspace) prove(discrepancies int) {
	if w.cfg.NoExact || w.over() {
		w.phase = math.MaxInt64
		return
	}
	q := &w.node
	w.resetNode()
	q.open, q.cut = math.Inf(-1), false
	w.search(discrepancies)
	w.revert(0)
	w.phase = math.MaxInt64
	if q.cut || q.open > w.dual.bound {
		return
	}
	w.dual.bound = max(q.open, w.best.Value)
	w.proven = q.open <= w.enough()
}

// search explores the node with at most that many decisions against the
// program's advice, each about a job's options up to a start or about a running job.
func (w *workspace) search(discrepancies int) {
	q := &w.node
	bound := w.solveNode(maxRounds)
	if w.over() {
		q.open = math.Inf(1)
		return
	}
	if bound <= w.enough() {
		q.open = max(q.open, bound)
		return
	}
	w.weigh()
	w.roundProgram()
	c := w.division()
	if c.job < 0 && c.running < 0 {
		c = w.splitDivision()
	}
	if c.job < 0 && c.running < 0 {
		if bound > w.enough() {
			q.open = max(q.open, bound)
		}
		return
	}
	at := len(q.undo)
	for turn := range 2 {
		if turn > discrepancies {
			q.cut = true
			break
		}
		if bound <= w.enough() {
			q.open = max(q.open, bound)
			break
		}
		w.divide(c, (turn == 0) == c.first)
		w.search(discrepancies - turn)
		w.revert(at)
	}
}

// division is what a node branches on: whether a job takes one of its options up
// to the given one, in the order of starts, or whether a running job is preempted.
type division struct {
	job, last, running int
	first              bool // which side the program leans to
	// With an entry of in.Part > 0, it is about whether option last has at least
	// that many tasks there; with only, about whether the job takes option last.
	entry int
	tasks float64
	only  bool
}

// division finds what is most undecided in the program for its value.
func (w *workspace) division() division {
	q, in := &w.node, &w.in
	c := division{job: -1, running: -1, entry: -1}
	most := 0.0
	for _, set := range w.lp.active {
		j := int(set)
		if k := j - len(in.P.Jobs); k >= 0 {
			y := w.lp.weight(w.runColumn(k))
			if s := in.P.Running[k].PreemptCost * min(y, 1-y); q.fix[k] == 0 && min(y, 1-y) > 1e-6 && s > most {
				c, most = division{job: -1, running: k, entry: -1, first: y >= 0.5}, s
			}
			continue
		}
		for last := in.JobOpts[j]; last < in.JobOpts[j+1]; last++ {
			if z := q.weight[last]; z < 1e-6 || z > 1-1e-6 {
				continue
			}
			below := 0.0
			for o := in.JobOpts[j]; o < in.JobOpts[j+1]; o++ {
				if w.upTo(o, last) {
					below += q.weight[o]
				}
			}
			if s := in.Opts[in.JobOpts[j]].Value * min(below, 1-below); min(below, 1-below) > 1e-6 && s > most {
				c, most = division{job: j, last: last, running: -1, entry: -1, first: below >= 0.5}, s
			}
		}
	}
	return c
}

// splitDivision finds the placed job with the most undecided split: first whether
// it takes that option at all, then how many tasks go to one of its partitions.
func (w *workspace) splitDivision() division {
	q, in := &w.node, &w.in
	c := division{job: -1, running: -1, entry: -1}
	most := 1e-6
	for _, set := range w.lp.active {
		j := int(set)
		if j >= len(in.P.Jobs) {
			break
		}
		alive, pick := 0, -1
		for o := in.JobOpts[j]; o < in.JobOpts[j+1]; o++ {
			if !w.dual.dead[o] {
				alive++
			}
			if q.weight[o] > 0.5 {
				pick = o
			}
		}
		if pick < 0 || !in.Opts[pick].Whole || !w.shares(pick) {
			continue
		}
		for i, v := range q.share[:in.Opts[pick].P1-in.Opts[pick].P0] {
			if part := v - math.Floor(v); min(part, 1-part) > most {
				most = min(part, 1-part)
				c = division{job: j, last: pick, running: -1, entry: in.Opts[pick].P0 + i, tasks: math.Floor(v) + 1, first: part >= 0.5}
				if c.only = !q.must[j] || alive > 1; c.only {
					c.entry, c.first = -1, true
				}
			}
		}
	}
	return c
}

// upTo says whether option o comes not after option last in the order of starts.
func (w *workspace) upTo(o, last int) bool {
	a, b := &w.in.Opts[o], &w.in.Opts[last]
	return a.Start < b.Start || (a.Start == b.Start && a.Index <= b.Index)
}

// divide decides c one way or the other.
func (w *workspace) divide(c division, side bool) {
	switch {
	case c.running >= 0:
		w.settleRun(c.running, side)
		return
	case c.entry >= 0 && side:
		w.confine(c.last, c.entry, c.tasks, true)
		return
	case c.entry >= 0:
		w.confine(c.last, c.entry, c.tasks-1, false)
		return
	case c.only && side:
		w.require(c.job, c.last)
		return
	case c.only:
		w.forbid(c.last)
		return
	}
	for o := w.in.JobOpts[c.job]; o < w.in.JobOpts[c.job+1]; o++ {
		if w.upTo(o, c.last) != side {
			w.forbid(o)
		}
	}
	if side {
		w.oblige(c.job)
	}
}
