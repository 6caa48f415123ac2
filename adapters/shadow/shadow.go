// Package shadow lets a policy watch a cluster that another scheduler runs. [Cluster] stands between a [sched.Loop] and
// the real cluster. The loop sees what happens and decides in every cycle, but nothing is carried out. Afterwards
// [Cluster.Report] compares what happened with what the policy would have done. For that it simulates everything that
// was seen, from the start, with the policy in charge: how long jobs would have waited, and which deadlines they would
// have missed.
//
// The package never acts on a cluster. An adapters.Cluster does upkeep of its own: put [ReadOnly] around its driver.
package shadow

import (
	"context"
	"fmt"
	"time"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
)

// Cluster is a [sched.Cluster] that shows a real one and acts on nothing. The loop needs [Cluster.Observe] as its
// observer:
//
//	watched := shadow.New(real)
//	loop, err := sched.NewLoop(watched, policy, predictor, sched.WithObserver(watched.Observe))
//
// It is for one goroutine at a time, like a loop.
type Cluster struct {
	real    sched.Cluster
	answers []sched.Event // failures, the answers to the last plan
	out     []sched.Event
	first   *sched.Snapshot // of the first cycle that saw a node
	last    time.Time       // the last cycle
	cycles  int
	jobs    map[string]*job
	order   []*job
}

// job is what was seen of a job.
type job struct {
	spec       *sched.Job
	prediction predict.Prediction
	old        bool // ran when the watch began
	started    time.Time
	ended      time.Time
	runtime    time.Duration // from start to end; 0 if not known
	speed      float64
	would      time.Time // first cycle in which the policy decided to start it
	gone       bool      // withdrawn
}

// New returns a cluster that shows the real one.
func New(real sched.Cluster) *Cluster { return &Cluster{real: real, jobs: map[string]*job{}} }

// Events returns the answers to the last plan, in which each start and each preemption has failed, and then the events
// of the real cluster. The error is the real cluster's.
func (c *Cluster) Events(ctx context.Context) ([]sched.Event, error) {
	events, err := c.real.Events(ctx)
	if err != nil {
		return nil, err
	}
	c.out = append(append(c.out[:0], c.answers...), events...)
	c.answers = c.answers[:0]
	for i := range events {
		c.note(&events[i])
	}
	return c.out, nil
}

// note keeps what really happens to jobs.
func (c *Cluster) note(e *sched.Event) {
	if e.Kind == sched.Submitted && e.Job != nil {
		if _, known := c.jobs[e.Job.ID]; !known {
			c.add(e.Job)
		}
		return
	}
	j := c.jobs[e.ID]
	if j == nil {
		return
	}
	switch e.Kind {
	case sched.Started:
		if j.started.IsZero() {
			j.started = e.Time
		}
	case sched.Finished:
		if j.ended, j.runtime = e.Time, e.Runtime; j.runtime == 0 && !j.started.IsZero() && !e.Time.IsZero() {
			j.runtime = e.Time.Sub(j.started)
		}
	case sched.Withdrawn:
		j.gone = true
	}
}

func (c *Cluster) add(spec *sched.Job) *job {
	j := &job{spec: spec}
	c.jobs[spec.ID] = j
	c.order = append(c.order, j)
	return j
}

// Apply carries nothing out; its error is nil.
func (c *Cluster) Apply(_ context.Context, plan *sched.Plan) error {
	for i := range plan.Decisions {
		d := &plan.Decisions[i]
		switch d.Kind {
		case sched.Start:
			c.answers = append(c.answers, sched.Event{Kind: sched.StartFailed, ID: d.Job, Err: ErrShadow})
		case sched.Preempt:
			c.answers = append(c.answers, sched.Event{Kind: sched.PreemptFailed, ID: d.Job, Err: ErrShadow})
		}
	}
	return nil
}

// Observe is the loop's observer. It keeps what the policy saw and decided.
func (c *Cluster) Observe(cycle *sched.Cycle) {
	s := cycle.Snapshot
	if s == nil {
		return
	}
	if c.last = cycle.Now; s.Nodes.Len() > 0 {
		c.cycles++
	}
	if c.first == nil && s.Nodes.Len() > 0 {
		c.first = s.Clone()
		for i := range s.Running {
			c.seen(s.Running[i].Job, s.Running[i].Prediction).old = true
		}
	}
	for i := range s.Pending {
		c.seen(s.Pending[i].Job, s.Pending[i].Prediction)
	}
	for i := range s.Running {
		r := &s.Running[i]
		j := c.seen(r.Job, r.Prediction)
		j.speed = r.Speed
		if j.started.IsZero() {
			j.started = r.Started
		}
	}
	if cycle.Plan == nil {
		return
	}
	for i := range cycle.Plan.Decisions {
		d := &cycle.Plan.Decisions[i]
		if j := c.jobs[d.Job]; j != nil && d.Kind == sched.Start && j.would.IsZero() {
			j.would = cycle.Now
		}
	}
}

// seen returns the record of a job in a snapshot, with the job's first forecast.
func (c *Cluster) seen(spec *sched.Job, p predict.Prediction) *job {
	j := c.jobs[spec.ID]
	if j == nil {
		j = c.add(spec)
	}
	j.spec = spec
	if j.prediction.Dist == nil {
		j.prediction = p
	}
	return j
}

// ErrShadow is the error of every action that is not carried out. It wraps [adapters.ErrRefused].
var ErrShadow = fmt.Errorf("shadow: it only watches: %w", adapters.ErrRefused)

// ReadOnly wraps a driver: it observes as the driver does, and refuses every action with [ErrShadow].
func ReadOnly(d adapters.Driver) adapters.Driver { return readOnly{d} }

type readOnly struct{ driver adapters.Driver }

func (r readOnly) Observe(ctx context.Context, relist bool) (*adapters.View, error) {
	return r.driver.Observe(ctx, relist)
}

func (readOnly) Start(context.Context, *adapters.Start) error { return ErrShadow }

func (readOnly) Stop(context.Context, *adapters.Stop) error { return ErrShadow }
