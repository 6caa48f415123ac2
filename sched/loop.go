package sched

import (
	"context"
	"errors"
	"fmt"
	"iter"
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
// A job whose [Job.After] names others is held back until all of them have finished: policies see it in
// [Snapshot.Held] and cannot start it. If one of them is withdrawn or rejected, so is the job, and what waits for it;
// [Cycle.Rejected] tells. A stage that is preempted runs again, and those that had finished stay finished.
//
// Work outside the policy is proportional to what has changed since the last cycle and to the plan's decisions, not to
// the jobs that wait or the nodes there are. The [Snapshot] that a policy is shown, and then an observer, shares the
// loop's memory: it stays as it is until the next Step. Step and Run are for one goroutine at a time; Wake may be
// called from any.
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
	fixed     bool
	ranges    bool
	wake      chan struct{}

	state state
	check checker
	shown Snapshot
	seen  attributes
	due   deeds // of the last step; until the next one the snapshot stays as it was shown
}

// Stage is how far a cycle came.
type Stage uint8

// The stages, in order. A cycle that fails stays at the one that has failed.
const (
	// StageEvents: the cluster tells what has changed, and the snapshot is made.
	StageEvents Stage = iota
	// StagePlan: the policy makes its plan, which is checked.
	StagePlan
	// StageApply: the cluster carries it out.
	StageApply
	// StageDone: all is done.
	StageDone
)

// String is the stage's name.
func (s Stage) String() string {
	names := [...]string{"events", "plan", "apply", "done"}
	if int(s) < len(names) {
		return names[s]
	}
	return "unknown"
}

// Cycle is what happened in one cycle. What comes of stages that it did not reach is zero.
type Cycle struct {
	// Now is the time the cycle was for.
	Now time.Time
	// Stage is how far it came: StageDone, or where it failed.
	Stage Stage
	// Snapshot is what the policy was shown; nil where the cycle failed before there was one. It is valid until
	// the loop's next Step. Whoever keeps it longer takes a [Snapshot.Clone].
	Snapshot *Snapshot
	// Plan is the policy's; nil where the cycle failed before there was one. [Cycle.Decisions] has a decision for
	// every pending job.
	Plan *Plan
	// Events is the number of events the cluster told.
	Events int
	// Started and Preempted are the numbers of jobs that the plan starts and preempts, of a cycle that is done.
	Started, Preempted int
	// Pending and Running are the numbers of jobs that the policy was shown. They, and Delayed, are known from StagePlan
	// on.
	Pending, Running int
	// Held is the number of jobs that wait for others to finish ([Job.After]); the policy may not start them.
	Held int
	// Delayed is the number of pending jobs that the policy was not shown because of an [Event]'s NotBefore.
	Delayed int
	// SnapshotTime, PlanTime and ApplyTime are wall-clock time, by the loop's stopwatch: taking in
	// events and making the snapshot, from StagePlan on; the policy and the check of its plan, from there, too, whether
	// it failed or not; the cluster, from StageApply on.
	SnapshotTime, PlanTime, ApplyTime time.Duration
	// PredictTime is what of SnapshotTime it took to forecast jobs. Like the others it is wall-clock time.
	PredictTime time.Duration
	// Err is the error that Step returns, if it does.
	Err error
	// Learnt are the jobs that have finished and taught the predictor, in the order of their events.
	Learnt []Learnt
	// Rejected are submissions that were refused in this cycle: jobs that are not valid ([ErrInvalidJob]),
	// jobs whose id a pending or running job has ([ErrDuplicateJob]; that job goes on as though
	// nothing had been submitted, and once it is finished or withdrawn the id is free again) and,
	// under [WithFixedCluster], jobs that the cluster cannot hold ([ErrTooLarge], [ErrUnknownResource]).
	// A rejected job is forgotten; nothing more is said of it. Among them are jobs that wait for one that is not there, or
	// was withdrawn or rejected, and jobs that wait for each other in a circle; the error's Field is After.
	Rejected []Rejection
	// Unplaceable are jobs that the present nodes could not hold even if they were empty, for the same
	// reasons. They wait for nodes that may yet come. Each is told once: in the cycle in
	// which it is submitted or, if there were no nodes then, in the first with nodes.
	Unplaceable []Rejection
	// Failed are the events StartFailed and PreemptFailed, and Withdrawn with an Err, as the cluster told them.
	Failed []Event
	// Ignored are events that made no sense, each wrapping [ErrBadEvent], and events Finished that nothing could be
	// learnt from: of jobs whose runtime is negative or not known, or that the predictor refused.
	Ignored []error
	// UnusedAttributes are attributes of submitted jobs that no feature of the predictor is made of, sorted: misspelt or
	// of no use. Each is told once, in the cycle of the first job that has it, and no more than a hundred in all.
	UnusedAttributes []string
	// UnfilledFeatures are the predictor's features that none of the first ten jobs or more has had, in the predictor's
	// order: an attribute that they are made of is misspelt or missing. They are told once, in the cycle of the tenth job.
	//
	// Both are of predictors with a method Features() []predict.Feature, as [predict.History] has.
	UnfilledFeatures []string
}

