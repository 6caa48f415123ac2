package dist_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/dist"
)

// grid is the machine that the tests put tasks on.
const (
	gridLimit = 32.0
	gridCells = 512
)

func newTotal(t testing.TB) *dist.Total {
	t.Helper()
	total, err := dist.NewTotal(gridLimit, gridCells)
	require.NoError(t, err)
	return total
}

func atomsOf(t testing.TB, d dist.Distribution) *dist.Atoms {
	t.Helper()
	a, err := dist.NewAtoms(d, 16)
	require.NoError(t, err)
	return a
}

func summand(a *dist.Atoms, k float64) *dist.Summand {
	s := &dist.Summand{}
	s.Set(a, k, gridLimit/gridCells)
	return s
}

// usages are distributions of what a task uses, as histories have them.
func usages(t testing.TB, rng *rand.Rand, n int) []dist.Distribution {
	t.Helper()
	out := make([]dist.Distribution, n)
	for i := range out {
		scale := 0.2 + 1.2*rng.Float64()
		values := make([]float64, 3+rng.IntN(60))
		for k := range values {
			values[k] = scale * math.Exp(0.6*rng.NormFloat64())
		}
		var err error
		switch i % 3 {
		case 0:
			out[i], err = dist.FromSamples(values)
		case 1:
			out[i], err = dist.NewUniform(scale/4, scale)
		case 2:
			s := dist.NewSketch(80)
			for _, v := range values {
				require.NoError(t, s.Add(v))
			}
			out[i], err = s.Distribution()
		}
		require.NoError(t, err)
	}
	return out
}

// TestAtoms: few values stay as they are, others keep the mean, and no mass moves farther than it says.
func TestAtoms(t *testing.T) {
	few, err := dist.FromSamples([]float64{3, 1, 3, 7})
	require.NoError(t, err)
	a := atomsOf(t, few)
	require.Equal(t, 3, a.Len())
	x, p := a.At(1)
	assert.Equal(t, [2]float64{3, 0.5}, [2]float64{x, p})
	assert.Zero(t, a.Spread())
	assert.InDelta(t, 7, a.Max(), 0)

	rng := rand.New(rand.NewPCG(1, 1))
	list := usages(t, rng, 60)
	for _, sigma := range []float64{0.3, 1.5} {
		d, err := dist.NewLognormal(1, sigma)
		require.NoError(t, err)
		list = append(list, d)
	}
	for i, d := range list {
		a := atomsOf(t, d)
		assert.LessOrEqual(t, a.Len(), 16)
		sum, mean := 0.0, 0.0
		for k := range a.Len() {
			x, p := a.At(k)
			sum, mean = sum+p, mean+x*p
			if at := d.Quantile(sum - p/2); !math.IsInf(d.Quantile(1), 1) {
				assert.LessOrEqual(t, math.Abs(at-x), a.Spread()+1e-9, "%d: atom %d", i, k)
			}
		}
		assert.InDelta(t, 1, sum, 1e-12, "%d", i)
		assert.InDelta(t, d.Mean(), mean, 1e-9*d.Mean(), "%d", i)
		assert.InDelta(t, d.Mean(), a.Mean(), 1e-9*d.Mean(), "%d", i)
	}
	for _, n := range []int{0, 7, 1<<16 + 1} {
		_, err := dist.NewAtoms(few, n)
		require.ErrorIs(t, err, dist.ErrInvalid)
	}
	_, err = dist.NewAtoms(nil, 16)
	require.ErrorIs(t, err, dist.ErrInvalid)
}

// brute is the distribution of a sum by all of its outcomes.
type brute map[float64]float64

func (b brute) add(a *dist.Atoms, k float64) brute {
	out := brute{}
	for x, p := range b {
		for i := range a.Len() {
			y, q := a.At(i)
			out[x+k*y] += p * q
		}
	}
	return out
}

func (b brute) tail(x float64) (sum float64) {
	for y, p := range b {
		if y > x+1e-9*gridLimit {
			sum += p
		}
	}
	return sum
}

