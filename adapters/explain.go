package adapters

import (
	"context"

	"github.com/hedgesched/hedge/sched"
)

// explainPlan puts the plan's reasons on the jobs that wait, where they have changed.
func (c *Cluster) explainPlan(plan *sched.Plan) {
	if c.explain == nil {
		return
	}
	decided := make(map[string]struct{}, len(plan.Decisions))
	for i := range plan.Decisions {
		d := &plan.Decisions[i]
		decided[d.Job] = struct{}{}
		if t := c.jobs[d.Job]; t != nil && d.Kind == sched.Defer {
			c.note(t, key(&d.Reason), &Note{Reason: d.Reason}, nil)
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
			c.note(t, rest, &Note{Reason: plan.Rest}, nil)
		}
	}
}

// key tells reasons apart. Numbers that change all the time do not make a reason another.
func key(r *sched.Reason) string { return string(r.Code) + "\x00" + r.Set + "\x00" + r.Partition }

// explainSelf puts on a job what is wrong with it, or why its last start has failed.
func (c *Cluster) explainSelf(t *tracked) {
	if p := t.job.Problem; p != nil {
		c.note(t, p.Error(), &Note{Err: p}, nil)
	} else if t.say != nil && t.told == toldPending {
		c.note(t, t.say.Error(), &Note{Err: t.say}, func() { t.say = nil })
	}
}

// note writes a note where another one stands. Then, if not nil, is done once it stands there.
func (c *Cluster) note(t *tracked, key string, n *Note, then func()) {
	stands := func() {
		if t.noted = key; then != nil {
			then()
		}
	}
	switch {
	case c.explain == nil || t.noted == key:
		stands()
		return
	case c.notes <= 0 || c.fenced != nil:
		return
	}
	c.notes--
	job := t.job
	n.Job, n.Epoch = &job, c.opt.Epoch
	c.later(func(ctx context.Context) error { return c.explain.Explain(ctx, n) }, func(err error) {
		if err == nil {
			stands()
		}
	})
}
