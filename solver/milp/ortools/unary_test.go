package ortools_test

import (
	"context"
	"math"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/ortools"
	"github.com/hedgesched/hedge/solver/milp/ortools/internal/pb/mathoptpb"
	"github.com/hedgesched/hedge/solver/milp/ortools/internal/pb/optimizationpb"
	"github.com/hedgesched/hedge/solver/milp/ortools/internal/pb/solverpb"
)

// scripted is a server of OR-Tools' own API that solves nothing, and has no other service.
type scripted struct {
	optimizationpb.UnimplementedOptimizationServer
	answer func(context.Context, *optimizationpb.SolveMathOptModelRequest) (*optimizationpb.SolveMathOptModelResponse,
		error)
}

func (s *scripted) SolveMathOptModel(ctx context.Context,
	q *optimizationpb.SolveMathOptModelRequest) (*optimizationpb.SolveMathOptModelResponse, error) {
	return s.answer(ctx, q)
}

// listen serves what register registers, and returns the address.
func listen(t testing.TB, register func(*grpc.Server)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := grpc.NewServer()
	register(server)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(l) // it ends with Stop
	}()
	t.Cleanup(func() {
		server.Stop()
		<-done
	})
	return l.Addr().String()
}

// answering is a client of a server with OR-Tools' own API alone.
func answering(t testing.TB, answer func(context.Context,
	*optimizationpb.SolveMathOptModelRequest) (*optimizationpb.SolveMathOptModelResponse, error)) *ortools.Backend {
	t.Helper()
	return backend(t, ortools.Config{Address: listen(t, func(s *grpc.Server) {
		optimizationpb.RegisterOptimizationServer(s, &scripted{answer: answer})
	})})
}

// response has a point of the knapsack, and a bound.
func response(reason mathoptpb.TerminationReasonProto, limit mathoptpb.LimitProto, bound float64, ids []int64,
	values []float64) *optimizationpb.SolveMathOptModelResponse {
	return &optimizationpb.SolveMathOptModelResponse{
		Messages: []string{"a line\n"},
		Result: &mathoptpb.SolveResultProto{
			Termination: &mathoptpb.TerminationProto{Reason: reason, Limit: limit, Detail: "in words",
				ObjectiveBounds: &mathoptpb.ObjectiveBoundsProto{DualBound: bound}},
			Solutions: []*mathoptpb.SolutionProto{{PrimalSolution: &mathoptpb.PrimalSolutionProto{
				VariableValues:    &mathoptpb.SparseDoubleVectorProto{Ids: ids, Values: values},
				FeasibilityStatus: mathoptpb.SolutionStatusProto_SOLUTION_STATUS_FEASIBLE,
			}}},
			SolveStats: &mathoptpb.SolveStatsProto{NodeCount: 3, SimplexIterations: 4, BarrierIterations: 5,
				SolveTime: durationpb.New(time.Nanosecond)},
		}}
}

func TestServerWithoutTheStreamingCall(t *testing.T) {
	var asked *optimizationpb.SolveMathOptModelRequest
	b := answering(t, func(_ context.Context, q *optimizationpb.SolveMathOptModelRequest) (
		*optimizationpb.SolveMathOptModelResponse, error) {
		asked = q
		return response(mathoptpb.TerminationReasonProto_TERMINATION_REASON_FEASIBLE, mathoptpb.LimitProto_LIMIT_NODE, 9,
			[]int64{0, 1}, []float64{1, 1}), nil
	})
	require.NoError(t, b.Ping(t.Context()), "a server without the health service counts as ready")
	var lines []string
	for range 2 {
		res, err := milp.Solve(t.Context(), b, knapsack(),
			milp.Options{Gap: 0.25, Nodes: 7, Threads: 2, Seed: -5, Time: time.Hour,
				Start: []float64{3, math.NaN(), -1}, Log: func(line string) { lines = append(lines, line) }})
		require.NoError(t, err)
		assert.Equal(t, milp.StopNodes, res.Stop)
		assert.Equal(t, []float64{1, 1, 0}, res.X)
		assert.Equal(t, 8.0, res.Objective)
		assert.Equal(t, 9.0, res.Bound)
		assert.Equal(t, "FEASIBLE, LIMIT_NODE: in words", res.Raw)
		assert.Equal(t, int64(3), res.Nodes)
		assert.Equal(t, int64(9), res.Iterations)
		assert.Equal(t, milp.StartUnknown, res.Start)
		assert.Positive(t, res.SetUp)
	}
	assert.Equal(t, []string{"a line", "a line"}, lines)
	p := asked.GetParameters()
	assert.Equal(t, mathoptpb.SolverTypeProto_SOLVER_TYPE_GSCIP, asked.GetSolverType())
	assert.InDelta(t, 0.2, p.GetRelativeGapTolerance(), 1e-12)
	assert.Equal(t, int64(7), p.GetNodeLimit())
	assert.Equal(t, int32(2), p.GetThreads())
	assert.Positive(t, p.GetRandomSeed())
	assert.Less(t, p.GetTimeLimit().AsDuration(), time.Hour)
	assert.Greater(t, p.GetTimeLimit().AsDuration(), 59*time.Minute)
	hint := asked.GetModelParameters().GetSolutionHints()[0].GetVariableValues()
	assert.Equal(t, []int64{0, 2}, hint.GetIds())
	assert.Equal(t, []float64{1, 0}, hint.GetValues(), "moved to within the bounds")
	m := asked.GetModel()
	assert.Equal(t, []int64{0, 1, 2}, m.GetVariables().GetIds())
	assert.Equal(t, []bool{true, true, true}, m.GetVariables().GetIntegers())
	assert.Equal(t, []float64{2, 3, 4}, m.GetLinearConstraintMatrix().GetCoefficients())
	assert.True(t, m.GetObjective().GetMaximize())
	assert.Equal(t, 1.0, m.GetObjective().GetOffset())
}

