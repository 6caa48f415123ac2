// Package adapters stands between a [sched.Loop] and a real cluster: what a cluster must be able to tell and to do, and
// what all clusters need done with it. It knows no cluster's client, starts no processes and keeps nothing on disk but
// what was learnt.
//
// # What to write
//
// Whoever joins another kind of cluster to hedge writes, in this order:
//
//  1. Observe of a [Driver]: nodes, jobs and their tasks as they stand in the cluster's own records. Nothing in it
//     may come from the driver's memory of what it did: after a crash the cluster is all there is. A job whose start
//     was accepted shows its tasks as [Requested] at once, so what was asked for must stand in the cluster, too.
//  2. Start and Stop of the Driver: compare-and-set on the version that Observe told, with the epoch where the
//     cluster can hold on to one. [ErrStale], [ErrRefused] and [ErrFenced] promise that nothing was done; any other
//     error says that it is not known.
//  3. Explain of an [Explainer], if users have a place to read reasons.
//  4. A [Lease], if more than one scheduler may run.
//  5. A World for package adaptertest, which then proves the rest.
//
// [New] makes a [sched.Cluster] of a Driver. It compares what it observes with what the loop was told and tells the
// difference, so that events that are lost, doubled or late do no harm; it holds starts back until the jobs they
// replace have stopped, rolls back gangs that come up short, takes too long or lose a task, finds out what became of
// calls without an answer, delays jobs whose start has failed, and puts reasons on jobs. [Lead] runs it all while a
// lease is held, and [HistoryFile] keeps what the predictor has learnt.
//
// # What is promised
//
// A start is asynchronous: requested, running, or failed. A gang is all or nothing: as soon as one task of it cannot be
// had, the others are stopped and the job is pending again. What a job holds counts as held until the cluster says that
// it has stopped. Nothing but the learnt history is kept over a restart; everything else is read from the cluster.
//
// Where a cluster has no memory of epochs, a call of an instance that lost its lease may still arrive after another has
// taken over. Compare-and-set keeps it from placing a job twice, but not from filling a node that the other has given
// away; so calls must time out well before [LeadOptions].Margin is over.
package adapters

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hedgesched/hedge/sched"
)

// The errors of a [Driver] and a [Lease], and of what is wrong with jobs. The first three promise that nothing was done
// and nothing will be.
var (
	// ErrStale is an action on a version of the job that is not the cluster's any more.
	ErrStale = errors.New("adapters: decided on a state that is over")
	// ErrRefused is an action that the cluster does not allow: a quota, a right that is missing, a node that does not take
	// the task.
	ErrRefused = errors.New("adapters: refused by the cluster")
	// ErrFenced is an action of an instance that leads no more.
	ErrFenced = errors.New("adapters: another instance leads")
	// ErrIncomplete is the [Job].Problem of a gang whose tasks are not all there yet, which may be nobody's mistake.
	ErrIncomplete = errors.New("adapters: not all tasks of the gang are there")
	// ErrProblem is of the event Withdrawn of a job that could be scheduled and now has a [Job].Problem.
	ErrProblem = errors.New("adapters: the job cannot be scheduled any more")
	// ErrCancelled is of a [Job].Err, and of the event Withdrawn, of a job that has not failed: its user, or somebody
	// else, has ended it or taken it away.
	ErrCancelled = errors.New("adapters: cancelled")
	// ErrUnavailable is a cluster that does not answer. Whether it has carried out an action is not known.
	ErrUnavailable = errors.New("adapters: cluster unavailable")
	// ErrRestored is a cluster whose records went back in time: its store was restored from a backup, say. What was known
	// of it holds no more.
	ErrRestored = errors.New("adapters: the cluster's records went back in time")
)

