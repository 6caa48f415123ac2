package baseline

import (
	"time"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/paths"
)

// NewCriticalPath is critical path first, for jobs with stages: the stage from whose start the longest way is left to
// the end of its whole job, by means. It knows no deadlines. Jobs that do not fit are passed over, as in [NewEDF].
func NewCriticalPath() sched.Policy {
	var q *queue
	q = ranked("critical-path", func(p *sched.Pending) rank {
		own, rest := q.left(p)
		return rank{key: -(own + rest)}
	})
	q.rests = new(paths.Rests)
	return q
}

// NewEDFShare is [NewEDF] in which a stage has a deadline of its own: of the time from when it is ready to the deadline
// of its whole job it gets the share that its mean runtime is of the longest path that is left.
func NewEDFShare() sched.Policy {
	var q *queue
	q = ranked("edf-share", func(p *sched.Pending) rank {
		if p.Job.Deadline <= 0 {
			return rank{class: 1}
		}
		at := p.Job.Submitted.Add(p.Job.Deadline)
		own, rest := q.left(p)
		if until := at.Sub(q.now); rest > 0 && until > 0 {
			at = q.now.Add(time.Duration(float64(until) * (own / (own + rest))))
		}
		return rank{at: at}
	})
	q.rests = new(paths.Rests)
	return q
}

// left are the means of a stage's own runtime, and of what is left of its whole job after it, in seconds.
func (q *queue) left(p *sched.Pending) (own, rest float64) {
	own = p.Prediction.Point
	if p.Prediction.Dist != nil {
		own = p.Prediction.Dist.Mean()
	}
	var d *dist.Histogram
	if d, _ = q.rests.After(p.Job.ID); d != nil { // a forecast that is none counts as nothing
		rest = d.Mean()
	}
	return own, rest
}
