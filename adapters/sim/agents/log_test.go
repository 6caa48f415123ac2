package agents_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim/agents"
	"github.com/hedgesched/hedge/adapters/sim/tasklog"
	"github.com/hedgesched/hedge/sched/agent"
)

// logged is a run whose log was checked; the figures are left out.
func logged[M any](t *testing.T, w *agents.Workload, s agent.System[M], c agents.Config) *tasklog.Report {
	t.Helper()
	var b bytes.Buffer
	log := tasklog.NewWriter(&b, &tasklog.Header{Workers: 100, Slots: 1})
	c.Observer = log
	r, err := agents.Run(w, s, c)
	require.NoError(t, err)
	require.NoError(t, log.Close(figures(r)))
	report, err := tasklog.Check(&b, nil)
	require.NoError(t, err)
	assert.EqualValues(t, r.Launches, report.Starts)
	assert.EqualValues(t, r.Crashed, report.Losses)
	assert.InDelta(t, r.Busy, report.Busy, 1e-9)
	return report
}

// figures are those of a result, by the definition of ranks.
func figures(r *agents.Result) *tasklog.Figures {
	var of [3][]float64
	for _, j := range r.Jobs {
		class := 0
		if j.Long {
			class = 1
		}
		of[class] = append(of[class], (j.End - j.Submit).Seconds())
		of[2] = append(of[2], (j.End - j.Submit).Seconds())
	}
	var c [3]tasklog.Class
	for i, seconds := range of {
		slices.Sort(seconds)
		sum := 0.0
		for _, s := range seconds {
			sum += s
		}
		quantile := func(percent int) float64 {
			rank, rest := percent*(len(seconds)-1)/100, percent*(len(seconds)-1)%100
			if rest == 0 {
				return seconds[rank]
			}
			return (seconds[rank]*float64(100-rest) + seconds[rank+1]*float64(rest)) / 100
		}
		c[i] = tasklog.Class{Jobs: len(seconds), Mean: sum / float64(len(seconds)), P50: quantile(50), P90: quantile(90),
			P99: quantile(99)}
	}
	return &tasklog.Figures{Short: c[0], Long: c[1], All: c[2], Makespan: r.Makespan.Seconds()}
}

// The log of every kind of system passes the check, which shares no code with the simulator; so it does with crashes.
func TestLogsPassTheCheck(t *testing.T) {
	w := workload(t)
	crashes := rules()
	crashes.Crashes, crashes.Repair = 200, time.Minute
	for what, c := range map[string]agents.Config{"calm": rules(), "crashes": crashes} {
		t.Run(what, func(t *testing.T) {
			for _, name := range []string{"eagle", "hawk", "sparrow", "dlwl", "clwl", "ideal-eagle"} {
				logged(t, w, eagleOf(t, name), c)
			}
			logged(t, w, pigeonOf(t), c)
			assert.Positive(t, logged(t, w, kairosOf(t), c).Pauses)
			logged(t, w, bigCOf(t, 100), c)
		})
	}
}
