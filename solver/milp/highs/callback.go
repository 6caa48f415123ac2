//go:build (linux || darwin) && (amd64 || arm64) && !nohighs

package highs

import (
	"bytes"
	"fmt"
	"math"
	"runtime/debug"
	"strings"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
	"github.com/hedgesched/hedge/solver/milp"
)

// The kinds of callbacks in use.
const (
	callLog              = 0
	callSimplexInterrupt = 1
	callIpmInterrupt     = 2
	callImproving        = 4
	callMipInterrupt     = 6
)

// entry is the function that HiGHS calls. A process can create only a limited number of such functions and cannot free
// them. So all solves share one, which finds its solve in live.
var entry = sync.OnceValue(func() uintptr { return purego.NewCallback(dispatch) })

// live are the running solves of the process. HiGHS gets their numbers, never Go pointers.
var live = registry{solves: map[uintptr]*solve{}}

type registry struct {
	mu     sync.RWMutex
	last   uintptr
	solves map[uintptr]*solve
}

func (r *registry) add(s *solve) uintptr {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	r.solves[r.last] = s
	return r.last
}

func (r *registry) remove(id uintptr) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.solves, id)
}

func (r *registry) find(id uintptr) *solve {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.solves[id]
}

// listen makes HiGHS call back.
func (s *solve) listen() error {
	status := s.lib.setCallback(s.highs, entry(), s.id)
	for _, kind := range []int32{callLog, callSimplexInterrupt, callIpmInterrupt, callImproving, callMipInterrupt} {
		status = min(status, s.lib.start(s.highs, kind))
	}
	if status == statusError {
		return fmt.Errorf("%w: HiGHS refuses call-backs", milp.ErrBackend)
	}
	return nil
}

// dispatch is called by HiGHS. Its C memory is valid until it returns. out is read only through HiGHS' own accessor,
// since its layout differs between versions; in begins with the int32 user_interrupt in all of them. No panic may cross
// C frames.
func dispatch(kind int32, message *byte, out, in unsafe.Pointer, id uintptr) {
	s := live.find(id)
	if s == nil {
		return
	}
	defer func() {
		if r := recover(); r != nil {
			s.mu.Lock()
			s.panicked = fmt.Sprintf("%v\n%s", r, debug.Stack())
			s.mu.Unlock()
		}
	}()
	switch kind {
	case callLog:
		s.write(text(message))
	case callImproving:
		s.improve(out)
	default:
		if in != nil && s.isOver() {
			*(*int32)(in) = 1
		}
	}
}

// isOver reports whether HiGHS must stop.
func (s *solve) isOver() bool {
	if s.ctx.Err() != nil {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.panicked != nil
}

// text is a copy of a C string.
func text(first *byte) []byte {
	if first == nil {
		return nil
	}
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(first), n)) != 0 {
		n++
	}
	return bytes.Clone(unsafe.Slice(first, n))
}

// improve reports HiGHS' new point to the caller.
func (s *solve) improve(out unsafe.Pointer) {
	x := (*float64)(s.lib.dataOut(out, "mip_solution"))
	if x == nil || s.opts.Incumbent == nil {
		return
	}
	p := milp.Point{X: append([]float64(nil), unsafe.Slice(x, s.model.Vars())...), Bound: milp.NoBound(s.model)}
	p.Objective = s.model.Objective(p.X)
	bound := (*float64)(s.lib.dataOut(out, "mip_dual_bound"))
	s.mu.Lock()
	defer s.mu.Unlock()
	if bound != nil && !s.foreign && !math.IsNaN(*bound) && *bound != -p.Bound {
		p.Bound = *bound
	}
	if s.panicked == nil {
		s.opts.Incumbent(p)
	}
}

// write handles a piece of the log, which need not be a line.
func (s *solve) write(piece []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line = append(s.line, piece...)
	for {
		line, rest, ended := bytes.Cut(s.line, []byte("\n"))
		if !ended {
			return
		}
		s.line = rest
		s.read(string(line))
	}
}

// startLines are HiGHS' messages about a start, in their order: that it checks the start as it is, which it does only
// if it accepts it; that it solves a smaller model to complete the start, or cannot; and the point with which it
// begins. Bounds logged in between are the smaller model's.
var startLines = []struct {
	line    string
	use     milp.StartUse
	foreign bool
}{
	{"Assessing feasibility of MIP", milp.StartAccepted, false},
	{"Attempting to find feasible solution", milp.StartUnknown, true},
	{"so attempt to complete a feasible solution may be expensive", milp.StartUnknown, true},
	{"User-supplied values of discrete variables cannot yield feasible solution", milp.StartRejected, false},
	{"MIP start solution is feasible", milp.StartAccepted, false},
	{"MIP start solution is infeasible", milp.StartRejected, false},
}

// flush ends the log's last line if it has no newline.
func (s *solve) flush() {
	s.mu.Lock()
	open := len(s.line) > 0
	s.mu.Unlock()
	if open {
		s.write([]byte("\n"))
	}
}

// read looks for facts that are only in HiGHS' log, and passes the line on.
func (s *solve) read(line string) {
	if s.started != milp.StartNone {
		for _, known := range startLines {
			if strings.Contains(line, known.line) {
				s.started, s.foreign = known.use, known.foreign
			}
		}
	}
	if strings.HasPrefix(line, "ERROR:") || strings.HasPrefix(line, "WARNING:") {
		s.complain = line
	}
	if s.opts.Log != nil && s.panicked == nil {
		s.opts.Log(line)
	}
}
