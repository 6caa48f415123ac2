// Package outlook tells when pending jobs will start and end, as distributions. It works for any policy.
//
// An [Estimator] is shown each cycle's snapshot and plan. It simulates the queue forward in a few worlds. In each
// world every running and pending job has a runtime drawn from its distribution, and jobs like the latest ones go on
// arriving. A world goes through the queue in one of several orders: by submission (strictly, passing over what does
// not fit, or with a reservation), by priority, deadline, runtime or worth, or as the plan says. The one is used that
// would have told the starts so far best. So the policy itself is never asked. The numbers that runtimes are drawn with
// belong to the job and the world, not to the cycle. So an estimate changes only when something has happened. Samples
// are kept: where many jobs wait, each cycle renews a few worlds only.
//
// What the worlds say is then corrected by how earlier estimates came out. The ratio of the true wait to the estimated
// one is learnt for short and for long waits, from jobs that have started and from those that still wait. So the
// estimates take in what no simulation knows: drift of the load, and how the policy departs from its order. The
// probabilities of meeting deadlines are corrected by what became of earlier ones.
//
// Worlds do not tell nodes apart and preempt nothing. What that costs is left to the correction.
//
// The package decides nothing and never asks a policy, a predictor or a clock.
package outlook

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/internal/odds"
)

// ErrConfig is the sentinel of errors of [New].
var ErrConfig = errors.New("outlook: invalid configuration")

// levels is the number of quantiles that are told.
const levels = 7

// told are the probabilities of the quantiles that are told.
var toldLevels = [levels]float64{0.025, 0.1, 0.25, 0.5, 0.75, 0.9, 0.975}

// Times is a distribution of a time, in seconds from the snapshot's now. +Inf stands for never.
type Times struct{ at [levels]float64 }

// Quantile is the time by which it has happened with probability p. It is exact at 2.5, 10, 25, 50, 75, 90 and 97.5 %,
// linear in between, and constant beyond.
func (t *Times) Quantile(p float64) float64 {
	for i := 1; i < levels; i++ {
		if p < toldLevels[i] {
			lo, hi := t.at[i-1], t.at[i]
			if p <= toldLevels[i-1] || lo == hi {
				return lo
			}
			if math.IsInf(hi, 1) {
				return hi
			}
			return lo + float64((hi-lo)*((p-toldLevels[i-1])/(toldLevels[i]-toldLevels[i-1])))
		}
	}
	return t.at[levels-1]
}

// Outlook is what can be said of a job that waits.
type Outlook struct {
	// Job is its ID.
	Job string
	// Start and End are when it starts and ends.
	Start, End Times
	// MeetsDeadline is the probability that it ends by its deadline, NaN if it has none.
	MeetsDeadline float64
}

// Config sets what New leaves to defaults. Its zero value is all defaults.
type Config struct {
	// Seed is that of the worlds.
	Seed uint64
	// Worlds is the number of samples a job, 2 to 64; 0 means 16.
	Worlds int
	// Work limits a cycle's simulations, in steps of some nanoseconds, at least 1; 0 means 100,000. Two worlds are
	// simulated at least.
	Work int
}

// Estimator tells when jobs start and end. It is for one goroutine at a time.
type Estimator struct {
	config Config
	origin time.Time
	began  bool
	cycle  float64 // seconds, for what is estimated in
	next   int     // world to be renewed

	jobs      map[string]*waiting
	round     int
	resources []string
	recent    arrivals
	drift     drift
	orders    scores
	observed  []observed
	slow      slowed
	odds      odds.Calibrator
	promises  promises
	turn      int // the order to be asked next
	givesUp   float64
	world     world
	scratch   []float64
}

// New makes an estimator that has learnt nothing. Its error wraps [ErrConfig].
func New(c Config) (*Estimator, error) {
	if c.Worlds == 0 {
		c.Worlds = 16
	}
	if c.Work == 0 {
		c.Work = 100_000
	}
	switch {
	case c.Worlds < 2 || c.Worlds > 64:
		return nil, fmt.Errorf("%w: %d worlds, want 2 to 64", ErrConfig, c.Worlds)
	case c.Work < 1:
		return nil, fmt.Errorf("%w: work of %d, want at least 1", ErrConfig, c.Work)
	}
	return &Estimator{config: c, jobs: map[string]*waiting{}, odds: odds.New(),
		promises: promises{of: map[string]*promise{}}}, nil
}

// waiting is what is known of a job that waits.
type waiting struct {
	job      *sched.Job
	hash     uint64
	first    float64 // when it was first seen, in seconds since the origin
	seen     int     // the round in which it was last seen
	cycles   int     // for how many it has waited
	samples  []float64
	tellings []telling
	forecast dist.Distribution
	runtimes [parts]float64 // quantiles of forecast
}

// telling is an estimate, to be compared with what comes true.
type telling struct {
	at     float64         // seconds since the origin
	median float64         // from then, as the worlds said
	spread float64         // of its logarithm
	orders [orders]float64 // medians by order; NaN if not asked
}

// parts is the number of equal parts of a distribution that ends are worked out with.
const parts = 5

// asked is how many orders are asked in a cycle.
const asked = 2

// slowed is how often jobs start off their preferred nodes.
type slowed struct{ sum, weight float64 }

func (s *slowed) learn(slow bool) {
	s.sum, s.weight = float64(s.sum*fading), float64(s.weight*fading)+1
	if slow {
		s.sum++
	}
}

// share begins with one job in four.
func (s *slowed) share() float64 { return (s.sum + 1) / (s.weight + 4) }

func (s *slowed) of(j *sched.Job) float64 {
	if j.Preferred.IsAny() {
		return 0
	}
	return s.share()
}
