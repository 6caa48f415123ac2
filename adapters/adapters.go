// Package adapters stands between a [sched.Loop] and a real cluster. It says what a cluster must be able to report and
// to do, and it does what every cluster needs. It knows no cluster's client and starts no processes. The learnt history
// is all that it keeps on disk.
//
// # What to write
//
// To connect another kind of cluster to hedge, write these, in this order:
//
//  1. Observe of a [Driver]. It reports nodes, jobs and their tasks from the cluster's own records. Nothing in it may
//     come from the driver's memory of what it did: after a crash, those records are all there is. A job whose start
//     was accepted shows its tasks as [Requested] at once, so the cluster must record what was requested, too.
//  2. Start and Stop of the Driver. They compare and set on the version that Observe reported. They pass on the epoch
//     if the cluster can store one. [ErrStale], [ErrRefused] and [ErrFenced] promise that nothing was done. After any
//     other error the outcome is unknown.
//  3. Explain of an [Explainer], if users have a place to read reasons.
//  4. Measure of a [Meter], if the cluster tells what tasks use.
//  5. A [Lease], if more than one scheduler may run.
//  6. A World for package adaptertest, which tests all of this.
//
// [New] makes a [sched.Cluster] from a Driver. The cluster compares what it observes with what it has told the loop,
// and tells the loop the difference. So events that are lost, duplicated or late do no harm. It also
//
//   - holds a start back until the jobs that it replaces have stopped,
//   - rolls back a gang that is short of tasks, takes too long to start, or loses a task,
//   - finds out what became of calls that got no answer,
//   - delays a job whose start has failed, and
//   - writes reasons on jobs.
//
// [Lead] runs all of this while it holds a lease. [HistoryFile] keeps what the predictor has learnt.
//
// # What is promised
//
// A start is asynchronous: it is requested, then runs or fails. A gang is all or nothing: as soon as one task cannot be
// placed, the others are stopped and the job is pending again. A job holds its room until the cluster says that it has
// stopped. Only the learnt history survives a restart; everything else is read from the cluster.
//
// Some clusters do not store epochs. There, a call of an instance that has lost its lease may arrive after another
// instance has taken over. Compare-and-set keeps such a call from placing a job twice. It does not keep it from filling
// a node that the new leader has given away. So calls must time out well before [LeadOptions].Margin has passed.
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

// The errors of a [Driver], a [Meter] and a [Lease], and those of jobs and options. The first three promise that
// nothing was done and nothing will be.
var (
	// ErrStale is an action on an old version of the job.
	ErrStale = errors.New("adapters: the decision is out of date")
	// ErrRefused is an action that the cluster does not allow: a quota is used up, a right is missing, or a node rejects
	// the task.
	ErrRefused = errors.New("adapters: refused by the cluster")
	// ErrFenced is an action of an instance that no longer leads.
	ErrFenced = errors.New("adapters: another instance leads")
	// ErrIncomplete is the [Job].Problem of a gang whose tasks do not all exist yet. It need not be a mistake.
	ErrIncomplete = errors.New("adapters: not all tasks of the gang are there")
	// ErrProblem is the error of a Withdrawn event when a job that could be scheduled now has a [Job].Problem.
	ErrProblem = errors.New("adapters: the job can no longer be scheduled")
	// ErrCancelled says that a job did not fail: its user or somebody else ended it or took it away. It is the error of
	// [Job].Err and of a Withdrawn event.
	ErrCancelled = errors.New("adapters: cancelled")
	// ErrUnavailable is a cluster that does not answer. It is not known whether the action was carried out.
	ErrUnavailable = errors.New("adapters: cluster unavailable")
	// ErrRestored is a cluster whose records went back in time, for example because its store was restored from a backup.
	// What was known of it is no longer valid.
	ErrRestored = errors.New("adapters: the cluster's records went back in time")
	// ErrSample is a measurement that makes no sense. Such a sample is left out, and nothing else is lost.
	ErrSample = errors.New("adapters: measurement makes no sense")
	// ErrOptions is an option out of range.
	ErrOptions = errors.New("adapters: invalid option")
)

