package chart

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A stage is ready at 10, two tasks run from 20 to 30, one of them until 40, on an axis to 40.
func TestGanttDrawsRows(t *testing.T) {
	d := GanttData{XLabel: "minutes", To: 40, Mark: 35, Rows: []GanttRow{
		{Label: "a<b", Tip: "a & b", Ready: 10, X: []float64{20, 30, 40}, Y: []float64{1, .5, 0}, Color: 1},
		{Label: "never ran"},
	}}
	got, err := Gantt("stages <of> a job", d)
	require.NoError(t, err)
	page := string(got)
	wellFormed(t, page)
	for _, want := range []string{"a&lt;b", "<title>a &amp; b</title>", "stages &lt;of&gt; a job", `class="wide"`,
		`class="narrow"`, "never ran"} {
		assert.Contains(t, page, want)
	}
	assert.Equal(t, 2, strings.Count(page, `fill="var(--s1)"`), "one area in each rendering")
	assert.Equal(t, 2, strings.Count(page, `class="mark"`))

	b := board{size: sizes[0], left: 100, top: 0, wide: 400, row: 10, to: 40}
	var out strings.Builder
	b.area(&out, &d.Rows[0], 2)
	paths := regexp.MustCompile(` d="([^"]*)"`).FindAllStringSubmatch(out.String(), -1)
	require.Len(t, paths, 2)
	assert.Equal(t, "M200.0 29.0H300.0", paths[0][1], "it waits")
	assert.Equal(t, "M300.0 29.0H300.0V21.0H400.0V25.0H500.0V29.0V29.0z", paths[1][1])

	d.Mark = 41
	got, err = Gantt("later", d)
	require.NoError(t, err)
	assert.NotContains(t, string(got), `class="mark"`)
	_, err = Gantt("nothing", GanttData{})
	assert.NoError(t, err)
}

// Many steps at one place are drawn as one, so that a page does not grow with the tasks.
func TestGanttIsBounded(t *testing.T) {
	row := GanttRow{X: []float64{0}, Y: []float64{1}}
	for i := range 100_000 {
		row.X, row.Y = append(row.X, float64(i)/1e5), append(row.Y, float64(i%2))
	}
	got, err := Gantt("wide", GanttData{To: 1, Rows: []GanttRow{row}})
	require.NoError(t, err)
	assert.Less(t, len(got), 200_000)
}
