package clp

// #cgo pkg-config: clp
// #include <stdlib.h>
// #include "bridge.h"
import "C"

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"sync/atomic"
	"unsafe"

	binding "github.com/lanl/clp"

	"github.com/hedgesched/hedge/solver/milp"
)

// simplex is a model of the binding. It adds, on the same C++ object, what the binding lacks: interruption, presolve,
// transfer in one call, the step count, and freeing memory at the end of the solve instead of by the garbage collector.
type simplex struct {
	model   *binding.Simplex
	pointer unsafe.Pointer // the model's ClpSimplex
	stop    *int32         // in C memory: the library reads it during the solve
}

// newSimplex fails if the binding's version is not the one that this package was written for.
func newSimplex() (*simplex, error) {
	model := binding.NewSimplex()
	field := reflect.ValueOf(model).Elem().FieldByName("model")
	if field.Kind() != reflect.Pointer || field.IsNil() {
		return nil, fmt.Errorf("%w: github.com/lanl/clp keeps no pointer named model", milp.ErrUnavailable)
	}
	runtime.SetFinalizer(model, nil) // free does the same
	s := &simplex{model: model, pointer: field.UnsafePointer(), stop: (*int32)(C.calloc(1, 4))}
	if err := thrown(C.hedge_clp_watch(s.pointer, (*C.int)(s.stop))); err != nil {
		s.free()
		return nil, err
	}
	return s, nil
}

// free frees the library's memory. s must not be used afterwards.
func (s *simplex) free() {
	C.hedge_clp_free(s.pointer)
	C.free(unsafe.Pointer(s.stop))
}

// load copies m into the library. The binding's matrix would copy each entry three times and allocate twice per column,
// which takes about three times as long.
func (s *simplex) load(m *milp.Model) error {
	columns := m.ByColumn()
	begin := make([]int32, len(columns.Begin))
	for j, at := range columns.Begin {
		begin[j] = int32(at)
	}
	lower, upper := m.Bounds()
	rowLower, rowUpper := m.RowBounds()
	err := thrown(C.hedge_clp_load(s.pointer, C.int(m.Vars()), C.int(m.Rows()), ints(begin), ints(columns.Index),
		doubles(columns.Value),
		doubles(lower), doubles(upper), doubles(m.Costs()), doubles(rowLower), doubles(rowUpper)))
	s.model.SetOptimizationDirection(binding.Minimize)
	if m.Maximize {
		s.model.SetOptimizationDirection(binding.Maximize)
	}
	return err
}

// thrown is the library's exception as an error, nil for none.
func thrown(message *C.char) error {
	if message == nil {
		return nil
	}
	defer C.free(unsafe.Pointer(message))
	return fmt.Errorf("%w: %s", milp.ErrBackend, C.GoString(message))
}

func ints(s []int32) *C.int         { return (*C.int)(unsafe.Pointer(unsafe.SliceData(s))) }
func doubles(s []float64) *C.double { return (*C.double)(unsafe.Pointer(unsafe.SliceData(s))) }

// solve returns Clp's status when it is done or soon after ctx has ended.
func (s *simplex) solve(ctx context.Context, method Method) (status, error) {
	stopped := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		atomic.StoreInt32(s.stop, 1)
		close(stopped)
	})
	var got C.int
	err := thrown(C.hedge_clp_solve(s.pointer, C.int(method), &got))
	if !cancel() {
		<-stopped // it writes to memory that is about to be freed
	}
	return status(got), err
}

func (s *simplex) iterations() int64 { return int64(C.hedge_clp_iterations(s.pointer)) }

// point is a copy of the columns' values. duals is a copy of the rows' dual values.
func (s *simplex) point() []float64 { return s.model.PrimalColumnSolution() }
func (s *simplex) duals() []float64 { return s.model.DualRowSolution() }

func version() string { return C.GoString(C.hedge_clp_version()) }
