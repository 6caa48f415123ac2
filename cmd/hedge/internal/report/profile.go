package report

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hedgesched/hedge/cmd/hedge/internal/chart"
	"github.com/hedgesched/hedge/cmd/hedge/internal/describe"
	"github.com/hedgesched/hedge/cmd/hedge/internal/profile"
)

func predictPage(d *profile.Document) (*page, error) {
	p := &page{Title: "Predicting the runtimes of " + d.Trace,
		Facts: []string{fmt.Sprintf("%d jobs, of which %d are tested and %d of those have no history", d.Jobs, d.Tested, d.NoHistory)}}
	var errors, coverage []chart.Series
	g := &grid{Head: []string{"predictor", "within 2x %", "median error %", "p90 error %", "NMAE", "pinball", "CRPS", "p99 µs"}}
	for i, r := range d.Predictors {
		if i == 0 {
			p.Lead = fmt.Sprintf("%s estimates %.1f %% of the runtimes within a factor of two; the median error is %.1f %%.", r.Name, 100*r.Within2x, 100*r.MedianAPE)
		}
		line := chart.Series{Name: r.Name, Color: i % chart.SeriesColors, Dashed: i%2 == 1}
		cover := line
		for _, b := range r.ErrorHistogram {
			line.X, line.Y = append(line.X, centre(b)), append(line.Y, 100*b.Share)
		}
		for _, level := range []string{"50", "80", "95"} {
			var x float64
			fmt.Sscan(level, &x) //nolint:errcheck // three constants
			cover.X, cover.Y = append(cover.X, x), append(cover.Y, 100*r.Coverage[level])
		}
		errors, coverage = append(errors, line), append(coverage, cover)
		g.Rows = append(g.Rows, []string{r.Name, number(100 * r.Within2x), number(100 * r.MedianAPE), number(100 * r.P90APE), number(r.NMAE),
			number(r.Pinball.MeanOverDeciles), number(r.CRPS), number(r.PredictUS.P99)})
	}
	svg, err := chart.Lines("Estimate errors", chart.Axis{Label: "estimate error, % of the runtime (100: above 95)"}, chart.Axis{Label: "% of jobs"}, errors)
	if err != nil {
		return nil, err
	}
	p.Sections = append(p.Sections, section{Title: "Estimate errors", Text: "Share of jobs by percent error in buckets of ±5 % around each decile, as in figure 2d of the 3Sigma paper; the last point is everything above.",
		Legend: legendOf(errors), Chart: svg})
	coverage = append(coverage, chart.Series{Name: "calibrated", Color: 8, X: []float64{50, 80, 95}, Y: []float64{50, 80, 95}})
	if svg, err = chart.Lines("Coverage", chart.Axis{Label: "central interval, %"}, chart.Axis{Label: "% of runtimes within", Max: 100}, coverage); err != nil {
		return nil, err
	}
	p.Sections = append(p.Sections, section{Title: "Coverage of intervals", Text: "A calibrated forecast has half of the runtimes within its 50 % interval, and so on.", Legend: legendOf(coverage), Chart: svg},
		section{Title: "All numbers", Text: "Pinball loss and CRPS score the whole distribution and are divided by the mean runtime: lower is better.", Table: g})
	return p, chosenSection(p, d)
}

func centre(b profile.Bucket) float64 {
	switch {
	case b.To == nil:
		return 100
	case b.From == -100:
		return -100
	}
	return (b.From + *b.To) / 2
}

// chosenSection adds which features the first predictor took.
func chosenSection(p *page, d *profile.Document) error {
	if len(d.Predictors) == 0 {
		return nil
	}
	chosen := d.Predictors[0].Chosen
	names := slices.Sorted(maps.Keys(chosen))
	slices.SortStableFunc(names, func(a, b string) int {
		switch {
		case chosen[a] > chosen[b]:
			return -1
		case chosen[a] < chosen[b]:
			return 1
		}
		return 0
	})
	var rows []chart.Bar
	for _, name := range names[:min(12, len(names))] {
		rows = append(rows, chart.Bar{Label: name, Value: 100 * chosen[name]})
	}
	svg, err := chart.Bars("Chosen features", "% of predictions", rows)
	if err != nil {
		return err
	}
	p.Sections = append(p.Sections, section{Title: "Chosen features", Text: "Which feature's history " + d.Predictors[0].Name + " took, the first twelve.", Chart: svg})
	return nil
}

