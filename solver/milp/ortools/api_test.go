package ortools_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hedgesched/hedge/solver/milp/ortools/internal/pb/mathoptpb"
	"github.com/hedgesched/hedge/solver/milp/ortools/internal/pb/optimizationpb"
)

// other is a connection of some other client's.
func other(t *testing.T) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(service(t), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	return conn
}

func knapsackRequest(solver mathoptpb.SolverTypeProto) *optimizationpb.SolveMathOptModelRequest {
	return &optimizationpb.SolveMathOptModelRequest{
		SolverType: solver,
		Parameters: &mathoptpb.SolveParametersProto{EnableOutput: true},
		Model: &mathoptpb.ModelProto{
			Variables: &mathoptpb.VariablesProto{Ids: []int64{3, 5}, LowerBounds: []float64{0, 0},
				UpperBounds: []float64{9, 9}, Integers: []bool{true, true}},
			Objective: &mathoptpb.ObjectiveProto{Maximize: true,
				LinearCoefficients: &mathoptpb.SparseDoubleVectorProto{Ids: []int64{3, 5}, Values: []float64{2, 3}}},
			LinearConstraints: &mathoptpb.LinearConstraintsProto{Ids: []int64{7}, LowerBounds: []float64{0},
				UpperBounds: []float64{10}},
			LinearConstraintMatrix: &mathoptpb.SparseDoubleMatrixProto{RowIds: []int64{7, 7}, ColumnIds: []int64{3, 5},
				Coefficients: []float64{3, 4}},
		},
	}
}

// TestOtherClients: the service is one of OR-Tools' own API.
func TestOtherClients(t *testing.T) {
	r, err := optimizationpb.NewOptimizationClient(other(t)).SolveMathOptModel(t.Context(),
		knapsackRequest(mathoptpb.SolverTypeProto_SOLVER_TYPE_CP_SAT))
	require.NoError(t, err)
	assert.Equal(t, mathoptpb.TerminationReasonProto_TERMINATION_REASON_OPTIMAL,
		r.GetResult().GetTermination().GetReason())
	assert.InDelta(t, 7, r.GetResult().GetSolutions()[0].GetPrimalSolution().GetObjectiveValue(), 1e-9)
	assert.Equal(t, []float64{2, 1}, r.GetResult().GetSolutions()[0].GetPrimalSolution().GetVariableValues().GetValues())
	assert.NotEmpty(t, r.GetMessages())
}

func TestRequestsThatAreRefused(t *testing.T) {
	client := optimizationpb.NewOptimizationClient(other(t))
	_, err := client.SolveMathOptModel(t.Context(), knapsackRequest(mathoptpb.SolverTypeProto_SOLVER_TYPE_GUROBI))
	assert.Equal(t, codes.InvalidArgument, status.Code(err))
	assert.ErrorContains(t, err, "GSCIP, HIGHS, CP_SAT, GLOP, PDLP")

	threads, q := int32(2), knapsackRequest(mathoptpb.SolverTypeProto_SOLVER_TYPE_HIGHS)
	q.Parameters.Threads = &threads
	_, err = client.SolveMathOptModel(t.Context(), q)
	assert.Equal(t, codes.InvalidArgument, status.Code(err))
	assert.ErrorContains(t, err, "threads")

	for _, method := range []string{"/operations_research.service.v1.Optimization/SolveMathOptModel",
		"/hedge.solver.v1.Solver/Solve"} {
		garbage := []byte("\x0a\xff\xff\xff\x01 no message at all")
		err = other(t).Invoke(t.Context(), method, &garbage, new([]byte), grpc.ForceCodec(raw{}))
		assert.Equal(t, codes.InvalidArgument, status.Code(err), method)
	}
}

// TestParametersOfOneSolverAreIgnored: SCIP would write the model to a file of the client's choice.
func TestParametersOfOneSolverAreIgnored(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model.cip")
	var gscip, parameters []byte
	gscip = protowire.AppendString(protowire.AppendTag(gscip, 16, protowire.BytesType), path) // scip_model_filename
	parameters = protowire.AppendBytes(protowire.AppendTag(parameters, 12, protowire.BytesType), gscip)
	q := knapsackRequest(mathoptpb.SolverTypeProto_SOLVER_TYPE_GSCIP)
	q.Parameters.ProtoReflect().SetUnknown(parameters)
	_, err := optimizationpb.NewOptimizationClient(other(t)).SolveMathOptModel(t.Context(), q)
	require.NoError(t, err)
	assert.NoFileExists(t, path)
}

// raw sends bytes as they are.
type raw struct{}

func (raw) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }

func (raw) Unmarshal(data []byte, v any) error {
	*v.(*[]byte) = append([]byte(nil), data...)
	return nil
}

func (raw) Name() string { return "proto" }
