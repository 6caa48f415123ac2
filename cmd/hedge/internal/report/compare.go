package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hedgesched/hedge/adapters/sim"

	"github.com/hedgesched/hedge/cmd/hedge/internal/chart"
	"github.com/hedgesched/hedge/cmd/hedge/internal/experiment"
	"github.com/hedgesched/hedge/cmd/hedge/internal/figures"
	"github.com/hedgesched/hedge/cmd/hedge/internal/stats"
)

func comparePage(d *experiment.Document) (*page, error) {
	w := &d.Workload
	p := &page{
		Title: "Who meets deadlines on " + logName(w.Trace) + "?",
		Lead:  lead(d),
		Tiles: tiles(d),
		Facts: []string{
			fmt.Sprintf("%d jobs, %d of them with deadlines, submitted over %s at load %.2f "+
				"(offered machine time over capacity)", w.Jobs, w.SLOJobs, figures.Span(w.SpanS), w.Load),
			fmt.Sprintf("%d nodes in %d racks; %d earlier jobs as history", w.Nodes, w.Racks, w.Trained),
			fmt.Sprintf("a cycle every %s, planning %s ahead in slots of %s; engine %s", figures.Span(d.Planning.CycleS),
				figures.Span(d.Planning.WindowS), figures.Span(d.Planning.SlotS), d.Planning.Engine),
			seedsFact(len(w.Seeds)),
		},
	}
	if w.Stages > 0 {
		p.Facts = append(p.Facts, fmt.Sprintf("the jobs have %d stages", w.Stages))
	}
	if left := figures.Counts(w.Skipped); left != "" {
		p.Facts = append(p.Facts, "not in the workload: "+left)
	}
	if bad := w.BadLine(); bad != "" {
		p.Facts = append(p.Facts, bad)
	}
	if ignored := figures.Ignored(w.IgnoredDemands); ignored != "" {
		p.Facts = append(p.Facts, ignored)
	}
	if unmatched := figures.Unmatched(w.UnmatchedSpeeds); unmatched != "" {
		p.Facts = append(p.Facts, unmatched)
	}
	for _, add := range []func(*page, *experiment.Document) error{bars, latencies, overTime, starts, pictures,
		gantts} {
		if err := add(p, d); err != nil {
			return nil, err
		}
	}
	p.Sections = append(p.Sections, numbers(d))
	return p, nil
}

func seedsFact(n int) string {
	if n == 1 {
		return "one seed, so no intervals: try --seeds 1,2,3,4,5"
	}
	return fmt.Sprintf("means over %d seeds; whiskers and ± are 95 %% confidence intervals (Student's t), cut where "+
		"they would dwarf the bars", n)
}

// lead says in a sentence who misses how much.
func lead(d *experiment.Document) string {
	if text := experiment.Verdict(d.Summary); text != "" {
		return text
	}
	parts := make([]string, 0, len(d.Summary))
	for _, s := range d.Summary {
		parts = append(parts, s.Policy+" "+figures.Percent(s.MissRate.Mean))
	}
	return "Deadlines missed: " + strings.Join(parts, ", ") + "."
}

// tiles are the miss rates of the policies most often asked about.
func tiles(d *experiment.Document) []tile {
	var out []tile
	for _, name := range []string{"3sigma", "point-real", "prio", "point-perfect"} {
		if i := slices.IndexFunc(d.Summary, func(s experiment.Summary) bool { return s.Policy == name }); i >= 0 {
			out = append(out, missTile(d, i))
		}
	}
	if len(out) > 0 {
		return out
	}
	for i := range d.Summary[:min(4, len(d.Summary))] {
		out = append(out, missTile(d, i))
	}
	return out
}

func missTile(d *experiment.Document, i int) tile {
	return tile{figures.Percent(d.Summary[i].MissRate.Mean), "of deadlines missed by " + d.Summary[i].Policy,
		i % chart.SeriesColors}
}

