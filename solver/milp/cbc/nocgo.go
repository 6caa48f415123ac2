//go:build !cgo

package cbc

import (
	"context"
	"fmt"

	"github.com/hedgesched/hedge/solver/milp"
)

// Backend is CBC in a program that was built without it. It solves nothing.
type Backend struct {
	_ byte // so that each New has its own address
}

// New makes a separate backend.
func New() *Backend { return &Backend{} }

// Name is "cbc".
func (*Backend) Name() string { return "cbc" }

// Caps is what CBC could do.
func (*Backend) Caps() milp.Caps { return milp.Caps{Integer: true, Nodes: true} }

// Solve returns [milp.ErrUnavailable].
func (*Backend) Solve(context.Context, *milp.Model, milp.Options) (*milp.Result, error) {
	return nil, fmt.Errorf("%w: built without cgo", milp.ErrUnavailable)
}
