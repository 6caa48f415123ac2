// Package service is the core of a program that schedules a cluster for as long as it runs. It runs the terms of a
// leader, keeps the history of runtimes from term to term, logs and counts cycles, and answers health checks. The
// program brings a configuration, a cluster's driver and its lease, and calls an [Instance]. What a program does
// differently, it can build on package adapters, which this package uses, too.
//
// The package knows no cluster and no format of a configuration. It logs only to the given logger, counts only in the
// given [Metrics], and starts no goroutine that it does not stop. It reads no flags and signals, and does not end the
// program.
package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/outlook"
	"github.com/hedgesched/hedge/sched/why"
)

// Metrics count what an [Instance] does; those of package adapters/metrics are for Prometheus. They must be safe for
// concurrent use.
type Metrics interface {
	// Lead is called at the beginning of a term, and StandBy at its end.
	Lead(epoch uint64)
	StandBy()
	// Observe is called after every cycle. Refused gets the number of jobs that the loop does not know.
	Observe(c *sched.Cycle)
	Refused(r adapters.Refused)
	// Fail is called after Observe if the cycle failed. Warn is called for failures outside of cycles: of the lease, or of
	// saving the history.
	Fail(err error)
	Warn()
}

// Estimating are [Metrics] that compare estimates of starts with what came true, as those of package adapters/metrics
// do. Estimated is called after Observe for each cycle that has a plan, if there are estimates.
type Estimating interface {
	Estimated(c *sched.Cycle, told []outlook.Outlook)
}

// Options are the options of an [Instance].
type Options struct {
	// Policy makes the policy of a term. New calls it, too, so that a standby with a policy that cannot be made fails
	// early.
	Policy func() (sched.Policy, error)
	// LeaseFor is the time for which the lease is granted. An instance is not ready once the lease has not answered for
	// that long.
	LeaseFor time.Duration
	// Cycle is the time from the end of one cycle to the next; default 2 s.
	Cycle time.Duration
	// Stuck is how long each cycle of a term may take before the leader counts as hung; default 5 min. It must be longer
	// than Cycle.
	Stuck time.Duration
	// Cluster are the options of a term's [adapters.Cluster]. Epoch and LearntUntil are set for each term. Now is Clock's,
	// unless it is given. With Measure, the history also learns what tasks use: all quantities of package predict.
	// Resize is refused: its predictor would not be the history of a term.
	Cluster adapters.Options
	// Explain has notes of jobs that wait say more than the policy's reason: what is short, who holds it until when, and
	// what would make room.
	Explain bool
	// Estimates, if not nil, has starts estimated in every cycle, with this configuration: notes of jobs that wait say
	// when these are expected to start, and Metrics that are [Estimating] compare that with what came true. Estimates add
	// some milliseconds to a cycle. What they have learnt is lost at the end of a term.
	Estimates *outlook.Config
	// History is the file for what was learnt; if it is empty, nothing is kept. The file is saved at the end of a term
	// and, during the term, at the interval Save, default 1 min.
	History adapters.HistoryFile
	Save    time.Duration
	// Log, if not nil, gets the beginnings and ends of terms, and failures.
	Log *slog.Logger
	// Metrics, if not nil, count what happens.
	Metrics Metrics
	// Observe, if not nil, is called after every cycle, after Metrics, like the function of [sched.WithObserver].
	Observe func(*sched.Cycle)
	// Clock is the clock for terms, cycles and health; nil is the system's, which is monotonic. It must be safe for
	// concurrent use.
	Clock sched.Clock
}

// Instance is one of the schedulers of a cluster. It leads or stands by. Its methods, except Handler's, are for one
// call of [Instance.Lead] at a time.
type Instance struct {
	opt     Options
	contact adapters.Contact
	pulse   pulse
	unsaved error // why the history of the last ended term was not saved
}