func TestReasonsToStop(t *testing.T) {
	const (
		optimal  = mathoptpb.TerminationReasonProto_TERMINATION_REASON_OPTIMAL
		feasible = mathoptpb.TerminationReasonProto_TERMINATION_REASON_FEASIBLE
	)
	for _, c := range []struct {
		reason mathoptpb.TerminationReasonProto
		limit  mathoptpb.LimitProto
		bound  float64
		want   milp.Stop
	}{
		{optimal, 0, 8, milp.StopOptimal},
		{optimal, 0, 12, milp.StopOther}, // not within the gap
		{feasible, mathoptpb.LimitProto_LIMIT_TIME, 8, milp.StopTime},
		{feasible, mathoptpb.LimitProto_LIMIT_UNDETERMINED, 8, milp.StopTime},
		{feasible, mathoptpb.LimitProto_LIMIT_NODE, 8, milp.StopNodes},
		{feasible, mathoptpb.LimitProto_LIMIT_MEMORY, 8, milp.StopOther},
		{feasible, mathoptpb.LimitProto_LIMIT_INTERRUPTED, 8, milp.StopOther},
		{mathoptpb.TerminationReasonProto_TERMINATION_REASON_NO_SOLUTION_FOUND, mathoptpb.LimitProto_LIMIT_TIME, 8,
			milp.StopTime},
		{mathoptpb.TerminationReasonProto_TERMINATION_REASON_INFEASIBLE, 0, 8, milp.StopInfeasible},
		{mathoptpb.TerminationReasonProto_TERMINATION_REASON_UNBOUNDED, 0, 8, milp.StopUnbounded},
		{mathoptpb.TerminationReasonProto_TERMINATION_REASON_INFEASIBLE_OR_UNBOUNDED, 0, 8, milp.StopInfeasibleOrUnbounded},
		{mathoptpb.TerminationReasonProto_TERMINATION_REASON_NUMERICAL_ERROR, 0, 8, milp.StopOther},
		{mathoptpb.TerminationReasonProto_TERMINATION_REASON_IMPRECISE, 0, 8, milp.StopOther},
		{99, 99, 8, milp.StopOther},
	} {
		b := answering(t,
			func(context.Context, *optimizationpb.SolveMathOptModelRequest) (*optimizationpb.SolveMathOptModelResponse, error) {
				return response(c.reason, c.limit, c.bound, []int64{0, 1}, []float64{1, 1}), nil
			})
		res, err := milp.Solve(t.Context(), b, knapsack(), milp.Options{Time: time.Hour})
		require.NoError(t, err, c.reason)
		assert.Equal(t, c.want, res.Stop, "%v %v", c.reason, c.limit)
	}
}

func TestServersThatAnswerNonsense(t *testing.T) {
	optimal := mathoptpb.TerminationReasonProto_TERMINATION_REASON_OPTIMAL
	for name, r := range map[string]*optimizationpb.SolveMathOptModelResponse{
		"nothing":          {},
		"no such variable": response(optimal, 0, 8, []int64{3}, []float64{1}),
		"negative":         response(optimal, 0, 8, []int64{-1}, []float64{1}),
		"lengths":          response(optimal, 0, 8, []int64{0, 1}, []float64{1}),
		"infeasible point": response(optimal, 0, 8, []int64{0, 1, 2}, []float64{1, 1, 1}),
		"wrong bound":      response(optimal, 0, 2, []int64{0, 1}, []float64{1, 1}),
	} {
		b := answering(t,
			func(context.Context, *optimizationpb.SolveMathOptModelRequest) (*optimizationpb.SolveMathOptModelResponse, error) {
				return r, nil
			})
		res, err := milp.Solve(t.Context(), b, knapsack(), milp.Options{})
		if name == "nothing" {
			require.NoError(t, err)
			assert.Equal(t, milp.StopOther, res.Stop)
			assert.Nil(t, res.X)
			continue
		}
		require.ErrorIs(t, err, milp.ErrBackend, name)
	}
}

