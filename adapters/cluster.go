package adapters

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hedgesched/hedge/sched"
)

// Options are the options of [New]. The zero value is for a single instance that uses the system's clock.
type Options struct {
	// Epoch is the epoch of the leader's lease. Every action carries it.
	Epoch uint64
	// Now is the loop's clock. Start timeouts and the delays after failed starts are measured by it. Nil is the system's
	// clock.
	Now func() time.Time
	// Resync is the interval at which the driver must report everything, whatever it has reported before; default 10 min.
	// It limits the time for which a silently lost event of a watch goes unnoticed.
	Resync time.Duration
	// StartTimeout is how long a gang may take from its start until all of it runs; then it is stopped. It is also how
	// long a start may wait for the jobs that it replaces. The default is 10 min.
	StartTimeout time.Duration
	// Answer is how long the effect of a call may take to be observed; default 10 s. After that the driver must report
	// everything. After a failed call it must do so at once. If calls keep failing, the interval doubles from Backoff up
	// to Answer.
	Answer time.Duration
	// StopRetry is how long a job may take to stop before it is told again; default 1 min. It is also the wait after a
	// refused order to stop. Orders that fail otherwise are repeated at intervals that double from Backoff up to
	// StopRetry.
	StopRetry time.Duration
	// Backoff is how long a job waits after its first failed start. Each further failure doubles the wait, up to
	// BackoffMax. The defaults are 1 s and 5 min.
	Backoff, BackoffMax time.Duration
	// LearntUntil is the end of the last job that the predictor has learnt from; see [HistoryFile]. Jobs that ended by
	// then are not told to the loop. So a job that ended by then but was observed only later is not learnt from.
	LearntUntil time.Time
	// Notes is the number of notes written per cycle, default 100; negative for none.
	Notes int
	// Why, if not nil, tells of a job that waits by the last plan what its note says beside the policy's reason; empty for
	// nothing. It is called when a note is due. A why.Teller has such a function.
	Why func(job string) string
	// When, if not nil, says when a job that waits is expected to start, for its note; empty for nothing. It is called in
	// every cycle for every such job, and a note is written again when the words have changed, at most Notes of them in a
	// cycle. So it should be fast and change its words seldom, as an outlook.Teller does.
	When func(job string) string
	// Parallel is the number of a cycle's calls that run concurrently. The default is 1: one after another, in order. More
	// helps drivers with slow calls. The cluster then decides which call comes first, but the loop gets the answers in the
	// order of the plan.
	Parallel int
	// Measure is the interval at which the driver, a [Meter], measures what tasks use. The loop tells policies, and
	// teaches its predictor what jobs that have finished used. 0 means never.
	Measure time.Duration
	// Resize, if not nil, resizes tasks when they start.
	Resize *Resizing
}