// bars adds the figures that are one number a policy.
func bars(p *page, d *experiment.Document) error {
	for _, c := range []struct {
		title, text, unit string
		scale             float64
		better            string
		of                func(*experiment.Summary) stats.Interval
	}{
		{"SLO miss rate", "Jobs with a deadline that did not complete by it, those never started included: lower is better.",
			"% of SLO jobs", 100, "lowest",
			func(s *experiment.Summary) stats.Interval { return s.MissRate }},
		{"Best-effort latency", "Mean time from submission to completion of best-effort jobs: lower is better.", "minutes",
			1.0 / 60, "lowest",
			func(s *experiment.Summary) stats.Interval { return s.BELatency }},
		{"SLO goodput", "Work of jobs with deadlines that completed while jobs still arrived: higher is better.",
			"machine-hours", 1, "highest",
			func(s *experiment.Summary) stats.Interval { return s.SLOWorkInSpan }},
		{"Best-effort goodput", "Work of best-effort jobs that completed while jobs still arrived: higher is better.",
			"machine-hours", 1, "highest",
			func(s *experiment.Summary) stats.Interval { return s.BEWorkInSpan }},
	} {
		rows := make([]chart.Bar, len(d.Summary))
		for i := range d.Summary {
			iv := c.of(&d.Summary[i])
			rows[i] = chart.Bar{Label: d.Summary[i].Policy, Value: c.scale * iv.Mean, Text: figures.Interval(iv, c.scale),
				Color: i}
			if iv.CI95 != nil {
				rows[i].Low, rows[i].High = max(0, c.scale*iv.CI95[0]), c.scale*iv.CI95[1]
			}
		}
		text := c.text + best(rows, c.better)
		svg, err := chart.Bars(c.title+". "+text, c.unit, rows)
		if err != nil {
			return err
		}
		p.Sections = append(p.Sections, section{Title: c.title, Text: text, Chart: svg})
	}
	return nil
}

// best names the best of several bars.
func best(rows []chart.Bar, better string) string {
	if len(rows) < 2 {
		return ""
	}
	at := slices.MinFunc(rows, func(a, b chart.Bar) int { return cmp.Compare(a.Value, b.Value) })
	if better == "highest" {
		at = slices.MaxFunc(rows, func(a, b chart.Bar) int { return cmp.Compare(a.Value, b.Value) })
	}
	return fmt.Sprintf(" It is %s under %s.", better, at.Label)
}

// cdfPoints is how many points a CDF is drawn with.
const cdfPoints = 200

// latencies adds CDFs over all seeds' jobs.
func latencies(p *page, d *experiment.Document) error {
	for _, c := range []struct {
		title, text string
		keep        func(*sim.JobRecord) bool
	}{
		{"Best-effort latency of every job",
			"Share of completed best-effort jobs done within a number of minutes of submission: further left is better.",
			func(r *sim.JobRecord) bool { return r.Class == sim.BestEffort && r.Finish >= 0 }},
		{"Completion time of every job", "Share of completed jobs, with deadlines or not, done within a number of " +
			"minutes of submission: further left is better.",
			func(r *sim.JobRecord) bool { return r.Finish >= 0 }},
	} {
		lines := make([]chart.Series, len(d.Summary))
		for i, s := range d.Summary {
			lines[i] = cdf(s.Policy, i, minutes(d, s.Policy, c.keep))
		}
		text := c.text + medians(lines)
		svg, err := chart.Lines(c.title+". "+text, chart.Axis{Label: "minutes since submission", Log: true},
			chart.Axis{Label: "share of jobs", Max: 1}, lines)
		if err != nil {
			return err
		}
		p.Sections = append(p.Sections, section{Title: c.title, Text: text, Legend: legendOf(lines), Chart: svg})
	}
	return nil
}

// minutes are the response times of a policy's jobs that are to be kept.
func minutes(d *experiment.Document, policy string, keep func(*sim.JobRecord) bool) []float64 {
	var out []float64
	for r := range d.Runs {
		if d.Runs[r].Policy != policy {
			continue
		}
		jobs := wholes(d.Runs[r].Jobs)
		for j := range jobs {
			if rec := &jobs[j]; keep(rec) {
				out = append(out, (rec.Finish - rec.Submit).Minutes())
			}
		}
	}
	return out
}

