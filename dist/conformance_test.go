package dist_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/dist/disttest"
)

func need[D any](t testing.TB) func(D, error) D {
	return func(d D, err error) D {
		t.Helper()
		require.NoError(t, err)
		return d
	}
}

type named struct {
	name string
	d    dist.Distribution
}

func all(t testing.TB) []named {
	hist := need[*dist.Histogram](t)
	uniform := need[dist.Uniform](t)
	normal := need[dist.Normal](t)
	lognormal := need[dist.Lognormal](t)
	exponential := need[dist.Exponential](t)
	s := dist.NewSketch(0)
	fill(t, s, lognormals(5000, 11))
	small := dist.NewSketch(5)
	fill(t, small, []float64{1, 1, 2, 3, 50, 51, 52, 900, 901, 1000, 1000})
	out := []named{
		{"point", need[dist.Point](t)(dist.NewPoint(7))},
		{"point at 0", need[dist.Point](t)(dist.NewPoint(0))},
		{"uniform", uniform(dist.NewUniform(2, 9))},
		{"uniform from 0", uniform(dist.NewUniform(0, 10))},
		{"uniform without width", uniform(dist.NewUniform(4, 4))},
		{"normal", normal(dist.NewNormal(100, 20))},
		{"normal cut in the middle", normal(dist.NewNormal(1, 5))},
		{"normal below 0", normal(dist.NewNormal(-10, 5))},
		{"lognormal", lognormal(dist.NewLognormal(5, 0.8))},
		{"lognormal narrow", lognormal(dist.NewLognormal(5, 0.01))},
		{"exponential", exponential(dist.NewExponential(30))},
		{"histogram", hist(dist.NewHistogram([]float64{0, 1, 5, 5, 8, 20}, []float64{1, 0, 3, 2, 1}))},
		{"samples", hist(dist.FromSamples([]float64{3, 3, 7, 100, 250.5, 1e4}))},
		{"many samples", hist(dist.FromSamples(lognormals(2000, 12)))},
		{"sketch", hist(s.Distribution())},
		{"small sketch", hist(small.Distribution())},
	}
	mix := need[dist.Distribution](t)
	out = append(out,
		named{"mixture of histograms",
			mix(dist.NewMixture([]dist.Component{{1, out[0].d}, {2, out[2].d}, {0.5, out[11].d}}))},
		named{"mixture of families", mix(dist.NewMixture([]dist.Component{{1, out[5].d}, {2, out[8].d}, {1, out[0].d}}))},
	)
	return out
}

func TestConformance(t *testing.T) {
	for _, c := range all(t) {
		disttest.Run(t, c.name, c.d)
	}
}

// foreign hides everything but the interface, as a stranger's type would.
type foreign struct{ dist.Distribution }

func TestConformanceForeign(t *testing.T) {
	disttest.Check(t, foreign{need[dist.Lognormal](t)(dist.NewLognormal(3, 0.5))})
	u := need[dist.Uniform](t)(dist.NewUniform(2, 9))
	disttest.Check(t, foreign{u})
	for x := 0.0; x < 12; x += 0.5 {
		assert.InDelta(t, u.PartialMean(x), dist.PartialMean(foreign{u}, x), 1e-5)
	}
}

// failures counts what the suite finds.
type failures struct{ n int }

func (f *failures) Errorf(string, ...any) { f.n++ }
func (f *failures) Helper()               {}

type broken struct {
	dist.Uniform
	cdf     func(float64) float64
	mean    float64
	partial float64
}

func (b broken) CDF(x float64) float64         { return b.cdf(b.Uniform.CDF(x)) }
func (b broken) Mean() float64                 { return b.Uniform.Mean() * b.mean }
func (b broken) PartialMean(x float64) float64 { return b.Uniform.PartialMean(x) * b.partial }

func TestSuiteFindsBrokenDistributions(t *testing.T) {
	u := need[dist.Uniform](t)(dist.NewUniform(2, 9))
	same := func(f float64) float64 { return f }
	check := func(d dist.Distribution) int {
		var f failures
		disttest.Check(&f, d)
		return f.n
	}
	require.Zero(t, check(broken{u, same, 1, 1}))
	for name, d := range map[string]dist.Distribution{
		"not reaching one": broken{u, func(f float64) float64 { return 0.99 * f }, 1, 1},
		"falling":          broken{u, func(f float64) float64 { return f + 0.3*math.Sin(9*math.Pi*f) }, 1, 1},
		"wrong mean":       broken{u, same, 1.1, 1},
		"wrong partial":    broken{u, same, 1, 0.9},
		"other quantile":   broken{u, func(f float64) float64 { return f * f }, 1, 1},
	} {
		assert.Positive(t, check(d), name)
	}
}

