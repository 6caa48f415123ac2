package shadow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hedgesched/hedge/adapters/sim/forward"
	"github.com/hedgesched/hedge/sched"
)

// ErrEarly is the error of a report before the first cycle with a node.
var ErrEarly = errors.New("shadow: nothing was seen yet")

// Report compares what happened with what the policy would have done. It leaves out jobs that ran when the watch began,
// and jobs that were withdrawn.
type Report struct {
	// From is the first cycle with a node, To the last cycle, Cycles the number of cycles with a node.
	From   time.Time `json:"from"`
	To     time.Time `json:"to"`
	Cycles int       `json:"cycles"`
	// Real is what the other scheduler did; Policy is what the policy would have done, by simulation.
	Real   Totals `json:"real"`
	Policy Totals `json:"policy_totals"`
	// Sooner and Later count the jobs that the policy, in charge from the start, would have started more than a cycle
	// before or after the other scheduler did.
	Sooner int `json:"sooner"`
	Later  int `json:"later"`
	// Jobs has first the jobs that waited when the watch began, then the others in the order in which they were seen.
	Jobs []Job `json:"jobs"`
}

// Totals sum up what became of the jobs.
type Totals struct {
	// Jobs is the number of jobs, Started the number of those that started by the end of the watch.
	Jobs    int `json:"jobs"`
	Started int `json:"started"`
	// Wait is the mean wait in seconds: from submission or the beginning of the watch, whichever is later, to the start or
	// the end of the watch.
	Wait float64 `json:"mean_wait_s"`
	// Deadlines is the number of jobs whose deadline lies within the watch, Missed the number of those that had not ended
	// by it.
	Deadlines int `json:"deadlines"`
	Missed    int `json:"missed"`
}

// Job is what became of one job. A time is zero if the event did not happen.
type Job struct {
	ID        string    `json:"job"`
	Submitted time.Time `json:"submitted"`
	// Started and Ended are the real start and end.
	Started time.Time `json:"started,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`
	// Would is the first cycle in which the policy decided to start the job, given the real state of the cluster.
	Would time.Time `json:"would_start,omitzero"`
	// PolicyStart and PolicyEnd are the start and end with the policy in charge from the start, by simulation.
	PolicyStart time.Time `json:"policy_start,omitzero"`
	PolicyEnd   time.Time `json:"policy_end,omitzero"`
}

// Report compares what happened up to the last cycle with what the policy would have done. It simulates the jobs that
// were seen, with a new policy in charge. The jobs come as they came, on the nodes of the first cycle. A job that has
// finished has its true runtime; for others one runtime is drawn from the forecast, with seed 1. Changes of nodes
// during the watch are not simulated. The error is [ErrEarly], or that of the simulation.
func (c *Cluster) Report(ctx context.Context, policy func() (sched.Policy, error)) (*Report, error) {
	if c.first == nil {
		return nil, ErrEarly
	}
	o := forward.Options{Runs: 1, Seed: 1, Horizon: max(1, c.last.Sub(c.first.Now)-1), Runtime: c.runtime}
	for _, j := range c.order {
		if !j.old && !j.gone {
			o.Arrivals = append(o.Arrivals, sched.Pending{Job: j.spec, Prediction: j.prediction})
		}
	}
	outcomes, err := forward.Run(ctx, c.first, policy, o)
	if err != nil {
		return nil, err
	}
	r := &Report{From: c.first.Now, To: c.last, Cycles: c.cycles, Jobs: []Job{}}
	for i := range outcomes {
		j := c.jobs[outcomes[i].Job]
		if j == nil || j.old || j.gone {
			continue
		}
		r.add(c, j, &outcomes[i])
	}
	for _, t := range []*Totals{&r.Real, &r.Policy} {
		t.Wait /= float64(max(1, t.Jobs))
	}
	return r, nil
}

// runtime is a job's true runtime in seconds: on its nodes if it ran when the watch began, else at full speed.
func (c *Cluster) runtime(id string) (seconds float64, ok bool) {
	j := c.jobs[id]
	if j == nil || j.ended.IsZero() || j.runtime <= 0 {
		return 0, false
	}
	seconds = j.runtime.Seconds()
	if !j.old {
		seconds /= sched.Stretch(j.speed)
	}
	return seconds, true
}

// add takes in one job.
func (r *Report) add(c *Cluster, j *job, o *forward.Outcome) {
	one := Job{ID: j.spec.ID, Submitted: j.spec.Submitted, Started: j.started, Ended: j.ended, Would: j.would}
	if one.Submitted.IsZero() {
		one.Submitted = r.From
	}
	at := func(seconds float64) time.Time { return r.From.Add(time.Duration(seconds * float64(time.Second))) }
	if o.Started > 0 {
		one.PolicyStart = at(o.Start.P50)
	}
	if o.Done > 0 {
		one.PolicyEnd = at(o.End.P50)
	}
	r.Jobs = append(r.Jobs, one)
	due := time.Time{}
	if j.spec.Deadline > 0 {
		due = one.Submitted.Add(j.spec.Deadline)
	}
	r.Real.add(r, &one, one.Started, one.Ended, due)
	r.Policy.add(r, &one, one.PolicyStart, one.PolicyEnd, due)
	switch margin := c.first.Cycle; {
	case !one.PolicyStart.IsZero() && (one.Started.IsZero() || one.Started.Sub(one.PolicyStart) > margin):
		r.Sooner++
	case !one.Started.IsZero() && (one.PolicyStart.IsZero() || one.PolicyStart.Sub(one.Started) > margin):
		r.Later++
	}
}

func (t *Totals) add(r *Report, j *Job, start, end, due time.Time) {
	t.Jobs++
	from, until := j.Submitted, r.To
	if from.Before(r.From) {
		from = r.From
	}
	if !start.IsZero() {
		t.Started++
		until = start
	}
	t.Wait += max(0, until.Sub(from).Seconds())
	if due.IsZero() || due.Before(r.From) || due.After(r.To) {
		return
	}
	t.Deadlines++
	if end.IsZero() || end.After(due) {
		t.Missed++
	}
}

// maxShown limits the jobs that the text names.
const maxShown = 5

// String is the report in words: several lines, without a final newline.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "watched: %v, cycles: %d, jobs: %d\n", r.To.Sub(r.From).Round(time.Second), r.Cycles, r.Real.Jobs)
	fmt.Fprintf(&b, "mean wait: %.0f s, with this policy %.0f s\n", r.Real.Wait, r.Policy.Wait)
	fmt.Fprintf(&b, "deadlines missed: %d of %d, with this policy %d\n", r.Real.Missed, r.Real.Deadlines, r.Policy.Missed)
	fmt.Fprintf(&b, "jobs that it would have started sooner: %d, later: %d", r.Sooner, r.Later)
	gains := slices.DeleteFunc(slices.Clone(r.Jobs), func(j Job) bool { return r.gain(&j) <= 0 })
	slices.SortStableFunc(gains, func(a, b Job) int { return cmp.Compare(r.gain(&b), r.gain(&a)) })
	for _, j := range gains[:min(maxShown, len(gains))] {
		fmt.Fprintf(&b, "\n  %s %v sooner", j.ID, r.gain(&j).Round(time.Second))
	}
	return b.String()
}

// gain is how much sooner the policy would have started a job, 0 if not sooner.
func (r *Report) gain(j *Job) time.Duration {
	if j.PolicyStart.IsZero() {
		return 0
	}
	real := j.Started
	if real.IsZero() {
		real = r.To
	}
	return max(0, real.Sub(j.PolicyStart))
}