func TestStatusCodes(t *testing.T) {
	for code, want := range map[codes.Code]error{
		codes.Unavailable: milp.ErrUnavailable, codes.ResourceExhausted: milp.ErrUnavailable,
		codes.Unauthenticated:  milp.ErrUnavailable,
		codes.PermissionDenied: milp.ErrUnavailable, codes.Unimplemented: milp.ErrUnavailable,
		codes.InvalidArgument: milp.ErrUnsupported,
		codes.Internal:        milp.ErrBackend, codes.Unknown: milp.ErrBackend,
	} {
		b := answering(t,
			func(context.Context, *optimizationpb.SolveMathOptModelRequest) (*optimizationpb.SolveMathOptModelResponse, error) {
				return nil, status.Error(code, "in words")
			})
		_, err := milp.Solve(t.Context(), b, knapsack(), milp.Options{})
		require.ErrorIs(t, err, want, code)
		assert.ErrorContains(t, err, "in words")
		assert.Equal(t, code, status.Code(errorOf(err)), "the status is kept")
	}
}

// errorOf is the error with a status in err's tree.
func errorOf(err error) error {
	if s, ok := status.FromError(err); ok {
		return s.Err()
	}
	return nil
}

func TestUnaryCallIsCutShort(t *testing.T) {
	entered, left := make(chan struct{}), make(chan struct{})
	b := answering(t, func(ctx context.Context, _ *optimizationpb.SolveMathOptModelRequest) (
		*optimizationpb.SolveMathOptModelResponse, error) {
		close(entered)
		<-ctx.Done()
		close(left)
		return nil, ctx.Err()
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-entered
		cancel()
	}()
	res, err := milp.Solve(ctx, b, knapsack(), milp.Options{})
	require.NoError(t, err)
	assert.Equal(t, milp.StopCanceled, res.Stop)
	await(t, left, "the server does not hear of it")
}

// streaming is a server of hedge's own call that sends events.
type streaming struct {
	solverpb.UnimplementedSolverServer
	events []*solverpb.SolveEvent
	end    error
	before func(event int) // if not nil, is called before it sends an event
}

func (s *streaming) Solve(_ *solverpb.SolveRequest, out grpc.ServerStreamingServer[solverpb.SolveEvent]) error {
	for i, e := range s.events {
		if s.before != nil {
			s.before(i)
		}
		if err := out.Send(e); err != nil {
			return err
		}
	}
	return s.end
}

func progressOf(bound float64, ids []int64, values ...float64) *solverpb.SolveEvent {
	return &solverpb.SolveEvent{Event: &solverpb.SolveEvent_Progress{Progress: &solverpb.Progress{
		DualBound: &bound, Point: &mathoptpb.SparseDoubleVectorProto{Ids: ids, Values: values}}}}
}

func TestPointsOnTheWay(t *testing.T) {
	finished := &solverpb.SolveEvent{Event: &solverpb.SolveEvent_Finished{Finished: &solverpb.Finished{Interrupted: true,
		Response: response(mathoptpb.TerminationReasonProto_TERMINATION_REASON_FEASIBLE, mathoptpb.LimitProto_LIMIT_TIME, 9,
			[]int64{1}, []float64{1})}}}
	address := listen(t, func(s *grpc.Server) {
		solverpb.RegisterSolverServer(s, &streaming{events: []*solverpb.SolveEvent{
			{}, // of a later version
			progressOf(20, []int64{0}, 1),
			progressOf(1e20, []int64{2}, 1),
			progressOf(12, []int64{0}, 1), // no better
			progressOf(12, []int64{0, 1, 2}, 1, 1, 1), // breaks the model
			progressOf(12, []int64{7}, 1),             // no such variable
			progressOf(12, []int64{0, 1}, 1, 1),
			finished,
		}})
	})
	var points []milp.Point
	res, err := backend(t, ortools.Config{Address: address}).Solve(t.Context(), knapsack(),
		milp.Options{Incumbent: func(p milp.Point) {
			points = append(points, p)
		}})
	require.NoError(t, err)
	assert.Equal(t, []milp.Point{
		{X: []float64{1, 0, 0}, Objective: 4, Bound: 20},
		{X: []float64{0, 0, 1}, Objective: 6, Bound: 20},
		{X: []float64{1, 1, 0}, Objective: 8, Bound: 12},
	}, points)
	assert.Equal(t, milp.StopOther, res.Stop, "interrupted by the service")
	assert.Contains(t, res.Raw, "about to stop")
}

// TestSetUpEndsWhereTheSolverBegins has a server that takes at least a time before it begins, and at least a time from
// when the client has heard of it.
func TestSetUpEndsWhereTheSolverBegins(t *testing.T) {
	const least = 50 * time.Millisecond
	heard := make(chan struct{})
	address := listen(t, func(s *grpc.Server) {
		solverpb.RegisterSolverServer(s, &streaming{
			events: []*solverpb.SolveEvent{
				{Event: &solverpb.SolveEvent_Started{Started: &solverpb.Started{}}},
				{Event: &solverpb.SolveEvent_Log{Log: &solverpb.Log{Lines: []string{"heard"}}}},
				{Event: &solverpb.SolveEvent_Finished{Finished: &solverpb.Finished{
					Response: response(mathoptpb.TerminationReasonProto_TERMINATION_REASON_OPTIMAL, 0, 8, []int64{0, 1},
						[]float64{1, 1})}}},
			},
			before: func(event int) {
				if event == 2 {
					<-heard
				}
				if event != 1 {
					time.Sleep(least)
				}
			},
		})
	})
	res, err := milp.Solve(t.Context(), backend(t, ortools.Config{Address: address}), knapsack(),
		milp.Options{Log: func(string) {
			close(heard)
		}})
	require.NoError(t, err)
	assert.Equal(t, milp.StopOptimal, res.Stop)
	assert.GreaterOrEqual(t, res.SetUp, least, "the server had not begun")
	assert.GreaterOrEqual(t, res.Wall-res.SetUp, least, "the solver was at it")
}

func TestStreamThatEndsWithoutAResult(t *testing.T) {
	for _, end := range []error{nil, status.Error(codes.Internal, "in words")} {
		address := listen(t, func(s *grpc.Server) {
			solverpb.RegisterSolverServer(s, &streaming{events: []*solverpb.SolveEvent{progressOf(20, []int64{0}, 1)}, end: end})
		})
		res, err := milp.Solve(t.Context(), backend(t, ortools.Config{Address: address}), knapsack(), milp.Options{})
		require.ErrorIs(t, err, milp.ErrBackend)
		require.NotNil(t, res)
		assert.Equal(t, []float64{1, 0, 0}, res.X)
	}
}

func TestConfig(t *testing.T) {
	for want, c := range map[string]ortools.Config{
		`found "cplex"`:  {Solver: "cplex"},
		"found -1 bytes": {MaxMessage: -1},
		"address":        {Address: "a\x00b"},
	} {
		_, err := ortools.New(c)
		require.ErrorIs(t, err, milp.ErrInvalid)
		assert.ErrorContains(t, err, want)
	}
	b := backend(t, ortools.Config{})
	assert.Equal(t, "ortools-gscip", b.Name())
	require.NoError(t, b.Close())
	_, err := b.Solve(t.Context(), knapsack(), milp.Options{})
	require.ErrorIs(t, err, milp.ErrUnavailable)
	require.ErrorIs(t, b.Ping(t.Context()), milp.ErrUnavailable)
}

func TestBoundsOfCPSAT(t *testing.T) {
	var asked *optimizationpb.SolveMathOptModelRequest
	address := listen(t, func(s *grpc.Server) {
		optimizationpb.RegisterOptimizationServer(s,
			&scripted{answer: func(_ context.Context, q *optimizationpb.SolveMathOptModelRequest) (
				*optimizationpb.SolveMathOptModelResponse, error) {
				asked = q
				return &optimizationpb.SolveMathOptModelResponse{}, nil
			}})
	})
	b := backend(t, ortools.Config{Address: address, Solver: ortools.CPSAT})
	m := &milp.Model{}
	m.AddVar(milp.Var{Lower: -1e9, Upper: 1e9, Integer: true})
	m.AddVar(milp.Var{Lower: 0, Upper: 3, Integer: true})
	_, err := b.Solve(t.Context(), m, milp.Options{})
	require.NoError(t, err)
	assert.Equal(t, []float64{-1e7, 0}, asked.GetModel().GetVariables().GetLowerBounds())
	assert.Equal(t, []float64{1e7, 3}, asked.GetModel().GetVariables().GetUpperBounds())
	assert.Equal(t, 1e9, m.Var(0).Upper, "the model is not changed")
	for _, v := range []milp.Var{{Upper: 1e8}, {Lower: 1e8, Upper: 1e9, Integer: true}} {
		m := &milp.Model{}
		m.AddVar(v)
		_, err := b.Solve(t.Context(), m, milp.Options{})
		require.ErrorIs(t, err, milp.ErrUnsupported)
		assert.ErrorContains(t, err, "vars[0]")
	}
}
