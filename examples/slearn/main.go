// Command slearn runs the generic scheduler of SLearn on 30 agents of four slots, all processes of this machine, once
// with each of some ways to tell the sizes of jobs. It is Figure 7 of the paper in small. Jobs have two stages, as in
// its section 6: each stage is a job of Google's log, with the same user and name as the other. History is the first
// half of the log. It prints mean completion times beside those of the simulator:
//
//	go run .
//
// By default there are so few jobs that hardly any waits, and the systems differ little. The figure is made with
// -jobs 100 -speed 100 and a log; see docs/live.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/hedgesched/hedge/adapters/live"
	"github.com/hedgesched/hedge/adapters/live/loopback"
	"github.com/hedgesched/hedge/adapters/sim/agents"
	"github.com/hedgesched/hedge/sched/slearn"
	"github.com/hedgesched/hedge/sched/systems"
)

const (
	workers = 30
	slots   = 4
	// cutoff makes all jobs short ones: GS knows no classes.
	cutoff = time.Duration(math.MaxInt64)
)

// options are the flags.
type options struct {
	systems, log, dir, task string
	jobs                    int
	speed, load             float64
	seed                    uint64
	// delay and begin are what the simulator charges for a message and for starting a task.
	delay, begin time.Duration
}

func flags(f *flag.FlagSet) *options {
	o := new(options)
	f.StringVar(&o.systems, "systems", "gs-slearn,gs-3sigma,gs-point,gs-las", "what to run, one after the other")
	f.StringVar(&o.log, "log", "", "log to draw jobs from (default: the built-in one, with made durations of tasks)")
	f.IntVar(&o.jobs, "jobs", 20, "number of jobs, half of which have a stage of three tasks or more")
	f.Float64Var(&o.speed, "speed", 400, "factor by which times are divided; 100 jobs at 100 take 3 minutes a system")
	f.Float64Var(&o.load, "load", 2, "work over what the slots can do while jobs arrive")
	f.Uint64Var(&o.seed, "seed", 1, "of the draws")
	f.StringVar(&o.dir, "dir", "", "folder of journals and logs (default: a temporary one)")
	f.StringVar(&o.task, "task", "", "program of adapters/live/ticks to run as tasks (default: this one)")
	f.DurationVar(&o.delay, "delay", 5*time.Millisecond, "what a message and its journal take, for the simulator")
	f.DurationVar(&o.begin, "begin", 20*time.Millisecond, "what it takes to start a task, for the simulator")
	return o
}

func main() {
	o := flags(flag.CommandLine)
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "slearn: found %q, expected flags only\n", flag.Arg(0))
		os.Exit(2)
	}
	loopback.Main(o.alive)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, o, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "slearn:", err)
		os.Exit(1)
	}
}

// args are the flags that a process of a fleet needs, which runs one system.
func (o *options) args(system string) []string {
	return []string{"-systems", system, "-log", o.log, "-jobs", strconv.Itoa(o.jobs),
		"-speed", fmt.Sprint(o.speed), "-load", fmt.Sprint(o.load), "-seed", strconv.FormatUint(o.seed, 10)}
}

// gs makes a scheduler that knows the draw's history. The limits of its queues are as fast as the rest.
func (o *options) gs(name string, d *draw) (*slearn.System, error) {
	system, err := systems.Builtin().Find(name)
	if err != nil {
		return nil, err
	}
	scheme, ok := system.Agents.(slearn.Scheme)
	if !ok {
		return nil, fmt.Errorf("system %s is none of GS's", name)
	}
	c := slearn.Config{Workers: workers, Slots: slots, Seed: o.seed,
		Queues: slearn.Queues{First: time.Duration(1000 / o.speed * float64(time.Second))}}
	if err := scheme.Configure(&c, &slearn.Knowledge{ThinLimit: 3, History: d.history}); err != nil {
		return nil, err
	}
	return slearn.New(c)
}

