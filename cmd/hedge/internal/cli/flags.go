package cli

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hedgesched/hedge/cmd/hedge/internal/experiment"
	"github.com/hedgesched/hedge/sched/backfill"
	"github.com/hedgesched/hedge/sched/systems"
)

// workloadFlags are the flags that compare, simulate and results share.
type workloadFlags struct {
	spec                   experiment.Spec
	slack, seeds, policies string
	labels                 string
	sizes                  sizes
	logFormat              string
	flags                  *pflag.FlagSet
	systems                *systems.Set
}

const (
	defaultPolicies = "3sigma,point-real,prio,point-perfect"
	defaultRacks    = 8
)

func (f *workloadFlags) add(cmd *cobra.Command, host *Host) {
	fs, s := cmd.Flags(), &f.spec
	f.flags, f.systems = fs, host.Systems
	fs.StringVar(&s.Trace, "trace", "", "log to use, - for stdin (default: the built-in sample)")
	fs.StringVar(&s.Format, "format", "", "log format (default: recognised): "+strings.Join(experiment.Formats(), ", "))
	addReading(fs, &s.Strict, &s.MaxBad)
	s.Nodes, f.sizes.first = 256, &s.Nodes
	fs.Var(&f.sizes, "nodes", "nodes of the cluster")
	fs.IntVar(&s.Racks, "racks", defaultRacks, "racks the nodes are spread over, at most one a node")
	fs.StringVar(&f.labels, "node-labels", "", "labels of nodes, in turn, like gpu=a100:10,gpu=v100:20 (default: none)")
	fs.IntVar(&s.TasksPerNode, "tasks-per-node", 1, "tasks one node can hold")
	fs.Float64Var(&s.Load, "load", 1.4, "offered machine time over capacity")
	fs.Float64Var(&s.Hours, "hours", 2, "hours of submissions (replay: of the log, default all)")
	fs.Float64Var(&s.StartHour, "start-hour", 0,
		"hour of the log at which the window begins (default: chosen by the workload)")
	fs.StringVar(&f.slack, "slack", "20,40,60,80", "deadline slacks, in % of the true runtime, drawn evenly")
	fs.Float64Var(&s.SLOShare, "slo-share", 0.5, "share of jobs (and of load) with a deadline")
	fs.Float64Var(&s.PreferShare, "prefer-share", 0.75, "share of the cluster an SLO job prefers")
	fs.Float64Var(&s.PreferSlowdown, "prefer-slowdown", 1.5, "how much longer it runs elsewhere")
	fs.StringVar(&s.Train, "train", "", "what the predictor has seen before: a file, or a share of the log before the "+
		"window (default: all of it)")
	fs.StringVar(&s.Workload, "workload", "window", "window, e2e, replay or dag")
	fs.Float64Var(&s.JobsPerHour, "jobs-per-hour", 0,
		"arrival rate at the given load, for --workload e2e, which it implies (default: follows from the load)")
	fs.StringVar(&s.Engine, "engine", "native", "solving engine; see hedge solve --engines")
	fs.DurationVar(&s.Cycle, "cycle", 10*time.Second, "scheduling period; 0s decides at every submission and completion")
	fs.DurationVar(&s.Window, "window", 0, "plan-ahead window (default: follows from the runtimes)")
	fs.DurationVar(&s.Slot, "slot", 0, "slot length (default: follows from the window)")
	fs.DurationVar(&s.Reserve, "reserve-after", 0,
		"how long a job may wait until 3sigma, its variants and keep keep nodes for it (default: for ever)")
	fs.Float64Var(&s.MachineHours, "machine-hours", 0, "work in machine-hours that one more met deadline is worth to "+
		"keep (default: ten times the mean size of jobs with deadlines)")
	fs.Float64Var(&s.Budget, "budget", 0.5, "share of a cycle the solver may use")
	fs.Int64Var(&s.Work, "work", experiment.DefaultWork,
		"most deterministic work units the solver may use in a cycle (about a million a second)")
	fs.BoolVar(&s.ChargeSolverTime, "charge-solver-time", false,
		"let planning time pass in the simulation (results then depend on the machine)")
	fs.StringVar(&s.CaptureDir, "capture", "",
		"directory for every cycle's placement problem, POLICY-SEED-CYCLE.json.gz each")
	fs.StringVar(&s.LogDir, "log", "", "directory for the decision logs, POLICY-SEED.jsonl.gz each")
	fs.StringVar(&f.logFormat, "log-format", "nodes",
		"what starts have in decision logs: nodes, each by name, or ranges of them, which are short for wide gangs")
}

