package chart

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func wellFormed(t *testing.T, markup string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(markup))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err)
	}
}

func TestChartsFollowThePage(t *testing.T) {
	bars, err := Bars("misses <of> all", "%",
		[]Bar{{Label: "a & b", Value: 3, Low: 2, High: 4}, {Label: "c", Value: 0, Color: 3}})
	require.NoError(t, err)
	lines, err := Lines("cdf", Axis{Label: "s", Log: true}, Axis{Label: "share", Max: 1},
		[]Series{{Name: "x", X: []float64{0, 1, 10, 3000}, Y: []float64{0, .2, .5, 1}, Color: 1}, {Name: "none"}})
	require.NoError(t, err)
	plan, err := Plan("plan", PlanData{Rows: []string{"r0", "r1"}, Columns: []string{"0", "10", "20"},
		Shade: [][]float64{{1, .5, 0}, {0, .2, .3}}, Marks: []Mark{{Row: 1, Column: 2, Text: "j<1>", Now: true}}})
	require.NoError(t, err)
	heat, err := Plan("heat", PlanData{Rows: []string{"m0"}, Columns: []string{"0", "1"}, Shade: [][]float64{{.5, 1}},
		Tips: [][]string{{"50 %", "<all>"}}, Outlined: [][]bool{{false, true}}})
	require.NoError(t, err)
	assert.Equal(t, 2, strings.Count(string(heat), `stroke="var(--s1)"`), "one cell in each rendering")
	assert.Contains(t, string(heat), "&lt;all&gt;")
	for _, chart := range []string{string(bars), string(lines), string(plan), string(heat)} {
		wellFormed(t, chart)
		assert.Contains(t, chart, `class="wide"`)
		assert.Contains(t, chart, `class="narrow"`)
		assert.NotContains(t, chart, "#000000", "ink must follow the page")
		assert.NotContains(t, chart, "#0102", "series must be variables")
		assert.NotContains(t, chart, "<?xml")
	}
	assert.Contains(t, string(bars), "var(--s3)")
	assert.Contains(t, string(bars), "misses &lt;of&gt; all")
}

func TestEmptyChartsAreDrawn(t *testing.T) {
	_, err := Lines("nothing", Axis{Log: true}, Axis{}, nil)
	assert.NoError(t, err)
	_, err = Bars("nothing", "", nil)
	assert.NoError(t, err)
	_, err = Plan("nothing", PlanData{})
	assert.NoError(t, err)
}

func TestTicksAreRound(t *testing.T) {
	var labels []string
	for _, k := range (ticks{most: 5}).Ticks(0, 23) {
		labels = append(labels, k.Label)
	}
	assert.Equal(t, []string{"0", "5", "10", "15", "20"}, labels)
	assert.Equal(t, "20k", short(20000))
	assert.Equal(t, "1.5M", short(1.5e6))
}
