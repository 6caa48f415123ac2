// Command demo runs one workload, made from a real log with its time compressed, on a real Nomad server with real
// clients and processes: under Nomad's own scheduler and under the nomad-scheduler beside it, with each of the policies
// that it is told. It prints who met deadlines and who waited for how long, and what the simulator says of the same
// runs.
//
// Each run has servers of its own. They run on the loopback interface and are taken down at the end, also when it is
// interrupted; nothing is left running. Nomad is built the first time, which takes minutes. It must run as root, as
// Nomad's clients do that mount. Jobs with a deadline have a higher priority for Nomad, which knows no deadlines; by
// its default it does not preempt batch jobs. Its tasks start one by one, and each of them works by itself, where hedge
// starts a gang whole or not at all.
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

	"github.com/hedgesched/hedge/examples/internal/demo"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
)

// settings are the flags.
type settings struct {
	options   demo.Options
	compare   demo.Comparison
	preempt   bool
	scheduler string
}

func main() {
	s := settings{options: demo.Default(), compare: demo.DefaultComparison()}
	flag.IntVar(&s.options.Nodes, "slots", s.options.Nodes, "how many tasks run at a time, eight on a client")
	flag.Float64Var(&s.options.Load, "load", s.options.Load, "offered load")
	flag.Float64Var(&s.options.Hours, "hours", s.options.Hours, "hours of submissions, in the log's time")
	flag.Float64Var(&s.options.Compress, "compress", s.options.Compress, "how many times as fast as in the log")
	flag.Int64Var(&s.options.Seed, "seed", s.options.Seed, "chooses the stretch of the log and the jobs with deadlines")
	s.compare.Flags(flag.CommandLine)
	flag.BoolVar(&s.preempt, "preempt", false, "let Nomad's own scheduler preempt batch jobs of lower priority")
	flag.StringVar(&s.scheduler, "scheduler", "", "path of the nomad-scheduler; empty to build it")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := s.run(ctx, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// run does all runs, each on servers of its own.
func (s *settings) run(ctx context.Context, out io.Writer) (err error) {
	w, err := demo.New(s.options)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "hedge-demo")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	program, err := s.program(ctx, dir)
	if err != nil {
		return err
	}
	s.compare.Own, s.compare.Nearest = "nomad", s.nearest
	return s.compare.Run(ctx, w, out, func(ctx context.Context, t demo.Turn) (*demo.Result, error) {
		f := &field{Turn: t, dir: filepath.Join(dir, strconv.Itoa(t.At)), scheduler: program, out: out}
		return s.field(ctx, w, f)
	})
}

// nearest is what is nearest to Nomad's own scheduler: strict priority.
func (s *settings) nearest() sched.Policy {
	if s.preempt {
		return baseline.NewPrio()
	}
	return demo.Patient(baseline.NewPrio())
}
