//go:build (linux || darwin) && (amd64 || arm64) && !nohighs

package highs

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/hedgesched/hedge/solver/milp"
)

// Constants of the C API.
const (
	statusError = -1

	byColumn = 1
	minimize = 1
	maximize = -1

	pointFeasible = 2 // of the information "primal_solution_status"
)

// solve is one call of Backend.Solve. Callbacks run on the thread that solves, and with several threads perhaps on
// others.
type solve struct {
	lib   *library
	model *milp.Model
	opts  milp.Options
	ctx   context.Context
	end   time.Time // when opts or ctx end the solve, whichever is first; zero for never

	highs uintptr // the instance of HiGHS
	id    uintptr // identifies the solve in callbacks

	mu       sync.Mutex // guards the fields below in callbacks
	line     []byte     // of the log, unfinished
	complain string     // the last error or warning in the log
	started  milp.StartUse
	foreign  bool // HiGHS solves another model than the caller's: its bounds must not be reported
	panicked any
}

// open makes an instance of HiGHS with the model and the options.
func (s *solve) open() error {
	if s.highs = s.lib.create(); s.highs == 0 {
		return fmt.Errorf("%w: HiGHS made no instance", milp.ErrBackend)
	}
	s.id = live.add(s)
	if err := s.setOptions(); err != nil {
		return err
	}
	if err := s.listen(); err != nil {
		return err
	}
	if s.pass() == statusError {
		return fmt.Errorf("%w: HiGHS refuses the model: %s", milp.ErrBackend, s.complain)
	}
	s.setStart()
	return nil
}

// close frees everything. HiGHS joins the threads that it has started.
func (s *solve) close() {
	if s.highs != 0 {
		s.lib.destroy(s.highs)
	}
	live.remove(s.id)
}

// setOptions sets the options that differ from HiGHS' defaults.
func (s *solve) setOptions() error {
	bad := ""
	set := func(option string, status int32) {
		if status == statusError && bad == "" {
			bad = option
		}
	}
	lib, h := s.lib, s.highs
	// The console comes first: after this, messages go to the callback alone.
	set("log_to_console", lib.setBool(h, "log_to_console", 0))
	threads := min(max(s.opts.Threads, 1), math.MaxInt32)
	set("threads", lib.setInt(h, "threads", int32(threads)))
	if threads == 1 {
		set("parallel", lib.setString(h, "parallel", "off"))
	}
	if s.opts.Seed != 0 {
		set("random_seed", lib.setInt(h, "random_seed", seed(s.opts.Seed)))
	}
	if s.opts.Nodes > 0 {
		nodes := int32(min(s.opts.Nodes, math.MaxInt32))
		set("mip_max_nodes", lib.setInt(h, "mip_max_nodes", nodes))
		set("mip_max_start_nodes", lib.setInt(h, "mip_max_start_nodes", min(nodes, 500)))
	}
	// HiGHS divides the gap by the objective, and milp by the bound. If one is g, the other is at most g/(1-g). So g =
	// G/(1+G) keeps the gap below G.
	gap := s.opts.TargetGap()
	set("mip_rel_gap", lib.setDouble(h, "mip_rel_gap", gap/(1+gap)))
	set("mip_abs_gap", lib.setDouble(h, "mip_abs_gap", 0))
	// This is half the tolerance of milp.Check, so that rounding in its sums does not reject a point.
	set("mip_feasibility_tolerance", lib.setDouble(h, "mip_feasibility_tolerance", milp.Tolerance/2))
	set("time_limit", s.setTimeLimit())
	if bad != "" {
		return fmt.Errorf("%w: HiGHS refuses option %s: %s", milp.ErrBackend, bad, s.complain)
	}
	return nil
}

// seed maps n to HiGHS' range of seeds; small positive ones do not change.
func seed(n int64) int32 {
	if n > 0 && n < math.MaxInt32 {
		return int32(n)
	}
	return int32(uint64(n) % math.MaxInt32)
}

// deadline is the end of a solve that began at that time, zero for never.
func deadline(ctx context.Context, opts milp.Options, began time.Time) time.Time {
	end, ok := ctx.Deadline()
	if !ok {
		end = time.Time{}
	}
	if opts.Time > 0 && (!ok || began.Add(opts.Time).Before(end)) {
		end = began.Add(opts.Time)
	}
	return end
}