// finish parses what is more than a plain flag and checks every range.
func (f *workloadFlags) finish() error {
	s := &f.spec
	var err error
	if s.Slack, err = percentages("--slack", f.slack); err != nil {
		return err
	}
	if s.Seeds, err = seeds("--seeds", f.seeds); err != nil {
		return err
	}
	if err := f.parsePolicies(); err != nil {
		return err
	}
	if e := f.flags.Lookup("estimate"); e != nil && e.Changed {
		if s.Estimate, err = backfill.ParseEstimate(e.Value.String()); err != nil {
			return fmt.Errorf("--estimate: found %q, expected requested, forecast, or quantile:Q with 0 < Q < 1", e.Value)
		}
	}
	switch s.LogRanges = f.logFormat == "ranges"; {
	case !s.LogRanges && f.logFormat != "nodes":
		return fmt.Errorf("--log-format: found %q, expected nodes or ranges", f.logFormat)
	case s.LogRanges && s.LogDir == "":
		return fmt.Errorf("--log-format: found without --log, expected a directory for the logs")
	}
	f.follow()
	if err := f.check(); err != nil {
		return err
	}
	if s.StartHour == 0 && f.flags.Changed("start-hour") {
		s.StartHour = -1 // exactly zero, as workload.Spec has it
	}
	if err := checkFormat(s.Trace, s.Format); err != nil {
		return err
	}
	labels, err := nodeLabels(f.labels, s.Nodes)
	if err != nil {
		return fmt.Errorf("--node-labels: %w", err)
	}
	s.Labels = labels
	return errors.Join(outputDirectory("--log", s.LogDir), outputDirectory("--capture", s.CaptureDir))
}

// follow has flags that were not given follow those that were: a default never makes a given flag wrong.
func (f *workloadFlags) follow() {
	s := &f.spec
	if f.flags.Changed("jobs-per-hour") && !f.flags.Changed("workload") {
		s.Workload = "e2e"
	}
	if s.Workload == "replay" && !f.flags.Changed("hours") {
		s.Hours = 0
	}
	if !f.flags.Changed("racks") {
		s.Racks = max(1, min(defaultRacks, s.Nodes))
	}
}

// parsePolicies reads --policies, or --policy where a command has that.
func (f *workloadFlags) parsePolicies() error {
	var err error
	if f.flags.Lookup("policy") == nil {
		if f.spec.Policies, err = choose(f.systems, f.policies, f.spec.Workload); err != nil {
			return fmt.Errorf("--policies: %w", err)
		}
		return nil
	}
	system, err := chooseOne(f.systems, f.policies, f.spec.Workload)
	if err != nil {
		return fmt.Errorf("--policy: %w", err)
	}
	f.spec.Policies = []string{system.Name}
	return nil
}

// nodeLabels reads labels, each with the number of nodes that have it.
func nodeLabels(text string, nodes int) ([]experiment.NodeLabel, error) {
	if text == "" {
		return nil, nil
	}
	var out []experiment.NodeLabel
	for part := range strings.SplitSeq(text, ",") {
		label, count, ok := strings.Cut(part, ":")
		key, value, labelled := strings.Cut(label, "=")
		n, err := strconv.Atoi(count)
		if !ok || !labelled || key == "" || value == "" || err != nil || n < 1 {
			return nil, fmt.Errorf("found %q, expected LABEL=VALUE:NODES", part)
		}
		if nodes -= n; nodes < 0 {
			return nil, fmt.Errorf("found %q, expected no more nodes than --nodes", text)
		}
		out = append(out, experiment.NodeLabel{Key: key, Value: value, Nodes: n})
	}
	return out, nil
}

// checkFormat refuses a format that is unknown, or of no log.
func checkFormat(trace, format string) error {
	switch {
	case format == "":
		return nil
	case !slices.Contains(experiment.Formats(), format):
		return fmt.Errorf("--format: found %q, expected one of %s", format, strings.Join(experiment.Formats(), ", "))
	case trace == "":
		return fmt.Errorf("--format: found %q without --trace, expected a log to read", format)
	}
	return nil
}

// limit is what a flag's value must keep to.
type limit struct {
	flag     string
	v        any
	ok       bool
	expected string
}

// keepsTo names the first flag that is out of its limits.
func keepsTo(limits []limit) error {
	for _, l := range limits {
		if !l.ok {
			return fmt.Errorf("%s: found %v, expected %s", l.flag, l.v, l.expected)
		}
	}
	return nil
}

