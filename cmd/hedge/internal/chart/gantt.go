package chart

import (
	"fmt"
	"html"
	"html/template"
	"strings"
)

// GanttData is rows of work over one axis of time, which begins at 0.
type GanttData struct {
	XLabel string
	// To is where the axis ends, above 0. A dotted line is drawn at Mark, unless that is 0 or beyond the end.
	To, Mark float64
	Rows     []GanttRow
}

// GanttRow is a row: a thin line from Ready to the first of X, then an area.
type GanttRow struct {
	// Label stands before the row. Tip is shown when the area is pointed at.
	Label, Tip string
	Ready      float64
	// X are times in order. From each on the area fills the share Y, 0 to 1, of the row's height; the last Y ends it.
	X, Y []float64
	// Color is the index of the series colour.
	Color int
}

// Gantt draws rows of work, the first on top. It is written out as [Plan] is.
func Gantt(title string, d GanttData) (template.HTML, error) {
	var out strings.Builder
	fmt.Fprintf(&out, `<div class="chart" role="img" aria-label="%s">`, html.EscapeString(title))
	for _, s := range sizes {
		ganttSVG(&out, s, &d)
	}
	out.WriteString("</div>")
	return template.HTML(out.String()), nil //nolint:gosec // every text is escaped above
}

// board is where the rows are drawn.
type board struct {
	size
	left, top, wide, row float64 // the row's height with the gap under it
	to                   float64
}

// x is where a time is.
func (b *board) x(at float64) float64 { return along(b.left, b.wide, min(1, max(0, at/b.to))) }

// base is the bottom of a row.
func (b *board) base(row int) float64 { return along(b.top, b.row, float64(row)+.9) }

func ganttSVG(out *strings.Builder, s size, d *GanttData) {
	b := board{size: s, left: float64(2.5 * s.font), top: float64(s.font * .6), to: d.To}
	b.row = max(9, min(26, 420/float64(max(1, len(d.Rows)))))
	text := min(float64(s.font)*.92, b.row*.9)
	for i := range d.Rows {
		b.left = max(b.left, along(8, .62*text, float64(len([]rune(d.Rows[i].Label)))))
	}
	b.wide = float64(s.width) - b.left - float64(s.font)
	bottom := along(b.top, b.row, float64(len(d.Rows)))
	fmt.Fprintf(out, `<svg class="%s" viewBox="0 0 %.0f %.0f" aria-hidden="true">`, s.class, float64(s.width),
		along(bottom, float64(s.font), 3.4))
	b.axis(out, d, bottom)
	for i := range d.Rows {
		r := &d.Rows[i]
		fmt.Fprintf(out, `<text x="%.1f" y="%.1f" text-anchor="end" fill="currentColor" font-size="%.1f">%s</text>`,
			b.left-5, along(b.base(i), text, -.2), text, html.EscapeString(r.Label))
		b.area(out, r, i)
	}
	out.WriteString("</svg>")
}

// axis draws the ticks, their lines, and the mark.
func (b *board) axis(out *strings.Builder, d *GanttData, bottom float64) {
	for _, tick := range (ticks{most: b.ticks}).Ticks(0, d.To) {
		x := b.x(tick.Value)
		fmt.Fprintf(out, `<path d="M%.1f %.1fV%.1f" stroke="var(--grid)" fill="none"/>`, x, b.top, bottom)
		fmt.Fprintf(out, `<text x="%.1f" y="%.1f" text-anchor="middle" fill="currentColor" font-size="%.1f">%s</text>`,
			x, along(bottom, float64(b.font), 1.2), float64(b.font)*.92, tick.Label)
	}
	fmt.Fprintf(out, `<text x="%.1f" y="%.1f" text-anchor="middle" fill="currentColor" font-size="%.1f">%s</text>`,
		along(b.left, b.wide, .5), along(bottom, float64(b.font), 2.6), float64(b.font), html.EscapeString(d.XLabel))
	if d.Mark > 0 && d.Mark <= d.To {
		fmt.Fprintf(out, `<path class="mark" d="M%.1f %.1fV%.1f" stroke="currentColor" stroke-dasharray="2 2" fill="none"/>`,
			b.x(d.Mark), b.top, bottom)
	}
}

// area draws a row's line and area. Of several steps at one place the last is drawn.
func (b *board) area(out *strings.Builder, r *GanttRow, row int) {
	if len(r.X) == 0 {
		return
	}
	base, high := b.base(row), b.row*.8
	fmt.Fprintf(out, `<path d="M%.1f %.1fH%.1f" stroke="currentColor" stroke-opacity=".5" fill="none"/>`, b.x(r.Ready),
		base, b.x(r.X[0]))
	fmt.Fprintf(out, `<path d="M%.1f %.1f`, b.x(r.X[0]), base)
	for i, at := range r.X {
		x := fmt.Sprintf("%.1f", b.x(at))
		if i+1 < len(r.X) && fmt.Sprintf("%.1f", b.x(r.X[i+1])) == x && i > 0 {
			continue
		}
		fmt.Fprintf(out, "H%sV%.1f", x, along(base, high, -min(1, max(0, r.Y[i]))))
	}
	fmt.Fprintf(out, `V%.1fz" fill="var(--s%d)" stroke="var(--s%[2]d)" stroke-width=".6"><title>%s</title></path>`, base,
		r.Color%SeriesColors, html.EscapeString(r.Tip))
}
