package adapters

import (
	"math"
	"time"

	"github.com/hedgesched/hedge/sched"
)

// MaxTasks is the largest gang that is scheduled. A driver refuses wider ones where it reads their size, before it
// makes anything of that size.
const MaxTasks = 1000

// Progress is how much of a job's work an attempt has done, at full speed: from when all of the gang's tasks ran until
// the first ended without its work done, or until the given time of the cluster's clock for those that still run; of
// tasks that have no end, nothing counts where that is zero. It is divided by the job's slowdown as soon as one task
// was off the preferred nodes, or on one whose labels are not known. It is 0 of a gang that was never whole, and never
// negative.
//
// It depends on the attempt alone. What it adds to, [Job].Done as it was when the attempt began, must be kept with the
// attempt's number, so that an attempt that is told to stop more than once, or is found again after a crash, is counted
// once.
func Progress(job *sched.Job, tasks []Task, until time.Time, labels func(node string) map[string]string) time.Duration {
	if len(tasks) == 0 || len(tasks) < job.Tasks {
		return 0
	}
	var from, to, done time.Time
	slowed, pace := false, job.SlowdownOrOne()
	for i := range tasks {
		t := &tasks[i]
		if t.Started.IsZero() {
			return 0
		}
		from = latest(from, t.Started)
		slowed = slowed || pace > 1 && (i == 0 || t.Node != tasks[i-1].Node) && !job.Preferred.Matches(labels(t.Node))
		end := t.Ended
		switch {
		case t.State == Finished:
			done = latest(done, end)
			continue
		case end.IsZero():
			end = until
		}
		if to.IsZero() || !end.IsZero() && end.Before(to) {
			to = end
		}
	}
	if to.IsZero() {
		to = done
	}
	span := max(0, to.Sub(from))
	if slowed {
		span = time.Duration(math.Round(float64(span) / pace))
	}
	return span
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
