// Package chart draws the report's charts as inline SVG that follows the page: ink is
// currentColor, series are the CSS variables --s0 to --s9, and every chart comes in
// a wide and a narrow rendering of which a media query shows one, so that text stays
// readable on a telephone. Nothing is fetched and nothing runs in the browser.
package chart

import (
	"bytes"
	"fmt"
	"html"
	"html/template"
	"image/color"
	"math"
	"regexp"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// SeriesColors is the number of --s variables a page has to define.
const SeriesColors = 10

// Bar is one bar with an optional interval.
type Bar struct {
	Label     string
	Value     float64
	Low, High float64
	// Text stands behind the bar.
	Text string
	// Color is the index of the series colour.
	Color int
}

// Series is a line.
type Series struct {
	Name string
	X, Y []float64
	// Color is the index of the series colour; Dash, the index of a pattern, tells it apart without colour.
	Color, Dash int
	// Bold lines are drawn wider, and last.
	Bold bool
}

// Dashes is the number of patterns: solid, dashed, dotted.
const Dashes = 3

// pattern is how a series is dashed.
func pattern(dash int) []vg.Length {
	return [Dashes][]vg.Length{nil, {6, 3}, {1.5, 2.5}}[dash%Dashes]
}

// Axis labels one axis. Log is for positive values only; Max 0 follows the data; a line is drawn
// across the axis at Mark unless that is 0.
type Axis struct {
	Label     string
	Log       bool
	Max, Mark float64
}

// size is one of the two renderings, in points.
type size struct {
	class         string
	width, height vg.Length
	font          vg.Length
	ticks         int
}

var sizes = [...]size{
	{"wide", 560, 260, 12.5, 7},
	{"narrow", 340, 230, 12, 4},
}

// seriesColor is a colour by which paint finds the places where a page's variable goes.
func seriesColor(i int) color.Color {
	return color.RGBA{R: 1, G: 2, B: uint8(i % SeriesColors), A: 255}
}

var gridColor = color.RGBA{R: 3, G: 3, B: 3, A: 255}

// Bars draws horizontal bars, the first on top, with whiskers where Low and High differ. Whiskers
// that would dwarf the bars end at the frame.
func Bars(title, unit string, bars []Bar) (template.HTML, error) {
	return render(title, sizes[:], func(p *plot.Plot, s *size) (vg.Length, error) {
		return vg.Length(vg.Length(len(bars))*(s.font*2.1)) + vg.Length(s.font*4.5), addBars(p, s, unit, bars)
	})
}

// reach is how far the axis of bars goes: over every bar, and over whiskers up to twice the longest.
func reach(bars []Bar) float64 {
	longest, whiskers := 0.0, 0.0
	for _, b := range bars {
		longest, whiskers = max(longest, b.Value), max(whiskers, b.High)
	}
	if longest == 0 {
		return 1
	}
	return max(longest, min(whiskers, 2*longest))
}

func addBars(p *plot.Plot, s *size, unit string, bars []Bar) error {
	if len(bars) == 0 {
		return nil
	}
	top := reach(bars)
	names := make([]string, len(bars))
	var labels plotter.XYLabels
	for i, b := range bars {
		row := float64(len(bars) - 1 - i)
		names[len(bars)-1-i] = b.Label
		if err := addBar(p, s, b, row, top); err != nil {
			return err
		}
		labels.XYs = append(labels.XYs, plotter.XY{X: min(top, max(b.Value, b.High)), Y: row})
		labels.Labels = append(labels.Labels, b.Text)
	}
	if err := addTexts(p, s, labels); err != nil {
		return err
	}
	p.NominalY(names...)
	p.Y.Tick.Label.Font.Size = s.font
	p.Y.Min, p.Y.Max = -.6, float64(len(bars))-.4
	p.X.Min, p.X.Max = 0, top*textRoom
	p.X.Label.Text = unit
	p.X.Tick.Marker = ticks{most: s.ticks}
	return nil
}

// textRoom leaves room for the texts behind bars.
const textRoom = 1.28

// addBar adds one bar and its whiskers.
func addBar(p *plot.Plot, s *size, b Bar, row, top float64) error {
	c, err := plotter.NewBarChart(plotter.Values{b.Value}, s.font*1.3)
	if err != nil {
		return err
	}
	c.Horizontal, c.XMin, c.Color = true, row, seriesColor(b.Color)
	c.LineStyle.Width = 0
	p.Add(c)
	if b.High <= b.Low {
		return nil
	}
	w, err := plotter.NewXErrorBars(whisker{b.Value, row, b.Value - b.Low, min(b.High, top) - b.Value})
	if err != nil {
		return err
	}
	w.Width, w.CapWidth = 1.2, s.font*.6
	p.Add(w)
	return nil
}

// addTexts writes the texts behind bars.
func addTexts(p *plot.Plot, s *size, labels plotter.XYLabels) error {
	l, err := plotter.NewLabels(labels)
	if err != nil {
		return err
	}
	for i := range l.TextStyle {
		l.TextStyle[i].Font = fontOf(s.font * .92)
		l.TextStyle[i].YAlign = text.YCenter
	}
	l.Offset.X = s.font * .5
	p.Add(l)
	return nil
}

// whisker is one XErrorBars element.
type whisker struct{ x, y, low, high float64 }

func (w whisker) Len() int                      { return 1 }
func (w whisker) XY(int) (float64, float64)     { return w.x, w.y }
func (w whisker) XError(int) (float64, float64) { return w.low, w.high }

// Lines draws lines over common axes. Non-positive x are left out of logarithmic charts.
func Lines(title string, x, y Axis, series []Series) (template.HTML, error) {
	return render(title, sizes[:], func(p *plot.Plot, s *size) (vg.Length, error) {
		p.X.Label.Text, p.Y.Label.Text = x.Label, y.Label
		for _, bold := range []bool{false, true} {
			for _, one := range series {
				if one.Bold != bold {
					continue
				}
				if err := addLine(p, one, x.Log); err != nil {
					return 0, err
				}
			}
		}
		return s.height, frame(p, x, y, s)
	})
}

func addLine(p *plot.Plot, one Series, log bool) error {
	pts := points(one, log)
	if len(pts) == 0 {
		return nil
	}
	l, err := plotter.NewLine(pts)
	if err != nil {
		return err
	}
	l.Width, l.Color, l.Dashes = 1.6, seriesColor(one.Color), pattern(one.Dash)
	if one.Bold {
		l.Width = 2.8
	}
	p.Add(l)
	return nil
}

func points(one Series, log bool) plotter.XYs {
	var pts plotter.XYs
	for i := range one.X {
		if log && one.X[i] <= 0 {
			continue
		}
		pts = append(pts, plotter.XY{X: one.X[i], Y: one.Y[i]})
	}
	return pts
}

func frame(p *plot.Plot, x, y Axis, s *size) error {
	p.Y.Min = min(p.Y.Min, 0)
	if y.Max > 0 {
		p.Y.Max = y.Max
	}
	if x.Max > 0 {
		p.X.Max = x.Max
	}
	if math.IsInf(p.X.Min, 0) || p.X.Max <= p.X.Min {
		p.X.Min, p.X.Max = 0, 1
		x.Log = false
	}
	if p.Y.Max <= p.Y.Min || math.IsInf(p.Y.Max, 0) {
		p.Y.Max = p.Y.Min + 1
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = ticks{most: s.ticks}, ticks{most: 5}
	if x.Log {
		p.X.Scale = plot.LogScale{}
		p.X.Tick.Marker = decades{}
	}
	g := plotter.NewGrid()
	g.Vertical.Color, g.Horizontal.Color = gridColor, gridColor
	p.Add(g)
	if x.Mark == 0 || x.Mark <= p.X.Min || x.Mark >= p.X.Max {
		return nil
	}
	mark, err := plotter.NewLine(plotter.XYs{{X: x.Mark, Y: p.Y.Min}, {X: x.Mark, Y: p.Y.Max}})
	if err != nil {
		return err
	}
	mark.Width, mark.Dashes = 1, []vg.Length{2, 2}
	p.Add(mark)
	return nil
}

// render draws both sizes; fill adds to the plot and returns the height it wants.
func render(title string, sizes []size, fill func(*plot.Plot, *size) (vg.Length, error)) (template.HTML, error) {
	var out strings.Builder
	fmt.Fprintf(&out, `<div class="chart" role="img" aria-label="%s">`, html.EscapeString(title))
	for i := range sizes {
		s := &sizes[i]
		p := newPlot(s)
		height, err := fill(p, s)
		if err != nil {
			return "", fmt.Errorf("chart %s: %w", title, err)
		}
		c := vgsvg.New(s.width, height)
		p.Draw(draw.New(c))
		var svg bytes.Buffer
		if _, err := c.WriteTo(&svg); err != nil {
			return "", fmt.Errorf("chart %s: %w", title, err)
		}
		out.WriteString(paint(svg.String(), s.class))
	}
	out.WriteString("</div>")
	return template.HTML(out.String()), nil //nolint:gosec // gonum escapes text, the rest is ours
}

func newPlot(s *size) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = color.Transparent
	f := fontOf(s.font)
	for _, style := range []*text.Style{&p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label} {
		style.Font = f
	}
	p.X.Tick.Label.Font.Size, p.Y.Tick.Label.Font.Size = s.font*.92, s.font*.92
	p.X.Padding, p.Y.Padding = 2, 2
	return p
}

func fontOf(size vg.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

var (
	svgTag = regexp.MustCompile(`<svg [^>]*viewBox="([^"]*)"[^>]*>`)
	family = regexp.MustCompile(`font-family:[^;"]*;?(font-weight:[^;"]*;?)?(font-style:[^;"]*;?)?`)
	series = regexp.MustCompile(`#0102([0-9A-Fa-f]{2})`)
)

// paint turns gonum's SVG document into an element that follows the page.
func paint(svg, class string) string {
	if at := strings.Index(svg, "<svg"); at >= 0 {
		svg = svg[at:]
	}
	svg = svgTag.ReplaceAllString(svg, `<svg class="`+class+`" viewBox="$1" aria-hidden="true">`)
	svg = family.ReplaceAllString(svg, "")
	svg = series.ReplaceAllStringFunc(svg, func(m string) string {
		i, err := strconv.ParseUint(m[5:], 16, 8)
		if err != nil {
			return m
		}
		return fmt.Sprintf("var(--s%d)", i)
	})
	return strings.NewReplacer("#030303", "var(--grid)", "#000000", "currentColor").Replace(svg)
}

// ticks are round numbers, at most about most of them.
type ticks struct{ most int }

func (t ticks) Ticks(low, high float64) []plot.Tick {
	step := niceStep((high - low) / float64(max(1, t.most)))
	var out []plot.Tick
	for i := math.Ceil(low/step - 1e-9); i*step <= high+float64(step*1e-9) && len(out) < 100; i++ {
		out = append(out, plot.Tick{Value: i * step, Label: short(i * step)})
	}
	return out
}

// niceStep is the least of 1, 2, 5 times a power of ten that is not below x.
func niceStep(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 0) {
		return 1
	}
	unit := math.Pow10(int(math.Floor(math.Log10(x))))
	for _, m := range []float64{1, 2, 5} {
		if m*unit >= x*(1-1e-9) {
			return m * unit
		}
	}
	return 10 * unit
}

// short writes a tick's number with k and M.
func short(x float64) string {
	switch a := math.Abs(x); {
	case a < 1e-12:
		return "0"
	case a >= 1e6:
		return strconv.FormatFloat(x/1e6, 'g', 4, 64) + "M"
	case a >= 1e4:
		return strconv.FormatFloat(x/1e3, 'g', 4, 64) + "k"
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}

// decades are the powers of ten, with unlabelled ticks between them.
type decades struct{}

func (decades) Ticks(low, high float64) []plot.Tick {
	var out []plot.Tick
	first, last := int(math.Floor(math.Log10(low))), int(math.Ceil(math.Log10(high)))
	every := max(1, (last-first)/6)
	for e := first; e <= last; e++ {
		label := ""
		if (e-first)%every == 0 {
			label = short(math.Pow10(e))
		}
		for m := 1.0; m < 10; m++ {
			if v := m * math.Pow10(e); v >= low*(1-1e-9) && v <= high*(1+1e-9) {
				out = append(out, plot.Tick{Value: v, Label: label})
			}
			label = ""
		}
	}
	return out
}
