package chart

import (
	"fmt"
	"html"
	"html/template"
	"strings"
)

// PlanData is a space-time plan (3Sigma, figure 5): expected consumption by row (partition) and column
// (slot), and the gangs planned in them.
type PlanData struct {
	// Rows and Columns label the axes; XLabel names the columns.
	Rows, Columns []string
	XLabel        string
	// Shade is [row][column] of the expected share of the row's capacity in use, 0 to 1.
	Shade [][]float64
	// Tips, unless nil, has the text that a cell shows when pointed at, by row, then column, in place of its shade.
	Tips [][]string
	// Outlined, unless nil, tells which cells have an outline in the second colour.
	Outlined [][]bool
	// Marks are planned starts.
	Marks []Mark
}

// Mark is a planned start in a cell.
type Mark struct {
	Row, Column int
	// Text is shown as a tooltip; Now marks what starts at once, SLO what has a deadline.
	Text     string
	Now, SLO bool
}

// Plan draws a space-time plan: darker cells (lighter on a dark page) are fuller, shapes are planned
// starts: circles have a deadline, diamonds none; filled ones start at once. It is drawn as a table of
// cells rather than axes, so it is written out here.
func Plan(title string, d PlanData) (template.HTML, error) {
	var out strings.Builder
	fmt.Fprintf(&out, `<div class="chart" role="img" aria-label="%s">`, html.EscapeString(title))
	for _, s := range sizes {
		planSVG(&out, s, d)
	}
	out.WriteString("</div>")
	return template.HTML(out.String()), nil //nolint:gosec // every text is escaped above
}

func planSVG(out *strings.Builder, s size, d PlanData) {
	left, top, bottom := float64(4.2*s.font), float64(s.font*.6), float64(s.font*3.4)
	for _, label := range d.Rows {
		left = max(left, along(8, .62*float64(s.font), float64(len(label))))
	}
	columns, rows := max(1, len(d.Columns)), max(1, len(d.Rows))
	cw := (float64(s.width) - left - 6) / float64(columns)
	ch := max(14, min(26, 260/float64(rows)))
	height := along(top, ch, float64(rows)) + bottom
	fmt.Fprintf(out, `<svg class="%s" viewBox="0 0 %.0f %.0f" aria-hidden="true">`, s.class, float64(s.width), height)
	for r, label := range d.Rows {
		y := along(top, ch, float64(r))
		fmt.Fprintf(out, `<text x="%.1f" y="%.1f" text-anchor="end" fill="currentColor" font-size="%.1f">%s</text>`,
			left-5, along(y, ch, .68), float64(s.font)*.92, html.EscapeString(label))
		for c := range d.Columns {
			tip, stroke, inset := fmt.Sprintf("%.0f %%", 100*d.Shade[r][c]), `stroke="var(--grid)" stroke-width=".6"`, 0.0
			if d.Tips != nil {
				tip = d.Tips[r][c]
			}
			if d.Outlined != nil && d.Outlined[r][c] {
				stroke, inset = `stroke="var(--s1)" stroke-width="1.6"`, .8
			}
			fmt.Fprintf(out, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="currentColor" fill-opacity="%.3f" %s>`+
				`<title>%s, %s: %s</title></rect>`,
				along(along(left, cw, float64(c)), inset, 1), along(y, inset, 1), along(cw, inset, -2), along(ch, inset, -2),
				.8*min(1, max(0, d.Shade[r][c])), stroke, html.EscapeString(label), html.EscapeString(d.Columns[c]),
				html.EscapeString(tip))
		}
	}
	columnLabels(out, s, d, left, cw, along(top, ch, float64(rows)))
	planMarks(out, d, left, top, cw, ch)
	out.WriteString("</svg>")
}

func columnLabels(out *strings.Builder, s size, d PlanData, left, cw, y float64) {
	every := (len(d.Columns) + s.ticks - 1) / s.ticks
	for c, label := range d.Columns {
		if c%max(1, every) == 0 {
			fmt.Fprintf(out, `<text x="%.1f" y="%.1f" text-anchor="middle" fill="currentColor" font-size="%.1f">%s</text>`,
				along(left, cw, float64(c)+.5), along(y, float64(s.font), 1.2), float64(s.font)*.92, html.EscapeString(label))
		}
	}
	fmt.Fprintf(out, `<text x="%.1f" y="%.1f" text-anchor="middle" fill="currentColor" font-size="%.1f">%s</text>`,
		along(left, cw, float64(len(d.Columns))/2), along(y, float64(s.font), 2.6), float64(s.font),
		html.EscapeString(d.XLabel))
}

// planMarks draws the starts of a cell side by side, as many as it has room for, and how many more there are.
func planMarks(out *strings.Builder, d PlanData, left, top, cw, ch float64) {
	type cell struct{ row, column int }
	r := float64(min(cw, ch) * .16)
	room := max(1, int(along(cw, r, -2)/(2.4*r)))
	inCell := map[cell]int{}
	for _, m := range d.Marks {
		inCell[cell{m.Row, m.Column}]++
	}
	drawn := map[cell]int{}
	for _, m := range d.Marks {
		at := cell{m.Row, m.Column}
		n := drawn[at]
		drawn[at] = n + 1
		x, y := along(along(along(left, cw, float64(m.Column)), r, 1.8), 2.4*r, float64(n)), along(top, ch, float64(m.Row)+.5)
		switch more := inCell[at] - room + 1; {
		case n < room-1 || inCell[at] <= room:
			mark(out, m, x, y, r)
		case n == room-1:
			fmt.Fprintf(out, `<text x="%.1f" y="%.1f" text-anchor="start" class="more" font-size="%.1f">+%d</text>`,
				along(x, r, -.6), y+r, max(8.5, 2.6*r), more)
		}
	}
}

// along is n steps on from a place. Products that are added to are rounded first, see the package hedge.
func along(from, step, n float64) float64 { return from + float64(step*n) }

// mark draws one start.
func mark(out *strings.Builder, m Mark, x, y, r float64) {
	ink, fill := "var(--s0)", "var(--page)"
	if m.SLO {
		ink = "var(--s1)"
	}
	if m.Now {
		fill = ink
	}
	style := fmt.Sprintf(`fill="%s" stroke="%s" stroke-width="1.4"`, fill, ink)
	if m.SLO {
		fmt.Fprintf(out, `<circle cx="%.1f" cy="%.1f" r="%.1f" %s>`, x, y, r, style)
	} else {
		fmt.Fprintf(out, `<path d="M%.1f %.1fl%.1f %.1fl%.1f %.1fl%.1f %.1fz" %s>`, along(x, r, -1.1), y, 1.1*r, -1.1*r,
			1.1*r, 1.1*r, -1.1*r, 1.1*r, style)
	}
	fmt.Fprintf(out, "<title>%s</title>", html.EscapeString(m.Text))
	if m.SLO {
		out.WriteString("</circle>")
	} else {
		out.WriteString("</path>")
	}
}
