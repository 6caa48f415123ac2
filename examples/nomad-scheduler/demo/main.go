// Command demo runs one workload, made from a real log with its time compressed, on a real Nomad server with real clients and processes: first under Nomad's
// own scheduler, then under the nomad-scheduler beside it, which plans by 3Sigma. It prints who met deadlines and who waited for how long, and what the
// simulator says of the same runs.
//
// The servers run on the loopback interface and are taken down at the end, also when it is interrupted; nothing is left running. Nomad is built the first time, which
// takes minutes. It must run as root, as Nomad's clients do that mount. Jobs with a deadline have a higher priority for Nomad, which knows no deadlines; by its default it
// does not preempt batch jobs. Its tasks start one by one, and each of them works by itself, where hedge starts a gang whole or not at all.
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
	"runtime"
	"syscall"
	"time"

	"github.com/hedgesched/hedge/examples/internal/demo"
	"github.com/hedgesched/hedge/sched/baseline"
)

// settings are the flags.
type settings struct {
	options   demo.Options
	cycle     time.Duration
	preempt   bool
	scheduler string
}

func main() {
	s := settings{options: demo.Default()}
	flag.IntVar(&s.options.Nodes, "slots", s.options.Nodes, "how many tasks run at a time, eight on a client")
	flag.Float64Var(&s.options.Load, "load", s.options.Load, "offered load")
	flag.Float64Var(&s.options.Hours, "hours", s.options.Hours, "hours of submissions, in the log's time")
	flag.Float64Var(&s.options.Compress, "compress", s.options.Compress, "how many times as fast as in the log")
	flag.Int64Var(&s.options.Seed, "seed", s.options.Seed, "chooses the stretch of the log and the jobs with deadlines")
	flag.DurationVar(&s.cycle, "cycle", 500*time.Millisecond, "hedge's cycle")
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

// run does both runs, each on servers of its own.
func (s *settings) run(ctx context.Context, out io.Writer) (err error) {
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
	program, err := s.program(ctx, dir)
	if err != nil {
		return err
	}
	first := &field{name: "nomad", dir: filepath.Join(dir, "nomad"), out: out}
	theirs, err := s.field(ctx, w, first)
	if err != nil {
		return err
	}
	second := &field{name: "hedge", dir: filepath.Join(dir, "hedge"), scheduler: program, out: out}
	ours, err := s.field(ctx, w, second)
	if err != nil {
		return err
	}
	if err := s.tell(ctx, out, w, theirs, ours); err != nil {
		return err
	}
	if !first.load.Beside(second.load, runtime.NumCPU()) {
		fmt.Fprintf(out, "The machine was not equally busy (%v; %v): what differs may be its doing.\n", first.load, second.load)
	}
	return nil
}

// tell simulates both runs and prints the table. What is nearest to Nomad's own scheduler is strict priority.
func (s *settings) tell(ctx context.Context, out io.Writer, w *demo.Workload, theirs, ours *demo.Result) error {
	nearest := baseline.NewPrio()
	if !s.preempt {
		nearest = demo.Patient(nearest)
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
