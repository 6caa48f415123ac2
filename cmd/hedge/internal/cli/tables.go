package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/hedgesched/hedge/cmd/hedge/internal/describe"
	"github.com/hedgesched/hedge/cmd/hedge/internal/experiment"
	"github.com/hedgesched/hedge/cmd/hedge/internal/figures"
	"github.com/hedgesched/hedge/cmd/hedge/internal/profile"
	"github.com/hedgesched/hedge/cmd/hedge/internal/records"
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

// records says which records of a log are no jobs.
func (p *page) records(r *records.Records) {
	if left := figures.Counts(r.Skipped); left != "" {
		p.line("skipped records: %s", left)
	}
	p.bad(r)
}

// bad says which records of a log were left out as bad.
func (p *page) bad(r *records.Records) {
	if bad := r.BadLine(); bad != "" {
		p.line("%s", bad)
	}
}

func (p *page) to(w io.Writer) error {
	_, err := io.WriteString(w, p.String())
	return err
}

func compareTables(w io.Writer, d *experiment.Document) error {
	var p page
	work := &d.Workload
	p.line("%s: %d jobs (%d with deadlines) over %s at load %.2f on %d nodes in %d racks; %d earlier jobs as history",
		work.Trace, work.Jobs, work.SLOJobs, figures.Span(work.SpanS), work.Load, work.Nodes, work.Racks, work.Trained)
	if left := figures.Counts(work.Skipped); left != "" {
		p.line("not in the workload: %s", left)
	}
	p.bad(&work.Records)
	if ignored := figures.Ignored(work.IgnoredDemands); ignored != "" {
		p.line("%s", ignored)
	}
	if unmatched := figures.Unmatched(work.UnmatchedSpeeds); unmatched != "" {
		p.line("%s", unmatched)
	}
	p.line("")
	p.columns(d, experiment.Columns(), experiment.ColumnNotes())
	p.line("")
	p.columns(d, experiment.WorthColumns(), experiment.WorthNotes())
	p.line("cycles            every %s, planning %s ahead in slots of %s", figures.Span(d.Planning.CycleS),
		figures.Span(d.Planning.WindowS), figures.Span(d.Planning.SlotS))
	if d.CI95Null == "" {
		p.line("±                 half of the 95 %% confidence interval over %d seeds (Student's t)", len(work.Seeds))
	} else {
		p.line("one seed          hedge compare --seeds 1,2,3,4,5 gives confidence intervals, with --policies all every " +
			"policy; --report DIR draws charts")
	}
	if text := experiment.Verdict(d.Summary); text != "" {
		p.line("")
		p.line("%s", text)
	}
	return p.to(w)
}

// columns is a table with a row for each policy, and the notes on its columns.
func (p *page) columns(d *experiment.Document, columns []experiment.Column, notes [][2]string) {
	head := table.Row{"policy"}
	for _, c := range columns {
		head = append(head, c.Head)
	}
	rows := make([]table.Row, 0, len(d.Summary))
	for i := range d.Summary {
		row := table.Row{d.Summary[i].Policy}
		for _, c := range columns {
			row = append(row, figures.Interval(c.Of(&d.Summary[i]), c.Scale))
		}
		rows = append(rows, row)
	}
	p.table(head, rows...)
	p.line("")
	for _, note := range notes {
		p.line("%-18s%s", note[0], note[1])
	}
}

func predictTables(w io.Writer, d *profile.Document) error {
	var p page
	p.line("%s: %d jobs, %d tested after a training share of %s, %d of them without any history", d.Trace, d.Jobs,
		d.Tested, figures.Percent(d.Train), d.NoHistory)
	p.records(&d.Records)
	p.line("")
	rows := make([]table.Row, 0, len(d.Predictors))
	for _, r := range d.Predictors {
		rows = append(rows, table.Row{r.Name, figures.Percent(r.Within2x), figures.Percent(r.MedianAPE),
			figures.Percent(r.P90APE), figures.Number(r.NMAE),
			figures.Number(r.Pinball.MeanOverDeciles), figures.Number(r.CRPS), figures.Percent(r.Coverage["50"]),
			figures.Percent(r.Coverage["80"]), figures.Percent(r.Coverage["95"]),
			figures.Number(r.PredictUS.P50), figures.Number(r.PredictUS.P99)})
	}
	p.table(table.Row{"predictor", "within 2x", "median err", "p90 err", "NMAE", "pinball", "CRPS", "in 50 %", "in 80 %",
		"in 95 %", "p50 us", "p99 us"}, rows...)
	p.line("")
	p.line("within 2x       estimates between half and twice the runtime; err is |estimate - actual| / actual of the " +
		"point estimate")
	p.line("pinball, CRPS   loss of the whole distribution over the mean runtime: lower is better (a point has its " +
		"absolute error)")
	p.line("in 50 %%         runtimes within the central 50 %% interval of the forecast: 50 %% is calibrated; points " +
		"cover little")
	for _, r := range d.Predictors {
		p.line("")
		p.chosen(&r)
	}
	return p.to(w)
}

