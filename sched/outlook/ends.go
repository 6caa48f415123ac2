package outlook

import (
	"cmp"
	"math"
	"slices"

	"github.com/hedgesched/hedge/sched/internal/odds"
)

// begins fills in the outlook of a job that starts now.
func (e *Estimator) begins(c *cycle, j *candidate, o *Outlook) {
	o.Job, o.MeetsDeadline = j.job.ID, math.NaN()
	e.ends(c, j, starting, o)
}

// ends adds the runtime to the start, and computes the probability of meeting the deadline.
func (e *Estimator) ends(c *cycle, j *candidate, stage int, o *Outlook) {
	e.scratch = e.scratch[:0]
	met, due := 0.0, j.traits.deadline-c.now
	for a := range parts {
		start := o.Start.Quantile((float64(a) + 0.5) / parts)
		for _, x := range j.runtimes {
			e.scratch = append(e.scratch, start+float64(j.slow*x))
		}
		if j.job.Deadline > 0 && due > start {
			fast, off := j.met((due-start)/j.fast), j.met((due-start)/j.off)
			met += (fast + float64((off-fast)*e.slow.share())) / parts
		}
	}
	slices.SortFunc(e.scratch, cmp.Compare[float64])
	shortest, _ := j.forecast.Bounds()
	for l, p := range toldLevels {
		o.End.at[l] = max(quantileOf(e.scratch, p), o.Start.at[l]+float64(j.slow*shortest))
	}
	if j.job.Deadline > 0 {
		o.MeetsDeadline = e.chance(c, j, stage, met, o.Start.Quantile(0.5))
	}
}

// chance is the calibrated probability of meeting the deadline. It is 0 once the deadline has passed.
func (e *Estimator) chance(c *cycle, j *candidate, stage int, met, start float64) float64 {
	if c.now > j.traits.deadline {
		return 0
	}
	f := odds.Foretold{Chance: odds.Doubtful(met, j.pending.Prediction.Samples),
		Passed: min(1, (c.now+start-j.traits.submitted)/max(j.job.Deadline.Seconds(), 1))}
	if stage == starting || due(j.cycles) {
		e.promises.add(j.job.ID, j.traits.deadline, e.round, stage, f)
	}
	return e.odds[stage].Tell(f)
}
