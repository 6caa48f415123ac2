package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/hedgesched/hedge/cmd/hedge/internal/experiment"
	"github.com/hedgesched/hedge/cmd/hedge/internal/report"
)

// simulation is what compare and simulate share.
type simulation struct {
	workloadFlags
	outputs
}

func (f *simulation) add(cmd *cobra.Command, s *Host) {
	f.workloadFlags.add(cmd, s)
	f.outputs.add(cmd)
	cmd.Flags().StringVar(&f.spec.SnapshotDir, "snapshots", "",
		"directory for every cycle's snapshot, POLICY-SEED-CYCLE.json.gz each; see hedge when")
	cmd.Flags().BoolVar(&f.spec.Estimates, "estimates", false,
		"estimate in every cycle when pending jobs start, and compare with what came true")
	cmd.Flags().DurationVar(&f.spec.ReportCycle, "report-cycle", -1,
		"simulated time of the cycle whose plans the report draws: the first not before it")
	cmd.Flags().Lookup("report-cycle").DefValue = "each policy's with the most planned starts"
	cmd.Flags().StringVar(&f.spec.Gantt, "gantt", "",
		"job whose stages the report draws, of the first seed (default: one with most stages; --workload dag)")
}

// run simulates what the flags say. Doc makes the command's document.
func (f *simulation) run(cmd *cobra.Command, s *Host, doc func(*experiment.Document) any) error {
	if err := f.finish(); err != nil {
		return err
	}
	if err := f.checkReport(cmd); err != nil {
		return err
	}
	f.spec.Observe = f.report != ""
	d, err := runSpec(cmd.Context(), s, &f.spec)
	if err != nil {
		return err
	}
	return f.emit(s, doc(d), func(path string) error { return report.WriteCompare(path, d) },
		func(w io.Writer) error { return compareTables(w, d) })
}

func (f *simulation) checkReport(cmd *cobra.Command) error {
	at := f.spec.ReportCycle
	switch job := f.spec.Gantt; {
	case job != "" && f.spec.Workload != workloadDAG:
		return fmt.Errorf("--gantt: found with --workload %s, expected --workload dag", f.spec.Workload)
	case job != "" && f.report == "":
		return fmt.Errorf("--gantt: found %q without --report, expected both", job)
	}
	switch {
	case !cmd.Flags().Changed("report-cycle"):
	case at < 0:
		return fmt.Errorf("--report-cycle: found %v, expected at least 0s", at)
	case f.report == "":
		return fmt.Errorf("--report-cycle: found %v without --report, expected both", at)
	}
	return errors.Join(f.outputs.check(), outputDirectory("--snapshots", f.spec.SnapshotDir))
}

func newCompare(s *Host) *cobra.Command {
	var f simulation
	var tasks taskFlags
	var shared sharedFlags
	cmd := &cobra.Command{
		Use:   "compare",
		Short: "Simulate several policies on one workload and show them side by side",
		Long: `compare makes a workload from a log (half of the jobs with deadlines, half best effort), simulates
a cluster under each policy, and shows who meets deadlines and at what price. Every policy sees the same
jobs; those that predict have learnt from the log before the window and go on learning.

The policies:
` + explained(s.Systems.List(), "window") + `
With --workload dag jobs have stages, which these know, besides those above:
` + explained(staged(s.Systems.List()), workloadDAG) + `
With --workload tasks every task is placed by itself, by systems made of messages, or by a policy above that is named:
every task is then a job of its own for it.
` + explained(s.Systems.List(), workloadTasks) + `
With --workload shared many tasks share a machine's CPU and memory, and use less or more than they request:
` + explained(s.Systems.List(), workloadShared) + `
The same flags and seeds give the same numbers on any machine, but for measured times.`,
		Example: `  hedge compare
  hedge compare --policies all --seeds 1,2,3 --report out/
  hedge compare --trace google2011_finished_jobs.tr.gz --nodes 256 --racks 8 --load 1.4 --hours 5
  hedge compare --trace log.swf.gz --workload e2e --slack 20 --json
  hedge compare --trace log.swf.gz --workload replay --policies fifo --nodes 100 --cycle 0s --log logs/
  hedge compare --workload shared --policies dist,point,request --nodes 700 --assignments 10
  hedge compare --workload tasks --policies sjf,eagle,siding --trace yahoo.tr --nodes 4000
  hedge compare --workload tasks --policies eagle,hawk --rules published --trace yahoo.tr --nodes 4000`,
		Args:    noArgs,
		PreRunE: func(cmd *cobra.Command, _ []string) error { return seedIntoSeeds(cmd, &f.workloadFlags) },
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkOthers(cmd.Flags(), f.spec.Workload); err != nil {
				return err
			}
			if f.spec.Workload == workloadTasks {
				return compareTasks(cmd, s, &f, &tasks)
			}
			if f.spec.Workload == workloadShared {
				return compareShared(cmd, s, &f, &shared)
			}
			return f.run(cmd, s, func(d *experiment.Document) any { return d })
		},
	}
	f.add(cmd, s)
	fs := cmd.Flags()
	tasks.add(fs)
	shared.add(fs)
	fs.Lookup("workload").Usage = "window, e2e, replay, dag, tasks or shared"
	fs.StringVar(&f.policies, "policies", defaultPolicies, "policies to compare, or all")
	fs.Lookup("policies").DefValue = fmt.Sprintf("%s; %s with --workload tasks; %s with --workload shared",
		defaultPolicies, defaultTaskPolicies, defaultSharedPolicies)
	fs.StringVar(&f.seeds, "seeds", "1", "seeds, one simulation of every policy each")
	fs.Int64("seed", 1, "short for --seeds with one seed")
	return cmd
}

