package adapters

import (
	"context"
	"errors"

	"github.com/hedgesched/hedge/sched"
)

// explainPlan writes the plan's reasons on the jobs that wait, where the reasons have changed.
func (c *Cluster) explainPlan(plan *sched.Plan) {
	if c.explain == nil {
		return
	}
	decided := make(map[string]struct{}, len(plan.Decisions))
	for i := range plan.Decisions {
		d := &plan.Decisions[i]
		decided[d.Job] = struct{}{}
		if t := c.jobs[d.Job]; t != nil && d.Kind == sched.Defer {
			c.outdate(t)
			c.explainReason(t, &d.Reason, key(&d.Reason))
		}
	}
	c.explainHeld(decided)
	if plan.Rest.Code == "" {
		return
	}
	rest := key(&plan.Rest)
	for _, t := range c.order {
		if t.gone || t.told != toldPending {
			continue
		}
		c.outdate(t)
		if _, own := decided[t.job.Spec.ID]; !own {
			c.explainReason(t, &plan.Rest, rest)
		}
	}
}

// explainReason writes the plan's reason on a job, and when the job is expected to start.
func (c *Cluster) explainReason(t *tracked, r *sched.Reason, key string) {
	n := &Note{Reason: *r}
	if c.opt.When != nil {
		if n.When = c.opt.When(t.job.Spec.ID); n.When != "" {
			key += "\x00" + n.When
		}
	}
	c.note(t, key, n, nil)
}

// explainHeld writes on the jobs that the loop holds back which ones they wait for. It counts them as decided.
func (c *Cluster) explainHeld(decided map[string]struct{}) {
	if len(c.children) == 0 {
		return
	}
	for _, t := range c.order {
		if t.gone {
			continue
		}
		if waits := t.heldBack(); waits != nil {
			decided[t.job.Spec.ID] = struct{}{}
			c.note(t, waits.Error(), &Note{Err: waits}, nil)
		}
	}
}

// outdate makes a note be written again if the loop no longer knows any of the jobs that it names.
func (c *Cluster) outdate(t *tracked) {
	for _, id := range t.ahead {
		if o := c.jobs[id]; o != nil && (o.told == toldPending || o.told == toldRunning || o.told == toldStopping) {
			return
		}
	}
	if len(t.ahead) > 0 {
		t.noted, t.ahead = "", nil
	}
}

// key identifies a reason. It leaves out the numbers that change all the time.
func key(r *sched.Reason) string {
	k := string(r.Code) + "\x00" + r.Set + "\x00" + r.Partition + "\x00" + r.Fault
	if o := r.Obstacle; o != nil {
		k += "\x00" + o.Resource + "\x00" + o.Missing
	}
	return k
}

// explainSelf writes on a job what is wrong with it, or why its last start has failed.
func (c *Cluster) explainSelf(t *tracked) {
	if p := t.job.Problem; p != nil {
		c.note(t, p.Error(), &Note{Err: p}, nil)
	} else if t.lacks != nil {
		c.note(t, t.lacks.Error(), &Note{Err: t.lacks}, nil)
	} else if t.say != nil && t.told == toldPending {
		c.note(t, t.say.Error(), &Note{Err: t.say}, func() { t.say = nil })
	}
}

// note writes a note unless it is already there. It calls then, if not nil, once the note is there.
func (c *Cluster) note(t *tracked, key string, n *Note, then func()) {
	stands := func() {
		if t.noted, t.ahead = key, n.Reason.Ahead; then != nil {
			then()
		}
	}
	switch {
	case c.explain == nil:
		stands()
		return
	case t.noted == key:
		if then != nil {
			then()
		}
		return
	case c.notes <= 0 || c.fenced != nil:
		return
	}
	c.notes--
	job := t.job
	n.Job, n.Epoch = &job, c.opt.Epoch
	if c.opt.Why != nil && n.Err == nil {
		n.Why = c.opt.Why(job.Spec.ID)
	}
	c.later(func(ctx context.Context) error { return c.explain.Explain(ctx, n) }, func(err error) {
		if err == nil {
			stands()
		}
	})
}

// Refused counts the waiting jobs that the loop does not know because they have a [Job].Problem.
type Refused struct {
	// Incomplete counts the jobs with [ErrIncomplete]. Invalid counts all others.
	Incomplete, Invalid int
}

// Refused counts the waiting jobs with a [Job].Problem, as last observed. They are not in [sched.Cycle].Pending.
func (c *Cluster) Refused() Refused {
	var out Refused
	for _, t := range c.order {
		switch {
		case t.gone || t.told != untold || t.is != waiting || t.job.Problem == nil:
		case errors.Is(t.job.Problem, ErrIncomplete):
			out.Incomplete++
		default:
			out.Invalid++
		}
	}
	return out
}
