package fxhedge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/fx"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/service"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/outlook"
)

// Loop runs a [sched.Loop] on the [sched.Cluster] that the program provides. A program may add to these value groups:
//
//	group:"hedge.observers"  func(*sched.Cycle), called after every cycle like that of sched.WithObserver
//	group:"hedge.options"    sched.Option, such as sched.WithFreshPredictions()
//
// The observer, the error handler, the cycle and the clock are not options of that group: Loop sets them itself.
func Loop(c Config) fx.Option {
	return fx.Module("hedge", parts(c),
		fx.Provide(newHistory, predictor, newErrorHandler, newLoop),
		fx.Invoke(func(*sched.Loop) {}))
}

// History is what was learnt, and a [predict.Predictor].
type History struct {
	*predict.History
	// Until is when the last job ended that the file knew of, or zero: for [adapters.Options].LearntUntil of a cluster
	// that tells of jobs again when it is observed anew.
	Until time.Time
}

// newHistory reads the file. One that is damaged was put aside, and the scheduler learns anew.
func newHistory(c Config, m service.Metrics, l log) (*History, error) {
	learnt, err := predict.NewHistory(nil)
	if err != nil || c.History == "" {
		return &History{History: learnt}, err
	}
	until, err := c.History.Load(learnt)
	if errors.Is(err, adapters.ErrHistory) {
		m.Warn()
		l.Warn("beginning without a history", "error", err)
		err = nil
	}
	return &History{learnt, until}, err
}

func predictor(h *History) predict.Predictor { return h.History }

// ErrorHandler says what is done about a cycle that fails: nil goes on, and an error ends the loop and shuts the app
// down. It is [adapters.Unavailable] unless it is replaced: a cluster that does not answer is asked again.
type ErrorHandler func(error) error

func newErrorHandler() ErrorHandler { return adapters.Unavailable }

type loopParams struct {
	fx.In
	Config    Config
	Cluster   sched.Cluster
	Policy    NewPolicy
	Predictor predict.Predictor
	History   *History
	Metrics   service.Metrics
	OnError   ErrorHandler
	Clock     sched.Clock          `optional:"true"`
	Observers []func(*sched.Cycle) `group:"hedge.observers"`
	Options   []sched.Option       `group:"hedge.options"`
	Log       log
}

func newLoop(p loopParams, lc fx.Lifecycle, app fx.Shutdowner) (*sched.Loop, error) {
	c := p.Config.withDefaults()
	policy, err := p.Policy()
	if err != nil {
		return nil, err
	}
	now := time.Now
	options := append(p.Options, sched.WithCycle(c.Cycle))
	if p.Clock != nil {
		now = p.Clock.Now
		options = append(options, sched.WithClock(p.Clock))
	}
	var estimates *outlook.Teller
	if c.Estimates != nil {
		if estimates, err = outlook.NewTeller(policy, *c.Estimates); err != nil {
			return nil, fmt.Errorf("fxhedge: %w", err)
		}
		policy = estimates
	}
	k := &keeper{loopParams: p, estimates: estimates, every: c.Save, now: now, saved: now()}
	options = append(options, sched.WithObserver(k.observe), sched.WithErrorHandler(k.fail))
	loop, err := sched.NewLoop(p.Cluster, policy, p.Predictor, options...)
	if err != nil {
		return nil, err
	}
	background(lc, app, func(ctx context.Context) error { return errors.Join(loop.Run(ctx), k.save()) })
	return loop, nil
}

// keeper counts and tells of cycles, and keeps what was learnt.
type keeper struct {
	loopParams
	estimates *outlook.Teller // nil if there are none
	every     time.Duration
	now       func() time.Time
	saved     time.Time // when it was tried last
}

// observe is told of every cycle, between which the history is whole.
func (k *keeper) observe(c *sched.Cycle) {
	k.Metrics.Observe(c)
	if m, ok := k.Metrics.(service.Estimating); ok && k.estimates != nil && c.Plan != nil {
		m.Estimated(c, k.estimates.Told())
	}
	for _, told := range k.Observers {
		told(c)
	}
	if now := k.now(); now.Sub(k.saved) >= k.every {
		k.saved = now
		_ = k.save() // it is logged, and tried again
	}
}

func (k *keeper) fail(err error) error {
	k.Metrics.Fail(err)
	k.Log.Warn("cycle", "error", err)
	return k.OnError(err)
}

func (k *keeper) save() error {
	if k.Config.History == "" {
		return nil
	}
	var until time.Time
	if c, ok := k.Cluster.(interface{ LearntUntil() time.Time }); ok { // as an adapters.Cluster
		until = c.LearntUntil()
	}
	err := k.Config.History.Save(k.History.History, until)
	if err != nil {
		k.Metrics.Warn()
		k.Log.Error("the history is not saved", "error", err)
	}
	return err
}
