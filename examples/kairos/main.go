// Command kairos runs Kairos on 30 agents of four slots, all processes of this machine, with jobs of the paper's
// testbed at a fraction of their time. It prints the jobs' completion times beside those of the simulator:
//
//	go run .
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/hedgesched/hedge/adapters/live"
	"github.com/hedgesched/hedge/adapters/live/loopback"
	"github.com/hedgesched/hedge/adapters/sim/agents"
	"github.com/hedgesched/hedge/adapters/sim/agents/testbed"
	"github.com/hedgesched/hedge/sched/kairos"
)

// options are the flags.
type options struct {
	speed time.Duration
	jobs  int
	seed  uint64
	dir   string
	task  string
	// delay and begin are what the simulator charges for a message and for starting a task.
	delay, begin time.Duration
}

func main() {
	var o options
	speed := flag.Int("speed", 50, "by how much all times are divided; 20 takes 7 minutes with 100 jobs")
	flag.IntVar(&o.jobs, "jobs", 12, "how many of the mix's 100 jobs to run, the first ones")
	flag.Uint64Var(&o.seed, "seed", 1, "of the draws")
	flag.StringVar(&o.dir, "dir", "", "folder of journals and logs (default: a temporary one)")
	flag.StringVar(&o.task, "task", "", "program of adapters/live/ticks to run as tasks (default: this one)")
	flag.DurationVar(&o.delay, "delay", 5*time.Millisecond, "what a message and its journal take, for the simulator")
	flag.DurationVar(&o.begin, "begin", 20*time.Millisecond, "what it takes to start a task, for the simulator")
	flag.Parse()
	o.speed = time.Duration(*speed)
	loopback.Main(func() (*live.System, error) { return alive(o) })
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, o, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "kairos:", err)
		os.Exit(1)
	}
}

// newKairos is Kairos as on the paper's testbed. The time slice is the paper's, at the speed of the run; the interval
// of assignments is ours.
func newKairos(o options) (*kairos.System, error) {
	return kairos.New(kairos.Config{Workers: testbed.Nodes, Slots: testbed.Cores, Queue: 4,
		Quantum: 50 * time.Second / o.speed, Interval: 2 * time.Second / o.speed, Guard: 3, GuardQuanta: 2, Seed: o.seed})
}

// alive is the system that each process makes for itself.
func alive(o options) (*live.System, error) {
	s, err := newKairos(o)
	if err != nil {
		return nil, err
	}
	return live.NewSystem("kairos", s, kairos.Codec{}), nil
}

// run draws the workload, runs it live and simulated, and compares.
func run(ctx context.Context, o options, out io.Writer) error {
	mix := testbed.HeavyTailed()
	drawn, err := mix.Draw(o.seed)
	if err != nil {
		return err
	}
	work, cutoff := faster(&drawn.Workload, o), mix.Cutoff/o.speed
	system, err := newKairos(o)
	if err != nil {
		return err
	}
	charged := &agents.Workload{Jobs: work.Jobs}
	for _, r := range work.Runtimes {
		charged.Runtimes = append(charged.Runtimes, r+o.begin)
	}
	simulated, err := agents.Run(charged, system,
		agents.Config{Slots: testbed.Cores, Delay: o.delay, Cutoff: cutoff})
	if err != nil {
		return err
	}
	if o.dir == "" {
		if o.dir, err = os.MkdirTemp("", "kairos-*"); err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(o.dir) }() // what stays is in the temporary folder
	}
	fleet, err := loopback.Start(loopback.Config{Dir: o.dir, Dispatches: 1, Agents: testbed.Nodes,
		LostAfter: 10 * time.Second, Task: o.task})
	if err != nil {
		return err
	}
	defer fleet.Stop()
	if err := fleet.Ready(ctx); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d agents, %d jobs, the last one submitted after %v\n", testbed.Nodes, len(work.Jobs)/2,
		work.Jobs[len(work.Jobs)-1].Submit)
	alive, err := fleet.Replay(ctx, work, cutoff, "")
	if err != nil {
		return err
	}
	return loopback.Compare(out, work, simulated.Jobs, alive)
}

// faster is the beginning of a workload with all times divided; each of its jobs is two here, maps and reduces.
func faster(w *agents.Workload, o options) *agents.Workload {
	n := min(2*o.jobs, len(w.Jobs))
	f := &agents.Workload{Jobs: append([]agents.Job(nil), w.Jobs[:n]...)}
	for i := range f.Jobs {
		f.Jobs[i].Submit /= o.speed
		f.Jobs[i].Mean /= o.speed
		for _, r := range w.Tasks(&w.Jobs[i]) {
			f.Runtimes = append(f.Runtimes, r/o.speed)
		}
	}
	return f
}
