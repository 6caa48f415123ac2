package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/hedgesched/hedge/cmd/hedge/internal/describe"
	"github.com/hedgesched/hedge/cmd/hedge/internal/experiment"
	"github.com/hedgesched/hedge/cmd/hedge/internal/profile"
	"github.com/hedgesched/hedge/cmd/hedge/internal/stats"
	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/engines"
)

// page gathers lines for one write.
type page struct{ strings.Builder }

func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// table adds rows; all columns but the first are numbers.
func (p *page) table(head table.Row, rows ...table.Row) {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Options.DrawBorder = false
	t.Style().Options.SeparateColumns = false
	t.Style().Format.Header = text.FormatDefault
	var columns []table.ColumnConfig
	for i := 2; i <= len(head); i++ {
		columns = append(columns, table.ColumnConfig{Number: i, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(columns)
	t.AppendHeader(head)
	t.AppendRows(rows)
	for _, row := range strings.Split(t.Render(), "\n") {
		p.line("%s", strings.TrimRight(row, " "))
	}
}

func (p *page) to(w io.Writer) error {
	_, err := io.WriteString(w, p.String())
	return err
}

func percent(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }

// figure writes a number with as many decimals as it needs.
func figure(x float64) string {
	switch {
	case x == 0:
		return "0"
	case x >= 100:
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	case x >= .01:
		return fmt.Sprintf("%.2f", x)
	}
	return fmt.Sprintf("%.2g", x)
}

// span writes seconds for people.
func span(s float64) string {
	switch {
	case s < 120:
		return figure(s) + " s"
	case s < 2*3600:
		return figure(s/60) + " min"
	case s < 48*3600:
		return figure(s/3600) + " h"
	}
	return figure(s/86400) + " d"
}

// interval writes a mean with its interval, scaled, where there were several seeds.
func interval(iv stats.Interval, scale float64, seeds int) string {
	if seeds < 2 {
		return figure(scale * iv.Mean)
	}
	return figure(scale*iv.Mean) + " ±" + figure(scale*(iv.CI95[1]-iv.Mean))
}

func skippedLine(skipped map[string]int) string {
	var parts []string
	for _, reason := range slices.Sorted(maps.Keys(skipped)) {
		if n := skipped[reason]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, reason))
		}
	}
	return strings.Join(parts, ", ")
}

func compareTables(w io.Writer, d *experiment.Document) error {
	var p page
	work, seeds := &d.Workload, len(d.Workload.Seeds)
	p.line("%s: %d jobs (%d with deadlines) over %s at load %.2f on %d nodes in %d racks; %d earlier jobs as history",
		work.Trace, work.Jobs, work.SLOJobs, span(work.SpanS), work.Load, work.Nodes, work.Racks, work.Trained)
	if left := skippedLine(work.Skipped); left != "" {
		p.line("not in the workload: %s", left)
	}
	p.line("")
	rows := make([]table.Row, 0, len(d.Summary))
	for _, s := range d.Summary {
		rows = append(rows, table.Row{s.Policy, interval(s.MissRate, 100, seeds), interval(s.SLOGoodput, 1, seeds),
			interval(s.BEGoodput, 1, seeds), interval(s.BELatency, 1.0/60, seeds), interval(s.Preemptions, 1, seeds),
			interval(s.LostHours, 1, seeds), interval(s.Utilisation, 100, seeds), interval(s.CycleP99, 1, seeds)})
	}
	p.table(table.Row{"policy", "SLO miss %", "SLO goodput", "BE goodput", "BE latency min", "preempted", "lost", "busy %", "cycle p99 ms"}, rows...)
	p.line("")
	p.line("SLO miss %%      jobs with a deadline that did not complete by it, never-started ones included: lower is better")
	p.line("goodput, lost   machine-hours of completed work, SLO and best-effort (BE) apart, and of work thrown away by preemption")
	p.line("BE latency      mean time from submission to completion of best-effort jobs: lower is better")
	p.line("cycle p99       wall-clock time of planning, 99th percentile; cycles every %s, window %s in slots of %s", span(d.Planning.CycleS), span(d.Planning.WindowS), span(d.Planning.SlotS))
	if seeds > 1 {
		p.line("±               half of the 95 %% confidence interval over %d seeds (Student's t)", seeds)
	} else {
		p.line("one seed        try --seeds 1,2,3,4,5 for confidence intervals, --policies all for more, --report DIR for charts")
	}
	p.verdict(d)
	return p.to(w)
}

// verdict says in a sentence what the table shows of distributions against points.
func (p *page) verdict(d *experiment.Document) {
	rate := map[string]float64{}
	for _, s := range d.Summary {
		rate[s.Policy] = s.MissRate.Mean
	}
	ours, ok := rate["3sigma"]
	if !ok {
		return
	}
	var parts []string
	for _, rival := range []struct{ name, what string }{{"point-real", "point estimates"}, {"prio", "strict priorities"}} {
		if theirs, ok := rate[rival.name]; ok && ours > 0 {
			parts = append(parts, fmt.Sprintf("%s miss %.1f times as many deadlines as 3sigma", rival.what, theirs/ours))
		} else if ok {
			parts = append(parts, fmt.Sprintf("%s miss %.1f %% of deadlines, 3sigma none", rival.what, 100*theirs))
		}
	}
	if len(parts) > 0 {
		p.line("")
		p.line("Here %s.", strings.Join(parts, "; "))
	}
}

