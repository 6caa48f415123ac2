// Command kubernetes-scheduler is a complete scheduler for a Kubernetes cluster: 3Sigma, or another policy, on pods
// with schedulerName: hedge, with a standby, a history of runtimes that outlives it, metrics and health. Copy it and
// make it yours: what all schedulers have is in adapters/service.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	client "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/kubernetes"
	"github.com/hedgesched/hedge/adapters/metrics"
	"github.com/hedgesched/hedge/adapters/service"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	err := run(ctx, os.Args[1:], log, func(net.Addr) {})
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		log.Error("ended", "error", err)
		os.Exit(1)
	}
}

// run is the program; up is told where it listens.
func run(ctx context.Context, args []string, log *slog.Logger, up func(net.Addr)) error {
	flags := flag.NewFlagSet("kubernetes-scheduler", flag.ContinueOnError)
	file := flags.String("config", "", "configuration file (YAML); empty for defaults")
	kubeconfig := flags.String("kubeconfig", os.Getenv("KUBECONFIG"), "kubeconfig file; empty inside a cluster")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("argument %q, expected flags only", flags.Arg(0))
	}
	c, err := load(*file)
	if err != nil {
		return err
	}
	client, err := connect(*kubeconfig)
	if err != nil {
		return err
	}
	lease, err := kubernetes.NewLease(client, c.Lease, c.LeaseFor)
	if err != nil {
		return err
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	counts, err := metrics.New(registry)
	if err != nil {
		return err
	}
	options := c.Options()
	options.Explain, options.Log, options.Metrics = true, log, counts
	instance, err := service.New(options)
	if err != nil {
		return err
	}
	var lost lost
	promauto.With(registry).NewCounterFunc(
		prometheus.CounterOpts{Name: "hedge_notes_lost_total", Help: "Events and conditions that were not written."},
		lost.count)
	work := func(ctx context.Context, t adapters.Term) error {
		driver, err := kubernetes.Open(ctx, client, c.options())
		if err != nil {
			return err
		}
		lost.follow(driver)
		defer lost.keep()
		defer driver.Close()
		return instance.Schedule(ctx, t, driver)
	}
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return err
	}
	up(listener.Addr())
	log.Info("waiting for the lease", "namespace", c.Lease.Namespace, "name", c.Lease.Name, "listen",
		listener.Addr().String())
	defer log.Info("stopped")
	handler := instance.Handler(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	return instance.Serve(ctx, listener, handler, func(ctx context.Context) error {
		return instance.Lead(ctx, lease, work)
	})
}

// connect makes a client for the cluster of the file, or for the one that the program runs in.
func connect(kubeconfig string) (client.Interface, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	return kubernetes.Client(config)
}

// lost counts the notes that could not be written: those of all terms, each of which has a driver that counts from 0.
type lost struct {
	mu     sync.Mutex
	before uint64                        // those of terms that are over
	driver interface{ Dropped() uint64 } // the term's, nil of a standby
}

// follow counts what a term's driver drops.
func (l *lost) follow(driver interface{ Dropped() uint64 }) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.driver = driver
}

// keep takes over the count of a driver that is closed, and lets go of it.
func (l *lost) keep() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.before += l.driver.Dropped()
	l.driver = nil
}

func (l *lost) count() float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.driver == nil {
		return float64(l.before)
	}
	return float64(l.before + l.driver.Dropped())
}