// Driver is a kind of cluster: what it reports and what it can do. [Cluster] calls it from one goroutine at a time by
// default. With [Options].Parallel above 1 it calls Start, Stop and Explain (of an [Explainer]) concurrently, for
// different jobs; a driver must then guard its own state. Observe is always called alone, after all other calls have
// returned.
//
// # Who leads
//
// A driver that can read the [Lease] lets an action through only if the lease has the action's epoch. Any other epoch,
// lower or higher, is ErrFenced. Without a lease nobody leads, so every action is ErrFenced. The driver's options say
// for how long it trusts an answer. With 0 it trusts none: it asks again for every action, after the action began.
// [Fence] does that.
//
// # Records that go back in time
//
// Versions grow as long as a cluster lives. After its store was restored from a backup, objects and lists come back
// with versions lower than those already reported. A driver that ignores what is older than what it knows would then
// ignore the cluster for ever. So a driver with a memory of its own compares each list that it requests, and each
// object in the list, with what it knew before the request. If either is older, Observe returns an error that wraps
// ErrRestored, then and at every later call. Nothing is repaired in place.
//
// [Cluster] makes the same check on nodes and jobs in each full view that it requests. The error ends the term: [Lead]
// begins another with a new Driver and a new Cluster, which know nothing. A program without a lease starts anew. A
// watch that cannot resume, because the cluster has not reached the watch's version yet, must request such a list. If a
// restored object has the same version or a higher one, the restore cannot be detected.
type Driver interface {
	// Observe reports what has changed since the last call, or everything; the first call reports everything. With relist
	// it must report everything, from a read that is as new as the call and includes every action that was carried out
	// before. The caller owns the view; jobs and nodes in it do not change afterwards. The error wraps ErrFenced if
	// another instance is known to lead, ErrRestored if the cluster's records went back in time, and ErrUnavailable
	// otherwise. That includes a cluster that refuses the read, since somebody may fix that while the scheduler waits.
	// [Cluster] treats any other error as ErrUnavailable.
	Observe(ctx context.Context, relist bool) (*View, error)
	// Start requests all tasks of a gang on their nodes. Nil means that they were requested; Observe reports what becomes
	// of them. An error that wraps ErrStale, ErrRefused or ErrFenced says that nothing was done and nothing will be. After
	// any other error the outcome is unknown. A driver that has to request each task separately returns nil once the first
	// was granted. If others are then refused, Observe reports the gang as [Job].Short.
	Start(ctx context.Context, s *Start) error
	// Stop ensures that nothing of the job runs and that the job is pending again, whatever state its tasks are in. Of a
	// job that is Over, it only stops the tasks. For a job without tasks, it ensures that no earlier Start can still take
	// effect, for example by changing the job's version. Errors are as in Start.
	Stop(ctx context.Context, s *Stop) error
}

// Explainer is a Driver that can show users why their jobs wait.
type Explainer interface {
	// Explain puts the note where the job's user reads it. It is called only when the note has changed, or when the job
	// waits again after it was started. A note of an old epoch may be refused with ErrFenced, or be written all the same,
	// as nothing depends on notes. After any other error it is tried again later. A driver that writes notes in the
	// background reports lost ones in [View].Unsaid. A note is no longer true once the job is started, so Start removes it
	// if it would still be shown.
	Explain(ctx context.Context, n *Note) error
}

// View is one report of a cluster.
type View struct {
	// Version is the newest version in the view, on the same scale as the versions of nodes and jobs. It is 0 if the
	// cluster has none.
	Version uint64
	// Full says that Nodes and Jobs are complete. Otherwise they are those that have changed.
	Full bool
	// Floor is, in a full view, the version up to which the view is complete. Suppose an object is not in the view and a
	// later report of it has a version of at most Floor: then the object no longer exists. A view that is assembled from
	// several lists has the version of the oldest list, so that objects created between two lists are not taken for gone.
	// With 0 every report is believed.
	Floor uint64
	// Nodes and Jobs hold the whole state of each object, not what has changed in it.
	Nodes []Node
	Jobs  []Job
	// Unsaid are the ids of jobs whose last note must be written again, if the policy's reason is still the same. Either
	// users do not see the note although Explain returned nil: it was dropped, could not be written, or is on an object
	// that was replaced. Or the note is no longer true, because the driver words notes by what it knows of the cluster.
	Unsaid []string
}

// Node is a node as a cluster reports it.
type Node struct {
	sched.Node
	// Version grows with every change of any object of the cluster. A report of a node that is older than the last one is
	// ignored. 0 is always believed.
	Version uint64
	// Gone says that the node no longer exists, or that the cluster has lost it.
	Gone bool
	// Cordoned says that the node takes no new tasks; its current tasks go on.
	Cordoned bool
	// Foreign is what other work holds of the node, that is, work that hedge does not schedule. The loop sees a node that
	// is smaller by that amount.
	Foreign sched.Resources
}

