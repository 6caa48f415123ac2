package agent

import "time"

// ActionKind says what a part asks of its host.
type ActionKind uint8

// What a part may ask for. Launch, Pause, Resume and Kill are for workers.
const (
	// Send sends Msg to To.
	Send ActionKind = iota
	// Wake fires Timer at this part, After from now and after the messages of that moment.
	Wake
	// Launch runs a task in a free slot.
	Launch
	// Pause stops a running task, which keeps what it has done and gives its slot back.
	Pause
	// Resume goes on with a paused task in a free slot.
	Resume
	// Kill ends a running or paused task and forgets what it has done. It may be launched again.
	Kill
	// Done says that all tasks of the job Task.Job have ended. It is said once.
	Done
)

// Delay is how long a message takes.
type Delay uint8

// The delays of messages.
const (
	// Network is what a message takes from one machine to another.
	Network Delay = iota
	// Instant is no time at all. No network does that: it is for omniscient baselines.
	Instant
)

// Action is one thing that a part asks for.
type Action[M any] struct {
	Do    ActionKind
	Delay Delay
	To    Addr
	Timer uint32
	Task  Task
	After time.Duration
	Msg   M
}

// Output is what a part asks for in one step, in order. A host uses one again and again.
type Output[M any] struct {
	// Actions are for the host to read.
	Actions []Action[M]
}

// Reset forgets the actions and keeps the room.
func (o *Output[M]) Reset() { o.Actions = o.Actions[:0] }

// Send sends a message over the network.
func (o *Output[M]) Send(to Addr, m *M) {
	o.Actions = append(o.Actions, Action[M]{Do: Send, To: to, Msg: *m})
}

// SendInstant sends a message that takes no time; see [Instant].
func (o *Output[M]) SendInstant(to Addr, m *M) {
	o.Actions = append(o.Actions, Action[M]{Do: Send, Delay: Instant, To: to, Msg: *m})
}

// Wake fires a timer at the part itself. Timers cannot be taken back: a part ignores those it does not need any more.
// A part sets none that goes on for ever: when all jobs are done, everything comes to rest.
func (o *Output[M]) Wake(after time.Duration, timer uint32) {
	o.Actions = append(o.Actions, Action[M]{Do: Wake, After: after, Timer: timer})
}

// Launch runs a task in a free slot of this worker.
func (o *Output[M]) Launch(t Task) { o.task(Launch, t) }

// Pause stops a running task of this worker.
func (o *Output[M]) Pause(t Task) { o.task(Pause, t) }

// Resume goes on with a paused task of this worker.
func (o *Output[M]) Resume(t Task) { o.task(Resume, t) }

// Kill ends a task of this worker and forgets what it has done.
func (o *Output[M]) Kill(t Task) { o.task(Kill, t) }

// Done says that all tasks of a job have ended.
func (o *Output[M]) Done(job int32) { o.task(Done, Task{Job: job}) }

func (o *Output[M]) task(do ActionKind, t Task) {
	o.Actions = append(o.Actions, Action[M]{Do: do, Task: t})
}
