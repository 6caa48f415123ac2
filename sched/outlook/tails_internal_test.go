package outlook

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestVerdictsComeOnce, as soon as they are certain.
func TestVerdictsComeOnce(t *testing.T) {
	for name, c := range map[string]struct {
		waits       []float64
		starts      float64 // 0 for not yet
		early, late tail
	}{
		"nothing is certain":     {[]float64{1, 10}, 0, tail{}, tail{}},
		"not too early":          {[]float64{1, 11, 12}, 0, tail{sum: -0.1, verdicts: 1}, tail{}},
		"too late, still waits":  {[]float64{11, 21, 30}, 0, tail{sum: -0.1, verdicts: 1}, tail{sum: 0.9, verdicts: 1}},
		"too late, starts":       {[]float64{11, 21, 30}, 31, tail{sum: -0.1, verdicts: 1}, tail{sum: 0.9, verdicts: 1}},
		"within":                 {[]float64{11}, 15, tail{sum: -0.1, verdicts: 1}, tail{sum: -0.1, verdicts: 1}},
		"too early":              {nil, 9, tail{sum: 0.9, verdicts: 1}, tail{sum: -0.1, verdicts: 1}},
		"at the ends, within":    {nil, 10, tail{sum: -0.1, verdicts: 1}, tail{sum: -0.1, verdicts: 1}},
		"at the other, too":      {nil, 20, tail{sum: -0.1, verdicts: 1}, tail{sum: -0.1, verdicts: 1}},
		"too late, and at once":  {nil, 25, tail{sum: -0.1, verdicts: 1}, tail{sum: 0.9, verdicts: 1}},
		"cycles do not add up":   {[]float64{15, 15, 15}, 0, tail{sum: -0.1, verdicts: 1}, tail{}},
		"late counts, and early": {[]float64{21}, 0, tail{sum: -0.1, verdicts: 1}, tail{sum: 0.9, verdicts: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			var got tails
			told := &telling{early: 10, late: 20}
			for _, now := range c.waits {
				got.waits(told, now)
			}
			if c.starts > 0 {
				got.started(told, c.starts)
			}
			assert.InDelta(t, c.early.sum, got.early.sum, 1e-12)
			assert.InDelta(t, c.late.sum, got.late.sum, 1e-12)
			assert.Equal(t, []int{c.early.verdicts, c.late.verdicts}, []int{got.early.verdicts, got.late.verdicts})
		})
	}
}

// TestTailsLearnTheSpread: whatever the true spread, and if it changes, a tenth of the starts end up beyond each end.
func TestTailsLearnTheSpread(t *testing.T) {
	for _, spread := range []float64{0.5, 1, 3} {
		rng := rand.New(rand.NewPCG(1, 2))
		learnt := newTails()
		early, late, n := 0.0, 0.0, 0.0
		for i := range 6000 {
			if i == 3000 {
				spread *= 2
			}
			z := prior
			learnt.stretch(&z)
			x := float64(spread * rng.NormFloat64())
			told := &telling{early: z[1], late: z[levels-2]}
			learnt.started(told, x)
			learnt.settle()
			if i%3000 >= 500 {
				n++
				if x < z[1] {
					early++
				}
				if x > z[levels-2] {
					late++
				}
			}
		}
		assert.InDelta(t, 0.1, early/n, 0.02, spread)
		assert.InDelta(t, 0.1, late/n, 0.02, spread)
	}
}

// TestTailsAreLimited, so that no run of bad luck makes estimates useless for ever.
func TestTailsAreLimited(t *testing.T) {
	var learnt tail
	for range 10_000 {
		learnt.judge(true)
		learnt.settle()
	}
	assert.Equal(t, float64(widest), learnt.widening)
	for range 100_000 {
		learnt.judge(false)
		learnt.settle()
	}
	assert.Equal(t, float64(narrowest), learnt.widening)
}

// TestWorldsAreSpread: in many worlds a job's quantiles are uniform, and two jobs share a quantile in many worlds.
func TestWorldsAreSpread(t *testing.T) {
	assert.Equal(t, 0.5, spaced(0, 0.618))
	const n = 20_000
	sum, same := 0.0, 0.0
	for w := range n {
		a, b := draw(mix(uint64(w)), w), draw(mix(uint64(w)+1<<40), w)
		sum += a
		if a == b {
			same++
		}
		assert.True(t, a > 0 && a < 1)
	}
	assert.InDelta(t, 0.5, sum/n, 0.01)
	assert.InDelta(t, alike*alike, same/n, 0.01)
}
