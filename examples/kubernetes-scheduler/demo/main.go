// Command demo runs one workload, made from a real log with its time compressed, on a real Kubernetes control plane
// with simulated nodes: under kube-scheduler and under the kubernetes-scheduler beside it, with each of the policies
// that it is told. It prints who met deadlines and who waited for how long, and what the simulator says of the same
// runs.
//
// Each run has servers of its own. They run on the loopback interface and are taken down at the end, also when it is
// interrupted. Their programs are built the first time, which takes minutes. Jobs with a deadline have a higher
// priority class, for kube-scheduler, which knows no deadlines. Its pods start one by one, and each of them works by
// itself, where the other starts a gang whole or not at all.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/hedgesched/hedge/adapters/kubernetes"
	"github.com/hedgesched/hedge/adapters/testservers"
	"github.com/hedgesched/hedge/examples/internal/demo"
	"github.com/hedgesched/hedge/sched/baseline"
)

// settings are the flags.
type settings struct {
	options   demo.Options
	compare   demo.Comparison
	priority  bool
	scheduler string
}

func main() {
	s := settings{options: demo.Default(), compare: demo.DefaultComparison()}
	flag.IntVar(&s.options.Nodes, "nodes", s.options.Nodes, "nodes, each for one task at a time")
	flag.Float64Var(&s.options.Load, "load", s.options.Load, "offered load")
	flag.Float64Var(&s.options.Hours, "hours", s.options.Hours, "hours of submissions, in the log's time")
	flag.Float64Var(&s.options.Compress, "compress", s.options.Compress, "how many times as fast as in the log")
	flag.Int64Var(&s.options.Seed, "seed", s.options.Seed, "chooses the stretch of the log and the jobs with deadlines")
	s.compare.Flags(flag.CommandLine)
	flag.BoolVar(&s.priority, "priority", true, "give jobs with a deadline a higher priority class")
	flag.StringVar(&s.scheduler, "scheduler", "", "path of the kubernetes-scheduler; empty to build it")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, s, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// run does all runs, each on servers of its own.
func run(ctx context.Context, s settings, out io.Writer) (err error) {
	w, err := demo.New(s.options)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "hedge-demo")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path, err := s.program(ctx, dir)
	if err != nil {
		return err
	}
	s.compare.Own, s.compare.Nearest = "kube-scheduler", baseline.NewPrio
	if !s.priority {
		s.compare.Nearest = baseline.NewFIFO
	}
	return s.compare.Run(ctx, w, out, func(ctx context.Context, t demo.Turn) (*demo.Result, error) {
		o := schedulerOptions{path: path, dir: filepath.Join(dir, strconv.Itoa(t.At)), policy: t.Policy,
			cycle: s.compare.Cycle}
		return s.turn(ctx, w, t, o, out)
	})
}

// turn brings a control plane up, runs the workload there, and takes it down.
func (s *settings) turn(ctx context.Context, w *demo.Workload, t demo.Turn, o schedulerOptions,
	out io.Writer,
) (*demo.Result, error) {
	if err := os.Mkdir(o.dir, 0o700); err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "%s: starting etcd, kube-apiserver, kube-scheduler and kwok "+
		"(the first time they are built, which takes some minutes)\n", t.Name)
	servers, err := testservers.StartKubernetes(ctx, testservers.KubernetesConfig{Dir: o.dir, Scheduler: true})
	if err != nil {
		return nil, err
	}
	defer servers.Stop()
	c, err := connect(ctx, servers, room{w.Options.Nodes, 1})
	if err != nil {
		return nil, err
	}
	if t.Policy == "" {
		return c.run(ctx, w, field{t.Name, "kube", "default-scheduler", s.priority}, out)
	}
	o.kubeconfig = servers.Kubeconfig()
	h, err := start(ctx, w, c, o)
	if err != nil {
		return nil, err
	}
	defer h.Stop()
	r, err := c.run(ctx, w, field{t.Name, "hedge", "hedge", s.priority}, out)
	return r, errors.Join(err, h.Err())
}

// connect makes the administrator's client and what both runs need.
func connect(ctx context.Context, servers *testservers.Kubernetes, r room) (*cluster, error) {
	config, err := clientcmd.BuildConfigFromFlags("", servers.Kubeconfig())
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.Client(config)
	if err != nil {
		return nil, err
	}
	c := &cluster{client: client}
	return c, c.prepare(ctx, r)
}