// Driver is a kind of cluster: what it tells and what it does. [Cluster] calls it from one goroutine at a time, unless
// [Options].Parallel says otherwise: then Start, Stop and, of an [Explainer], Explain are called from several, at the
// same time for different jobs. Observe is always called alone, after all others have returned. A driver that keeps
// something of its own beside what Observe has read must guard it then.
//
// # Who leads
//
// A driver that can read the [Lease] lets an action through only if the lease is at the action's epoch: another, lower
// or higher, is ErrFenced, and so is every action while there is no lease, since nobody leads then. An answer is
// believed for as long as the driver's options say and no longer, 0 being not at all: every action then has an answer
// to a question that was put after the action began. [Fence] does that.
//
// # Records that go back in time
//
// Versions grow as long as a cluster lives. Where its store is restored from a backup they do not: objects, and lists
// of them, come back with versions lower than those that were told, and a driver that ignores what is older than what
// it knows would ignore the cluster for ever. A driver with a memory of its own therefore compares each list that it
// asks for, and each object in it, with what it knew before it asked. If either is older, Observe returns an error that
// wraps ErrRestored, and does so from then on: nothing is mended in place. [Cluster] does the same for what a view that
// it has asked for tells of nodes and jobs. The term is over then: [Lead] begins another with a new Driver and a new
// Cluster, which know nothing, and a program without a lease starts anew. A watch that cannot go on since the cluster
// has not come to the version it was at calls for such a list. What happens to be of the same version, or of a higher
// one, cannot be told from what went on.
type Driver interface {
	// Observe tells what has changed since the last call, or all there is; the first call tells all. With relist, it must
	// tell all, from a read that is as new as the call: what was carried out before is in it. The view is the caller's;
	// jobs and nodes in it do not change afterwards. An error wraps ErrFenced where it is known that another instance
	// leads, ErrRestored where the cluster's records went back in time, and ErrUnavailable otherwise, also where the
	// cluster refuses to be read: what is wrong may be mended while the scheduler waits. [Cluster] takes every other error
	// for one of these.
	Observe(ctx context.Context, relist bool) (*View, error)
	// Start asks for all tasks of a gang on their nodes. Nil says that it was asked for; what becomes of it is observed.
	// An error that wraps ErrStale, ErrRefused or ErrFenced says that nothing was done and nothing will be; any other that
	// it is not known. A driver that has to ask for each task by itself answers nil once the first was granted, and has
	// Observe tell that the gang is [Job].Short.
	Start(ctx context.Context, s *Start) error
	// Stop sees to it that nothing of the job runs and that it is pending again, whatever state its tasks are in, but for
	// a job that is Over, of which only the tasks are stopped. Of a job without tasks it makes sure that no earlier Start
	// can take effect any more, as by changing its version. Errors are as in Start.
	Stop(ctx context.Context, s *Stop) error
}

// Explainer is a Driver that can show users why their jobs wait.
type Explainer interface {
	// Explain puts the note where the job's user reads it. One of an epoch that is over may be refused with ErrFenced, or
	// be written all the same, as nothing is decided by notes. It is called only when the note has changed, or when the
	// job waits again after it was started. Errors but ErrFenced have it tried again later; a driver that writes notes by
	// and by tells in [View].Unsaid which were lost. What a note says is over once the job is started: Start takes it
	// away, where it would still stand.
	Explain(ctx context.Context, n *Note) error
}

// View is what a cluster tells at once.
type View struct {
	// Version is the newest in it, of the same numbers as those of nodes and jobs; 0 where the cluster has none.
	Version uint64
	// Full tells that Nodes and Jobs are all there are. Otherwise they are those that have changed.
	Full bool
	// Floor is, of a full view, up to which version nothing is missing in it: what is told later of an object that is not
	// in it, with a version up to Floor, is of one that is no more. A view that is put together of several lists has the
	// version of the oldest of them, lest what was made between two of them is taken for gone. 0 has everything believed.
	Floor uint64
	// Nodes and Jobs are each the whole state of one object, not what has changed in it.
	Nodes []Node
	Jobs  []Job
	// Unsaid are the ids of jobs whose last note is not where their users read it, although Explain returned nil: it was
	// dropped, could not be written after all, or is on what has been replaced meanwhile; or that does not say any more
	// what holds, where a driver words notes by what it knows of the cluster. It is written again, if the reason still is
	// the policy's.
	Unsaid []string
}

// Node is a node as a cluster tells of it.
type Node struct {
	sched.Node
	// Version grows with every change of any object of the cluster. Of one node, what is older than what was told before
	// is ignored. 0 is always believed.
	Version uint64
	// Gone tells that the node is no more, or that the cluster has lost it.
	Gone bool
	// Cordoned tells that it takes no new tasks; those it has go on.
	Cordoned bool
	// Foreign is what work that is not ours holds of it. The loop sees a node that is smaller by as much.
	Foreign sched.Resources
}

// Job is a job as a cluster tells of it.
type Job struct {
	// Spec is the job as it was submitted. It must not be changed later; a new value with another Revision is another.
	Spec *sched.Job
	// UID tells two jobs with one Spec.ID apart, of which one was withdrawn and the other handed in later. Tasks of the
	// first that still run when the second is there are counted as Foreign.
	UID string
	// Version is as a [Node]'s; actions name the one they were decided on.
	Version uint64
	// Revision changes with what Spec says.
	Revision uint64
	// Attempt is the number of starts that were asked for so far.
	Attempt int
	// Done is, of a job with [sched.Job].Checkpoint, for how long it ran in earlier attempts whose work is kept, at full
	// speed. It must stand in the cluster, like everything else.
	Done time.Duration
	// Gone tells that the job is no more, and nothing of it runs. Its UID is not believed again before a full view has it.
	Gone bool
	// Tasks are those of the last attempt, as far as there are any: none of a job that waits.
	Tasks []Task
	// Short tells that some tasks of the gang have a place, and the others will get none without another action.
	Short bool
	// Over tells that the cluster starts nothing of it again: it has finished, failed for good, or was cancelled.
	Over bool
	// Problem is what is wrong with the job's hints. Such a job is not scheduled, and its user is told. Where a job cannot
	// be described at all, its tasks must be counted as Foreign. It wraps [ErrIncomplete] where the job is only not all
	// there.
	Problem error
	// Err is why a job is Over that has not finished, or is Short where that is known. It wraps [ErrCancelled] where the
	// job has not failed.
	Err error
	// Ref is the driver's own, given back in actions.
	Ref any
}

