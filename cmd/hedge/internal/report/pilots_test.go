package report

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Of six jobs that sampling ran two pilots of, and one with a single pilot, the errors are told by pilots; history's
// are those of the same jobs.
func TestErrorsByPilots(t *testing.T) {
	none := math.NaN()
	var sampled, history [][]float64
	for i := range 6 {
		sampled = append(sampled, []float64{none, 1.5, 1 + float64(i)/100})
		history = append(history, []float64{.6})
	}
	sampled, history = append(sampled, []float64{none, 1.7}, nil), append(history, []float64{1}, []float64{5})
	d := &Tasks{Runs: []TaskRun{{Policy: "eagle", Seed: 1}, {Policy: "past", Seed: 1, Estimates: history},
		{Policy: "pilots", Seed: 1, Estimates: sampled}}}
	p := new(page)
	require.NoError(t, taskPilots(p, d))
	require.Len(t, p.Sections, 1)
	s := p.Sections[0]
	assert.Equal(t, []string{"pilots", "jobs", "past", "pilots"}, s.Table.Head)
	assert.Equal(t, [][]string{{"1", "7", "40.0", "50.0"}, {"2", "6", "40.0", "2.50"}}, s.Table.Rows)
	assert.Contains(t, s.Text, "of which pilots ran as many")
	assert.Contains(t, s.Chart, "<svg")
	assert.Len(t, s.Legend, 2)
}

func TestWithoutPilotsNothingIsShown(t *testing.T) {
	p := new(page)
	require.NoError(t, taskPilots(p, &Tasks{Runs: []TaskRun{{Policy: "eagle"}, {Policy: "past",
		Estimates: [][]float64{{.5}, {2}}}}}))
	assert.Empty(t, p.Sections)
}
