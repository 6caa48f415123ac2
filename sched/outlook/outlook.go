// Package outlook estimates when pending jobs will start and end, as distributions. It works for any policy.
//
// An [Estimator] is shown the snapshot and the plan of every cycle. It simulates the queue forward in several worlds.
// In each world every running and pending job has a runtime drawn from its distribution, many of them at the same
// quantile, since forecasts err together. Jobs like the latest arrivals keep arriving, faster or slower. A world takes
// the queue in one of several orders: by submission (strictly, skipping what does not fit, or with a reservation), by
// priority, by deadline, by runtime, by worth, or as the plan says. The estimator uses the order that would have
// estimated past starts best; it never asks the policy itself. The random numbers behind a runtime depend on the job
// and the world, not on the cycle, so an estimate changes only when something has happened. Samples are kept: if many
// jobs wait, each cycle renews a few worlds only.
//
// A forecast is made from jobs that have completed. That of a waiting job is first corrected by its peers, the latest
// runs of the feature value that it was made from, also those that still run. Where dozens of these have run for longer
// than most did before, the job is not expected to be short.
//
// The result is then corrected by how earlier estimates came out. The ratio of the true wait to the estimated wait is
// learnt for short and for long waits, from jobs that have started and from jobs that still wait. So the estimates take
// in what the simulation cannot know: drift of the load, and departures of the policy from its order. Then intervals
// are widened or narrowed until a tenth of the starts are before the 80 % interval and a tenth after it. The
// probabilities of meeting deadlines are corrected by the outcomes of earlier ones. Both corrections are learnt apart
// for jobs that have just come and for jobs that have waited; those of jobs that start have one of their own.
//
// All of this is learnt from the cycles that the estimator is shown. It is lost when the program ends: a new estimator
// starts from the simulation alone.
//
// Worlds do not distinguish nodes and preempt nothing. The resulting errors are left to the correction.
//
// The package decides nothing, and never asks a policy, a predictor or a clock. docs/starts.md has how far its
// estimates came true.
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

// ErrConfig is wrapped by the errors of [New].
var ErrConfig = errors.New("outlook: invalid configuration")

// levels is the number of quantiles of a [Times].
const levels = 7

// toldLevels are the probabilities of these quantiles.
var toldLevels = [levels]float64{0.025, 0.1, 0.25, 0.5, 0.75, 0.9, 0.975}

// Times is the distribution of the time until an event, in seconds from the snapshot's Now. +Inf stands for never.
type Times struct{ at [levels]float64 }

// Quantile is the time by which the event has happened with probability p. It is computed at 2.5, 10, 25, 50, 75, 90
// and 97.5 %, interpolated linearly in between, and constant outside.
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

// Outlook is the estimate for one pending job.
type Outlook struct {
	// Job is the job's ID.
	Job string
	// Start and End are the times until the job starts and ends.
	Start, End Times
	// MeetsDeadline is the probability that the job ends by its deadline, from 0 to 1; NaN if it has none.
	MeetsDeadline float64
}

// Config configures an [Estimator]. Its zero value means all defaults.
type Config struct {
	// Seed is the seed of the worlds.
	Seed uint64
	// Worlds is the number of samples per job, 2 to 64; 0 means 16.
	Worlds int
	// Work limits the simulation in a cycle, in steps of some nanoseconds, at least 1; 0 means 100,000. At least two
	// worlds are simulated whatever the limit.
	Work int
}

// Estimator estimates when jobs start and end. It learns from cycle to cycle. It is for one goroutine at a time.
type Estimator struct {
	config Config
	origin time.Time
	began  bool
	cycle  float64 // the cycle in seconds, at least 1: the unit of waits
	next   int     // the world to renew next

	jobs      map[string]*waiting
	round     int
	resources []string
	recent    arrivals
	drift     drift
	tails     [starting]tails // by stage of those that wait
	orders    scores
	observed  []observed
	slow      slowed
	odds      [stages]odds.Calibrator
	promises  promises
	peers     peers
	turn      int // the order to ask next
	givesUp   float64
	world     world
	scratch   []float64
}

// New makes an estimator that has learnt nothing yet. Its error wraps [ErrConfig].
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
	e := &Estimator{config: c, jobs: map[string]*waiting{}, promises: promises{of: map[string]*promise{}},
		peers: peers{groups: map[value]*group{}, runs: map[string]*run{}}}
	for i := range e.odds {
		e.odds[i] = odds.New()
	}
	for i := range e.tails {
		e.tails[i] = newTails()
	}
	return e, nil
}

// waiting is what is known of a pending job.
type waiting struct {
	job      *sched.Job
	hash     uint64
	first    float64 // when it was first seen, in seconds since the origin
	seen     int     // round in which it was last seen
	cycles   int     // cycles that it has waited
	samples  []float64
	tellings []telling
	forecast dist.Distribution
	knots    [steps - 1]float64 // quantiles of forecast
	outlived outlived
	runtimes [parts]float64 // quantiles of forecast, corrected by outlived
}

// telling is an estimate, kept to be compared with the outcome.
type telling struct {
	at     float64 // seconds since the origin
	stage  int
	median float64         // wait from then, as the worlds had it
	spread float64         // standard deviation of its logarithm
	orders [orders]float64 // wait by order; NaN if not asked
	// early and late are the ends of the 80 % interval told, in seconds since the origin. An end is judged once.
	early, late             float64
	judgedEarly, judgedLate bool
}

// parts is the number of equal parts that distributions are cut into to compute ends.
const parts = 5

// asked is the number of orders asked in a cycle.
const asked = 2

// slowed counts how often jobs that run faster on some nodes start off those where they are fastest.
type slowed struct{ sum, weight float64 }

func (s *slowed) learn(slow bool) {
	s.sum, s.weight = float64(s.sum*fading), float64(s.weight*fading)+1
	if slow {
		s.sum++
	}
}

// share is the share of such jobs. Before anything is learnt it is one in four.
func (s *slowed) share() float64 { return (s.sum + 1) / (s.weight + 4) }

// of is how many times longer than at full speed a job is expected to run.
func (s *slowed) of(j *sched.Job) float64 {
	fast := stretchOn(j)
	if !j.Speeds.Uneven() {
		return fast
	}
	return fast + float64((stretchOff(j)-fast)*s.share())
}

// stretchOn is how many times longer than at full speed a job runs where it is fastest.
func stretchOn(j *sched.Job) float64 {
	if j.Speeds.Even() {
		return 1
	}
	return sched.Stretch(j.Levels()[0].Factor)
}

// stretchOff is the same off the nodes where it is fastest: the mean of the other levels.
func stretchOff(j *sched.Job) float64 {
	levels, sum := j.Levels(), 0.0
	for _, l := range levels[1:] {
		sum += sched.Stretch(l.Factor)
	}
	return sum / float64(len(levels)-1)
}