// TestTotalAgainstAllOutcomes: within its error the grid has what adding up all outcomes gives.
func TestTotalAgainstAllOutcomes(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for range 30 {
		total, want := newTotal(t), brute{0: 1}
		mean := 0.0
		for range 4 {
			values := make([]float64, 1+rng.IntN(6))
			for i := range values {
				values[i] = 12 * rng.Float64()
			}
			d, err := dist.FromSamples(values)
			require.NoError(t, err)
			a, k := atomsOf(t, d), float64(1+rng.IntN(2))
			s := summand(a, k)
			x := gridLimit * rng.Float64()
			with := total.TailWith(s, x)
			total.Add(s)
			require.InDelta(t, total.Tail(x), with, 1e-12)
			want = want.add(a, k)
			mean += k * d.Mean()
		}
		require.InDelta(t, mean, total.Mean(), 1e-9)
		e := total.Error() + 1e-6
		for range 50 {
			x := (gridLimit - e) * rng.Float64()
			got := total.Tail(x)
			require.GreaterOrEqual(t, got, want.tail(x+e)-1e-12)
			require.LessOrEqual(t, got, want.tail(x-e)+1e-12)
		}
		require.InDelta(t, total.Tail(gridLimit), total.Tail(2*gridLimit), 0, "beyond the limit there is one mass")
	}
}

// TestTotalAgainstMonteCarlo: the chance that thirty tasks use more than there is.
func TestTotalAgainstMonteCarlo(t *testing.T) {
	const draws = 40000
	rng := rand.New(rand.NewPCG(3, 3))
	for range 4 {
		list := usages(t, rng, 30)
		total := newTotal(t)
		for _, d := range list {
			total.Add(summand(atomsOf(t, d), 1))
		}
		sums := make([]float64, draws)
		for i := range sums {
			for _, d := range list {
				sums[i] += dist.Sample(d, rng)
			}
		}
		for _, x := range []float64{total.Mean() * 0.8, total.Mean(), total.Mean() * 1.1, total.Mean() * 1.25} {
			if x > gridLimit {
				continue
			}
			over := 0
			for _, s := range sums {
				if s > x {
					over++
				}
			}
			want := float64(over) / draws
			// Four standard deviations of the draws, and what cutting a task into 16 atoms costs.
			slack := 4*math.Sqrt(want*(1-want)/draws) + 0.012
			assert.InDelta(t, want, total.Tail(x), slack, "beyond %v of %v", x, total.Mean())
		}
	}
}

// TestTotalOfPoints: what is certain is not moved, so a machine is exactly full or it is not.
func TestTotalOfPoints(t *testing.T) {
	total := newTotal(t)
	p, err := dist.NewPoint(0.1)
	require.NoError(t, err)
	a := atomsOf(t, p)
	for range 320 {
		require.Zero(t, total.TailWith(summand(a, 1), gridLimit))
		total.Add(summand(a, 1))
	}
	assert.Zero(t, total.Tail(gridLimit))
	assert.Zero(t, total.Error())
	assert.InDelta(t, 1, total.TailWith(summand(a, 1e-3), gridLimit), 0)
	assert.InDelta(t, 1, total.Tail(31.9), 0)
	total.Reset()
	assert.Zero(t, total.Tail(0))
}

// TestTotalWithRareValues: a value of next to no probability must not carry the larger ones away with it.
func TestTotalWithRareValues(t *testing.T) {
	// Three values, the middle one for a billionth of the time, as a task's use of CPU is observed.
	h, err := dist.NewHistogram([]float64{0, 0, 1.03, 1.03, 1.1, 1.1}, []float64{120, 0, 1e-9, 0, 10})
	require.NoError(t, err)
	total, s := newTotal(t), summand(atomsOf(t, h), 1)
	for range 5 {
		total.Add(s)
	}
	assert.InDelta(t, 5*1.1/13, total.Mean(), 1e-6)
	assert.LessOrEqual(t, total.Error(), 5*6*total.Step())
	assert.Zero(t, total.Tail(5*1.1+total.Error()), "five tasks of 1.1 at most")
	assert.Zero(t, total.TailWith(s, gridLimit))

	rng := rand.New(rand.NewPCG(5, 1))
	for range 1000 {
		edges, weights, most := []float64{}, []float64{}, 0.0
		for range 2 + rng.IntN(10) {
			most += 0.3 * rng.Float64()
			edges, weights = append(edges, most, most), append(weights, math.Exp(-30*rng.Float64()), 0)
		}
		h, err := dist.NewHistogram(edges, weights[:len(weights)-1])
		require.NoError(t, err)
		total.Reset()
		total.Add(summand(atomsOf(t, h), 1))
		require.LessOrEqual(t, total.Error(), 6*total.Step())
		require.Zero(t, total.Tail(gridLimit/2))
	}
}

