// Command yarn-scheduler is a complete scheduler for a YARN cluster: 3Sigma, or another policy, on the jobs of a spool,
// with a standby, a history of runtimes that outlives it, metrics and health. Copy it and make it yours: what all
// schedulers have is in adapters/service.
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
	"syscall"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/metrics"
	"github.com/hedgesched/hedge/adapters/service"
	"github.com/hedgesched/hedge/adapters/yarn"
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
	flags := flag.NewFlagSet("yarn-scheduler", flag.ContinueOnError)
	file := flags.String("config", "", "configuration file (YAML); empty for defaults")
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
	lease, err := yarn.NewLease(c.options(), c.LeaseFor)
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
	options.Log, options.Metrics = log, counts
	instance, err := service.New(options)
	if err != nil {
		return err
	}
	work := func(ctx context.Context, t adapters.Term) error {
		options := c.options()
		options.OnError = func(err error) { log.Warn("not understood", "error", err) }
		driver, err := yarn.New(options)
		if err != nil {
			return err
		}
		defer driver.Close()
		return instance.Schedule(ctx, t, driver)
	}
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return err
	}
	up(listener.Addr())
	log.Info("waiting for the lease", "yarn", c.ResourceManagers, "spool", c.Spool, "listen", listener.Addr().String())
	defer log.Info("stopped")
	handler := instance.Handler(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	return instance.Serve(ctx, listener, handler, func(ctx context.Context) error {
		return instance.Lead(ctx, lease, work)
	})
}
