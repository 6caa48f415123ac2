package dist

import (
	"fmt"
	"strconv"
)

// maxNesting is how deep distributions may be nested, one made of another, to be encoded and decoded.
const maxNesting = 32

// Marshal encodes d as a JSON object. [Unmarshal] makes the same distribution of it again: all its methods
// return the same values to the last bit. The field kind names the family; the other fields are named like
// the parameters of its constructor:
//
//	{"kind":"point","v":7}
//	{"kind":"uniform","lo":2,"hi":9}
//	{"kind":"normal","mu":100,"sigma":20}            before it is cut off at 0
//	{"kind":"lognormal","mu":5,"sigma":0.8}
//	{"kind":"exponential","mean":30}
//	{"kind":"histogram","x":[0,10],"cum":[0,1]}       knots, as FromKnots takes them
//	{"kind":"mixture","parts":[{"weight":0.5,"of":{…}},…]}   weights that add up to 1
//	{"kind":"conditioned","of":{…},"elapsed":60}      given that it is more than that
//	{"kind":"affine","of":{…},"mul":2,"add":3}        mul·X + add
//	{"kind":"maximum","of":{…},"n":5}                 of n independent draws
//
// A distribution that was made of another one is encoded as that one and what was done to it, not as a
// table of its values. What [Sum], [Tabulate] and [Sketch.Distribution] return is a histogram. Numbers are the
// shortest that are read back as the same float64.
//
// A distribution of a type of another package, or one made of such, cannot be encoded. The error wraps
// [ErrForeign] and names the type; [Tabulate] approximates it by a histogram, which can be. Distributions
// that no constructor made, and those nested more than 32 deep, are refused with a [*ParamError].
//
// The encoding is the same on every architecture. Values computed from it are the same to the last bit
// on machines whose math functions are the same.
func Marshal(d Distribution) ([]byte, error) { return appendDist(nil, d, maxNesting) }

func appendDist(b []byte, d Distribution, depth int) ([]byte, error) {
	if err := checkDist("dist.Marshal", "d", d); err != nil {
		return nil, err
	}
	if depth == 0 {
		return nil, &ParamError{Func: "dist.Marshal", Param: "nesting", Value: maxNesting + 1,
			Want: fmt.Sprint("at most ", maxNesting)}
	}
	switch d := d.(type) {
	case Point:
		b = appendNumber(appendKind(b, "point"), "v", d.v)
	case Uniform:
		b = appendNumber(appendNumber(appendKind(b, "uniform"), "lo", d.lo), "hi", d.hi)
	case Normal:
		b = appendNumber(appendNumber(appendKind(b, "normal"), "mu", d.mu), "sigma", d.sigma)
	case Lognormal:
		b = appendNumber(appendNumber(appendKind(b, "lognormal"), "mu", d.mu), "sigma", d.sigma)
	case Exponential:
		b = appendNumber(appendKind(b, "exponential"), "mean", d.mean)
	case *Histogram:
		b = appendNumbers(appendNumbers(appendKind(b, "histogram"), "x", d.x), "cum", d.cum)
	default:
		return appendDerived(b, d, depth)
	}
	return append(b, '}'), nil
}

// appendDerived encodes distributions that are made of others.
func appendDerived(b []byte, d Distribution, depth int) ([]byte, error) {
	var err error
	switch d := d.(type) {
	case Mixture:
		if b, err = appendParts(b, d, depth); err != nil {
			return nil, err
		}
	case conditioned:
		if b, err = appendOf(appendKind(b, "conditioned"), d.d, depth); err != nil {
			return nil, err
		}
		b = appendNumber(b, "elapsed", d.from)
	case affine:
		if b, err = appendOf(appendKind(b, "affine"), d.d, depth); err != nil {
			return nil, err
		}
		b = appendNumber(appendNumber(b, "mul", d.mul), "add", d.add)
	case maximum:
		if b, err = appendOf(appendKind(b, "maximum"), d.d, depth); err != nil {
			return nil, err
		}
		b = append(b, `,"n":`...)
		b = strconv.AppendInt(b, int64(d.n), 10)
	default:
		return nil, fmt.Errorf("dist.Marshal: %w: %T", ErrForeign, d)
	}
	return append(b, '}'), nil
}

func appendParts(b []byte, m Mixture, depth int) ([]byte, error) {
	if len(m.parts) == 0 {
		return nil, &ParamError{Func: "dist.Marshal", Param: "d", Value: "dist.Mixture{}",
			Want: "a mixture made by NewMixture"}
	}
	b = append(appendKind(b, "mixture"), `,"parts":[`...)
	for i, p := range m.parts {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"weight":`...)
		b = strconv.AppendFloat(b, p.Weight, 'g', -1, 64)
		var err error
		if b, err = appendOf(b, p.Dist, depth); err != nil {
			return nil, err
		}
		b = append(b, '}')
	}
	return append(b, ']'), nil
}

func appendOf(b []byte, d Distribution, depth int) ([]byte, error) {
	return appendDist(append(b, `,"of":`...), d, depth-1)
}

func appendKind(b []byte, kind string) []byte {
	return append(append(append(b, `{"kind":"`...), kind...), '"')
}

func appendKey(b []byte, key string) []byte {
	return append(append(append(b, `,"`...), key...), `":`...)
}

func appendNumber(b []byte, key string, v float64) []byte {
	return strconv.AppendFloat(appendKey(b, key), v, 'g', -1, 64)
}

func appendNumbers(b []byte, key string, vs []float64) []byte {
	b = append(appendKey(b, key), '[')
	for i, v := range vs {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendFloat(b, v, 'g', -1, 64)
	}
	return append(b, ']')
}
