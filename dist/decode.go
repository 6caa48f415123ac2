package dist

import (
	"errors"
	"fmt"
	"math"

	"github.com/hedgesched/hedge/internal/strictjson"
)

// Unmarshal reads what [Marshal] writes. Everything else is refused with a [*FormatError] that names the
// field: fields that are unknown, missing, double or written in another case, numbers that no
// float64 holds, parameters that the family's constructor refuses, nesting beyond 32.
func Unmarshal(data []byte) (Distribution, error) {
	o, err := strictjson.Parse(data, func(field, problem string, cause error) error {
		return &FormatError{Func: "dist.Unmarshal", Field: field, Problem: problem, Err: cause}
	})
	if err != nil {
		return nil, err
	}
	d := decode(o, maxNesting)
	if err := o.Close(); err != nil {
		return nil, err
	}
	return d, nil
}

// decode makes a distribution of o. After a refusal what it returns is nothing to go by.
func decode(o *strictjson.Object, depth int) Distribution {
	if depth == 0 {
		o.Refuse("", fmt.Sprint("nested more than ", maxNesting, " deep"), nil)
		return nil
	}
	kind := o.Text("kind")
	d, known := decodeFamily(o, kind)
	if !known {
		d, known = decodeDerived(o, kind, depth)
	}
	if !known {
		o.Refuse("kind", fmt.Sprintf("unknown kind %q", kind), nil)
	}
	if o.Close() != nil {
		return nil
	}
	return d
}

func decodeFamily(o *strictjson.Object, kind string) (d Distribution, known bool) {
	var err error
	switch kind {
	case "point":
		d, err = NewPoint(o.Number("v"))
	case "uniform":
		d, err = NewUniform(o.Number("lo"), o.Number("hi"))
	case "normal":
		mu, sigma := o.Number("mu"), o.Number("sigma")
		if d = (Normal{}); mu != 0 || sigma != 0 { // else the zero value, certainly 0
			d, err = NewNormal(mu, sigma)
		}
	case "lognormal":
		mu, sigma := o.Number("mu"), o.Number("sigma")
		if d = (Lognormal{}); mu != 0 || sigma != 0 { // else the zero value, certainly 1
			d, err = NewLognormal(mu, sigma)
		}
	case "exponential":
		mean := o.Number("mean")
		if d = (Exponential{}); mean != 0 { // else the zero value, certainly 0
			d, err = NewExponential(mean)
		}
	case "histogram":
		d, err = FromKnots(o.Numbers("x"), o.Numbers("cum"))
	default:
		return nil, false
	}
	refuse(o, err)
	return d, true
}

func decodeDerived(o *strictjson.Object, kind string, depth int) (d Distribution, known bool) {
	var err error
	switch kind {
	case "mixture":
		return decodeMixture(o, depth), true
	case "conditioned":
		of := decode(o.Object("of"), depth-1)
		d, err = Condition(of, o.Number("elapsed"))
	case "affine":
		return decodeAffine(o, depth), true
	case "maximum":
		of := decode(o.Object("of"), depth-1)
		d, err = MaxOf(of, o.Int("n"))
	default:
		return nil, false
	}
	refuse(o, err)
	return d, true
}

// refuse passes on what a constructor said, with the field it was about.
func refuse(o *strictjson.Object, err error) {
	if err == nil {
		return
	}
	var p *ParamError
	if errors.As(err, &p) {
		o.Refuse(p.Param, fmt.Sprintf("found %v, expected %s", p.Value, p.Want), err)
		return
	}
	o.Refuse("", err.Error(), err)
}

// decodeMixture takes the weights as they are: NewMixture would divide them by their sum, which is 1 but
// for rounding, and so change them.
func decodeMixture(o *strictjson.Object, depth int) Distribution {
	parts, total := o.Objects("parts"), 0.0
	m := Mixture{parts: make([]Component, len(parts))}
	for i, p := range parts {
		c := Component{Weight: p.Number("weight"), Dist: decode(p.Object("of"), depth-1)}
		if !(c.Weight > 0) {
			p.Refuse("weight", fmt.Sprintf("found %v, expected %s", c.Weight, wantPositive), nil)
		}
		if p.Close() != nil {
			return nil
		}
		total += c.Weight
		m.parts[i] = c
	}
	if len(parts) < 2 {
		o.Refuse("parts", fmt.Sprintf("found %d, expected at least 2", len(parts)), nil)
	}
	if !(math.Abs(total-1) <= 1e-9) {
		o.Refuse("parts", fmt.Sprintf("weights add up to %v, expected 1", total), nil)
	}
	return m
}

// decodeAffine keeps what transform would bring to another form, such as one that a family cannot hold.
func decodeAffine(o *strictjson.Object, depth int) Distribution {
	a := affine{d: decode(o.Object("of"), depth-1), mul: o.Number("mul"), add: o.Number("add")}
	if a.d == nil {
		return nil // refused
	}
	lo, hi := a.d.Bounds()
	if math.IsInf(hi, 1) {
		hi = a.d.Mean()
	}
	switch {
	case !(a.mul > 0):
		o.Refuse("mul", fmt.Sprintf("found %v, expected %s", a.mul, wantPositive), nil)
	case a.mul*lo+a.add < -1e-9*math.Abs(a.add): // rounding may leave less than nothing
		o.Refuse("add", fmt.Sprintf("found %v, expected nothing below 0", a.add), nil)
	case !isFinite(a.mul*hi + a.add):
		o.Refuse("mul", fmt.Sprintf("found %v, expected less: the distribution overflows", a.mul), nil)
	}
	return a
}
