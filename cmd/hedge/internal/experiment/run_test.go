package experiment

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/adapters/sim/workload"
)

// A window alone is cut into as many slots as the workload's own; a slot is no shorter than a second
// and no longer than the window.
func TestSlotsFollowTheWindow(t *testing.T) {
	work := &workload.Workload{Jobs: []sim.Job{{Work: sim.Runtime(9 * time.Minute)}}}
	window, slot := work.PlanAhead()
	require.Equal(t, []time.Duration{9 * time.Minute, 45 * time.Second}, []time.Duration{window, slot})
	for asked, want := range map[time.Duration]time.Duration{
		500 * time.Millisecond: 500 * time.Millisecond, 5 * time.Second: time.Second,
		90 * time.Second: 7500 * time.Millisecond, 5 * time.Minute: 25 * time.Second,
		9 * time.Minute: 45 * time.Second, 30 * time.Minute: 150 * time.Second,
		time.Hour: 5 * time.Minute, 4 * time.Hour: 20 * time.Minute, 2400 * time.Hour: 200 * time.Hour,
	} {
		e := &Experiment{spec: Spec{Window: asked}, seeds: []*trained{newTrained(work)}}
		window, slot := e.planAhead()
		assert.Equal(t, asked, window)
		assert.Equal(t, want, slot, "window %v", asked)
		assert.NoError(t, checkWindow(window, slot))
	}
}

// A slot that the workload suggests is no shorter than a cycle.
func TestSlotsAreNoShorterThanCycles(t *testing.T) {
	work := &workload.Workload{Jobs: []sim.Job{{Work: sim.Runtime(9 * time.Minute)}}}
	for cycle, want := range map[time.Duration][2]time.Duration{
		0: {9 * time.Minute, 45 * time.Second}, 10 * time.Second: {9 * time.Minute, 45 * time.Second},
		time.Minute: {9 * time.Minute, time.Minute}, 2 * time.Minute: {10 * time.Minute, 2 * time.Minute},
	} {
		e := &Experiment{spec: Spec{Cycle: cycle}, seeds: []*trained{newTrained(work)}}
		window, slot := e.planAhead()
		assert.Equal(t, want, [2]time.Duration{window, slot}, "cycle %v", cycle)
	}
}