// Decisions are [Plan.All] of the cycle's plan and snapshot: none where it failed before there was a plan. Like the
// snapshot they can be asked for until the loop's next Step.
func (c *Cycle) Decisions() iter.Seq[Decision] {
	if c.Plan == nil || c.Snapshot == nil {
		return func(func(Decision) bool) {}
	}
	return c.Plan.All(c.Snapshot)
}

// Learnt is a job that has finished, and how long it ran against its forecast.
type Learnt struct {
	Job *Job
	// Prediction is the forecast that the job ran with: at full speed, and of the rest where it had kept work of an
	// earlier run.
	Prediction predict.Prediction
	// Ran is how long that run would have taken at full speed, in seconds; more than 0.
	Ran float64
}

// Rejection is a job that was refused or cannot be placed, and why: a [*JobError].
type Rejection struct {
	Job *Job
	Err error
}

// Option sets what [NewLoop] leaves to defaults.
type Option func(*Loop) error

// WithCycle sets the time from the end of one cycle to the next in [Loop.Run], which policies are told by
// [Snapshot.Cycle]. The default is 2 s; 0 runs cycles only when [Loop.Wake] asks for one, as the host then does when a
// job's NotBefore has come.
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

// WithObserver is told of every cycle, with its snapshot and decisions, in the goroutine of Step. It must not block.
// It may keep the cycle, but for the snapshot, which it clones.
func WithObserver(f func(*Cycle)) Option {
	return func(l *Loop) error { l.observer = f; return nil }
}

// WithErrorHandler decides what [Loop.Run] does about a failed cycle: go on
// (nil) or return the error it gives. The default returns every error.
func WithErrorHandler(f func(error) error) Option {
	return func(l *Loop) error { l.onError = f; return nil }
}

// WithFreshPredictions forecasts pending jobs again in every cycle in which
// something was learnt, and also running stages of jobs that have stages: the end
// of one stage tells of the others. By default a job is forecast once, when it is submitted.
func WithFreshPredictions() Option {
	return func(l *Loop) error { l.fresh = true; return nil }
}

// WithFixedCluster rejects gangs that the nodes, even empty, cannot hold, as soon as there are nodes. It
// suits clusters that tell of all their nodes at once and never grow. By default such jobs stay pending and
// are told in [Cycle.Unplaceable], since nodes register late and clusters are scaled up for what waits.
func WithFixedCluster() Option {
	return func(l *Loop) error { l.fixed = true; return nil }
}

// WithRanges is for hosts that number their nodes and take [Decision].Ranges: wide gangs then cost no more than narrow
// ones, if the policy is a [RangePolicy]. Nodes are numbered from 0 in the order in which they came up, without those
// that are gone. A plan's numbers are those of its snapshot. Events Started without Nodes say that a job runs where it
// was to.
func WithRanges() Option {
	return func(l *Loop) error { l.ranges = true; return nil }
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
	_, takes := policy.(RangePolicy)
	l.ranges = l.ranges && takes
	l.seen.init(predictor)
	return l, nil
}

// Step does one cycle as of now, by the wall clock: monotonic readings are dropped here as from jobs and events.
//
// On an error nothing has been started or preempted: the plan was not handed to the cluster, or the cluster
// did none of it, as [Cluster] has Apply promise. The events are taken in all the same, and the next Step goes on
// from there. Should the cluster have started a job after all, its event Started is believed. The Cycle tells
// how far this one came and is never nil.
func (l *Loop) Step(ctx context.Context, now time.Time) (*Cycle, error) {
	c := &Cycle{Now: wall(now)}
	err := l.step(ctx, c)
	c.Err = err
	if l.observer != nil {
		l.observer(c)
	}
	return c, err
}

