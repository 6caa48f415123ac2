package experiment

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/hedgesched/hedge/adapters/sim"
)

// TestRoom: by hand, on two nodes in two hours. A job that met its deadline held one node for half an hour, the missed
// one counts nothing, and so capacity leaves 3.5 machine-hours. The best-effort jobs that could end in time have work
// of 1 and 2, and the one that could not has none.
func TestRoom(t *testing.T) {
	h := time.Hour
	records := []sim.JobRecord{
		{ID: "met", Tasks: 1, Submit: 0, Deadline: h, Runtime: h / 2, Start: 0, Finish: h / 2, Stop: h / 2},
		{ID: "missed", Tasks: 2, Submit: 0, Deadline: h, Runtime: h, Start: h / 2, Finish: 2 * h, Stop: 2 * h},
		{ID: "a", Tasks: 1, Submit: 0, Runtime: h, Start: h / 2, Finish: 3 * h / 2, Stop: 3 * h / 2},
		{ID: "b", Tasks: 2, Submit: h / 4, Runtime: h, Start: -1, Finish: -1, Stop: -1},
		{ID: "long", Tasks: 1, Submit: h, Runtime: 2 * h, Start: 2 * h, Finish: 4 * h, Stop: 4 * h},
	}
	got := bestEffort(records, 2, 2*h)
	assert.InDelta(t, 3, got.RoomMachineHours, 1e-12)
	assert.InDelta(t, 3.75*3600, got.LongestWaitS, 1e-9, "b waits to the end")
	assert.InDelta(t, 0.5, bestEffort(records, 1, h).RoomMachineHours, 1e-12, "capacity is less than the work")
	assert.Zero(t, *bestEffort(nil, 1, h))
}
