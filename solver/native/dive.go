package native

import (
	"math"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// plunge is the search through the linear program: branch and price on which
// option a job takes and on preemptions.
type plunge struct {
	// must are jobs that have to be placed, fix running jobs that have to be
	// preempted (1) or kept (-1).
	must []bool
	fix  []int8
	// undo is what has been decided on the way to the node, newest last.
	undo []decision
	// base is the plan without what the program is about, and order the jobs it
	// is about, by falling reduced value.
	base    pack.State
	order   []int
	sets    []int32
	score   []float64
	penalty float64
	weight  []float64 // of each option in the node's program
	share   []float64 // tasks of an option per partition, then their whole part
	round   []float64
	jobs    []int
	key     []float64
	// open is the largest bound of a node left unsearched, and cut says that
	// some were for the number of discrepancies.
	open float64
	// limit and low bound options' tasks per entry of in.Part.
	limit, low []float64
	cut        bool
}

type decision struct {
	kind  int8
	index int32
	entry int32   // of in.Part
	was   float64 // its bound before
}

const (
	forbade = iota
	required
	fixed
	lowered // an upper bound on an option's tasks in a partition
	raised  // a lower one
)

func (w *workspace) resetPlunge() {
	q := &w.dive
	n := len(w.in.P.Jobs)
	q.must = growBools(q.must, n)
	clear(q.must)
	q.fix = append(q.fix[:0], make([]int8, len(w.in.P.Running))...)
	q.undo = q.undo[:0]
	q.limit, q.low = append(q.limit[:0], w.in.Limit...), grow(q.low, len(w.in.Limit))
	clear(q.low)
	w.dual.limit, w.dual.low = q.limit, q.low
	q.weight = grow(q.weight, len(w.in.Opts))
	q.share, q.round = grow(q.share, w.in.MaxParts), grow(q.round, w.in.MaxParts)
	q.key = grow(q.key, n)
	q.penalty = 10 * (math.Abs(w.dual.bound) + 1)
}

// forbid takes option o out of the program.
func (w *workspace) forbid(o int) {
	if w.dual.dead[o] {
		return
	}
	w.dual.dead[o] = true
	w.penalize(o)
	w.dive.undo = append(w.dive.undo, decision{kind: forbade, index: int32(o)})
}

// penalize values option o's columns by whether the node allows them.
func (w *workspace) penalize(o int) {
	m := &w.lp
	for c := m.head[w.in.Opts[o].Job]; c >= 0; c = m.next[c] {
		if int(m.opt[c]) != o {
			continue
		}
		m.val[c] = m.worth[c]
		if w.dual.dead[o] || !w.within(o, m.split[m.cut[c]:m.cut[c+1]]) {
			m.val[c] -= w.dive.penalty
		}
	}
}

// within says whether option o's split keeps to the node's bounds on it.
func (w *workspace) within(o int, split []float64) bool {
	at := w.in.Opts[o].P0
	for i, q := range split {
		if q > w.dive.limit[at+i]+1e-9 || q < w.dive.low[at+i]-1e-9 {
			return false
		}
	}
	return true
}

// confine makes option o have at least, or at most, that many tasks at an entry of in.Part.
func (w *workspace) confine(o, entry int, v float64, atLeast bool) {
	q := &w.dive
	d := decision{kind: lowered, index: int32(o), entry: int32(entry), was: q.limit[entry]}
	if atLeast {
		d.kind, d.was = raised, q.low[entry]
		q.low[entry] = v
	} else {
		q.limit[entry] = v
	}
	q.undo = append(q.undo, d)
	w.penalize(o)
}

// require makes job j take option o.
func (w *workspace) require(j, o int) {
	for i := w.in.JobOpts[j]; i < w.in.JobOpts[j+1]; i++ {
		if i != o {
			w.forbid(i)
		}
	}
	w.oblige(j)
}

// oblige makes job j take one of the options left to it.
func (w *workspace) oblige(j int) {
	if !w.dive.must[j] {
		w.dive.must[j] = true
		w.lp.val[j] = -w.dive.penalty
		w.dive.undo = append(w.dive.undo, decision{kind: required, index: int32(j)})
	}
}

// settleRun decides running job k.
func (w *workspace) settleRun(k int, on bool) {
	s := int32(len(w.in.P.Jobs) + k)
	w.dive.fix[k] = -1
	c := w.runColumn(k)
	if on {
		w.dive.fix[k] = 1
		c = s
	}
	w.lp.val[c] = w.lp.worth[c] - w.dive.penalty
	w.dive.undo = append(w.dive.undo, decision{kind: fixed, index: int32(k)})
}

// runColumn is running job k's column.
func (w *workspace) runColumn(k int) int32 { return int32(len(w.lp.key) + k) }

// revert takes back all decisions after the first n.
func (w *workspace) revert(n int) {
	q := &w.dive
	for len(q.undo) > n {
		d := q.undo[len(q.undo)-1]
		q.undo = q.undo[:len(q.undo)-1]
		i := int(d.index)
		switch d.kind {
		case forbade:
			w.dual.dead[i] = false
			w.penalize(i)
		case required:
			q.must[i] = false
			w.lp.val[i] = 0
		case fixed:
			q.fix[i] = 0
			s, c := len(w.in.P.Jobs)+i, w.runColumn(i)
			w.lp.val[s], w.lp.val[c] = 0, w.lp.worth[c]
		case lowered:
			q.limit[d.entry] = d.was
			w.penalize(i)
		case raised:
			q.low[d.entry] = d.was
			w.penalize(i)
		}
	}
}

// least is the relative gain worth searching for.
const least = 3e-7

// enough is what a node's bound must exceed to be searched.
func (w *workspace) enough() float64 {
	return w.best.Value + least*math.Abs(w.best.Value)
}

// solveNode solves the node's program and returns a bound.
func (w *workspace) solveNode(rounds int) float64 {
	m, d := &w.lp, &w.dual
	m.reprice()
	m.compact()
	bound := math.Inf(1)
	for range rounds {
		if w.over() {
			break
		}
		w.pivots(m.ops + nodeOps*int64(m.rows))
		for r, p := range m.pi {
			d.lam[r] = max(0, p)
		}
		b, added := w.generate(m, d)
		bound = min(bound, b)
		if bound <= w.enough() || added == 0 || bound-m.objective() <= least/2*math.Abs(bound) {
			break
		}
	}
	return bound
}

const maxRounds = 1000

// plunge follows the program's advice, several decisions at a time, until
// nothing is fractional; only the decision numbered against, counted from 0,
// is the opposite of what it advises. It reports whether there was such a one.
func (w *workspace) plunge(against int) bool {
	w.resetPlunge()
	steps, mark := 0, -1
	option, running := -1, -1 // the last decision, which is taken back when it leads nowhere
	for {
		bound := w.solveNode(diveRounds)
		if w.over() {
			break
		}
		if bound <= w.enough() {
			if mark < 0 {
				break
			}
			w.revert(mark)
			w.decide(option, running, false)
			mark = -1
			continue
		}
		option, running = w.weigh()
		w.roundProgram()
		if option < 0 && running < 0 {
			break
		}
		if steps > against {
			w.settleMost()
		}
		mark = len(w.dive.undo)
		w.decide(option, running, steps != against)
		if steps == against {
			mark = -1
		}
		steps++
	}
	w.revert(0)
	return against < steps
}

const (
	nodeOps     = 15 * opsPerUnit
	diveRounds  = 2
	settleAbove = 0.8
)

// settleMost decides what the program has nearly decided.
func (w *workspace) settleMost() {
	q := &w.dive
	for o, z := range q.weight {
		if z > settleAbove && z < 1-1e-6 && !w.dual.dead[o] && !q.must[w.in.Opts[o].Job] {
			w.require(w.in.Opts[o].Job, o)
		}
	}
}

// prove searches the tree with at most that many decisions against advice. If it
// gets through with nothing cut off, the best plan is proven.
func (w *workspace) prove(discrepancies int) {
	if w.cfg.NoExact || w.over() {
		w.phase = math.MaxInt64
		return
	}
	q := &w.dive
	w.resetPlunge()
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
	q := &w.dive
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
	q, in := &w.dive, &w.in
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
	q, in := &w.dive, &w.in
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
	m, q := &w.lp, &w.dive
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

// roundProgram makes a plan from the node's program: jobs in the order of their weight
// there, each with its heaviest option, split alike; then what else fits.
func (w *workspace) roundProgram() {
	q := &w.dive
	w.cur.Copy(&q.base)
	q.jobs = q.jobs[:0]
	for _, set := range w.lp.active {
		j := int(set)
		if k := j - len(w.in.P.Jobs); k >= 0 {
			if w.lp.weight(w.runColumn(k)) > 0.5 {
				w.cur.Preempt(k)
			}
			continue
		}
		q.key[j] = 0
		for o := w.in.JobOpts[j]; o < w.in.JobOpts[j+1]; o++ {
			q.key[j] = max(q.key[j], q.weight[o])
		}
		if q.key[j] > 0.01 {
			q.jobs = append(q.jobs, j)
		}
	}
	insertionSort(q.jobs, q.key, -1)
	for _, j := range q.jobs {
		pick := w.in.JobOpts[j]
		for o := pick; o < w.in.JobOpts[j+1]; o++ {
			if q.weight[o] > q.weight[pick] {
				pick = o
			}
		}
		if !w.placeAlike(pick) {
			w.insert(j)
		}
	}
	w.complete()
}

// complete fills the plan up by reduced value and spares whom it can.
func (w *workspace) complete() {
	for _, j := range w.dive.order {
		if w.over() {
			return
		}
		if w.cur.Choice[j] < 0 {
			w.insert(j)
		}
	}
	w.cur.Spare(w.pre.ByCost)
	w.keep()
}

// placeAlike gives option o's job a split near the one in the program.
func (w *workspace) placeAlike(o int) bool {
	opt := &w.in.Opts[o]
	n := opt.P1 - opt.P0
	if !w.shares(o) || !w.fitShares(opt, w.dive.share[:n], w.dive.round[:n]) {
		return false
	}
	w.cur.Place(o, w.dive.round[:n])
	return true
}

// shares computes how the program splits option o; false if it does not take it.
func (w *workspace) shares(o int) bool {
	m := &w.lp
	opt := &w.in.Opts[o]
	share := w.dive.share[:opt.P1-opt.P0]
	clear(share)
	total := 0.0
	for c := m.head[opt.Job]; c >= 0; c = m.next[c] {
		if int(m.opt[c]) != o {
			continue
		}
		if z := m.weight(c); z > 0 {
			total += z
			for i, v := range m.split[m.cut[c]:m.cut[c+1]] {
				share[i] += z * v
			}
		}
	}
	for i := range share {
		share[i] /= max(total, 1e-12)
	}
	return total > 1e-9
}

// fitShares makes a split that fits and is near the given shares.
func (w *workspace) fitShares(opt *pack.Option, share, split []float64) bool {
	left := opt.Count
	for i, v := range share {
		if v = min(v+1e-7, left); opt.Whole {
			v = math.Floor(v)
		}
		split[i] = 0
		if v > 0 {
			split[i] = min(v, w.in.Fit(opt, w.in.Part[opt.P0+i], w.cur.Res))
			w.ops += int64(len(opt.Usage) * len(opt.Demand))
		}
		left -= split[i]
		share[i] -= split[i]
	}
	for left > 1e-9*opt.Count {
		at := -1
		for i, v := range share {
			if v > -1e17 && (at < 0 || v > share[at]) {
				at = i
			}
		}
		if at < 0 {
			return false
		}
		room := min(left, w.in.Fit(opt, w.in.Part[opt.P0+at], w.cur.Res)-split[at])
		w.ops += int64(len(opt.Usage) * len(opt.Demand))
		if room > 0 {
			if share[at] > 0 && opt.Whole {
				room = min(room, 1)
			}
			split[at] += room
			left -= room
			share[at] -= room
			if share[at] > 0 {
				continue
			}
			if room == 1 && left > 0 {
				continue
			}
		}
		share[at] = math.Inf(-1)
	}
	return true
}
