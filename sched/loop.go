package sched

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hedgesched/hedge/predict"
)

// ErrInvalidOption is the sentinel of settings a Loop cannot be made with.
var ErrInvalidOption = errors.New("sched: invalid option")

// ErrBadEvent is the sentinel of events that make no sense; see [Cycle.Ignored].
var ErrBadEvent = errors.New("sched: event ignored")

// Loop joins a cluster, a predictor and a policy: it keeps the state that the
// cluster's events tell of, forecasts jobs when they are submitted, and in every cycle asks the policy
// for a plan, checks it and has it carried out.
//
// Work outside the policy is proportional to what has changed since the last
// cycle, but for one copy of the free resources by which plans are checked. Step and Run are for
// one goroutine at a time; Wake may be called from any.
type Loop struct {
	cluster   Cluster
	policy    Policy
	predictor predict.Predictor
	clock     Clock
	cycle     time.Duration
	stopwatch func() time.Duration
	observer  func(*Cycle)
	onError   func(error) error
	fresh     bool
	elastic   bool
	wake      chan struct{}

	state state
	check checker
}

// Cycle is what happened in one cycle.
type Cycle struct {
	// Now is the time the cycle was for.
	Now time.Time
	// Plan is the policy's; nil where the cycle failed before there was one.
	Plan *Plan
	// Events is the number of events the cluster told.
	Events int
	// Started and Preempted are the numbers of jobs that the plan starts and preempts.
	Started, Preempted int
	// Pending and Running are the numbers of jobs that the policy was shown.
	Pending, Running int
	// SnapshotTime, PlanTime and ApplyTime are wall-clock time, by the loop's stopwatch: taking in
	// events and making the snapshot; the policy and the check of its plan; the cluster.
	SnapshotTime, PlanTime, ApplyTime time.Duration
	// Rejected are jobs and nodes that were refused in this cycle. A rejected job is
	// forgotten; nothing more is said of it.
	Rejected []Rejection
	// Ignored are events that made no sense, each wrapping [ErrBadEvent], and runtimes that
	// the predictor refused to learn from.
	Ignored []error
}

// Rejection is a job that was refused and why: a [*JobError].
type Rejection struct {
	Job *Job
	Err error
}

// Option sets what [NewLoop] leaves to defaults.
type Option func(*Loop) error

// WithCycle sets the time from the end of one cycle to the next in [Loop.Run]. The default is
// 2 s; 0 runs cycles only when [Loop.Wake] asks for one.
func WithCycle(d time.Duration) Option {
	return func(l *Loop) error {
		if d < 0 {
			return fmt.Errorf("%w: cycle of %v", ErrInvalidOption, d)
		}
		l.cycle = d
		return nil
	}
}

// WithClock gives [Loop.Run] another clock than the system's.
func WithClock(c Clock) Option {
	return func(l *Loop) error {
		if c == nil {
			return fmt.Errorf("%w: nil clock", ErrInvalidOption)
		}
		l.clock = c
		return nil
	}
}

// WithStopwatch gives what the stages of a cycle are timed by: the time since
// any fixed moment. The default is the system's monotonic clock.
func WithStopwatch(elapsed func() time.Duration) Option {
	return func(l *Loop) error {
		if elapsed == nil {
			return fmt.Errorf("%w: nil stopwatch", ErrInvalidOption)
		}
		l.stopwatch = elapsed
		return nil
	}
}

// WithObserver is told of every cycle, in the goroutine of Step. It must not keep the value's
// plan beyond what it needs, nor block.
func WithObserver(f func(*Cycle)) Option {
	return func(l *Loop) error { l.observer = f; return nil }
}

// WithErrorHandler decides what [Loop.Run] does about a failed cycle: go on
// (nil) or return the error it gives. The default returns every error.
func WithErrorHandler(f func(error) error) Option {
	return func(l *Loop) error { l.onError = f; return nil }
}

// WithFreshPredictions forecasts pending jobs again in every cycle in which
// something was learnt. By default a job is forecast once, when it is submitted.
func WithFreshPredictions() Option {
	return func(l *Loop) error { l.fresh = true; return nil }
}

// WithElastic keeps gangs that the cluster cannot hold pending, for clusters that may grow. By default
// they are rejected as soon as there are nodes.
func WithElastic() Option {
	return func(l *Loop) error { l.elastic = true; return nil }
}

