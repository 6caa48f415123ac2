package format

import (
	"bytes"
	"io"
	"math"

	"github.com/hedgesched/hedge/solver/milp"
)

// ReadLP reads a model in CPLEX's LP format, as CBC, GLPK, HiGHS, SCIP, CPLEX and [WriteLP] write it. Variables are in the order in which they are
// first mentioned. Words that begin sections are such at the beginning of a line. Errors are a [*SyntaxError],
// [milp.ErrInvalid] for a model that is not well formed, or r's own.
func ReadLP(r io.Reader) (*milp.Model, error) {
	p := &lpReader{lexer: &lexer{in: newInput(r)}, builder: newBuilder()}
	p.advance()
	p.objective()
	for p.err == nil {
		s := p.section()
		switch s {
		case "rows":
			p.rows()
		case "bounds":
			p.bounds()
		case "general", "binary":
			p.kinds(s == "binary")
		case "none":
			if p.starts() == "" { // HiGHS writes their titles though there are none
				p.fail("a linear model without semi-continuous variables, ordered sets and lazy rows")
			}
		case "end":
			return p.model()
		default:
			p.fail("a section: Subject To, Bounds, General, Binary or End")
		}
	}
	return nil, p.err
}

type lpReader struct {
	*lexer
	*builder
	index []int32
	value []float64
}

// sectionOf is the section that begins with the lower-case word; "none" is one of what is not read, "" no section.
func sectionOf(word string) string {
	switch word {
	case "max", "maximize", "maximise", "maximum":
		return "max"
	case "min", "minimize", "minimise", "minimum":
		return "min"
	case "subject", "such", "st", "s.t.", "st.":
		return "rows"
	case "bounds", "bound":
		return "bounds"
	case "general", "generals", "gen", "integer", "integers", "int":
		return "general"
	case "binary", "binaries", "bin":
		return "binary"
	case "end":
		return "end"
	case "semi", "semis", "sec", "sin", "sos", "sos1", "sos2", "lazy", "user", "pwlobj":
		return "none"
	}
	return ""
}

// starts is the section that the current token begins, "" if it begins none.
func (p *lpReader) starts() string {
	if p.tok.kind != word || !p.tok.first || p.tok.label || len(p.tok.text) > 16 {
		return ""
	}
	return sectionOf(string(bytes.ToLower(p.tok.text)))
}

// section takes the words that begin one, and reports "" if there are none.
func (p *lpReader) section() string {
	s := p.starts()
	if s == "" || s == "min" || s == "max" {
		return ""
	}
	two := p.is("subject") || p.is("such")
	p.advance()
	if two {
		if !p.is("to") && !p.is("that") {
			p.fail(`"to" or "that"`)
			return s
		}
		p.advance()
	}
	if s == "rows" && p.tok.kind == colon {
		p.advance()
	}
	return s
}

func (p *lpReader) is(text string) bool {
	return p.tok.kind == word && bytes.EqualFold(p.tok.text, []byte(text))
}

func (p *lpReader) objective() {
	s := p.starts()
	if s != "max" && s != "min" {
		p.fail("Minimize or Maximize")
		return
	}
	p.m.Maximize = s == "max"
	p.advance()
	p.label()
	_, constant := p.sum()
	p.m.Offset = constant
	for k, j := range p.index {
		p.vars[j].Cost += p.value[k]
	}
}

// label takes a name and its colon, if they are there.
func (p *lpReader) label() string {
	if p.tok.kind != word || !p.tok.label {
		return ""
	}
	name := string(p.tok.text)
	p.advance()
	p.advance()
	return name
}

// ends reports whether the current token can be no part of a sum.
func (p *lpReader) ends() bool {
	switch p.tok.kind {
	case plus, minus, number:
		return false
	case word:
		return p.tok.label || p.starts() != ""
	}
	return true
}

// sum takes terms, which it leaves in index and value, and constants, of which it returns how many and their sum. All
// terms but the first need a sign.
func (p *lpReader) sum() (constants int, constant float64) {
	p.index, p.value = p.index[:0], p.value[:0]
	for begun := false; !p.ends() && (!begun || p.tok.kind == plus || p.tok.kind == minus); begun = true {
		v, signed := p.sign()
		given := p.tok.kind == number
		if given {
			v = float64(v * p.tok.value)
			p.advance()
		}
		switch {
		case p.tok.kind == word && !p.ends() && !p.infinity():
			j := p.variable(p.tok.text)
			p.index, p.value = append(p.index, j), append(p.value, v)
			p.advance()
		case given:
			constants, constant = constants+1, constant+v
		case p.infinity():
			constants, constant = constants+1, constant+math.Inf(int(v))
			p.advance()
		default:
			if signed {
				p.fail("a number or a variable behind the sign")
			} else {
				p.fail("a number or a variable")
			}
			return constants, constant
		}
	}
	return constants, constant
}

