package adapters

import (
	"math"
	"time"

	"github.com/hedgesched/hedge/sched"
)

// MaxTasks is the size of the largest gang that is scheduled. A driver refuses larger gangs when it reads their size,
// before it allocates anything of that size.
const MaxTasks = 1000

// Progress is the work that an attempt has done, as a time at full speed. It counts from the moment when all tasks of
// the gang ran, to the moment when the first task ended without having done its work. A task without an end counts as
// ending at until, by the cluster's clock; if until is zero, such tasks are left out. The time counts with the speed of
// the slowest node ([sched.Speeds]). Progress is 0 for a gang
// that was never whole. It is never negative.
//
// Progress depends on the attempt alone. It is added to the value that [Job].Done had when the attempt began. A driver
// must keep that value together with the attempt's number. Then an attempt counts once, even if it is stopped more than
// once or found again after a crash.
func Progress(job *sched.Job, tasks []Task, until time.Time, labels func(node string) map[string]string) time.Duration {
	if len(tasks) == 0 || len(tasks) < job.Tasks {
		return 0
	}
	var from, to, done time.Time
	speed := 1.0
	for i := range tasks {
		t := &tasks[i]
		if t.Started.IsZero() {
			return 0
		}
		from = latest(from, t.Started)
		if !job.Speeds.Even() && (i == 0 || t.Node != tasks[i-1].Node) {
			speed = min(speed, job.Speeds.On(labels(t.Node)))
		}
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
	if s := sched.Stretch(speed); s > 1 {
		span = time.Duration(math.Round(float64(span) / s))
	}
	return span
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