// alive is the system that each process of a fleet makes for itself.
func (o *options) alive() (*live.System, error) {
	d, err := o.draw()
	if err != nil {
		return nil, err
	}
	s, err := o.gs(o.systems, d)
	if err != nil {
		return nil, err
	}
	return live.NewSystem(fmt.Sprint(o.args(o.systems)), s, slearn.Codec{}), nil
}

// most is the largest number of jobs, speed and load.
const most = 1e6

// check refuses options by name. All comparisons are false for NaN.
func (o *options) check() error {
	switch {
	case o.jobs < 1 || o.jobs > most:
		return fmt.Errorf("-jobs: found %d, expected 1 to %g", o.jobs, most)
	case !(o.speed > 0 && o.speed <= most):
		return fmt.Errorf("-speed: found %g, expected above 0, at most %g", o.speed, most)
	case !(o.load >= 1e-3 && o.load <= most):
		return fmt.Errorf("-load: found %g, expected 0.001 to %g", o.load, most)
	case o.delay < 0 || o.delay > time.Hour:
		return fmt.Errorf("-delay: found %v, expected 0s to 1h", o.delay)
	case o.begin < 0 || o.begin > time.Hour:
		return fmt.Errorf("-begin: found %v, expected 0s to 1h", o.begin)
	}
	if o.task != "" {
		if _, err := exec.LookPath(o.task); err != nil {
			return fmt.Errorf("-task: %w", err)
		}
	}
	return nil
}

// run runs each system simulated and live, and compares.
func run(ctx context.Context, o *options, out io.Writer) error {
	if err := o.check(); err != nil {
		return err
	}
	d, err := o.draw()
	if err != nil {
		return err
	}
	if o.dir == "" {
		if o.dir, err = os.MkdirTemp("", "slearn-*"); err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(o.dir) }() // what stays is in the temporary folder
	}
	fmt.Fprintf(out, "%d agents of %d slots, %d jobs of two stages, %d tasks, the last job submitted after %v\n", workers,
		slots, len(d.Jobs)/2, len(d.Runtimes), d.Jobs[len(d.Jobs)-2].Submit.Round(time.Second))
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "mean completion\tsimulated s\tover first\tlive s\tover first\tlive/simulated\t")
	first := [2]float64{}
	for i, name := range strings.Split(o.systems, ",") {
		means, err := o.both(ctx, name, d)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if i == 0 {
			first = means
		}
		fmt.Fprintf(t, "%s\t%.2f\t%.2f\t%.2f\t%.2f\t%.3f\t\n", name, means[0], means[0]/first[0], means[1],
			means[1]/first[1], means[1]/means[0])
	}
	return t.Flush()
}

// both are the mean completion times of a system, simulated and live, in seconds.
func (o *options) both(ctx context.Context, name string, d *draw) (means [2]float64, err error) {
	system, err := o.gs(name, d)
	if err != nil {
		return means, err
	}
	charged := d.Workload
	charged.Runtimes = nil
	for _, r := range d.Runtimes {
		charged.Runtimes = append(charged.Runtimes, r+o.begin)
	}
	simulated, err := agents.Run(&charged, system, agents.Config{Slots: slots, Delay: o.delay, Cutoff: cutoff})
	if err != nil {
		return means, err
	}
	dir := filepath.Join(o.dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return means, err
	}
	fleet, err := loopback.Start(loopback.Config{Dir: dir, Dispatches: 1, Agents: workers, LostAfter: 10 * time.Second,
		Args: o.args(name), Task: o.task})
	if err != nil {
		return means, err
	}
	defer fleet.Stop()
	if err := fleet.Ready(ctx); err != nil {
		return means, err
	}
	alive, err := fleet.Replay(ctx, &d.Workload, cutoff, "")
	if err != nil {
		return means, err
	}
	for i, results := range [][]agents.JobResult{simulated.Jobs, alive} {
		list := loopback.Completions(&d.Workload, results, false)
		for _, c := range list {
			means[i] += c.Seconds() / float64(len(list))
		}
	}
	return means, nil
}