// periods are the limits of what divides the time of a policy that plans.
func periods(s *experiment.Spec) []limit {
	return []limit{
		{"--cycle", s.Cycle, s.Cycle == 0 || s.Cycle >= minPeriod, "0s or at least 100ms"},
		{"--window", s.Window, s.Window == 0 || s.Window >= minPeriod, "0s or at least 100ms"},
		{"--slot", s.Slot, s.Slot == 0 || s.Slot >= minPeriod, "0s or at least 100ms"},
		{"--window", s.Window, s.Window == 0 || s.Window >= s.Slot, fmt.Sprintf("at least --slot, %v", s.Slot)},
		{"--work", s.Work, s.Work >= 1, "at least 1"},
	}
}

func (f *workloadFlags) check() error {
	s := &f.spec
	rate := f.flags.Changed("jobs-per-hour")
	kinds := "window, e2e, replay or dag"
	if f.flags.Lookup("short-share") != nil {
		kinds = "window, e2e, replay, dag or tasks"
	}
	if f.flags.Lookup("fill") != nil {
		kinds = "window, e2e, replay, dag, tasks or shared"
	}
	limits := []limit{
		{"--nodes", s.Nodes, s.Nodes >= 1 && s.Nodes <= 10_000_000, "1 to 10000000"},
		{"--racks", s.Racks, s.Racks >= 1 && s.Racks <= s.Nodes, fmt.Sprintf("1 to %d, the nodes", s.Nodes)},
		{"--tasks-per-node", s.TasksPerNode, s.TasksPerNode >= 1 && s.TasksPerNode <= math.MaxInt32, "1 to 2147483647"},
		{"--load", s.Load, s.Load > 0 && s.Load <= 1000, "above 0, at most 1000"},
		{"--hours", s.Hours, s.Hours >= 0.001 && s.Hours <= maxHours || s.Hours == 0 && s.Workload == "replay",
			"0.001 to 200000"},
		{"--start-hour", s.StartHour, s.StartHour >= 0 && s.StartHour <= maxHours, "0 to 200000"},
		{"--slo-share", s.SLOShare, s.SLOShare >= 0 && s.SLOShare <= 1, "0 to 1"},
		{"--prefer-share", s.PreferShare, s.PreferShare > 0 && s.PreferShare <= 1, "above 0, at most 1"},
		{"--prefer-slowdown", s.PreferSlowdown, s.PreferSlowdown >= 1 && s.PreferSlowdown <= 1000, "1 to 1000"},
		{"--jobs-per-hour", s.JobsPerHour, !rate || s.JobsPerHour > 0 && s.JobsPerHour <= 1e9, "above 0, at most 1e9"},
		{"--reserve-after", s.Reserve, s.Reserve >= 0, "at least 0s"},
		{"--machine-hours", s.MachineHours, s.MachineHours >= 0 && finite(s.MachineHours), "at least 0"},
		{"--budget", s.Budget, s.Budget > 0 && s.Budget <= 1, "above 0, at most 1"},
	}
	if len(f.sizes.all) > 1 && s.Workload != workloadShared {
		return fmt.Errorf("--nodes: found %s with --workload %s, expected one number", f.sizes.String(), s.Workload)
	}
	if err := keepsTo(append(limits, periods(s)...)); err != nil {
		return err
	}
	switch s.Workload {
	case "window", "e2e", "replay", "dag":
	case workloadShared:
		if f.flags.Lookup("fill") == nil {
			return fmt.Errorf("--workload: found %q, expected %s", s.Workload, kinds)
		}
	default:
		return fmt.Errorf("--workload: found %q, expected %s", s.Workload, kinds)
	}
	if rate && s.Workload != "e2e" {
		return fmt.Errorf("--jobs-per-hour: found %v with --workload %s, expected --workload e2e", s.JobsPerHour, s.Workload)
	}
	return nil
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// percentages parses "20,40" into 0.2, 0.4.
func percentages(flag, list string) ([]float64, error) {
	var out []float64
	for _, field := range strings.Split(list, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
		if err != nil || !(v >= 0 && v <= 1e6) {
			return nil, fmt.Errorf("%s: found %q, expected percentages from 0 to 1e6 such as 20,40,60,80", flag, field)
		}
		out = append(out, v/100)
	}
	return out, nil
}

// seeds parses "1,2,3" and refuses repetitions.
func seeds(flag, list string) ([]int64, error) {
	var out []int64
	known := map[int64]bool{}
	for _, field := range strings.Split(list, ",") {
		v, err := strconv.ParseInt(strings.TrimSpace(field), 10, 64)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: found %q, expected whole numbers such as 1,2,3", flag, field)
		case known[v]:
			return nil, fmt.Errorf("%s: found %d twice, expected distinct seeds", flag, v)
		}
		known[v] = true
		out = append(out, v)
	}
	return out, nil
}

// maxHours is what package workload takes.
const maxHours = 200_000

// minPeriod keeps a simulated hour from being millions of cycles, and a window millions of slots.
const minPeriod = 100 * time.Millisecond
