package utility

import (
	"fmt"
	"math"
	"time"

	"github.com/hedgesched/hedge/dist"
)

// The shape of [BestEffort].
const (
	// halvings is how many half-lives the worth halves in each time.
	halvings = 10
	// doublings is how many times it halves after that, each time while the time since submission doubles.
	doublings = 10
	// leastValue can be halved as often exactly, and mostValue falls no faster than a number can say.
	leastValue, mostValue = 1e-301, 1e298
)

// BestEffort is worth value at submission and falls from then on, but never to 0. So a job that has waited for long is
// still started where there is room. The half-life is longer than 0; value is from 1e-301 to
// 1e298. The error is a [*dist.ParamError].
//
// The worth halves in every half-life until ten have passed. After that it falls more slowly: it halves while the time
// since submission doubles, until 10,240 half-lives have passed. A 2^20th of the value is left then, and
// stays. In between, the curve is straight. So the expectation is exact for every distribution that is exact for a
// [Curve], without a function that rounds differently on another machine, and the JSON form is that of [Piecewise].
func BestEffort(value float64, halfLife time.Duration) (*Curve, error) {
	const fn = "utility.BestEffort"
	if halfLife <= 0 {
		return nil, &dist.ParamError{Func: fn, Param: "halfLife", Value: halfLife, Want: "longer than 0"}
	}
	if !(value >= leastValue && value <= mostValue) {
		want := fmt.Sprintf("a number from %v to %v", leastValue, mostValue)
		return nil, &dist.ParamError{Func: fn, Param: "value", Value: value, Want: want}
	}
	h := halfLife.Seconds()
	points := make([]Point, 0, 1+halvings+doublings)
	for i := range 1 + halvings {
		points = append(points, Point{T: float64(i) * h, V: math.Ldexp(value, -i)})
	}
	for i := 1; i <= doublings; i++ {
		points = append(points, Point{T: math.Ldexp(halvings*h, i), V: math.Ldexp(value, -halvings-i)})
	}
	return newCurve(fn, points)
}