func predictTables(w io.Writer, d *profile.Document) error {
	var p page
	p.line("%s: %d jobs, %d tested after a training share of %s, %d of them without any history", d.Trace, d.Jobs, d.Tested, percent(d.Train), d.NoHistory)
	p.line("")
	rows := make([]table.Row, 0, len(d.Predictors))
	for _, r := range d.Predictors {
		rows = append(rows, table.Row{r.Name, percent(r.Within2x), percent(r.MedianAPE), percent(r.P90APE), figure(r.NMAE),
			figure(r.Pinball.MeanOverDeciles), figure(r.CRPS), percent(r.Coverage["50"]), percent(r.Coverage["80"]), percent(r.Coverage["95"]),
			figure(r.PredictUS.P50), figure(r.PredictUS.P99)})
	}
	p.table(table.Row{"predictor", "within 2x", "median err", "p90 err", "NMAE", "pinball", "CRPS", "in 50 %", "in 80 %", "in 95 %", "p50 us", "p99 us"}, rows...)
	p.line("")
	p.line("within 2x       estimates between half and twice the runtime; err is |estimate - actual| / actual of the point estimate")
	p.line("pinball, CRPS   loss of the whole distribution over the mean runtime: lower is better (a point has its absolute error)")
	p.line("in 50 %%         runtimes within the central 50 %% interval of the forecast: 50 %% is calibrated; points cover little")
	for _, r := range d.Predictors {
		p.line("")
		p.chosen(&r)
	}
	return p.to(w)
}

