package why

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hedgesched/hedge/sched"
)

// Teller wraps a policy, plans exactly as that policy does, and can say in one line why a job waits by the last plan.
// Clusters show the line in a job's status; see adapters.Options.Why. It is for one goroutine at a time. It is
// no [sched.RangePolicy] or [sched.SteadyPolicy], whatever the policy is.
type Teller struct {
	policy    sched.Policy
	snap      *sched.Snapshot
	plan      *sched.Plan
	explainer *Explainer
}

// NewTeller wraps a policy.
func NewTeller(policy sched.Policy) *Teller { return &Teller{policy: policy} }

// Name is the name of the wrapped policy.
func (t *Teller) Name() string { return t.policy.Name() }

// Plan returns the plan of the wrapped policy and keeps it for [Teller.Tell].
func (t *Teller) Plan(ctx context.Context, s *sched.Snapshot) (*sched.Plan, error) {
	plan, err := t.policy.Plan(ctx, s)
	t.snap, t.plan, t.explainer = s, plan, nil
	return plan, err
}

// Tell says why a job waits, by the last plan, as in "room for 3 of 8 tasks: 5 node too little; held by batch-1 until
// about 14:05 UTC; would have room with 3 tasks instead of 8, or with 5 more nodes like n0". It tries no remedies. It
// returns "" for a job that does not wait, and for one that even empty nodes cannot hold: there the policy's reason
// says why. Call it before the next Plan or, in a loop, before the next Step. The first call after a Plan takes longer
// than the others.
func (t *Teller) Tell(job string) string {
	if t.plan == nil {
		return ""
	}
	if t.explainer == nil {
		e, err := New(t.snap, t.plan, Options{})
		if err != nil {
			t.plan = nil
			return ""
		}
		t.explainer = e
	}
	x, err := t.explainer.Explain(context.Background(), job)
	if err != nil || x.State != Pending || x.Obstacle != nil {
		return ""
	}
	return x.brief(t.snap.Now)
}

// brief is the explanation in one line. It names no equivalence sets, since a cluster may have its own names for them.
func (x *Explanation) brief(now time.Time) string {
	if x.Fits >= x.Tasks {
		return fmt.Sprintf("there is room for its %s now", count(x.Tasks, "task"))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "room for %d of %s", x.Fits, count(x.Tasks, "task"))
	for i := range x.Short {
		sep := ": "
		if i > 0 {
			sep = ", "
		}
		s := &x.Short[i]
		fmt.Fprintf(&b, "%s%s %s too little", sep, amount(s.Need-s.Free), s.Resource)
	}
	if len(x.Holders) > 0 {
		h := &x.Holders[0]
		fmt.Fprintf(&b, "; held by %s until %s", h.Job, h.until(now))
		if more := len(x.Holders) - 1; more > 0 {
			fmt.Fprintf(&b, ", and by %d more", more)
		}
	}
	var ways []string
	for i := range x.Remedies {
		if r := &x.Remedies[i]; r.Kind == FewerTasks || r.Kind == MoreNodes {
			ways = append(ways, r.Text)
		}
	}
	if len(ways) > 0 {
		b.WriteString("; would have room " + strings.Join(ways, ", or "))
	}
	return b.String()
}

// until is the expected end of a holder as a time of day, which stays true while the text is shown.
func (h *Holder) until(now time.Time) string {
	const most = 1e8 // seconds
	if h.Overdue {
		return "any moment"
	}
	at := now.Add(time.Duration(min(h.Ends.P50, most) * float64(time.Second))).UTC()
	if h.Ends.P50 > (20 * time.Hour).Seconds() {
		return "about " + at.Format("2 January 15:04") + " UTC"
	}
	return "about " + at.Format("15:04") + " UTC"
}
