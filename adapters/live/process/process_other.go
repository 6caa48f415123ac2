//go:build !unix

package process

import (
	"fmt"

	"github.com/hedgesched/hedge/adapters/live"
)

// Executor is for Unix only.
type Executor struct{}

// New fails: there are no process groups to stop.
func New(string) (*Executor, error) { return nil, fmt.Errorf("%w: on this system", ErrStart) }

// Start is that of [live.Executor].
func (*Executor) Start(live.Attempt) (live.Running, error) { return nil, ErrStart }

// Close does nothing.
func (*Executor) Close() error { return nil }
