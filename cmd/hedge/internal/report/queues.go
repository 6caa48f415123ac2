package report

import (
	"time"

	"github.com/hedgesched/hedge/adapters/sim/tasklog"
)

// Queues measures over a run how many tasks of each class wait: those submitted that neither run nor have ended, paused
// ones too. It is told of records ([tasklog.Observer]). The zero value is ready.
type Queues struct {
	step    time.Duration
	means   [][2]float64 // tasks, of each step: short and long
	first   []int32      // of each job's tasks
	long    []bool       // of each job
	running []bool       // of each task
	waiting [2]float64
	at      time.Duration
}

// queueSteps is the most steps that are kept: each is twice as long when there are more.
const queueSteps = 512

// Observe counts what a record changes.
func (q *Queues) Observe(r *tasklog.Record) {
	q.pass(r.At)
	switch r.Kind {
	case tasklog.Submit:
		for int(r.Job) >= len(q.first) {
			q.first, q.long = append(q.first, 0), append(q.long, false)
		}
		q.first[r.Job], q.long[r.Job] = int32(len(q.running)), r.Long
		q.running = append(q.running, make([]bool, len(r.Durations))...)
		q.waiting[class(r.Long)] += float64(len(r.Durations))
	case tasklog.Start, tasklog.Resume:
		q.set(r, true, -1)
	case tasklog.Pause, tasklog.Stop:
		q.set(r, false, 1)
	case tasklog.Finish:
		q.set(r, false, 0)
	}
}

func class(long bool) int {
	if long {
		return 1
	}
	return 0
}

// set changes whether a task runs, and if that is new what waits.
func (q *Queues) set(r *tasklog.Record, runs bool, by float64) {
	if now := &q.running[q.first[r.Job]+r.Task]; *now != runs {
		*now = runs
		q.waiting[class(q.long[r.Job])] += by
	}
}

// pass adds up what has waited until a time.
func (q *Queues) pass(to time.Duration) {
	if q.step == 0 {
		q.step = time.Second
	}
	for int64(to/q.step) >= queueSteps {
		q.coarser()
	}
	for q.at < to {
		step := int(q.at / q.step)
		for step >= len(q.means) {
			q.means = append(q.means, [2]float64{})
		}
		until := min(to, time.Duration(step+1)*q.step)
		for c := range q.waiting {
			q.means[step][c] += float64(q.waiting[c] * ((until - q.at).Seconds() / q.step.Seconds()))
		}
		q.at = until
	}
}

// coarser doubles the step.
func (q *Queues) coarser() {
	q.step *= 2
	half := (len(q.means) + 1) / 2
	for i := range half {
		var sum [2]float64
		for k := 2 * i; k < min(2*i+2, len(q.means)); k++ {
			sum[0] += float64(q.means[k][0] / 2)
			sum[1] += float64(q.means[k][1] / 2)
		}
		q.means[i] = sum
	}
	q.means = q.means[:half]
}
