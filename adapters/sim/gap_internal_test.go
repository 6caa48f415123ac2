package sim

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
)

// TestAGapWithoutABoundIsUnknown: null, not 0; where nothing is solved it is 0, as there is nothing to be short of.
func TestAGapWithoutABoundIsUnknown(t *testing.T) {
	solved := func(stats ...sched.Stats) Solver {
		c := cycleStats{stops: map[string]int{}}
		for i := range stats {
			c.engines = append(c.engines, stats[i].Engine)
			if !math.IsNaN(stats[i].Gap) {
				c.gaps = append(c.gaps, stats[i].Gap)
			}
		}
		return c.solver()
	}
	text, err := json.Marshal(solved(sched.Stats{Engine: "greedy", Gap: math.NaN()}))
	require.NoError(t, err)
	assert.JSONEq(t, `{"engine":"greedy","gap_mean":null,"gap_p99":null,"stops":{}}`, string(text))
	assert.Equal(t, 0.0, *solved().GapMean)
	mixed := solved(sched.Stats{Engine: "a", Gap: math.NaN()}, sched.Stats{Engine: "b", Gap: 0.25})
	assert.Equal(t, 0.25, *mixed.GapMean, "over the cycles that have one")
}
