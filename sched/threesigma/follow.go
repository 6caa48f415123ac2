package threesigma

import (
	"time"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/place"
)

// follow lets the window and the slot follow from the jobs at hand, as [Config.Slot] says, if neither is set. They stay
// as they are until the jobs ask for a window of less than half or more than twice its length, because much of what the
// policy keeps, and what the solver has learned, is in slots.
func (p *Policy) follow(s *sched.Snapshot) {
	if !p.cfg.follows {
		return
	}
	p.spans = p.spans[:0]
	for i := range s.Pending {
		p.span(s.Pending[i].Job, s.Pending[i].Prediction.Point)
	}
	for i := range s.Running {
		p.span(s.Running[i].Job, s.Running[i].Prediction.Point)
	}
	if len(p.spans) == 0 {
		return
	}
	window, slot := place.PlanAhead(p.spans)
	if slot < p.period { // starts are decided once a cycle: finer slots would only make the problem larger
		window, slot = max((window-1)/p.period+1, 12)*p.period, p.period
	}
	if p.followed && window/2 <= p.cfg.Window && window >= p.cfg.Window/2 {
		return
	}
	p.followed = true
	if slot != p.cfg.Slot || window != p.cfg.Window {
		p.cfg.Window, p.cfg.Slot = window, slot
		p.learned = nil
	}
}

// maxSpan is the longest span that is looked at.
const maxSpan = 1000 * 24 * time.Hour

// span notes the time from a job's submission to its deadline or, without one, its predicted runtime.
func (p *Policy) span(j *sched.Job, runtime float64) {
	switch {
	case j.Deadline > 0:
		p.spans = append(p.spans, min(j.Deadline, maxSpan))
	case runtime > 0:
		p.spans = append(p.spans, time.Duration(min(runtime*float64(time.Second), float64(maxSpan))))
	}
}
