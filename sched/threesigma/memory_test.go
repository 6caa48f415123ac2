package threesigma_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/threesigma"
)

// TestMemory: what the solver has learned comes back in the next cycle, moved on by the slots that have passed, and not
// after a whole window.
func TestMemory(t *testing.T) {
	engine := record()
	p := policy(t, threesigma.Config{Solver: engine, Slot: time.Minute, Window: 10 * time.Minute})
	running := sched.Running{Job: be(t, "a", 1), Prediction: forecast(point(t, 3000)), Started: epoch,
		Nodes: []sched.NodeTasks{{Node: "n0", Tasks: 1}}}
	for i, c := range []struct {
		at    time.Duration
		known bool
		slots int
	}{
		{0, false, 0},
		{10 * time.Second, true, 0},
		{130 * time.Second, true, 2},
		{160 * time.Second, true, 1}, // half a slot
		{12 * time.Minute, true, 9},
		{22 * time.Minute, false, 0},
		{21 * time.Minute, false, 0}, // a clock that was put back
	} {
		s := cluster(t, 1, epoch.Add(c.at), running)
		s.Pending = []sched.Pending{{Job: be(t, "next", 1), Prediction: forecast(uniform(t, 59, 60))}}
		plan(t, p, s)
		require.Equal(t, i+1, engine.asked)
		require.NotNil(t, engine.opts.Memory)
		note, slots := engine.opts.Memory.Note("native")
		assert.Equal(t, c.known, note != nil, "at %v", c.at)
		assert.Equal(t, c.slots, slots, "at %v", c.at)
	}

	off := record()
	p = policy(t, threesigma.Config{Solver: off, Without: threesigma.WarmStart})
	s := cluster(t, 1, epoch, running)
	s.Pending = []sched.Pending{{Job: be(t, "next", 1), Prediction: forecast(uniform(t, 59, 60))}}
	plan(t, p, s)
	assert.Nil(t, off.opts.Memory)
}
