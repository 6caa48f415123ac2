package utility_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/utility"
)

func curves(t testing.TB) map[string]*utility.Curve {
	t.Helper()
	out := map[string]*utility.Curve{}
	add := func(name string, c *utility.Curve, err error) {
		t.Helper()
		require.NoError(t, err)
		out[name] = c
	}
	c, err := utility.Deadline(300*time.Second, 10)
	add("deadline", c, err)
	c, err = utility.DeadlineTail(200*time.Second, 400*time.Second, 10, 3)
	add("tail", c, err)
	c, err = utility.LinearDecay(5, 600*time.Second)
	add("decay", c, err)
	c, err = utility.Piecewise([]utility.Point{{10, 1}, {100, 4}, {100, 6}, {250, 2}, {250, -1}, {500, -3}})
	add("piecewise", c, err)
	c, err = utility.Sum(out["tail"], out["decay"], out["piecewise"])
	add("sum", c, err)
	return out
}

// names are sorted so that the runs are alike.
func names(m map[string]*utility.Curve) []string {
	var out []string
	for n := range m {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

func runtimes(t testing.TB) []dist.Distribution {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	s := dist.NewSketch(0)
	for range 3000 {
		require.NoError(t, s.Add(math.Exp(4.5+0.9*rng.NormFloat64())))
	}
	h, err := s.Distribution()
	require.NoError(t, err)
	atoms, err := dist.FromSamples([]float64{50, 100, 100, 250})
	require.NoError(t, err)
	p, err := dist.NewPoint(100)
	require.NoError(t, err)
	u, err := dist.NewUniform(20, 320)
	require.NoError(t, err)
	n, err := dist.NewNormal(150, 60)
	require.NoError(t, err)
	l, err := dist.NewLognormal(4.5, 0.9)
	require.NoError(t, err)
	e, err := dist.NewExponential(120)
	require.NoError(t, err)
	return []dist.Distribution{h, atoms, p, u, n, l, e}
}

// derived is what conditioning, scaling, shifting, sums, maxima and mixtures make of families and histograms.
func derived(t testing.TB) []dist.Distribution {
	t.Helper()
	var out []dist.Distribution
	add := func(d dist.Distribution, err error) {
		t.Helper()
		require.NoError(t, err)
		out = append(out, d)
	}
	base := runtimes(t)
	for i, d := range base {
		add(dist.Condition(d, d.Quantile(0.4)))
		add(dist.Scale(d, 1.5))
		add(dist.Shift(d, 25))
		add(dist.MaxOf(d, 4))
		add(dist.Sum(d, base[(i+3)%len(base)]))
		add(dist.NewMixture([]dist.Component{{Weight: 1, Dist: d}, {Weight: 2, Dist: base[(i+4)%len(base)]}}))
	}
	for _, d := range slices.Clone(out) { // and once more
		if _, ok := d.(*dist.Histogram); !ok {
			add(dist.Condition(d, d.Quantile(0.6)))
			add(dist.Scale(d, 0.5))
		}
	}
	return out
}

// integral is E[u(start + X)] by the quantiles alone: no code in common with the closed form. Between the kinks
// of the curve u(start + Quantile(p)) is monotone, so that a cell of p in which it hardly changes can be trusted, and
// others, with an atom somewhere, are halved.
func integral(c *utility.Curve, d dist.Distribution, start float64) float64 {
	ps := []float64{0, 1}
	for _, p := range c.Points() {
		y := p.T - start
		ps = append(ps, d.CDF(math.Nextafter(y, math.Inf(-1))), d.CDF(y))
	}
	slices.Sort(ps)
	f := func(p float64) float64 { return c.At(start + d.Quantile(p)) }
	var cell func(p0, p1, f0, f1 float64, depth int) float64
	cell = func(p0, p1, f0, f1 float64, depth int) float64 {
		if depth == 0 || math.Abs(f1-f0)*(p1-p0) < 1e-6 {
			return (p1 - p0) * (f0 + f1) / 2
		}
		p := p0 + (p1-p0)/2
		fp := f(p)
		return cell(p0, p, f0, fp, depth-1) + cell(p, p1, fp, f1, depth-1)
	}
	sum := 0.0
	for i := 1; i < len(ps); i++ {
		if w := ps[i] - ps[i-1]; w > 1e-15 {
			sum += cell(ps[i-1], ps[i], f(ps[i-1]+w*1e-9), f(ps[i]-w*1e-9), 30)
		}
	}
	return sum
}

// numeric averages over quantiles: no code in common with the closed form.
func numeric(u utility.Utility, d dist.Distribution, start float64) float64 {
	const n = 20000
	sum := 0.0
	for i := range n {
		sum += u.At(start + d.Quantile((float64(i)+0.5)/n))
	}
	return sum / n
}

// opaque hides that a curve is one.
type opaque struct{ u utility.Utility }

func (o opaque) At(t float64) float64 { return o.u.At(t) }

func TestExpectedAgainstNumeric(t *testing.T) {
	cs := curves(t)
	for _, name := range names(cs) {
		for i, d := range runtimes(t) {
			for _, start := range []float64{0, 33.3, 50, 100, 150, 200, 299, 300, 450, 700} {
				want := numeric(cs[name], d, start)
				assert.InDelta(t, want, utility.Expected(cs[name], d, start), 2e-3, "%s, runtime %d, start %v", name, i, start)
				assert.InDelta(t, want, utility.Expected(opaque{cs[name]}, d, start), 2e-2, "foreign %s, runtime %d, start %v",
					name, i, start)
			}
		}
	}
}

func TestExpectedIsTheIntegralForAnyCurveAndDistribution(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	cs := curves(t)
	for i := range 6 {
		cs[fmt.Sprint("random ", i)] = randomCurve(t, rng)
	}
	ds := append(runtimes(t), derived(t)...)
	for _, name := range names(cs) {
		lo, hi := cs[name].Range()
		for i, d := range ds {
			start := 700 * rng.Float64()
			want := integral(cs[name], d, start)
			assert.InDelta(t, want, utility.Expected(cs[name], d, start), 1e-5*(hi-lo), "%s, %T %d, start %v", name, d, i, start)
		}
	}
}

func TestExpectedAllIsExpected(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	starts := make([]float64, 64)
	for i := range starts {
		starts[i] = float64(i) * 11
	}
	shuffled := slices.Clone(starts)
	rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	cs := curves(t)
	got := make([]float64, 64)
	for _, name := range names(cs) {
		for _, d := range runtimes(t) {
			for _, ss := range [][]float64{starts, shuffled} {
				utility.ExpectedAll(got, cs[name], d, ss)
				for i, s := range ss {
					assert.InDelta(t, utility.Expected(cs[name], d, s), got[i], 1e-12)
				}
			}
		}
	}
	utility.ExpectedAll(got[:1], cs["decay"], runtimes(t)[0], []float64{math.NaN()})
	assert.True(t, math.IsNaN(got[0]))
	utility.ExpectedAll(nil, cs["decay"], runtimes(t)[0], starts)
}

func TestMetamorphic(t *testing.T) {
	cs := curves(t)
	for _, name := range names(cs) {
		c := cs[name]
		tripled, err := utility.Weighted(c, 3)
		require.NoError(t, err)
		both, err := utility.Sum(c, cs["tail"])
		require.NoError(t, err)
		for _, d := range runtimes(t) {
			for start := 0.0; start < 700; start += 37 {
				v := utility.Expected(c, d, start)
				assert.InDelta(t, 3*v, utility.Expected(tripled, d, start), 1e-9, "linear in the weight")
				assert.InDelta(t, v+utility.Expected(cs["tail"], d, start), utility.Expected(both, d, start), 1e-9, "additive")
				later, err := dist.Shift(d, start)
				require.NoError(t, err)
				assert.InDelta(t, utility.Expected(c, later, 0), v, 1e-9, "a later start is a longer runtime")
			}
		}
	}
}

func TestLaterIsNeverBetter(t *testing.T) {
	cs := curves(t)
	for _, name := range []string{"deadline", "tail", "decay"} {
		for _, d := range runtimes(t) {
			prev := math.Inf(1)
			for start := 0.0; start < 700; start += 7 {
				v := utility.Expected(cs[name], d, start)
				assert.LessOrEqual(t, v, prev+1e-12)
				assert.GreaterOrEqual(t, v, 0.0)
				prev = v
			}
		}
	}
}

func TestDeadlineIsMetToTheSecond(t *testing.T) {
	c, err := utility.DeadlineTail(100*time.Second, 50*time.Second, 8, 2)
	require.NoError(t, err)
	assert.Equal(t, 8.0, c.At(100))
	assert.InDelta(t, 2, c.At(math.Nextafter(100, 200)), 1e-9)
	assert.Equal(t, 1.0, c.At(125))
	assert.Zero(t, c.At(150))
	p, err := dist.NewPoint(60)
	require.NoError(t, err)
	h, err := dist.FromSamples([]float64{60})
	require.NoError(t, err)
	for _, d := range []dist.Distribution{p, h} {
		assert.Equal(t, 8.0, utility.Expected(c, d, 40))
		assert.InDelta(t, 1, utility.Expected(c, d, 65), 1e-12)
	}
}

func TestCurvesRefuse(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	ok, err := utility.Deadline(time.Second, 1)
	require.NoError(t, err)
	huge, err := utility.Deadline(time.Second, 1.5e308)
	require.NoError(t, err)
	for name, make := range map[string]func() error{
		"deadline before submission": func() error { _, err := utility.Deadline(-1, 1); return err },
		"value NaN":                  func() error { _, err := utility.Deadline(1, nan); return err },
		"value negative":             func() error { _, err := utility.Deadline(1, -1); return err },
		"no tail":                    func() error { _, err := utility.DeadlineTail(1, 0, 1, 1); return err },
		"tail above value":           func() error { _, err := utility.DeadlineTail(1, 1, 1, 2); return err },
		"tail value NaN":             func() error { _, err := utility.DeadlineTail(1, 1, 1, nan); return err },
		"no horizon":                 func() error { _, err := utility.LinearDecay(1, 0); return err },
		"horizon negative":           func() error { _, err := utility.LinearDecay(1, -1); return err },
		"no points":                  func() error { _, err := utility.Piecewise(nil); return err },
		"point NaN":                  func() error { _, err := utility.Piecewise([]utility.Point{{nan, 1}}); return err },
		"point Inf":                  func() error { _, err := utility.Piecewise([]utility.Point{{1, inf}}); return err },
		"points unsorted": func() error {
			_, err := utility.Piecewise([]utility.Point{{2, 1}, {1, 1}})
			return err
		},
		"three at once": func() error {
			_, err := utility.Piecewise([]utility.Point{{1, 3}, {1, 2}, {1, 1}})
			return err
		},
		"slope overflows": func() error {
			_, err := utility.Piecewise([]utility.Point{{0, 1e308}, {1e-9, 0}})
			return err
		},
		"weight NaN":      func() error { _, err := utility.Weighted(ok, nan); return err },
		"weight negative": func() error { _, err := utility.Weighted(ok, -1); return err },
		"weighted nil":    func() error { _, err := utility.Weighted(nil, 1); return err },
		"sum of none":     func() error { _, err := utility.Sum(); return err },
		"sum with nil":    func() error { _, err := utility.Sum(ok, nil); return err },
		"sum overflows":   func() error { _, err := utility.Sum(huge, huge); return err },
	} {
		err := make()
		var param *dist.ParamError
		require.ErrorAs(t, err, &param, name)
		require.ErrorIs(t, err, dist.ErrInvalid, name)
	}
}

func TestErrorsShowWhatWasRefused(t *testing.T) {
	for want, make := range map[string]func() error{
		"utility.Deadline: invalid parameter: deadline = -1m30s, want not negative": func() error {
			_, err := utility.Deadline(-90*time.Second, 1)
			return err
		},
		"utility.LinearDecay: invalid parameter: horizon = 0s, want longer than 0": func() error {
			_, err := utility.LinearDecay(1, 0)
			return err
		},
		"utility.Weighted: invalid parameter: c = <nil>, want a curve made by a constructor": func() error {
			_, err := utility.Weighted(nil, 1)
			return err
		},
		"utility.Sum: invalid parameter: cs[0] = &utility.Curve{}, want a curve made by a constructor": func() error {
			_, err := utility.Sum(new(utility.Curve))
			return err
		},
	} {
		assert.EqualError(t, make(), want)
	}
}

func TestNoAllocations(t *testing.T) {
	cs := curves(t)
	starts, dst := make([]float64, 16), make([]float64, 16)
	for _, d := range runtimes(t) {
		for _, c := range cs {
			assert.Zero(t, testing.AllocsPerRun(50, func() {
				utility.ExpectedAll(dst, c, d, starts)
				utility.Expected(c, d, 5)
			}))
		}
	}
}

func BenchmarkExpected(b *testing.B) {
	cs := curves(b)
	h := runtimes(b)[0]
	for _, name := range []string{"deadline", "tail", "decay"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			s := 0.0
			for b.Loop() {
				utility.Expected(cs[name], h, s)
				if s += 17; s > 300 {
					s = 0
				}
			}
		})
	}
}

func BenchmarkExpectedAll(b *testing.B) {
	cs := curves(b)
	h := runtimes(b)[0]
	starts, dst := make([]float64, 24), make([]float64, 24)
	for i := range starts {
		starts[i] = float64(i) * 12
	}
	for _, name := range []string{"deadline", "tail", "decay"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				utility.ExpectedAll(dst, cs[name], h, starts)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(starts)), "ns/start")
		})
	}
}
