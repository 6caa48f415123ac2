package results

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/cmd/hedge/internal/experiment"
)

func told(bin, jobs int, mean, came float64) []experiment.Told {
	out := make([]experiment.Told, bins)
	out[bin] = experiment.Told{Told: mean, Came: came, Jobs: jobs}
	return out
}

func TestStartsPage(t *testing.T) {
	run := func(jobs int, in80 float64, reliability []experiment.Told, walltime *float64) experiment.Run {
		r := experiment.Run{StartEstimates: &experiment.StartEstimates{Jobs: jobs, Waited: 7, MedianErrorS: 12.4,
			Coverage: map[string]float64{"50": 0.5, "80": in80, "95": 0.9}, Reliability: reliability, WalltimeErrorS: walltime}}
		r.Policy = "easy"
		return r
	}
	hour := 3600.0
	text, err := (&Plan{}).markdown(map[string][]kept{"starts": {
		{Trace: "a", Commit: "c", Document: &experiment.Document{Runs: []experiment.Run{
			run(100, 0.7, told(9, 1000, 0.95, 0.9), &hour), run(300, 0.9, told(9, 1000, 0.93, 0.86), nil)}}},
		{Trace: "b", Commit: "c", Document: &experiment.Document{Runs: []experiment.Run{
			run(10, 0.8, told(2, 1500, 0.2, 0.26), nil)}}},
	}})
	require.NoError(t, err)
	for _, line := range []string{
		"| a | easy | 100 | 50.0 | 70.0 | 90.0 | 7 | 12 | 3600 |",
		"| a | easy | 300 | 50.0 | 90.0 | 90.0 | 7 | 12 | – |",
		"| a | 400 | 85.0 | yes |", // 70 of 100 and 270 of 300
		"| b | 10 | 80.0 | yes |",
		"| 90–100 | 2000 | 94.0 | 88.0 | -6.0 | no |",
		"| 20–30 | 1500 | 20.0 | 26.0 | +6.0 | no |",
		" 20–30  |          o  x                                     |",
	} {
		assert.True(t, strings.Contains(text, line+"\n"), line)
	}
}

// TestStartsAreAskedFor: beside other sections, starts run only on logs that name them.
func TestStartsAreAskedFor(t *testing.T) {
	all, alone := &Plan{Only: Sections()}, &Plan{Only: []string{"starts"}}
	for _, c := range []struct {
		plan *Plan
		only []string
		want bool
	}{
		{all, nil, false}, {all, []string{"starts"}, true}, {all, []string{"load"}, false},
		{alone, nil, true}, {alone, []string{"starts"}, true}, {alone, []string{"load"}, false},
	} {
		assert.Equal(t, c.want, c.plan.takesPart("starts", &Trace{Only: c.only}), c)
	}
}

func TestTheLogsOfStarts(t *testing.T) {
	p := &Plan{Only: []string{"starts"}}
	traces := logsOf(t, "../../../../docs/starts.txt")
	assert.Len(t, traces, 8)
	for i := range traces {
		cells := p.cells("starts", &traces[i])
		require.Len(t, cells, 1, traces[i].Name)
		assert.True(t, cells[0].spec.Estimates)
		assert.Equal(t, startPolicies, cells[0].spec.Policies)
	}
}