// seedIntoSeeds lets --seed stand for --seeds with one seed.
func seedIntoSeeds(cmd *cobra.Command, f *workloadFlags) error {
	if !cmd.Flags().Changed("seed") {
		return nil
	}
	if cmd.Flags().Changed("seeds") {
		return fmt.Errorf("--seed: found with --seeds, expected one of them")
	}
	seed, err := cmd.Flags().GetInt64("seed")
	if err != nil {
		return err
	}
	f.seeds = fmt.Sprint(seed)
	return nil
}

func newSimulate(s *Host) *cobra.Command {
	var f simulation
	var tasks taskFlags
	cmd := &cobra.Command{
		Use:   "simulate",
		Short: "Simulate one policy on one workload",
		Long: `simulate runs one policy with one seed: compare for a single run, with the same flags.
With --log it leaves a decision log from which every figure can be computed again (hedge replay).
With --workload tasks every task is placed by itself, by a system made of messages (eagle is the default) or by a
policy, for which every task is a job of its own.
The systems are those of hedge compare --help.`,
		Example: `  hedge simulate
  hedge simulate --policy prio --seed 7
  hedge simulate --report out/ --report-cycle 30m
  hedge simulate --trace log.swf.gz --log logs/ --json
  hedge simulate --workload tasks --policy eagle --rules published --trace yahoo.tr --nodes 4000 --json`,
		Args:    noArgs,
		PreRunE: func(cmd *cobra.Command, _ []string) error { return seedIntoSeeds(cmd, &f.workloadFlags) },
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkOthers(cmd.Flags(), f.spec.Workload); err != nil {
				return err
			}
			if f.spec.Workload == workloadTasks {
				return runTasks(cmd, s, &f, &tasks)
			}
			return f.run(cmd, s, func(d *experiment.Document) any { return d.Single() })
		},
	}
	f.add(cmd, s)
	fs := cmd.Flags()
	tasks.add(fs)
	fs.StringVar(&tasks.jobsOut, "jobs-out", "",
		"file for a line a job: number, end in s, 0 short or 1 long (--workload tasks)")
	fs.StringVar(&f.policies, "policy", "3sigma", "policy to simulate")
	fs.Lookup("policy").DefValue = "3sigma; eagle with --workload tasks"
	fs.Int64("seed", 1, "seed")
	f.seeds = "1"
	return cmd
}

// runSpec reads the log and runs the experiment under a progress bar.
func runSpec(ctx context.Context, s *Host, spec *experiment.Spec) (*experiment.Document, error) {
	log, err := readSorted(s, spec)
	if err != nil {
		return nil, err
	}
	plan, err := experiment.Prepare(log, spec, s.Engines, s.Systems)
	if err != nil {
		return nil, err
	}
	bar := newProgress(s.Err, plan.Steps(), "simulating")
	doc, err := plan.Run(ctx, bar.set)
	bar.done()
	return doc, failed(err)
}
