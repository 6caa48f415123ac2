package odds

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestTellsWholePercents: what is told is what its text says. Few observations make nothing certain.
func TestTellsWholePercents(t *testing.T) {
	c := New()
	for _, x := range []struct {
		chance  float64
		samples int
		want    float64
	}{{1, 0, 1}, {0.123456, 0, 0.12}, {0, 0, 0}, {1, 1, 0.67}, {0, 1, 0.33}, {1, 2, 0.75}, {0, 8, 0.1}, {1, 1000, 1},
		{0.5, 3, 0.5}} {
		assert.InDelta(t, x.want, c.Tell(Foretold{Chance: Doubtful(x.chance, x.samples)}), 1e-15, x)
	}
	c.Learn(Foretold{Chance: 0.9}, true, 1)
	p := c.Tell(Foretold{Chance: 0.9})
	assert.InDelta(t, float64(int(100*p+0.5))/100, p, 1e-15)
}

// TestCalibratorLearns: whatever the forecast gets wrong, what is told comes true as often as it says, soon. The truth
// here is none that the first stage can express.
func TestCalibratorLearns(t *testing.T) {
	for name, truth := range map[string]func(Foretold) float64{
		"right":        func(f Foretold) float64 { return f.Chance },
		"pessimistic":  func(f Foretold) float64 { return 0.5 + f.Chance/2 },
		"optimistic":   func(f Foretold) float64 { return f.Chance * f.Chance },
		"uninformed":   func(Foretold) float64 { return 0.7 },
		"by the clock": func(f Foretold) float64 { return 1 - f.Passed },
		"steps": func(f Foretold) float64 {
			if f.Passed > 0.4 {
				return 0.1
			}
			return 0.95
		},
	} {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			c := New()
			var told, met [10]float64
			var jobs [10]int
			for i := range 20_000 {
				f := Foretold{rng.Float64(), rng.Float64() * rng.Float64()}
				p, hit := c.Tell(f), rng.Float64() < truth(f)
				if i >= 500 {
					b := bin(p)
					jobs[b]++
					told[b] += p
					if hit {
						met[b]++
					}
				}
				c.Learn(f, hit, 1)
			}
			for b, n := range jobs {
				if n >= 1000 {
					assert.InDelta(t, told[b]/float64(n), met[b]/float64(n), 0.05, "bin %d of %d jobs", b, n)
				}
			}
		})
	}
}

// TestCalibratorBegins: before anything is learnt the forecast's own probability is told. After one job it is not much
// different.
func TestCalibratorBegins(t *testing.T) {
	c := New()
	f := Foretold{Chance: 0.8, Passed: 0.1}
	assert.InDelta(t, 0.8, c.Tell(f), 0)
	c.Learn(f, false, 1)
	after := c.Tell(f)
	assert.Less(t, after, 0.8)
	assert.Greater(t, after, 0.4)
	for _, odd := range []Foretold{{0, 0}, {1, 1}, {1, -3}, {0, 1e300}} {
		for range 100 {
			c.Learn(odd, odd.Chance < 0.5, 1)
		}
		p := c.Tell(odd)
		assert.True(t, p >= 0 && p <= 1, p)
	}
}

// TestWeights: n jobs that weigh 1/n each teach as much as one job, and much less than n jobs do.
func TestWeights(t *testing.T) {
	f := Foretold{Chance: 0.8, Passed: 0.1}
	after := func(n int, weight float64) float64 {
		c := New()
		for range n {
			c.Learn(f, false, weight)
		}
		jobs, met := c.Learnt()
		assert.InDelta(t, float64(n)*weight, jobs, 1e-9)
		assert.Zero(t, met)
		return c.Tell(f)
	}
	one := after(1, 1)
	for _, n := range []int{2, 10, 100} {
		assert.InDelta(t, one, after(n, 1/float64(n)), 0.06, n)
	}
	assert.Less(t, after(100, 1), one-0.3)
}
