package sched

import (
	"errors"
	"fmt"
)

// ErrConfig is wrapped by every [*ConfigError].
var ErrConfig = errors.New("invalid configuration")

// ConfigError tells which field of a policy's configuration is invalid. It wraps [ErrConfig].
type ConfigError struct {
	// Policy is what the policy's package calls itself, such as 3Sigma.
	Policy string
	Field  string
	Value  any
	// Want says what is valid.
	Want string
}

// Error implements error.
func (e *ConfigError) Error() string {
	return fmt.Sprintf("%s: %v: %s = %v, want %s", e.Policy, ErrConfig, e.Field, e.Value, e.Want)
}

// Unwrap returns [ErrConfig].
func (e *ConfigError) Unwrap() error { return ErrConfig }
