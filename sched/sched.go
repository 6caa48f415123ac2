// Package sched decides what to start where, what to defer and what to
// preempt. A host describes jobs and nodes; a [Policy] turns a read-only
// [Snapshot] into a [Plan]; a [Loop] joins a cluster, a predictor and a policy.
//
// Policies do not know whether time is simulated. The package never logs and knows no cluster manager. A cycle is for
// the time that [Loop.Step] is given. [Loop.Run] reads that time from the system's clock, and every cycle is timed
// by the system's monotonic clock; [WithClock] and [WithStopwatch] replace them.
package sched

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched/ranges"
	"github.com/hedgesched/hedge/sched/usage"
	"github.com/hedgesched/hedge/utility"
)

// Resources is an amount of each named resource: cpu cores, bytes of memory,
// gpus, or "node" for jobs that hold whole nodes.
type Resources map[string]float64

// Job is a gang of identical tasks that start together or not at all.
type Job struct {
	// ID names the job uniquely, in at most [MaxName] bytes, as do all names.
	ID string
	// PartOf names the job that this one is a part of: tasks of its gang that were lost while the others went on. It is
	// empty for a whole job. Forecasts are those of the whole.
	PartOf string
	// Tasks is k, the size of the gang, at least 1.
	Tasks int
	// Demand is what one task holds. Empty means one whole node: {"node": 1}.
	Demand Resources
	// Attributes are what prediction may use.
	Attributes map[string]string
	// Utility is the worth of completing t seconds after Submitted. What nil stands for is told by [Job.Worth].
	Utility utility.Utility
	// Deadline is the time since submission by which the job should complete;
	// 0 makes it a best-effort job.
	Deadline time.Duration
	// Requested is how long the job may run at most at full speed, as its user has said; 0 where nobody has. Only
	// policies that plan by such limits look at it, as backfill does.
	Requested time.Duration
	// Priority orders jobs for strict-priority policies and decides who may
	// be preempted: only running jobs of lower priority than a pending one.
	Priority int
	// Required limits the job to an equivalence set; the zero value is every node.
	Required EquivalenceSet
	// Speeds are how fast the job runs on which nodes. The zero value is full speed everywhere. Forecasts are of the
	// runtime at full speed.
	Speeds Speeds
	// Checkpoint tells that the job goes on where it was when it was stopped: a preemption costs it none of the work that
	// it has done. Its forecast is then of the rest, and what is learnt of it is the whole.
	Checkpoint bool
	// After are the IDs of the jobs that must have finished before this one may start, each once. It makes the job a
	// stage of a larger one. The loop knows these jobs, or learns of them with the same [Cluster.Events]; those that
	// finished before are left out. See [Loop] for what becomes of a stage.
	After []string
	// Of is the ID that the stages of a larger job have in common; empty means the job's own. The Utility and Deadline of
	// a stage are those of the larger job: of the end of its last stage, counted from the stage's Submitted.
	Of string
	// Submitted is when the job arrived.
	Submitted time.Time
}

// Node is a machine.
type Node struct {
	// Name is unique in the cluster.
	Name string
	// Labels are what equivalence sets select on, rack included.
	Labels map[string]string
	// Capacity is what the node offers; nil means {"node": 1}. A capacity that is not nil but
	// empty is a node that takes nothing, as one that is cordoned.
	Capacity Resources
}

// NodeTasks is a number of tasks on one node.
type NodeTasks struct {
	Node  string
	Tasks int
}

// Pending is a job that waits, with its forecast at full speed: of what is left to do, where it has
// done some and kept it.
type Pending struct {
	Job        *Job
	Prediction predict.Prediction
	// Attained is the most CPU time that one of its tasks has had in a run that was lost, in core-seconds. The task needs
	// at least as much again. It is 0 where nobody measures.
	Attained float64
}

// Running is a job that runs.
type Running struct {
	Job        *Job
	Prediction predict.Prediction
	// Started is when all its tasks started.
	Started time.Time
	// Nodes hold its tasks: those that have neither ended nor been lost, nor been told to stop.
	Nodes []NodeTasks
	// Ranges are its nodes in place of Nodes, which is then empty, in snapshots that tell of Ranges. They must not be
	// modified.
	Ranges ranges.Set
	// Speed is the speed of the slowest of its nodes (see [Speeds]); 0 stands for full speed, 1.
	Speed float64
	// Use is what its tasks use, by index; nil where nobody measures.
	Use []usage.Task

	held  *tracked  // a Loop's own account of the job; nil in other snapshots
	until time.Time // the same as Until; zero where it is to be worked out
}

