//go:build cgo

package cbc

import (
	"context"
	"time"

	"github.com/hedgesched/hedge/solver/milp"
)

// Backend is CBC. Its zero value is ready, and it is safe for concurrent use: models with integers
// wait for one another, since CbcMain1 keeps its place among its arguments in a variable of the process.
type Backend struct {
	_ byte // so that each New has an address of its own
}

// New is a backend of its own: one that is left behind past a deadline does not keep others busy.
func New() *Backend { return &Backend{} }

// Name is "cbc".
func (*Backend) Name() string { return "cbc" }

// Caps is what the linked library can do.
func (*Backend) Caps() milp.Caps {
	return milp.Caps{Version: version(), Integer: true, Start: true, Incumbents: true, Nodes: true, Seed: true, Log: true,
		Deaf: true}
}

// turn is held by whoever is within CbcMain1.
var turn = make(chan struct{}, 1)

// Solve implements [milp.Backend].
func (*Backend) Solve(ctx context.Context, m *milp.Model, opts milp.Options) (*milp.Result, error) {
	if opts.Time > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, opts.Time)
		defer cancel()
	}
	r := &run{m: m, opts: opts, began: time.Now()}
	return r.solve(ctx)
}
