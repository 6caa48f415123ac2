// Package odds turns forecast probabilities of meeting a deadline into ones that come true as often as they say, by
// learning from what became of earlier jobs. It decides nothing.
package odds

import "math"

// Calibrator turns the forecast's probability of meeting a deadline into one that can be told. The forecast does not
// know how deadlines are chosen. Those who choose them often know the job better than its history does. The forecast
// knows neither its own errors, nor starts that others delay, nor what the plan's slots round. So the calibrator learns
// from what became of the jobs that were told something. It changes no decision.
//
// It has two stages. The first is a logistic regression. Its inputs are the forecast's log-odds and the share of the
// time to the deadline that has passed at the start. Its weights drift, since neither load nor jobs stay what they are.
// It is fitted job by job by an extended Kalman filter, which is Bayesian regression with a normal approximation. The
// second stage counts, for each tenth of what the first one says, how often that came true. Before anything is learnt
// the forecast's own probability is told.
type Calibrator struct {
	learnt  int
	weights inputs
	spread  [len(inputs{})]inputs // covariance of the weights
	bins    [10]tally
}

// inputs are 1, the log-odds of the forecast's probability, and the share of the time to the deadline that has passed.
type inputs [3]float64

// tally is how many of some jobs met their deadlines.
type tally struct{ jobs, met float64 }

// The prior is that the forecast is right, with a standard deviation of 1 in the log-odds, of 1/2 in their factor, and
// of 2 in the weight of the share. A few dozen jobs outweigh it, so that it hardly matters what it is.
const (
	priorOffset = 1
	priorFactor = 0.25
	priorShare  = 4
	// drift is added to the weights' variances with each job. It is a standard deviation of 1 in 200 jobs. A fifth of it
	// and twice as much give the same reliability on the logs of docs/results.md.
	drift = 0.005
	// binPrior is how many jobs each bin begins with, for which the first stage was right.
	binPrior = 20
	// surest is the largest probability that is taken at its word.
	surest = 0.995
)

// New is a calibrator that has learnt nothing.
func New() Calibrator {
	return Calibrator{weights: inputs{0, 1, 0},
		spread: [3]inputs{{priorOffset, 0, 0}, {0, priorFactor, 0}, {0, 0, priorShare}}}
}

// Foretold is what is expected of a start.
type Foretold struct {
	// Chance is the forecast probability of meeting the deadline, 0 to 1.
	Chance float64
	// Passed is the share of the time from submission to the deadline that has passed by the start.
	Passed float64
}

// Doubtful is a forecast's probability, given the number of observations that it was made from. It is by Laplace's rule
// of succession: one observation more on either side. So a single runtime that was in time does not
// make the next one certain. A forecast from no observations is a prior or an oracle and stays as it is.
func Doubtful(p float64, samples int) float64 {
	if samples <= 0 {
		return p
	}
	n := float64(samples)
	return (float64(n*p) + 1) / (n + 2)
}

func (f Foretold) inputs() inputs {
	p := min(max(f.Chance, 1-surest), surest)
	return inputs{1, math.Log(p / (1 - p)), min(max(f.Passed, 0), 1)}
}

// Tell is the probability to be told, in whole percent.
func (c *Calibrator) Tell(f Foretold) float64 {
	p := f.Chance
	if c.learnt > 0 {
		p = c.regress(f.inputs())
		b := &c.bins[bin(p)]
		p = (b.met + float64(binPrior*p)) / (b.jobs + binPrior)
	}
	return math.Round(100*p) / 100
}

// regress is the first stage.
func (c *Calibrator) regress(v inputs) float64 {
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

// Learn takes in what became of a job. The weight is that of its outcome, above 0 and at most 1, which is an outcome
// independent of all others. Where n jobs meet or miss their deadlines together, each weighs 1/n.
func (c *Calibrator) Learn(f Foretold, met bool, weight float64) {
	hit := 0.0
	if met {
		hit = 1
	}
	v := f.inputs()
	p := c.regress(v)
	c.learnt++
	b := &c.bins[bin(p)]
	b.jobs += weight
	b.met += float64(hit * weight)

	var gain inputs
	for i := range gain {
		c.spread[i][i] += float64(drift * weight)
	}
	for i := range gain {
		gain[i] = dot(c.spread[i], v)
	}
	information := max(p*(1-p), 1e-3) * weight
	total := 1/information + dot(gain, v)
	for i := range gain {
		c.weights[i] += float64(gain[i] / total * weight * (hit - p) / information)
		for k := range gain {
			c.spread[i][k] -= float64(gain[i] * gain[k] / total)
		}
	}
}

// Learnt is the weight of the jobs that have been learnt from, and of those among them that met their deadlines.
func (c *Calibrator) Learnt() (jobs, met float64) {
	for _, b := range c.bins {
		jobs, met = jobs+b.jobs, met+b.met
	}
	return jobs, met
}
