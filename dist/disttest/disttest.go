// Package disttest is the conformance suite for [dist.Distribution]: what
// every implementation owes its callers. Run it on a distribution of your own
// and it checks that one and what [dist.Condition], [dist.Scale], [dist.Shift],
// [dist.MaxOf], [dist.Tabulate] and [dist.Sum] make of it, and that [dist.Marshal] loses nothing.
package disttest

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/dist"
)

// T is what the suite needs of a *testing.T; it is an interface so that the
// suite can be tested with broken distributions.
type T interface {
	assert.TestingT
	Helper()
}

// Run checks d and its transforms, each as a subtest below name.
func Run(t *testing.T, name string, d dist.Distribution) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Run("itself", func(t *testing.T) { Check(t, d) })
		for _, tr := range transforms(d) {
			t.Run(tr.name, func(t *testing.T) {
				got, err := tr.make()
				require.NoError(t, err)
				Check(t, got)
				if tr.also != nil {
					tr.also(t, got)
				}
			})
		}
	})
}

type transformed struct {
	name string
	make func() (dist.Distribution, error)
	also func(t *testing.T, got dist.Distribution)
}

func transforms(d dist.Distribution) []transformed {
	out := []transformed{
		{"scaled", func() (dist.Distribution, error) { return dist.Scale(d, 2.5) }, sameUpTo(d, 2.5, 0)},
		{"shifted", func() (dist.Distribution, error) { return dist.Shift(d, 3) }, sameUpTo(d, 1, 3)},
		{"scaled and shifted", func() (dist.Distribution, error) {
			s, err := dist.Scale(d, 0.5)
			if err != nil {
				return nil, err
			}
			return dist.Shift(s, 1)
		}, sameUpTo(d, 0.5, 1)},
		{"maximum of 5", func() (dist.Distribution, error) { return dist.MaxOf(d, 5) }, isMaximum(d, 5)},
		{"tabulated", func() (dist.Distribution, error) { return dist.Tabulate(d, 200) }, sameMean(d.Mean())},
		{"doubled by Sum", func() (dist.Distribution, error) { return dist.Sum(d, d) }, sameMean(2 * d.Mean())},
	}
	for _, p := range []float64{0.01, 0.5, 0.95, 0.9999} {
		elapsed := d.Quantile(p)
		out = append(out, transformed{"conditioned at " + percent(p),
			func() (dist.Distribution, error) { return dist.Condition(d, elapsed) }, isConditioned(d, elapsed)})
	}
	return out
}

func percent(p float64) string {
	switch p {
	case 0.01:
		return "1%"
	case 0.5:
		return "50%"
	case 0.95:
		return "95%"
	}
	return "99.99%"
}

// Check checks d alone.
func Check(t T, d dist.Distribution) {
	t.Helper()
	checkBounds(t, d)
	checkCDF(t, d)
	checkQuantile(t, d)
	checkMean(t, d)
	checkPartialMean(t, d)
	checkSurvivals(t, d)
	checkEncoding(t, d)
}

// grid returns values worth asking d about: quantiles, their neighbours, both
// bounds and beyond, sorted as given by p.
func grid(d dist.Distribution) []float64 {
	lo, hi := d.Bounds()
	xs := []float64{0, lo / 2, math.Nextafter(lo, 0), lo}
	for i := 1; i < 200; i++ {
		q := d.Quantile(float64(i) / 200)
		xs = append(xs, math.Nextafter(q, 0), q, math.Nextafter(q, math.Inf(1)))
	}
	if math.IsInf(hi, 1) {
		hi = d.Quantile(1 - 1e-9)
	}
	return append(xs, math.Nextafter(hi, 0), hi, 2*hi+1)
}

func checkBounds(t T, d dist.Distribution) {
	t.Helper()
	lo, hi := d.Bounds()
	assert.GreaterOrEqual(t, lo, 0.0, "lower bound")
	assert.LessOrEqual(t, lo, hi, "bounds in order")
	assert.False(t, math.IsInf(lo, 0) || math.IsNaN(hi), "bounds are numbers")
	assert.InDelta(t, lo, d.Quantile(0), 1e-9*(1+lo), "Quantile(0) is the lower bound")
	if !math.IsInf(hi, 1) {
		assert.InDelta(t, hi, d.Quantile(1), 1e-9*(1+hi), "Quantile(1) is the upper bound")
	}
	if lo > 0 {
		assert.Zero(t, d.CDF(math.Nextafter(lo, 0)*(1-1e-12)), "no mass below the lower bound")
	}
	assert.Equal(t, 1.0, d.CDF(hi), "all mass up to the upper bound")
	assert.Zero(t, d.CDF(math.Inf(-1)), "CDF(-Inf)")
	assert.Equal(t, 1.0, d.CDF(math.Inf(1)), "CDF(+Inf)")
	assert.Zero(t, d.CDF(-1), "no mass below 0")
}