// TestTotalKeepsItsMass whatever comes, and sums the same again.
func TestTotalKeepsItsMass(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	list := usages(t, rng, 90)
	one, again := newTotal(t), newTotal(t)
	for _, d := range list[:50] {
		again.Add(summand(atomsOf(t, d), 3))
	}
	again.Reset()
	for _, d := range list {
		s := summand(atomsOf(t, d), float64(1+rng.IntN(3)))
		one.Add(s)
		again.Add(s)
		require.InDelta(t, 1, one.Tail(-1), 1e-9)
		for x := 0.0; x < gridLimit; x += 0.37 {
			require.Equal(t, one.Tail(x), again.Tail(x))
		}
	}
	assert.InDelta(t, 1, one.Tail(gridLimit), 1e-6, "all of it is beyond")
}

func TestTotalRefuses(t *testing.T) {
	for _, limit := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		_, err := dist.NewTotal(limit, 512)
		require.ErrorIs(t, err, dist.ErrInvalid)
	}
	_, err := dist.NewTotal(1, 1)
	require.ErrorIs(t, err, dist.ErrInvalid)
}

func TestTotalAllocatesNothing(t *testing.T) {
	total := newTotal(t)
	list := usages(t, rand.New(rand.NewPCG(5, 5)), 30)
	s := summand(atomsOf(t, list[1]), 1)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		total.Reset()
		total.Add(s)
		total.TailWith(s, gridLimit)
	}))
}

// What two tasks use together is known by its distribution: the chance that a node of 4 cores is too small for them.
func ExampleTotal() {
	node, err := dist.NewTotal(4, 512)
	if err != nil {
		fmt.Println(err)
		return
	}
	usage, err := dist.FromSamples([]float64{1, 1, 1, 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	atoms, err := dist.NewAtoms(usage, 16)
	if err != nil {
		fmt.Println(err)
		return
	}
	var task dist.Summand
	task.Set(atoms, 1, node.Step())
	node.Add(&task)
	fmt.Println(node.TailWith(&task, node.Limit()))
	// Output: 0.0625
}

// BenchmarkTotal is what it costs to add a task to a machine of thirty, and to sum the thirty anew.
func BenchmarkTotal(b *testing.B) {
	rng := rand.New(rand.NewPCG(6, 6))
	var all []*dist.Summand
	for _, d := range usages(b, rng, 30) {
		all = append(all, summand(atomsOf(b, d), 1))
	}
	full := func() *dist.Total {
		total := newTotal(b)
		for _, s := range all {
			total.Add(s)
		}
		return total
	}
	b.Run("add", func(b *testing.B) {
		const machines = 256 // each is added to a few times, which leaves it about as it was
		totals := make([]*dist.Total, machines)
		for i := range totals {
			totals[i] = full()
		}
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			totals[i%machines].Add(all[i%len(all)])
			if i++; i%(4*machines) == 0 {
				b.StopTimer()
				for k := range totals {
					totals[k] = full()
				}
				b.StartTimer()
			}
		}
	})
	b.Run("anew", func(b *testing.B) {
		total := newTotal(b)
		b.ReportAllocs()
		for b.Loop() {
			total.Reset()
			for _, s := range all {
				total.Add(s)
			}
		}
	})
	b.Run("tail with", func(b *testing.B) {
		total, sum := full(), 0.0
		b.ReportAllocs()
		for b.Loop() {
			sum += total.TailWith(all[3], gridLimit)
		}
	})
}
