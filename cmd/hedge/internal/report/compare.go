package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hedgesched/hedge/adapters/sim"

	"github.com/hedgesched/hedge/cmd/hedge/internal/chart"
	"github.com/hedgesched/hedge/cmd/hedge/internal/experiment"
	"github.com/hedgesched/hedge/cmd/hedge/internal/stats"
)

func comparePage(d *experiment.Document) (*page, error) {
	w := &d.Workload
	names := make([]string, len(d.Summary))
	for i, s := range d.Summary {
		names[i] = s.Policy
	}
	p := &page{
		Title: "Scheduling " + w.Trace + " under " + strings.Join(names, ", "),
		Lead:  lead(d),
		Facts: []string{
			fmt.Sprintf("%d jobs, %d of them with deadlines, submitted over %s at load %.2f", w.Jobs, w.SLOJobs, span(w.SpanS), w.Load),
			fmt.Sprintf("%d nodes in %d racks; %d earlier jobs as history", w.Nodes, w.Racks, w.Trained),
			fmt.Sprintf("a cycle every %s; plan-ahead window %s in slots of %s; engine %s", span(d.Planning.CycleS), span(d.Planning.WindowS), span(d.Planning.SlotS), d.Planning.Engine),
			seedsFact(len(w.Seeds)),
		},
	}
	for _, add := range []func(*page, *experiment.Document) error{bars, latencies, utilisation, pictures} {
		if err := add(p, d); err != nil {
			return nil, err
		}
	}
	p.Sections = append(p.Sections, numbers(d))
	return p, nil
}

func seedsFact(n int) string {
	if n == 1 {
		return "one seed, so no intervals"
	}
	return fmt.Sprintf("means over %d seeds; whiskers and ± are 95 %% confidence intervals (Student's t)", n)
}

// lead says in a sentence who misses how much.
func lead(d *experiment.Document) string {
	if len(d.Summary) == 1 {
		return fmt.Sprintf("%s misses %.1f %% of deadlines.", d.Summary[0].Policy, 100*d.Summary[0].MissRate.Mean)
	}
	parts := make([]string, 0, len(d.Summary))
	for _, s := range d.Summary {
		parts = append(parts, fmt.Sprintf("%s %.1f %%", s.Policy, 100*s.MissRate.Mean))
	}
	return "Deadlines missed: " + strings.Join(parts, ", ") + "."
}

// bars adds the figures that are one number a policy.
func bars(p *page, d *experiment.Document) error {
	for _, c := range []struct {
		title, text, unit string
		scale             float64
		of                func(*experiment.Summary) stats.Interval
	}{
		{"SLO miss rate", "Jobs with a deadline that did not complete by it, those never started included. Lower is better.", "% of SLO jobs", 100,
			func(s *experiment.Summary) stats.Interval { return s.MissRate }},
		{"SLO goodput", "Machine-hours of completed jobs with deadlines. Higher is better.", "machine-hours", 1,
			func(s *experiment.Summary) stats.Interval { return s.SLOGoodput }},
		{"Best-effort goodput", "Machine-hours of completed best-effort jobs. Higher is better.", "machine-hours", 1,
			func(s *experiment.Summary) stats.Interval { return s.BEGoodput }},
		{"Best-effort latency", "Mean time from submission to completion of best-effort jobs. Lower is better.", "minutes", 1.0 / 60,
			func(s *experiment.Summary) stats.Interval { return s.BELatency }},
	} {
		var rows []chart.Bar
		for i := range d.Summary {
			iv := c.of(&d.Summary[i])
			rows = append(rows, chart.Bar{Label: d.Summary[i].Policy, Value: c.scale * iv.Mean,
				Low: max(0, c.scale*iv.CI95[0]), High: c.scale * iv.CI95[1], Color: i})
		}
		svg, err := chart.Bars(c.title, c.unit, rows)
		if err != nil {
			return err
		}
		p.Sections = append(p.Sections, section{Title: c.title, Text: c.text, Chart: svg})
	}
	return nil
}

// cdfPoints is how many points a CDF is drawn with.
const cdfPoints = 200

// latencies adds CDFs over all seeds' jobs.
func latencies(p *page, d *experiment.Document) error {
	for _, c := range []struct {
		title, text string
		keep        func(*sim.JobRecord) bool
	}{
		{"Best-effort latency, every job", "Share of completed best-effort jobs done within so many minutes of submission.",
			func(r *sim.JobRecord) bool { return r.Class == sim.BestEffort && r.Finish >= 0 }},
		{"Completion time, every job", "Share of completed jobs, with deadlines or not, done within so many minutes of submission.",
			func(r *sim.JobRecord) bool { return r.Finish >= 0 }},
	} {
		var lines []chart.Series
		for i, s := range d.Summary {
			var minutes []float64
			for r := range d.Runs {
				if d.Runs[r].Policy != s.Policy {
					continue
				}
				for j := range d.Runs[r].Jobs {
					if rec := &d.Runs[r].Jobs[j]; c.keep(rec) {
						minutes = append(minutes, (rec.Finish - rec.Submit).Minutes())
					}
				}
			}
			lines = append(lines, cdf(s.Policy, i, minutes))
		}
		svg, err := chart.Lines(c.title, chart.Axis{Label: "minutes", Log: true}, chart.Axis{Label: "share of jobs", Max: 1}, lines)
		if err != nil {
			return err
		}
		p.Sections = append(p.Sections, section{Title: c.title, Text: c.text, Legend: legendOf(lines), Chart: svg})
	}
	return nil
}

