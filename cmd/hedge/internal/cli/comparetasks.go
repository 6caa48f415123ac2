package cli

import (
	"fmt"
	"io"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/hedgesched/hedge/cmd/hedge/internal/figures"
	"github.com/hedgesched/hedge/cmd/hedge/internal/report"
	"github.com/hedgesched/hedge/cmd/hedge/internal/stats"
	"github.com/hedgesched/hedge/sched/systems"
)

// defaultTaskPolicies are compared with --workload tasks.
const defaultTaskPolicies = "eagle,hawk,sparrow"

// tasksComparison is what compare --workload tasks --json prints. Runs are in order of policies, then seeds.
type tasksComparison struct {
	Schema   int            `json:"schema"`
	Command  string         `json:"command"`
	Workload tasksWorkload  `json:"workload"`
	Runs     []tasksRun     `json:"runs"`
	Summary  []tasksSummary `json:"summary"`
}

// tasksSummary is a policy's figures over the seeds.
type tasksSummary struct {
	Policy string     `json:"policy"`
	Short  jctSummary `json:"short"`
	Long   jctSummary `json:"long"`
	All    jctSummary `json:"all"`
	Over   overFirst  `json:"over_first"`
	*GSSummary
	BusyMean stats.Interval  `json:"busy_mean"`
	Messages *stats.Interval `json:"messages"` // null for a policy that plans
}

// jctSummary is completion times of a class of jobs, in seconds.
type jctSummary struct {
	Mean stats.Interval `json:"mean_s"`
	P50  stats.Interval `json:"p50_s"`
	P90  stats.Interval `json:"p90_s"`
	P99  stats.Interval `json:"p99_s"`
}

// overFirst is completion times over those of the first policy, by seed: the ratio of means, and the median of jobs'
// ratios.
type overFirst struct {
	Mean   stats.Interval `json:"mean"`
	Median stats.Interval `json:"median"`
}

// compareTasks simulates several systems on a task-level workload, one after the other: each needs much memory.
func compareTasks(cmd *cobra.Command, s *Host, f *simulation, t *taskFlags) error {
	if !cmd.Flags().Changed("policies") {
		f.policies = defaultTaskPolicies
	}
	policies, err := choose(f.systems, f.policies, workloadTasks)
	if err != nil {
		return fmt.Errorf("--policies: %w", err)
	}
	list, err := seeds("--seeds", f.seeds)
	if err != nil {
		return err
	}
	found := make([]systems.System, len(policies))
	for i, name := range policies {
		if found[i], err = f.systems.Find(name); err != nil {
			return err
		}
	}
	if err := t.check(cmd.Flags(), f, s, found); err != nil {
		return err
	}
	if err := t.outputs(f); err != nil {
		return err
	}
	for i := range found {
		if err := t.use(&found[i]); err != nil {
			return err
		}
	}
	log, err := readTasks(s, &f.spec, t)
	if err != nil {
		return err
	}
	d := &tasksComparison{Schema: schema, Command: "compare"}
	bar := newProgress(s.Err, len(policies)*len(list), "simulating")
	for i, name := range policies {
		if err := t.use(&found[i]); err != nil {
			return err
		}
		for _, t.config.Seed = range list {
			one, _, err := t.run(cmd.Context(), name, log)
			if err != nil {
				return fmt.Errorf("%s, seed %d: %w", name, t.config.Seed, err)
			}
			d.Workload, d.Runs = one.Workload, append(d.Runs, one.Run)
			bar.set(len(d.Runs), name)
		}
	}
	bar.done()
	d.Summary = summariseTasks(policies, d.Runs)
	return f.emit(s, d, func(path string) error { return report.WriteTasks(path, t.page(&d.Workload, d.Runs)) },
		func(w io.Writer) error { return tasksComparisonTable(w, d) })
}

