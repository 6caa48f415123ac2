package demo

import (
	"context"
	"flag"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"github.com/hedgesched/hedge/sched"
)

// Comparison is of a cluster's own scheduler with hedge under some policies, on one workload.
type Comparison struct {
	// Own is the name of the cluster's own scheduler, and Nearest makes the policy that is nearest to it, for the
	// simulator.
	Own     string
	Nearest func() sched.Policy
	// Alone leaves the runs of the cluster's own scheduler out.
	Alone bool
	// Policies are hedge's, by names of [github.com/hedgesched/hedge/adapters/service/settings.Policies].
	Policies []string
	// Runs is how often each scheduler runs the workload, at least 1. They take turns.
	Runs int
	// Cycle is hedge's.
	Cycle time.Duration
}

// DefaultComparison is one run of 3Sigma, in cycles of half a second.
func DefaultComparison() Comparison {
	return Comparison{Policies: []string{"3sigma"}, Runs: 1, Cycle: 500 * time.Millisecond}
}

// Flags has the command line set Alone, Policies, Runs and Cycle.
func (c *Comparison) Flags(of *flag.FlagSet) {
	of.Func("policies", "hedge's policies, separated by commas; each has runs of its own (default "+
		strings.Join(c.Policies, ",")+")", func(list string) error {
		c.Policies = strings.Split(list, ",")
		return nil
	})
	of.BoolVar(&c.Alone, "alone", c.Alone, "leave the runs of the cluster's own scheduler out")
	of.IntVar(&c.Runs, "runs", c.Runs, "runs of each scheduler; the table has medians")
	of.DurationVar(&c.Cycle, "cycle", c.Cycle, "hedge's cycle")
}

// Turn is one run of a comparison.
type Turn struct {
	// Name is the scheduler's, for the table, and Policy hedge's policy, "" for the cluster's own scheduler.
	Name, Policy string
	// At counts the turns of a comparison from 0.
	At int
}

// Run has the schedulers take turns. The function take runs the workload for one turn, on servers of its own. Run
// writes a line for each turn. At the end it writes a table of medians, with what the simulator says of each scheduler.
// Errors wrap [ErrOptions], or are those of take and of the simulator.
func (c *Comparison) Run(ctx context.Context, w *Workload, out io.Writer,
	take func(context.Context, Turn) (*Result, error),
) error {
	if c.Runs < 1 {
		return fmt.Errorf("%w: %d runs, want at least 1", ErrOptions, c.Runs)
	}
	for _, policy := range c.Policies {
		if _, err := w.Policy(policy); err != nil {
			return err
		}
	}
	fmt.Fprintln(out, w)
	takers := c.takers()
	results := make([][]*Result, len(takers))
	var quiet, busy Load
	for n := range c.Runs * len(takers) {
		at := n % len(takers)
		turn := takers[at]
		turn.At = n
		r, load, err := watched(ctx, turn, take)
		if err != nil {
			return err
		}
		results[at] = append(results[at], r)
		fmt.Fprintf(out, "%s: %v, %v\n", turn.Name, r.Figures(), load)
		if n == 0 || load.Mean < quiet.Mean {
			quiet = load
		}
		if n == 0 || load.Mean > busy.Mean {
			busy = load
		}
	}
	if err := c.tell(ctx, w, out, results); err != nil {
		return err
	}
	if !quiet.Comparable(busy, runtime.NumCPU()) {
		fmt.Fprintf(out, "The machine was not equally busy (%v; %v): what differs may be its doing.\n", quiet, busy)
	}
	return nil
}

// takers are the first turns of all schedulers, in the order of the table.
func (c *Comparison) takers() []Turn {
	var all []Turn
	if !c.Alone {
		all = append(all, Turn{Name: c.Own})
	}
	for _, policy := range c.Policies {
		all = append(all, Turn{Name: "hedge, " + policy, Policy: policy})
	}
	return all
}

// watched takes a turn, and tells the load meanwhile.
func watched(ctx context.Context, t Turn, take func(context.Context, Turn) (*Result, error)) (*Result, Load, error) {
	stop := WatchLoad(ctx)
	r, err := take(ctx, t)
	load := stop()
	if err != nil {
		return nil, load, err
	}
	r.Name = t.Name
	return r, load, nil
}

// tell writes the table: the medians of each scheduler, and below them the simulator's figures.
func (c *Comparison) tell(ctx context.Context, w *Workload, out io.Writer, results [][]*Result) error {
	var rows []Summary
	for at, taker := range c.takers() {
		row := Summarise(results[at]...)
		policy, cycle := c.Nearest(), time.Duration(0)
		if taker.Policy != "" {
			var err error
			if policy, err = w.Policy(taker.Policy); err != nil {
				return err
			}
			cycle = c.Cycle
		}
		simulated, err := w.Predict(ctx, policy, cycle, row.Delays)
		if err != nil {
			return err
		}
		rows = append(rows, row, Summarise(simulated))
	}
	return WriteTable(out, rows...)
}
