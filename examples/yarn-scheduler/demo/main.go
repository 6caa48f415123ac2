// Command demo runs one workload, made from a real log with its time compressed, on a real YARN ResourceManager with
// real NodeManagers and processes: under YARN's own capacity scheduler and under the yarn-scheduler beside it, with
// each of the policies that it is told. It prints who met deadlines and who waited for how long, and what the simulator
// says of the same runs.
//
// Each run has servers of its own. They run on the loopback interface and are taken down at the end, also when it is
// interrupted; nothing is left running, and no file. Their jars come from Maven Central the first time. Under the
// capacity scheduler each job is an application of YARN's own distributed shell, those with a deadline at a higher
// priority, since YARN knows no deadlines; containers start one by one, and each of them works by itself, where hedge
// starts a gang whole or not at all. ApplicationMasters of both have a node of their own.
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

	"github.com/hedgesched/hedge/adapters/testservers"
	"github.com/hedgesched/hedge/examples/internal/demo"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
)

// settings are the flags.
type settings struct {
	options   demo.Options
	compare   demo.Comparison
	scheduler string
	project   string
}

func main() {
	s := settings{options: demo.Default(), compare: demo.DefaultComparison()}
	// Each job starts a Java program, its ApplicationMaster, which takes some two seconds of a core: at ten times the
	// log's speed two cores do little else.
	s.options.Nodes, s.options.Compress, s.options.Hours = 16, 6, 0.4
	flag.IntVar(&s.options.Nodes, "slots", s.options.Nodes, "how many tasks run at a time, four on a node")
	flag.Float64Var(&s.options.Load, "load", s.options.Load, "offered load")
	flag.Float64Var(&s.options.Hours, "hours", s.options.Hours, "hours of submissions, in the log's time")
	flag.Float64Var(&s.options.Compress, "compress", s.options.Compress, "how many times as fast as in the log")
	flag.Int64Var(&s.options.Seed, "seed", s.options.Seed, "chooses the stretch of the log and the jobs with deadlines")
	s.compare.Flags(flag.CommandLine)
	flag.StringVar(&s.scheduler, "scheduler", "", "path of the yarn-scheduler; empty to build it")
	flag.StringVar(&s.project, "master", filepath.Join("..", "..", "adapters", "yarn", "am"),
		"folder of the ApplicationMaster's Maven project")
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
	jar, err := testservers.Jar(ctx, s.project)
	if err != nil {
		return err
	}
	archive, err := testservers.ClassArchive(ctx, jar, "io.github.hedgesched.yarn.Rehearsal")
	if err != nil {
		return err
	}
	// What is nearest to the capacity scheduler is strict priority that does not preempt.
	s.compare.Own = "capacity scheduler"
	s.compare.Nearest = func() sched.Policy { return demo.Patient(baseline.NewPrio()) }
	return s.compare.Run(ctx, w, out, func(ctx context.Context, t demo.Turn) (*demo.Result, error) {
		return s.field(ctx, w, &field{Turn: t, dir: filepath.Join(dir, strconv.Itoa(t.At)), scheduler: program,
			jar: jar, archive: archive, out: out})
	})
}
