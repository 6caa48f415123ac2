//go:build !cgo

package cbc

import (
	"context"
	"fmt"

	"github.com/hedgesched/hedge/solver/milp"
)

// Backend is CBC, which this program was built without: it solves nothing.
type Backend struct {
	_ byte // so that each New has an address of its own
}

// New is a backend of its own.
func New() *Backend { return &Backend{} }

// Name is "cbc".
func (*Backend) Name() string { return "cbc" }

// Caps is nothing but the integers that it would know.
func (*Backend) Caps() milp.Caps { return milp.Caps{Integer: true, Nodes: true} }

// Solve is [milp.ErrUnavailable].
func (*Backend) Solve(context.Context, *milp.Model, milp.Options) (*milp.Result, error) {
	return nil, fmt.Errorf("%w: built without cgo", milp.ErrUnavailable)
}