// chosen lists the features a predictor took, and its best experts.
func (p *page) chosen(r *profile.Result) {
	names := slices.Collect(maps.Keys(r.Chosen))
	slices.SortFunc(names, func(a, b string) int {
		if r.Chosen[a] != r.Chosen[b] {
			if r.Chosen[a] > r.Chosen[b] {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	var parts []string
	for _, name := range names[:min(6, len(names))] {
		parts = append(parts, fmt.Sprintf("%s %s", name, percent(r.Chosen[name])))
	}
	p.line("%s chose %s", r.Name, strings.Join(parts, ", "))
	if len(r.Experts) == 0 {
		return
	}
	best := slices.Clone(r.Experts)
	slices.SortStableFunc(best, func(a, b profile.Expert) int {
		switch {
		case a.Within2x > b.Within2x:
			return -1
		case a.Within2x < b.Within2x:
			return 1
		}
		return 0
	})
	rows := make([]table.Row, 0, 8)
	for _, e := range best[:min(8, len(best))] {
		rows = append(rows, table.Row{e.Feature + ", " + e.Estimator, e.Jobs, percent(e.Within2x), percent(e.MedianAPE), figure(e.NMAE)})
	}
	p.line("experts alone, the best of %d by within 2x (each over the jobs it knew):", len(r.Experts))
	p.table(table.Row{"expert", "jobs", "within 2x", "median err", "NMAE"}, rows...)
}

func traceTables(w io.Writer, d *describe.Document) error {
	var p page
	p.line("%s (%s): %d jobs of %d users over %s, %s machine-hours", d.Trace, d.Format, d.Jobs, d.Users, span(d.SpanS), figure(d.MachineHours))
	if left := skippedLine(d.Skipped); left != "" {
		p.line("skipped records: %s", left)
	}
	p.line("demand: %s tasks at once in the mean, %s at the peak; the widest job has %d", figure(d.Demand.MeanTasks), figure(d.Demand.PeakTasks), d.Demand.MaxJobTasks)
	p.line("")
	spread := func(name string, s stats.Spread) table.Row {
		return table.Row{name, figure(s.Mean), figure(s.P10), figure(s.P50), figure(s.P90), figure(s.P99), figure(s.Max), figure(s.CoV)}
	}
	p.table(table.Row{"per job", "mean", "p10", "p50", "p90", "p99", "max", "CoV"},
		spread("size, "+d.Size.Unit, d.Size.Spread), spread("tasks", d.TasksPerJob), spread("duration, s", d.DurationS),
		spread("inter-arrival, s", d.InterArrival.Seconds), spread("jobs an hour", d.Hourly.Jobs), spread("tasks an hour", d.Hourly.Tasks),
		spread("requested/used time", d.Requests.RequestedOverUsed),
		spread("CoV of a user's sizes", d.UserCoV.Size), spread("CoV of a user's runtimes", d.UserCoV.Runtime))
	p.line("")
	p.line("rhythm: the busiest hour of the day has %s times the submissions of the quietest; correlation a day later %.2f", figure(d.Hourly.PeakToTrough), d.Hourly.DayCorrelation)
	p.line("arrivals: %s within 1 s of the last; a Poisson process is %s (KS distance %.3f), and rejected in %s of %d single hours",
		percent(d.InterArrival.SubSecond), verdictOf(d.InterArrival.Poisson), d.InterArrival.Poisson.Statistic, percent(d.InterArrival.RejectedHours), d.InterArrival.HoursTested)
	p.line("")
	var rows []table.Row
	for _, o := range d.Outcomes {
		rows = append(rows, table.Row{o.Outcome, o.Jobs, percent(o.ShareJobs), percent(o.ShareTime), figure(o.TasksPerJob.Mean), figure(o.TasksPerJob.P90)})
	}
	p.table(table.Row{"outcome", "jobs", "of jobs", "of machine time", "mean tasks", "p90 tasks"}, rows...)
	p.details(d)
	return p.to(w)
}

func verdictOf(k stats.KS) string {
	if k.Rejected {
		return "rejected"
	}
	return "not rejected"
}

// details adds the tables of success, features and months.
func (p *page) details(d *describe.Document) {
	if len(d.SuccessByWork) > 0 {
		p.line("")
		var rows []table.Row
		for _, b := range d.SuccessByWork {
			rows = append(rows, table.Row{fmt.Sprintf("%g to %g", b.From, b.To), b.Jobs, percent(b.Success)})
		}
		p.table(table.Row{"machine-hours", "jobs", "finished"}, rows...)
	}
	if len(d.Features) > 0 {
		p.line("")
		var rows []table.Row
		for _, f := range d.Features {
			rows = append(rows, table.Row{f.Feature, f.Groups, percent(f.Share), figure(f.CoV.P50), figure(f.CoV.P90)})
		}
		p.line("How alike are runtimes within a feature's value (groups of at least 5)? Less is more predictable.")
		p.table(table.Row{"feature", "groups", "jobs in them", "median CoV", "p90 CoV"}, rows...)
	}
	if m := d.Months; m != nil {
		p.line("")
		var rows []table.Row
		for _, s := range []struct {
			name   string
			series describe.MonthSeries
		}{{"jobs", m.Jobs}, {"mean runtime", m.Runtime}, {"mean tasks", m.Tasks}, {"machine-hours", m.Work}} {
			b := s.series.Box
			rows = append(rows, table.Row{s.name, figure(b.Low), figure(b.P25), figure(b.Median), figure(b.P75), figure(b.High), b.Outliers})
		}
		p.line("Does one month stand for the whole? %d months of 29 days, each over the mean of all (Tukey box; 1 is the mean):", m.Months)
		p.table(table.Row{"per month", "low", "p25", "median", "p75", "high", "outliers"}, rows...)
	}
}

func solveTable(w io.Writer, problem *solver.Problem, sol *solver.Solution) error {
	var p page
	p.line("%d jobs, %d partitions, %d slots: engine %s stopped (%s) after %s ms", len(problem.Jobs), len(problem.Partitions), problem.Slots, sol.Engine, sol.Stop, figure(sol.WallMS))
	bound := "no bound"
	if sol.Bound != nil && sol.Gap != nil {
		bound = fmt.Sprintf("at most %.6g is possible (gap %.3f %%)", *sol.Bound, 100**sol.Gap)
	}
	now := 0
	for i := range problem.Jobs {
		j := &problem.Jobs[i]
		if c, ok := sol.Choice[j.ID]; ok && j.Options[c.Option].Start == 0 {
			now++
		}
	}
	p.line("value %.6g; %s", sol.Objective, bound)
	p.line("%d jobs planned, %d of them to start now; %d running jobs preempted", len(sol.Choice), now, len(sol.Preempt))
	return p.to(w)
}

// engineInfo is an element of hedge solve --engines --json.
type engineInfo struct {
	Name          string `json:"name"`
	Summary       string `json:"summary"`
	Exact         bool   `json:"exact"`
	Bound         bool   `json:"bound"`
	Deterministic bool   `json:"deterministic"`
}

func listEngines(s *Streams, asJSON bool) error {
	var infos []engineInfo
	var rows []table.Row
	yes := map[bool]string{true: "yes", false: "no"}
	for _, e := range engines.List() {
		infos = append(infos, engineInfo{e.Name, e.Summary, e.Exact, e.Bound, e.Deterministic})
		rows = append(rows, table.Row{e.Name, yes[e.Exact], yes[e.Bound], yes[e.Deterministic], e.Summary})
	}
	if asJSON {
		return writeJSON(s.Out, map[string]any{"schema": schema, "command": "solve --engines", "engines": infos})
	}
	var p page
	p.table(table.Row{"engine", "exact", "bound", "deterministic", "what it is"}, rows...)
	p.line("")
	p.line("exact: proves small problems optimal; bound: gives proven upper bounds; deterministic: --work alone fixes the plan")
	p.line("Several names are a ladder, native,greedy: the first that gives a plan answers.")
	return failed(p.to(s.Out))
}
