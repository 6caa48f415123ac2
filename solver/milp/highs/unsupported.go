//go:build !((linux || darwin) && (amd64 || arm64)) || nohighs

package highs

import (
	"context"
	"runtime"

	"github.com/hedgesched/hedge/solver/milp"
)

// Backend is HiGHS as a [milp.Backend]. There is none on this platform.
type Backend struct{}

// Open returns an error that is [milp.ErrUnavailable]: the library cannot be called on this platform.
func Open(Config) (*Backend, error) {
	return nil, unavailable("a build for %s/%s cannot call it", runtime.GOOS, runtime.GOARCH)
}

// Name is "highs".
func (b *Backend) Name() string { return "highs" }

// Caps is empty.
func (b *Backend) Caps() milp.Caps { return milp.Caps{} }

// Solve returns an error that is [milp.ErrUnavailable].
func (b *Backend) Solve(context.Context, *milp.Model, milp.Options) (*milp.Result, error) {
	_, err := Open(Config{})
	return nil, err
}