func (o *Options) withDefaults() error {
	for _, d := range []struct {
		name     string
		value    *time.Duration
		standard time.Duration
	}{
		{"Resync", &o.Resync, 10 * time.Minute}, {"StartTimeout", &o.StartTimeout, 10 * time.Minute},
		{"Answer", &o.Answer, 10 * time.Second}, {"StopRetry", &o.StopRetry, time.Minute},
		{"Backoff", &o.Backoff, time.Second}, {"BackoffMax", &o.BackoffMax, 5 * time.Minute},
	} {
		if *d.value < 0 {
			return fmt.Errorf("%w: %s of %v", ErrOptions, d.name, *d.value)
		}
		if *d.value == 0 {
			*d.value = d.standard
		}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Notes == 0 {
		o.Notes = 100
	}
	if o.Parallel < 0 {
		return fmt.Errorf("%w: Parallel of %d", ErrOptions, o.Parallel)
	}
	o.Parallel = max(o.Parallel, 1)
	if o.Measure < 0 {
		return fmt.Errorf("%w: Measure of %v", ErrOptions, o.Measure)
	}
	if o.Resize != nil {
		r, err := o.Resize.withDefaults()
		if err != nil {
			return err
		}
		o.Resize = &r
	}
	return nil
}

// Cluster is a [sched.Cluster] made from a [Driver]. Like a loop, it is for one goroutine at a time. It works only
// during calls of its methods and leaves nothing running when they return.
type Cluster struct {
	driver  Driver
	explain Explainer // nil if the driver is no Explainer
	meter   Meter     // nil if the driver is no Meter
	opt     Options

	jobs   map[string]*tracked // by id
	order  []*tracked          // in order of arrival; some may be gone
	nodes  map[string]*node
	names  []string // of nodes, in order of arrival; some may be gone
	graves map[string]struct{}
	events []sched.Event // not yet told to the loop
	open   []*tracked    // jobs to look at in every cycle
	queue  []*tracked    // jobs whose starts wait for others to stop
	used   map[string]sched.Resources
	batch  []call // calls for the next flush
	// children are, by the id of a job, the jobs that the loop holds back for it.
	children map[string][]string

	version uint64 // of the last view
	floor   uint64 // of the last full view
	round   uint64 // number of full views
	calls   uint64 // number of actions so far
	fullAt  uint64 // the value of calls when the last full view was requested
	listed  time.Time
	relist  bool
	pause   time.Duration // minimum time between full views while calls keep failing
	ever    bool
	notes   int
	fenced  error // why this instance no longer acts
	until   time.Time

	metered  time.Time // when tasks were last measured
	measured Measured
	sizable  sizable
}

// node is a node as last reported.
type node struct {
	Node
	round uint64
}

// tracked is a job: what the cluster reports of it, and what the loop was told.
type tracked struct {
	job   Job
	is    phase
	cause Cause // of a job that is broken
	round uint64

	told     told
	revision uint64
	since    time.Time
	nodes    []sched.NodeTasks

	asked *asked // a start that has not been observed yet
	stop  *order // the last order to stop this attempt
	deny  denial
	stale int  // consecutive starts that were refused as stale
	seen  bool // tasks of the attempt were observed
	ran   bool // all tasks of the attempt ran
	begun time.Time
	fails int
	err   error // why this attempt failed
	say   error // why the last start failed, if the user was not told yet

	met   []string // the jobs that it waited for and that have finished
	lacks error    // what keeps it, as a stage, from the loop

	listed bool // in open
	gone   bool
	noted  string
	ahead  []string // the jobs that the note names

	use meters // by index: what the tasks of this attempt use, as far as measured
}

// told is what the loop believes.
type told uint8

const (
	untold told = iota
	toldPending
	toldRunning // or starting
	toldStopping
	toldOver // the loop has forgotten the job
)

// outcome is what is known about a call.
type outcome uint8

const (
	queued outcome = iota // not made yet
	accepted
	unknown
	refused
)

// asked is a start.
type asked struct {
	is       outcome
	decision sched.Decision
	revision uint64 // of the job, as the loop was told
	attempt  int    // of the job, when the start was requested
	size     *Size  // nil for what the job asks for
	at       uint64
	when     time.Time
}

// order is a stop.
type order struct {
	is    outcome
	cause Cause
	at    uint64
	when  time.Time
	err   error
}

// denial is a run of consecutive failed orders to stop a job.
type denial struct {
	times int
	last  time.Time
	err   error
}

// New makes a cluster for a loop from a driver. Every instance starts from nothing: its first Events tell everything.
func New(driver Driver, options Options) (*Cluster, error) {
	if driver == nil {
		return nil, fmt.Errorf("%w: nil driver", ErrOptions)
	}
	if err := options.withDefaults(); err != nil {
		return nil, err
	}
	explain, _ := driver.(Explainer)
	meter, _ := driver.(Meter)
	if options.Measure > 0 && meter == nil {
		return nil, fmt.Errorf("%w: Measure with a driver that cannot measure", ErrOptions)
	}
	return &Cluster{
		driver: driver, explain: explain, meter: meter, opt: options, until: options.LearntUntil,
		jobs: make(map[string]*tracked), nodes: make(map[string]*node), graves: make(map[string]struct{}),
		children: make(map[string][]string),
	}, nil
}

var _ sched.Cluster = (*Cluster)(nil)

// LearntUntil is the end of the last job that the loop was told has finished. Pass it to [HistoryFile.Save].
func (c *Cluster) LearntUntil() time.Time { return c.until }

// Events observes the cluster and tells the loop what it does not know yet. It also continues what is under way: it
// stops gangs that can no longer be whole, and makes the starts whose room has become free. An error of the driver
// wraps [ErrFenced], [ErrRestored] or [ErrUnavailable]. After ErrFenced or ErrRestored every call returns that error.
func (c *Cluster) Events(ctx context.Context) ([]sched.Event, error) {
	if c.fenced != nil {
		return nil, c.fenced
	}
	now := c.opt.Now()
	c.notes = c.opt.Notes
	all := c.listDue(now)
	at := c.calls
	view, err := c.driver.Observe(ctx, all)
	if err == nil && all && view.Full {
		err = c.restored(view)
	}
	switch {
	case err != nil:
		switch {
		case errors.Is(err, ErrFenced), errors.Is(err, ErrRestored):
			c.fenced = err
		case !errors.Is(err, ErrUnavailable):
			err = fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
		return c.drain(), fmt.Errorf("adapters: observe: %w", err)
	case all && !view.Full:
		return c.drain(), fmt.Errorf("adapters: observe: the driver was asked for all there is and told only changes")
	case view.Full:
		if c.relist {
			c.pause = min(max(2*c.pause, c.opt.Backoff), c.opt.Answer)
		}
		c.ever, c.listed, c.fullAt, c.relist = true, now, at, false
	}
	c.takeIn(view)
	c.settle(ctx, now)
	if c.fenced != nil {
		return c.drain(), c.fenced
	}
	c.measure(ctx, now)
	return c.drain(), nil
}

// listDue reports whether the driver must report everything. A single job whose calls always fail must not cause a full
// view in every cycle.
func (c *Cluster) listDue(now time.Time) bool {
	age := now.Sub(c.listed)
	if age >= 2*c.pause {
		c.pause = 0 // it has been quiet
	}
	return !c.ever || age >= c.opt.Resync || c.relist && age >= c.pause
}

// drain hands over the events. The slice is the loop's until its next call.
func (c *Cluster) drain() []sched.Event {
	out := c.events
	c.events = nil
	return out
}

func (c *Cluster) tell(e sched.Event) {
	switch e.Kind {
	case sched.Withdrawn:
		c.orphan(e.ID, e.Time)
	case sched.Finished:
		c.released(e.ID)
	}
	c.events = append(c.events, e)
}

// conclusive reports whether a full view was requested after that call, and so shows what became of it.
func (c *Cluster) conclusive(at uint64) bool { return c.ever && c.fullAt >= at }

// Apply stops what the plan preempts and requests what it starts. Starts that replace jobs which have not stopped yet
// are made by later Events. It returns an error only if another instance leads ([ErrFenced]), or after Events has
// failed with [ErrRestored].
func (c *Cluster) Apply(ctx context.Context, plan *sched.Plan) error {
	if c.fenced != nil {
		return c.fenced
	}
	now := c.opt.Now()
	for i := range plan.Decisions {
		if d := &plan.Decisions[i]; d.Kind == sched.Preempt {
			c.preempt(d, now)
		}
	}
	for i := range plan.Decisions {
		if d := &plan.Decisions[i]; d.Kind == sched.Start {
			c.begin(d, now)
		}
	}
	c.runQueue(now)
	c.flush(ctx)
	c.explainPlan(plan)
	c.flush(ctx)
	return nil
}

func (c *Cluster) preempt(d *sched.Decision, now time.Time) {
	t := c.jobs[d.Job]
	if t == nil || t.told != toldRunning {
		c.tell(sched.Event{Kind: sched.PreemptFailed, ID: d.Job, Time: now, Err: ErrStale})
		return
	}
	if t.asked != nil && t.asked.is == queued { // the cluster knows nothing of the start yet
		t.asked, t.told = nil, toldPending
		c.tell(sched.Event{Kind: sched.Preempted, ID: d.Job, Time: now})
		return
	}
	if !c.mayStop(t, now) {
		c.tell(sched.Event{Kind: sched.PreemptFailed, ID: d.Job, Time: now, Err: t.deny.err})
		return
	}
	t.told = toldStopping
	c.halt(t, CausePreempted, d.Reason, now, nil)
	c.watch(t)
}

// halt orders the job to be stopped. It calls then, if not nil, once the order was accepted.
func (c *Cluster) halt(t *tracked, cause Cause, why sched.Reason, now time.Time, then func()) {
	c.calls++
	o := &order{cause: cause, at: c.calls, when: now}
	if t.stop != nil && cause != CausePreempted {
		o.cause = t.stop.cause // the first cause stays
	}
	t.stop = o
	job := t.job
	s := &Stop{Job: &job, State: c.version, Epoch: c.opt.Epoch, Cause: cause, Reason: why}
	c.later(func(ctx context.Context) error { return c.driver.Stop(ctx, s) }, func(err error) {
		o.err, o.is = err, c.judge(err)
		if o.is != accepted {
			t.deny = denial{t.deny.times + 1, now, err}
			return
		}
		t.deny = denial{}
		if then != nil {
			then()
		}
	})
}

// mayStop reports whether a job may be told to stop, given its failed orders. The second order may follow at once,
// since the first may have failed on a state that had changed. After that the waits grow. A refused order waits for
// StopRetry.
func (c *Cluster) mayStop(t *tracked, now time.Time) bool {
	var wait time.Duration
	switch {
	case errors.Is(t.deny.err, ErrRefused):
		wait = c.opt.StopRetry
	case t.deny.times > 1:
		wait = min(c.backoff(t.deny.times-2), c.opt.StopRetry)
	}
	return t.deny.times == 0 || now.Sub(t.deny.last) >= wait
}

// judge says what is known after a call. If a full view is needed to know more, it requests one.
func (c *Cluster) judge(err error) outcome {
	switch {
	case err == nil:
		return accepted
	case errors.Is(err, ErrFenced):
		return refused
	case errors.Is(err, ErrStale):
		c.relist = true
		return refused
	case errors.Is(err, ErrRefused):
		return refused
	}
	c.relist = true
	return unknown
}

// begin queues a start, which is made when there is room.
func (c *Cluster) begin(d *sched.Decision, now time.Time) {
	t := c.jobs[d.Job]
	if t == nil || t.told != toldPending || t.is != waiting {
		c.tell(sched.Event{Kind: sched.StartFailed, ID: d.Job, Time: now, Err: ErrStale})
		return
	}
	t.told, t.stop, t.seen, t.ran, t.begun = toldRunning, nil, false, false, now
	t.since, t.nodes, t.err = time.Time{}, d.Nodes, nil
	t.asked = &asked{decision: *d, revision: t.revision, attempt: t.job.Attempt, when: now,
		size: c.opt.Resize.size(t.job.Spec, t.job.Resize)}
	c.queue = append(c.queue, t)
	c.watch(t)
}

// send requests a start.
func (c *Cluster) send(t *tracked, now time.Time) {
	a := t.asked
	c.calls++
	a.at, a.when = c.calls, now
	job := t.job
	s := &Start{Job: &job, Nodes: a.decision.Nodes, State: c.version, Epoch: c.opt.Epoch, Reason: a.decision.Reason,
		Size: a.size}
	c.later(func(ctx context.Context) error { return c.driver.Start(ctx, s) }, func(err error) {
		if a.is = c.judge(err); a.is == refused {
			if errors.Is(err, ErrStale) {
				t.stale++ // the first may be due to somebody else's change
			}
			c.comeBack(t, now, err, errors.Is(err, ErrRefused) || t.stale > 1)
		}
	})
}

// comeBack tells the loop that the job is pending again, because its start failed or because it was stopped. A start
// that was really requested and failed is punished: the job must wait before the next try, longer every time.
func (c *Cluster) comeBack(t *tracked, now time.Time, err error, punish bool) {
	e := sched.Event{Kind: sched.StartFailed, ID: t.job.Spec.ID, Time: now, Err: err}
	if t.ran || t.stop != nil && t.stop.cause == CausePreempted {
		e.Kind, e.Err = sched.Preempted, nil
	}
	if t.job.Spec.Checkpoint {
		if e.Done = t.job.Done; e.Done == 0 {
			e.Done = -1 // the cluster's own record says none
		}
	}
	if punish {
		if t.ran && now.Sub(t.since) > c.opt.BackoffMax {
			t.fails = 0
		}
		e.NotBefore = now.Add(c.backoff(t.fails))
		t.fails++
	}
	if t.seen || t.asked != nil && t.job.Attempt != t.asked.attempt {
		t.noted = "" // it had a place, and now waits anew
	}
	t.err, t.say = nil, err
	c.tell(e)
	c.watch(t)
	t.told, t.asked, t.stop, t.deny, t.seen, t.ran = toldPending, nil, nil, denial{}, false, false
	t.since, t.nodes, t.begun, t.use = time.Time{}, nil, time.Time{}, meters{}
}

func (c *Cluster) backoff(fails int) time.Duration {
	d := c.opt.Backoff
	for range min(fails, 62) {
		if d >= c.opt.BackoffMax/2 {
			return c.opt.BackoffMax
		}
		d *= 2
	}
	return min(d, c.opt.BackoffMax)
}

// watch makes every cycle look at the job.
func (c *Cluster) watch(t *tracked) {
	if !t.listed {
		t.listed = true
		c.open = append(c.open, t)
	}
}
