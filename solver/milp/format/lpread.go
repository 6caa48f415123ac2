package format

import (
	"bytes"
	"io"
	"math"
	"strconv"

	"github.com/hedgesched/hedge/solver/milp"
)

// LP reads a model in CPLEX's LP format, as CBC, GLPK, HiGHS, SCIP, CPLEX and [WriteLP] write it. Variables are in the
// order in which they first occur, even if they occur only in Bounds, General or Binary. Where readers differ, LP
// behaves as follows:
//
//   - A word that begins a section is a name where a title is impossible: before a relation or a colon, and among the
//     names of General and Binary if a variable has that name and a blank precedes it.
//   - Bounds hold whether they come before Binary or after it. Bounds of a binary variable outside 0 and 1 are an
//     error.
//   - A negative upper bound leaves the lower bound at 0, so the model is infeasible.
//   - If a variable occurs twice in a sum, its coefficients are added up.
//   - The comment that GLPK writes after the objective, `\* constant term = 7 *\`, is the objective's constant.
//
// Errors are a [*SyntaxError], [milp.ErrInvalid] for a model that is not well formed, or from's own.
func (r Reader) LP(from io.Reader) (*milp.Model, error) {
	p := &lpReader{lexer: &lexer{in: newInput(from)}, builder: newBuilder(r)}
	p.advance()
	p.objective()
	for p.err == nil {
		switch p.section() {
		case "rows":
			p.rows()
		case "bounds":
			p.bounds()
		case "general":
			p.kinds(0)
		case "binary":
			p.kinds(binary)
		case "none":
		case "end":
			if p.tok.kind != atEnd {
				p.note.warn(p.tok.line, "%s and what follows it are behind the end", p.found())
			}
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

func (p *lpReader) is(text string) bool {
	return p.tok.kind == word && bytes.EqualFold(p.tok.text, []byte(text))
}

func (p *lpReader) objective() {
	s := ""
	if p.tok.kind == word && len(p.tok.text) <= 16 {
		s = sectionOf(string(bytes.ToLower(p.tok.text)))
	}
	if s != "max" && s != "min" {
		p.fail("Minimize or Maximize")
		return
	}
	p.m.Maximize = s == "max"
	p.advance()
	if p.tok.kind == colon {
		p.advance()
	}
	p.comment = p.glpkConstant
	_, labelled := p.label()
	behind := !p.tok.first && (p.tok.next == '+' || p.tok.next == '-') // "min end + x" has no title in it
	_, constant := p.sum(labelled || behind)
	p.comment = nil
	p.m.Offset += constant
	for k, j := range p.index {
		p.vars[j].Cost += p.value[k]
	}
}

// glpkConstant reads the objective's constant from GLPK's comment.
func (p *lpReader) glpkConstant(text []byte) {
	text, is := bytes.CutPrefix(text, []byte(`\* constant term = `))
	text, closed := bytes.CutSuffix(bytes.TrimRight(text, blanks), []byte(` *\`))
	v, err := strconv.ParseFloat(string(text), 64)
	if is && closed && err == nil && !math.IsInf(v, 0) && !math.IsNaN(v) {
		p.note.warn(p.in.line, "the objective's constant %v is taken from a comment, where GLPK writes it", v)
		p.m.Offset += v
	}
}

// label reads a name and its colon, if there are any.
func (p *lpReader) label() (name string, is bool) {
	if p.tok.kind != word || p.tok.next != ':' {
		return "", false
	}
	name = string(p.tok.text)
	p.advance()
	p.advance()
	return name, true
}

// goesOn reports whether the current token continues a sum. All terms except the first need a sign.
func (p *lpReader) goesOn(begun, labelled bool) bool {
	switch p.tok.kind {
	case plus, minus:
		return true
	case number:
		return !begun
	case word:
		return !begun && (p.isInfinite() || p.isVariable(false, false, labelled))
	}
	return false
}

// isVariable reports whether the current token is the variable of a term, given what precedes it: a sign, a number, or
// a row's name.
func (p *lpReader) isVariable(signed, given, labelled bool) bool {
	switch {
	case p.tok.kind != word || p.tok.next == ':':
		return false
	case p.tok.first:
		return p.starts() == ""
	case given:
		return !p.is("subject") && !p.is("such") || p.starts() == ""
	}
	return signed || labelled || p.starts() == ""
}

// sum reads terms into index and value. It returns the number and the sum of the constants.
func (p *lpReader) sum(labelled bool) (constants int, constant float64) {
	p.index, p.value = p.index[:0], p.value[:0]
	for begun := false; p.goesOn(begun, labelled); begun = true {
		v, signed := p.sign()
		given := p.tok.kind == number
		if given {
			v = float64(v * p.tok.value)
			p.advance()
			p.glued()
		}
		switch {
		case !given && !begun && p.isInfinite():
			constants, constant = constants+1, constant+math.Inf(int(v))
			p.advance()
		case p.isVariable(signed, given, labelled):
			j := p.variable(p.tok.text)
			p.index, p.value = append(p.index, j), append(p.value, v)
			p.advance()
		case given:
			constants, constant = constants+1, constant+v
		default:
			p.fail("a number or a variable behind the sign")
			return constants, constant
		}
	}
	return constants, constant
}

// sign reads signs. The result is 1 or -1.
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

// isInfinite reports whether the current token, the first of a row, is an infinite number and not a variable.
func (p *lpReader) isInfinite() bool {
	return p.infinity() && isRelation(p.tok.next) && !p.isKnown()
}

func (p *lpReader) infinity() bool { return p.is("inf") || p.is("infinity") }

// constant reads a number with its signs. It may be infinite.
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

// relation reads an operator.
func (p *lpReader) relation() kind {
	k := p.tok.kind
	if k != less && k != greater && k != equal {
		p.fail("one of <=, = and >=")
		return k
	}
	p.advance()
	return k
}

func (p *lpReader) rows() {
	for p.err == nil && p.tok.kind != atEnd && p.starts() == "" {
		p.row()
	}
}

// row reads [name:] sum relation number, or [name:] number relation sum [relation number].
func (p *lpReader) row() {
	name, labelled := p.label()
	constants, constant := p.sum(labelled)
	l := limits{math.Inf(-1), math.Inf(1)}
	if constants > 0 && len(p.index) > 0 {
		p.fail("a row without constants beside its variables")
	}
	k := p.relation()
	if constants == 0 {
		l.apply(k, p.constant())
	} else {
		l.apply(turned(k), constant)
		if constants, _ = p.sum(true); constants > 0 {
			p.fail("a sum of variables without constants")
		}
		if p.tok.kind == less || p.tok.kind == greater || p.tok.kind == equal {
			l.apply(k, p.otherEnd(k))
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

// otherEnd reads the other bound of a range whose first relation was k. The second must be the same.
func (p *lpReader) otherEnd(k kind) float64 {
	if p.tok.kind != k || k == equal {
		p.fail("the relation that the range began with, <= or >=")
		return 0
	}
	p.advance()
	return p.constant()
}