func cdf(name string, i int, values []float64) chart.Series {
	s := chart.Series{Name: name, Color: i % chart.SeriesColors, Dashed: i%2 == 1}
	s.X = stats.Thin(stats.Sorted(values), cdfPoints)
	for k := range s.X {
		s.Y = append(s.Y, float64(k+1)/float64(len(s.X)))
	}
	return s
}

func legendOf(lines []chart.Series) []legend {
	out := make([]legend, len(lines))
	for i, l := range lines {
		out[i] = legend{Name: l.Name, Color: l.Color, Dashed: l.Dashed}
	}
	return out
}

// utilisation adds the share of the cluster in use over time, first seed.
func utilisation(p *page, d *experiment.Document) error {
	var lines, pending []chart.Series
	for i, s := range d.Summary {
		at := slices.IndexFunc(d.Runs, func(r experiment.Run) bool { return r.Policy == s.Policy })
		use := chart.Series{Name: s.Policy, Color: i % chart.SeriesColors, Dashed: i%2 == 1}
		wait := use
		series := &d.Runs[at].Series
		// Thirds of an hour are too coarse and single steps too ragged: about 120 means over the run.
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
		lines, pending = append(lines, use), append(pending, wait)
	}
	for _, c := range []struct {
		title, text, unit string
		top               float64
		lines             []chart.Series
	}{
		{"Utilisation over time", "Share of the nodes in use, first seed.", "% of nodes", 100, lines},
		{"Jobs waiting", "Pending jobs, first seed.", "jobs", 0, pending},
	} {
		svg, err := chart.Lines(c.title, chart.Axis{Label: "hours"}, chart.Axis{Label: c.unit, Max: c.top}, c.lines)
		if err != nil {
			return err
		}
		p.Sections = append(p.Sections, section{Title: c.title, Text: c.text, Legend: legendOf(c.lines), Chart: svg})
	}
	return nil
}

// pictures adds the space-time plan of the policies that plan ahead; of others there is nothing to see.
func pictures(p *page, d *experiment.Document) error {
	for i := range d.Runs {
		pic := d.Runs[i].Picture
		if pic == nil || !slices.ContainsFunc(pic.Starts, func(s experiment.PlannedStart) bool { return s.Slot > 0 }) {
			continue
		}
		svg, err := chart.Plan("Plan of "+d.Runs[i].Policy, planData(pic))
		if err != nil {
			return err
		}
		p.Sections = append(p.Sections, section{
			Title: "A plan of " + d.Runs[i].Policy,
			Text: fmt.Sprintf("The cycle %s into the run that planned most, with %d jobs running and %d pending. Shade is the share of a rack that "+
				"running jobs, and those that start now, are expected to hold; filled circles start now, hollow ones are planned (the rack of a "+
				"later start is open until then; shown is the one with most room). Hover for names.", span(pic.AtS), pic.Running, pic.Pending),
			Chart: svg,
		})
	}
	return nil
}

func planData(pic *experiment.Picture) chart.PlanData {
	d := chart.PlanData{Rows: pic.Racks, Shade: pic.Expected, XLabel: "minutes from the cycle"}
	for t := range pic.Expected[0] {
		d.Columns = append(d.Columns, fmt.Sprintf("%.4g", float64(t)*pic.SlotS/60))
	}
	for _, s := range pic.Starts {
		kind := "best effort"
		if s.SLO {
			kind = "SLO"
		}
		d.Marks = append(d.Marks, chart.Mark{Row: s.Rack, Column: s.Slot, Now: s.Now, Text: fmt.Sprintf("%s: %d tasks, %s", s.Job, s.Tasks, kind)})
	}
	return d
}

// numbers is the table under the charts.
func numbers(d *experiment.Document) section {
	seeds := len(d.Workload.Seeds)
	g := &grid{Head: []string{"policy", "SLO miss %", "SLO goodput", "BE goodput", "BE latency, min", "preempted", "lost, machine-h", "busy %", "cycle p99, ms", "gap %"}}
	for _, s := range d.Summary {
		g.Rows = append(g.Rows, []string{s.Policy, interval(s.MissRate, 100, seeds), interval(s.SLOGoodput, 1, seeds), interval(s.BEGoodput, 1, seeds),
			interval(s.BELatency, 1.0/60, seeds), interval(s.Preemptions, 1, seeds), interval(s.LostHours, 1, seeds),
			interval(s.Utilisation, 100, seeds), interval(s.CycleP99, 1, seeds), interval(s.GapMean, 100, seeds)})
	}
	return section{Title: "All numbers", Text: "Goodput in machine-hours. The gap is the mean distance of plans from the solver's proven bound.", Table: g}
}

func interval(iv stats.Interval, scale float64, seeds int) string {
	if seeds < 2 {
		return number(scale * iv.Mean)
	}
	return number(scale*iv.Mean) + " ± " + number(scale*(iv.CI95[1]-iv.Mean))
}

func number(x float64) string {
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
	return fmt.Sprintf("%.1g", x)
}

func span(s float64) string {
	switch {
	case s < 120:
		return number(s) + " s"
	case s < 2*3600:
		return number(s/60) + " min"
	case s < 48*3600:
		return number(s/3600) + " h"
	}
	return number(s/86400) + " days"
}
