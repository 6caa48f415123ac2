package ortools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/ortools/internal/pb/mathoptpb"
	"github.com/hedgesched/hedge/solver/milp/ortools/internal/pb/optimizationpb"
	"github.com/hedgesched/hedge/solver/milp/ortools/internal/pb/solverpb"
)

// patience is how long after milp.Options.Time to wait for an answer, if ctx allows it.
const patience = time.Second

// accuracy is the accuracy requested of PDLP, so that its points are within milp.Tolerance.
const accuracy = 1e-9

// Solve implements milp.Backend. When ctx ends it returns at once with the best point that the service has reported.
func (b *Backend) Solve(ctx context.Context, m *milp.Model, opts milp.Options) (*milp.Result, error) {
	c := &call{Backend: b, m: m, opts: opts, began: time.Now(), bound: milp.NoBound(m), ctx: ctx}
	if ctx.Err() != nil {
		return c.cut(), nil
	}
	limit := timeLimit(ctx, opts.Time)
	if opts.Time > 0 {
		var cancel context.CancelFunc
		c.ctx, cancel = context.WithTimeout(ctx, opts.Time+patience)
		defer cancel()
	}
	q, cut, err := b.request(m, opts, limit)
	if err != nil {
		return nil, err
	}
	c.unproven = cut || b.kind.whole && m.Integers() < m.Vars()
	c.timed = limit > 0
	d, err := b.line.take()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", milp.ErrUnavailable, err)
	}
	defer b.line.give(d)
	if !d.unary.Load() {
		res, err := c.stream(d, q)
		if !lacks(err) {
			return c.settle(res, err)
		}
		d.unary.Store(true)
	}
	return c.settle(c.unary(d, q))
}

// timeLimit is the service's time limit that lets its answer arrive in time; 0 is no limit.
func timeLimit(ctx context.Context, limit time.Duration) time.Duration {
	left := limit
	if end, ok := ctx.Deadline(); ok {
		if until := max(time.Until(end), 1); left == 0 || until < left {
			left = until
		}
	}
	if left == 0 {
		return 0
	}
	return max(left-min(max(left/10, 10*time.Millisecond), 100*time.Millisecond), left/2, 1)
}

// call is one solve.
type call struct {
	*Backend
	ctx  context.Context
	m    *milp.Model
	opts milp.Options
	// timed: the service has a time limit. unproven: the solver's proofs are not valid for m.
	timed, unproven bool
	began           time.Time
	setUp           time.Duration
	heard           bool // the service has begun

	best  []float64 // the best reported point
	value float64
	bound float64
}

// stream lets the service solve q and report its progress.
func (c *call) stream(d *dialled, q *optimizationpb.SolveMathOptModelRequest) (*milp.Result, error) {
	ctx, cancel := context.WithCancel(c.ctx)
	defer cancel() // ends the stream on all paths
	s, err := solverpb.NewSolverClient(d.conn).Solve(ctx, &solverpb.SolveRequest{
		Request: q, Incumbents: c.opts.Incumbent != nil, Log: c.opts.Log != nil, Accuracy: accuracy})
	if err != nil {
		return nil, err
	}
	for {
		e, err := s.Recv()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%w: the service at %s ended its stream without a result", milp.ErrBackend, c.address)
		}
		if err != nil {
			return nil, err
		}
		switch e := e.GetEvent().(type) {
		case *solverpb.SolveEvent_Started:
			c.heard, c.setUp = true, time.Since(c.began)
		case *solverpb.SolveEvent_Log:
			c.log(e.Log.GetLines())
		case *solverpb.SolveEvent_Progress:
			c.progress(e.Progress)
		case *solverpb.SolveEvent_Finished:
			return c.result(e.Finished.GetResponse().GetResult(), e.Finished.GetInterrupted())
		}
	}
}

// unary has the service solve q by OR-Tools' own call.
func (c *call) unary(d *dialled, q *optimizationpb.SolveMathOptModelRequest) (*milp.Result, error) {
	r, err := optimizationpb.NewOptimizationClient(d.conn).SolveMathOptModel(c.ctx, q)
	if err != nil {
		return nil, err
	}
	c.setUp = max(time.Since(c.began)-r.GetResult().GetSolveStats().GetSolveTime().AsDuration(), 0)
	c.log(r.GetMessages())
	return c.result(r.GetResult(), false)
}

func (c *call) log(lines []string) {
	for _, line := range lines {
		if c.opts.Log != nil && c.ctx.Err() == nil {
			c.opts.Log(strings.TrimRight(line, "\r\n"))
		}
	}
}

func (c *call) progress(p *solverpb.Progress) {
	if b := p.GetDualBound(); p.DualBound != nil && c.proves(b) && milp.Better(c.m, c.bound, b) {
		c.bound = b
	}
	if p.Point == nil || c.ctx.Err() != nil {
		return
	}
	x, err := dense(p.Point, c.m.Vars())
	if err != nil || milp.Check(c.m, x) != nil {
		return // the solver's tolerances are wider than milp's; a better point may follow
	}
	value := c.m.Objective(x)
	if c.best != nil && !milp.Better(c.m, value, c.value) {
		return
	}
	c.best, c.value = x, value
	if c.opts.Incumbent != nil {
		c.opts.Incumbent(milp.Point{X: x, Objective: value, Bound: c.bound})
	}
}

// settle combines the answer, or its error, with the best reported point.
func (c *call) settle(res *milp.Result, err error) (*milp.Result, error) {
	if err == nil {
		return res, nil
	}
	if c.ctx.Err() != nil || status.Code(err) == codes.DeadlineExceeded {
		return c.cut(), nil
	}
	if _, ok := status.FromError(err); !ok {
		return nil, err
	}
	return nil, c.failure(err, c.heard)
}

