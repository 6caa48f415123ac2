package lp

import (
	"math"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// entering is the column, or slack, that the simplex method brings into the basis: what comes of a unit of it, and
// how the basis changes when it has come. A unit takes alpha off the values at the positions, and adds rate to those
// of the sets' keys. Both are zero but for what nonzero and marked list.
type entering struct {
	*Program
	alpha   []float64
	nonzero []int32 // positions
	rate    []float64
	marked  []int32 // sets
	mark    []bool  // of each set: whether it is marked
	others  []int32 // scratch: positions of the columns of a set that gets another key
}

// compute is about column c, or slack -1-c, from now on, which comes in with that sign.
func (e *entering) compute(c int32, sign float64) {
	e.alpha = pack.Resize(e.alpha, e.Rows)
	e.lessKey(c, e.alpha)
	e.lu.ftran(e.alpha, true)
	e.list(sign)
	e.rates(c)
}

// list makes nonzero list what alpha has, with that sign.
func (e *entering) list(sign float64) {
	e.nonzero = e.nonzero[:0]
	for i, a := range e.alpha {
		if a > 1e-13 || a < -1e-13 {
			e.nonzero = append(e.nonzero, int32(i))
			e.alpha[i] = float64(sign * a)
		} else {
			e.alpha[i] = 0
		}
	}
	e.Ops += int64(e.Rows) / 2
}

// rates computes how fast each set's key changes.
func (e *entering) rates(c int32) {
	for _, s := range e.marked {
		e.rate[s], e.mark[s] = 0, false
	}
	e.marked = e.marked[:0]
	e.rate, e.mark = pack.Resize(e.rate, len(e.Key)), pack.Resize(e.mark, len(e.Key))
	for _, i := range e.nonzero {
		if b := e.Basic[i]; b >= 0 {
			e.addRate(e.Set[b], e.alpha[i])
		}
	}
	if c >= 0 {
		e.addRate(e.Set[c], -1)
	}
	e.Ops += int64(len(e.nonzero))
}

func (e *entering) addRate(s int32, v float64) {
	if !e.mark[s] {
		e.mark[s] = true
		e.marked = append(e.marked, s)
	}
	e.rate[s] += v
}

// move makes the values what they are when theta of it has come in.
func (e *entering) move(theta float64) {
	for _, i := range e.nonzero {
		e.Values[i] -= float64(theta * e.alpha[i])
	}
	for _, s := range e.marked {
		e.KeyValue[s] += float64(theta * e.rate[s])
	}
}

// partner is the position of a basic column of set s that can become its key, or -1.
func (e *entering) partner(s int) int {
	at, most := -1, math.Inf(-1)
	for i, b := range e.Basic {
		if b >= 0 && int(e.Set[b]) == s && e.Values[i] > most {
			at, most = i, e.Values[i]
		}
	}
	return at
}

// swapKey makes the column at position p the key of its set s, and the old key basic at p. It returns what column c,
// which enters, has at p then, and lists the other columns of the set, which change, in others.
func (e *entering) swapKey(p, s int, c int32) float64 {
	pivot := -e.alpha[p]
	e.others = e.others[:0]
	for i, b := range e.Basic {
		if b >= 0 && int(e.Set[b]) == s && i != p {
			e.others = append(e.others, int32(i))
			pivot -= e.alpha[i]
		}
	}
	if c >= 0 && int(e.Set[c]) == s {
		pivot++
	}
	e.Key[s], e.Basic[p] = e.Basic[p], e.Key[s]
	e.Where[e.Key[s]], e.Where[e.Basic[p]] = -2, int32(p)
	e.KeyValue[s], e.Values[p] = e.Values[p], e.KeyValue[s]
	e.Ops += int64(e.Rows)
	return pivot
}

// replaceKey makes column c, at theta, the key of its set s instead of the present one, where none of the set is basic.
func (e *entering) replaceKey(s int, c int32, theta float64) {
	e.Rekey(s, c)
	e.KeyValue[s] = theta
	e.lu.unkeep()
}

// replace makes column c, at theta, basic at p instead of what is, or of what was set s's key before swapKey; pivot
// is what it has there, with the sign that it comes in with.
func (e *entering) replace(p, s int, c int32, theta, dir, pivot float64) {
	good := true
	if s >= 0 {
		for _, i := range e.others {
			e.lu.combine(i, int32(p))
			good = e.lu.update(i, 1) && good
		}
		e.lessKey(c, e.alpha)
		e.lu.lower(e.alpha)
		e.lu.unkeep()
		e.lu.keep(e.alpha)
	}
	good = e.lu.update(int32(p), pivot) && good
	if b := e.Basic[p]; b >= 0 {
		e.Where[b] = -1
	} else {
		e.Slack[-1-b] = -1
	}
	e.Basic[p], e.Values[p] = c, theta*dir
	if c >= 0 {
		e.Where[c] = int32(p)
	} else {
		e.over[-1-c] = dir < 0
		e.Slack[-1-c], e.Prices[-1-c] = int32(p), e.worthOf(-1-c)
	}
	if e.Ops, e.lu.ops = e.Ops+e.lu.ops, 0; !good || e.lu.heavy() {
		e.Refactor()
	}
}
