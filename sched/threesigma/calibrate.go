package threesigma

import (
	"math"
	"time"

	"github.com/hedgesched/hedge/sched"
)

// calibrator turns the forecast's probability of meeting a deadline into one that can be told. The forecast does not know how
// deadlines are chosen, which are often set by those who know the job better than its history does. It does not know of
// its own errors, of starts that others delay, or of what the plan's slots round. So the calibrator learns from what became of
// the jobs that were told something. It changes no decision.
//
// It has two stages. The first is a logistic regression whose weights drift, since neither load nor jobs stay what they are. It is
// fitted job by job (an extended Kalman filter, which is Bayesian regression with a normal approximation). Its inputs are the forecast's log-odds and the share of the time to the deadline that
// has passed at the start. The second counts, for each tenth of what the first stage says, how often that came true. Before
// anything is learnt the forecast's own probability is told.
type calibrator struct {
	learnt  int
	weights inputs
	spread  [len(inputs{})]inputs // covariance of the weights
	bins    [10]tally
}

// inputs are 1, the log-odds of the forecast's probability, and the share of the time to the deadline that has passed.
type inputs [3]float64

// tally is how many of some jobs met their deadlines.
type tally struct{ jobs, met float64 }

// The prior: the forecast is right, but for a standard deviation of 1 in the log-odds, half in their factor, and 2 for the share.
// A few dozen jobs outweigh it, so that it hardly matters what it is.
const (
	priorOffset = 1
	priorFactor = 0.25
	priorShare  = 4
	// drift is added to the weights' variances with each job: a standard deviation of 1 in 200 jobs. From a fifth of it to
	// twice as much the reliability on the logs of docs/results.md is the same.
	drift = 0.005
	// binPrior is how many jobs that came true as often as the first stage says each bin begins with.
	binPrior = 20
	// surest is the largest probability that is taken at its word.
	surest = 0.995
)

func newCalibrator() calibrator {
	return calibrator{weights: inputs{0, 1, 0}, spread: [3]inputs{{priorOffset, 0, 0}, {0, priorFactor, 0}, {0, 0, priorShare}}}
}

// foretold is what the plan says of a start: the probability of meeting the deadline, and the share of the time to the deadline
// that has passed by then.
type foretold struct{ chance, passed float64 }

func (f foretold) inputs() inputs {
	p := min(max(f.chance, 1-surest), surest)
	return inputs{1, math.Log(p / (1 - p)), min(max(f.passed, 0), 1)}
}

// tell is the probability to be told.
func (c *calibrator) tell(f foretold) float64 {
	if c.learnt == 0 {
		return f.chance
	}
	p := c.regress(f.inputs())
	b := &c.bins[bin(p)]
	return (b.met + float64(binPrior*p)) / (b.jobs + binPrior)
}

// regress is the first stage.
func (c *calibrator) regress(v inputs) float64 {
	return 1 / (1 + math.Exp(-min(max(dot(c.weights, v), -30), 30)))
}

func bin(p float64) int { return min(int(p*10), 9) }

func dot(a, b inputs) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i] * b[i])
	}
	return sum
}

// learn takes in what became of a job.
func (c *calibrator) learn(f foretold, met bool) {
	hit := 0.0
	if met {
		hit = 1
	}
	v := f.inputs()
	p := c.regress(v)
	c.learnt++
	c.bins[bin(p)].jobs++
	c.bins[bin(p)].met += hit

	var gain inputs
	for i := range gain {
		c.spread[i][i] += drift
	}
	for i := range gain {
		gain[i] = dot(c.spread[i], v)
	}
	information := max(p*(1-p), 1e-3)
	total := 1/information + dot(gain, v)
	for i := range gain {
		c.weights[i] += float64(gain[i] / total * (hit - p) / information)
		for k := range gain {
			c.spread[i][k] -= float64(gain[i] * gain[k] / total)
		}
	}
}

// telling is what was told of a job that runs.
type telling struct {
	foretold
	deadline time.Time
	seen     uint64    // the cycle in which it was last seen
	gone     time.Time // between the cycle in which it was last seen and the next
}

// review learns from the jobs whose deadlines have passed since the last cycle: those that are gone met theirs if they
// went in time. To learn of each job when it ends would make all look too good, as those in time end sooner.
//
// A job that comes back before its deadline has not finished, though it was gone while it stopped. A snapshot does not
// tell a job that was withdrawn from one that has finished.
func (p *Policy) review(s *sched.Snapshot) {
	before := p.reviewed
	p.reviewed = s.Now
	if len(p.told) == 0 {
		return
	}
	for i := range s.Running {
		if t := p.told[s.Running[i].Job.ID]; t != nil {
			t.seen, t.gone = p.cycle, time.Time{}
		}
	}
	for i := range s.Pending {
		delete(p.told, s.Pending[i].Job.ID)
	}
	// In the order in which the jobs were told, as maps have none.
	kept := p.order[:0]
	for _, id := range p.order {
		t := p.told[id]
		if t == nil {
			continue
		}
		if t.seen != p.cycle && t.gone.IsZero() {
			t.gone = before.Add(s.Now.Sub(before) / 2) // when exactly is not known
		}
		if !s.Now.After(t.deadline) {
			kept = append(kept, id)
			continue
		}
		p.calibrator.learn(t.foretold, !t.gone.IsZero() && !t.gone.After(t.deadline))
		delete(p.told, id)
	}
	p.order = kept
}

// tell notes what is told with a start, to learn from what becomes of it.
func (p *Policy) tell(j *sched.Job, f foretold) {
	p.told[j.ID] = &telling{foretold: f, deadline: j.Submitted.Add(j.Deadline), seen: p.cycle}
	p.order = append(p.order, j.ID)
}