// cut is the result of a call whose time was up, or that was cancelled, before the service's answer.
func (c *call) cut() *milp.Result {
	return &milp.Result{Stop: milp.StopOf(c.ctx.Err()), X: c.best, Objective: c.value, Bound: c.bound,
		Raw:   "cut short by the client",
		Nodes: -1, Iterations: -1, Start: c.startUse(), SetUp: c.setUp}
}

func (c *call) startUse() milp.StartUse {
	if len(c.opts.Start) == 0 || !c.kind.caps.Start {
		return milp.StartNone
	}
	return milp.StartUnknown
}

// result converts r to a result of milp.
func (c *call) result(r *mathoptpb.SolveResultProto, interrupted bool) (*milp.Result, error) {
	t, stats := r.GetTermination(), r.GetSolveStats()
	res := &milp.Result{Stop: c.stop(t, interrupted), Bound: milp.NoBound(c.m), Raw: words(t, interrupted), Nodes: -1,
		Iterations: -1, Start: c.startUse(), SetUp: c.setUp}
	if c.kind.nodes {
		res.Nodes = stats.GetNodeCount()
	}
	if c.kind.steps {
		res.Iterations = stats.GetSimplexIterations() + stats.GetBarrierIterations() + stats.GetFirstOrderIterations()
	}
	if res.Stop == milp.StopInfeasible {
		return res, nil
	}
	for _, s := range r.GetSolutions() {
		if p := s.GetPrimalSolution(); p.GetFeasibilityStatus() == mathoptpb.SolutionStatusProto_SOLUTION_STATUS_FEASIBLE {
			x, err := dense(p.GetVariableValues(), c.m.Vars())
			if err != nil {
				return nil, fmt.Errorf("%w: %w", milp.ErrBackend, err)
			}
			res.X, res.Objective = x, c.m.Objective(x)
			break // the best comes first
		}
	}
	if b := t.GetObjectiveBounds().GetDualBound(); t.GetObjectiveBounds() != nil && c.proves(b) {
		res.Bound = b
	}
	if res.X == nil {
		res.X, res.Objective = c.best, c.value
	}
	if res.Stop == milp.StopOptimal && res.X != nil && res.Gap() > c.opts.TargetGap()+milp.Tolerance &&
		math.Abs(res.Bound-res.Objective) > milp.Tolerance {
		res.Stop = milp.StopOther // CP-SAT's gap is absolute if the objective is below 1
		res.Raw += " (by a gap of its own)"
	}
	return res, nil
}

// stop says why the solver stopped. CP-SAT and GLOP do not say which limit it was. Then it is the only one that they
// had.
func (c *call) stop(t *mathoptpb.TerminationProto, interrupted bool) milp.Stop {
	reason := t.GetReason()
	if c.unproven && reason != mathoptpb.TerminationReasonProto_TERMINATION_REASON_FEASIBLE &&
		reason != mathoptpb.TerminationReasonProto_TERMINATION_REASON_NO_SOLUTION_FOUND {
		return milp.StopOther
	}
	switch reason {
	case mathoptpb.TerminationReasonProto_TERMINATION_REASON_OPTIMAL:
		return milp.StopOptimal
	case mathoptpb.TerminationReasonProto_TERMINATION_REASON_INFEASIBLE:
		return milp.StopInfeasible
	case mathoptpb.TerminationReasonProto_TERMINATION_REASON_UNBOUNDED:
		return milp.StopUnbounded
	case mathoptpb.TerminationReasonProto_TERMINATION_REASON_INFEASIBLE_OR_UNBOUNDED:
		return milp.StopInfeasibleOrUnbounded
	case mathoptpb.TerminationReasonProto_TERMINATION_REASON_FEASIBLE,
		mathoptpb.TerminationReasonProto_TERMINATION_REASON_NO_SOLUTION_FOUND:
		switch l := t.GetLimit(); {
		case interrupted:
			return milp.StopOther
		case l == mathoptpb.LimitProto_LIMIT_TIME, l == mathoptpb.LimitProto_LIMIT_UNDETERMINED && c.timed:
			return milp.StopTime
		case l == mathoptpb.LimitProto_LIMIT_NODE:
			return milp.StopNodes
		}
	}
	return milp.StopOther
}

// words is the solver's own text about its end.
func words(t *mathoptpb.TerminationProto, interrupted bool) string {
	s := strings.TrimPrefix(t.GetReason().String(), "TERMINATION_REASON_")
	if t.GetLimit() != mathoptpb.LimitProto_LIMIT_UNSPECIFIED {
		s += ", " + t.GetLimit().String()
	}
	if t.GetDetail() != "" {
		s += ": " + t.GetDetail()
	}
	if interrupted {
		s += " (the service is about to stop)"
	}
	return s
}

// proves reports whether a dual bound means anything. SCIP's infinity is 1e20.
func (c *call) proves(bound float64) bool { return !c.unproven && math.Abs(bound) < 1e20 }

// dense converts v to a point of n variables.
func dense(v *mathoptpb.SparseDoubleVectorProto, n int) ([]float64, error) {
	x := make([]float64, n)
	if len(v.GetIds()) != len(v.GetValues()) {
		return nil, fmt.Errorf("the service's point has %d variables and %d values", len(v.GetIds()), len(v.GetValues()))
	}
	for k, j := range v.GetIds() {
		if j < 0 || j >= int64(n) {
			return nil, fmt.Errorf("the service's point has variable %d, expected one of %d", j, n)
		}
		x[j] = v.Values[k]
	}
	return x, nil
}
