package sim

import "time"

// taskTime is an exact amount of task-time: whole task-seconds and
// task-nanoseconds below one second. In nanoseconds alone a large cluster overflows
// an int64 within weeks.
type taskTime struct {
	seconds, nanos int64
}

// add puts tasks that ran for d on top.
func (t *taskTime) add(tasks int, d time.Duration) {
	t.seconds += int64(tasks) * int64(d/time.Second)
	t.nanos += int64(tasks) * int64(d%time.Second)
	t.seconds += t.nanos / int64(time.Second)
	t.nanos %= int64(time.Second)
}

// plus returns the sum of two amounts.
func (t taskTime) plus(o taskTime) taskTime {
	t.seconds += o.seconds
	t.nanos += o.nanos
	t.seconds += t.nanos / int64(time.Second)
	t.nanos %= int64(time.Second)
	return t
}

// taskSeconds is the amount as one number.
func (t taskTime) taskSeconds() float64 {
	return float64(t.seconds) + float64(t.nanos)/1e9
}

// machineHours is the amount in hours of machines of tasksPerNode tasks.
func (t taskTime) machineHours(tasksPerNode int) float64 {
	return t.taskSeconds() / 3600 / float64(tasksPerNode)
}