// Until is when the job ends by its point forecast, slow-down included.
func (r *Running) Until() time.Time {
	if !r.until.IsZero() {
		return r.until
	}
	runtime := r.Prediction.Point * Stretch(r.Speed)
	const most = float64(1 << 62) // short enough to be added to a time
	return r.Started.Add(time.Duration(max(0, min(runtime*float64(time.Second), most))))
}

// Completion is a job that has finished.
type Completion struct {
	// Job is its ID.
	Job string
	// At is when it finished: the event's Time or, where it has none, the time of the cycle that was told.
	At time.Time
}

// Snapshot is the input of one cycle. A policy must not modify anything reachable from it.
//
// A snapshot that a [Loop] shows its policy, and then its observer, stays as it is until the loop's next Step, also
// after the Step that it is of has returned. The next Step works on the same memory; the nodes, jobs and predictions in
// it never change. Whoever keeps one takes a [Snapshot.Clone].
type Snapshot struct {
	// Now is the time of the cycle.
	Now time.Time
	// Cycle is the time from one cycle to the next. It is 0 if cycles come when something happens, and never negative.
	Cycle time.Duration
	// Nodes is the cluster; it is the same value from cycle to cycle until
	// a node comes, goes or changes, so policies may key caches on it.
	Nodes *NodeSet
	// Free is the capacity less what jobs hold, [node*len(Nodes.Resources())+resource]. The jobs in Running hold
	// resources. So do jobs that were told to stop and have not stopped yet; they are not in the snapshot.
	// Where a start awaits the end of such a job, both hold the same, and Free is below 0. So it is where a plan has
	// promised a resource twice; see [Plan].Overpacks.
	Free []float64
	// Pending jobs in order of submission, ties by ID.
	Pending []Pending
	// Held are jobs that wait for others to finish ([Job.After]), in the same order. No decision is taken of them. They
	// tell how much is left of the larger jobs of which others are stages.
	Held []Pending
	// Running jobs in order of start, ties by ID.
	Running []Running
	// Completed are the jobs that have finished since the snapshot before, as the cluster told them. They are for policies
	// that learn from what became of a decision.
	Completed []Completion
	// Others is what work that is not in the snapshot uses of each node; nil where nobody measures. Free does not count
	// it.
	Others []usage.Level

	// Ranges tells that a start may give [Decision].Ranges in place of Nodes, and that running jobs have Ranges. It is
	// told to a [RangePolicy] alone.
	Ranges bool

	sound bool   // a Loop made it, and CheckSnapshot need not look
	of    *state // that loop's; nil in other snapshots
}

// ledger is what Free is of, where that is known.
func (s *Snapshot) ledger() *Ledger {
	if s.of == nil || len(s.Free) == 0 || len(s.Free) != len(s.of.ledger.free) || &s.Free[0] != &s.of.ledger.free[0] {
		return nil
	}
	return &s.of.ledger
}

// Clone is a copy that stays as it is. It names nodes where the snapshot has ranges.
func (s *Snapshot) Clone() *Snapshot {
	c := *s
	c.sound, c.of, c.Ranges = false, nil, false
	c.Free = slices.Clone(s.Free)
	c.Pending = slices.Clone(s.Pending)
	c.Held = slices.Clone(s.Held)
	c.Running = slices.Clone(s.Running)
	c.Completed = slices.Clone(s.Completed)
	c.Others = slices.Clone(s.Others)
	for i := range c.Running {
		r := &c.Running[i]
		r.held, r.until = nil, time.Time{}
		if len(r.Ranges) > 0 {
			r.Nodes, r.Ranges = s.Nodes.Named(r.Ranges), nil
		} else {
			r.Nodes = slices.Clone(r.Nodes)
		}
		c.Running[i].Use = slices.Clone(c.Running[i].Use)
	}
	return &c
}

// Policy turns a snapshot into a plan. Plan is called by one goroutine at a
// time; a policy may keep state between cycles (last plan, caches) but the
// same sequence of snapshots must give the same sequence of plans. The plan is the caller's: the
// policy neither changes it later nor keeps parts of the snapshot in it, but for nodes and jobs.
type Policy interface {
	// Name is the policy's name as reports and the command line give it.
	Name() string
	Plan(ctx context.Context, s *Snapshot) (*Plan, error)
}

// RangePolicy is a policy that gives the nodes of starts as [Decision].Ranges and takes those of running jobs so, where
// [Snapshot].Ranges tells that it may.
type RangePolicy interface {
	Policy
	// TakesRanges is never called: a policy has it to say that it is one.
	TakesRanges()
}

