package slearn

import (
	"time"

	"github.com/hedgesched/hedge/sched/agent"
)

// Predictor estimates the sizes of jobs. GS calls it when a job arrives, each time a pilot ends while its job is being
// sampled, and when the pilots are late. If [Answer].Watch asks for it, GS also calls it at the end of other tasks. It
// need not be safe for concurrent use. It may keep state, but its answers must depend on nothing but the calls.
type Predictor interface {
	// Estimate returns the job's size, or asks for pilots first. The sample is valid only during the call.
	Estimate(*Sample) Answer
}

// Learner is implemented by a [Predictor] that learns from jobs that are done.
type Learner interface {
	// Learn is called once for each job, when its last task has ended. The outcome is valid only during the call.
	Learn(*Outcome)
}

// Sample is what is known of a job so far.
type Sample struct {
	Job agent.Job
	Now time.Duration
	// Pilots sums up the job's pilots that have ended, Ended all of its tasks that have ended.
	Pilots, Ended Times
	// Out is how many pilots are running. It is 0 for a job that has just arrived.
	Out int
	// Late is [Config.PilotTimeout] if the pilots have exceeded it, and 0 otherwise. Each running pilot has then run
	// for at least that long.
	Late time.Duration
	// Running is how many tasks of the job are running.
	Running int
	// Placed tells whether the job is in the queue of its size. Size is that size, in seconds.
	Placed bool
	Size   float64
	// Note is the Note of the last [Answer] about this job, 0 at first.
	Note int32
}

// Times sums up the execution times of some tasks. Sum is in seconds, Squares, the sum of the squares, in seconds².
type Times struct {
	Count        int
	Sum, Squares float64
}

// add counts a task.
func (t *Times) add(seconds float64) {
	t.Count++
	t.Sum += seconds
	t.Squares += float64(seconds * seconds)
}

// Mean is the mean execution time in seconds, 0 without tasks.
func (t *Times) Mean() float64 {
	if t.Count == 0 {
		return 0
	}
	return t.Sum / float64(t.Count)
}

// Answer is a predictor's answer about a job.
type Answer struct {
	// Size is the summed execution time of all tasks, in seconds. It decides which queue the job enters.
	Size float64
	// Pilots is how many pilots have to end before the size is known, including those that have ended. If as many have
	// ended, the job enters the queue of its Size now. Later answers may change the number. A job has at most as many
	// pilots as tasks. It gets no more pilots once they were late or it has entered a queue.
	Pilots int
	// First lets the pilots wait in the first queue instead of the second.
	First bool
	// Watch asks for another call each time a task of the job ends while others wait, even after it has entered a queue.
	Watch bool
	// Note is stored with the job and returned in its [Sample] and [Outcome].
	Note int32
}

// Outcome is the record of a job that is done.
type Outcome struct {
	Sample
	// Completion is the time from the submission to the end of the last task.
	Completion time.Duration
}

// Known is a predictor with the true sizes, in seconds, which only a simulator has: the paper's Oracle.
type Known func(*agent.Job) float64

// Estimate implements [Predictor].
func (k Known) Estimate(s *Sample) Answer { return Answer{Size: k(&s.Job)} }

// Thin puts jobs of fewer than Limit tasks into the first queue at once, and asks Of about the others (section 5.1.2).
// The paper's limit is 3.
type Thin struct {
	Limit int32
	Of    Predictor
}

// Estimate implements [Predictor].
func (t Thin) Estimate(s *Sample) Answer {
	if s.Job.Tasks < t.Limit {
		return Answer{}
	}
	return t.Of.Estimate(s)
}

// Learn passes every job to Of, including thin ones.
func (t Thin) Learn(o *Outcome) {
	if l, ok := t.Of.(Learner); ok {
		l.Learn(o)
	}
}