// chosen lists the features a predictor took, and its best experts.
func (p *page) chosen(r *profile.Result) {
	var parts []string
	for _, name := range figures.Largest(r.Chosen, 6) {
		parts = append(parts, fmt.Sprintf("%s %s", name, figures.Percent(r.Chosen[name])))
	}
	p.line("%s chose %s", r.Name, strings.Join(parts, ", "))
	if len(r.Experts) == 0 {
		return
	}
	best := slices.Clone(r.Experts)
	slices.SortStableFunc(best, func(a, b profile.Expert) int { return cmp.Compare(b.Within2x, a.Within2x) })
	rows := make([]table.Row, 0, 8)
	for _, e := range best[:min(8, len(best))] {
		rows = append(rows, table.Row{e.Feature + ", " + e.Estimator, e.Jobs, figures.Percent(e.Within2x),
			figures.Percent(e.MedianAPE), figures.Number(e.NMAE)})
	}
	p.line("experts alone, the best of %d by within 2x (each over the jobs it knew):", len(r.Experts))
	p.table(table.Row{"expert", "jobs", "within 2x", "median err", "NMAE"}, rows...)
}

func traceTables(w io.Writer, d *describe.Document) error {
	var p page
	p.line("%s (%s): %s over %s, %s machine-hours", d.Trace, d.Format, figures.JobsOf(d.Jobs, d.Users),
		figures.Span(d.SpanS), figures.Number(d.MachineHours))
	p.records(&d.Records)
	p.line("demand: %s tasks at once in the mean, %s at the peak; the widest job has %d",
		figures.Number(d.Demand.MeanTasks), figures.Number(d.Demand.PeakTasks), d.Demand.MaxJobTasks)
	p.line("")
	spread := func(name string, s stats.Spread) table.Row {
		return table.Row{name, figures.Number(s.Mean), figures.Number(s.P10), figures.Number(s.P50), figures.Number(s.P90),
			figures.Number(s.P99), figures.Number(s.Max), figures.Number(s.CoV)}
	}
	p.table(table.Row{"per job", "mean", "p10", "p50", "p90", "p99", "max", "CoV"},
		spread("size, "+d.Size.Unit, d.Size.Spread), spread("tasks", d.TasksPerJob), spread("duration, s", d.DurationS),
		spread("inter-arrival, s", d.InterArrival.Seconds), spread("jobs an hour", d.Hourly.Jobs),
		spread("tasks an hour", d.Hourly.Tasks),
		spread("requested/used time", d.Requests.RequestedOverUsed),
		spread("CoV of a user's sizes", d.UserCoV.Size), spread("CoV of a user's runtimes", d.UserCoV.Runtime))
	p.line("")
	if d.Hourly.PeakToTrough > 0 {
		p.line("rhythm: the busiest hour of the day has %s times the submissions of the quietest; correlation a day later "+
			"%.2f", figures.Number(d.Hourly.PeakToTrough), d.Hourly.DayCorrelation)
	} else {
		p.line("rhythm: an hour of the day is without submissions")
	}
	p.line("arrivals: %s within 1 s of the last; a Poisson process is %s (KS distance %.3f), and rejected in %s of %d "+
		"single hours",
		figures.Percent(d.InterArrival.SubSecond), verdictOf(d.InterArrival.Poisson), d.InterArrival.Poisson.Statistic,
		figures.Percent(d.InterArrival.RejectedHours), d.InterArrival.HoursTested)
	p.line("")
	var rows []table.Row
	for _, o := range d.Outcomes {
		rows = append(rows, table.Row{o.Outcome, o.Jobs, figures.Percent(o.ShareJobs), figures.Percent(o.ShareTime),
			figures.Number(o.TasksPerJob.Mean), figures.Number(o.TasksPerJob.P90)})
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
			rows = append(rows, table.Row{fmt.Sprintf("%g to %g", b.From, b.To), b.Jobs, figures.Percent(b.Success)})
		}
		p.table(table.Row{"machine-hours", "jobs", "finished"}, rows...)
	}
	if len(d.Features) > 0 {
		p.line("")
		var rows []table.Row
		for _, f := range d.Features {
			rows = append(rows, table.Row{f.Feature, f.Groups, figures.Percent(f.Share), figures.Number(f.CoV.P50),
				figures.Number(f.CoV.P90)})
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
			rows = append(rows, table.Row{s.name, figures.Number(b.Low), figures.Number(b.P25), figures.Number(b.Median),
				figures.Number(b.P75), figures.Number(b.High), b.Outliers})
		}
		p.line("Does one month stand for the whole? %d months of 29 days, each over the mean of all (Tukey box; 1 is the "+
			"mean):", m.Months)
		p.table(table.Row{"per month", "low", "p25", "median", "p75", "high", "outliers"}, rows...)
	}
}

