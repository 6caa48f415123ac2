package ortools

import (
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/ortools/internal/pb/mathoptpb"
)

func TestGapTolerance(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		gap := r.Float64() * 10
		bound := (r.Float64() - 0.5) * 1000
		away := gapTolerance(gap)
		// The worst point that a solver may stop at, by a gap relative to its value.
		for _, value := range []float64{bound / (1 - away), bound / (1 + away)} {
			assert.LessOrEqual(t, math.Abs(value-bound)/math.Abs(bound), gap+1e-9)
		}
	}
	assert.Zero(t, gapTolerance(0))
}

func TestSeed(t *testing.T) {
	assert.NotEqual(t, seed(1), seed(3))
	for _, s := range []int64{1, -1, math.MaxInt64, math.MinInt64, math.MaxInt32, 1 << 31, 1 << 40} {
		assert.Positive(t, seed(s), s)
	}
}

func TestTimeLimit(t *testing.T) {
	none := context.Background()
	assert.Zero(t, timeLimit(none, 0))
	assert.Equal(t, 900*time.Millisecond, timeLimit(none, time.Second))
	assert.Equal(t, time.Hour-100*time.Millisecond, timeLimit(none, time.Hour))
	assert.Equal(t, 5*time.Millisecond, timeLimit(none, 10*time.Millisecond))
	assert.Positive(t, timeLimit(none, 1))
	ctx, cancel := context.WithTimeout(none, time.Minute)
	defer cancel()
	assert.LessOrEqual(t, timeLimit(ctx, time.Hour), time.Minute)
	assert.Equal(t, 900*time.Millisecond, timeLimit(ctx, time.Second))
	over, cancelOver := context.WithTimeout(none, -time.Second)
	defer cancelOver()
	assert.Positive(t, timeLimit(over, 0))
}

// TestModelProto: the message is the model, coefficient by coefficient.
func TestModelProto(t *testing.T) {
	for s := range uint64(50) {
		r := rand.New(rand.NewPCG(s, 0))
		m := &milp.Model{Maximize: s%2 == 0, Offset: float64(s)}
		n, rows := 1+r.IntN(20), r.IntN(30)
		for range n {
			m.AddVar(milp.Var{Lower: -float64(r.IntN(9)), Upper: math.Inf(1), Cost: float64(r.IntN(3)), Integer: r.IntN(2) == 0})
		}
		want := map[[2]int64]float64{}
		for i := range rows {
			row := milp.Row{Lower: math.Inf(-1), Upper: float64(i)}
			for range r.IntN(2 * n) {
				j, v := r.IntN(n), float64(r.IntN(5)-2)
				row.Index, row.Value = append(row.Index, int32(j)), append(row.Value, v)
				want[[2]int64{int64(i), int64(j)}] += v
			}
			m.AddRow(row)
		}
		for at, v := range want {
			if v == 0 {
				delete(want, at)
			}
		}
		lower, upper := m.Bounds()
		p := modelProto(m, lower, upper)
		got := map[[2]int64]float64{}
		a := p.GetLinearConstraintMatrix()
		for k, i := range a.GetRowIds() {
			at := [2]int64{i, a.GetColumnIds()[k]}
			require.NotContains(t, got, at, "twice")
			got[at] = a.GetCoefficients()[k]
			if k > 0 {
				require.LessOrEqual(t, a.GetRowIds()[k-1], i)
			}
		}
		require.Equal(t, want, got)
		cost := map[int64]float64{}
		for k, j := range p.GetObjective().GetLinearCoefficients().GetIds() {
			cost[j] = p.GetObjective().GetLinearCoefficients().GetValues()[k]
		}
		for j := range n {
			require.Equal(t, m.Var(j).Cost, cost[int64(j)])
			require.Equal(t, m.Var(j).Integer, p.GetVariables().GetIntegers()[j])
		}
		require.Len(t, p.GetLinearConstraints().GetUpperBounds(), rows)
	}
}

func TestModelProtoAllocatesNothingByEntry(t *testing.T) {
	build := func(rows int) *milp.Model {
		m := &milp.Model{}
		for range 100 {
			m.AddVar(milp.Var{Upper: 1, Cost: 1})
		}
		for range rows {
			m.AddRow(milp.Row{Index: count32(100), Value: make([]float64, 100)})
		}
		return m
	}
	allocations := func(m *milp.Model) float64 {
		lower, upper := m.Bounds()
		return testing.AllocsPerRun(5, func() { modelProto(m, lower, upper) })
	}
	assert.InDelta(t, allocations(build(1)), allocations(build(1000)), 2)
}

func count32(n int) []int32 {
	all := make([]int32, n)
	for j := range all {
		all[j] = int32(j)
	}
	return all
}

// TestHints: of the same fault gRPC says now this and now that.
func TestHints(t *testing.T) {
	for words, want := range map[string][2]string{ // without TLS, and with
		"transport: Error while dialing: dial tcp 127.0.0.1:1: connect: connection refused": {"hedge solver serve",
			"hedge solver serve"},
		"error reading server preface: EOF": {"may want TLS",
			"client's certificate"},
		"write tcp 127.0.0.1:1->127.0.0.1:2: write: broken pipe": {"may want TLS",
			"client's certificate"},
		"error reading server preface: remote error: tls: certificate required": {"may want TLS",
			"client's certificate"},
		"tls: first record does not look like a TLS handshake": {"hedge solver serve",
			"without TLS"},
		"tls: failed to verify certificate: x509: certificate signed by unknown authority": {"hedge solver serve",
			"not trusted"},
	} {
		for k, secure := range []bool{false, true} {
			assert.Contains(t, (&Backend{secure: secure}).hint(words), want[k], words)
		}
	}
}

// FuzzDense: whatever points a server sends, there is an error or a point of the model's size.
func FuzzDense(f *testing.F) {
	f.Add(3, []byte{0, 0, 0, 0, 0, 0, 0, 2}, 1)
	f.Add(1, []byte{255, 255, 255, 255, 255, 255, 255, 255}, 1)
	f.Add(0, []byte{}, 4)
	f.Fuzz(func(t *testing.T, n int, ids []byte, values int) {
		n, values = n&0xff, values&0xff
		v := &mathoptpb.SparseDoubleVectorProto{Values: make([]float64, values)}
		for ; len(ids) >= 8; ids = ids[8:] {
			v.Ids = append(v.Ids, int64(binary.BigEndian.Uint64(ids)))
		}
		x, err := dense(v, n)
		if err == nil && len(x) != n {
			t.Fatalf("found %d numbers, expected %d", len(x), n)
		}
	})
}
