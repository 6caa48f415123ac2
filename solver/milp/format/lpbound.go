package format

import (
	"fmt"
	"math"
)

// limits are bounds that each relation tightens.
type limits struct{ lower, upper float64 }

// apply applies a relation with v on its right.
func (l *limits) apply(k kind, v float64) {
	switch k {
	case less:
		l.upper = v
	case greater:
		l.lower = v
	default:
		l.lower, l.upper = v, v
	}
}

// turned is k with its sides exchanged.
func turned(k kind) kind {
	switch k {
	case less:
		return greater
	case greater:
		return less
	}
	return k
}

func (p *lpReader) bounds() {
	for p.err == nil && p.tok.kind != atEnd && p.starts() == "" {
		p.bound()
	}
}

// bound is: name free, name relation number, or number relation name [relation number].
func (p *lpReader) bound() {
	p.glued()
	if p.tok.kind == word && (!p.infinity() || p.isKnown()) {
		j, at := p.named()
		if p.is("free") {
			p.limit(j, at, greater, math.Inf(-1))
			p.limit(j, at, less, math.Inf(1))
			p.advance()
			return
		}
		k := p.relation()
		p.limit(j, at, k, p.constant())
		return
	}
	c := p.constant()
	k := p.relation()
	j, at := p.named()
	p.limit(j, at, turned(k), c)
	if p.tok.kind == less || p.tok.kind == greater || p.tok.kind == equal {
		p.limit(j, at, k, p.otherEnd(k))
	}
}

// limit applies a relation with c on the right to variable j, which token at has named.
func (p *lpReader) limit(j int32, at token, k kind, c float64) {
	if p.err != nil {
		return
	}
	v := &p.vars[j]
	p.far(at.line, v.Name, c)
	l, said := limits{v.Lower, v.Upper}, uint8(0)
	l.apply(k, c)
	if k != less {
		said |= givenLower
	}
	if k != greater && !math.IsInf(l.upper, 1) { // without an upper bound, a binary variable keeps its own
		said |= givenUpper
	}
	if p.said[j]&said&givenLower != 0 && l.lower != v.Lower || p.said[j]&said&givenUpper != 0 && l.upper != v.Upper {
		p.replaced(at.line, *v, l.lower, l.upper)
	}
	v.Lower, v.Upper = l.lower, l.upper
	p.said[j] |= said
	if p.said[j]&binary != 0 {
		p.unit(j, at)
	}
}

// named reads the name of a variable.
func (p *lpReader) named() (int32, token) {
	p.glued()
	at := p.tok
	if at.kind != word {
		p.fail("a variable")
		return 0, at
	}
	j := p.late(at.text, at.line)
	p.advance()
	return j, at
}

// kinds reads the names of integer variables.
func (p *lpReader) kinds(of uint8) {
	for p.err == nil && p.tok.kind != atEnd && p.startsAmongNames() == "" {
		j, at := p.named()
		if p.err != nil {
			return
		}
		p.vars[j].Integer = true
		p.said[j] |= of
		if of == binary {
			p.unit(j, at)
		}
	}
}

// unit sets those bounds of the binary variable j, named by token at, that were not given. Given bounds are kept.
// Outside 0 and 1 they are an error, since solvers disagree about their meaning.
func (p *lpReader) unit(j int32, at token) {
	v := &p.vars[j]
	if p.said[j]&givenUpper == 0 {
		v.Upper = 1
	}
	if isUnit(*v) {
		return
	}
	found := fmt.Sprintf("bounds %v and %v of the binary variable %s", v.Lower, v.Upper, quoted([]byte(v.Name)))
	p.failAt(at, found, "bounds within 0 and 1, or General")
}
