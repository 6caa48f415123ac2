package solver

import (
	"errors"
	"fmt"
)

// Errors that callers branch on; each comes wrapped with what it is about.
var (
	// ErrInvalid: the problem is not well formed. The message names the field,
	// as in jobs[3].options[1].usage[2], and its value.
	ErrInvalid = errors.New("solver: invalid problem")
	// ErrOptions: no solve can have such options. The message names the field and its value.
	ErrOptions = errors.New("solver: invalid options")
	// ErrInfeasible: a plan breaks a rule of its problem. The message names it.
	ErrInfeasible = errors.New("solver: infeasible plan")
	// ErrBusy: an engine is still busy with an earlier problem, past its deadline. Asking again later may help. It
	// comes with ErrEngine.
	ErrBusy = errors.New("still busy with an earlier problem, past its deadline")
	// ErrSkipped: a rung of a ladder was not run, since a rung above had a plan that was proven, or there was no time
	// left.
	ErrSkipped = errors.New("not run")
	// ErrEngine: an engine failed, panicked, contradicted itself, or is still busy
	// with a problem it should have let go of.
	ErrEngine = errors.New("solver: engine failed")
)

// PanicError is what an engine panicked with; it comes wrapped, with [ErrEngine].
type PanicError struct {
	// Value is what panic was given.
	Value any
	// Stack is the engine's goroutine at the time, as runtime/debug prints it.
	Stack []byte
}

// Error is one line, without the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap is Value if that is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
