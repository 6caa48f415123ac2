package utility

import (
	"fmt"
	"math"
	"reflect"
	"time"

	"github.com/hedgesched/hedge/dist"
)

// Horizon is the time since submission at which [Check] looks last: a year.
const Horizon = 365 * 24 * time.Hour

// Check refuses a utility that cannot be worked with: a nil pointer or function, a curve that no constructor made, and
// one that panics or is NaN at 0, at the deadline or at the [Horizon]. The deadline counts from submission; 0 is none.
// A utility of nil is no error: whoever takes one says what it stands for.
//
// The error is a [*dist.ParamError]. A panic is caught and told in it.
func Check(u Utility, deadline time.Duration) error {
	const fn, name = "utility.Check", "u"
	if u == nil {
		return nil
	}
	if v := reflect.ValueOf(u); (v.Kind() == reflect.Pointer || v.Kind() == reflect.Func) && v.IsNil() {
		return &dist.ParamError{Func: fn, Param: name, Value: fmt.Sprintf("%T(nil)", u), Want: "a utility, or nil alone"}
	}
	if c, ok := u.(*Curve); ok { // a number everywhere
		return checkCurve(fn, name, c)
	}
	for _, t := range []time.Duration{0, deadline, Horizon} {
		if _, err := At(u, t.Seconds()); err != nil {
			return err
		}
	}
	return nil
}

// At is u's value at t seconds. Where a foreign utility panics, or its value is NaN, it returns 0 and a
// [*dist.ParamError] that says so.
func At(u Utility, t float64) (v float64, err error) {
	refuse := func(found any) (float64, error) {
		return 0, &dist.ParamError{Func: "utility.At", Param: fmt.Sprintf("U(%v)", t), Value: found, Want: "a number"}
	}
	defer func() {
		if p := recover(); p != nil {
			v, err = refuse(fmt.Sprintf("a panic (%.200s)", fmt.Sprint(p)))
		}
	}()
	if v = u.At(t); math.IsNaN(v) {
		return refuse(v)
	}
	return v, nil
}
