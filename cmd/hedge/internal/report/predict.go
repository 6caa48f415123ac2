package report

import (
	"fmt"

	"github.com/hedgesched/hedge/cmd/hedge/internal/chart"
	"github.com/hedgesched/hedge/cmd/hedge/internal/figures"
	"github.com/hedgesched/hedge/cmd/hedge/internal/profile"
)

func predictPage(d *profile.Document) (*page, error) {
	p := &page{Title: "How well are runtimes predicted on " + logName(d.Trace) + "?",
		Facts: []string{
			fmt.Sprintf("%d jobs; the first %s train, %d of the others that finished are tested, "+
				"%d of those without any history", d.Jobs, figures.Percent(d.Train), d.Tested, d.NoHistory),
			"every job is predicted at its submission, from what had completed by then",
		}}
	if bad := d.BadLine(); bad != "" {
		p.Facts = append(p.Facts, bad)
	}
	for i, r := range d.Predictors {
		if i == 0 {
			p.Lead = fmt.Sprintf("%s estimates %s of the runtimes within a factor of two; its median error is %s.", r.Name,
				figures.Percent(r.Within2x), figures.Percent(r.MedianAPE))
		}
		if i < 4 {
			p.Tiles = append(p.Tiles, tile{figures.Percent(r.Within2x), "within a factor of two, " + r.Name, i})
		}
	}
	for _, add := range []func(*page, *profile.Document) error{errorLines, coverageLines, chosenBars} {
		if err := add(p, d); err != nil {
			return nil, err
		}
	}
	p.Sections = append(p.Sections, predictNumbers(d))
	return p, nil
}

// errorLines adds the error profile of the point estimates.
func errorLines(p *page, d *profile.Document) error {
	var lines []chart.Series
	for i, r := range d.Predictors {
		one := line(r.Name, i)
		for _, b := range r.ErrorHistogram {
			one.X, one.Y = append(one.X, centre(b)), append(one.Y, 100*b.Share)
		}
		lines = append(lines, one)
	}
	text := "Share of jobs by the error of their estimate, in buckets around each decile as in figure 2d of the 3Sigma " +
		"paper; the last point is all above 95 %. " +
		"A high peak at 0 is a good predictor, the rise at the right end are jobs that ended much sooner than estimated."
	svg, err := chart.Lines("Estimate errors. "+text, chart.Axis{Label: "(estimate − runtime) / runtime, %"},
		chart.Axis{Label: "% of jobs"}, lines)
	p.Sections = append(p.Sections, section{Title: "Errors of estimates", Text: text, Legend: legendOf(lines), Chart: svg})
	return err
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

// coverageLines adds how often runtimes lie in the intervals of distributions; points have none.
func coverageLines(p *page, d *profile.Document) error {
	levels := []struct {
		name  string
		share float64
	}{{"50", 50}, {"80", 80}, {"95", 95}}
	var lines []chart.Series
	for i, r := range d.Predictors {
		one := line(r.Name, i)
		for _, level := range levels {
			one.X, one.Y = append(one.X, level.share), append(one.Y, 100*r.Coverage[level.name])
		}
		if r.Coverage["95"] > r.Coverage["50"] {
			lines = append(lines, one)
		}
	}
	lines = append(lines, chart.Series{Name: "calibrated", Color: 8, Dash: 2, X: []float64{50, 80, 95},
		Y: []float64{50, 80, 95}})
	text := "How many runtimes lie in the central 50, 80 and 95 % interval of their forecast. Lines on the dotted one " +
		"are calibrated; below it forecasts are too narrow. Point predictors have no interval and are left out."
	svg, err := chart.Lines("Coverage. "+text, chart.Axis{Label: "central interval, %"},
		chart.Axis{Label: "% of runtimes within", Max: 100}, lines)
	p.Sections = append(p.Sections, section{Title: "Coverage of intervals", Text: text, Legend: legendOf(lines),
		Chart: svg})
	return err
}

// chosenBars adds which features the first predictor took.
func chosenBars(p *page, d *profile.Document) error {
	if len(d.Predictors) == 0 {
		return nil
	}
	first := &d.Predictors[0]
	var rows []chart.Bar
	for _, name := range figures.Largest(first.Chosen, 12) {
		share := 100 * first.Chosen[name]
		rows = append(rows, chart.Bar{Label: name, Value: share, Text: figures.Number(share)})
	}
	text := "Whose history " + first.Name + " took as the most accurate so far, by how often; at most twelve are shown."
	svg, err := chart.Bars("Chosen features. "+text, "% of predictions", rows)
	p.Sections = append(p.Sections, section{Title: "Chosen features", Text: text, Chart: svg})
	return err
}

func predictNumbers(d *profile.Document) section {
	g := &grid{Head: []string{"predictor", "within 2x %", "median error %", "p90 error %", "NMAE", "pinball", "CRPS",
		"in 50 %", "in 80 %", "in 95 %", "p99 µs"}}
	for _, r := range d.Predictors {
		g.Rows = append(g.Rows, []string{r.Name, figures.Number(100 * r.Within2x), figures.Number(100 * r.MedianAPE),
			figures.Number(100 * r.P90APE), figures.Number(r.NMAE),
			figures.Number(r.Pinball.MeanOverDeciles), figures.Number(r.CRPS), figures.Number(100 * r.Coverage["50"]),
			figures.Number(100 * r.Coverage["80"]),
			figures.Number(100 * r.Coverage["95"]), figures.Number(r.PredictUS.P99)})
	}
	return section{Title: "All numbers", Table: g, Full: true, Notes: [][2]string{
		{"within 2x", "estimates between half and twice the runtime: higher is better"},
		{"error", "|estimate − runtime| / runtime of the point estimate: lower is better"},
		{"NMAE", "sum of absolute errors over the sum of runtimes: lower is better"},
		{"pinball, CRPS", "loss of the whole distribution over the mean runtime: lower is better"},
		{"in 50 %", "runtimes within the central 50 % interval of the forecast: 50 % is calibrated"},
		{"p99 µs", "wall-clock time of a prediction, 99th percentile"},
	}}
}
