package solver

import (
	"errors"
	"fmt"
)

// Errors that callers test for. Each comes wrapped with what it is about.
var (
	// ErrInvalid: the problem is not well formed. The message names the field, like jobs[3].options[1].usage[2], and its
	// value.
	ErrInvalid = errors.New("solver: invalid problem")
	// ErrOptions: an option is out of range. The message names the field and its value.
	ErrOptions = errors.New("solver: invalid options")
	// ErrInfeasible: a plan breaks a rule of its problem. The message names it.
	ErrInfeasible = errors.New("solver: infeasible plan")
	// ErrBusy: an engine is still busy with an earlier problem, past its deadline. A later call may succeed. It comes with
	// ErrEngine.
	ErrBusy = errors.New("still busy with an earlier problem, past its deadline")
	// ErrSkipped: a rung of a ladder was not run, since an earlier rung had a proven plan, or there was no time left.
	ErrSkipped = errors.New("not run")
	// ErrEngine: an engine failed, panicked or contradicted itself, or is still busy with an earlier problem.
	ErrEngine = errors.New("solver: engine failed")
)

// PanicError is the value that an engine panicked with. It comes wrapped, with [ErrEngine].
type PanicError struct {
	// Value is the argument of panic.
	Value any
	// Stack is the stack of the engine's goroutine, as runtime/debug prints it.
	Stack []byte
}

// Error is one line, without the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap is Value if that is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
