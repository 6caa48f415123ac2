// Command yarn-scheduler is a complete scheduler for a YARN cluster: 3Sigma on the jobs of a spool, with a standby, a history of runtimes that
// outlives it, metrics and health. Copy it and make it yours.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/metrics"
	"github.com/hedgesched/hedge/adapters/yarn"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], slog.New(slog.NewTextHandler(os.Stderr, nil)), func(net.Addr) {})
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "yarn-scheduler:", err)
		os.Exit(1)
	}
}

// run is the program; up is told where it listens.
func run(ctx context.Context, args []string, log *slog.Logger, up func(net.Addr)) error {
	flags := flag.NewFlagSet("yarn-scheduler", flag.ContinueOnError)
	file := flags.String("config", "", "configuration file (YAML)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	c, err := load(*file)
	if err != nil {
		return err
	}
	if _, err := c.policy(); err != nil {
		return fmt.Errorf("%s: %w", *file, err)
	}
	s, err := newScheduler(c, log)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: s.handler(), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Error("server", "error", err)
		}
	}()
	defer func() { _ = server.Close() }() // there is nobody left to tell
	up(listener.Addr())
	log.Info("waiting for the lease", "yarn", c.ResourceManagers, "spool", c.Spool, "listen", listener.Addr().String())
	defer log.Info("stopped")
	return s.lead(ctx)
}

// scheduler is what the program is made of.
type scheduler struct {
	config   *config
	log      *slog.Logger
	registry *prometheus.Registry
	metrics  *metrics.Metrics
	contact  adapters.Contact
}

func newScheduler(c *config, log *slog.Logger) (*scheduler, error) {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m, err := metrics.New(r)
	return &scheduler{config: c, log: log, registry: r, metrics: m}, err
}

// handler serves metrics and health: alive while the program is, ready while the lease answers and the last cycle, of a leader, was well.
func (s *scheduler) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if err := errors.Join(s.metrics.Err(), s.contact.Err(time.Now(), s.config.LeaseFor)); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	return mux
}

// lead works while this instance has the lease.
func (s *scheduler) lead(ctx context.Context) error {
	lease, err := yarn.NewLease(s.config.options(), s.config.LeaseFor)
	if err != nil {
		return err
	}
	return adapters.Lead(ctx, lease, s.work, adapters.LeadOptions{Contact: &s.contact, Told: func(err error) {
		s.metrics.Warn()
		s.log.Warn("lease", "error", err)
	}, StandsBy: func(err error) { s.log.Info("standing by", "for", err) }})
}

// work is one term.
func (s *scheduler) work(ctx context.Context, t adapters.Term) error {
	s.log.Info("leading", "epoch", t.Epoch)
	s.metrics.Lead(t.Epoch)
	defer s.metrics.StandBy()
	options := s.config.options()
	options.Told = func(err error) { s.log.Warn("not understood", "error", err) }
	driver, err := yarn.New(options)
	if err != nil {
		return err
	}
	defer driver.Close()
	history, err := predict.NewHistory(nil)
	if err != nil {
		return err
	}
	file := adapters.HistoryFile(s.config.History)
	until, err := file.Load(history)
	if errors.Is(err, adapters.ErrHistory) {
		s.log.Warn("beginning without a history", "error", err)
	} else if err != nil {
		return err
	}
	cluster, err := adapters.New(driver, adapters.Options{Epoch: t.Epoch, LearntUntil: until, Parallel: s.config.Parallel})
	if err != nil {
		return err
	}
	policy, err := s.config.policy()
	if err != nil {
		return err
	}
	k := &keeper{scheduler: s, file: file, history: history, cluster: cluster, saved: time.Now()}
	loop, err := sched.NewLoop(cluster, policy, history, sched.WithCycle(s.config.Cycle), sched.WithObserver(k.observe), sched.WithErrorHandler(k.fail))
	if err != nil {
		return err
	}
	err = loop.Run(ctx)
	if ctx.Err() != nil {
		err = nil
	}
	return errors.Join(err, k.save())
}

// keeper watches over the cycles of a term and keeps what was learnt.
type keeper struct {
	*scheduler
	file    adapters.HistoryFile
	history *predict.History
	cluster *adapters.Cluster
	saved   time.Time
}

func (k *keeper) observe(c *sched.Cycle) {
	k.metrics.Observe(c)
	k.metrics.Refused(k.cluster.Refused())
	for _, e := range metrics.Failures(c) {
		k.log.Warn("failed", "job", e.ID, "error", e.Err)
	}
	for _, r := range slices.Concat(c.Rejected, c.Unplaceable) {
		k.log.Warn("cannot be placed", "job", r.Job.ID, "error", r.Err)
	}
	for _, err := range c.Ignored {
		k.log.Error("ignored", "error", err)
	}
	if time.Since(k.saved) >= k.config.SaveEvery {
		if err := k.save(); err != nil {
			k.log.Error("history", "error", err)
		}
	}
}

// fail lets a cluster that does not answer be asked again.
func (k *keeper) fail(err error) error {
	k.metrics.Fail(err)
	k.log.Warn("cycle", "error", err)
	return adapters.Unavailable(err)
}

func (k *keeper) save() error {
	k.saved = time.Now()
	return k.file.Save(k.history, k.cluster.LearntUntil())
}