// wholes are jobs, with one record for all stages of a job: when it was submitted, and when the last stage ended.
func wholes(records []sim.JobRecord) []sim.JobRecord {
	if !slices.ContainsFunc(records, func(r sim.JobRecord) bool { return r.Of != "" }) {
		return records
	}
	var out []sim.JobRecord
	at := map[string]int{}
	for i := range records {
		r := &records[i]
		id := cmp.Or(r.Of, r.ID)
		k, known := at[id]
		switch {
		case !known:
			at[id] = len(out)
			out = append(out, *r)
		case r.Finish < 0 || out[k].Finish < 0:
			out[k].Finish = -1
		default:
			out[k].Finish = max(out[k].Finish, r.Finish)
		}
	}
	return out
}

// medians says between what the medians of CDFs lie.
func medians(lines []chart.Series) string {
	lines = slices.DeleteFunc(slices.Clone(lines), func(s chart.Series) bool { return len(s.X) == 0 })
	if len(lines) == 0 {
		return ""
	}
	median := func(s chart.Series) float64 { return s.X[(len(s.X)-1)/2] }
	by := func(a, b chart.Series) int { return cmp.Compare(median(a), median(b)) }
	first, last := slices.MinFunc(lines, by), slices.MaxFunc(lines, by)
	if first.Name == last.Name {
		return fmt.Sprintf(" Half are done within %s.", figures.Span(60*median(first)))
	}
	return fmt.Sprintf(" Half are done within %s under %s, %s under %s.", figures.Span(60*median(first)), first.Name,
		figures.Span(60*median(last)), last.Name)
}

// line is the i-th policy's series without points.
func line(name string, i int) chart.Series {
	return chart.Series{Name: name, Color: i % chart.SeriesColors, Dash: i % chart.Dashes, Bold: name == "3sigma"}
}

func cdf(name string, i int, values []float64) chart.Series {
	s := line(name, i)
	s.X = stats.Thin(stats.Sorted(values), cdfPoints)
	for k := range s.X {
		s.Y = append(s.Y, float64(k+1)/float64(len(s.X)))
	}
	return s
}

func legendOf(lines []chart.Series) []legend {
	if len(lines) < 2 {
		return nil
	}
	out := make([]legend, len(lines))
	for i, l := range lines {
		out[i] = legend{Name: l.Name, Color: l.Color, Dash: l.Dash}
	}
	return out
}

// overTime adds the share of the cluster in use and the queue, first seed.
func overTime(p *page, d *experiment.Document) error {
	use, wait := make([]chart.Series, len(d.Summary)), make([]chart.Series, len(d.Summary))
	peak, longest := 0.0, ""
	for i, s := range d.Summary {
		at := slices.IndexFunc(d.Runs, func(r experiment.Run) bool { return r.Policy == s.Policy })
		use[i], wait[i] = timeline(s.Policy, i, &d.Runs[at].Series)
		if len(wait[i].Y) > 0 && slices.Max(wait[i].Y) > peak {
			peak, longest = slices.Max(wait[i].Y), s.Policy
		}
	}
	without := ""
	isEmpty := func(s chart.Series) bool { return len(s.X) == 0 }
	if i := slices.IndexFunc(use, isEmpty); i >= 0 {
		without = " Of policies that place tasks one by one, as " + use[i].Name + " does, this is not kept."
		use, wait = slices.DeleteFunc(use, isEmpty), slices.DeleteFunc(wait, isEmpty)
	}
	if len(use) == 0 {
		return nil
	}
	queue := ""
	if longest != "" {
		queue = fmt.Sprintf(" The longest queue is that of %s, about %.0f jobs.", longest, peak)
	}
	if len(d.Workload.Seeds) > 1 {
		queue += " First seed."
	}
	for _, c := range []struct {
		title, text, unit string
		top               float64
		lines             []chart.Series
	}{
		{"Utilisation over time", "Share of the nodes in use. Arrivals end at the dotted line: gaps before it are room " +
			"left unused, what follows is the backlog." + without, "% of nodes", 100, use},
		{"Jobs waiting over time", "Pending jobs; arrivals end at the dotted line." + queue + without, "jobs", 0, wait},
	} {
		svg, err := chart.Lines(c.title+". "+c.text, chart.Axis{Label: "hours", Mark: d.Workload.SpanS / 3600},
			chart.Axis{Label: c.unit, Max: c.top}, c.lines)
		if err != nil {
			return err
		}
		p.Sections = append(p.Sections, section{Title: c.title, Text: c.text, Legend: legendOf(c.lines), Chart: svg})
	}
	return nil
}

