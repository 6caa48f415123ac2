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
	runtime time.Duration // of the longest task
	own     *ownWork      // where each task has its own; else nil, since most logs have many such jobs
}

// ownWork is what each task of a job does.
type ownWork struct {
	times []time.Duration  // of each task
	use   []taskuse.Series // of each task, where that is known; else nil
}

// times are the tasks' own; nil where all are alike.
func (w Work) times() []time.Duration {
	if w.own == nil {
		return nil
	}
	return w.own.times
}

// Runtime is the work of a job whose tasks all take the time d, 0 to 50 years.
func Runtime(d time.Duration) Work { return Work{runtime: d} }

// Tasks is the work of a job whose tasks take the given times, one per task of the job, 0 to 50 years each. The
// times are kept and must not be changed.
func Tasks(times []time.Duration) Work {
	if len(times) == 0 {
		return Work{own: &ownWork{times: []time.Duration{}}}
	}
	return Work{own: &ownWork{times: times}, runtime: slices.Max(times)}
}

// Usage is the work of a job whose tasks use CPU and memory as the series say, one for each task of the job. Nodes then
// offer CPU and memory, which tasks share: see [Run]. The series are kept and must not be changed.
func Usage(use []taskuse.Series) Work {
	w := Work{own: &ownWork{times: make([]time.Duration, len(use)), use: use}}
	for i := range use {
		w.own.times[i] = use[i].Runtime()
		w.runtime = max(w.runtime, w.own.times[i])
	}
	return w
}

// CPUTime is the tasks' total CPU, integrated over seconds. It is 0 if the work is not [Usage].
func (w Work) CPUTime() float64 {
	total := 0.0
	for _, u := range w.Use() {
		total += u.CPUTime()
	}
	return total
}

// sharedTasks are the runtimes of tasks on shared nodes, none elsewhere.
func (w Work) sharedTasks() []time.Duration {
	if w.Use() == nil {
		return nil
	}
	return w.own.times
}

// Used is what an unhindered run would be observed to use. It is nil if the work is not [Usage].
func (w Work) Used() []predict.Used {
	var s seen
	for i, u := range w.Use() {
		one := timeshare.Used{Ran: w.own.times[i], CPUTime: u.CPUTime()}
		_, memory := u.Mean()
		one.MemoryTime = memory * w.own.times[i].Seconds()
		one.MaxCPU, one.MaxMemory = u.Max()
		s.add(&one)
	}
	return s.used()
}

// Use is what each task uses. It is nil if the work is not [Usage]. It must not be changed.
func (w Work) Use() []taskuse.Series {
	if w.own == nil {
		return nil
	}
	return w.own.use
}

// Runtime is how long the work takes if all tasks start at once: the time of the longest task.
func (w Work) Runtime() time.Duration { return w.runtime }

// fits tells whether the work is that of this number of tasks.
func (w Work) fits(tasks int) bool { return w.own == nil || len(w.own.times) == tasks }

// shortest is the time of the shortest task.
func (w Work) shortest() time.Duration {
	if len(w.times()) == 0 {
		return w.runtime
	}
	return slices.Min(w.times())
}
