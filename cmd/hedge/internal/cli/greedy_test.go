package cli

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestGreedyKeepsTheClusterBusy: with the engine greedy, 3sigma keeps the cluster as busy as with native, within 5
// points.
func TestGreedyKeepsTheClusterBusy(t *testing.T) {
	busy := map[string]float64{}
	for _, engine := range []string{"native", "greedy"} {
		got := hedge(t, "", "compare", "--hours", "0.25", "--policies", "3sigma", "--engine", engine, "--json")
		require.Zero(t, got.code, got.err)
		var d struct {
			Runs []struct {
				Busy float64 `json:"utilisation_in_window"`
			} `json:"runs"`
		}
		require.NoError(t, json.Unmarshal([]byte(got.out), &d))
		busy[engine] = d.Runs[0].Busy
	}
	assert.Greater(t, busy["native"], 0.5)
	assert.InDelta(t, busy["native"], busy["greedy"], 0.05)
}
