package threesigma

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestCalibratorLearns: whatever the forecast gets wrong, what is told comes true as often as it says, soon. The truth here is
// none that the first stage can express.
func TestCalibratorLearns(t *testing.T) {
	for name, truth := range map[string]func(foretold) float64{
		"right":        func(f foretold) float64 { return f.chance },
		"pessimistic":  func(f foretold) float64 { return 0.5 + f.chance/2 },
		"optimistic":   func(f foretold) float64 { return f.chance * f.chance },
		"uninformed":   func(foretold) float64 { return 0.7 },
		"by the clock": func(f foretold) float64 { return 1 - f.passed },
		"steps": func(f foretold) float64 {
			if f.passed > 0.4 {
				return 0.1
			}
			return 0.95
		},
	} {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			c := newCalibrator()
			var told, met [10]float64
			var jobs [10]int
			for i := range 20_000 {
				f := foretold{rng.Float64(), rng.Float64() * rng.Float64()}
				p, hit := c.tell(f), rng.Float64() < truth(f)
				if i >= 500 {
					b := bin(p)
					jobs[b]++
					told[b] += p
					if hit {
						met[b]++
					}
				}
				c.learn(f, hit)
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
	c := newCalibrator()
	f := foretold{chance: 0.8, passed: 0.1}
	assert.InDelta(t, 0.8, c.tell(f), 0)
	c.learn(f, false)
	after := c.tell(f)
	assert.Less(t, after, 0.8)
	assert.Greater(t, after, 0.4)
	for _, odd := range []foretold{{0, 0}, {1, 1}, {1, -3}, {0, 1e300}} {
		for range 100 {
			c.learn(odd, odd.chance < 0.5)
		}
		p := c.tell(odd)
		assert.True(t, p >= 0 && p <= 1, p)
	}
}
