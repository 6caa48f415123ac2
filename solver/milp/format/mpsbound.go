package format

import (
	"math"
	"strings"
)

// What is known of a variable's bounds.
const (
	givenAny   = 1
	givenLower = 2
)

// bound reads a line of BOUNDS: a kind, the set's name if it has one, a variable, and a number if the kind needs one.
func (p *mpsReader) bound() error {
	kind := strings.ToUpper(string(p.fields[0].text))
	valued := true
	switch kind {
	case "FR", "MI", "PL", "BV":
		valued = false
	case "LO", "UP", "FX", "LI", "UI":
	default:
		return p.wrong(0, "LO, UP, FX, FR, MI, PL, BV, LI or UI")
	}
	k, err := p.boundVariable(valued)
	if err != nil {
		return err
	}
	j, is := p.of[string(p.fields[k].text)]
	if !is {
		return p.wrong(k, "a variable of the section COLUMNS")
	}
	v := 0.0
	if valued {
		if v, err = p.number(k + 1); err != nil {
			return err
		}
	}
	p.setBound(int(j), kind, v)
	return nil
}

// boundVariable is the field that has the variable. A number behind a kind that needs none is passed over.
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
		if _, is := p.of[string(p.fields[2].text)]; is {
			k = 2
		}
	}
	if k == 1 {
		return k, nil
	}
	return k, p.oneSet(2, 1)
}

func (p *mpsReader) setBound(j int, kind string, value float64) {
	for len(p.bounded) <= j {
		p.bounded = append(p.bounded, 0)
	}
	v, given := &p.vars[j], &p.bounded[j]
	switch kind {
	case "FR":
		v.Lower, v.Upper = math.Inf(-1), math.Inf(1)
		*given |= givenLower
	case "MI":
		v.Lower = math.Inf(-1)
		*given |= givenLower
	case "PL":
		v.Upper = math.Inf(1)
	case "BV":
		v.Lower, v.Upper, v.Integer = 0, 1, true
		*given |= givenLower
	case "FX":
		v.Lower, v.Upper = value, value
		*given |= givenLower
	case "LO", "LI":
		v.Lower = value
		v.Integer = v.Integer || kind == "LI"
		*given |= givenLower
	case "UP", "UI":
		v.Upper = value
		v.Integer = v.Integer || kind == "UI"
		if value < 0 && *given&givenLower == 0 {
			v.Lower = math.Inf(-1)
		}
	}
	*given |= givenAny
}
