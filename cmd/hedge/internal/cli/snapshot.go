package cli

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hedgesched/hedge/cmd/hedge/internal/experiment"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/systems"
	"github.com/hedgesched/hedge/sched/whatif"
	"github.com/hedgesched/hedge/solver"
)

// planner is the flags that say which policy plans, and how.
type planner struct {
	policy, engine string
	work           int64
	window, slot   time.Duration
	json           bool
}

func (f *planner) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.policy, "policy", "3sigma", "policy that plans")
	fs.StringVar(&f.engine, "engine", "native", "solving engine; see hedge solve --engines")
	fs.Int64Var(&f.work, "work", experiment.DefaultWork, "work units the solver may use for a plan")
	fs.DurationVar(&f.window, "window", 0, "plan-ahead window (default: follows from the runtimes)")
	fs.DurationVar(&f.slot, "slot", 0, "slot length (default: follows from the window)")
	fs.BoolVar(&f.json, "json", false, "print one JSON document")
}

func (f *planner) check() error {
	switch {
	case f.work < 1:
		return fmt.Errorf("--work: found %d, expected at least 1", f.work)
	case f.window < 0 || f.slot < 0:
		return fmt.Errorf("--window: found %v in slots of %v, expected no negative time", f.window, f.slot)
	}
	return nil
}

// snapshotFlags are the flags of commands that plan a recorded snapshot again.
type snapshotFlags struct {
	planner
	path  string
	line  int // 0 for the last
	flags *pflag.FlagSet
}

func (f *snapshotFlags) add(cmd *cobra.Command) {
	f.planner.add(cmd)
	f.flags = cmd.Flags()
	cmd.Flags().StringVar(&f.path, "snapshot", "", "recording `file`, a snapshot a line, gzip or not, - for stdin")
	cmd.Flags().IntVar(&f.line, "line", 0, "line of the recording (default: the last)")
}

func (f *snapshotFlags) check() error {
	switch {
	case f.path == "":
		return errors.New("--snapshot: found nothing, expected a recording")
	case f.line < 1 && f.flags.Changed("line"):
		return fmt.Errorf("--line: found %d, expected at least 1", f.line)
	}
	return f.planner.check()
}

// read reads the snapshot that the flags name.
func (f *snapshotFlags) read(s *Host) (last *sched.Snapshot, err error) {
	err = f.each(s, func(snapshot *sched.Snapshot) error {
		last = snapshot
		return nil
	})
	return last, err
}

// unpacked is what the reader has, without gzip if it is packed.
func unpacked(in io.Reader) (io.Reader, error) {
	b := bufio.NewReader(in)
	if head, _ := b.Peek(2); !bytes.Equal(head, []byte{0x1f, 0x8b}) {
		return b, nil
	}
	return gzip.NewReader(b)
}

// policies makes new policies of a name, all with one engine. What they hold on to is let go of by done.
func (f *planner) policies(s *Host, name string) (fresh func() (sched.Policy, error), done func(), err error) {
	system, err := s.Systems.Find(name)
	if err != nil || system.Policy == nil {
		return nil, nil, fmt.Errorf("found %q, expected one of %s", name, strings.Join(suiting(s.Systems, ""), ", "))
	}
	var engine solver.Solver
	open := func() (solver.Solver, error) {
		if engine != nil {
			return engine, nil
		}
		var err error
		if engine, err = s.Engines.Open(f.engine); err != nil {
			return nil, fmt.Errorf("--engine: %w", err)
		}
		return engine, nil
	}
	fresh = func() (sched.Policy, error) {
		return system.Policy(&systems.Planning{Solver: open, Options: solver.Options{Work: f.work},
			Window: f.window, Slot: f.slot})
	}
	if _, err = fresh(); err != nil {
		return nil, nil, err
	}
	return fresh, func() {
		if c, ok := engine.(io.Closer); ok {
			_ = c.Close() // nothing hangs on how a solver's connection ends
		}
	}, nil
}

// sideBySide returns a planner for concurrent use. It makes at most that many plans at a time, each with a new policy.
// No two policies share an engine while they plan. Call done after the last plan.
func (f *planner) sideBySide(s *Host, name string, most int) (plan whatif.Planner, done func(), err error) {
	var open []func()
	done = func() {
		for _, end := range open {
			end()
		}
	}
	idle := make(chan whatif.Planner, most)
	for range most {
		fresh, end, err := f.policies(s, name)
		if err != nil {
			done()
			return nil, nil, err
		}
		open = append(open, end)
		idle <- whatif.Fresh(fresh)
	}
	return func(ctx context.Context, snapshot *sched.Snapshot) (*sched.Plan, error) {
		one := <-idle
		defer func() { idle <- one }()
		return one(ctx, snapshot)
	}, done, nil
}

// jobNames are the first few jobs that wait in a snapshot, for errors.
func jobNames(s *sched.Snapshot) []string {
	const most = 5
	names := make([]string, 0, most)
	for i := range s.Pending[:min(most, len(s.Pending))] {
		names = append(names, s.Pending[i].Job.ID)
	}
	return slices.Clip(names)
}
