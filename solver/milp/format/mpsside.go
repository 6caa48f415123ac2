package format

import (
	"fmt"
	"math"
	"strings"
)

// side is what is known of a row.
type side struct {
	name     string
	kind     byte // N, L, G or E
	rhs, rng float64
	said     uint8
	column   int32 // 1 + the last variable with a coefficient in the row
}

// What is known of a side.
const (
	givenRHS = 1 << iota
	givenRange
)

// comment checks whether a line names the program that has written the file, if that matters.
func (p *mpsReader) comment() {
	text := strings.TrimRight(string(p.text[:min(len(p.text), 80)]), blanks)
	switch {
	case p.section != "":
	case strings.HasPrefix(text, "*<meta creator='lp_solve"):
		p.creator = "lp_solve"
	case strings.HasPrefix(text, "* Format:") && strings.HasSuffix(text, " MPS"):
		p.creator = "GLPK"
	}
}

// constant is the objective's constant: its right-hand side, with the sign that the file's creator uses. lp_solve
// negates it when it writes OBJSENSE MAX, but not when it reads that.
func (p *mpsReader) constant() float64 {
	v := p.goal.rhs
	if p.creator == "GLPK" || p.creator == "lp_solve" && !p.m.Maximize {
		p.note.warn(p.line, "the right-hand side %v of the objective is added to it, as %s means it", v, p.creator)
		return v
	}
	return 0 - v
}

// sides reads a line of RHS or RANGES. If it has an odd number of fields, the first is the set's name.
func (p *mpsReader) sides(set int, take func(i int32, v float64, k int) error) error {
	from := len(p.fields) % 2
	if from == 1 {
		if err := p.oneSet(set, 0); err != nil {
			return err
		}
	}
	return p.pairs(from, take)
}

// oneSet takes field k as the name of a set. A section may have only one set.
func (p *mpsReader) oneSet(set, k int) error {
	name := p.fields[k].text
	if p.sets[set] == "" {
		p.sets[set] = string(name)
	}
	if p.sets[set] != string(name) {
		return p.wrong(k, fmt.Sprintf("the set %q that the section began with", p.sets[set]))
	}
	return nil
}

// once records that the row has a value. It is an error if it already has one.
func (p *mpsReader) once(row *side, what uint8, k int, name string) error {
	if row.said&what != 0 {
		return p.wrong(k-1, fmt.Sprintf("one %s of row %q", name, row.name))
	}
	row.said |= what
	return nil
}

func (p *mpsReader) setRHS(i int32, v float64, k int) error {
	row := p.side(i)
	if err := p.once(row, givenRHS, k, "right-hand side"); err != nil {
		return err
	}
	switch {
	case i < 0 && math.IsInf(v, 0):
		return p.wrong(k, "a finite number")
	case i >= 0 && row.kind == 'N' && v != 0:
		p.note.warn(p.line, "row %q is free: its right-hand side %v is passed over", row.name, v)
	default:
		row.rhs = v
	}
	return nil
}

func (p *mpsReader) setRange(i int32, v float64, k int) error {
	row := p.side(i)
	if err := p.once(row, givenRange, k, "range"); err != nil {
		return err
	}
	if row.kind == 'N' {
		p.note.warn(p.line, "row %q is free: its range %v is passed over", row.name, v)
	}
	row.rng = v
	return nil
}

// limits are the row's bounds.
func (s side) limits() (lower, upper float64) {
	lower, upper = s.rhs, s.rhs
	width := math.Abs(s.rng)
	switch {
	case s.kind == 'N':
		return math.Inf(-1), math.Inf(1)
	case s.kind == 'L':
		lower = math.Inf(-1)
		if s.said&givenRange != 0 {
			lower = upper - width
		}
	case s.kind == 'G':
		upper = math.Inf(1)
		if s.said&givenRange != 0 {
			upper = lower + width
		}
	case s.rng > 0:
		upper = lower + width
	case s.rng < 0:
		lower = upper - width
	}
	return unlimited(lower, upper)
}
