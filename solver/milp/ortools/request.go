package ortools

import (
	"fmt"
	"math"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/ortools/internal/pb/mathoptpb"
	"github.com/hedgesched/hedge/solver/milp/ortools/internal/pb/optimizationpb"
)

// request is m in the service's form. It shares slices with m. limit is the service's time limit; 0 is none. cut says
// that bounds were narrowed: then points are valid for m, and proofs are not.
func (b *Backend) request(m *milp.Model, opts milp.Options,
	limit time.Duration) (q *optimizationpb.SolveMathOptModelRequest, cut bool, err error) {
	lower, upper, cut, err := b.bounds(m)
	if err != nil {
		return nil, false, err
	}
	return &optimizationpb.SolveMathOptModelRequest{
		SolverType:      b.kind.proto,
		Model:           modelProto(m, lower, upper),
		Parameters:      b.parameters(opts, limit),
		ModelParameters: b.modelParameters(lower, upper, opts.Start),
	}, cut, nil
}

// bounds are the variables' bounds, within the solver's limits. cut says that some are narrower than m's.
func (b *Backend) bounds(m *milp.Model) (lower, upper []float64, cut bool, err error) {
	lower, upper = m.WholeBounds()
	if !b.kind.caps.Bounded {
		return lower, upper, false, nil
	}
	most := b.kind.caps.MaxInteger
	for j := range lower {
		v := m.Var(j)
		if math.IsInf(v.Lower, 0) || math.IsInf(v.Upper, 0) {
			return nil, nil, false, fmt.Errorf("%w: vars[%d] (%q) has bounds %v and %v, expected finite ones",
				milp.ErrUnsupported, j, v.Name, v.Lower, v.Upper)
		}
		low, high := max(lower[j], -most), min(upper[j], most)
		if low == lower[j] && high == upper[j] {
			continue
		}
		if !v.Integer || low > high {
			return nil, nil, false, fmt.Errorf("%w: vars[%d] (%q) has bounds %v and %v, expected no more than %v",
				milp.ErrUnsupported, j, v.Name, v.Lower, v.Upper, most)
		}
		if !cut {
			lower, upper, cut = slices.Clone(lower), slices.Clone(upper), true
		}
		lower[j], upper[j] = low, high
	}
	return lower, upper, cut, nil
}

func modelProto(m *milp.Model, lower, upper []float64) *mathoptpb.ModelProto {
	n := m.Vars()
	ids := count(max(n, m.Rows()))
	integers := make([]bool, n)
	objective := &mathoptpb.SparseDoubleVectorProto{Ids: make([]int64, 0, n), Values: make([]float64, 0, n)}
	for j, cost := range m.Costs() {
		integers[j] = m.Var(j).Integer
		if cost != 0 {
			objective.Ids, objective.Values = append(objective.Ids, int64(j)), append(objective.Values, cost)
		}
	}
	rowLower, rowUpper := m.RowBounds()
	return &mathoptpb.ModelProto{
		Variables: &mathoptpb.VariablesProto{Ids: ids[:n], LowerBounds: lower, UpperBounds: upper,
			Integers: integers},
		Objective: &mathoptpb.ObjectiveProto{Maximize: m.Maximize, Offset: m.Offset,
			LinearCoefficients: objective},
		LinearConstraints: &mathoptpb.LinearConstraintsProto{Ids: ids[:m.Rows()], LowerBounds: rowLower,
			UpperBounds: rowUpper},
		LinearConstraintMatrix: matrixProto(m.ByRow()),
	}
}

// matrixProto converts a to the triples that the service takes, in the order of the rows.
func matrixProto(a milp.Matrix) *mathoptpb.SparseDoubleMatrixProto {
	ids := make([]int64, 2*len(a.Index))
	rows, columns := ids[:len(a.Index)], ids[len(a.Index):]
	for i := range len(a.Begin) - 1 {
		for k := a.Begin[i]; k < a.Begin[i+1]; k++ {
			rows[k], columns[k] = int64(i), int64(a.Index[k])
		}
	}
	return &mathoptpb.SparseDoubleMatrixProto{RowIds: rows, ColumnIds: columns, Coefficients: a.Value}
}

// count is 0 to n-1.
func count(n int) []int64 {
	ids := make([]int64, n)
	for j := range ids {
		ids[j] = int64(j)
	}
	return ids
}

func (b *Backend) parameters(opts milp.Options, limit time.Duration) *mathoptpb.SolveParametersProto {
	p := &mathoptpb.SolveParametersProto{}
	if limit > 0 {
		p.TimeLimit = durationpb.New(limit)
	}
	if b.kind.gaps {
		p.RelativeGapTolerance, p.AbsoluteGapTolerance = pointer(gapTolerance(opts.TargetGap())), pointer(0.0)
	}
	if b.kind.caps.Nodes && opts.Nodes > 0 {
		p.NodeLimit = pointer(opts.Nodes)
	}
	if b.kind.caps.Threads {
		p.Threads = pointer(int32(min(max(opts.Threads, 1), math.MaxInt16)))
	}
	if b.kind.caps.Seed && opts.Seed != 0 {
		p.RandomSeed = pointer(seed(opts.Seed))
	}
	return p
}

// gapTolerance is the tolerance to give a solver so that it stops at a gap of at most gap. HiGHS and CP-SAT take it
// relative to the point's value, GSCIP to the smaller of that and the bound, and milp to the bound.
func gapTolerance(gap float64) float64 { return gap / (1 + gap) }

// seed maps s to a nonzero number that all solvers accept.
func seed(s int64) int32 {
	u := uint64(s)
	return int32((u^u>>31^u>>62)%math.MaxInt32) | 1
}

// modelParameters request the point without its zeros, and no dual values. start is milp.Options.Start. It is moved to
// within the bounds, since HiGHS fails with one that is outside.
func (b *Backend) modelParameters(lower, upper, start []float64) *mathoptpb.ModelSolveParametersProto {
	none := &mathoptpb.SparseVectorFilterProto{FilterByIds: true}
	p := &mathoptpb.ModelSolveParametersProto{
		VariableValuesFilter: &mathoptpb.SparseVectorFilterProto{SkipZeroValues: true},
		DualValuesFilter:     none,
		ReducedCostsFilter:   none,
	}
	if !b.kind.caps.Start || len(start) != len(lower) {
		return p
	}
	hint := &mathoptpb.SparseDoubleVectorProto{}
	for j, v := range start {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			hint.Ids, hint.Values = append(hint.Ids, int64(j)), append(hint.Values, min(max(v, lower[j]), upper[j]))
		}
	}
	if len(hint.Ids) > 0 {
		p.SolutionHints = []*mathoptpb.SolutionHintProto{{VariableValues: hint}}
	}
	return p
}

func pointer[T any](v T) *T { return &v }
