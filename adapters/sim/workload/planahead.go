package workload

import (
	"math"
	"slices"
	"time"
)

// planQuantile is the share of the deadlines that the suggested window covers.
const planQuantile = 0.85

// slotLengths are the slots that PlanAhead chooses from.
var slotLengths = [...]time.Duration{
	time.Second, 1500 * time.Millisecond, 2 * time.Second, 3 * time.Second, 5 * time.Second,
	7500 * time.Millisecond, 10 * time.Second, 15 * time.Second, 20 * time.Second, 30 * time.Second,
	45 * time.Second, time.Minute, 90 * time.Second, 2 * time.Minute, 3 * time.Minute, 5 * time.Minute,
	450 * time.Second, 10 * time.Minute, 15 * time.Minute, 20 * time.Minute, 30 * time.Minute,
	45 * time.Minute, time.Hour, 90 * time.Minute, 2 * time.Hour, 3 * time.Hour, 4 * time.Hour,
	6 * time.Hour, 8 * time.Hour, 12 * time.Hour, 18 * time.Hour, 24 * time.Hour,
}

// PlanAhead suggests a plan-ahead window and slot length: the window covers the
// 85th percentile of the time from submission to deadline (of the runtime, where no job has a
// deadline), so that for most jobs every start in time is an option; the slot is a round length that
// divides it into 12 to 20, which keeps the problem small. The window is at least 12 s,
// and at most some 20 days.
func (w *Workload) PlanAhead() (window, slot time.Duration) {
	var spans []time.Duration
	for i := range w.Jobs {
		if d := w.Jobs[i].Deadline; d > 0 {
			spans = append(spans, d)
		}
	}
	if len(spans) == 0 {
		for i := range w.Jobs {
			spans = append(spans, w.Jobs[i].Runtime)
		}
	}
	slot = slotLengths[0]
	if len(spans) == 0 {
		return 12 * slot, slot
	}
	slices.Sort(spans)
	want := spans[int(math.Ceil(planQuantile*float64(len(spans))))-1]
	for _, l := range slotLengths {
		if 12*l <= want {
			slot = l
		}
	}
	n := (want + slot - 1) / slot
	n = min(max(n, 12), 20)
	return n * slot, slot
}