// Job is a job as a cluster reports it.
type Job struct {
	// Spec is the job as it was submitted. It must not be modified later; a changed job is a new value with another
	// Revision.
	Spec *sched.Job
	// UID distinguishes two jobs with the same Spec.ID, when one was withdrawn and the other submitted later. If tasks of
	// the first still run when the second appears, they are counted as Foreign.
	UID string
	// Version is as in [Node]. Actions name the version that the decision was based on.
	Version uint64
	// Revision changes whenever Spec changes.
	Revision uint64
	// Attempt is the number of starts that were requested so far.
	Attempt int
	// Done applies to a job with [sched.Job].Checkpoint. It is the running time, at full speed, of earlier attempts whose
	// work is kept. The cluster must record it, like everything else.
	Done time.Duration
	// Gone says that the job no longer exists and nothing of it runs. Its UID is ignored until a full view contains it.
	Gone bool
	// Tasks are the tasks of the last attempt. A job that waits has none.
	Tasks []Task
	// Short says that some tasks of the gang have been placed, and the others will not be without another action.
	Short bool
	// Over says that the cluster will not start the job again: it has finished, failed for good, or was cancelled.
	Over bool
	// Problem is what is wrong with the job's hints. Such a job is not scheduled, and its user is told. It wraps
	// [ErrIncomplete] if some of the job's tasks do not exist yet. If a job cannot be described at all, its tasks must be
	// counted as Foreign.
	Problem error
	// Err says why a job is Over without having finished, or why it is Short if that is known. It wraps [ErrCancelled] if
	// the job has not failed.
	Err error
	// Resize says that the job's tasks may be resized when they start, and within which bounds; nil if not.
	Resize *Bounds
	// Reserved is what each task of the last attempt reserves, if that differs from what Spec demands; nil if not.
	Reserved sched.Resources
	// Ref belongs to the driver, which gets it back in actions.
	Ref any
}

// TaskState is where a task is in its life.
type TaskState uint8

// The states. All but Finished and Failed hold room.
const (
	// Requested tasks have been requested on a node and do not run yet.
	Requested TaskState = iota
	// Running tasks run.
	Running
	// Stopping tasks were told to stop, by anybody, and have not stopped yet.
	Stopping
	// Finished tasks have done their work.
	Finished
	// Failed tasks could not start, or ended without having done their work.
	Failed
	// Lost tasks are on a lost node, where they may still run.
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
	// Node is the name of the task's node.
	Node  string
	State TaskState
	// Started and Ended are the times at which the task began to run and ended, by the cluster's clock. They are zero
	// until then.
	Started, Ended time.Time
	// Err says why the task has failed.
	Err error
}

// Start is a gang to be started.
type Start struct {
	// Job is the job as it was observed. The decision is about its UID and Version.
	Job *Job
	// Nodes are the gang's nodes. Their tasks add up to Job.Spec.Tasks.
	Nodes []sched.NodeTasks
	// State is the version of the view that the decision was based on. Epoch is the leader's.
	State, Epoch uint64
	// Reason is the policy's.
	Reason sched.Reason
	// Size is what each task reserves and may use; nil for what the job asks for. It is within the job's Resize.
	Size *Size
}

// Stop is a job to be stopped.
type Stop struct {
	// Job is the job as it was observed. The decision is about its UID and Version.
	Job *Job
	// State is the version of the view that the decision was based on. Epoch is the leader's.
	State, Epoch uint64
	// Cause says why the job is stopped.
	Cause Cause
	// Reason is the policy's, if this is a preemption.
	Reason sched.Reason
}

// Cause says why a job is stopped, in words for users.
type Cause string

// The causes.
const (
	// CausePreempted: the policy needs the job's room.
	CausePreempted Cause = "preempted"
	// CauseShort: not all of the gang could be placed.
	CauseShort Cause = "gang-short"
	// CauseTimeout: the gang did not start in time.
	CauseTimeout Cause = "start-timeout"
	// CauseFailed: a task of the gang has failed.
	CauseFailed Cause = "task-failed"
	// CauseLost: a node of the gang is lost.
	CauseLost Cause = "node-lost"
	// CauseStopped: somebody else has stopped a task of the gang, for example by draining its node.
	CauseStopped Cause = "task-stopped"
	// CauseUnknown: a start got no answer and had no effect; this prevents a later one.
	CauseUnknown Cause = "start-unanswered"
	// CauseOver: the job is over, but one of its tasks runs.
	CauseOver Cause = "over"
)

// Note says why a job waits.
type Note struct {
	// Job is the job as it was observed.
	Job *Job
	// Epoch is the leader's.
	Epoch uint64
	// Reason is the policy's. It has no code if Err is set.
	Reason sched.Reason
	// Why says more of the reason, as [Options].Why tells it; it may be empty.
	Why string
	// When says when the job is expected to start, as [Options].When tells it; it may be empty.
	When string
	// Err is the job's problem, or the reason why its last start failed.
	Err error
}

// String is the note in one line. If no nodes can hold the job, it says what the job asks for, as the scheduler has
// understood it.
func (n *Note) String() string {
	switch {
	case n.Err != nil:
		return n.Err.Error()
	case n.Reason.Code == sched.ReasonNoFeasibleSet || n.Reason.Code == sched.ReasonTooLarge:
		return n.Reason.String() + ": it asks for " + wants(n.Job.Spec)
	}
	return n.Reason.String() + n.More()
}

// More is what the note says beside the reason: why and when, each after a semicolon, as far as they are known.
func (n *Note) More() (text string) {
	for _, more := range []string{n.When, n.Why} {
		if more != "" {
			text += "; " + more
		}
	}
	return text
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
