package results

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/hedgesched/hedge/adapters/sim"

	"github.com/hedgesched/hedge/cmd/hedge/internal/experiment"
)

func TestReliability(t *testing.T) {
	job := func(told float64, late bool) sim.JobRecord {
		r := sim.JobRecord{Class: sim.SLO, Told: told, Deadline: time.Minute, Finish: time.Second}
		if late {
			r.Finish = time.Hour
		}
		return r
	}
	never := job(0.5, false)
	never.Start, never.Finish = -1, -1
	best := sim.JobRecord{Class: sim.BestEffort, Told: 0.5}
	got := reliability([]experiment.Run{
		{Jobs: []sim.JobRecord{job(0.92, false), job(1, false), job(0, true), never, best}},
		{Jobs: []sim.JobRecord{job(0.95, true), job(-1, false)}},
	})
	assert.Equal(t, 3, got[9].Jobs)
	assert.Equal(t, 2, got[9].Met)
	assert.InDelta(t, 2.87, got[9].Told, 1e-12)
	assert.Equal(t, bin{Jobs: 1}, got[0])
	for i := 1; i < 9; i++ {
		assert.Zero(t, got[i].Jobs)
	}
}

func TestReliable(t *testing.T) {
	even := func(jobs, met int) bool {
		b := bin{Jobs: jobs, Met: met, Told: float64(jobs) / 2, Variance: float64(jobs) / 4}
		return b.reliable()
	}
	assert.True(t, even(1000, 550))
	assert.False(t, even(1000, 551))
	assert.True(t, even(100, 50+13), "2.576·5 = 12.9, and half a job")
	assert.False(t, even(100, 50+14))
	assert.False(t, even(999, 500-42))
	assert.True(t, even(1, 0))
}
