package lpsolve

// #cgo CFLAGS: -I/usr/include/lpsolve
// #cgo LDFLAGS: -L/usr/lib/lp_solve -llpsolve55 -Wl,-rpath,/usr/lib/lp_solve
// #include <stdlib.h>
// #include "bridge.h"
import "C"

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"runtime/cgo"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/draffensperger/golp"

	"github.com/hedgesched/hedge/solver/milp"
)

// program is a model of the binding. It adds, on the same C structure, what the binding lacks: ranges, interruption,
// points during the solve, the log, counts, transfer in one call, and freeing memory at the end of the solve instead of
// by the garbage collector.
type program struct {
	lp      *golp.LP
	pointer unsafe.Pointer // lp's lprec
	watch   *C.watch       // in C memory: the library's callbacks read it
	handle  cgo.Handle

	m    *milp.Model
	opts milp.Options
	best []float64 // nil if there is none
	line string    // the log's unfinished line

	panicked any // what a caller's function has panicked with inside the library
}

// newProgram fails if the binding's version is not the one that this package was written for.
func newProgram(m *milp.Model, opts milp.Options) (*program, error) {
	lp := golp.NewLP(m.Rows(), 0)
	field := reflect.ValueOf(lp).Elem().FieldByName("ptr")
	if field.Kind() != reflect.Pointer || field.IsNil() {
		return nil, fmt.Errorf("%w: golp keeps no pointer named ptr, or lp_solve has no memory", milp.ErrUnavailable)
	}
	runtime.SetFinalizer(lp, nil) // free does the same
	p := &program{lp: lp, pointer: field.UnsafePointer(), watch: (*C.watch)(C.calloc(1, C.sizeof_watch)), m: m, opts: opts}
	p.handle = cgo.NewHandle(p)
	p.watch.handle = C.uintptr_t(p.handle)
	p.watch.nodes = C.int64_t(opts.Nodes)
	if opts.Log != nil {
		p.watch.log = 1
	}
	C.hedge_lpsolve_prepare(p.pointer, p.watch)
	return p, nil
}

// free frees the library's memory. p must not be used afterwards.
func (p *program) free() {
	C.hedge_lpsolve_free(p.pointer)
	C.free(unsafe.Pointer(p.watch))
	p.handle.Delete()
}

// load copies the model into the library, as a minimisation.
func (p *program) load() error {
	m := p.m
	columns := m.ByColumn()
	begin, integer := make([]int64, len(columns.Begin)), make([]uint8, m.Vars())
	for j, at := range columns.Begin {
		begin[j] = int64(at)
	}
	lower, upper := m.WholeBounds()
	for j := range integer {
		if m.Var(j).Integer {
			integer[j] = 1
		}
	}
	rowLower, rowUpper := m.RowBounds()
	ok := C.hedge_lpsolve_load(p.pointer, C.int(m.Vars()), C.int(m.Rows()), (*C.int64_t)(unsafe.SliceData(begin)),
		(*C.int32_t)(unsafe.SliceData(columns.Index)), doubles(columns.Value), doubles(lower), doubles(upper),
		doubles(m.Costs()),
		(*C.uint8_t)(unsafe.SliceData(integer)), doubles(rowLower), doubles(rowUpper), C.double(sense(m)))
	if ok == 0 {
		return fmt.Errorf("%w: lp_solve refused the model: no memory", milp.ErrUnavailable)
	}
	return nil
}

func doubles(s []float64) *C.double { return (*C.double)(unsafe.SliceData(s)) }

// sense is the factor that turns costs into costs to be minimised.
func sense(m *milp.Model) float64 {
	if m.Maximize {
		return -1
	}
	return 1
}

// solve returns lp_solve's status when it is done or soon after ctx has ended.
func (p *program) solve(ctx context.Context) golp.SolutionType {
	stopped := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		atomic.StoreInt32((*int32)(&p.watch.stop), 1)
		close(stopped)
	})
	defer func() { // runs also if a caller's function has panicked: it writes to memory that is about to be freed
		if !cancel() {
			<-stopped
		}
	}()
	got := p.lp.Solve()
	if p.panicked != nil {
		panic(p.panicked)
	}
	if p.line != "" {
		p.opts.Log(p.line)
	}
	return got
}

// guard keeps a panic of f from passing through the library: it stops the library, and the panic is raised again after
// it.
func (p *program) guard(f func()) {
	if p.panicked != nil {
		return
	}
	defer func() {
		if p.panicked = recover(); p.panicked != nil {
			atomic.StoreInt32((*int32)(&p.watch.stop), 1)
		}
	}()
	f()
}

//export hedgeImproved
func hedgeImproved(handle C.uintptr_t, x *C.double) {
	p := cgo.Handle(handle).Value().(*program)
	p.guard(func() { p.improved(unsafe.Slice((*float64)(x), p.m.Vars())) })
}

//export hedgeLogged
func hedgeLogged(handle C.uintptr_t, text *C.char) {
	p := cgo.Handle(handle).Value().(*program)
	lines := strings.Split(p.line+C.GoString(text), "\n")
	p.line = lines[len(lines)-1]
	for _, line := range lines[:len(lines)-1] {
		p.guard(func() { p.opts.Log(line) })
	}
}

// improved keeps a copy of x if it is the best point, reports it, and ends the search if it is good enough.
func (p *program) improved(x []float64) {
	if p.infinite(x) || milp.Check(p.m, x) != nil {
		return
	}
	objective, bound := p.m.Objective(x), p.bound()
	if p.best != nil && !milp.Better(p.m, objective, p.m.Objective(p.best)) {
		return
	}
	p.best = append([]float64{}, x...)
	if p.opts.Incumbent != nil {
		p.opts.Incumbent(milp.Point{X: p.best, Objective: objective, Bound: bound})
	}
	if r := (milp.Result{X: x, Objective: objective, Bound: bound}); r.Gap() <= p.opts.TargetGap() {
		p.watch.enough = 1
	}
}

// bound is what the relaxation proves.
func (p *program) bound() float64 {
	if p.watch.relaxed == 0 {
		return milp.NoBound(p.m)
	}
	return sense(p.m)*float64(p.watch.bound) + p.m.Offset
}

func (p *program) nodes() int64      { return int64(C.hedge_lpsolve_nodes(p.pointer)) }
func (p *program) iterations() int64 { return int64(C.hedge_lpsolve_iterations(p.pointer)) }

func version() string {
	var major, minor, release, build C.int
	C.hedge_lpsolve_version(&major, &minor, &release, &build)
	return fmt.Sprintf("%d.%d.%d.%d", major, minor, release, build)
}
