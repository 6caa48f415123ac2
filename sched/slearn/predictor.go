package slearn

import (
	"time"

	"github.com/hedgesched/hedge/sched/agent"
)

// Predictor tells sizes of jobs. GS asks it when a job comes, whenever a pilot of a job that is being sampled has
// ended, and after other ends if it asked for that. It need not be safe for concurrent use. It may keep state, as long
// as its answers follow from what it has been asked and told.
type Predictor interface {
	// Estimate says how large the job is, or that it has to be sampled first. The sample is valid during the call.
	Estimate(*Sample) Answer
}

// Learner is a [Predictor] that is told what became of each job.
type Learner interface {
	// Learn is told of a job when its last task has ended. The outcome is valid during the call.
	Learn(*Outcome)
}

// Sample is what a job has shown so far.
type Sample struct {
	Job agent.Job
	Now time.Duration
	// Pilots are those of the job's pilots that have ended, Ended all tasks that have.
	Pilots, Ended Times
	// Out is how many pilots have not ended. It is 0 for a job that has just come.
	Out int
	// Late is, for a job whose pilots have taken longer than [Config.PilotTimeout], that time: each of those that are
	// Out has run for so long at least. Else it is 0.
	Late time.Duration
	// Running is how many tasks of the job run.
	Running int
	// Placed tells that the job has entered a queue, Size by which size.
	Placed bool
	Size   float64
	// Note is what the last [Answer] about this job had.
	Note int32
}

// Times sums up what some tasks took, in seconds.
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

// Mean is that of the tasks; 0 without any.
func (t *Times) Mean() float64 {
	if t.Count == 0 {
		return 0
	}
	return t.Sum / float64(t.Count)
}

// Answer is what a predictor says of a job.
type Answer struct {
	// Size is the summed execution time of all tasks, in seconds; it says which queue the job enters.
	Size float64
	// Pilots is how many pilots have to end before the size is told, those included that have. Up to the number of those
	// that have, the job enters its queue now. Later answers may change it. No job has more pilots than tasks; and one
	// whose pilots were late, or that is in a queue, has no further ones.
	Pilots int
	// First has the pilots wait in the first queue, not in the second one.
	First bool
	// Watch has the predictor asked again whenever a task of the job ends while others wait, also once it is in a queue.
	Watch bool
	// Note is kept with the job and comes back in its [Sample] and its [Outcome].
	Note int32
}

// Outcome is what became of a job.
type Outcome struct {
	Sample
	// Completion is the time from the submission to the end of the last task.
	Completion time.Duration
}

// Known is a predictor that is given the sizes, in seconds, as only a simulator can: the paper's Oracle.
type Known func(*agent.Job) float64

// Estimate is that of [Predictor].
func (k Known) Estimate(s *Sample) Answer { return Answer{Size: k(&s.Job)} }

// Thin has jobs of fewer than Limit tasks enter the first queue at once, and asks Of about the others (section 5.1.2).
// The paper's limit is 3.
type Thin struct {
	Limit int32
	Of    Predictor
}

// Estimate is that of [Predictor].
func (t Thin) Estimate(s *Sample) Answer {
	if s.Job.Tasks < t.Limit {
		return Answer{}
	}
	return t.Of.Estimate(s)
}

// Learn tells Of about every job, thin ones too.
func (t Thin) Learn(o *Outcome) {
	if l, ok := t.Of.(Learner); ok {
		l.Learn(o)
	}
}
