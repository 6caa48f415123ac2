package experiment

import (
	"time"

	"github.com/hedgesched/hedge/adapters/sim"
)

// BestEffort are figures of a run's jobs without deadlines, beside what capacity could give them.
type BestEffort struct {
	// RoomMachineHours bounds the work of best-effort jobs that could be completed while jobs arrive, beside the jobs that
	// met their deadlines: it is the capacity less what these held, or less if there is less such work. No schedule that
	// meets these deadlines in this way completes more.
	RoomMachineHours float64 `json:"room_machine_hours"`
	// LongestWaitS is the longest time from a job's submission to the start of the run in which it was completed, or to
	// the last event where there was none.
	LongestWaitS float64 `json:"longest_wait_s"`
}

// bestEffort computes the figures of a run on a number of nodes, one task each, of which the first span is measured.
func bestEffort(records []sim.JobRecord, nodes int, span time.Duration) *BestEffort {
	last := time.Duration(0)
	for i := range records {
		last = max(last, records[i].Stop, records[i].Submit)
	}
	held, work, longest := 0.0, 0.0, time.Duration(0)
	for i := range records {
		r := &records[i]
		tasks := float64(r.Tasks)
		if r.Deadline > 0 {
			if !r.Missed() {
				held += float64(tasks * (min(r.Finish, span) - min(r.Start, span)).Hours())
			}
			continue
		}
		if r.Submit+r.Runtime <= span {
			work += float64(tasks * r.Runtime.Hours())
		}
		wait := last - r.Submit
		if r.Finish >= 0 {
			wait = r.Start - r.Submit
		}
		longest = max(longest, wait)
	}
	return &BestEffort{RoomMachineHours: max(0, min(work, float64(float64(nodes)*span.Hours())-held)),
		LongestWaitS: longest.Seconds()}
}
