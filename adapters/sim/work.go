package sim

import (
	"slices"
	"time"

	"github.com/hedgesched/hedge/adapters/sim/internal/timeshare"
	"github.com/hedgesched/hedge/adapters/sim/taskuse"
	"github.com/hedgesched/hedge/predict"
)

// Work is what a job does, of one of these kinds:
//
//   - [Runtime]: all its tasks take the same time;
//   - [Tasks]: each of its tasks takes its own time;
//   - [Usage]: each of its tasks uses CPU and memory over time.
//
// Times are at full speed: on nodes that the job prefers, with all the CPU that it wants. The zero value is work that
// takes no time.
type Work struct {
	runtime time.Duration    // of the longest task
	tasks   []time.Duration  // of each task, where each has its own; else nil
	use     []taskuse.Series // of each task, where that is known; else nil
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

// Usage is the work of a job whose tasks use CPU and memory as the series say, one for each task of the job. Nodes then
// offer CPU and memory, which tasks share: see [Run]. The series are kept and must not be changed.
func Usage(use []taskuse.Series) Work {
	w := Work{use: use, tasks: make([]time.Duration, len(use))}
	for i := range use {
		w.tasks[i] = use[i].Runtime()
		w.runtime = max(w.runtime, w.tasks[i])
	}
	return w
}

// CPUTime is the tasks' total CPU, integrated over seconds. It is 0 if the work is not [Usage].
func (w Work) CPUTime() float64 {
	total := 0.0
	for i := range w.use {
		total += w.use[i].CPUTime()
	}
	return total
}

// sharedTasks are the runtimes of tasks on shared nodes, none elsewhere.
func (w Work) sharedTasks() []time.Duration {
	if w.use == nil {
		return nil
	}
	return w.tasks
}

// Used is what an unhindered run would be observed to use. It is nil if the work is not [Usage].
func (w Work) Used() []predict.Used {
	var s seen
	for i, u := range w.use {
		one := timeshare.Used{Ran: w.tasks[i], CPUTime: u.CPUTime()}
		_, memory := u.Mean()
		one.MemoryTime = memory * w.tasks[i].Seconds()
		one.MaxCPU, one.MaxMemory = u.Max()
		s.add(&one)
	}
	return s.used()
}

// Use is what each task uses. It is nil if the work is not [Usage]. It must not be changed.
func (w Work) Use() []taskuse.Series { return w.use }

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