func checkCDF(t T, d dist.Distribution) {
	t.Helper()
	prev, at := 0.0, math.Inf(-1)
	for _, x := range grid(d) {
		f := d.CDF(x)
		if !(f >= 0 && f <= 1) {
			t.Errorf("CDF(%v) = %v is no probability", x, f)
		}
		if x >= at {
			if f < prev-1e-12 {
				t.Errorf("CDF falls from %v at %v to %v at %v", prev, at, f, x)
			}
			prev, at = f, x
		}
		if s := dist.Survival(d, x); math.Abs(s+f-1) > 1e-12 {
			t.Errorf("CDF and survival at %v: %v and %v", x, f, s)
		}
	}
}

func checkQuantile(t T, d dist.Distribution) {
	t.Helper()
	prev := math.Inf(-1)
	for i := range 1001 {
		p := float64(i) / 1000
		q := d.Quantile(p)
		if q < prev {
			t.Errorf("Quantile falls to %v at %v", q, p)
		}
		prev = q
		if math.IsInf(q, 1) {
			continue
		}
		step := float64(1e-9 * (1 + q))
		if f := d.CDF(q + step); f < p-1e-9 {
			t.Errorf("CDF(Quantile(%v)) = %v is less", p, f)
		}
		if lo, _ := d.Bounds(); q-step > lo && d.CDF(q-step) > p+1e-9 {
			t.Errorf("Quantile(%v) = %v is not the smallest: CDF just below is %v", p, q, d.CDF(q-step))
		}
	}
	assert.True(t, math.IsNaN(d.Quantile(math.NaN())), "Quantile(NaN)")
	assert.Equal(t, d.Quantile(0), d.Quantile(-0.5), "p is clamped")
	assert.Equal(t, d.Quantile(1), d.Quantile(1.5), "p is clamped")
}

// checkMean integrates the quantile function, independently of the CDF's closed forms.
func checkMean(t T, d dist.Distribution) {
	t.Helper()
	lo, hi := d.Bounds()
	m := d.Mean()
	if !(m >= lo*(1-1e-12) && m <= hi*(1+1e-12)) {
		t.Errorf("mean %v is not within [%v, %v]", m, lo, hi)
	}
	assert.InEpsilon(t, 1+numericMean(d, 1), 1+m, 2e-3, "mean is the integral of the quantiles")
	area := lo
	for _, p := range panels(d) {
		const n = 256
		for i := range n {
			area += float64(dist.Survival(d, p[0]+float64((p[1]-p[0])*(float64(i)+0.5)/n)) * (p[1] - p[0]) / n)
		}
	}
	assert.InEpsilon(t, 1+m, 1+area, 5e-3, "mean is the integral of the survival function")
}

// panels cuts the support at quantiles.
func panels(d dist.Distribution) [][2]float64 {
	var out [][2]float64
	from, _ := d.Bounds()
	for _, p := range []float64{0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 1 - 1e-5, 1 - 1e-7, 1 - 1e-9} {
		if to := d.Quantile(p); to > from {
			out = append(out, [2]float64{from, to})
			from = to
		}
	}
	return out
}

// numericMean is the integral of Quantile over [0, top], finest near the ends.
func numericMean(d dist.Distribution, top float64) float64 {
	const n = 8192
	sum := 0.0
	for i := range n {
		u0, u1 := float64(float64(i)/n), float64(float64(i+1)/n)
		// p = 1 - (1-u)^3 crowds the points into the tail.
		p0, p1 := 1-math.Pow(1-u0, 3), 1-math.Pow(1-u1, 3)
		sum += float64((p1 - p0) * top * d.Quantile(top*(p0+float64((p1-p0)/2))))
	}
	return sum
}

func checkPartialMean(t T, d dist.Distribution) {
	t.Helper()
	lo, hi := d.Bounds()
	assert.InEpsilon(t, 1+d.Mean(), 1+dist.PartialMean(d, math.Inf(1)), 1e-9, "PartialMean(+Inf) is the mean")
	assert.Zero(t, dist.PartialMean(d, -1), "PartialMean below 0")
	if !math.IsInf(hi, 1) {
		assert.InEpsilon(t, 1+d.Mean(), 1+dist.PartialMean(d, hi), 1e-9, "PartialMean at the upper bound is the mean")
	}
	if lo > 0 {
		assert.Zero(t, dist.PartialMean(d, lo/2), "PartialMean below the lower bound")
	}
	for _, p := range []float64{0.05, 0.3, 0.5, 0.8, 0.99} {
		x := d.Quantile(p)
		f := d.CDF(x)
		if f == 0 {
			continue
		}
		assert.InEpsilon(t, 1+numericMean(d, f), 1+dist.PartialMean(d, x), 2e-3, "E[X; X <= %v]", x)
	}
}

