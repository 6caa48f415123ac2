package adapters

import (
	"context"
	"errors"

	"github.com/hedgesched/hedge/sched"
)

// explainPlan puts the plan's reasons on the jobs that wait, where they have changed.
func (c *Cluster) explainPlan(ctx context.Context, plan *sched.Plan) {
	if c.explain == nil {
		return
	}
	decided := make(map[string]struct{}, len(plan.Decisions))
	for i := range plan.Decisions {
		d := &plan.Decisions[i]
		decided[d.Job] = struct{}{}
		if t := c.jobs[d.Job]; t != nil && d.Kind == sched.Defer {
			c.noteReason(ctx, t, &d.Reason)
		}
	}
	if plan.Rest.Code == "" {
		return
	}
	for _, t := range c.order {
		if _, own := decided[t.jobID()]; !own && !t.gone && t.told == toldPending {
			c.noteReason(ctx, t, &plan.Rest)
		}
	}
}

func (t *tracked) jobID() string { return t.job.Spec.ID }

// noteReason writes a reason where another one stands; numbers in it that change all the time do not make it another.
func (c *Cluster) noteReason(ctx context.Context, t *tracked, r *sched.Reason) {
	c.note(ctx, t, string(r.Code)+"\x00"+r.Set+"\x00"+r.Partition, &Note{Reason: *r})
}

// note writes a note where another one stands, and tells whether it stands there now.
func (c *Cluster) note(ctx context.Context, t *tracked, key string, n *Note) bool {
	if c.explain == nil || t.noted == key {
		return true
	}
	if c.notes <= 0 || c.fenced != nil {
		return false
	}
	c.notes--
	job := t.job
	n.Job, n.Epoch = &job, c.opt.Epoch
	switch err := c.explain.Explain(ctx, n); {
	case err == nil:
		t.noted = key
	case errors.Is(err, ErrFenced):
		c.fenced = err
	}
	return t.noted == key
}
