package lp

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// basisOf is a sparse matrix of n columns, dense by columns; some are unit vectors, which are listed as slacks, at
// their rows.
func basisOf(r *rand.Rand, n int, density float64) (cols [][]float64, slack []bool) {
	slack = make([]bool, n)
	for j := range n {
		c := make([]float64, n)
		if slack[j] = r.Float64() < 0.3; slack[j] {
			c[j] = 1
		} else {
			c[j] = 1 + r.Float64()
			for i := range n {
				if r.Float64() < density {
					c[i] = float64(r.IntN(9) - 4)
				}
			}
		}
		cols = append(cols, c)
	}
	return cols, slack
}

// factored factorises the columns, and returns them by position; nil if some depend on others.
func factored(f *lu, cols [][]float64, slack []bool) [][]float64 {
	at, dependent := placed(f, cols, slack)
	if dependent > 0 {
		return nil
	}
	return at
}

// placed factorises the columns, and returns them by position, with slacks in place of those that depend on others,
// and how many do.
func placed(f *lu, cols [][]float64, slack []bool) (at [][]float64, dependent int) {
	n := len(cols)
	a := &matrix{off: []int32{0}}
	var list [][]float64
	for j, c := range cols {
		if slack[j] {
			continue
		}
		for i, v := range c {
			if v != 0 {
				a.idx, a.val = append(a.idx, int32(i)), append(a.val, v)
			}
		}
		a.off = append(a.off, int32(len(a.idx)))
		list = append(list, c)
	}
	pos := make([]int32, len(list))
	f.factor(n, a, slack, pos)
	at = make([][]float64, n)
	for j, p := range pos {
		if p < 0 {
			dependent++
			continue
		}
		at[p] = list[j]
	}
	for r, c := range at {
		if c == nil {
			at[r] = make([]float64, n)
			at[r][r] = 1
		}
	}
	return at, dependent
}

// solves holds f against the matrix that it is to be of, both ways.
func solves(t *testing.T, r *rand.Rand, f *lu, at [][]float64) {
	t.Helper()
	n := len(at)
	x, y := make([]float64, n), make([]float64, n)
	for i := range n {
		if r.IntN(3) == 0 {
			x[i] = r.NormFloat64()
		}
	}
	b, size := make([]float64, n), 1.0
	for p, c := range at {
		for i, v := range c {
			b[i] += v * x[p]
			y[p] += v * x[i]
		}
	}
	f.ftran(b, false)
	f.btran(y)
	for i := range n {
		require.InDelta(t, x[i], b[i], 1e-5*size, "ftran, row %d of %d", i, n)
		require.InDelta(t, x[i], y[i], 1e-5*size, "btran, row %d of %d", i, n)
	}
}

// exchanged puts column c at position p, if its pivot is large enough.
func exchanged(f *lu, at [][]float64, p int, c []float64) (bool, bool) {
	alpha := append([]float64(nil), c...)
	f.ftran(alpha, true)
	if math.Abs(alpha[p]) < 0.05 {
		f.unkeep()
		return false, true
	}
	at[p] = c
	return true, f.update(int32(p), alpha[p])
}

// combined subtracts what is at q from what is at p.
func combined(f *lu, at [][]float64, p, q int) bool {
	c := append([]float64(nil), at[p]...)
	for i, v := range at[q] {
		c[i] -= v
	}
	at[p] = c
	f.combine(int32(p), int32(q))
	return f.update(int32(p), 1)
}

// TestFactorisation holds factorisations of random bases, and what updates make of them, against the matrices.
func TestFactorisation(t *testing.T) {
	f := &lu{}
	whole, updates := 0, 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 7))
		n := 1 + r.IntN(40)
		cols, slack := basisOf(r, n, []float64{0.02, 0.1, 0.4}[seed%3])
		at := factored(f, cols, slack)
		if at == nil {
			continue
		}
		whole++
		solves(t, r, f, at)
		for range 30 {
			p, q := r.IntN(n), r.IntN(n)
			var good bool
			if p != q && r.IntN(4) == 0 {
				good = combined(f, at, p, q)
				updates++
			} else {
				more, _ := basisOf(r, n, 0.1)
				var in bool
				if in, good = exchanged(f, at, p, more[q]); in {
					updates++
				}
			}
			if !good {
				break // inaccurate, and known to be
			}
			solves(t, r, f, at)
		}
	}
	require.Greater(t, whole, 200)
	require.Greater(t, updates, 2000)
}

// TestSingularBases gives the factorisation bases in which some columns depend on others, wholly or but for rounding
// errors: as many are told of as depend on others, and slacks in their place make up a basis.
func TestSingularBases(t *testing.T) {
	f := &lu{}
	for seed := range uint64(300) {
		checkSingular(t, f, seed)
	}
}

// FuzzSingularBases does the same with any seeds.
func FuzzSingularBases(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) { checkSingular(t, &lu{}, seed) })
}

// checkSingular makes some columns of a basis combinations of two others, nearly at times, or empty.
func checkSingular(t *testing.T, f *lu, seed uint64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 8))
	n := 3 + r.IntN(40)
	cols, slack := basisOf(r, n, []float64{0.02, 0.1, 0.3}[seed%3])
	if factored(f, cols, slack) == nil {
		return // singular as it is
	}
	spoiled := 0
	for j := 2; j < n; j += 1 + r.IntN(n) {
		if slack[j] {
			continue
		}
		scale := float64(r.IntN(3))
		for i := range cols[j] {
			cols[j][i] = float64(scale*cols[0][i]) - float64(scale*cols[1][i])
			if cols[j][i] != 0 && r.IntN(2) == 0 {
				cols[j][i] += 1e-15
			}
		}
		spoiled++
	}
	at, dependent := placed(f, cols, slack)
	require.Equal(t, spoiled, dependent, "seed %d: columns that depend on others", seed)
	solves(t, r, f, at)
}
