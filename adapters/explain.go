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
			c.note(ctx, t, key(&d.Reason), &Note{Reason: d.Reason})
		}
	}
	if plan.Rest.Code == "" {
		return
	}
	rest := key(&plan.Rest)
	for _, t := range c.order {
		if t.gone || t.told != toldPending || t.noted == rest {
			continue
		}
		if _, own := decided[t.job.Spec.ID]; !own {
			c.note(ctx, t, rest, &Note{Reason: plan.Rest})
		}
	}
}

// key tells reasons apart. Numbers that change all the time do not make a reason another.
func key(r *sched.Reason) string { return string(r.Code) + "\x00" + r.Set + "\x00" + r.Partition }

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
