package workload

import (
	"time"

	"github.com/hedgesched/hedge/sched/place"
)

// PlanAhead suggests a plan-ahead window and slot length: [place.PlanAhead] of the times from submission to deadline
// or, where no job has a deadline, of the runtimes.
func (w *Workload) PlanAhead() (window, slot time.Duration) {
	var spans []time.Duration
	for i := range w.Jobs {
		if d := w.Jobs[i].Deadline; d > 0 {
			spans = append(spans, d)
		}
	}
	if len(spans) == 0 {
		for i := range w.Jobs {
			spans = append(spans, w.Jobs[i].Work.Runtime())
		}
	}
	return place.PlanAhead(spans)
}