func solveTable(w io.Writer, problem *solver.Problem, sol *solver.Solution) error {
	var p page
	work := ""
	if sol.Work > 0 {
		work = fmt.Sprintf(", %d work units", sol.Work)
	}
	p.line("%s, %s, %s: engine %s, %s ms%s; stopped (%s): %s",
		figures.Count(len(problem.Jobs), "job"), figures.Count(len(problem.Partitions), "partition"),
		figures.Count(problem.Slots, "slot"), sol.Engine, figures.Number(sol.WallMS), work, sol.Stop, stopped(sol.Stop))
	bound := "no bound, the gap is unknown"
	if sol.Bound != nil && sol.Gap != nil {
		bound = fmt.Sprintf("at most %s is possible (gap %.3f %%)", amount(sol.Bound), 100**sol.Gap)
	}
	now := 0
	for i := range problem.Jobs {
		j := &problem.Jobs[i]
		if c, ok := sol.Choice[j.ID]; ok && j.Options[c.Option].Start == 0 {
			now++
		}
	}
	p.line("value %s; %s", amount(&sol.Objective), bound)
	for _, r := range sol.Rungs {
		if r.Err != nil {
			p.line("rung %s: %s", r.Engine, oneLine(r.Err))
			continue
		}
		p.line("rung %s: stopped (%s) with a plan of value %s in hand", r.Engine, r.Stop, amount(&r.Objective))
	}
	p.line("%s planned, %d of them to start now; %s preempted", figures.Count(len(sol.Choice), "job"), now,
		figures.Count(len(sol.Preempt), "running job"))
	return p.to(w)
}

// stopped says what a reason to stop means.
func stopped(why solver.Stop) string {
	switch why {
	case solver.StopOptimal:
		return "the plan is proven to be the best"
	case solver.StopGap:
		return "the plan is proven to be within --gap"
	case solver.StopTime:
		return "its time was used up"
	case solver.StopWork:
		return "its work was used up, or its method had come to its end"
	case solver.StopCanceled:
		return "it was interrupted"
	}
	return "it failed; this is the best plan that it had by then"
}

// engineInfo is an element of hedge solve --engines --json.
type engineInfo struct {
	Name          string `json:"name"`
	Summary       string `json:"summary"`
	Exact         bool   `json:"exact"`
	Bound         bool   `json:"bound"`
	Deterministic bool   `json:"deterministic"`
	Anytime       bool   `json:"anytime"`
	Missing       string `json:"missing,omitempty"`
}

func listEngines(s *Host, asJSON bool) error {
	var infos []engineInfo
	var rows []table.Row
	var absent []engines.Info
	yes := map[bool]string{true: "yes", false: "no"}
	for _, e := range s.Engines.List() {
		infos = append(infos, engineInfo{e.Name, e.Summary, e.Exact, e.Bound, e.Deterministic, e.Anytime, e.Missing})
		if e.Missing != "" {
			absent = append(absent, e)
			continue
		}
		rows = append(rows, table.Row{e.Name, yes[e.Exact], yes[e.Bound], yes[e.Deterministic], yes[e.Anytime], e.Summary})
	}
	if asJSON {
		return writeJSON(s.Out, map[string]any{"schema": schema, "command": "solve --engines", "engines": infos})
	}
	var p page
	p.table(table.Row{"engine", "exact", "bound", "deterministic", "anytime", "what it is"}, rows...)
	p.line("")
	p.line("exact: proves small problems optimal; bound: gives proven upper bounds; deterministic: --work alone fixes " +
		"the plan; anytime: a plan within milliseconds, whatever the size")
	p.line("Several names are a ladder, milp+highs?share=0.5,native: the first that gives a plan answers, and share " +
		"bounds its part of the time.")
	p.line("The milp engines take splits=integer, now or continuous, for the model; the plan has whole tasks where " +
		"--splits says so.")
	for _, e := range absent {
		p.line("%s is not part of this program: %s", e.Name, e.Missing)
	}
	return failed(p.to(s.Out))
}
