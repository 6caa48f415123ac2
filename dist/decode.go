package dist

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/hedgesched/hedge/internal/form"
)

// Unmarshal decodes what [Marshal] encodes. Anything else is refused with a [*FormatError] that names the
// field: fields that are unknown, missing, given twice or spelt in another case, numbers beyond
// float64, parameters that the family's constructor refuses, and nesting beyond 32.
func Unmarshal(data []byte) (Distribution, error) {
	var f fields
	if err := form.Unmarshal(data, &f, refuse); err != nil {
		return nil, err
	}
	return f.distribution("", maxNesting)
}

// fields are the fields of all kinds; a field that is not given is nil.
type fields struct {
	Kind    *string   `json:"kind"`
	V       *float64  `json:"v,omitempty"`
	Lo      *float64  `json:"lo,omitempty"`
	Hi      *float64  `json:"hi,omitempty"`
	Mu      *float64  `json:"mu,omitempty"`
	Sigma   *float64  `json:"sigma,omitempty"`
	Mean    *float64  `json:"mean,omitempty"`
	X       []float64 `json:"x,omitempty"`
	Cum     []float64 `json:"cum,omitempty"`
	Parts   []part    `json:"parts,omitempty"`
	Of      *fields   `json:"of,omitempty"`
	Elapsed *float64  `json:"elapsed,omitempty"`
	Mul     *float64  `json:"mul,omitempty"`
	Add     *float64  `json:"add,omitempty"`
	N       *int      `json:"n,omitempty"`
}

// part is a component of a mixture.
type part struct {
	Weight *float64 `json:"weight"`
	Of     *fields  `json:"of"`
}

// distribution makes the distribution that f, found at the path at, stands for.
func (f *fields) distribution(at string, depth int) (Distribution, error) {
	if depth == 0 {
		return nil, refusal(strings.TrimSuffix(at, "."), fmt.Sprint("nested more than ", maxNesting, " deep"))
	}
	if err := f.check(at); err != nil {
		return nil, err
	}
	if *f.Kind == "mixture" {
		return f.mixture(at, depth)
	}
	var of Distribution
	var err error
	if f.Of != nil {
		if of, err = f.Of.distribution(at+"of.", depth-1); err != nil {
			return nil, err
		}
	}
	if *f.Kind == "affine" {
		return f.affine(at, of)
	}
	d, err := f.construct(of)
	if err == nil {
		return d, nil
	}
	var p *ParamError
	if errors.As(err, &p) {
		return nil, refuse(at+p.Param, fmt.Sprintf("found %v, expected %s", p.Value, p.Want), err)
	}
	return nil, refuse(strings.TrimSuffix(at, "."), err.Error(), err)
}

func refuse(field, problem string, cause error) error {
	return &FormatError{Func: "dist.Unmarshal", Field: field, Problem: problem, Err: cause}
}

func refusal(field, problem string) error { return refuse(field, problem, nil) }

// needs are the fields that a kind has, and must have.
func needs(kind string) []string {
	switch kind {
	case "point":
		return []string{"v"}
	case "uniform":
		return []string{"lo", "hi"}
	case "normal", "lognormal":
		return []string{"mu", "sigma"}
	case "exponential":
		return []string{"mean"}
	case "histogram":
		return []string{"x", "cum"}
	case "mixture":
		return []string{"parts"}
	case "conditioned":
		return []string{"of", "elapsed"}
	case "affine":
		return []string{"of", "mul", "add"}
	case "maximum":
		return []string{"of", "n"}
	}
	return nil
}

// check refuses fields that the kind does not have, and looks for those that it has.
func (f *fields) check(at string) error {
	want := needs(*f.Kind)
	if want == nil {
		return refusal(at+"kind", fmt.Sprintf("unknown kind %q", *f.Kind))
	}
	v := reflect.ValueOf(f).Elem()
	for i := 1; i < v.NumField(); i++ { // after the kind
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		switch wanted, there := slices.Contains(want, name), !v.Field(i).IsNil(); {
		case wanted && !there:
			return form.Absent(at+name, v.Field(i).Type()).Refused(refuse)
		case there && !wanted:
			return form.Stray(at + name).Refused(refuse)
		}
	}
	return nil
}

// construct makes a distribution by its constructor. Parameters that are all 0 are those of the zero
// value, which some constructors would refuse.
func (f *fields) construct(of Distribution) (Distribution, error) {
	switch *f.Kind {
	case "point":
		return NewPoint(*f.V)
	case "uniform":
		return NewUniform(*f.Lo, *f.Hi)
	case "normal":
		if *f.Mu == 0 && *f.Sigma == 0 {
			return Normal{}, nil
		}
		return NewNormal(*f.Mu, *f.Sigma)
	case "lognormal":
		if *f.Mu == 0 && *f.Sigma == 0 {
			return Lognormal{}, nil
		}
		return NewLognormal(*f.Mu, *f.Sigma)
	case "exponential":
		if *f.Mean == 0 {
			return Exponential{}, nil
		}
		return NewExponential(*f.Mean)
	case "conditioned":
		return Condition(of, *f.Elapsed)
	case "maximum":
		return MaxOf(of, *f.N)
	}
	return FromKnots(f.X, f.Cum)
}

// mixture takes the weights as they are. NewMixture would divide them by their sum, which is 1 only up
// to rounding, and so change their last digits.
func (f *fields) mixture(at string, depth int) (Distribution, error) {
	m, total := Mixture{parts: make([]Component, len(f.Parts))}, 0.0
	for i, p := range f.Parts {
		field := fmt.Sprintf("%sparts[%d].", at, i)
		d, err := p.Of.distribution(field+"of.", depth-1)
		if err != nil {
			return nil, err
		}
		if !(*p.Weight > 0) {
			return nil, refusal(field+"weight", fmt.Sprintf("found %v, expected %s", *p.Weight, wantPositive))
		}
		total += *p.Weight
		m.parts[i] = Component{Weight: *p.Weight, Dist: d}
	}
	if len(f.Parts) < 2 {
		return nil, refusal(at+"parts", fmt.Sprintf("found %d, expected at least 2", len(f.Parts)))
	}
	if !(math.Abs(total-1) <= 1e-9) {
		return nil, refusal(at+"parts", fmt.Sprintf("weights add up to %v, expected 1", total))
	}
	return m, nil
}

// affine makes mul·X + add as it was encoded; transform might simplify it to another form.
func (f *fields) affine(at string, of Distribution) (Distribution, error) {
	a := affine{d: of, mul: *f.Mul, add: *f.Add}
	lo, hi := a.d.Bounds()
	if math.IsInf(hi, 1) {
		hi = a.d.Mean()
	}
	switch {
	case !(a.mul > 0):
		return nil, refusal(at+"mul", fmt.Sprintf("found %v, expected %s", a.mul, wantPositive))
	case line(a.mul, lo, a.add) < -1e-9*math.Abs(a.add): // rounding may leave less than nothing
		return nil, refusal(at+"add", fmt.Sprintf("found %v, expected nothing below 0", a.add))
	case !isFinite(line(a.mul, hi, a.add)):
		return nil, refusal(at+"mul", fmt.Sprintf("found %v, expected less: the distribution overflows", a.mul))
	}
	return a, nil
}
