// Package fxhedge has the parts of a scheduler as modules for go.uber.org/fx. A program sets a [Config] and provides
// its own parts. The modules build, start and stop the rest.
//
//   - [Loop] is for a program that has a cluster of its own, a [sched.Cluster]: it runs a [sched.Loop].
//   - [Service] is for a program that schedules Kubernetes, Nomad, YARN or another cluster with a driver and a lease.
//     It runs a [service.Instance], which leads or stands by and answers health checks.
//
// Both start and stop with the app. The history file is written before the app has stopped. A scheduler that fails
// shuts the app down with exit status 1, and stopping the app returns its error.
//
// # Parts
//
// A program replaces what it likes by fx.Decorate, and takes what it likes as a parameter:
//
//	*engines.Set          the engines that Config.Engine may name: Register ortools, highs, cbc, ... here
//	solver.Solver         the engine
//	NewPolicy             what makes the policy, 3Sigma on the engine unless it is replaced
//	service.Metrics       what counts, for Prometheus
//	*History              Loop: what was learnt, from the file
//	predict.Predictor     Loop: that history, unless it is replaced
//	ErrorHandler          Loop: what is done about a cycle that fails
//	*sched.Loop           Loop: to Wake it, say
//	*service.Instance     Service: to ask it for its health, say
//
// What a program may provide: a prometheus.Registerer, for the metrics (with a prometheus.Gatherer for them to be
// served by Service, which serves those of a registry of its own otherwise), a *[slog.Logger] and a [sched.Clock].
package fxhedge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/fx"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/metrics"
	"github.com/hedgesched/hedge/adapters/service"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/outlook"
	"github.com/hedgesched/hedge/sched/threesigma"
	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/engines"
)

// Config is what a program sets. Its zero value is ready to use: what is zero has the default named here.
type Config struct {
	// Engine is the solving engine, or a ladder of them, as [engines.Set.Open] has it; default "native".
	Engine string
	// Cycle is the time from the end of one cycle to the next, default 2 s.
	Cycle time.Duration
	// Slot and Window are the policy's, see [threesigma.Config], as their defaults are.
	Slot, Window time.Duration
	// CutOff is the share of a cycle, at most 1, that solving may take; default 0.5.
	CutOff float64
	// Reserve is for how long a job may wait until nodes are kept for it, see [threesigma.Config]; 0 is for ever.
	Reserve time.Duration
	// Stopwatch reads a monotonic clock, for the time that options and solving take in metrics and spans; default the
	// system's.
	Stopwatch func() time.Duration
	// Estimates, if not nil, has starts estimated in every cycle, with this configuration. Metrics compare that with what
	// came true, and with Service notes say when jobs start, see [service.Options]. A Loop's estimates are those of the
	// [outlook.Teller] that wraps its policy.
	Estimates *outlook.Config
	// History is the file that keeps what was learnt; none is kept if it is empty.
	History adapters.HistoryFile
	// Save is how often the history is saved while the app runs, default 1 min. It is saved at the end in any case.
	Save time.Duration

	// LeaseFor is, of Service, for how long the lease is granted, default 15 s.
	LeaseFor time.Duration
	// Stuck is, of Service, how long a cycle may take until the instance counts as hung, default 5 min.
	Stuck time.Duration
	// Listen is, of Service, the address that health checks and metrics are served at; nothing is served if it is
	// empty. A program that provides a [net.Listener] has them served there.
	Listen string
	// Cluster are, of Service, the options of a term's [adapters.Cluster].
	Cluster adapters.Options
}

// withDefaults is c without zeros, but for those that are defaults themselves.
func (c Config) withDefaults() Config {
	if c.Engine == "" {
		c.Engine = "native"
	}
	if c.Stopwatch == nil {
		began := time.Now()
		c.Stopwatch = func() time.Duration { return time.Since(began) }
	}
	if c.CutOff == 0 {
		c.CutOff = 0.5
	}
	for value, otherwise := range map[*time.Duration]time.Duration{&c.Cycle: 2 * time.Second, &c.Save: time.Minute,
		&c.LeaseFor: 15 * time.Second} {
		if *value == 0 {
			*value = otherwise
		}
	}
	return c
}

// NewPolicy makes a policy: one for each term of a [Service], since a policy remembers its last plans, and one for a
// [Loop].
type NewPolicy func() (sched.Policy, error)

// parts are those of both modules.
func parts(c Config) fx.Option {
	return fx.Options(
		fx.Supply(c),
		fx.Provide(engines.Builtin, newEngine, newPolicy, newMetrics),
		fx.Provide(newRegistry, newLog, fx.Private),
	)
}

// newEngine opens the engine, which is closed when the app stops.
func newEngine(c Config, set *engines.Set, lc fx.Lifecycle) (solver.Solver, error) {
	engine, err := set.Open(c.withDefaults().Engine)
	if err != nil {
		return nil, fmt.Errorf("fxhedge: %w", err)
	}
	if closer, ok := engine.(io.Closer); ok {
		lc.Append(fx.StopHook(closer.Close))
	}
	return engine, nil
}

func newPolicy(c Config, engine solver.Solver) NewPolicy {
	c = c.withDefaults()
	return func() (sched.Policy, error) {
		return threesigma.New(threesigma.Config{Solver: engine, Slot: c.Slot, Window: c.Window, CutOff: c.CutOff,
			Reserve: c.Reserve, Stopwatch: c.Stopwatch})
	}
}

// registry returns where metrics are registered and where they are gathered. The second is nil if it is not known.
type registry struct {
	prometheus.Registerer
	prometheus.Gatherer
}

type registryParams struct {
	fx.In
	Registerer prometheus.Registerer `optional:"true"`
	Gatherer   prometheus.Gatherer   `optional:"true"`
}

func newRegistry(p registryParams) registry {
	if p.Registerer == nil {
		own := prometheus.NewRegistry()
		return registry{own, own}
	}
	return registry{p.Registerer, p.Gatherer}
}

func newMetrics(r registry) (service.Metrics, error) {
	m, err := metrics.New(r.Registerer)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// log is the program's logger, or one that logs nothing.
type log struct{ *slog.Logger }

type logParams struct {
	fx.In
	Log *slog.Logger `optional:"true"`
}

func newLog(p logParams) log {
	if p.Log == nil {
		return log{slog.New(slog.DiscardHandler)}
	}
	return log{p.Log}
}

// background runs work while the app runs. Work begins when the app starts. Its context ends when the app stops. The
// app waits for it and returns its error. Work that ends by itself shuts the app down.
func background(lc fx.Lifecycle, app fx.Shutdowner, work func(ctx context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	lc.Append(fx.StartStopHook(
		func() {
			go func() {
				err := work(ctx)
				if ctx.Err() == nil {
					err = errors.Join(err, app.Shutdown(fx.ExitCode(1)))
				}
				done <- err
			}()
		},
		func(stop context.Context) error {
			cancel()
			select {
			case err := <-done:
				return err
			case <-stop.Done():
				return fmt.Errorf("fxhedge: the scheduler has not stopped yet: %w", stop.Err())
			}
		},
	))
}
