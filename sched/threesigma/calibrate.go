package threesigma

import (
	"time"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/internal/odds"
)

// telling is what was told of a job that runs.
type telling struct {
	odds.Foretold
	deadline time.Time
}

// review learns from what became of the jobs that were told something: a job that has finished has met its deadline or
// not, and one that still runs after its deadline has missed it. A job that is neither running nor finished teaches
// nothing: it was stopped or withdrawn. So no more is kept than of the jobs that run.
func (p *Policy) review(s *sched.Snapshot) {
	if len(p.told) == 0 {
		return
	}
	for _, c := range s.Completed {
		if t, told := p.told[c.Job]; told {
			p.calibrator.Learn(t.Foretold, !c.At.After(t.deadline), 1)
			delete(p.told, c.Job)
		}
	}
	kept := make(map[string]telling, len(p.told))
	for i := range s.Running {
		id := s.Running[i].Job.ID
		switch t, told := p.told[id]; {
		case !told:
		case s.Now.After(t.deadline):
			p.calibrator.Learn(t.Foretold, false, 1)
		default:
			kept[id] = t
		}
	}
	p.told = kept
}

// tell notes what is told with a start, to learn from what becomes of it.
func (p *Policy) tell(j *sched.Job, f odds.Foretold) {
	p.told[j.ID] = telling{Foretold: f, deadline: j.Submitted.Add(j.Deadline)}
}
