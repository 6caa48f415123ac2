package sim

import (
	"time"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/ranges"
)

// Class names a kind of job whose figures are kept apart.
type Class string

// The classes of jobs that a policy plans for: with a deadline and without.
const (
	SLO        Class = "slo"
	BestEffort Class = "be"
)

// JobRecord is what became of a job. Times are since the start of the simulation.
type JobRecord struct {
	ID string
	// Of is the whole job that it is a stage of; empty where it is none.
	Of    string
	Class Class
	Tasks int
	// Runtime is how long it takes at full speed.
	Runtime time.Duration
	// Submit is when it arrived.
	Submit time.Duration
	// Deadline is absolute; 0 for best-effort jobs.
	Deadline time.Duration
	// FirstStart and Start are its first and its last start; -1 if it never started.
	FirstStart, Start time.Duration
	// Finish is its completion; -1 if it was dropped.
	Finish time.Duration
	// Stop is when it last stopped, by completion or preemption; -1 if it never started.
	Stop time.Duration
	// Preemptions is how often it was stopped. Lost is how long it had run by then, summed, if it loses its work so.
	Preemptions int
	Lost        time.Duration
	// Evictions is how many of its tasks were evicted from shared nodes. LostTasks is how long these, and tasks that were
	// preempted there, had run by then.
	Evictions int
	LostTasks TaskTime
	// CPUTime is how much CPU its tasks use at full speed, times seconds, where its work is [Usage]; else 0.
	CPUTime float64
	// Held is the time that its tasks held their nodes, in all its runs. HeldInWindow is the part of it in the arrival
	// window.
	Held, HeldInWindow TaskTime
	// Speed is that of the last start, the speed of the slowest of its nodes; 0 if it never started.
	Speed float64
	// Told is the probability of meeting the deadline that the policy told with the last start;
	// [sched.UnknownProbability] if it told none, or if the job never started.
	Told float64
	// Nodes held its tasks after the last start. It is empty with Config.Ranges.
	Nodes []sched.NodeTasks
	// Ranges are the same nodes by index in Config.Nodes, with Config.Ranges alone.
	Ranges ranges.Set
}

// newRecord is the record of a job that has not started.
func newRecord(j *job) JobRecord {
	return JobRecord{
		ID: j.ID, Of: j.Of, Class: j.class(), Tasks: j.Tasks, Submit: j.arrive, Deadline: j.due(),
		Runtime: j.gang.work.Runtime(), CPUTime: j.gang.work.CPUTime(),
		FirstStart: -1, Start: -1, Finish: -1, Stop: -1, Told: sched.UnknownProbability,
	}
}

// Missed tells that the job had a deadline and did not complete by it.
func (r *JobRecord) Missed() bool {
	return r.Deadline > 0 && (r.Finish < 0 || r.Finish > r.Deadline)
}

// lost is the task-time that was for nothing.
func (r *JobRecord) lost() TaskTime { return taskTime(r.Tasks, r.Lost).plus(r.LostTasks) }

// begin notes a start.
func (r *JobRecord) begin(at time.Duration, on ranges.Set, nodes []sched.NodeTasks, speed, told float64) {
	r.Start, r.Ranges, r.Nodes, r.Speed, r.Told = at, on, nodes, speed, told
	if r.FirstStart < 0 {
		r.FirstStart = at
	}
}

// end notes the end of a run, whatever ended it, and returns how long the run was.
func (r *JobRecord) end(at, window time.Duration) (ran time.Duration) {
	ran = at - r.Start
	r.Stop = at
	r.Held = r.Held.plus(taskTime(r.Tasks, ran))
	r.HeldInWindow = r.HeldInWindow.plus(taskTime(r.Tasks, min(at, window)-min(r.Start, window)))
	return ran
}

// Result is what a run gave.
type Result struct {
	Metrics Metrics
	// Sharing are the figures of shared nodes; nil where nodes are not shared.
	Sharing *Sharing
	// Jobs are in order of arrival, ties by id; each stage of a job has a record of its own.
	Jobs []JobRecord
	// Series is the use of the cluster over time.
	Series Series
	// Events is the number of simulated events: submissions, starts, completions, preemptions, drops.
	Events int
	// Rejections is the number of decisions that the loop or the cluster refused; a sound policy has none.
	Rejections int
	// BusyMachineHours is all machine time that tasks held: goodput and lost work, and what jobs with checkpoints
	// did that were dropped.
	BusyMachineHours float64
}