// TaskState is where a task is in its life.
type TaskState uint8

// The states. All but Finished and Failed hold room.
const (
	// Requested: asked for, on its node, and not running yet.
	Requested TaskState = iota
	// Running: it runs.
	Running
	// Stopping: told to stop, by whomever, and not stopped yet.
	Stopping
	// Finished: it has done its work.
	Finished
	// Failed: it could not start, or has ended without its work done.
	Failed
	// Lost: its node is, and it may still run there.
	Lost
	taskStates = iota
)

// String is the state's name.
func (s TaskState) String() string {
	names := [...]string{"requested", "running", "stopping", "finished", "failed", "lost"}
	if int(s) < len(names) {
		return names[s]
	}
	return "unknown"
}

// Task is one task of a job's last attempt.
type Task struct {
	// Node is where it is.
	Node  string
	State TaskState
	// Started is when it began to run, Ended when it ended, both by the cluster's clock; zero where it has not.
	Started, Ended time.Time
	// Err is why it has failed.
	Err error
}

// Start is a gang to be started.
type Start struct {
	// Job is as it was observed; its UID and Version are what the decision is about.
	Job *Job
	// Nodes are the gang's, in sum Job.Spec.Tasks tasks.
	Nodes []sched.NodeTasks
	// State is the version of the view that was decided on, and Epoch the leader's.
	State, Epoch uint64
	// Reason is the policy's.
	Reason sched.Reason
}

// Stop is a job to be stopped.
type Stop struct {
	// Job is as it was observed; its UID and Version are what the decision is about.
	Job *Job
	// State is the version of the view that was decided on, and Epoch the leader's.
	State, Epoch uint64
	// Cause is why.
	Cause Cause
	// Reason is the policy's, of a preemption.
	Reason sched.Reason
}

// Cause is why a job is stopped, as users may read it.
type Cause string

// The causes.
const (
	// CausePreempted: the policy wants its room.
	CausePreempted Cause = "preempted"
	// CauseShort: not all of the gang could be placed.
	CauseShort Cause = "gang-short"
	// CauseTimeout: the gang did not come up in time.
	CauseTimeout Cause = "start-timeout"
	// CauseFailed: a task of the gang has failed.
	CauseFailed Cause = "task-failed"
	// CauseLost: a node of the gang is lost.
	CauseLost Cause = "node-lost"
	// CauseStopped: others have stopped a task of the gang, as when a node is drained.
	CauseStopped Cause = "task-stopped"
	// CauseUnknown: a start had no answer and no effect; it must not have one later.
	CauseUnknown Cause = "start-unanswered"
	// CauseOver: the job is over, and a task of it runs.
	CauseOver Cause = "over"
)

// Note is why a job waits.
type Note struct {
	// Job is as it was observed.
	Job *Job
	// Epoch is the leader's.
	Epoch uint64
	// Reason is the policy's; it has no code where Err is not nil.
	Reason sched.Reason
	// Err is what is wrong with the job, or why its last start failed.
	Err error
}

// String is the note in one line. Where no nodes can hold the job, it tells what the job asks for, as the scheduler has
// understood it.
func (n *Note) String() string {
	switch {
	case n.Err != nil:
		return n.Err.Error()
	case n.Reason.Code == sched.ReasonNoFeasibleSet || n.Reason.Code == sched.ReasonTooLarge:
		return n.Reason.String() + ": it asks for " + wants(n.Job.Spec)
	}
	return n.Reason.String()
}

// wants is what a job needs to start.
func wants(j *sched.Job) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d tasks", j.Tasks)
	sep := ", each with "
	demand := j.DemandOrNode()
	for _, name := range slices.Sorted(maps.Keys(demand)) {
		fmt.Fprintf(&b, "%s%s %s", sep, name, strconv.FormatFloat(demand[name], 'f', -1, 64))
		sep = ", "
	}
	if !j.Required.IsAny() {
		fmt.Fprintf(&b, ", on nodes with %s", j.Required)
	}
	return b.String()
}
