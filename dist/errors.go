package dist

import (
	"errors"
	"fmt"
	"math"
)

// ErrInvalid marks a parameter outside its domain: NaN, infinite, negative,
// or inconsistent with another one. Every error of this package about an
// argument wraps it; the concrete type is [*ParamError].
var ErrInvalid = errors.New("dist: invalid parameter")

// ErrEmpty marks a question that needs at least one observation.
var ErrEmpty = errors.New("dist: no observations")

// ParamError names the parameter that was refused.
type ParamError struct {
	// Func is the refusing function or method, as "NewUniform".
	Func string
	// Param is the parameter's name, with its index for slices, as "weights[3]".
	Param string
	// Value is the refused value.
	Value float64
	// Want says what would have been accepted.
	Want string
}

// Error implements error.
func (e *ParamError) Error() string {
	return fmt.Sprintf("%v: %s: %s = %v, want %s", ErrInvalid, e.Func, e.Param, e.Value, e.Want)
}

// Unwrap returns [ErrInvalid].
func (e *ParamError) Unwrap() error { return ErrInvalid }

const (
	wantNonNegative = "a finite number >= 0"
	wantPositive    = "a finite number > 0"
)

func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func checkNonNegative(fn, param string, v float64) error {
	if !isFinite(v) || v < 0 {
		return &ParamError{Func: fn, Param: param, Value: v, Want: wantNonNegative}
	}
	return nil
}

func checkPositive(fn, param string, v float64) error {
	if !isFinite(v) || v <= 0 {
		return &ParamError{Func: fn, Param: param, Value: v, Want: wantPositive}
	}
	return nil
}

func checkDist(fn, param string, d Distribution) error {
	if d == nil {
		return &ParamError{Func: fn, Param: param, Value: math.NaN(), Want: "a distribution, not nil"}
	}
	if h, ok := d.(*Histogram); ok && (h == nil || len(h.x) == 0) {
		return &ParamError{Func: fn, Param: param, Value: math.NaN(), Want: "a histogram made by a constructor"}
	}
	return nil
}

func indexed(name string, i int) string { return fmt.Sprintf("%s[%d]", name, i) }
