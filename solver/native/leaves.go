package native

import (
	"cmp"
	"math"
	"slices"
)

// leaf is where all is decided: it makes a plan of the choices, or finds out why there is none.
func (e *enumeration) leaf(l *level) {
	k := e.conflicts
	for r, s := range l.runs {
		k.off[e.runs[r]] = s > 0
	}
	if e.clash = k.broken(); e.clash < 0 && l.sure > e.enough() && !(e.plan() && e.has(l.sure)) {
		e.untold = max(e.untold, e.splits(l.sure))
	}
}

// has says whether there is a plan worth that much: rounding may have let in more than fits.
func (e *enumeration) has(val float64) bool { return e.top() >= val-float64(inexact*math.Abs(val)) }

// plan tries to make a plan of the choices, the largest gangs first. It reports whether it could.
func (e *enumeration) plan() bool {
	k := e.conflicts
	e.cur.Copy(&e.node.base)
	for m, off := range k.off {
		if off {
			e.cur.Preempt(m)
		}
	}
	e.picked = e.picked[:0]
	for _, o := range k.pick {
		if o >= 0 {
			e.picked = append(e.picked, int32(o))
		}
	}
	slices.SortStableFunc(e.picked, func(a, b int32) int { return cmp.Compare(e.in.Opts[b].Area, e.in.Opts[a].Area) })
	for _, o := range e.picked {
		if e.late() || !e.cur.TryPlace(int(o)) && !e.squeeze.place(int(o), squeezeUnits) {
			return false
		}
	}
	e.rounding.complete()
	return true
}

// splits asks for splits of the choices, which are worth val: first the node's program, which may have none even in parts, then the exact search. It
// returns what plans of these choices may be worth more than enough at most, if it cannot tell.
func (e *enumeration) splits(val float64) (untold float64) {
	k, h := e.conflicts, e.conflicts.hash()
	if k.tried[h] {
		return val
	}
	most := min(val, e.program())
	if most <= e.enough() {
		return most
	}
	switch v := k.ask(h, e.until); {
	case v == impossible:
		e.clash = len(k.list) - 1
		return e.enough()
	case v == possible && e.has(val):
		return e.enough()
	default:
		return most
	}
}

// program is the bound of the node's program with the choices, of which it makes a plan, too. It ends with the search.
func (e *enumeration) program() (bound float64) {
	k, q := e.conflicts, e.node
	from := len(q.decided.trail)
	for _, j := range e.jobs {
		if o := k.pick[j]; o >= 0 {
			q.require(int(j), o)
			continue
		}
		for o := e.in.JobOpts[j]; o < e.in.JobOpts[j+1]; o++ {
			q.forbid(o)
		}
	}
	for _, m := range e.runs {
		q.settleRun(int(m), k.off[m])
	}
	e.within(min(e.phase, e.until), func() {
		if bound = q.solve(maxRounds); bound > e.enough() && e.proceed() {
			q.weigh()
			e.rounding.round()
		}
	})
	q.revert(from)
	return bound
}
