package utility

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/internal/form"
)

// Marshal encodes u as a JSON object, of which [Unmarshal] makes the same utility again, to the last bit. The
// form of a [Curve] does not depend on the constructor that made it. A deadline of 15 minutes is
//
//	{"kind":"piecewise","points":[{"t":900,"v":100},{"t":900,"v":0}]}
//
// A utility of a type of another package cannot be encoded: the error wraps [dist.ErrForeign] and names the
// type. A curve that no constructor made is refused with a [*dist.ParamError].
func Marshal(u Utility) ([]byte, error) {
	c, ok := u.(*Curve)
	if !ok && u != nil {
		return nil, fmt.Errorf("utility.Marshal: %w: %T", dist.ErrForeign, u)
	}
	if err := checkCurve("utility.Marshal", "u", c); err != nil {
		return nil, err
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

// Unmarshal decodes what [Marshal] encodes. Anything else is refused with a [*dist.FormatError] that names
// the field: fields that are unknown, missing, given twice or spelt in another case, numbers beyond
// float64, and points that [Piecewise] refuses.
func Unmarshal(data []byte) (Utility, error) {
	var in struct {
		Kind   *string `json:"kind"`
		Points []struct {
			T *float64 `json:"t"`
			V *float64 `json:"v"`
		} `json:"points"`
	}
	if err := form.Unmarshal(data, &in, refuse); err != nil {
		return nil, err
	}
	if *in.Kind != "piecewise" {
		return nil, refuse("kind", fmt.Sprintf("unknown kind %q", *in.Kind), nil)
	}
	points := make([]Point, len(in.Points))
	for i, p := range in.Points {
		points[i] = Point{T: *p.T, V: *p.V}
	}
	c, err := newCurve(function, points)
	var p *dist.ParamError
	if errors.As(err, &p) {
		return nil, refuse(strings.ToLower(p.Param), fmt.Sprintf("found %v, expected %s", p.Value, p.Want), err)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

const function = "utility.Unmarshal"

func refuse(field, problem string, cause error) error {
	return &dist.FormatError{Func: function, Field: field, Problem: problem, Err: cause}
}
