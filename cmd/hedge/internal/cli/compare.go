package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/hedgesched/hedge/cmd/hedge/internal/experiment"
	"github.com/hedgesched/hedge/cmd/hedge/internal/report"
)

func newCompare(s *Streams) *cobra.Command {
	var f workloadFlags
	var asJSON bool
	var reportDir string
	cmd := &cobra.Command{
		Use:   "compare",
		Short: "Simulate several policies on one workload and show them side by side",
		Long: `compare makes a workload from a log (half of the jobs with deadlines, half best effort), simulates
a cluster under each policy, and shows who meets deadlines and at what price. Every policy sees the same
jobs; those that predict have learnt from the log before the window and go on learning.

The same flags and seeds give the same numbers on any machine, but for measured times.`,
		Example: `  hedge compare
  hedge compare --policies all --seeds 1,2,3 --report out/
  hedge compare --trace google2011_finished_jobs.tr.gz --nodes 256 --racks 8 --load 1.4 --hours 5
  hedge compare --trace log.swf.gz --workload e2e --slack 20 --json
  hedge compare --trace log.swf.gz --workload replay --policies fifo --nodes 100 --cycle 0s --log logs/`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.finish(); err != nil {
				return err
			}
			f.spec.Observe = reportDir != ""
			doc, err := runSpec(cmd.Context(), s, &f.spec)
			if err != nil {
				return err
			}
			if reportDir != "" {
				path := filepath.Join(reportDir, "index.html")
				if err := report.WriteCompare(path, doc); err != nil {
					return failed(err)
				}
				note(s, "report: %s", path)
			}
			if asJSON {
				return writeJSON(s.Out, doc)
			}
			return failed(compareTables(s.Out, doc))
		},
	}
	f.add(cmd)
	fs := cmd.Flags()
	fs.StringVar(&f.policies, "policies", defaultPolicies, "policies to compare, or all")
	fs.StringVar(&f.seeds, "seeds", "1", "seeds, one simulation of every policy each")
	fs.Int64("seed", 1, "short for --seeds with one seed")
	fs.BoolVar(&asJSON, "json", false, "print one JSON document")
	fs.StringVar(&reportDir, "report", "", "directory for a self-contained HTML page with charts")
	cmd.MarkFlagsMutuallyExclusive("seed", "seeds")
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error { return seedIntoSeeds(cmd, &f) }
	return cmd
}

// seedIntoSeeds lets --seed stand for --seeds with one seed.
func seedIntoSeeds(cmd *cobra.Command, f *workloadFlags) error {
	if !cmd.Flags().Changed("seed") {
		return nil
	}
	seed, err := cmd.Flags().GetInt64("seed")
	if err != nil {
		return err
	}
	f.seeds = fmt.Sprint(seed)
	return nil
}

func newSimulate(s *Streams) *cobra.Command {
	var f workloadFlags
	var asJSON bool
	var reportDir string
	cmd := &cobra.Command{
		Use:   "simulate",
		Short: "Simulate one policy on one workload",
		Long: `simulate runs one policy with one seed: compare for a single run, with the same flags.
With --log it leaves a decision log from which every figure can be computed again (hedge replay).`,
		Example: `  hedge simulate
  hedge simulate --policy prio --seed 7
  hedge simulate --trace log.swf.gz --log logs/ --json`,
		Args: noArgs,
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			return seedIntoSeeds(cmd, &f)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.finish(); err != nil {
				return err
			}
			if len(f.spec.Policies) != 1 {
				return fmt.Errorf("--policy: found %d policies, expected one", len(f.spec.Policies))
			}
			f.spec.Observe = reportDir != ""
			doc, err := runSpec(cmd.Context(), s, &f.spec)
			if err != nil {
				return err
			}
			if reportDir != "" {
				path := filepath.Join(reportDir, "index.html")
				if err := report.WriteCompare(path, doc); err != nil {
					return failed(err)
				}
				note(s, "report: %s", path)
			}
			if asJSON {
				return writeJSON(s.Out, doc.Single())
			}
			return failed(compareTables(s.Out, doc))
		},
	}
	f.add(cmd)
	fs := cmd.Flags()
	fs.StringVar(&f.policies, "policy", "3sigma", "policy to simulate")
	fs.Int64("seed", 1, "seed")
	fs.BoolVar(&asJSON, "json", false, "print one JSON document")
	fs.StringVar(&reportDir, "report", "", "directory for a self-contained HTML page with charts")
	f.seeds = "1"
	return cmd
}

// runSpec reads the log and runs the experiment under a progress bar.
func runSpec(ctx context.Context, s *Streams, spec *experiment.Spec) (*experiment.Document, error) {
	log, err := experiment.ReadLog(spec.Trace, spec.Format, s.In)
	if err != nil {
		return nil, err
	}
	if log.Reordered > 0 {
		note(s, "%s: %d jobs stood out of order and were sorted", log.Name, log.Reordered)
	}
	plan, err := experiment.Prepare(log, spec)
	if err != nil {
		return nil, err
	}
	bar := newProgress(s.Err, plan.Steps(), "simulating")
	doc, err := plan.Run(ctx, bar.set)
	bar.done()
	return doc, failed(err)
}

// note writes one line of information to stderr.
func note(s *Streams, format string, args ...any) {
	fmt.Fprintf(s.Err, "hedge: "+format+"\n", args...)
}