// New makes an instance. Errors wrap [adapters.ErrOptions], or are those of making the policy.
func New(o Options) (*Instance, error) {
	if o.Policy == nil {
		return nil, fmt.Errorf("%w: no Policy", adapters.ErrOptions)
	}
	for _, d := range []struct {
		value     *time.Duration
		otherwise time.Duration
	}{{&o.Cycle, 2 * time.Second}, {&o.Stuck, 5 * time.Minute}, {&o.Save, time.Minute}} {
		if *d.value == 0 {
			*d.value = d.otherwise
		}
	}
	if o.LeaseFor <= 0 || o.Cycle < 0 || o.Save < 0 || o.Stuck <= o.Cycle {
		return nil,
			fmt.Errorf(
				"%w: LeaseFor of %v, Cycle of %v, Save of %v, Stuck of %v, expected more than 0 and Stuck longer than Cycle",
				adapters.ErrOptions, o.LeaseFor, o.Cycle, o.Save, o.Stuck)
	}
	if o.Cluster.Resize != nil { // its predictor would not be the history of a term
		return nil, fmt.Errorf("%w: Cluster.Resize, which an Instance does not support", adapters.ErrOptions)
	}
	if _, err := o.Policy(); err != nil {
		return nil, err
	}
	if o.Estimates != nil {
		if _, err := outlook.New(*o.Estimates); err != nil {
			return nil, fmt.Errorf("%w: Estimates: %w", adapters.ErrOptions, err)
		}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Metrics == nil {
		o.Metrics = uncounted{}
	}
	if o.Clock == nil {
		o.Clock = systemClock{}
	}
	if o.Cluster.Now == nil {
		o.Cluster.Now = o.Clock.Now
	}
	return &Instance{opt: o}, nil
}

// systemClock is the machine's own, whose times are compared by their monotonic reading.
type systemClock struct{}

func (systemClock) Now() time.Time                         { return time.Now() }
func (systemClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

// uncounted are metrics that count nothing.
type uncounted struct{}

func (uncounted) Lead(uint64)              {}
func (uncounted) StandBy()                 {}
func (uncounted) Observe(*sched.Cycle)     {}
func (uncounted) Refused(adapters.Refused) {}
func (uncounted) Fail(error)               {}
func (uncounted) Warn()                    {}

// Lead calls work in every term in which this instance holds the lease, until the context is done. Work opens a driver
// and calls [Instance.Schedule]. Lead returns the errors of [adapters.Lead]. If the history could not be saved at the
// end of the last term, that is an error, too; for earlier terms it is only logged.
func (i *Instance) Lead(ctx context.Context, lease adapters.Lease,
	work func(ctx context.Context, t adapters.Term) error) error {
	err := adapters.Lead(ctx, lease, func(ctx context.Context, t adapters.Term) error {
		i.begin(t)
		defer i.end(t)
		return work(ctx, t)
	}, adapters.LeadOptions{
		Clock:   i.opt.Clock,
		Contact: &i.contact,
		OnError: func(err error) {
			i.opt.Metrics.Warn()
			i.opt.Log.Warn("lease", "error", err)
		},
		OnStandby: func(err error) { i.opt.Log.Info("standing by", "for", err) },
	})
	return errors.Join(err, i.unsaved)
}

func (i *Instance) begin(t adapters.Term) {
	i.pulse.beat(i.opt.Clock.Now())
	i.unsaved = nil
	i.opt.Metrics.Lead(t.Epoch)
	i.opt.Log.Info("leading", "epoch", t.Epoch)
}

func (i *Instance) end(t adapters.Term) {
	i.pulse.rest()
	i.opt.Metrics.StandBy()
	i.opt.Log.Info("leading no more", "epoch", t.Epoch)
}

// Schedule runs a term with a driver. It reads the history if there is one, runs a loop with a new policy until the
// context is done, and saves what was learnt. If the cluster does not answer, the loop goes on; other errors of cycles
// end it. A history that cannot be saved is logged, and does not end a program that goes on to stand by.
func (i *Instance) Schedule(ctx context.Context, t adapters.Term, driver adapters.Driver) error {
	history, until, err := i.learnt()
	if err != nil {
		return err
	}
	o := i.opt.Cluster
	o.Epoch, o.LearntUntil = t.Epoch, until
	policy, err := i.opt.Policy()
	if err != nil {
		return err
	}
	if i.opt.Explain {
		teller := why.NewTeller(policy)
		policy, o.Why = teller, teller.Tell
	}
	k := &keeper{Instance: i, history: history, saved: i.opt.Clock.Now()}
	if i.opt.Estimates != nil {
		if k.estimates, err = outlook.NewTeller(policy, *i.opt.Estimates); err != nil {
			return err
		}
		policy, o.When = k.estimates, k.estimates.Tell
	}
	cluster, err := adapters.New(driver, o)
	if err != nil {
		return err
	}
	k.cluster = cluster
	loop, err := sched.NewLoop(cluster, policy, history, sched.WithCycle(i.opt.Cycle), sched.WithClock(i.opt.Clock),
		sched.WithObserver(k.observe), sched.WithErrorHandler(k.fail))
	if err != nil {
		return err
	}
	err = loop.Run(ctx)
	i.unsaved = k.save()
	return err
}

// learns are the options of the history.
func (o *Options) learns() *predict.HistoryOptions {
	if o.Cluster.Measure <= 0 {
		return nil
	}
	return &predict.HistoryOptions{Quantities: []predict.Quantity{
		predict.CPU, predict.CPUMax, predict.Memory, predict.MemoryMax, predict.CPUTime}}
}

// learnt reads the history. If the file is damaged, it has been renamed, and the scheduler learns anew.
func (i *Instance) learnt() (*predict.History, time.Time, error) {
	history, err := predict.NewHistory(i.opt.learns())
	if err != nil || i.opt.History == "" {
		return history, time.Time{}, err
	}
	until, err := i.opt.History.Load(history)
	if errors.Is(err, adapters.ErrHistory) {
		i.opt.Metrics.Warn()
		i.opt.Log.Warn("beginning without a history", "error", err)
		err = nil
	}
	return history, until, err
}