// setTimeLimit sets the time left until the solve's end. HiGHS counts it from the run.
func (s *solve) setTimeLimit() int32 {
	limit := math.Inf(1)
	if !s.end.IsZero() {
		limit = max(0, time.Until(s.end).Seconds())
	}
	return s.lib.setDouble(s.highs, "time_limit", limit)
}

// The numbers that HiGHS treats as infinite, or refuses.
const (
	infiniteCost = 1e20
	largeValue   = 1e15
)

// fits returns an error if m has numbers that HiGHS does not accept.
func fits(m *milp.Model) error {
	if m.Vars() >= math.MaxInt32 || m.Rows() >= math.MaxInt32 || m.Entries() >= math.MaxInt32 {
		return fmt.Errorf("%w: %d variables, %d rows, %d coefficients, expected less than 2^31",
			milp.ErrUnsupported, m.Vars(), m.Rows(), m.Entries())
	}
	for j, cost := range m.Costs() {
		if math.Abs(cost) >= infiniteCost {
			return fmt.Errorf("%w: vars[%d] (%q): cost: found %v, expected less than %v", milp.ErrUnsupported, j, m.Var(j).Name,
				cost, infiniteCost)
		}
	}
	for i := range m.Rows() {
		r := m.Row(i)
		for k, value := range r.Value {
			if math.Abs(value) > largeValue {
				return fmt.Errorf("%w: rows[%d] (%q): value[%d]: found %v, expected at most %v", milp.ErrUnsupported, i, r.Name, k,
					value, largeValue)
			}
		}
	}
	return nil
}

// pass transfers the model, and returns HiGHS' status. HiGHS copies its arguments.
func (s *solve) pass() int32 {
	m := s.model
	a := m.ByColumn()
	start := make([]int32, len(a.Begin))
	for j, at := range a.Begin {
		start[j] = int32(at)
	}
	sense := int32(minimize)
	if m.Maximize {
		sense = maximize
	}
	lower, upper := m.WholeBounds()
	rowLower, rowUpper := m.RowBounds()
	cols, rows, entries := int32(m.Vars()), int32(m.Rows()), int32(len(a.Index))
	if m.Integers() == 0 {
		return s.lib.passLp(s.highs, cols, rows, entries, byColumn, sense, m.Offset, m.Costs(), lower, upper,
			rowLower, rowUpper, start, a.Index, a.Value)
	}
	kinds := make([]int32, m.Vars())
	for j := range kinds {
		if m.Var(j).Integer {
			kinds[j] = 1
		}
	}
	return s.lib.passMip(s.highs, cols, rows, entries, byColumn, sense, m.Offset, m.Costs(), lower, upper,
		rowLower, rowUpper, start, a.Index, a.Value, kinds)
}

// setStart passes the start, moved within the bounds, since HiGHS rejects a start with a value outside.
func (s *solve) setStart() {
	if len(s.opts.Start) == 0 {
		return
	}
	s.started = milp.StartRejected
	if s.model.Integers() == 0 {
		return // the simplex method begins from a basis; a point is of no use to it
	}
	lower, upper := s.model.Bounds()
	var index []int32
	var value []float64
	for j, v := range s.opts.Start {
		if v >= lower[j] && v <= upper[j] && !math.IsInf(v, 0) { // false for NaN
			index, value = append(index, int32(j)), append(value, v)
		}
	}
	if len(index) == 0 || s.lib.setSparse(s.highs, int32(len(index)), index, value) == statusError {
		return
	}
	s.started = milp.StartUnknown
}

// run runs HiGHS and returns the result.
func (s *solve) run() (*milp.Result, error) {
	ran := s.lib.run(s.highs)
	s.flush()
	s.mu.Lock()
	panicked, complaint := s.panicked, s.complain
	s.mu.Unlock()
	if panicked != nil {
		return nil, fmt.Errorf("%w: panic in a call-back: %v", milp.ErrBackend, panicked)
	}
	status := s.lib.modelStatus(s.highs)
	r := s.result(status)
	if ran == statusError || r.Stop == milp.StopNone {
		return nil, fmt.Errorf("%w: HiGHS: %s: %s", milp.ErrBackend, word(status), complaint)
	}
	return r, nil
}