func summariseTasks(policies []string, runs []tasksRun) []tasksSummary {
	out := make([]tasksSummary, 0, len(policies))
	for _, name := range policies {
		of := func(figure func(*tasksRun) float64) stats.Interval {
			var values []float64
			for i := range runs {
				if runs[i].Policy == name {
					values = append(values, figure(&runs[i]))
				}
			}
			return stats.Of(values)
		}
		class := func(jobs func(*tasksRun) *jct) jctSummary {
			return jctSummary{
				Mean: of(func(r *tasksRun) float64 { return jobs(r).JCT.Mean }),
				P50:  of(func(r *tasksRun) float64 { return jobs(r).JCT.P50 }),
				P90:  of(func(r *tasksRun) float64 { return jobs(r).JCT.P90 }),
				P99:  of(func(r *tasksRun) float64 { return jobs(r).JCT.P99 }),
			}
		}
		out = append(out, tasksSummary{
			Policy:    name,
			Short:     class(func(r *tasksRun) *jct { return &r.Short }),
			Long:      class(func(r *tasksRun) *jct { return &r.Long }),
			All:       class(func(r *tasksRun) *jct { return &r.All }),
			Over:      over(runs, name, func(*tasksRun, int) bool { return true }),
			GSSummary: summariseGS(runs, name, of),
			BusyMean:  of(func(r *tasksRun) float64 { return r.BusyMean }),
			Messages:  messagesOf(runs, name),
		})
	}
	return out
}

// messagesOf are a policy's messages over the seeds, nil for one that sends none.
func messagesOf(runs []tasksRun, policy string) *stats.Interval {
	var values []*float64
	for i := range runs {
		if r := &runs[i]; r.Policy == policy && r.Messages != nil {
			values = append(values, new(float64(*r.Messages)))
		}
	}
	return stats.Known(values)
}

func tasksComparisonTable(w io.Writer, d *tasksComparison) error {
	var p page
	work := &d.Workload
	p.line("%s: %d jobs, %d tasks at load %.3f on %d nodes; completion in s", work.Trace, work.Jobs, work.Tasks,
		work.OfferedLoad, work.Nodes)
	p.records(&work.Records)
	rows := make([]table.Row, 0, len(d.Summary))
	for i := range d.Summary {
		row := table.Row{d.Summary[i].Policy}
		for _, c := range []*jctSummary{&d.Summary[i].Short, &d.Summary[i].Long} {
			for _, quantile := range []stats.Interval{c.P50, c.P90, c.P99} {
				row = append(row, figures.Interval(quantile, 1))
			}
		}
		rows = append(rows, append(row, figures.Interval(d.Summary[i].BusyMean, 100)))
	}
	if d.hasGS() {
		p.table(gsHead(), gsRows(d)...)
	}
	p.table(table.Row{"policy", "short p50", "p90", "p99", "long p50", "p90", "p99", "busy %"}, rows...)
	return p.to(w)
}

// over are the figures of a policy over the first one's, of the jobs that are asked for.
func over(runs []tasksRun, policy string, of func(r *tasksRun, job int) bool) overFirst {
	var means, medians []float64
	for i := range runs {
		if r := &runs[i]; r.Policy == policy {
			mean, median := ratios(r, first(runs, r.Seed), of)
			means, medians = append(means, mean), append(medians, median)
		}
	}
	return overFirst{Mean: stats.Of(means), Median: stats.Of(medians)}
}

// first is the first run of a seed.
func first(runs []tasksRun, seed int64) *tasksRun {
	i := slices.IndexFunc(runs, func(r tasksRun) bool { return r.Seed == seed })
	return &runs[i]
}

func ratios(r, first *tasksRun, of func(r *tasksRun, job int) bool) (mean, median float64) {
	var mine, other float64
	var each []float64
	for job, seconds := range r.completions {
		if base := first.completions[job]; job >= r.cold && of(r, job) && base > 0 {
			mine += seconds
			other += base
			each = append(each, seconds/base)
		}
	}
	if len(each) == 0 {
		return 0, 0
	}
	slices.Sort(each)
	return mine / other, stats.Between(each, 0.5)
}
