package threesigma_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/schedtest"
	"github.com/hedgesched/hedge/sched/threesigma"
	"github.com/hedgesched/hedge/solver"
)

// following is a policy whose slots follow from the jobs at hand, and the engine that records its problems.
func following(t testing.TB) (*threesigma.Policy, *recorder) {
	t.Helper()
	engine := record()
	p, err := threesigma.New(threesigma.Config{Solver: engine})
	require.NoError(t, err)
	return p, engine
}

// waiting is a full node and jobs that wait for it, with that deadline.
func waiting(t testing.TB, deadlines ...time.Duration) *sched.Snapshot {
	t.Helper()
	s := cluster(t, 1, epoch)
	for i, d := range deadlines {
		s.Pending = append(s.Pending,
			sched.Pending{Job: slo(t, fmt.Sprintf("%d", i), 1, d), Prediction: forecast(point(t, d.Seconds()/10))})
	}
	return s
}

// TestSlotsFollowTheJobs: jobs of hours are planned in slots of minutes, jobs of minutes in shorter ones.
func TestSlotsFollowTheJobs(t *testing.T) {
	for deadline, slot := range map[time.Duration]float64{
		time.Minute: 10, 5 * time.Minute: 20, 24 * time.Minute: 120, 6 * time.Hour: 1800, 3 * 24 * time.Hour: 6 * 3600,
	} {
		p, engine := following(t)
		plan(t, p, waiting(t, deadline, deadline))
		assert.InDelta(t, slot, engine.slotSeconds, 0, deadline)
		n := engine.slots
		assert.True(t, n >= 12 && n <= 20, "%v: %d slots", deadline, n)
		assert.GreaterOrEqual(t, float64(n)*slot, deadline.Seconds())
	}
}

// TestSlotsStay: a few jobs of another kind do not change the slots, many do, and what was planned stays planned.
func TestSlotsStay(t *testing.T) {
	p, engine := following(t)
	plan(t, p, waiting(t, time.Hour, time.Hour))
	require.InDelta(t, 300, engine.slotSeconds, 0)
	plan(t, p, waiting(t, time.Hour, 110*time.Minute))
	assert.InDelta(t, 300, engine.slotSeconds, 0)
	before := plan(t, p, waiting(t, time.Hour, time.Hour))
	after := plan(t, p, waiting(t, time.Hour, time.Hour, 48*time.Hour, 48*time.Hour))
	assert.InDelta(t, 4*3600, engine.slotSeconds, 0)
	assert.Equal(t, before["0"].Kind, after["0"].Kind)
}

// TestFollowingConforms: a policy whose slots follow from the jobs does what every policy owes its loop.
func TestFollowingConforms(t *testing.T) {
	schedtest.RunPolicy(t, func() sched.Policy {
		p, err := threesigma.New(threesigma.Config{Options: solver.Options{Work: 2000}})
		require.NoError(t, err)
		return p
	})
}
