package format

import (
	"fmt"
	"math"
	"strings"
)

// boundKinds are the kinds of bounds. The n-th kind is bit n in mpsReader.bounded. The first five kinds have a number.
const boundKinds = "LO LI UP UI FX FR MI PL BV"

// fixesLower are the kinds that set the lower bound.
const fixesLower = 1<<0 | 1<<1 | 1<<4 | 1<<5 | 1<<6 | 1<<8

// bound reads a line of BOUNDS: a kind, the set's name if it has one, a variable, and a number if the kind has one.
func (p *mpsReader) bound() error {
	kind := strings.ToUpper(string(p.fields[0].text))
	of := strings.Index(boundKinds, kind) / 3
	if len(kind) != 2 || !strings.Contains(boundKinds, kind) {
		return p.wrong(0, "LO, UP, FX, FR, MI, PL, BV, LI or UI")
	}
	valued := of <= 4
	k, err := p.boundVariable(valued)
	if err != nil {
		return err
	}
	v := 0.0
	if valued {
		if v, err = p.number(k + 1); err != nil {
			return err
		}
	}
	j := int(p.late(p.fields[k].text, p.line))
	for len(p.bounded) <= j {
		p.bounded = append(p.bounded, 0)
	}
	p.far(p.line, p.vars[j].Name, v)
	before := p.vars[j]
	p.setBound(j, kind, v)
	after := p.vars[j]
	switch given := p.bounded[j]; {
	case given&(1<<of) != 0 && (after.Lower != before.Lower || after.Upper != before.Upper):
		return p.wrong(0, fmt.Sprintf("one bound %s of variable %q", kind, before.Name))
	case p.said[j]&binary != 0 && !isUnit(after):
		return p.wrong(0, fmt.Sprintf("bounds of the binary variable %q within 0 and 1", before.Name))
	case given&fixesLower != 0 && after.Lower != before.Lower,
		given != 0 && !math.IsInf(before.Upper, 1) && after.Upper != before.Upper:
		p.replaced(p.line, before, after.Lower, after.Upper)
	}
	p.bounded[j] |= 1 << of
	return nil
}

// boundVariable is the field with the variable. A number after a kind that has none is ignored.
func (p *mpsReader) boundVariable(valued bool) (int, error) {
	n := len(p.fields)
	if n < 2 || n > 4 || valued && n < 3 {
		return 0, p.wrong(n, "a bound's kind, set, variable and number")
	}
	k := 1
	switch {
	case n == 4:
		k = 2
	case n == 3 && !valued:
		_, first := p.of[string(p.fields[1].text)]
		_, second := p.of[string(p.fields[2].text)]
		if _, err := p.number(2); second || !first && err != nil {
			k = 2
		}
	}
	if k == 1 {
		return k, nil
	}
	return k, p.oneSet(2, 1)
}

func (p *mpsReader) setBound(j int, kind string, value float64) {
	v := &p.vars[j]
	switch kind {
	case "FR":
		v.Lower, v.Upper = math.Inf(-1), math.Inf(1)
	case "MI":
		v.Lower = math.Inf(-1)
	case "PL":
		v.Upper = math.Inf(1)
	case "BV":
		v.Lower, v.Upper, v.Integer = 0, 1, true
		p.said[j] |= binary
	case "FX":
		v.Lower, v.Upper = value, value
	case "LO", "LI":
		v.Lower = value
		v.Integer = v.Integer || kind == "LI"
	case "UP", "UI":
		v.Upper = value
		v.Integer = v.Integer || kind == "UI"
		if value < 0 && p.bounded[j]&fixesLower == 0 {
			v.Lower = math.Inf(-1)
		}
	}
}
