//go:build (linux || darwin) && (amd64 || arm64) && !nohighs

package highs

import (
	"math"

	"github.com/hedgesched/hedge/solver/milp"
)

// outcome is HiGHS' word for a model status, and the corresponding reason to stop; errors have none.
type outcome struct {
	word string
	stop milp.Stop
}

// outcomes are HiGHS' model statuses by number.
var outcomes = [...]outcome{
	0:  {"Not Set", milp.StopNone},
	1:  {"Load error", milp.StopNone},
	2:  {"Model error", milp.StopNone},
	3:  {"Presolve error", milp.StopNone},
	4:  {"Solve error", milp.StopNone},
	5:  {"Postsolve error", milp.StopNone},
	6:  {"Empty", milp.StopNone}, // of models without variables, which milp.Solve answers itself
	7:  {"Optimal", milp.StopOptimal},
	8:  {"Infeasible", milp.StopInfeasible},
	9:  {"Primal infeasible or unbounded", milp.StopInfeasibleOrUnbounded},
	10: {"Unbounded", milp.StopUnbounded},
	11: {"Bound on objective reached", milp.StopOther},
	12: {"Target for objective reached", milp.StopOther},
	13: {"Time limit reached", milp.StopTime},
	14: {"Iteration limit reached", milp.StopOther},
	15: {"Unknown", milp.StopOther},
	16: {"Solution limit reached", milp.StopNodes}, // the limit of nodes is the only such limit in use
	17: {"Interrupted by user", milp.StopCanceled}, // or out of time; see result
	18: {"Memory limit reached", milp.StopOther},
	19: {"Interrupted by HiGHS", milp.StopOther},
}

func outcomeOf(status int32) outcome {
	if status < 0 || int(status) >= len(outcomes) {
		return outcome{"status unknown to this package", milp.StopOther}
	}
	return outcomes[status]
}

func word(status int32) string { return outcomeOf(status).word }

// result collects what HiGHS knows after a run.
func (s *solve) result(status int32) *milp.Result {
	o := outcomeOf(status)
	r := &milp.Result{Stop: o.stop, Raw: o.word, Bound: milp.NoBound(s.model), Nodes: s.int64("mip_node_count"),
		Iterations: s.iterations()}
	if o.stop == milp.StopCanceled {
		r.Stop = milp.StopOf(s.ctx.Err())
	}
	s.mu.Lock()
	r.Start = s.started
	s.mu.Unlock()
	if r.Stop == milp.StopNone || r.Stop == milp.StopInfeasible {
		return r
	}
	r.X = s.point()
	if r.Stop != milp.StopOptimal && r.X != nil && milp.Check(s.model, r.X) != nil {
		r.X = nil // after a limit, that is the simplex method's current point
	}
	r.Bound = s.bound(r.Stop)
	return r
}

// point is HiGHS' point if it is feasible according to HiGHS, or nil.
func (s *solve) point() []float64 {
	if s.int("primal_solution_status") != pointFeasible {
		return nil
	}
	x := make([]float64, s.model.Vars())
	s.lib.solution(s.highs, x, nil, nil, nil)
	return x
}

// bound is what HiGHS has proven. For linear programs, that is nothing before the optimum.
func (s *solve) bound(stop milp.Stop) float64 {
	none := milp.NoBound(s.model)
	item := "mip_dual_bound"
	if s.model.Integers() == 0 {
		if stop != milp.StopOptimal {
			return none
		}
		item = "objective_function_value"
	}
	bound := s.double(item, none)
	if math.IsNaN(bound) || bound == -none {
		return none
	}
	return bound
}

func (s *solve) iterations() int64 {
	simplex, interior := s.int("simplex_iteration_count"), s.int("ipm_iteration_count")
	if simplex < 0 && interior < 0 {
		return -1
	}
	return int64(max(simplex, 0)) + int64(max(interior, 0))
}

// int is one of HiGHS' information items, -1 if it has no value.
func (s *solve) int(item string) int32 {
	value := int32(-1)
	if s.lib.infoInt(s.highs, item, &value) != 0 {
		return -1
	}
	return value
}

func (s *solve) int64(item string) int64 {
	value := int64(-1)
	if s.lib.infoInt64(s.highs, item, &value) != 0 {
		return -1
	}
	return value
}

func (s *solve) double(item string, missing float64) float64 {
	value := missing
	if s.lib.infoDouble(s.highs, item, &value) != 0 {
		return missing
	}
	return value
}