// SteadyPolicy is a policy that may tell that its plans do not go by the time.
type SteadyPolicy interface {
	Policy
	// Steady tells that a plan depends on the snapshots' nodes and jobs alone, and not on Now or Completed: after a plan
	// that starts and preempts nothing comes the same plan, until a job or a node comes, goes or changes. A host may then
	// leave out the cycles in between. The answer never changes.
	Steady() bool
}

// Kind says what is decided of a job.
type Kind int

// The decisions. Start and Preempt are acted on; Defer explains itself.
const (
	Defer Kind = iota
	Start
	Preempt
)

// Plan is a policy's decisions in one cycle.
type Plan struct {
	// Decisions hold every preemption first, then the pending jobs that start, wait or are deferred for
	// a reason of their own. A start may use what the plan's preemptions free.
	Decisions []Decision
	// Rest is why every pending job without a decision of its own stays pending, so that a plan need not be
	// as long as the queue. It has no code where there is no such job. See [Plan.All].
	Rest Reason
	// Overpacks names the resources that the plan promises more than once: the policy goes by what tasks use instead of
	// what they demand. [CheckPlan] lets starts pass whose demands of these are beyond what is free.
	Overpacks []string
	// Stats is how the plan came about.
	Stats Stats
}

// All are the plan's decisions on a snapshot, one for every pending job: its Decisions and then, in order of
// submission, the pending jobs that have none there, deferred for the reason in Rest.
func (p *Plan) All(s *Snapshot) iter.Seq[Decision] {
	return func(yield func(Decision) bool) {
		decided := make(map[string]struct{}, len(p.Decisions))
		for i := range p.Decisions {
			decided[p.Decisions[i].Job] = struct{}{}
			if !yield(p.Decisions[i]) {
				return
			}
		}
		for i := range s.Pending {
			if s.Pending[i].Job == nil {
				continue // no snapshot of a loop, or one that was kept for too long
			}
			id := s.Pending[i].Job.ID
			if _, ok := decided[id]; !ok && !yield(Decision{Job: id, Reason: p.Rest}) {
				return
			}
		}
	}
}

// Decision is what happens to one job and why.
type Decision struct {
	Job  string
	Kind Kind
	// Nodes hold the gang of a Start. A Preempt with Nodes stops these tasks of the gang alone, and never all of them; the
	// others go on.
	Nodes []NodeTasks
	// Ranges hold the gang of a Start in place of Nodes, by index in the snapshot's nodes, where [Snapshot].Ranges allows
	// it.
	Ranges ranges.Set
	// Start is when a deferred job is planned to start; zero if not at all.
	Start time.Time
	// Reason says why, as data.
	Reason Reason
}

// Stats says how a plan came about.
type Stats struct {
	// Options is the number of placement options valued.
	Options int
	// Value is the plan's expected utility.
	Value float64
	// Engine, Stop and Gap are the solver's; Engine is empty where none was used. Gap is not a number where the engine
	// proves no bound.
	Engine string
	Stop   string
	Gap    float64
	// Fault has the errors that did not prevent the plan, joined by "; ": a solver that failed, jobs that cannot be
	// planned. It names the first few and counts the rest. It is empty if there was none.
	Fault string
	// ValueTime and SolveTime are wall-clock seconds spent making options and solving.
	ValueTime, SolveTime float64
}

// Cluster is where jobs and nodes live: a simulator, Kubernetes, a toy.
type Cluster interface {
	// Events returns what has happened since the last call, in order. The slice is the
	// loop's until the call after.
	Events(ctx context.Context) ([]Event, error)
	// Apply carries out the plan's preemptions, then its starts. An error means that nothing was done: the
	// loop goes on as if there had been no plan. A cluster that fails halfway, or cannot tell whether
	// it has failed, returns nil, and events tell the rest.
	//
	// What became of each job is told by later events: Started or StartFailed of each start, Preempted or
	// PreemptFailed of each preemption, or Finished of a job that was done before it could be stopped. Until then
	// the loop takes the decision for carried out: a job that is to start counts as running, and one that is
	// to stop is neither pending nor running, cannot be preempted again, and keeps what it holds. A cluster
	// that does not know says nothing until it does.
	//
	// What others do to jobs is told by the same events, without a decision, and that they stop one by Stopping.
	//
	// A cluster that cannot stop some tasks of a gang alone, as a Preempt with Nodes asks, stops the whole job.
	//
	// Apply need not wait for tasks to stop. A start that counts on a preemption begins once that job has
	// stopped. A cluster that cannot wait, or that could not stop the job, answers the start with StartFailed.
	Apply(ctx context.Context, plan *Plan) error
}

// EventKind says what happened.
type EventKind int