func TestSumAgainstSampling(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	cases := all(t)
	for i := range cases {
		a, b := cases[i], cases[(i*5+3)%len(cases)]
		t.Run(fmt.Sprint(a.name, " + ", b.name), func(t *testing.T) {
			s, err := dist.Sum(a.d, b.d)
			require.NoError(t, err)
			assert.InEpsilon(t, 1+a.d.Mean()+b.d.Mean(), 1+s.Mean(), 1e-9)
			const n = 20000
			below := map[float64]int{}
			ps := []float64{0.1, 0.25, 0.5, 0.75, 0.9, 0.99}
			for range n {
				x := dist.Sample(a.d, rng) + dist.Sample(b.d, rng)
				for _, p := range ps {
					if x <= s.Quantile(p)*(1+1e-9) {
						below[p]++
					}
				}
			}
			for _, p := range ps {
				// An atom may carry the CDF well beyond p.
				assert.InDelta(t, s.CDF(s.Quantile(p)*(1+1e-9)), float64(below[p])/n, 0.02, "quantile %v", p)
			}
		})
	}
}

func TestSumOfFewAtomsIsExact(t *testing.T) {
	die := need[*dist.Histogram](t)(dist.FromSamples([]float64{1, 2, 3, 4, 5, 6}))
	two, err := dist.Sum(die, die)
	require.NoError(t, err)
	want := []float64{0, 1, 3, 6, 10, 15, 21, 26, 30, 33, 35, 36}
	for i, w := range want {
		assert.InDelta(t, w/36, two.CDF(float64(i+1)), 1e-12)
		assert.InDelta(t, w/36, two.CDF(float64(i+1)+0.9), 1e-12)
	}
}

func TestMaxOfClosedForms(t *testing.T) {
	u := need[dist.Uniform](t)(dist.NewUniform(0, 10))
	m, err := dist.MaxOf(u, 4)
	require.NoError(t, err)
	assert.InDelta(t, 8, m.Mean(), 1e-12)
	e := need[dist.Exponential](t)(dist.NewExponential(10))
	m, err = dist.MaxOf(e, 100)
	require.NoError(t, err)
	h := 0.0
	for i := 1; i <= 100; i++ {
		h += 1 / float64(i)
	}
	assert.InEpsilon(t, 10*h, m.Mean(), 1e-6, "harmonic number")
}

func TestConditioningTwiceIsConditioningOnce(t *testing.T) {
	for _, c := range all(t) {
		a, b := c.d.Quantile(0.3), c.d.Quantile(0.8)
		once, err := dist.Condition(c.d, b)
		require.NoError(t, err)
		first, err := dist.Condition(c.d, a)
		require.NoError(t, err)
		twice, err := dist.Condition(first, b)
		require.NoError(t, err)
		assert.InEpsilon(t, 1+once.Mean(), 1+twice.Mean(), 1e-9, c.name)
		for p := 0.0507; p < 1; p += 0.0973 { // clear of the edges of equally likely atoms
			assert.InEpsilon(t, 1+once.Quantile(p), 1+twice.Quantile(p), 1e-9, c.name)
		}
	}
}

func TestConditionFarOut(t *testing.T) {
	n := need[dist.Normal](t)(dist.NewNormal(100, 10))
	c, err := dist.Condition(n, 200) // ten sigma
	require.NoError(t, err)
	assert.InDelta(t, 200.98, c.Mean(), 0.01, "Mills ratio: 10/(10+1/10…) beyond")
	assert.Greater(t, c.Quantile(0.5), 200.0)
	disttest.Check(t, c)
	gone, err := dist.Condition(n, 1000) // ninety: below the smallest float
	require.NoError(t, err)
	assert.Equal(t, 1000.0, gone.Mean())
}

func TestSampleFollowsDistribution(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	for _, c := range all(t) {
		const n = 20000
		at := c.d.Quantile(0.6)
		below := 0
		for range n {
			if dist.Sample(c.d, rng) <= at {
				below++
			}
		}
		assert.InDelta(t, c.d.CDF(at), float64(below)/n, 0.02, c.name)
	}
}

func TestMoreConstructorsRefuse(t *testing.T) {
	nan := math.NaN()
	var none dist.Distribution
	for name, make := range map[string]func() error{
		"normal NaN":           func() error { _, err := dist.NewNormal(nan, 1); return err },
		"normal without width": func() error { _, err := dist.NewNormal(1, 0); return err },
		"normal far below 0":   func() error { _, err := dist.NewNormal(-100, 1); return err },
		"lognormal NaN":        func() error { _, err := dist.NewLognormal(nan, 1); return err },
		"lognormal overflow":   func() error { _, err := dist.NewLognormal(1, 100); return err },
		"exponential 0":        func() error { _, err := dist.NewExponential(0); return err },
		"mixture empty":        func() error { _, err := dist.NewMixture(nil); return err },
		"mixture nil":          func() error { _, err := dist.NewMixture([]dist.Component{{1, none}}); return err },
		"mixture negative":     func() error { _, err := dist.NewMixture([]dist.Component{{-1, dist.Point{}}}); return err },
		"mixture weightless":   func() error { _, err := dist.NewMixture([]dist.Component{{0, dist.Point{}}}); return err },
		"sum nil":              func() error { _, err := dist.Sum(none, none); return err },
		"maximum of 2^30+1":    func() error { _, err := dist.MaxOf(dist.Point{}, 1<<30+1); return err },
		"maximum of 0":         func() error { _, err := dist.MaxOf(dist.Point{}, 0); return err },
		"tabulate to 0":        func() error { _, err := dist.Tabulate(dist.Point{}, 0); return err },
	} {
		require.ErrorIs(t, make(), dist.ErrInvalid, name)
	}
}