// defaultCycle is the cycle of 3Sigma, section 4.3 (1-2 s).
const defaultCycle = 2 * time.Second

// NewLoop joins the three. None may be nil.
func NewLoop(cluster Cluster, policy Policy, predictor predict.Predictor, opts ...Option) (*Loop, error) {
	switch {
	case cluster == nil:
		return nil, fmt.Errorf("%w: nil cluster", ErrInvalidOption)
	case policy == nil:
		return nil, fmt.Errorf("%w: nil policy", ErrInvalidOption)
	case predictor == nil:
		return nil, fmt.Errorf("%w: nil predictor", ErrInvalidOption)
	}
	start := time.Now()
	l := &Loop{
		cluster: cluster, policy: policy, predictor: predictor,
		clock: systemClock{}, cycle: defaultCycle,
		stopwatch: func() time.Duration { return time.Since(start) },
		wake:      make(chan struct{}, 1),
	}
	for _, o := range opts {
		if o == nil {
			continue
		}
		if err := o(l); err != nil {
			return nil, err
		}
	}
	l.state.init()
	return l, nil
}

// Step does one cycle as of now. On an error nothing has been started or
// preempted as far as the loop knows, the events are taken in, and the next Step goes
// on from there; the Cycle tells how far this one came and is never nil.
func (l *Loop) Step(ctx context.Context, now time.Time) (*Cycle, error) {
	c := &Cycle{Now: now}
	err := l.step(ctx, c)
	if l.observer != nil {
		l.observer(c)
	}
	return c, err
}

func (l *Loop) step(ctx context.Context, c *Cycle) error {
	begin := l.stopwatch()
	events, err := l.cluster.Events(ctx)
	c.Events = len(events)
	l.takeIn(events, c)
	if err != nil {
		return fmt.Errorf("sched: events: %w", err)
	}
	snapshot := l.state.snapshot(c.Now)
	c.Pending, c.Running = len(snapshot.Pending), len(snapshot.Running)
	c.SnapshotTime = l.stopwatch() - begin

	begin = l.stopwatch()
	plan, err := l.policy.Plan(ctx, snapshot)
	if err == nil {
		err = l.check.check(snapshot, plan)
	}
	c.PlanTime = l.stopwatch() - begin
	if err != nil {
		return fmt.Errorf("sched: policy %s: %w", l.policy.Name(), err)
	}
	c.Plan = plan

	begin = l.stopwatch()
	err = l.cluster.Apply(ctx, plan)
	c.ApplyTime = l.stopwatch() - begin
	if err != nil {
		return fmt.Errorf("sched: apply: %w", err)
	}
	c.Started, c.Preempted = l.state.carryOut(plan, c.Now)
	return nil
}

// takeIn brings the state up to date with the events, then admits the jobs that came.
func (l *Loop) takeIn(events []Event, c *Cycle) {
	learnt := false
	for i := range events {
		e := &events[i]
		done, err := l.state.apply(e, c.Now)
		if err != nil {
			c.refuse(e, err)
			continue
		}
		if done == nil {
			continue
		}
		if err := l.predictor.Observe(done.job.Features(), e.Runtime); err != nil {
			c.Ignored = append(c.Ignored, fmt.Errorf("%w: job %q: %w", ErrBadEvent, e.ID, err))
			continue
		}
		learnt = true
	}
	c.Rejected = append(c.Rejected, l.state.settle(l.elastic)...)
	l.forecast(learnt && l.fresh)
}

// refuse files an event's error under what it is about.
func (c *Cycle) refuse(e *Event, err error) {
	if e.Kind == Submitted && e.Job != nil {
		c.Rejected = append(c.Rejected, Rejection{Job: e.Job, Err: err})
		return
	}
	c.Ignored = append(c.Ignored, err)
}

// forecast predicts the jobs that have none yet, or all pending ones.
func (l *Loop) forecast(all bool) {
	for _, j := range l.state.arrived {
		if !j.gone {
			l.state.setPrediction(j, l.predictor.Predict(j.job.Features()))
		}
	}
	l.state.arrived = l.state.arrived[:0]
	if !all {
		return
	}
	for i := range l.state.pending {
		p := &l.state.pending[i]
		j := l.state.jobs[p.Job.ID]
		l.state.setPrediction(j, l.predictor.Predict(p.Job.Features()))
	}
}
