// Package adaptertest is the conformance suite for clusters behind a [sched.Loop]: what every adapter owes its users,
// whatever goes wrong. It drives a [World], which the adapter's test makes of its servers, and judges by the cluster's
// own records of who ran where and when, never by the adapter's word.
//
//	func TestConformance(t *testing.T) {
//		adaptertest.Run(t, func(t testing.TB, s adaptertest.Shape) adaptertest.World { return newWorld(t, s) })
//	}
//
// # What holds in every case
//
// No job's task runs twice at once, no job finishes twice, no node holds more than it has, gangs finish whole, and no
// job that was not withdrawn is lost. The loop is never told anything that makes no sense.
//
// # Time
//
// The suite knows the World's time only: it looks, lets [World.Pass] pass some, and looks again, until what it waits
// for has come or [Traits].Patience is over. It asserts no durations. Runtimes that a loop was told are compared with
// the records' own, up to how exact those are, so that a machine that is slow changes nothing.
//
// # What a World cannot do
//
// A World declares in [Traits].Missing which [Ability] it has not, and why. Cases that need it are skipped, and say so.
package adaptertest

import (
	"testing"
	"time"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
)

// Maker makes a World that is like no other there is: its nodes are idle and its jobs are none of another's.
type Maker func(t testing.TB, s Shape) World

// Shape is what a case needs of its World.
type Shape struct {
	// Nodes are how many there are to begin with, and Slots how many tasks each holds at a time.
	Nodes, Slots int
	// Seed is for worlds with faults by chance.
	Seed uint64
}

// World is a cluster and everything around it. It is used by one goroutine. Its methods fail the test themselves when
// they cannot do what they should.
type World interface {
	// Traits are what it can do; they do not change.
	Traits() Traits
	// Open connects a scheduler, as another process would. The World closes what is left open at the end of the test.
	Open(t testing.TB, s Session) Instance
	// Submit hands in a job as a user would and returns the id by which loops and records know it, the same for the same
	// Spec.ID. If one of that name was withdrawn and is not gone yet, it waits for that.
	Submit(t testing.TB, j Job) string
	// Do does something to the cluster.
	Do(t testing.TB, d Deed)
	// Records are of all tasks of its jobs that were ever placed, from the cluster's own records.
	Records(t testing.TB) []Record
	// Notes are what a job's user can read of why it waits, oldest first.
	Notes(t testing.TB, job string) []string
	// Now is the time of the World, and Pass lets pass what a scheduler waits between two cycles.
	Now() time.Time
	Pass(t testing.TB)
}

// Traits are what a World is like.
type Traits struct {
	// Nodes are the names of the first nodes, Spare of those that [AddNode] can add.
	Nodes, Spare []string
	// Slot is what one task demands: a node holds Shape.Slots of it, as near as that can be.
	Slot sched.Resources
	// Unit is a short runtime; jobs run some of it. Patience is how long anything may take to come about, by Now.
	Unit, Patience time.Duration
	// Exact is how far times in records, and so what the adapter reads from the same place, may be from one another's
	// truth: what their clock rounds to.
	Exact time.Duration
	// Policy makes what [Storm] plans by; nil is baseline.NewPrio. Jobs are worth the less the later they complete. Cases
	// always plan by baseline.NewPrio.
	Policy func() sched.Policy
	// Wide is how many tasks the widest gang may have that the World can run, at most 1000.
	Wide int
	// Missing are the abilities that it has not, and why.
	Missing map[Ability]string
}

// Ability is something that not every World can do: a [Deed], or what its jobs and schedulers are capable of.
type Ability string

// Act is what a [Deed] does.
type Act string

// The acts. They are untyped, so that each is the name of the [Ability] to do it, too.
const (
	// Withdraw takes Deed.Job back.
	Withdraw = "withdraw"
	// AddNode adds the spare node Deed.Node.
	AddNode = "add a node"
	// Cordon and Uncordon have Deed.Node take no new tasks, and take them again.
	Cordon   = "cordon"
	Uncordon = "uncordon"
	// Drain cordons Deed.Node and stops what runs there.
	Drain = "drain"
	// Kill cuts Deed.Node's power; Revive brings it back.
	Kill   = "kill a node"
	Revive = "revive a node"
	// Relabel sets the label Deed.Key of Deed.Node to Deed.Value.
	Relabel = "relabel"
	// Occupy has work of others hold Deed.Slots slots of Deed.Node.
	Occupy = "occupy"
	// BreakWatch cuts what tells the scheduler of changes.
	BreakWatch = "break the watch"
	// Garble has events be lost, doubled and reordered, and Clear ends that.
	Garble = "garble events"
	Clear  = "end what is garbled"
	// StopServer takes the servers away, and StartServer brings them back with all they knew. What runs goes on.
	StopServer  = "stop the server"
	StartServer = "start the server"
)