// timeline is a run's utilisation in per cent and its queue, over hours. Single steps are too ragged to
// look at: it has about 120 means.
func timeline(name string, i int, series *sim.Series) (use, wait chart.Series) {
	use = line(name, i)
	wait = use
	group := max(1, len(series.Points)/120)
	for k := 0; k < len(series.Points); k += group {
		end := min(k+group, len(series.Points))
		var busy, queue float64
		for _, pt := range series.Points[k:end] {
			busy += pt.SLO + pt.BestEffort
			queue += pt.Pending
		}
		hour := (time.Duration(k) * series.Step).Hours()
		use.X, use.Y = append(use.X, hour), append(use.Y, 100*busy/float64(end-k))
		wait.X, wait.Y = append(wait.X, hour), append(wait.Y, queue/float64(end-k))
	}
	return use, wait
}

// pictures adds the space-time plan of the policies that plan ahead; of others there is nothing to see unless
// their cycle was asked for.
func pictures(p *page, d *experiment.Document) error {
	explained := false
	for i := range d.Runs {
		pic := d.Runs[i].Picture
		if pic == nil || !pic.Asked &&
			!slices.ContainsFunc(pic.Starts, func(s experiment.PlannedStart) bool { return s.Slot > 0 }) {
			continue
		}
		name := d.Runs[i].Policy
		text := fmt.Sprintf("What %s plans %s into the run, with %d jobs running and %d pending.", name,
			figures.Span(pic.AtS), pic.Running, pic.Pending)
		if !explained {
			text += " The left column starts now; further right is what waits for room that it expects. Shade is the share of " +
				"a rack that running jobs are expected " +
				"to hold, fading as they may have ended. Later starts have no rack yet and stand where most room is expected. " +
				"Hover for names."
			explained = true
		}
		svg, err := chart.Plan("Plan of "+name+". "+text, planData(pic))
		if err != nil {
			return err
		}
		p.Sections = append(p.Sections, section{Title: "A plan of " + name + " in space and time", Text: text, Plan: true,
			Chart: svg})
	}
	return nil
}

func planData(pic *experiment.Picture) chart.PlanData {
	d := chart.PlanData{Rows: pic.Racks, Shade: pic.Expected, XLabel: "start, minutes from the cycle"}
	for t := range pic.Expected[0] {
		d.Columns = append(d.Columns, fmt.Sprintf("%.4g", float64(t)*pic.SlotS/60))
	}
	for _, s := range pic.Starts {
		kind := "best effort"
		if s.SLO {
			kind = "deadline"
		}
		d.Marks = append(d.Marks, chart.Mark{Row: s.Rack, Column: s.Slot, Now: s.Now, SLO: s.SLO,
			Text: fmt.Sprintf("%s: %d tasks, %s", s.Job, s.Tasks, kind)})
	}
	return d
}

// numbers is the table under the charts.
func numbers(d *experiment.Document) section {
	columns := experiment.Columns()
	g := &grid{Head: []string{"policy"}}
	for _, c := range columns {
		g.Head = append(g.Head, c.Head)
	}
	for i := range d.Summary {
		row := []string{d.Summary[i].Policy}
		for _, c := range columns {
			row = append(row, figures.Interval(c.Of(&d.Summary[i]), c.Scale))
		}
		g.Rows = append(g.Rows, row)
	}
	return section{Title: "All numbers", Table: g, Notes: experiment.ColumnNotes(), Full: true}
}