func (l *Loop) step(ctx context.Context, c *Cycle) error {
	begin := l.stopwatch()
	l.state.carryOut(&l.due)
	events, err := l.cluster.Events(ctx)
	if c.Events = len(events); len(events) > 0 {
		l.state.news.version++
	}
	l.takeIn(events, c)
	if err != nil {
		return fmt.Errorf("sched: events: %w", err)
	}
	l.state.show(&l.shown, c.Now)
	l.shown.Cycle, l.shown.Ranges = l.cycle, l.ranges
	c.Snapshot = &l.shown
	c.Pending, c.Running, c.Delayed = len(l.shown.Pending), len(l.shown.Running), len(l.state.delayed)
	c.Held = len(l.shown.Held)
	shown := l.stopwatch()
	c.SnapshotTime, c.Stage = shown-begin, StagePlan

	plan, err := l.policy.Plan(ctx, &l.shown)
	if err == nil {
		err = l.check.check(&l.shown, plan, l.state.jobs)
	}
	planned := l.stopwatch()
	c.PlanTime = planned - shown
	if err != nil {
		return fmt.Errorf("sched: policy %s: %w", l.policy.Name(), err)
	}
	c.Plan, c.Stage = plan, StageApply

	err = l.cluster.Apply(ctx, plan)
	c.ApplyTime = l.stopwatch() - planned
	if err != nil {
		return fmt.Errorf("sched: apply: %w", err)
	}
	l.due.note(plan, l.check.jobs, c.Now)
	c.Started, c.Preempted = len(l.due.start), len(l.due.preempt)
	c.Stage = StageDone
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
		if e.Kind == StartFailed || e.Kind == PreemptFailed || e.Kind == Withdrawn && e.Err != nil {
			c.Failed = append(c.Failed, *e)
		}
		if done == nil {
			continue
		}
		if err := l.learn(done, e, c); err != nil {
			c.Ignored = append(c.Ignored, err)
			continue
		}
		learnt = true
	}
	l.state.link()
	if unfit := l.state.settle(l.fixed, c.Now); l.fixed {
		c.Rejected = append(c.Rejected, unfit...)
	} else {
		c.Unplaceable = unfit
	}
	c.Rejected = append(c.Rejected, l.state.dropped...)
	l.state.dropped = nil
	for _, j := range l.state.arrived {
		l.seen.see(j.job, c)
	}
	begin := l.stopwatch()
	l.forecast(learnt && l.fresh)
	c.PredictTime = l.stopwatch() - begin
}

// learn teaches the predictor the runtime of a job that has finished, and what it used. A part of a job teaches
// nothing: its gang has told how long such tasks run, and long jobs, which lose most tasks, would count most.
func (l *Loop) learn(j *tracked, e *Event, c *Cycle) error {
	if j.job.PartOf != "" {
		return nil
	}
	ran, err := j.ran(e)
	if err != nil {
		return err
	}
	run := j.fullSpeed(ran)
	err = l.predictor.Observe(predict.Observation{Job: j.job.Features(), Used: e.Used, Runtime: run + j.done.Seconds()})
	if err != nil {
		return fmt.Errorf("%w: job %q: %w", ErrBadEvent, e.ID, err)
	}
	c.Learnt = append(c.Learnt, Learnt{Job: j.job, Prediction: j.prediction, Ran: run})
	return nil
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
			l.state.setPrediction(j, j.foresee(l.predictor.Predict(j.job.Features())))
		}
	}
	l.state.settled()
	if !all {
		return
	}
	for _, waiting := range [][]Pending{l.state.pending.items(), l.state.held.items()} {
		for i := range waiting {
			p := &waiting[i]
			j := l.state.jobs[p.Job.ID]
			p.Prediction = j.foresee(l.predictor.Predict(p.Job.Features()))
			j.prediction = p.Prediction
		}
	}
	for _, r := range l.state.running.items() {
		if j := l.state.jobs[r.Job.ID]; j.job.Of != "" {
			l.state.setPrediction(j, j.foresee(l.predictor.Predict(j.job.Features())))
		}
	}
	l.state.news.lost = true
	for _, j := range l.state.delayed {
		j.prediction = j.foresee(l.predictor.Predict(j.job.Features()))
	}
}