// sign takes signs, and is 1 or -1.
func (p *lpReader) sign() (v float64, any bool) {
	v = 1
	for p.tok.kind == plus || p.tok.kind == minus {
		if p.tok.kind == minus {
			v = -v
		}
		any = true
		p.advance()
	}
	return v, any
}

func (p *lpReader) infinity() bool { return p.is("inf") || p.is("infinity") }

// constant takes a number with its signs, which may be infinite.
func (p *lpReader) constant() float64 {
	v, _ := p.sign()
	switch {
	case p.tok.kind == number:
		v = float64(v * p.tok.value)
	case p.infinity():
		v = math.Inf(int(v))
	default:
		p.fail("a number")
		return 0
	}
	p.advance()
	return v
}

// relation takes an operator.
func (p *lpReader) relation() kind {
	k := p.tok.kind
	if k != less && k != greater && k != equal {
		p.fail("one of <=, = and >=")
		return k
	}
	p.advance()
	return k
}

// limits are bounds that get tighter by each relation.
type limits struct{ lower, upper float64 }

// apply puts v to the right of a relation.
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

// turned is k seen from the other side.
func turned(k kind) kind {
	switch k {
	case less:
		return greater
	case greater:
		return less
	}
	return k
}

func (p *lpReader) rows() {
	for p.err == nil && p.tok.kind != atEnd && p.starts() == "" {
		p.row()
	}
}

// row is: [name:] sum relation number, or [name:] number relation sum [relation number].
func (p *lpReader) row() {
	name := p.label()
	constants, constant := p.sum()
	l := limits{math.Inf(-1), math.Inf(1)}
	if constants > 0 && len(p.index) > 0 {
		p.fail("a row without constants beside its variables")
	}
	k := p.relation()
	if constants == 0 {
		l.apply(k, p.constant())
	} else {
		l.apply(turned(k), constant)
		if constants, _ = p.sum(); constants > 0 {
			p.fail("a sum of variables without constants")
		}
		if p.tok.kind == less || p.tok.kind == greater || p.tok.kind == equal {
			p.second(&l, k)
		}
	}
	if p.err != nil {
		return
	}
	for _, j := range p.index {
		p.inRow = p.inRow || j == p.offset
	}
	l.lower, l.upper = unlimited(l.lower, l.upper)
	p.m.AddRow(milp.Row{Name: name, Lower: l.lower, Upper: l.upper, Index: p.index, Value: p.value})
}

// second takes the other bound of a range whose first relation was k: the same, or the range were none.
func (p *lpReader) second(l *limits, k kind) {
	if p.tok.kind != k || k == equal {
		p.fail("the relation that the range began with, <= or >=")
		return
	}
	p.advance()
	l.apply(k, p.constant())
}

func (p *lpReader) bounds() {
	for p.err == nil && p.tok.kind != atEnd && p.starts() == "" {
		p.bound()
	}
}

// bound is: name free, name relation number, or number relation name [relation number].
func (p *lpReader) bound() {
	if p.tok.kind == word && !p.infinity() {
		v := p.known()
		if p.is("free") {
			v.Lower, v.Upper = math.Inf(-1), math.Inf(1)
			p.advance()
			return
		}
		k := p.relation()
		p.limit(v, k, p.constant())
		return
	}
	c := p.constant()
	k := p.relation()
	v := p.known()
	p.limit(v, turned(k), c)
	if p.tok.kind == less || p.tok.kind == greater || p.tok.kind == equal {
		l := limits{v.Lower, v.Upper}
		p.second(&l, k)
		v.Lower, v.Upper = l.lower, l.upper
	}
}

func (p *lpReader) limit(v *milp.Var, k kind, c float64) {
	l := limits{v.Lower, v.Upper}
	l.apply(k, c)
	v.Lower, v.Upper = l.lower, l.upper
}

// known takes the name of a variable that has been mentioned; on failure it is none that is kept.
func (p *lpReader) known() *milp.Var {
	if p.tok.kind == word {
		if j, is := p.of[string(p.tok.text)]; is {
			p.advance()
			return &p.vars[j]
		}
	}
	p.fail("a variable of the objective or of a row")
	return &milp.Var{}
}

func (p *lpReader) kinds(binary bool) {
	for p.err == nil && p.tok.kind != atEnd && p.starts() == "" {
		v := p.known()
		v.Integer = true
		if binary {
			v.Lower, v.Upper = 0, 1
		}
	}
}
