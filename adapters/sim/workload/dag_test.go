package workload_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/adapters/sim/trace"
	"github.com/hedgesched/hedge/adapters/sim/workload"
)

// diamonds is a log of n jobs of four stages each, one a minute or all at once.
func diamonds(n int, every time.Duration) []trace.Job {
	var out []trace.Job
	for i := range n {
		whole := fmt.Sprint("w", i)
		for k, s := range []struct {
			minutes int
			after   []string
		}{{2, nil}, {3, []string{"a"}}, {5, []string{"a"}}, {1, []string{"b", "c"}}} {
			j := trace.Job{ID: whole + string(rune('a'+k)), Of: whole, Line: len(out) + 1, Wait: -1, Tasks: 2,
				Submit: time.Duration(i) * every, Runtime: time.Duration(s.minutes) * time.Minute, Outcome: trace.Finished,
				Attributes: map[string]string{"name": string(rune('a' + k))}}
			for _, p := range s.after {
				j.After = append(j.After, whole+p)
			}
			out = append(out, j)
		}
	}
	return out
}

func dagSpec(nodes int, load float64) workload.Spec {
	s := workload.Default()
	s.Kind, s.Nodes, s.Racks, s.Load, s.Hours, s.Slack, s.PreferShare = workload.DAG, nodes, 1, load, 2, []float64{50}, 1
	return s
}

// check verifies that each whole job is complete, and its stages have one deadline: its longest path and half as much.
func checkDiamonds(t *testing.T, w *workload.Workload) {
	t.Helper()
	require.Len(t, w.From, len(w.Jobs))
	require.Equal(t, 4*w.Whole, len(w.Jobs))
	slo := 0
	for i := 0; i < len(w.Jobs); i += 4 {
		first := &w.Jobs[i]
		for k := range 4 {
			j := &w.Jobs[i+k]
			assert.Equal(t, first.Of, j.Of)
			assert.Equal(t, first.Arrive, j.Arrive)
			assert.Equal(t, first.Deadline, j.Deadline)
			assert.Equal(t, first.Priority, j.Priority)
			assert.Equal(t, w.From[i+k].ID, j.ID)
			assert.Len(t, j.After, []int{0, 1, 1, 2}[k])
		}
		if first.Deadline > 0 {
			slo++
			assert.Equal(t, 12*time.Minute, first.Deadline, "(2 + 5 + 1) · 1.5")
		}
	}
	assert.Equal(t, slo, w.SLOJobs)
	assert.Equal(t, 8*w.Whole, w.Tasks)
}

func TestDAGTakesWholeJobs(t *testing.T) {
	w, err := workload.Build(diamonds(600, time.Minute), dagSpec(10, 0.8))
	require.NoError(t, err)
	checkDiamonds(t, w)
	assert.InEpsilon(t, 0.8, w.Load, 0.03)
	assert.Equal(t, 44, int(w.MachineHours*120/float64(2*w.Whole)+0.5)*2, "22 machine-minutes each")
	assert.NotEmpty(t, w.Train)
	again, err := workload.Build(diamonds(600, time.Minute), dagSpec(10, 0.8))
	require.NoError(t, err)
	assert.Equal(t, w.Jobs, again.Jobs)
}

// A log without submissions: jobs are drawn, arrive over the whole span, and as many are history.
func TestDAGDrawsWhereTheLogHasNoSubmissions(t *testing.T) {
	w, err := workload.Build(diamonds(7, 0), dagSpec(20, 1))
	require.NoError(t, err)
	checkDiamonds(t, w)
	assert.InEpsilon(t, 1, w.Load, 0.03)
	assert.Greater(t, len(w.Train), len(w.Jobs)/2)
	assert.Greater(t, w.Jobs[len(w.Jobs)-1].Arrive, 100*time.Minute)
	ids := map[string]bool{}
	for _, j := range w.Jobs {
		require.False(t, ids[j.ID])
		ids[j.ID] = true
	}
}

// A log without stages: chains of 2 to 5 jobs of one user and name, as in SLearn's paper.
func TestDAGMakesJobsOfStages(t *testing.T) {
	s := dagSpec(64, 0.8)
	s.MaxShare = 1
	log := synthetic(8000, 1)
	of := map[string]*trace.Job{}
	for i := range log {
		of[log[i].ID] = &log[i]
	}
	w, err := workload.Build(log, s)
	require.NoError(t, err)
	sizes := map[string]int{}
	var last *sim.Job
	for i := range w.Jobs {
		j := &w.Jobs[i]
		sizes[j.Of]++
		if sizes[j.Of] == 1 {
			assert.Empty(t, j.After)
		} else {
			require.Equal(t, []string{last.ID}, j.After)
			assert.Equal(t, of[last.ID].Attributes["user"], of[j.ID].Attributes["user"])
			assert.Equal(t, of[last.ID].Attributes["name"], of[j.ID].Attributes["name"])
		}
		last = j
	}
	counts := map[int]int{}
	for _, n := range sizes {
		counts[n]++
	}
	assert.Len(t, counts, 4)
	for n := 2; n <= 5; n++ {
		assert.Positive(t, counts[n], "%d stages", n)
	}
	assert.Positive(t, w.Skipped[workload.SkippedLeftOver])
}

func TestDAGLeavesOutWholeJobs(t *testing.T) {
	log := diamonds(600, time.Minute)
	log[1].Outcome = trace.Failed
	log[6].Tasks = 1000
	s := dagSpec(10, 0.8)
	s.StartHour = -1
	w, err := workload.Build(log, s)
	require.NoError(t, err)
	checkDiamonds(t, w)
	assert.Equal(t, map[string]int{workload.SkippedFailed: 1, workload.SkippedTooWide: 1},
		map[string]int{workload.SkippedFailed: w.Skipped[workload.SkippedFailed],
			workload.SkippedTooWide: w.Skipped[workload.SkippedTooWide]})
}

func TestStagesAreForDAGAndReplay(t *testing.T) {
	s := dagSpec(10, 0.8)
	s.Kind = workload.Window
	_, err := workload.Build(diamonds(600, time.Minute), s)
	require.ErrorContains(t, err, "expected dag or replay")
	s.Kind, s.Hours = workload.Replay, 0
	log := diamonds(3, time.Minute)
	log[1].Tasks = 1000 // and what waits for it
	w, err := workload.Build(log, s)
	require.NoError(t, err)
	assert.Equal(t, map[string]int{workload.SkippedTooWide: 1, workload.SkippedParent: 1}, w.Skipped)
	log[2].After = []string{"nobody"}
	_, err = workload.Build(log, s)
	require.ErrorContains(t, err, `after names "nobody"`)
}
