package results

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseTraces(t *testing.T) {
	got, err := ParseTraces("g=a/b.tr.gz, k=k.swf?tasks-per-node=16&only=prediction")
	require.NoError(t, err)
	assert.Equal(t, []Trace{{Name: "g", Path: "a/b.tr.gz", TasksPerNode: 1},
		{Name: "k", Path: "k.swf", TasksPerNode: 16, Only: []string{"prediction"}}}, got)
	for _, bad := range []string{"", "a", "a=", "=b", "a=b,a=c", "a=b?x=1", "a=b?tasks-per-node=0"} {
		_, err := ParseTraces(bad)
		assert.Error(t, err, bad)
	}
}

func TestVerdictsFollowTheNumbers(t *testing.T) {
	assert.Equal(t, "holds", less([]float64{1, 2, 3}, []float64{2, 3, 4.1}))
	assert.Equal(t, "holds weakly", less([]float64{1, 2, 3}, []float64{9, 2, 2}))
	assert.Equal(t, "does not hold", less([]float64{2, 3}, []float64{1, 2}))
	assert.Equal(t, "holds weakly", less([]float64{1}, []float64{2}), "one seed proves nothing")
}

func TestNotes(t *testing.T) {
	notes, err := parseNotes("preamble\n## variants\nwhy\nand how\n## load\n\nmore\n")
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"variants": "why\nand how", "load": "more"}, notes)
	_, err = parseNotes("## nothing\n")
	assert.ErrorIs(t, err, ErrInput)
}