func checkSurvivals(t T, d dist.Distribution) {
	t.Helper()
	_, hi := d.Bounds()
	for _, p := range []float64{0, 0.3, 0.9} {
		elapsed := d.Quantile(p)
		slot := (d.Quantile(0.99)-d.Quantile(0.01))/20 + 0.25
		got := make([]float64, 32)
		dist.Survivals(got, d, elapsed, slot)
		if elapsed >= hi {
			assert.Equal(t, make([]float64, 32), got, "nothing survives the upper bound")
			continue
		}
		for i, s := range got {
			want := dist.Survival(d, elapsed+float64(float64(i)*slot)) / dist.Survival(d, elapsed)
			if math.Abs(s-want) > 1e-9 {
				t.Errorf("Survivals at slot %d after %v: %v, want %v", i, elapsed, s, want)
			}
		}
	}
}

// checkEncoding writes d down and reads it back: the same to the last bit. A type that is foreign to
// package dist has no serial form and owes none.
func checkEncoding(t T, d dist.Distribution) {
	t.Helper()
	data, err := dist.Marshal(d)
	if errors.Is(err, dist.ErrForeign) {
		return
	}
	if !assert.NoError(t, err, "Marshal") {
		return
	}
	back, err := dist.Unmarshal(data)
	if !assert.NoError(t, err, "Unmarshal of %s", data) {
		return
	}
	again, err := dist.Marshal(back)
	assert.NoError(t, err, "Marshal of what was read")
	assert.Equal(t, string(data), string(again), "what was read is written the same")
	for _, x := range grid(d) {
		if !alike(facts(d, x), facts(back, x)) {
			t.Errorf("at %v: %v before encoding, %v after", x, facts(d, x), facts(back, x))
			return
		}
	}
}

// facts are what d says of x, taken as a value and, where it is one, as a probability.
func facts(d dist.Distribution, x float64) [7]float64 {
	lo, hi := d.Bounds()
	return [...]float64{lo, hi, d.Mean(), d.CDF(x), d.Quantile(d.CDF(x)), dist.Survival(d, x), dist.PartialMean(d, x)}
}

// alike compares bit by bit.
func alike(a, b [7]float64) bool {
	for i := range a {
		if math.Float64bits(a[i]) != math.Float64bits(b[i]) {
			return false
		}
	}
	return true
}

func sameUpTo(d dist.Distribution, mul, add float64) func(*testing.T, dist.Distribution) {
	return func(t *testing.T, got dist.Distribution) {
		t.Helper()
		assert.InEpsilon(t, 1+float64(mul*d.Mean())+add, 1+got.Mean(), 1e-9)
		for i := 1; i < 100; i++ {
			p := float64(i) / 100
			want := float64(mul*d.Quantile(p)) + add
			assert.InEpsilon(t, 1+want, 1+got.Quantile(p), 1e-6, "quantile %v", p)
		}
	}
}

func sameMean(want float64) func(*testing.T, dist.Distribution) {
	return func(t *testing.T, got dist.Distribution) {
		t.Helper()
		assert.InEpsilon(t, 1+want, 1+got.Mean(), 1e-9)
	}
}

func isMaximum(d dist.Distribution, n float64) func(*testing.T, dist.Distribution) {
	return func(t *testing.T, got dist.Distribution) {
		t.Helper()
		assert.GreaterOrEqual(t, got.Mean(), d.Mean()*(1-1e-9))
		for i := 1; i < 100; i++ {
			x := d.Quantile(float64(i) / 100)
			assert.InDelta(t, math.Pow(d.CDF(x), n), got.CDF(x), 1e-9)
		}
	}
}

// isConditioned checks 1 - CDF'(t) = (1 - CDF(t)) / (1 - CDF(elapsed)).
func isConditioned(d dist.Distribution, elapsed float64) func(*testing.T, dist.Distribution) {
	return func(t *testing.T, got dist.Distribution) {
		t.Helper()
		lo, _ := got.Bounds()
		assert.GreaterOrEqual(t, lo, elapsed, "support starts at elapsed")
		assert.GreaterOrEqual(t, got.Mean(), elapsed)
		alive := dist.Survival(d, elapsed)
		if alive < 1e-9 {
			assert.InDelta(t, elapsed, got.Mean(), 1e-6*(1+elapsed), "nothing beyond elapsed")
			return
		}
		for i := 1; i < 100; i++ {
			x := got.Quantile(float64(i) / 100)
			assert.InDelta(t, dist.Survival(d, x)/alive, dist.Survival(got, x), 1e-7, "at %v", x)
		}
		assert.InEpsilon(t, 1+d.Mean(), 1+dist.PartialMean(d, elapsed)+float64(alive*got.Mean()), 1e-6, "total expectation")
	}
}
