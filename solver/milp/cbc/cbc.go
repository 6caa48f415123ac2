//go:build cgo

package cbc

import (
	"context"
	"time"

	"github.com/hedgesched/hedge/solver/milp"
)

// Backend is CBC. Its zero value is ready, and it is safe for concurrent use. Models with integers wait for one
// another, since CbcMain1 keeps state in a global variable.
type Backend struct {
	_ byte // so that each New has its own address
}

// New makes a separate backend: if one is abandoned past a deadline, others are not busy.
func New() *Backend { return &Backend{} }

// Name is "cbc".
func (*Backend) Name() string { return "cbc" }

// Caps says what the linked library can do.
func (*Backend) Caps() milp.Caps {
	return milp.Caps{Version: version(), Integer: true, Start: true, Incumbents: true, Nodes: true, Seed: true, Log: true,
		Deaf: true}
}

// turn is a lock for CbcMain1.
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
