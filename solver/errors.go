package solver

import "errors"

// Errors that callers branch on; each comes wrapped with what it is about.
var (
	// ErrInvalid: the problem is not well formed. The message names the field,
	// as in jobs[3].options[1].usage[2], and its value.
	ErrInvalid = errors.New("solver: invalid problem")
	// ErrInfeasible: a plan breaks a rule of its problem. The message names it.
	ErrInfeasible = errors.New("solver: infeasible plan")
	// ErrEngine: an engine failed, panicked, or contradicted itself.
	ErrEngine = errors.New("solver: engine failed")
)
