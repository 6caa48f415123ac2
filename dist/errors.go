package dist

import (
	"errors"
	"fmt"
	"math"
)

// ErrInvalid marks a parameter outside its domain: NaN, infinite, negative,
// or inconsistent with another one. Every error of this package and of package
// utility about an argument wraps it; the concrete type is [*ParamError].
var ErrInvalid = errors.New("invalid parameter")

// ErrEmpty marks a question that needs at least one observation.
var ErrEmpty = errors.New("dist: no observations")

// ErrFormat marks bytes that are no valid encoding of a sketch, a distribution or a utility.
var ErrFormat = errors.New("invalid encoding")

// ErrForeign marks a value that cannot be encoded because its type belongs to another package
// than the one that was asked to encode it. The error that wraps it names the Go type.
var ErrForeign = errors.New("foreign type has no encoding")

// ParamError names the parameter that was refused.
type ParamError struct {
	// Func is the refusing function or method with its package, as "dist.NewUniform".
	Func string
	// Param is the parameter's name, with its index for slices, as "weights[3]".
	Param string
	// Value is the refused value. For a struct that no constructor made it is a string, such as
	// "&dist.Histogram{}".
	Value any
	// Want says what would have been accepted.
	Want string
}

// Error implements error.
func (e *ParamError) Error() string {
	return fmt.Sprintf("%s: %v: %s = %v, want %s", e.Func, ErrInvalid, e.Param, e.Value, e.Want)
}

// Unwrap returns [ErrInvalid].
func (e *ParamError) Unwrap() error { return ErrInvalid }

// FormatError names the field of a serial form that was refused.
type FormatError struct {
	// Func is the refusing function with its package, as "dist.Unmarshal".
	Func string
	// Field is the path of the refused field, as "parts[1].of.sigma"; empty for the whole.
	Field string
	// Problem says what is wrong with it.
	Problem string
	// Err is the cause where there is one, such as a [*ParamError].
	Err error
}

// Error implements error.
func (e *FormatError) Error() string {
	s := fmt.Sprintf("%s: %v: ", e.Func, ErrFormat)
	if e.Field != "" {
		s += e.Field + ": "
	}
	return s + e.Problem
}

// Unwrap returns [ErrFormat] and the cause.
func (e *FormatError) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrFormat}
	}
	return []error{ErrFormat, e.Err}
}

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

// checkElement is checkNonNegative for an element of a slice. It makes up the element's name only to refuse it.
func checkElement(fn, name string, i int, v float64) error {
	if !isFinite(v) || v < 0 {
		return &ParamError{Func: fn, Param: indexed(name, i), Value: v, Want: wantNonNegative}
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
		return &ParamError{Func: fn, Param: param, Want: "a distribution, not nil"}
	}
	h, ok := d.(*Histogram)
	if !ok || h != nil && len(h.x) > 0 {
		return nil
	}
	refused := &ParamError{Func: fn, Param: param, Want: "a histogram made by a constructor"}
	if h != nil {
		refused.Value = "&dist.Histogram{}"
	}
	return refused
}

func indexed(name string, i int) string { return fmt.Sprintf("%s[%d]", name, i) }
