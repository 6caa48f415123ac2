package report

import (
	"fmt"

	"github.com/hedgesched/hedge/cmd/hedge/internal/chart"
	"github.com/hedgesched/hedge/cmd/hedge/internal/describe"
	"github.com/hedgesched/hedge/cmd/hedge/internal/figures"
)

func tracePage(d *describe.Document) (*page, error) {
	p := &page{Title: "What is in " + logName(d.Trace) + "?",
		Lead: fmt.Sprintf("%s over %s; %s machine-hours.", figures.JobsOf(d.Jobs, d.Users), figures.Span(d.SpanS),
			figures.Number(d.MachineHours)),
		Tiles: []tile{
			{figures.Span(d.DurationS.P50), "median duration", 0},
			{figures.Span(d.DurationS.P99), "99th percentile of durations", 1},
			{figures.Number(d.TasksPerJob.Mean), "tasks a job in the mean", 2},
			{figures.Number(d.Hourly.Jobs.Mean), "jobs an hour", 3},
		},
		Facts: []string{
			fmt.Sprintf("%s tasks at once in the mean, %s at the peak; the widest job has %d",
				figures.Number(d.Demand.MeanTasks), figures.Number(d.Demand.PeakTasks), d.Demand.MaxJobTasks),
			fmt.Sprintf("%s of jobs arrive within a second of the last", figures.Percent(d.InterArrival.SubSecond)),
		}}
	if left := figures.Counts(d.Skipped); left != "" {
		p.Facts = append(p.Facts, "records that are no jobs: "+left)
	}
	if bad := d.BadLine(); bad != "" {
		p.Facts = append(p.Facts, bad)
	}
	for _, add := range []func(*page, *describe.Document) error{shapes, rhythm, months} {
		if err := add(p, d); err != nil {
			return nil, err
		}
	}
	p.Sections = append(p.Sections, outcomeTable(d), featureTable(d))
	return p, nil
}

// shapes adds the CDFs of what jobs are like.
func shapes(p *page, d *describe.Document) error {
	for _, c := range []struct {
		title, label string
		quantiles    []float64
		median       string
	}{
		{"Job sizes", d.Size.Unit, d.Curves.SizeCDF, figures.Number(d.Size.Spread.P50) + " " + d.Size.Unit},
		{"Durations", "seconds", d.Curves.DurationCDF, figures.Span(d.DurationS.P50)},
		{"Inter-arrival times", "seconds since the job before", d.Curves.InterArrivalCDF,
			figures.Span(d.InterArrival.Seconds.P50)},
	} {
		var one chart.Series
		one.X = c.quantiles
		for i := range c.quantiles {
			one.Y = append(one.Y, float64(i)/100)
		}
		text := fmt.Sprintf("Share of jobs at or below. Half are at or below %s; a long flat top is a heavy tail.", c.median)
		svg, err := chart.Lines(c.title+". "+text, chart.Axis{Label: c.label, Log: true},
			chart.Axis{Label: "share of jobs", Max: 1}, []chart.Series{one})
		if err != nil {
			return err
		}
		p.Sections = append(p.Sections, section{Title: c.title, Text: text, Chart: svg})
	}
	return nil
}

// rhythm adds submissions over the day.
func rhythm(p *page, d *describe.Document) error {
	var one chart.Series
	for hour, share := range d.Hourly.ShareByHour {
		one.X, one.Y = append(one.X, float64(hour)), append(one.Y, 100*share)
	}
	text := "Submissions by hour of the day; hills are people's working hours, a flat line is a load of programs."
	switch {
	case d.SpanS < 24*3600:
		text += " The log covers only a part of a day."
	case d.SpanS >= 2*24*3600:
		text += fmt.Sprintf(" The correlation of an hour with the same hour a day later is %.2f.", d.Hourly.DayCorrelation)
	}
	svg, err := chart.Lines("Rhythm. "+text, chart.Axis{Label: "hour of the log's day"}, chart.Axis{Label: "% of jobs"},
		[]chart.Series{one})
	p.Sections = append(p.Sections, section{Title: "Rhythm of the day", Text: text, Chart: svg})
	return err
}

// months adds how much months differ, for logs of several.
func months(p *page, d *describe.Document) error {
	if d.Months == nil {
		return nil
	}
	var lines []chart.Series
	for i, s := range []struct {
		name   string
		series describe.MonthSeries
	}{{"jobs", d.Months.Jobs}, {"mean runtime", d.Months.Runtime}, {"mean tasks", d.Months.Tasks},
		{"machine-hours", d.Months.Work}} {
		one := line(s.name, i)
		one.Y = s.series.Normalised
		for m := range s.series.Normalised {
			one.X = append(one.X, float64(m+1))
		}
		lines = append(lines, one)
	}
	const text = "Each month over the mean of all: lines near 1 say that one month stands for the whole, others that it " +
		"does not."
	svg, err := chart.Lines("Months. "+text, chart.Axis{Label: "month of 29 days"}, chart.Axis{Label: "times the mean"},
		lines)
	p.Sections = append(p.Sections, section{Title: "Does one month stand for the whole?", Text: text,
		Legend: legendOf(lines), Chart: svg})
	return err
}

func outcomeTable(d *describe.Document) section {
	g := &grid{Head: []string{"outcome", "jobs", "% of jobs", "% of machine time", "mean tasks"}}
	for _, o := range d.Outcomes {
		g.Rows = append(g.Rows, []string{o.Outcome, fmt.Sprint(o.Jobs), figures.Number(100 * o.ShareJobs),
			figures.Number(100 * o.ShareTime), figures.Number(o.TasksPerJob.Mean)})
	}
	return section{Title: "How jobs end", Text: "Jobs that fail or are killed often hold far more of the machine than " +
		"their number suggests.", Table: g, Full: true}
}

func featureTable(d *describe.Document) section {
	g := &grid{Head: []string{"feature", "groups", "% of jobs", "median CoV", "p90 CoV"}}
	for _, f := range d.Features {
		g.Rows = append(g.Rows, []string{f.Feature, fmt.Sprint(f.Groups), figures.Number(100 * f.Share),
			figures.Number(f.CoV.P50), figures.Number(f.CoV.P90)})
	}
	return section{Title: "How alike are runtimes", Text: "Within a feature's value, over groups of at least 5 jobs: a " +
		"small coefficient of variation (CoV, standard deviation over mean) means that history predicts well.", Table: g,
		Full: true}
}
