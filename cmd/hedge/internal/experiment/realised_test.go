package experiment

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/utility"
)

// TestRealisedUtility: a job counts by when it completed, since its arrival; one with stages counts once, by its last
// stage, and not at all if a stage did not complete.
func TestRealisedUtility(t *testing.T) {
	worth, err := utility.LinearDecay(10, 100*time.Second)
	require.NoError(t, err)
	job := func(id, of string, arrive time.Duration) sim.Job {
		return sim.Job{Job: sched.Job{ID: id, Of: of, Tasks: 1, Utility: worth}, Arrive: arrive}
	}
	record := func(id, of string, finish time.Duration) sim.JobRecord {
		return sim.JobRecord{ID: id, Of: of, Finish: finish}
	}
	jobs := []sim.Job{
		job("a", "", 20*time.Second), job("dropped", "", 0), job("s1", "s", 0), job("s2", "s", 0), job("u1", "u", 0),
		job("u2", "u", 0),
	}
	records := []sim.JobRecord{
		record("a", "", 50*time.Second), record("dropped", "", -1), record("s1", "s", 60*time.Second),
		record("s2", "s", 40*time.Second), record("u1", "u", -1), record("u2", "u", 9*time.Second),
	}
	assert.InDelta(t, 7+4, realised(jobs, records), 1e-12)
}
