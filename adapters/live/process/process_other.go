//go:build !unix

package process

import (
	"fmt"

	"github.com/hedgesched/hedge/adapters/live"
)

// Executor cannot be made on this system: it needs Unix.
type Executor struct{}

// New returns an error that wraps [ErrStart]: this system has no process groups to stop.
func New(string) (*Executor, error) { return nil, fmt.Errorf("%w: on this system", ErrStart) }

// Start implements [live.Executor].
func (*Executor) Start(live.Attempt) (live.Running, error) { return nil, ErrStart }

// Close does nothing.
func (*Executor) Close() error { return nil }
