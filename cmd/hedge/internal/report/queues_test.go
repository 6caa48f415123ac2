package report

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/hedgesched/hedge/adapters/sim/tasklog"
)

// Two tasks of a short job wait from 0 to 10 s, one of them is paused from 20 to 30 s, and a long one waits for
// 2,000 s: whatever the steps, what waits adds up.
func TestQueuesAddUpWhatWaits(t *testing.T) {
	q := new(Queues)
	tell := func(kind tasklog.Kind, seconds int, job, task int32) {
		q.Observe(&tasklog.Record{Kind: kind, At: time.Duration(seconds) * time.Second, Job: job, Task: task})
	}
	q.Observe(&tasklog.Record{Kind: tasklog.Submit, Durations: make([]time.Duration, 2)})
	tell(tasklog.Start, 10, 0, 0)
	tell(tasklog.Start, 10, 0, 1)
	tell(tasklog.Pause, 20, 0, 1)
	tell(tasklog.Stop, 25, 0, 0)
	tell(tasklog.Start, 25, 0, 0)
	tell(tasklog.Resume, 30, 0, 1)
	assert.Equal(t, []float64{0, 0}, q.waiting[:])
	q.Observe(&tasklog.Record{Kind: tasklog.Submit, At: 40 * time.Second, Job: 1, Long: true,
		Durations: make([]time.Duration, 1)})
	tell(tasklog.Finish, 50, 0, 0)
	tell(tasklog.Start, 2040, 1, 0)
	tell(tasklog.Finish, 4000, 1, 0)
	var sums [2]float64
	for _, mean := range q.means {
		sums[0], sums[1] = sums[0]+mean[0]*q.step.Seconds(), sums[1]+mean[1]*q.step.Seconds()
	}
	assert.InDelta(t, 2*10+10, sums[0], 1e-9)
	assert.InDelta(t, 2000, sums[1], 1e-9)
	assert.LessOrEqual(t, len(q.means), queueSteps)
}
