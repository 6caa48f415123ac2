package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hedgesched/hedge/adapters/sim/trace"
	"github.com/hedgesched/hedge/adapters/sim/workload"
	"github.com/hedgesched/hedge/cmd/hedge/internal/experiment"
	"github.com/hedgesched/hedge/cmd/hedge/internal/figures"
	"github.com/hedgesched/hedge/cmd/hedge/internal/report"
	"github.com/hedgesched/hedge/cmd/hedge/internal/stats"
)

// defaultSharedPolicies are compared with --workload shared.
const defaultSharedPolicies = "dist,actual,point,request"

// sharedCycle is how often DistSched decides.
const sharedCycle = 15 * time.Second

// sharedFlags are the flags of --workload shared alone.
type sharedFlags struct {
	fill, machine string
	assignments   int
	epsilon       float64
	control       bool
	blind         bool
	frontier      bool
}

func (t *sharedFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&t.fill, "fill", "", "files with what the log lacks: what tasks use, and requests (default: built-in "+
		"samples; --workload shared)")
	fs.StringVar(&t.machine, "machine", "", "CPU and memory of a machine, in the log's unit (default: 0.5,0.25; "+
		"--workload shared)")
	fs.IntVar(&t.assignments, "assignments", 1, "how often deadlines are drawn anew, each on the next of five segments "+
		"of the log (--workload shared)")
	fs.Float64Var(&t.epsilon, "epsilon", 0, "risk of policies that have a bound on it, from 0 to below 1 (default: their "+
		"own; --workload shared)")
	fs.BoolVar(&t.control, "control", false, "deal what jobs use out among them, so that recurring jobs are no more "+
		"alike than others (--workload shared)")
	fs.BoolVar(&t.blind, "blind", false, "deal what the jobs of the history used out among them, so that it tells little "+
		"(--workload shared)")
	fs.BoolVar(&t.frontier, "frontier", false, "run each policy with several values of its parameter of strictness "+
		"(--workload shared)")
}

func sharedFlagNames() []string {
	return []string{"fill", "machine", "assignments", "epsilon", "control", "blind", "frontier"}
}

// sharedAlso are the flags of other workloads that shared machines have too.
func sharedAlso() []string {
	return []string{"hours", "load", "slack", "slo-share", "train", "cycle", "log", "report"}
}

// sizes is --nodes: a number or, for shared machines, several.
type sizes struct {
	first *int
	all   []int
}

func (s *sizes) String() string {
	if s.first == nil {
		return ""
	}
	if len(s.all) < 2 {
		return strconv.Itoa(*s.first)
	}
	parts := make([]string, len(s.all))
	for i, n := range s.all {
		parts[i] = strconv.Itoa(n)
	}
	return strings.Join(parts, ",")
}

func (s *sizes) Type() string { return "int" }

func (s *sizes) Set(text string) error {
	s.all = nil
	for _, field := range strings.Split(text, ",") {
		n, err := strconv.ParseInt(strings.TrimSpace(field), 0, strconv.IntSize)
		if err != nil {
			return err
		}
		s.all = append(s.all, int(n))
	}
	*s.first = s.all[0]
	return nil
}

// sharedDefaults sets the flags of other workloads that were not given to the defaults of shared machines.
func (f *simulation) sharedDefaults(fs *pflag.FlagSet) {
	unless := func(given string, set func()) {
		if !fs.Changed(given) {
			set()
		}
	}
	unless("policies", func() { f.policies = defaultSharedPolicies })
	unless("load", func() { f.spec.Load = 0.8 })
	unless("cycle", func() { f.spec.Cycle = sharedCycle })
	unless("nodes", func() { f.sizes.all, f.spec.Nodes = []int{700}, 700 })
}

// readMachine changes what a machine has to --machine, if it was given.
func (t *sharedFlags) readMachine(has *trace.Amount) error {
	if t.machine == "" {
		return nil
	}
	cpu, memory, _ := strings.Cut(t.machine, ",")
	var errs [2]error
	has.CPU, errs[0] = strconv.ParseFloat(cpu, 64)
	has.Memory, errs[1] = strconv.ParseFloat(memory, 64)
	if errs[0] != nil || errs[1] != nil || !(has.CPU > 0 && has.CPU <= 1e12) ||
		!(has.Memory > 0 && has.Memory <= 1e18) {
		return fmt.Errorf("--machine: found %q, expected CPU and memory such as 0.5,0.25", t.machine)
	}
	return nil
}