// The abilities, beside those to do a [Deed].
const (
	// Preemption is that running jobs can be stopped.
	Preemption Ability = "preempt"
	// Keep is that jobs with sched.Job.Checkpoint go on where they were, and that Job.Done is told.
	Keep Ability = "keep work"
	// Restart is that another instance can be opened, which finds what there is.
	Restart Ability = "restart"
	// Crash is that sessions ask their Gate.
	Crash Ability = "crash at a call"
	// Drive is that instances have a Driver.
	Drive Ability = "drive"
	// Fence is that the cluster refuses actions of an epoch that is over.
	Fence Ability = "fence"
	// Explain is that there are notes.
	Explain Ability = "explain"
	// FenceNotes is that it refuses notes of an epoch that is over, too. A driver that writes them by and by may lack it:
	// nothing is decided by notes, and the leader's come in the place of what another has left.
	FenceNotes Ability = "fence notes"
	// FailStarts, FailRuns, Hang, SlowStop and Malformed are that jobs can be so.
	FailStarts Ability = "starts that fail"
	FailRuns   Ability = "runs that fail"
	Hang       Ability = "starts that hang"
	SlowStop   Ability = "slow stops"
	Malformed  Ability = "malformed hints"
	// Stages is that jobs can wait for others by their names (sched.Job.After).
	Stages Ability = "stages"
	// Unplaceable is that jobs can be handed in that no node can hold.
	Unplaceable Ability = "jobs that cannot be placed"
)

// Deed is something done to the cluster.
type Deed struct {
	Do                    Act
	Node, Job, Key, Value string
	Slots                 int
}

// Job is a job as a user hands it in.
type Job struct {
	// Spec is what the scheduler may know; its Demand is one slot a task. Its After has Spec.IDs of others.
	Spec sched.Job
	// Runtime is how long it runs from when all its tasks run.
	Runtime time.Duration
	// FailStarts is how many of its first starts have a task that cannot start, and FailRuns how many runs after these end
	// with a task that fails, after which the cluster lets it be tried again.
	FailStarts, FailRuns int
	// Hang is how many of its first starts have a task that comes up neither well nor badly.
	Hang int
	// SlowStop has its tasks take much longer to stop than a cycle.
	SlowStop bool
	// Malformed gives it hints that make no sense.
	Malformed bool
}

// Session is how an instance is opened.
type Session struct {
	// Epoch is the leader's, higher with every instance that is to lead. With the ability [Fence] the cluster knows it
	// when Open returns, as it would from the lease, and refuses lower ones: what it tells the instance first is then all
	// that others did.
	Epoch uint64
	// Gate, if not nil, is asked before and after every call that changes something in the cluster. If it returns an
	// error, the instance is dead: the call returns it, and nothing more reaches the cluster. It is safe for concurrent
	// use.
	Gate func(call string, done bool) error
	// StartTimeout is [adapters.Options].StartTimeout, if not 0.
	StartTimeout time.Duration
	// LearntUntil is [adapters.Options].LearntUntil.
	LearntUntil time.Time
}

// Instance is a scheduler's way to the cluster.
type Instance struct {
	// Cluster is for its loop.
	Cluster sched.Cluster
	// Driver is another connection of its, nil without the ability [Drive].
	Driver adapters.Driver
	// Close cuts the connection, as the end of a process does. It may be nil.
	Close func()
}

// Record is what the cluster knows of one task that was placed.
type Record struct {
	// Job is whose it was, UID which of several of that name, Attempt which of its starts, and Task which of the gang.
	Job, UID string
	Attempt  int
	Task     string
	// Node is where it was.
	Node string
	// Placed is when it began to hold its slot, Started when it ran, Ended when it held nothing any more; zero where it
	// did not come to that.
	Placed, Started, Ended time.Time
	// Lost is when the cluster gave it up since its node was out of reach, zero if it never did. It may have gone on
	// there, and held its slot until Ended; but from Lost on another may be in its place.
	Lost time.Time
	// Unsure is by how much the cluster has contradicted itself about Started or Ended: a scheduler may have been told
	// either.
	Unsure time.Duration
	// State is how it ended, or is now.
	State adapters.TaskState
}

// live tells whether it holds its slot.
func (r *Record) live() bool { return r.Ended.IsZero() }
