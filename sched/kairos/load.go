package kairos

import "time"

// Load is what a heartbeat tells of a worker's tasks: sums of the service that they have attained, in seconds, from
// which it is known at any later time, until something else than the clock changes them. So a worker with no change to
// tell sends no heartbeat.
type Load struct {
	// Tasks are on the worker, Running of them on a core.
	Tasks, Running int32
	// At is when the sums are of.
	At time.Duration
	// Sum and Squares are of all tasks, SumRunning of those that run.
	Sum, Squares, SumRunning float64
}

// add counts a task.
func (l *Load) add(attained time.Duration, running bool) {
	s := attained.Seconds()
	l.Tasks++
	l.Sum += s
	l.Squares += float64(s * s)
	if running {
		l.Running++
		l.SumRunning += s
	}
}

// sum is the service that the tasks have attained together.
func (l *Load) sum(now time.Duration) float64 {
	return l.Sum + float64((now-l.At).Seconds()*float64(l.Running))
}

// variance is that of the service that each task has attained.
func (l *Load) variance(now time.Duration) float64 {
	if l.Tasks < 2 {
		return 0
	}
	d, n := (now - l.At).Seconds(), float64(l.Tasks)
	squares := l.Squares + float64(2*d*l.SumRunning) + float64(d*d*float64(l.Running))
	mean := l.sum(now) / n
	return max(0, squares/n-float64(mean*mean))
}
