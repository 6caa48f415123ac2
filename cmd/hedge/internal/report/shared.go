package report

import (
	"fmt"
	"slices"

	"github.com/hedgesched/hedge/cmd/hedge/internal/chart"
	"github.com/hedgesched/hedge/cmd/hedge/internal/experiment"
	"github.com/hedgesched/hedge/cmd/hedge/internal/figures"
	"github.com/hedgesched/hedge/cmd/hedge/internal/stats"
)

func sharedPage(d *experiment.SharedDocument) (*page, error) {
	w := &d.Workload
	p := &page{
		Title: "How full can machines be on " + logName(w.Trace) + "?",
		Lead:  sharedLead(d),
		Facts: []string{
			fmt.Sprintf("machines: %s, each with %.4g CPU and %.4g memory; jobs arrive for %.4g h at load %.3g "+
				"(their CPU time over capacity)", numbersOf(w.Nodes), w.Machine.CPU, w.Machine.Memory, w.Hours, w.Load),
			fmt.Sprintf("use drawn from %d rows of %d groups of recurring jobs", w.Rows, w.Groups),
			seedsFact(len(w.Segments)),
		},
	}
	if bad := w.BadLine(); bad != "" {
		p.Facts = append(p.Facts, bad)
	}
	for _, add := range []func(*page, *experiment.SharedDocument) error{frontier, sharedBars, bySize, cycleTimes,
		sharedTime, reliability, heats} {
		if err := add(p, d); err != nil {
			return nil, err
		}
	}
	p.Sections = append(p.Sections, sharedNumbers(d))
	return p, nil
}

// numbersOf lists numbers.
func numbersOf(list []int) string {
	out := ""
	for i, n := range list {
		if i > 0 {
			out += ", "
		}
		out += fmt.Sprint(n)
	}
	return out
}

func sharedLead(d *experiment.SharedDocument) string {
	out := "Deadlines missed:"
	for i := range d.Summary {
		s := &d.Summary[i]
		if s.Nodes != d.Workload.Nodes[0] || i >= 6 {
			continue
		}
		if i > 0 {
			out += ","
		}
		out += " " + s.Label() + " " + figures.Percent(s.SLOMissRate.Mean)
	}
	return out + "."
}

// frontier adds the lines of policies that ran with several settings: admitted work against violations.
func frontier(p *page, d *experiment.SharedDocument) error {
	for _, c := range []struct {
		title, unit string
		of          func(*experiment.SharedSummary) float64
	}{
		{"Admitted work against overload", "core-hours admitted",
			func(s *experiment.SharedSummary) float64 { return s.Admitted.Mean }},
		{"Completed work against overload", "core-hours completed in time",
			func(s *experiment.SharedSummary) float64 { return s.Completed.Mean }},
	} {
		var lines []chart.Series
		for i := range d.Summary {
			s := &d.Summary[i]
			if s.Setting == nil || s.Nodes != d.Workload.Nodes[0] {
				continue
			}
			if n := len(lines); n == 0 || lines[n-1].Name != s.Policy {
				lines = append(lines, line(s.Policy, n))
			}
			last := &lines[len(lines)-1]
			last.X, last.Y = append(last.X, 100*s.ViolationShare.Mean), append(last.Y, c.of(s))
		}
		if len(lines) == 0 {
			return nil
		}
		text := "Each line is a policy, from its strictest setting to its most lenient. Further up and to the left is better."
		svg, err := chart.Lines(c.title+". "+text, chart.Axis{Label: "% of machine time in which tasks want more CPU " +
			"than there is"}, chart.Axis{Label: c.unit}, lines)
		if err != nil {
			return err
		}
		p.Sections = append(p.Sections, section{Title: c.title, Text: text, Legend: legendOf(lines), Chart: svg})
	}
	return nil
}

