// Command demo runs one workload, made from a real log with its time compressed, on a real Kubernetes control plane with simulated nodes: first under
// kube-scheduler, then under the kubernetes-scheduler beside it, which plans by 3Sigma. It prints who met deadlines and who waited for how long, and what
// the simulator says of the same runs.
//
// The servers run on the loopback interface and are taken down at the end, also when it is interrupted. Their programs are built the first time, which takes minutes.
// Jobs with a deadline have a higher priority class, for kube-scheduler, which knows no deadlines. Its pods start one by one, and each of them works by itself, where the
// other starts a gang whole or not at all.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/hedgesched/hedge/adapters/kubernetes"
	"github.com/hedgesched/hedge/adapters/testservers"
	"github.com/hedgesched/hedge/examples/internal/demo"
	"github.com/hedgesched/hedge/sched/baseline"
)

// settings are the flags.
type settings struct {
	options   demo.Options
	cycle     time.Duration
	priority  bool
	scheduler string
}

func main() {
	s := settings{options: demo.Default()}
	flag.IntVar(&s.options.Nodes, "nodes", s.options.Nodes, "nodes, each for one task at a time")
	flag.Float64Var(&s.options.Load, "load", s.options.Load, "offered load")
	flag.Float64Var(&s.options.Hours, "hours", s.options.Hours, "hours of submissions, in the log's time")
	flag.Float64Var(&s.options.Compress, "compress", s.options.Compress, "how many times as fast as in the log")
	flag.Int64Var(&s.options.Seed, "seed", s.options.Seed, "chooses the stretch of the log and the jobs with deadlines")
	flag.DurationVar(&s.cycle, "cycle", 500*time.Millisecond, "hedge's cycle")
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

// run brings everything up, does both runs, and takes everything down.
func run(ctx context.Context, s settings, out io.Writer) (err error) {
	w, err := demo.New(s.options)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, w)
	dir, err := os.MkdirTemp("", "hedge-demo")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path, err := s.program(ctx, dir)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "starting etcd, kube-apiserver, kube-scheduler and kwok (the first time they are built, which takes some minutes)")
	servers, err := testservers.StartKubernetes(ctx, testservers.KubernetesConfig{Dir: dir, Scheduler: true})
	if err != nil {
		return err
	}
	defer servers.Stop()
	c, err := connect(ctx, servers, room{w.Options.Nodes, 1})
	if err != nil {
		return err
	}
	theirs, err := c.run(ctx, w, s.field("kube-scheduler", "default-scheduler"), out)
	if err != nil {
		return err
	}
	h, err := start(ctx, w, c, schedulerOptions{path: path, dir: dir, kubeconfig: servers.Kubeconfig(), cycle: s.cycle})
	if err != nil {
		return err
	}
	defer h.Stop()
	ours, err := c.run(ctx, w, s.field("hedge", "hedge"), out)
	if err != nil {
		return errors.Join(err, h.Err())
	}
	return s.tell(ctx, out, w, theirs, ours)
}

// field is one of the two schedulers.
func (s *settings) field(name, scheduler string) field { return field{name, scheduler, s.priority} }

// tell simulates both runs and prints the table.
func (s *settings) tell(ctx context.Context, out io.Writer, w *demo.Workload, theirs, ours *demo.Result) error {
	nearest := baseline.NewPrio()
	if !s.priority {
		nearest = baseline.NewFIFO()
	}
	first, err := w.Predict(ctx, nearest, 0, theirs.Delays)
	if err != nil {
		return err
	}
	policy, err := w.Policy()
	if err != nil {
		return err
	}
	second, err := w.Predict(ctx, policy, s.cycle, ours.Delays)
	if err != nil {
		return err
	}
	return demo.WriteTable(out, theirs, first, ours, second)
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
