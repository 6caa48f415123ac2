// Command eagle runs Eagle on 30 agents, all processes of this machine: short jobs are probed by four distributed
// schedulers in two processes, long ones placed by the central scheduler. It prints the jobs' completion times beside
// those of the simulator:
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
	"github.com/hedgesched/hedge/sched/agent"
	"github.com/hedgesched/hedge/sched/eagle"
)

const (
	workers = 30
	cutoff  = 2 * time.Second
)

// options are the flags.
type options struct {
	jobs int
	seed uint64
	dir  string
}

func main() {
	var o options
	flag.IntVar(&o.jobs, "jobs", 60, "how many jobs to run, two a second")
	flag.Uint64Var(&o.seed, "seed", 1, "of the draws")
	flag.StringVar(&o.dir, "dir", "", "folder of journals and logs (default: a temporary one)")
	flag.Parse()
	loopback.Main(func() (*live.System, error) { return alive(o) })
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, o, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "eagle:", err)
		os.Exit(1)
	}
}

func newEagle(seed uint64) (*eagle.System, error) {
	v, err := eagle.Named("eagle")
	if err != nil {
		return nil, err
	}
	return eagle.New(eagle.Config{Switches: v, Workers: workers, Schedulers: 4, ShortShare: 17, MinProbes: 20, Seed: seed})
}

// alive is the system that each process makes for itself.
func alive(o options) (*live.System, error) {
	s, err := newEagle(o.seed)
	if err != nil {
		return nil, err
	}
	return live.NewSystem("eagle", s, eagle.Codec{}), nil
}

// draw makes jobs of which one in ten is long: most of the work, as in the traces of the paper.
func draw(o options) *agents.Workload {
	random := agent.NewRandom(o.seed, -1)
	w := new(agents.Workload)
	for i := range o.jobs {
		mean, tasks := time.Duration(200+random.Below(800))*time.Millisecond, 1+random.Below(10)
		if i%10 == 0 {
			mean, tasks = time.Duration(4+random.Below(6))*time.Second, 5+random.Below(10)
		}
		w.Jobs = append(w.Jobs, agents.Job{Submit: time.Duration(i) * time.Second / 2, Mean: mean, Tasks: int32(tasks),
			First: int32(len(w.Runtimes))})
		for range tasks {
			w.Runtimes = append(w.Runtimes, mean/2+time.Duration(random.Below(int(mean))))
		}
	}
	return w
}

// run draws the workload, runs it live and simulated, and compares.
func run(ctx context.Context, o options, out io.Writer) error {
	work := draw(o)
	system, err := newEagle(o.seed)
	if err != nil {
		return err
	}
	simulated, err := agents.Run(work, system, agents.Config{Delay: time.Millisecond, Cutoff: cutoff})
	if err != nil {
		return err
	}
	if o.dir == "" {
		if o.dir, err = os.MkdirTemp("", "eagle-*"); err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(o.dir) }() // what stays is in the temporary folder
	}
	fleet, err := loopback.Start(loopback.Config{Dir: o.dir, Dispatches: 2, Agents: workers, LostAfter: 10 * time.Second})
	if err != nil {
		return err
	}
	defer fleet.Stop()
	if err := fleet.Ready(ctx); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d agents, %d jobs, the last one submitted after %v\n", workers, len(work.Jobs),
		work.Jobs[len(work.Jobs)-1].Submit)
	alive, err := fleet.Replay(ctx, work, cutoff, "")
	if err != nil {
		return err
	}
	return loopback.Compare(out, work, simulated.Jobs, alive)
}
