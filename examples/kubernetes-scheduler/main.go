// Command kubernetes-scheduler schedules pods with schedulerName: hedge by the 3Sigma policy: a complete program to copy. It reads a configuration file, works
// while it holds a lease, answers /metrics, /healthz and /readyz, and keeps what it has learnt in a file.
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
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	client "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/kubernetes"
	"github.com/hedgesched/hedge/adapters/metrics"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
)

// scheduler is the program.
type scheduler struct {
	config   *config
	log      *slog.Logger
	registry *prometheus.Registry
	metrics  *metrics.Metrics
	contact  adapters.Contact
	driver   atomic.Pointer[kubernetes.Driver] // the last term's
	last     atomic.Int64                      // when the last cycle of a leader ended, in Unix nanoseconds; 0 of a standby
}

func newScheduler(c *config, log *slog.Logger) (*scheduler, error) {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m, err := metrics.New(r)
	return &scheduler{config: c, log: log, registry: r, metrics: m}, err
}

func main() {
	path := flag.String("config", "", "configuration file (YAML); empty for defaults")
	kubeconfig := flag.String("kubeconfig", os.Getenv("KUBECONFIG"), "kubeconfig file; empty inside a cluster")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	log := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	err := run(ctx, *path, *kubeconfig, log)
	stop()
	if err != nil {
		log.Error("ended", "error", err)
		os.Exit(1)
	}
}

// run leads, or stands by, until the context is done.
func run(ctx context.Context, path, kubeconfig string, log *slog.Logger) error {
	c, err := load(path)
	if err != nil {
		return err
	}
	rest, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.Client(rest)
	if err != nil {
		return err
	}
	s, err := newScheduler(c, log)
	if err != nil {
		return err
	}
	promauto.With(s.registry).NewCounterFunc(prometheus.CounterOpts{Name: "hedge_notes_lost_total", Help: "Events and conditions that were not written."}, s.dropped)
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.Address)
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
	return s.stand(ctx, client)
}

const leaseFor = 15 * time.Second // as the lease is granted

// stand leads, or stands by.
func (s *scheduler) stand(ctx context.Context, client client.Interface) error {
	lease, err := kubernetes.NewLease(client, s.config.Lease, leaseFor)
	if err != nil {
		return err
	}
	work := func(ctx context.Context, t adapters.Term) error {
		driver, err := kubernetes.Open(ctx, client, kubernetes.Options{SchedulerName: s.config.SchedulerName, Namespace: s.config.Namespace,
			NodeSelector: s.config.NodeSelector, Lease: s.config.Lease, Timeout: 2 * time.Second, CheckLease: time.Second}) // within the lease's margin
		if err != nil {
			return err
		}
		defer driver.Close()
		s.driver.Store(driver)
		return s.lead(ctx, driver, t)
	}
	return adapters.Lead(ctx, lease, work, adapters.LeadOptions{Contact: &s.contact, Told: func(err error) {
		s.metrics.Warn()
		s.log.Warn("lease", "error", err)
	}, StandsBy: func(err error) { s.log.Info("standing by", "for", err) }})
}

// lead schedules while the lease is held.
func (s *scheduler) lead(ctx context.Context, driver adapters.Driver, t adapters.Term) error {
	s.log.Info("leading", "epoch", t.Epoch)
	s.metrics.Lead(t.Epoch)
	defer func() {
		s.metrics.StandBy()
		s.last.Store(0)
		s.log.Info("leading no more", "epoch", t.Epoch)
	}()
	history, err := predict.NewHistory(nil)
	if err != nil {
		return err
	}
	file, until := adapters.HistoryFile(s.config.History), time.Time{}
	if file != "" {
		if until, err = file.Load(history); errors.Is(err, adapters.ErrHistory) {
			s.log.Warn("history", "error", err)
		} else if err != nil {
			return err
		}
	}
	cluster, err := adapters.New(driver, adapters.Options{Epoch: t.Epoch, LearntUntil: until, Parallel: s.config.Parallel})
	if err != nil {
		return err
	}
	policy, err := s.config.policy()
	if err != nil {
		return err
	}
	save := func() error {
		if file == "" {
			return nil
		}
		return file.Save(history, cluster.LearntUntil())
	}
	saved := time.Now()
	observe := func(c *sched.Cycle) {
		s.metrics.Observe(c)
		s.metrics.Refused(cluster.Refused())
		s.last.Store(time.Now().UnixNano())
		s.tell(c)
		if time.Since(saved) >= time.Minute {
			saved = time.Now()
			if err := save(); err != nil {
				s.log.Error("history", "error", err)
			}
		}
	}
	failed := func(err error) error {
		s.metrics.Fail(err)
		s.log.Warn("cycle", "error", err)
		return adapters.Unavailable(err)
	}
	loop, err := sched.NewLoop(cluster, policy, history, sched.WithCycle(time.Duration(s.config.Cycle)), sched.WithObserver(observe), sched.WithErrorHandler(failed))
	if err != nil {
		return err
	}
	return errors.Join(loop.Run(ctx), save())
}

// dropped is how many events and conditions the last term's driver could not write.
func (s *scheduler) dropped() float64 {
	if d := s.driver.Load(); d != nil {
		return float64(d.Dropped())
	}
	return 0
}

// tell logs what of a cycle came to nothing.
func (s *scheduler) tell(c *sched.Cycle) {
	for _, e := range metrics.Failures(c) {
		s.log.Warn("failed", "job", e.ID, "error", e.Err)
	}
	for _, r := range slices.Concat(c.Rejected, c.Unplaceable) {
		s.log.Warn("cannot be placed", "job", r.Job.ID, "error", r.Err)
	}
	for _, err := range c.Ignored {
		s.log.Error("ignored", "error", err)
	}
}

// handler answers /metrics, /healthz (of a leader: it still does cycles) and /readyz (the lease answers, and a leader's last cycle was well).
func (s *scheduler) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if err := errors.Join(s.metrics.Err(), s.contact.Err(time.Now(), leaseFor)); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		if last := s.last.Load(); last > 0 && time.Since(time.Unix(0, last)) > 5*time.Minute {
			http.Error(w, "no cycle for 5 min", http.StatusInternalServerError)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	return mux
}
