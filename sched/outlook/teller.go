package outlook

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/hedgesched/hedge/sched"
)

// Teller wraps a policy, plans exactly as that policy does, and estimates after each plan when the pending jobs start.
// [Teller.Tell] has the estimate of a job in words, which clusters show in its status; see adapters.Options.When. It is
// for one goroutine at a time. It is no [sched.RangePolicy] or [sched.SteadyPolicy], whatever the policy is.
type Teller struct {
	policy    sched.Policy
	estimator *Estimator
	now       time.Time
	told      []Outlook
	at        map[string]int // in told, by job
	said      map[string]said
}

// said is what was last said of a job.
type said struct {
	text            string
	earliest, until time.Time // the interval that the text has
}

// NewTeller wraps a policy. Its error is that of [New].
func NewTeller(policy sched.Policy, c Config) (*Teller, error) {
	e, err := New(c)
	if err != nil {
		return nil, err
	}
	return &Teller{policy: policy, estimator: e, at: map[string]int{}, said: map[string]said{}}, nil
}

// Name is the name of the wrapped policy.
func (t *Teller) Name() string { return t.policy.Name() }

// Plan returns the plan of the wrapped policy, and estimates. A snapshot that cannot be estimated leaves no estimates.
func (t *Teller) Plan(ctx context.Context, s *sched.Snapshot) (*sched.Plan, error) {
	plan, err := t.policy.Plan(ctx, s)
	t.told = nil
	clear(t.at)
	if err != nil || plan == nil {
		return plan, err
	}
	told, failed := t.estimator.Look(s, plan)
	if failed != nil {
		return plan, nil // the estimates are not worth a plan
	}
	t.now, t.told = s.Now, told
	for i := range told {
		t.at[told[i].Job] = i
	}
	for job := range t.said { // the order of deletions does not matter
		if _, waits := t.at[job]; !waits {
			delete(t.said, job)
		}
	}
	return plan, nil
}

// Told are the estimates after the last plan, as [Estimator.Look] returns them; nil if there are none.
func (t *Teller) Told() []Outlook { return t.told }

// Tell says when a job is expected to start, as in "expected to start about 14:05 UTC (80% sure: 14:01 to 14:20)". It
// is "" for a job that starts now, that never starts as things are, or of which nothing is known. The words stay the
// same until they have become wrong: until the estimated median leaves the interval that they have, or that has passed.
// So whoever shows them writes them seldom. Call it after [Teller.Plan].
func (t *Teller) Tell(job string) string {
	i, ok := t.at[job]
	if !ok {
		return ""
	}
	start := &t.told[i].Start
	median := start.Quantile(0.5)
	if median <= 0 || math.IsInf(median, 1) {
		delete(t.said, job)
		return ""
	}
	when := t.moment(median)
	if last, ok := t.said[job]; ok && !when.Before(last.earliest) && !when.After(last.until) && t.now.Before(last.until) {
		return last.text
	}
	s := said{earliest: t.moment(start.Quantile(0.1)), until: t.moment(start.Quantile(0.9))}
	s.text = fmt.Sprintf("expected to start about %s UTC (80%% sure: %s to %s)", t.clock(when), t.clock(s.earliest),
		t.clock(s.until))
	if math.IsInf(start.Quantile(0.9), 1) {
		s.text = fmt.Sprintf("expected to start about %s UTC (80%% sure: not before %s)", t.clock(when), t.clock(s.earliest))
	}
	t.said[job] = s
	return s.text
}

// distant limits times from now, in seconds.
const distant = 1e8

// moment is a time from now, to the second: an interval that a text shows includes both of its ends.
func (t *Teller) moment(seconds float64) time.Time {
	return t.now.Add(time.Duration(math.Round(min(seconds, distant))) * time.Second).UTC()
}

// clock is a time as words have it: the time of day, with the day if that is not near.
func (t *Teller) clock(at time.Time) string {
	switch {
	case at.Sub(t.now) > 20*time.Hour:
		return at.Format("2 January 15:04")
	case at.Sub(t.now) < 2*time.Minute:
		return at.Format("15:04:05")
	}
	return at.Format("15:04")
}
