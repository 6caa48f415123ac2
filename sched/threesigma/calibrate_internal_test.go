package threesigma

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
)

// TestReview: a job teaches what became of it, once, as soon as that is certain. No more is kept than of the jobs that
// run.
func TestReview(t *testing.T) {
	const deadline = 100 // s
	at := func(s int) time.Time { return time.Unix(0, 0).UTC().Add(time.Duration(s) * time.Second) }
	j := &sched.Job{ID: "j", Tasks: 1, Submitted: at(0), Deadline: deadline * time.Second}
	runs := func(s int) *sched.Snapshot { return &sched.Snapshot{Now: at(s), Running: []sched.Running{{Job: j}}} }
	waits := func(s int) *sched.Snapshot { return &sched.Snapshot{Now: at(s), Pending: []sched.Pending{{Job: j}}} }
	away := func(s int) *sched.Snapshot { return &sched.Snapshot{Now: at(s)} }
	done := func(s, when int) *sched.Snapshot {
		return &sched.Snapshot{Now: at(s),
			Completed: []sched.Completion{{Job: "other", At: at(when)}, {Job: "j", At: at(when)}}}
	}
	for name, c := range map[string]struct {
		seen        []*sched.Snapshot
		jobs, met   float64
		stillWaited bool
	}{
		"in time":         {[]*sched.Snapshot{runs(10), done(20, 15)}, 1, 1, false},
		"within a cycle":  {[]*sched.Snapshot{done(20, 15)}, 1, 1, false},
		"at the deadline": {[]*sched.Snapshot{runs(95), done(105, deadline)}, 1, 1, false},
		"just late":       {[]*sched.Snapshot{runs(95), done(105, deadline+1)}, 1, 0, false},
		"runs on past its deadline": {
			[]*sched.Snapshot{runs(10), runs(deadline), runs(101), runs(110), done(120, 115)}, 1, 0, false},
		"not over": {[]*sched.Snapshot{runs(10), runs(deadline)}, 0, 0, true},
		"stopped, back in time": {[]*sched.Snapshot{runs(10), away(20), waits(30), runs(40), done(50, 45)}, 0, 0,
			false},
		"stopped, back after its deadline": {[]*sched.Snapshot{runs(10), away(90), away(110), waits(120)}, 0, 0, false},
		"withdrawn":                        {[]*sched.Snapshot{runs(10), away(20), away(110)}, 0, 0, false},
		"done while it was being stopped":  {[]*sched.Snapshot{runs(10), away(20), done(30, 25)}, 0, 0, false},
		"a start that failed":              {[]*sched.Snapshot{waits(10), away(110)}, 0, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := New(Config{})
			require.NoError(t, err)
			p.tell(j, foretold{chance: 0.5, passed: 0.1})
			for _, s := range c.seen {
				p.review(s)
			}
			var sum tally
			for _, b := range p.calibrator.bins {
				sum.jobs, sum.met = sum.jobs+b.jobs, sum.met+b.met
			}
			assert.Equal(t, tally{c.jobs, c.met}, sum)
			assert.Equal(t, c.stillWaited, len(p.told) == 1)
		})
	}
}

// TestTellsWholePercents: what is told is what its text says. Few observations make nothing certain.
func TestTellsWholePercents(t *testing.T) {
	c := newCalibrator()
	for _, x := range []struct {
		chance  float64
		samples int
		want    float64
	}{{1, 0, 1}, {0.123456, 0, 0.12}, {0, 0, 0}, {1, 1, 0.67}, {0, 1, 0.33}, {1, 2, 0.75}, {0, 8, 0.1}, {1, 1000, 1},
		{0.5, 3, 0.5}} {
		assert.InDelta(t, x.want, c.tell(foretold{chance: doubtful(x.chance, x.samples)}), 1e-15, x)
	}
	c.learn(foretold{chance: 0.9}, true)
	p := c.tell(foretold{chance: 0.9})
	assert.InDelta(t, float64(int(100*p+0.5))/100, p, 1e-15)
}

// TestCalibratorLearns: whatever the forecast gets wrong, what is told comes true as often as it says, soon. The truth
// here is none that the first stage can express.
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
