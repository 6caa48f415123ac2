package sim

import "time"

// TaskTime is an exact amount of task-time, such as ten seconds of two tasks or one of twenty. An int64 of nanoseconds
// would overflow within weeks of a large cluster.
type TaskTime struct {
	seconds, nanos int64 // nanos below a second
}

// taskTime is that of a number of tasks during d; neither is negative.
func taskTime(tasks int, d time.Duration) TaskTime {
	return TaskTime{
		seconds: int64(tasks) * int64(d/time.Second),
		nanos:   int64(tasks) * int64(d%time.Second),
	}.carried()
}

// carried takes whole seconds out of the nanoseconds.
func (t TaskTime) carried() TaskTime {
	t.seconds += t.nanos / int64(time.Second)
	t.nanos %= int64(time.Second)
	return t
}

// plus returns the sum of two amounts.
func (t TaskTime) plus(o TaskTime) TaskTime {
	return TaskTime{seconds: t.seconds + o.seconds, nanos: t.nanos + o.nanos}.carried()
}

// minus returns t without a part of it.
func (t TaskTime) minus(part TaskTime) TaskTime {
	if t.nanos < part.nanos {
		t.seconds--
		t.nanos += int64(time.Second)
	}
	return TaskTime{seconds: t.seconds - part.seconds, nanos: t.nanos - part.nanos}
}

// Seconds is the amount in task-seconds.
func (t TaskTime) Seconds() float64 {
	return float64(t.seconds) + float64(t.nanos)/1e9
}

// machineHours is the amount in hours of machines of tasksPerNode tasks.
func (t TaskTime) machineHours(tasksPerNode int) float64 {
	return t.Seconds() / 3600 / float64(tasksPerNode)
}
