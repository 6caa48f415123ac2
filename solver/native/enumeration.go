package native

import (
	"cmp"
	"math"
	"slices"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// enumeration goes through all plans that may be worth more than what is looked for, one job after the other, by what fits into the rooms of the
// equivalence sets, whichever way tasks are split, and by a bound from prices of rooms. Where few gangs fit together there are few such plans, and the
// relaxation, which runs parts of gangs, knows nothing of that. Only when all is decided are splits asked about.
//
// It is done in levels: level n is what is left to decide when n decisions have been made. A leaf whose choices have no splits leaves a conflict behind, and the
// search goes back to where the choices are not in it any more.
type enumeration struct {
	*progress
	rooms     *rooms
	node      *node
	rounding  *rounding
	squeeze   *squeeze
	conflicts *conflicts
	roomPrices

	jobs   []int32 // that are to be decided
	runs   []int32 // running jobs that are to be decided
	levels []level
	list   []int32 // options, by levels and jobs
	picked []int32 // scratch
	from   int64   // in ops, where the search has begun,
	until  int64   // and where it is given up
	done   float64 // how much of it is done: of what is open at a level, all ways count the same
	clash  int     // the conflict that the choices are in, -1 for none
	untold float64 // the most that choices are worth of which it could not be told whether they have splits
	gaveUp bool
	each   int64   // what one look at all that was open has taken, in ops
	usual  float64 // what a node's program usually takes, in ops
	effort float64 // what may be spent on a node, as a multiple of that
}

// level is what is left to decide.
type level struct {
	left  []float64 // of each room, with open running jobs preempted
	jobs  []domain
	runs  []int8  // 1 is preempted, -1 is not, 0 is open
	top   int     // where the options of its jobs end in list
	sure  float64 // what has been decided is worth
	price []float64
	bound float64 // of what it can be worth in all, at these prices of rooms
	ways  []way   // of the job that is decided next, the best first
}

// domain is what an open job can do: the options from lo to hi of list, or nothing.
type domain struct {
	lo, hi  int32
	none    bool
	decided bool
}

// ways is how many things there are that a job can do.
func (a *domain) ways() int32 {
	if a.none {
		return a.hi - a.lo + 1
	}
	return a.hi - a.lo
}

// way is one of them, -1 for nothing, and what the bound falls by if it is taken.
type way struct {
	option int32
	less   float64
}

// reset makes ready for a problem.
func (e *enumeration) reset() { e.effort, e.each, e.usual = firstEffort, 0, 0 }

// prove tries to prove the best plan of a small problem, for a part of the work at most. Where it cannot go through all better plans it goes through those in the
// upper half of the gap, of which there are fewest, which halves the gap or finds one of them, and so on.
func (e *enumeration) prove() {
	if e.cfg.NoExact || e.cfg.Relaxation || e.node.relaxation.large() || !e.node.relaxation.exists() || math.IsInf(e.bound(), 1) || !e.proceed() {
		return
	}
	e.rooms.reset()
	e.node.wholeProblem()
	end := e.share(enumerationShare)
	if e.goThrough(e.spent() + (end-e.spent())/firstQuestion) {
		return
	}
	for e.proceed() {
		bound := e.bound()
		if gap := bound - e.top(); gap > leastAim*math.Abs(bound) {
			e.aim = bound - float64(aimPart*gap)
		}
		all := e.goThrough(end)
		e.aim = math.Inf(-1)
		if !all {
			return
		}
	}
}

// goThrough goes through all plans that are looked for, until so many ops have been spent, and takes into the bound what that has shown. It reports whether it got so far.
func (e *enumeration) goThrough(end int64) bool {
	bound, all := e.search(end - e.spent())
	if !all {
		return false
	}
	if e.proven = e.aim <= e.better() && bound <= e.enough(); e.proven && e.top() == 0 {
		bound = 0 // but for rounding errors
	}
	e.shown = min(e.shown, bound)
	return bound <= e.enough() // what cannot be told would not be told next time either
}

// atNode tries to go through a node, for as many times what a node's program usually takes as such tries have been worth so far.
func (e *enumeration) atNode() (bound float64, all bool) {
	ops := int64(e.effort * e.usual)
	if e.each == 0 || ops < leastLooks*e.each {
		return math.Inf(1), false
	}
	bound, all = e.search(ops)
	if all && bound <= e.enough() {
		e.effort = min(mostEffort, e.effort*effortGrows)
	} else {
		e.effort = max(leastEffort, e.effort*effortShrinks)
	}
	return bound, all
}

// learn learns what a node's program has taken.
func (e *enumeration) learn(ops int64) { e.usual += float64(usualPart * (float64(ops) - e.usual)) }

// search goes through what the node at hand leaves open, for so many ops, and reports whether it has been through all of it: no plan there is worth more than bound then.
func (e *enumeration) search(ops int64) (bound float64, all bool) {
	e.from = e.spent()
	e.until, e.done = e.from+ops, 0
	e.clash, e.untold, e.gaveUp = -1, math.Inf(-1), false
	if e.looks() && e.begin() && e.looks() && e.affords(ops) && e.relax(&e.levels[0], rootSteps) {
		e.descend(0, 1)
	}
	return max(e.enough(), e.untold), !e.gaveUp
}

// looks gives up if the search may not go on.
func (e *enumeration) looks() bool {
	e.gaveUp = !e.proceed()
	return !e.gaveUp
}

// affords takes a look at all that is open, and gives up if there are not enough of them in so many ops.
func (e *enumeration) affords(ops int64) bool {
	from, l := e.spent(), &e.levels[0]
	e.lagrange(l, l.price)
	e.each = e.spent() - from
	e.gaveUp = ops < leastLooks*e.each
	return !e.gaveUp
}

// begin makes the first level; false if the node has no plan, or is not one to be gone through.
func (e *enumeration) begin() bool {
	in, d, k := &e.in, &e.node.decided, e.conflicts
	if len(e.levels) == 0 {
		e.levels = make([]level, 1)
	}
	l := &e.levels[0]
	l.left, l.jobs, l.runs, l.sure = append(l.left[:0], e.rooms.all...), l.jobs[:0], l.runs[:0], 0
	l.price = pack.Resize(l.price, len(l.left))
	clear(l.price)
	e.jobs, e.runs, e.list = e.jobs[:0], e.runs[:0], e.list[:0]
	k.pick, k.off = pack.Resize(k.pick, len(in.P.Jobs)), pack.Resize(k.off, len(in.P.Running))
	for j := range k.pick {
		k.pick[j] = -1
		a := domain{lo: int32(len(e.list)), none: !d.must[j]}
		for o := in.JobOpts[j]; o < in.JobOpts[j+1]; o++ {
			if !d.dead[o] {
				e.list = append(e.list, int32(o))
				e.gaveUp = e.gaveUp || !in.Opts[o].Whole || in.Opts[o].Count > maxTasks
			}
		}
		if a.hi = int32(len(e.list)); a.hi > a.lo || !a.none {
			e.jobs, l.jobs = append(e.jobs, int32(j)), append(l.jobs, a)
		}
	}
	for m, f := range d.fix {
		k.off[m] = f >= 0
		switch {
		case f > 0:
			l.sure -= in.P.Running[m].PreemptCost
		case f < 0:
			e.rooms.hold(m, l.left)
		default:
			e.runs, l.runs = append(e.runs, int32(m)), append(l.runs, 0)
		}
	}
	l.top = len(e.list)
	e.roomPrices.reset(&e.in, len(l.left))
	e.spend(int64(len(in.Opts) + len(in.Part)/4))
	return !e.gaveUp && e.refit(l)
}

// descend decides what is open at level n, which is that part of the search, one way after the other.
func (e *enumeration) descend(n int, part float64) {
	if e.hopeless() || !e.proceed() || (n+1)*len(e.rooms.all) > mostLevels {
		e.gaveUp = true
		return
	}
	if v := e.nextJob(&e.levels[n]); v >= 0 {
		e.decideJob(n, v, part)
	} else if r := e.nextRun(&e.levels[n]); r >= 0 {
		e.decideRun(n, r, part)
	} else {
		e.leaf(&e.levels[n])
		e.done += part
	}
}

// hopeless says whether the search has come to its end, or far too little of it is done for what has been spent.
func (e *enumeration) hopeless() bool {
	spent := float64(e.spent() - e.from)
	all := float64(e.until - e.from)
	return spent >= all || spent >= all/patientPart && e.done*patientPart < spent/all
}

// nextJob is the open job with the fewest ways, the one with the most to place among equals; -1 if there is none.
func (e *enumeration) nextJob(l *level) int {
	at, fewest, most := -1, int32(math.MaxInt32), 0.0
	for v := range l.jobs {
		a := &l.jobs[v]
		if a.decided || a.ways() > fewest {
			continue
		}
		area := 0.0
		if a.lo < a.hi {
			area = e.in.Opts[e.list[a.lo]].Area
		}
		if a.ways() < fewest || area > most {
			at, fewest, most = v, a.ways(), area
		}
	}
	e.spend(int64(len(l.jobs)))
	return at
}

// nextRun is the open running job that is dearest to preempt; -1 if there is none.
func (e *enumeration) nextRun(l *level) int {
	at, most := -1, math.Inf(-1)
	for r, s := range l.runs {
		if c := e.in.P.Running[e.runs[r]].PreemptCost; s == 0 && c > most {
			at, most = r, c
		}
	}
	e.spend(int64(len(l.runs)))
	return at
}

// decideJob goes through what job v can do.
func (e *enumeration) decideJob(n, v int, part float64) {
	l, j := &e.levels[n], e.jobs[v]
	l.ways = e.waysOf(l.ways[:0], &l.jobs[v])
	end := e.done + part
	part /= float64(len(l.ways))
	for _, w := range l.ways {
		if e.levels[n].bound-w.less <= e.enough() {
			break
		}
		next := e.deepen(n)
		next.jobs[v].decided = true
		fits := true
		if w.option >= 0 {
			next.sure += e.in.Opts[w.option].Value
			e.rooms.take(int(w.option), next.left)
			fits = e.refit(next)
		}
		e.conflicts.pick[j] = int(w.option)
		if e.further(n, fits, part); e.gaveUp {
			return
		}
		if e.conflicts.pick[j] = -1; e.clashes(n) {
			break
		}
	}
	e.done = end
}

// further goes through the level behind n, if there may be anything in it.
func (e *enumeration) further(n int, fits bool, part float64) {
	if end := e.done + part; fits && e.relax(&e.levels[n+1], nodeSteps) {
		e.descend(n+1, part)
	} else {
		e.done = end
	}
}

// waysOf appends what a job can do, the best first.
func (e *enumeration) waysOf(list []way, a *domain) []way {
	best := e.mostGain(a)
	for _, o := range e.list[a.lo:a.hi] {
		list = append(list, way{o, best - e.worth[o]})
	}
	if a.none {
		list = append(list, way{-1, best})
	}
	slices.SortStableFunc(list, func(x, y way) int { return cmp.Compare(x.less, y.less) })
	e.spend(int64(4 * len(list)))
	return list
}

// decideRun goes through keeping and preempting the running job.
func (e *enumeration) decideRun(n, r int, part float64) {
	end := e.done + part
	for _, preempted := range [...]bool{false, true} {
		next := e.deepen(n)
		e.settleRun(next, r, preempted)
		if e.further(n, preempted || e.refit(next), part/2); e.gaveUp {
			return
		}
		if e.clashes(n) {
			break
		}
	}
	e.done = end
}

// settleRun decides about running job r of the level.
func (e *enumeration) settleRun(l *level, r int, preempted bool) {
	k := int(e.runs[r])
	if preempted {
		l.runs[r] = 1
		l.sure -= e.in.P.Running[k].PreemptCost
		return
	}
	l.runs[r] = -1
	e.rooms.hold(k, l.left)
}

// clashes says whether what is decided at level n is still in the conflict that the last leaf was in. What bounds have decided there holds for all that is below it.
func (e *enumeration) clashes(n int) bool {
	if e.clash < 0 {
		return false
	}
	k := e.conflicts
	for r, s := range e.levels[n].runs {
		k.off[e.runs[r]] = s >= 0
	}
	e.spend(int64(len(e.runs)))
	if !k.breaks(&k.list[e.clash]) {
		e.clash = -1
	}
	return e.clash >= 0
}

// deepen makes level n+1 a copy of level n.
func (e *enumeration) deepen(n int) *level {
	if n+1 == len(e.levels) {
		e.levels = append(e.levels, level{})
	}
	l, next := &e.levels[n], &e.levels[n+1]
	next.left, next.price = append(next.left[:0], l.left...), append(next.price[:0], l.price...)
	next.jobs, next.runs = append(next.jobs[:0], l.jobs...), append(next.runs[:0], l.runs...)
	next.sure = l.sure
	e.list = e.list[:l.top]
	for u := range next.jobs {
		if a := &next.jobs[u]; !a.decided {
			lo := int32(len(e.list))
			e.list = append(e.list, e.list[a.lo:a.hi]...)
			a.lo, a.hi = lo, int32(len(e.list))
		}
	}
	next.top = len(e.list)
	e.spend(int64(len(next.left)+next.top-l.top+4*len(next.jobs)+len(next.runs)) / 4)
	return next
}

// refit takes out what does not fit any more. It reports whether everything that has to run can.
func (e *enumeration) refit(l *level) bool {
	for _, v := range l.left {
		if v < 0 {
			return false
		}
	}
	e.spend(int64(len(l.left)) / 4)
	for u := range l.jobs {
		if !e.retain(&l.jobs[u], func(o int32) bool { return e.rooms.fits(int(o), l.left) }) {
			return false
		}
	}
	return true
}

// retain keeps those options of an open job that are to be kept. It reports whether there is anything left for it to do.
func (e *enumeration) retain(a *domain, keep func(o int32) bool) bool {
	if a.decided {
		return true
	}
	hi := a.lo
	for _, o := range e.list[a.lo:a.hi] {
		if keep(o) {
			e.list[hi] = o
			hi++
		}
	}
	e.spend(int64(a.hi - a.lo))
	a.hi = hi
	return a.ways() > 0
}
