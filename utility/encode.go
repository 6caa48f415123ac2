package utility

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/internal/strictjson"
)

// Marshal writes u as a JSON object, of which [Unmarshal] makes the same utility again, to the last bit. Every
// [Curve] has one form, whatever constructor made it, a deadline of 15 minutes this:
//
//	{"kind":"piecewise","points":[{"t":900,"v":100},{"t":900,"v":0}]}
//
// A type that is not of this package has none: the error wraps [dist.ErrForeign] and names it. A curve that no
// constructor made is refused with a [*dist.ParamError].
func Marshal(u Utility) ([]byte, error) {
	c, ok := u.(*Curve)
	if !ok && u != nil {
		return nil, fmt.Errorf("utility.Marshal: %w: %T", dist.ErrForeign, u)
	}
	if c == nil || len(c.points) == 0 {
		return nil, &dist.ParamError{Func: "utility.Marshal", Param: "u", Value: math.NaN(), Want: "a curve made by a constructor"}
	}
	b := append(make([]byte, 0, 96), `{"kind":"piecewise","points":[`...)
	for i, p := range c.points {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendFloat(append(b, `{"t":`...), p.T, 'g', -1, 64)
		b = strconv.AppendFloat(append(b, `,"v":`...), p.V, 'g', -1, 64)
		b = append(b, '}')
	}
	return append(b, "]}"...), nil
}

// Unmarshal reads what [Marshal] writes. Everything else is refused with a [*dist.FormatError] that names
// the field: fields that are unknown, missing, double or written in another case, numbers that no float64
// holds, points that [Piecewise] refuses.
func Unmarshal(data []byte) (Utility, error) {
	o, err := strictjson.Parse(data, func(field, problem string, cause error) error {
		return &dist.FormatError{Func: "utility.Unmarshal", Field: field, Problem: problem, Err: cause}
	})
	if err != nil {
		return nil, err
	}
	if kind := o.Text("kind"); kind != "piecewise" {
		o.Refuse("kind", fmt.Sprintf("unknown kind %q", kind), nil)
	}
	list := o.Objects("points")
	points := make([]Point, len(list))
	for i, p := range list {
		points[i] = Point{T: p.Number("t"), V: p.Number("v")}
		if err := p.Close(); err != nil {
			return nil, err
		}
	}
	c, err := newCurve("utility.Unmarshal", points)
	var p *dist.ParamError
	if errors.As(err, &p) {
		o.Refuse(strings.ToLower(p.Param), fmt.Sprintf("found %v, expected %s", p.Value, p.Want), err)
	}
	if err := o.Close(); err != nil {
		return nil, err
	}
	return c, nil
}