func tracePage(d *describe.Document) (*page, error) {
	p := &page{Title: "What is in " + d.Trace,
		Lead: fmt.Sprintf("%d jobs of %d users over %s; %s machine-hours.", d.Jobs, d.Users, span(d.SpanS), number(d.MachineHours)),
		Facts: []string{
			fmt.Sprintf("%s tasks at once in the mean, %s at the peak; the widest job has %d", number(d.Demand.MeanTasks), number(d.Demand.PeakTasks), d.Demand.MaxJobTasks),
			fmt.Sprintf("%.1f %% of jobs arrive within a second of the last", 100*d.InterArrival.SubSecond),
		}}
	for _, c := range []struct {
		title, label string
		quantiles    []float64
	}{
		{"Job sizes", d.Size.Unit, d.Curves.SizeCDF}, {"Durations", "seconds", d.Curves.DurationCDF},
		{"Inter-arrival times", "seconds", d.Curves.InterArrivalCDF},
	} {
		line := chart.Series{X: c.quantiles}
		for i := range c.quantiles {
			line.Y = append(line.Y, float64(i)/100)
		}
		svg, err := chart.Lines(c.title, chart.Axis{Label: c.label, Log: true}, chart.Axis{Label: "share of jobs", Max: 1}, []chart.Series{line})
		if err != nil {
			return nil, err
		}
		p.Sections = append(p.Sections, section{Title: c.title, Text: "Share of jobs at or below.", Chart: svg})
	}
	if err := rhythm(p, d); err != nil {
		return nil, err
	}
	p.Sections = append(p.Sections, outcomeTable(d), featureTable(d))
	return p, nil
}

func rhythm(p *page, d *describe.Document) error {
	line := chart.Series{}
	for hour, share := range d.Hourly.ShareByHour {
		line.X, line.Y = append(line.X, float64(hour)), append(line.Y, 100*share)
	}
	svg, err := chart.Lines("Rhythm", chart.Axis{Label: "hour of the log's day"}, chart.Axis{Label: "% of jobs"}, []chart.Series{line})
	if err != nil {
		return err
	}
	p.Sections = append(p.Sections, section{Title: "Rhythm", Text: fmt.Sprintf("Submissions by hour of the day; the correlation of an hour with the same hour a day later is %.2f.", d.Hourly.DayCorrelation), Chart: svg})
	if d.Months == nil {
		return nil
	}
	var lines []chart.Series
	for i, s := range []struct {
		name   string
		series describe.MonthSeries
	}{{"jobs", d.Months.Jobs}, {"mean runtime", d.Months.Runtime}, {"mean tasks", d.Months.Tasks}, {"machine-hours", d.Months.Work}} {
		one := chart.Series{Name: s.name, Color: i, Dashed: i%2 == 1, Y: s.series.Normalised}
		for m := range s.series.Normalised {
			one.X = append(one.X, float64(m+1))
		}
		lines = append(lines, one)
	}
	svg, err = chart.Lines("Months", chart.Axis{Label: "month of 29 days"}, chart.Axis{Label: "over the mean"}, lines)
	p.Sections = append(p.Sections, section{Title: "Does one month stand for the whole?", Text: "Each month over the mean of all: lines near 1 say yes.", Legend: legendOf(lines), Chart: svg})
	return err
}

func outcomeTable(d *describe.Document) section {
	g := &grid{Head: []string{"outcome", "jobs", "% of jobs", "% of machine time", "mean tasks"}}
	for _, o := range d.Outcomes {
		g.Rows = append(g.Rows, []string{o.Outcome, fmt.Sprint(o.Jobs), number(100 * o.ShareJobs), number(100 * o.ShareTime), number(o.TasksPerJob.Mean)})
	}
	return section{Title: "How jobs end", Table: g}
}

func featureTable(d *describe.Document) section {
	g := &grid{Head: []string{"feature", "groups", "% of jobs", "median CoV", "p90 CoV"}}
	for _, f := range d.Features {
		g.Rows = append(g.Rows, []string{f.Feature, fmt.Sprint(f.Groups), number(100 * f.Share), number(f.CoV.P50), number(f.CoV.P90)})
	}
	return section{Title: "How alike are runtimes", Text: "Within a feature's value, over groups of at least 5 jobs: a small coefficient of variation (CoV) means that history predicts well.", Table: g}
}
