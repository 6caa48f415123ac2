// Package agent is the shape of schedulers that are made of messages: Eagle and its rivals, Pigeon, Kairos, and central
// schedulers that place each task by itself. Such a [System] is a set of small state machines, its parts: workers,
// distributed schedulers, a central one. A host (a simulator, or processes on a network) steps a part when something
// happens to it, and does what the part then asks for: send a message, wake it later, run a task.
//
// # What a part may do
//
// A part has no clock, goroutine, network or global, and ranges over no map where order can reach its actions. It reads
// its own state and its input only; the parts of one System value share memory, never knowledge. What it draws comes
// from its own [Random], made of the seed and its address. So a run is a function of the seed and of what the host
// delivers. Package agenttest checks this, and what follows, for any system.
//
// # What a worker is
//
// Parts 0 … Workers()-1 are workers. The host gives each a number of slots. A task that a worker launches takes a slot
// until it ends, or is paused or killed; a task that is resumed takes one again and goes on where it was. A worker that
// asks for more slots than it has is in error, and so is one that launches a task of a job that was not submitted. How
// long a task takes is the host's secret; a worker may add up what its tasks have got, since it knows when it
// launched, paused and resumed them. A worker of Eagle has one slot and a queue of probes; one of Kairos pauses and
// resumes; one of a central scheduler launches what it is told to.
//
// # What the host promises
//
// Reliability lives in the host, in one place, [Link]: envelopes are resent until they are acknowledged, and doubles
// are dropped. So a part gets each message once. Messages may take any time, and may overtake each other. Two things
// break that promise:
//
//   - A worker that crashes loses its state, its tasks and its timers, and what was on its way to it. It starts again
//     empty: it gets [Restarted], once.
//   - Every part that is no worker is told of the crash by [Lost]. By then it has got every message of the crashed
//     worker that it will ever get; what it sent before that is lost, what it sends from then on arrives. Other workers
//     are told nothing: what they had sent is lost, and what they send after the restart arrives.
//
// A task that ran on a crashed worker runs again, also one that had ended when its worker could not tell of it any
// more: effects must be published so that a second time does no harm.
package agent

import "time"

// Addr is the address of a part: workers from 0 on, then the other parts.
type Addr int32

// Task names a task of a job; Index counts from 0.
type Task struct{ Job, Index int32 }

// Job is what a system knows of a job: never how long its tasks really take.
type Job struct {
	// ID is from 0 on; no other job has it.
	ID int32
	// Of is the ID of the job that it counts for: its own, or that of an earlier job whose later phase it is, such as
	// the reduces after the maps. A queue has it wait where that job would.
	Of int32
	// Tasks is at least 1.
	Tasks int32
	// Estimate is of one task, 0 or more.
	Estimate time.Duration
	// Long is the job's class.
	Long bool
	// Submitted is when the host handed the job in, on the clock of [System.Step].
	Submitted time.Duration
	// Attributes are what predictors may use, such as the job's user and name; nil if the host knows none. Nobody
	// changes them.
	Attributes map[string]string
}

// Kind says what happened to a part.
type Kind uint8

// What may happen to a part.
const (
	// Submitted hands in a Job; it comes to the part that [System.Entry] names.
	Submitted Kind = iota
	// Received brings Msg, sent by From.
	Received
	// Fired is a Timer that the part has set.
	Fired
	// Ended is that Task, which this worker launched, has done all its work.
	Ended
	// Lost is that the worker From has crashed; see the package comment.
	Lost
	// Restarted is that this worker has crashed and is up again, empty.
	Restarted
)

// Input is what happens to a part. It and its Job are valid during the step only.
type Input[M any] struct {
	Kind  Kind
	Job   *Job
	From  Addr
	Msg   M
	Timer uint32
	Task  Task
}

// System is a scheduler made of parts. One value may step all its parts or, in a process of its own, one of them: a
// part's answers do not depend on which others the value steps. It is not safe for concurrent use.
type System[M any] interface {
	// Workers is the number of parts that are workers, Parts of all.
	Workers() int
	Parts() int
	// Entry is the part that a job is submitted to. It depends on the job alone.
	Entry(*Job) Addr
	// Step lets a part act on an input at a time, which never falls. The output is empty before.
	Step(at Addr, now time.Duration, in *Input[M], out *Output[M])
	// Held is how many probes, tasks and jobs a part still keeps: 0 for every part once all jobs are done and no
	// message or timer is on its way.
	Held(at Addr) int
}

// Codec is the binary form of a system's messages.
type Codec[M any] interface {
	// Append appends the message to b.
	Append(b []byte, m *M) []byte
	// Read makes a message of all of b, or an error that wraps [ErrMessage]; it does not keep b.
	Read(b []byte) (M, error)
}
