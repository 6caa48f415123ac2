//go:build cgo

package cbc

/*
#cgo CXXFLAGS: -O2 -I/usr/include/coin -I/usr/local/include/coin -I/usr/local/include/coin-or
#cgo LDFLAGS: -lCbcSolver -lCbc -lCgl -lOsiClp -lClp -lOsi -lCoinUtils -lm
#include "shim.h"
*/
import "C"

import (
	"context"
	"fmt"
	"runtime/cgo"
	"strings"
	"time"
	"unsafe"

	"github.com/hedgesched/hedge/solver/milp"
)

// version is the linked library's.
func version() string { return C.GoString(C.hedge_cbc_version()) }

// callOptions are the options of one call of the library.
type callOptions struct {
	gap, offset float64
	known       float64 // the value of the best point so far, for minimisation; +Inf for none
	nodes, seed int
	log         func(string)
	point       func(x []float64, bound float64)
}

// outcome is the answer to one call of the library.
type outcome struct {
	kind              int
	x                 []float64
	y                 []float64 // for linear programs: the dual values
	bound             float64
	nodes, iterations int64
	raw               string
	setUp             time.Duration
}

// call transfers p and solves it.
func (p *problem) call(ctx context.Context, o callOptions) (*outcome, error) {
	began := time.Now()
	rowLower, rowUpper := p.m.RowBounds()
	s := C.hedge_cbc_new(C.int(p.m.Vars()), C.int(p.m.Rows()), (*C.int)(&p.begin[0]),
		(*C.int)(unsafe.SliceData(p.matrix.Index)),
		doubles(p.matrix.Value), doubles(p.lower), doubles(p.upper), doubles(p.cost), doubles(rowLower), doubles(rowUpper),
		(*C.char)(unsafe.SliceData(p.integer)))
	if s == nil {
		return nil, fmt.Errorf("%w: no memory for %d variables and %d rows", milp.ErrUnavailable, p.m.Vars(), p.m.Rows())
	}
	defer C.hedge_cbc_free(s)
	setUp := time.Since(began)
	stopped := make(chan struct{})
	forget := context.AfterFunc(ctx, func() {
		C.hedge_cbc_stop(s)
		close(stopped)
	})
	defer func() { // runs also if a caller's function has panicked: s must live until it has been called
		if !forget() {
			<-stopped
		}
	}()
	out, err := p.solve(s, o)
	if err != nil {
		return nil, err
	}
	out.setUp = setUp
	return out, nil
}

// solve starts s, which is p in the library.
func (p *problem) solve(s *C.hedge_cbc, o callOptions) (*outcome, error) {
	l := &listener{callOptions: o, solver: s, vars: p.m.Vars()}
	h := cgo.NewHandle(l)
	defer h.Delete()
	var r C.hedge_cbc_result
	opts := C.hedge_cbc_options{
		gap: C.double(o.gap), offset: C.double(o.offset), known: C.double(o.known), nodes: C.int(o.nodes),
		seed:  C.int(o.seed),
		owner: C.uintptr_t(h), log: flag(o.log != nil), points: flag(o.point != nil),
	}
	x, y := make([]float64, p.m.Vars()), make([]float64, p.m.Rows())
	C.hedge_cbc_solve(s, &opts, &r, doubles(x), doubles(y))
	if l.panicked != nil {
		panic(l.panicked)
	}
	if r.error[0] != 0 {
		return nil, fmt.Errorf("%w: %s", milp.ErrBackend, C.GoString(&r.error[0]))
	}
	out := &outcome{kind: int(r.kind), bound: float64(r.bound), nodes: int64(r.nodes), iterations: int64(r.iterations),
		raw: raw(p.integers > 0, int(r.status), int(r.secondary))}
	if r.has_point != 0 {
		out.x = x
		if p.integers == 0 {
			out.y = y
		}
	}
	return out, nil
}

// The kinds of outcome.
const (
	kindOptimal    = C.HEDGE_CBC_OPTIMAL
	kindInfeasible = C.HEDGE_CBC_INFEASIBLE
	kindUnbounded  = C.HEDGE_CBC_UNBOUNDED // or infeasible
	kindNodes      = C.HEDGE_CBC_NODES
	kindStopped    = C.HEDGE_CBC_STOPPED
)

// raw is the library's two codes in its own words.
func raw(tree bool, status, secondary int) string {
	if !tree {
		return word("clp", status, "optimal", "primal infeasible", "dual infeasible", "stopped on iterations or time",
			"stopped due to errors",
			"stopped by event handler")
	}
	return word("status", status, "finished", "stopped", "abandoned", "", "", "stopped by event handler") + ", " +
		word("secondary", secondary, "search completed", "linear relaxation infeasible", "stopped on gap", "stopped on nodes",
			"stopped on time",
			"stopped on user event", "stopped on solutions", "linear relaxation unbounded", "stopped on iterations")
}

func word(name string, code int, words ...string) string {
	if code < 0 || code >= len(words) || words[code] == "" {
		return fmt.Sprintf("%s %d", name, code)
	}
	return fmt.Sprintf("%s %d (%s)", name, code, words[code])
}

func flag(on bool) C.int {
	if on {
		return 1
	}
	return 0
}

func doubles(s []float64) *C.double { return (*C.double)(unsafe.SliceData(s)) }

// listener receives the callbacks of one call of the library.
type listener struct {
	callOptions
	solver   *C.hedge_cbc
	vars     int
	panicked any
}

// guard keeps a panic of f from passing through the library: it stops the library, and the panic is raised again after
// it.
func (l *listener) guard(f func()) {
	if l.panicked != nil {
		return
	}
	defer func() {
		if l.panicked = recover(); l.panicked != nil {
			C.hedge_cbc_stop(l.solver)
		}
	}()
	f()
}

//export hedgeCbcLine
func hedgeCbcLine(owner C.uintptr_t, line *C.char) {
	l := cgo.Handle(owner).Value().(*listener)
	for s := range strings.Lines(C.GoString(line)) {
		if s = strings.TrimRight(s, " \r\n"); s != "" {
			l.guard(func() { l.log(s) })
		}
	}
}

//export hedgeCbcPoint
func hedgeCbcPoint(owner C.uintptr_t, x *C.double, bound C.double) {
	l := cgo.Handle(owner).Value().(*listener)
	point := append([]float64(nil), unsafe.Slice((*float64)(x), l.vars)...)
	l.guard(func() { l.point(point, float64(bound)) })
}
