package report

import (
	"cmp"
	"math"
	"slices"

	"github.com/hedgesched/hedge/cmd/hedge/internal/chart"
	"github.com/hedgesched/hedge/cmd/hedge/internal/experiment"
	"github.com/hedgesched/hedge/cmd/hedge/internal/stats"
)

// starts adds estimates of starts beside what came true, if there are estimates.
func starts(p *page, d *experiment.Document) error {
	var waits, told []chart.Series
	for i := range d.Runs {
		r := &d.Runs[i]
		e := r.StartEstimates
		if e == nil || slices.ContainsFunc(waits, func(s chart.Series) bool { return s.Name == r.Policy }) {
			continue // the first seed of each policy is drawn
		}
		waits = append(waits, waitsOf(line(r.Policy, len(waits)), e.Waits))
		told = append(told, toldOf(line(r.Policy, len(told)), e.Reliability))
	}
	if len(waits) == 0 {
		return nil
	}
	top := 0.0
	for _, s := range waits {
		for k := range s.X {
			top = max(top, s.X[k], s.Y[k])
		}
	}
	for _, c := range []struct {
		title, text, x, y string
		top               float64
		lines             []chart.Series
	}{
		{"Starts, estimated and true", "Median true wait of jobs by their estimated wait, when they first waited: the " +
			"nearer to the diagonal, the better.", "estimated, minutes", "true, minutes", top, waits},
		{"Probabilities of meeting deadlines", "Share of jobs that met their deadline by the probability told when they " +
			"first waited: the nearer to the diagonal, the better.", "told", "met", 1, told},
	} {
		lines := append([]chart.Series{{Name: "exact", Color: len(waits) % chart.SeriesColors, Dash: 1,
			X: []float64{0, c.top}, Y: []float64{0, c.top}}}, c.lines...)
		svg, err := chart.Lines(c.title+". "+c.text, chart.Axis{Label: c.x, Max: c.top},
			chart.Axis{Label: c.y, Max: c.top}, lines)
		if err != nil {
			return err
		}
		p.Sections = append(p.Sections, section{Title: c.title, Text: c.text, Legend: legendOf(lines), Chart: svg})
	}
	return nil
}

// waitGroups is how many groups of jobs a line of waits has at most; few is how many jobs a group has at least.
const waitGroups, few = 24, 5

// waitsOf sorts jobs by their estimated wait, and has the medians of groups of the same size, in minutes.
func waitsOf(s chart.Series, waits [][2]float64) chart.Series {
	waits = slices.Clone(waits)
	slices.SortStableFunc(waits, func(a, b [2]float64) int { return cmp.Compare(a[0], b[0]) })
	groups := min(waitGroups, len(waits)/few)
	for g := range groups {
		group := waits[g*len(waits)/groups : (g+1)*len(waits)/groups]
		var guessed, came []float64
		for _, w := range group {
			guessed, came = append(guessed, w[0]/60), append(came, w[1]/60)
		}
		x, y := middle(guessed), middle(came)
		if !math.IsInf(x, 1) {
			s.X, s.Y = append(s.X, x), append(s.Y, y)
		}
	}
	return s
}

func middle(v []float64) float64 {
	v = stats.Sorted(v)
	return v[(len(v)-1)/2]
}

// toldOf is the reliability of probabilities, without bins of a few jobs.
func toldOf(s chart.Series, bins []experiment.Told) chart.Series {
	for _, b := range bins {
		if b.Jobs >= few {
			s.X, s.Y = append(s.X, b.Told), append(s.Y, b.Came)
		}
	}
	return s
}