// The events a cluster reports.
const (
	// NodeUp adds or replaces Event.Node. One that changes nothing, as a heartbeat, costs next to nothing; any
	// other makes a new [NodeSet] at the next cycle, once for all changes since the last.
	NodeUp EventKind = iota + 1
	// NodeDown removes the node named Event.Node.Name. What becomes of jobs that ran there is told by
	// events of their own.
	NodeDown
	// Submitted adds Event.Job to the pending jobs.
	Submitted
	// Started confirms that the job named Event.ID runs on Event.Nodes since Event.Time. Without a time the job runs
	// since the cycle that planned its start or, if none did, since the one that is told of it.
	Started
	// StartFailed returns the job named Event.ID to the pending ones.
	StartFailed
	// Preempted returns the job named Event.ID, which has stopped, to the pending ones; its work is lost, but for
	// that of a job with [Job].Checkpoint. Event.Cause says why.
	//
	// With Event.Job it is about some tasks of a gang, on Event.Nodes: they leave the gang for good, their work is lost,
	// and they wait as that job, which is a part ([Job.Part]). The others go on. A gang of which no task is left is
	// forgotten.
	Preempted
	// Finished removes the job named Event.ID, which ran for Event.Runtime, and teaches the predictor. The loop
	// knows how fast the job ran and tells the predictor how long it would have taken at full speed. A Runtime of 0
	// stands for the time since the job's Started, if both events have a Time; otherwise nothing is learnt, and
	// [Cycle].Ignored says so.
	//
	// With Event.Nodes it is about some tasks of a gang, which have ended there. The others go on, and nothing is
	// learnt. The last ones end with a Finished without Nodes. Nothing is learnt of a part of a job, either.
	Finished
	// Withdrawn removes the job named Event.ID, pending or running; nothing is learnt.
	Withdrawn
	// PreemptFailed returns the job named Event.ID, which was to be preempted but could not be
	// stopped, to the running ones: it goes on where it was. With Event.Nodes so do these tasks of it.
	PreemptFailed
	// Stopping tells that the job named Event.ID is being stopped, by whomever: its user, a node that is drained, or the
	// loop itself, which knows. It is neither pending nor running from then on and holds what it holds, on Event.Nodes if
	// there are any, until Preempted, Withdrawn, Finished or PreemptFailed. A host that is started again tells it of jobs
	// it finds so.
	Stopping
	// Measured tells what tasks and nodes use, as Event.Usage has it: once a cycle at most, and last in it.
	Measured
)

// Cause is why a job or a part of it was Preempted.
type Cause uint8

// The causes. Policies and predictors make nothing of them; hosts and records do.
const (
	// CauseUnknown is what events without a cause say.
	CauseUnknown Cause = iota
	// CausePolicy: a plan has preempted it.
	CausePolicy
	// CauseEvicted: its node ran short of memory.
	CauseEvicted
	// CauseNodeLost: its node is gone.
	CauseNodeLost
)

// Event is something that happened in the cluster.
type Event struct {
	Kind EventKind
	// Time is when it happened; zero where that is not known.
	Time time.Time
	// ID is the job's, of all events but those of nodes and submissions.
	ID string
	// Job is what is Submitted, and the part that tasks which were Preempted wait as. The loop keeps it and shows it to
	// policies, so it must not be changed afterwards.
	Job *Job
	// Node is what comes up, or by its name goes down. The loop takes a copy.
	Node *Node
	// Nodes are where a job has Started; none means where it was told to. For the events that may be about some tasks of
	// a gang, they are where these ran.
	Nodes []NodeTasks
	// Runtime is how long a job that has Finished ran, as seen on the clock, from the start of all its tasks. It is not
	// negative. 0 says that the host does not know.
	Runtime time.Duration
	// Done is, of a job with [Job].Checkpoint that is Submitted or comes back, for how long it has run in all whose work
	// is kept, at full speed; a negative one says that none is. Where a Preempted says nothing, all of its run is kept.
	Done time.Duration
	// Err is why a StartFailed, a PreemptFailed or a Withdrawn came about, for the host to read in
	// [Cycle.Failed]. It may be nil, and the loop makes nothing of it.
	Err error
	// NotBefore keeps a job that comes back, by StartFailed or Preempted, from the policy until then: a start that
	// failed for want of an image fails again at once. The zero time keeps nothing. It is for the cluster to
	// choose longer times for jobs that fail again, and to withdraw those it gives up.
	NotBefore time.Time
	// Cause is why what was Preempted was stopped.
	Cause Cause
	// Attained is the most CPU time that one of the tasks had which were Preempted, in core-seconds. 0 leaves it to what
	// was Measured.
	Attained float64
	// Used is what a job that has Finished used, for the predictor. It may be empty.
	Used []predict.Used
	// Usage is what was Measured. The loop takes a copy.
	Usage *usage.Batch
}