// sharedBars adds the figures that are one number a policy, on the first size.
func sharedBars(p *page, d *experiment.SharedDocument) error {
	for _, c := range []struct {
		title, text, unit, better string
		scale                     float64
		of                        func(*experiment.SharedSummary) stats.Interval
	}{
		{"SLO miss rate", "Jobs with a deadline that did not complete by it: lower is better.", "% of SLO jobs", "lowest",
			100, func(s *experiment.SharedSummary) stats.Interval { return s.SLOMissRate }},
		{"Evictions", "Tasks that were stopped because memory ran short: lower is better.", "tasks", "lowest", 1,
			func(s *experiment.SharedSummary) stats.Interval { return s.Evictions }},
		{"Overload", "Machine time in which tasks want more CPU than there is: lower is better.", "% of machine time",
			"lowest", 100, func(s *experiment.SharedSummary) stats.Interval { return s.ViolationShare }},
		{"Work completed in time", "CPU time of jobs that completed while jobs still arrived: higher is better.",
			"core-hours", "highest", 1, func(s *experiment.SharedSummary) stats.Interval { return s.Completed }},
	} {
		var rows []chart.Bar
		for i := range d.Summary {
			s := &d.Summary[i]
			if s.Nodes != d.Workload.Nodes[0] {
				continue
			}
			iv := c.of(s)
			b := chart.Bar{Label: s.Label(), Value: c.scale * iv.Mean, Text: figures.Interval(iv, c.scale), Color: len(rows)}
			if iv.CI95 != nil {
				b.Low, b.High = max(0, c.scale*iv.CI95[0]), c.scale*iv.CI95[1]
			}
			rows = append(rows, b)
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

// bySize adds misses, and jobs that never started, against the number of machines, if there are several.
func bySize(p *page, d *experiment.SharedDocument) error {
	if len(d.Workload.Nodes) < 2 {
		return nil
	}
	for _, c := range []struct {
		title, unit string
		of          func(*experiment.SharedSummary) float64
	}{
		{"Misses by size", "% of SLO jobs", func(s *experiment.SharedSummary) float64 { return 100 * s.SLOMissRate.Mean }},
		{"Never started by size", "SLO jobs that had not started by their deadline",
			func(s *experiment.SharedSummary) float64 { return s.NeverStarted.Mean }},
	} {
		var lines []chart.Series
		for i := range d.Summary {
			s := &d.Summary[i]
			at := slices.IndexFunc(lines, func(l chart.Series) bool { return l.Name == s.Label() })
			if at < 0 {
				at = len(lines)
				lines = append(lines, line(s.Label(), at))
			}
			l := &lines[at]
			k, _ := slices.BinarySearch(l.X, float64(s.Nodes))
			l.X, l.Y = slices.Insert(l.X, k, float64(s.Nodes)), slices.Insert(l.Y, k, c.of(s))
		}
		svg, err := chart.Lines(c.title, chart.Axis{Label: "machines", Log: true}, chart.Axis{Label: c.unit}, lines)
		if err != nil {
			return err
		}
		p.Sections = append(p.Sections, section{Title: c.title, Text: "The same jobs on clusters of several sizes.",
			Legend: legendOf(lines), Chart: svg})
	}
	return nil
}

// cycleTimes adds a table of what the parts of a cycle take, as in Fig. 5.10 of DistSched.
func cycleTimes(p *page, d *experiment.SharedDocument) error {
	g := &grid{Head: []string{"policy", "machines", "snapshot ms", "sums ms", "options ms", "apply ms", "p50 ms",
		"p99 ms"}}
	for i := range d.Summary {
		s := &d.Summary[i]
		row := []string{s.Label(), fmt.Sprint(s.Nodes)}
		for _, iv := range []stats.Interval{s.Phases.Snapshot, s.Phases.Solve, s.Phases.Options, s.Phases.Apply, s.CycleP50,
			s.CycleP99} {
			row = append(row, figures.Interval(iv, 1))
		}
		g.Rows = append(g.Rows, row)
	}
	p.Sections = append(p.Sections, section{Title: "Where a cycle's time goes", Table: g, Full: true,
		Text: "Mean of all cycles, and percentiles. Sums are the distributions of what the machines' tasks use; options " +
			"are where pending jobs may start, and what that is worth."})
	return nil
}

// sharedTime adds evictions and full machines over time, of the first workload.
func sharedTime(p *page, d *experiment.SharedDocument) error {
	var full, evicted []chart.Series
	for i := range d.Runs {
		h := d.Runs[i].Heat
		if h == nil {
			continue
		}
		f := line(label(&d.Runs[i]), len(full))
		e := f
		for k, share := range h.Full {
			hour := float64(k) * h.StepS / 3600
			f.X, f.Y = append(f.X, hour), append(f.Y, 100*share)
			n := 0
			if k < len(h.Evicted) {
				n = h.Evicted[k]
			}
			e.X, e.Y = append(e.X, hour), append(e.Y, float64(n)*60/h.StepS)
		}
		full, evicted = append(full, f), append(evicted, e)
	}
	if len(full) == 0 {
		return nil
	}
	for _, c := range []struct {
		title, text, unit string
		lines             []chart.Series
	}{
		{"Throttling over time", "Machines whose CPU is used up, so that tasks get less than they want. Arrivals end at " +
			"the dotted line. First workload.", "% of machines", full},
		{"Evictions over time", "Tasks stopped because memory ran short. First workload.", "tasks per minute", evicted},
	} {
		svg, err := chart.Lines(c.title+". "+c.text, chart.Axis{Label: "hours", Mark: d.Workload.Hours},
			chart.Axis{Label: c.unit}, c.lines)
		if err != nil {
			return err
		}
		p.Sections = append(p.Sections, section{Title: c.title, Text: c.text, Legend: legendOf(c.lines), Chart: svg})
	}
	return nil
}

func label(r *experiment.SharedRun) string {
	return (&experiment.SharedSummary{Policy: r.Policy, Setting: r.Setting}).Label()
}

// reliability adds what policies told of evictions beside what came true.
func reliability(p *page, d *experiment.SharedDocument) error {
	g := &grid{Head: []string{"policy", "machines", "told %", "came %", "at start %", "jobs"}}
	for i := range d.Summary {
		s := &d.Summary[i]
		for _, b := range s.Evicted {
			if b.Jobs > 0 {
				g.Rows = append(g.Rows, []string{s.Label(), fmt.Sprint(s.Nodes), fmt.Sprintf("%.3g", 100*b.Told),
					fmt.Sprintf("%.3g", 100*b.Came), fmt.Sprintf("%.3g", 100*b.AtStart), fmt.Sprint(b.Jobs)})
			}
		}
	}
	if len(g.Rows) > 0 {
		p.Sections = append(p.Sections, section{Title: "Probabilities of evictions", Table: g, Full: true,
			Text: "Jobs by the probability, told when they first started, that a task of theirs is evicted while it runs; and " +
				"the share of them that lost a task by eviction. At start is the risk of the moment of the start alone, by " +
				"which the policy decides. Empty tenths are left out."})
	}
	return nil
}

// mostHeats is the number of policies with a map.
const mostHeats = 6

// heats adds a map of machines over time for each policy: what is used, and where that is outside the forecast's band.
func heats(p *page, d *experiment.SharedDocument) error {
	drawn := 0
	for i := range d.Runs {
		h := d.Runs[i].Heat
		if h == nil || len(h.Machines) == 0 || drawn == mostHeats {
			continue
		}
		drawn++
		data, outside, cells := heatData(h)
		name := label(&d.Runs[i])
		text := fmt.Sprintf("CPU use by machine (drawn: %d). An outlined cell is outside the band in which the "+
			"forecasts put 90 %% of the time: %.0f %% of the cells with tasks are. Point at a cell for the band.",
			len(h.Machines), 100*float64(outside)/float64(max(1, cells)))
		svg, err := chart.Plan("Use under "+name+". "+text, data)
		if err != nil {
			return err
		}
		p.Sections = append(p.Sections,
			section{Title: "Machines over time under " + name, Text: text, Full: true, Chart: svg})
	}
	return nil
}

// heatData is a map, with the number of its cells outside the band and of those with tasks.
func heatData(h *experiment.Heat) (data chart.PlanData, outside, cells int) {
	data = chart.PlanData{Rows: h.Machines, Shade: h.Used, XLabel: "hours"}
	for c := range h.Used[0] {
		data.Columns = append(data.Columns, fmt.Sprintf("%.3g", float64(c)*h.StepS/3600))
	}
	for m := range h.Machines {
		tips, outlined := make([]string, len(data.Columns)), make([]bool, len(data.Columns))
		for c := range data.Columns {
			used, low, high := h.Used[m][c], h.Low[m][c], h.High[m][c]
			tips[c] = fmt.Sprintf("%.0f %%, forecast %.0f to %.0f %%", 100*used, 100*low, 100*high)
			if high > 0 {
				cells++
			}
			if outlined[c] = used < min(low, 1)-1e-9 || used > high+1e-9; outlined[c] {
				outside++
			}
		}
		data.Tips, data.Outlined = append(data.Tips, tips), append(data.Outlined, outlined)
	}
	return data, outside, cells
}

// sharedNumbers is the table under the charts.
func sharedNumbers(d *experiment.SharedDocument) section {
	g := &grid{Head: []string{"policy", "machines", "missed %", "never started", "SLO core-h", "BE core-h", "BE latency s",
		"evicted", "preempted", "over %", "load %", "admitted core-h", "completed core-h"}}
	for i := range d.Summary {
		s := &d.Summary[i]
		row := []string{s.Label(), fmt.Sprint(s.Nodes)}
		for _, c := range []struct {
			of    stats.Interval
			scale float64
		}{{s.SLOMissRate, 100}, {s.NeverStarted, 1}, {s.Goodput.SLO, 1}, {s.Goodput.BE, 1}, {s.BELatency, 1},
			{s.Evictions, 1}, {s.Preemptions, 1}, {s.ViolationShare, 100}, {s.EffectiveLoad, 100}, {s.Admitted, 1},
			{s.Completed, 1}} {
			row = append(row, figures.Interval(c.of, c.scale))
		}
		g.Rows = append(g.Rows, row)
	}
	return section{Title: "All numbers", Table: g, Full: true}
}