// spec checks the flags and makes the specification.
func (t *sharedFlags) spec(cmd *cobra.Command, f *simulation) (*experiment.SharedSpec, error) {
	f.sharedDefaults(cmd.Flags())
	if err := f.finish(); err != nil {
		return nil, err
	}
	s := &experiment.SharedSpec{Spec: f.spec, Sizes: f.sizes.all, Assignments: t.assignments, Control: t.control,
		Blind: t.blind, Frontier: t.frontier, Epsilon: t.epsilon, Machine: workload.DefaultShared().Machine}
	if t.fill != "" {
		s.Fill = strings.Split(t.fill, ",")
	}
	if err := t.readMachine(&s.Machine); err != nil {
		return nil, err
	}
	for i, n := range s.Sizes {
		if n < 1 || n > 10_000_000 || slices.Contains(s.Sizes[:i], n) {
			return nil, fmt.Errorf("--nodes: found %d, expected distinct numbers from 1 to 10000000", n)
		}
	}
	switch {
	case t.assignments < 1 || t.assignments > 10_000:
		return nil, fmt.Errorf("--assignments: found %d, expected 1 to 10000", t.assignments)
	case !(t.epsilon >= 0 && t.epsilon < 1):
		return nil, fmt.Errorf("--epsilon: found %v, expected 0 to below 1", t.epsilon)
	case t.control && t.blind:
		return nil, errors.New("--control: found with --blind, expected one of them")
	case s.Cycle == 0:
		return nil, fmt.Errorf("--cycle: found 0s with --workload %s, expected at least 100ms", workloadShared)
	}
	return s, nil
}

// compareShared compares policies on machines that tasks share.
func compareShared(cmd *cobra.Command, s *Host, f *simulation, t *sharedFlags) error {
	spec, err := t.spec(cmd, f)
	if err != nil {
		return err
	}
	if err := f.outputs.check(); err != nil {
		return err
	}
	spec.Observe = f.report != ""
	log, use, err := spec.ReadShared(s.In)
	if err != nil {
		return err
	}
	plan, err := experiment.PrepareShared(cmd.Context(), log, use, spec, s.Systems)
	if err != nil {
		return err
	}
	bar := newProgress(s.Err, plan.Steps(), "simulating")
	d, err := plan.Run(cmd.Context(), bar.set)
	bar.done()
	if err != nil {
		return failed(err)
	}
	return f.emit(s, d, func(path string) error { return report.WriteShared(path, d) },
		func(w io.Writer) error { return sharedTable(w, d) })
}

func sharedTable(w io.Writer, d *experiment.SharedDocument) error {
	var p page
	work := &d.Workload
	p.line("%s: load %.3g of machines with %.4g CPU and %.4g memory over %g h, a cycle each %g s", work.Trace, work.Load,
		work.Machine.CPU, work.Machine.Memory, work.Hours, work.Cycle)
	dealt := ""
	switch {
	case work.Control:
		dealt = "; dealt out among all jobs"
	case work.Blind:
		dealt = "; dealt out among the jobs of the history"
	}
	p.line("use from %s: %d rows of %d groups, %d hours of change%s", strings.Join(work.Fill, ", "), work.Rows,
		work.Groups, work.Shapes, dealt)
	p.records(&work.Records)
	for i := range work.Segments {
		g := &work.Segments[i]
		p.line("seed %d, assignment %d: from hour %.4g, %d jobs (%d with deadlines) of %d tasks, from %d copies of the log; "+
			"requests filled in for %d, use capped of %d; requested load %.3g; %d jobs of history",
			g.Seed, g.Assignment, g.StartHour, g.Jobs, g.SLOJobs, g.Tasks, g.Copies, g.Filled, g.Capped, g.RequestedLoad,
			g.Trained)
	}
	rows := make([]table.Row, 0, len(d.Summary))
	for i := range d.Summary {
		x := &d.Summary[i]
		row := table.Row{x.Label(), x.Nodes}
		for _, c := range []struct {
			v     stats.Interval
			scale float64
		}{{x.SLOMissRate, 100}, {x.NeverStarted, 1}, {x.Goodput.SLO, 1}, {x.Goodput.BE, 1}, {x.BELatency, 1},
			{x.Evictions, 1}, {x.Preemptions, 1}, {x.ThrottlesPerNodeHour, 1}, {x.ViolationShare, 100}, {x.EffectiveLoad, 100},
			{x.Admitted, 1}, {x.Completed, 1}, {x.CycleP99, 1}} {
			row = append(row, figures.Interval(c.v, c.scale))
		}
		rows = append(rows, row)
	}
	p.table(table.Row{"policy", "nodes", "missed %", "never started", "SLO core-h", "BE core-h", "BE latency s", "evicted",
		"preempted", "throttles/node/h", "over %", "load %", "admitted core-h", "completed core-h", "cycle p99 ms"}, rows...)
	if d.Equal != nil {
		equalTable(&p, d.Equal)
	}
	return p.to(w)
}

// equalTable shows what policies admit at the reference's violations.
func equalTable(p *page, e *experiment.AtEqual) {
	rows := make([]table.Row, 0, len(e.Policies))
	for i := range e.Policies {
		x := &e.Policies[i]
		row := table.Row{x.Policy, x.Nodes, "-", "-", fmt.Sprintf("%d of %d", x.Workloads, x.Of)}
		if x.Workloads > 0 {
			row[2], row[3] = figures.Interval(x.Ratio, 1), figures.Interval(x.Completed, 1)
		}
		rows = append(rows, row)
	}
	p.line("work at the violations of %s with %s %g, over its work:", e.Reference, e.Setting.Name, e.Setting.Value)
	p.table(table.Row{"policy", "nodes", "admitted", "completed", "workloads"}, rows...)
}
