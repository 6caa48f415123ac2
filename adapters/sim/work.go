package sim

import (
	"slices"
	"time"
)

// Work is what a job does, of one of these kinds:
//
//   - [Runtime]: all its tasks take the same time;
//   - [Tasks]: each of its tasks takes its own time.
//
// Times are at full speed: on nodes that the job prefers, with all that it asks for. The zero value is work that takes
// no time. A Work is read by its methods only, so that a further kind (each task's use of resources over time) changes
// nothing for those who hold one.
type Work struct {
	runtime time.Duration   // of the longest task
	tasks   []time.Duration // of each task, where each has its own; else nil
}

// Runtime is the work of a job whose tasks all take the time d, 0 to 50 years.
func Runtime(d time.Duration) Work { return Work{runtime: d} }

// Tasks is the work of a job whose tasks take the given times, one per task of the job, 0 to 50 years each. The
// times are kept and must not be changed.
func Tasks(times []time.Duration) Work {
	if len(times) == 0 {
		return Work{tasks: []time.Duration{}}
	}
	return Work{tasks: times, runtime: slices.Max(times)}
}

// Runtime is how long the work takes if all tasks start at once: the time of the longest task.
func (w Work) Runtime() time.Duration { return w.runtime }

// fits tells whether the work is that of this number of tasks.
func (w Work) fits(tasks int) bool { return w.tasks == nil || len(w.tasks) == tasks }

// shortest is the time of the shortest task.
func (w Work) shortest() time.Duration {
	if len(w.tasks) == 0 {
		return w.runtime
	}
	return slices.Min(w.tasks)
}
