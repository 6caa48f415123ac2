// Package why explains why a job waits. An [Explanation] says which running jobs hold the room that the job needs and
// until when, which jobs get room before it, and which resource is short by how much. It also has remedies: the
// smallest change of each kind that would start the job now. The package works for any policy. Its input is the
// snapshot and the plan of a cycle.
//
// Holders and shortages are computed from the room that the plan leaves. Remedies are tried: the package applies a
// change with package whatif, has the policy plan the changed snapshot, and checks that the job starts. So a [Remedy]
// is true of the policy, however it decides.
//
// The package changes neither the snapshot nor the cluster, and reads no clock. Between explanations it keeps only what
// it has computed from the plan.
package why

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/place"
	"github.com/hedgesched/hedge/sched/whatif"
)

// ErrUnknownJob is wrapped by the error about a job that is not in the snapshot.
var ErrUnknownJob = errors.New("why: no such job")

// Options configure an [Explainer]. The zero value is ready for use.
type Options struct {
	// Plan plans the changed snapshots on which remedies are tried. An explanation then takes about as long as a dozen
	// plans, and longer if many jobs must end together. Policies that solve plan faster if they share an engine.
	// If Plan is nil, nothing is tried: remedies are computed from the room beside the plan, only those of the kinds
	// [FewerTasks], [AnotherSet], [JobsEnd] and [MoreNodes] are given, and [Remedy].Starts is false.
	Plan whatif.Planner
	// Tries limits the plans made for one explanation; 0 or less means 300. When they are used up, the search ends: kinds
	// not yet searched are left out, and a remedy found by then may have [Remedy].Smallest false.
	Tries int
	// Threads is the number of kinds of remedies that are searched for at the same time. 0 or less means 1. There are
	// six kinds, so more threads are of no use. If it is above 1, Plan must be safe for concurrent use. That of
	// [whatif.Fresh] is, as long as its policies share nothing, or only an engine that is. The explanation is the same
	// for any number. Where Tries are not enough for all kinds, up to as many plans are made for each and not used.
	Threads int
}

// State says whether a job waits, runs, or is about to change from one to the other.
type State string

// The states.
const (
	Pending State = "pending" // it waits
	Starts  State = "starts"  // the plan starts it now
	Runs    State = "running"
	Stops   State = "stops" // it runs, and the plan preempts it
	Held    State = "held"  // it waits for the jobs in Ahead to finish
)

// Explanation says why a job waits. Free room is what the plan leaves: running jobs that the plan preempts hold
// nothing, and jobs that it starts hold their nodes.
type Explanation struct {
	Job   string `json:"job"`
	State State  `json:"state"`
	// Set is the equivalence set that the job requires, Tasks the size of its gang, and Fits the number of its tasks that
	// fit now. They are empty unless State is [Pending], and so are Obstacle, Holders, Short and Remedies.
	Set   string `json:"set,omitempty"`
	Tasks int    `json:"tasks,omitempty"`
	Fits  int    `json:"fits,omitempty"`
	// Reason is the policy's. It is empty, with an unknown probability, for a job that is held or goes on running.
	Reason sched.Reason `json:"reason"`
	// Obstacle says why even empty nodes cannot hold the job. It is nil if they can.
	Obstacle *sched.Obstacle `json:"obstacle,omitempty"`
	// Holders are the running jobs that hold room which the job lacks, in order of their expected ends.
	Holders []Holder `json:"holders"`
	// Ahead are the jobs that get room before this one: first the jobs that the plan starts on nodes where this one lacks
	// room, then the pending jobs that the policy's reason names, in its order. For a held job they are the jobs that it
	// waits for.
	Ahead []string `json:"ahead"`
	// Short lists what there is too little of. It is empty if the gang fits and waits for another reason.
	Short []Shortage `json:"short"`
	// Remedies are the smallest changes that would start the job now, at most one of each kind.
	Remedies []Remedy `json:"smallest_change"`
	// Ends is the time that a running job is expected to go on for; nil for other jobs.
	Ends *Span `json:"ends_s,omitempty"`
}

// Holder is a running job that holds room which the waiting job lacks.
type Holder struct {
	Job string `json:"job"`
	// Nodes is the number of nodes that the holder runs on, inside the required set or outside.
	Nodes int `json:"node_count"`
	// Frees is the amount of each resource that the holder's end frees on nodes of the required set.
	Frees sched.Resources `json:"frees"`
	// Tasks is the number of further tasks of the waiting job that would fit if this holder alone ended.
	Tasks int `json:"tasks"`
	// Ends is the time until the holder is expected to end. Overdue is true if it has run longer than its forecast allows;
	// Ends is then 0.
	Ends    Span `json:"ends_s"`
	Overdue bool `json:"overdue,omitempty"`
}

// Span has three quantiles of the time until an event, in seconds from the snapshot's Now: the event has happened by
// P10 with a probability of 10 %, by P50 with 50 %, by P90 with 90 %.
type Span struct {
	P10 float64 `json:"p10"`
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
}

// Shortage is a resource of which there is too little, or a label that no node has.
type Shortage struct {
	// Resource is the name of the scarce resource. It is empty if no node has the Label, such as rack=r9, that the job
	// requires.
	Resource string `json:"resource,omitempty"`
	Label    string `json:"label,omitempty"`
	Set      string `json:"set"`
	// Need is the amount that the whole gang needs. Free is the amount that the tasks which fit now would use. So the gang
	// lacks Need minus Free.
	Need float64 `json:"need"`
	Free float64 `json:"free"`
	// Idle is everything that is free in the set. The difference between Idle and Free is in pieces too small for a task,
	// or on nodes that lack another resource.
	Idle float64 `json:"idle"`
}

// Explainer explains jobs of one snapshot and plan. It is for one goroutine at a time.
type Explainer struct {
	snap    *sched.Snapshot
	plan    *sched.Plan
	opt     Options
	left    *sched.Snapshot // the snapshot, with Free as the plan leaves it
	holders place.Holders
	pending map[string]int
	decided map[string]int // decisions by job
	most    int            // highest priority of a pending or running job
	tasks   int            // tasks of all pending jobs, at most maxNodes
}

// New returns an explainer of a cycle. The plan must have been made for the snapshot; otherwise the error wraps
// [sched.ErrInvalidSnapshot] or [sched.ErrInvalidPlan]. The caller must not change either while the explainer is in
// use.
func New(s *sched.Snapshot, plan *sched.Plan, o Options) (*Explainer, error) {
	if err := sched.CheckPlan(s, plan); err != nil {
		return nil, err
	}
	if o.Tries <= 0 {
		o.Tries = 300
	}
	e := &Explainer{snap: s, plan: plan, opt: o,
		pending: make(map[string]int, len(s.Pending)), decided: make(map[string]int, len(plan.Decisions))}
	for i := range s.Pending {
		job := s.Pending[i].Job
		e.pending[job.ID] = i
		e.most = max(e.most, job.Priority)
		e.tasks = min(e.tasks+min(job.Tasks, maxNodes), maxNodes)
	}
	for i := range s.Running {
		e.most = max(e.most, s.Running[i].Job.Priority)
	}
	e.occupy()
	return e, nil
}

// occupy computes the room that the plan leaves, and who holds the rest.
func (e *Explainer) occupy() {
	placer := place.NewPlacer(e.snap)
	running := make(map[string]int, len(e.snap.Running))
	for i := range e.snap.Running {
		running[e.snap.Running[i].Job.ID] = i
	}
	for i := range e.plan.Decisions {
		d := &e.plan.Decisions[i]
		e.decided[d.Job] = i
		if d.Kind == sched.Preempt {
			r := e.snap.Running[running[d.Job]]
			if len(d.Nodes) > 0 { // some of its tasks alone
				r.Nodes = d.Nodes
			}
			placer.Release(&r)
		}
	}
	for i := range e.plan.Decisions {
		if d := &e.plan.Decisions[i]; d.Kind == sched.Start {
			if demand, err := e.snap.Nodes.Demand(e.snap.Pending[e.pending[d.Job]].Job.Demand); err == nil {
				placer.Take(d.Nodes, demand)
			}
		}
	}
	left := *e.snap
	left.Free = slices.Clone(placer.Free())
	e.left = &left
	e.holders.Reset(e.snap, placer, e.plan.Decisions)
	for i := range e.plan.Decisions {
		if d := &e.plan.Decisions[i]; d.Kind == sched.Start {
			e.holders.Start(e.snap.Pending[e.pending[d.Job]].Job, d.Nodes)
		}
	}
}

// decision returns the plan's decision about a job; for a job that it does not name, the plan's rest.
func (e *Explainer) decision(id string) sched.Decision {
	if i, ok := e.decided[id]; ok {
		return e.plan.Decisions[i]
	}
	return sched.Decision{Job: id, Reason: e.plan.Rest}
}

// Explain explains one job. Its error wraps [ErrUnknownJob], or is the planner's. Once ctx is done, it tries no further
// remedies and returns the explanation so far together with the context's error.
func (e *Explainer) Explain(ctx context.Context, id string) (*Explanation, error) {
	d := e.decision(id)
	x := &Explanation{Job: id, State: Pending, Reason: d.Reason, Holders: []Holder{}, Ahead: []string{},
		Short: []Shortage{}, Remedies: []Remedy{}}
	i, waits := e.pending[id]
	switch {
	case !waits && e.holds(x):
		return x, nil
	case !waits:
		return x, e.running(x, &d)
	case d.Kind == sched.Start:
		x.State = Starts
		return x, nil
	}
	j := e.job(i)
	x.Set, x.Tasks, x.Fits = j.job.Required.String(), j.job.Tasks, j.fits
	x.Obstacle = e.snap.Nodes.Obstacle(j.job, j.job.Required)
	if j.demand != nil && j.fits < j.job.Tasks {
		e.held(x, j)
	}
	e.ahead(x, j, &d.Reason)
	x.Short = e.short(x, j)
	err := e.remedies(ctx, x, j)
	return x, err
}

// holds fills in the explanation of a held job and reports whether the job is one.
func (e *Explainer) holds(x *Explanation) bool {
	for i := range e.snap.Held {
		if job := e.snap.Held[i].Job; job.ID == x.Job {
			x.State, x.Reason = Held, sched.Reason{Probability: sched.UnknownProbability}
			for _, id := range job.After {
				if e.known(id) {
					x.Ahead = append(x.Ahead, id)
				}
			}
			return true
		}
	}
	return false
}

// known reports whether a job is pending, running or held.
func (e *Explainer) known(id string) bool {
	_, waits := e.pending[id]
	return waits || slices.ContainsFunc(e.snap.Running, func(r sched.Running) bool { return r.Job.ID == id }) ||
		slices.ContainsFunc(e.snap.Held, func(p sched.Pending) bool { return p.Job.ID == id })
}

// running fills in the explanation of a running job.
func (e *Explainer) running(x *Explanation, d *sched.Decision) error {
	for i := range e.snap.Running {
		r := &e.snap.Running[i]
		if r.Job.ID != x.Job {
			continue
		}
		span, _ := ending(r, e.snap.Now)
		x.State, x.Ends = Runs, &span
		if d.Kind == sched.Preempt && len(d.Nodes) == 0 {
			x.State = Stops
		} else {
			x.Reason = sched.Reason{Probability: sched.UnknownProbability}
		}
		return nil
	}
	return fmt.Errorf("%w: %q neither waits nor runs", ErrUnknownJob, x.Job)
}

// waiting is a pending job and the nodes that it may use.
type waiting struct {
	job    *sched.Job
	demand []float64 // nil if no node offers a resource
	nodes  []int32   // that it may run on
	fits   int       // tasks that fit beside the plan
	ends   []held    // running jobs that hold room it lacks, by expected end
	starts []string  // jobs that the plan starts on room it lacks
}

// held is a running job that holds room.
type held struct {
	run   *sched.Running
	tasks int
	span  Span
}

func (e *Explainer) job(i int) *waiting {
	job := e.snap.Pending[i].Job
	j := &waiting{job: job, nodes: e.snap.Nodes.NodesOf(job.Required)}
	if demand, err := e.snap.Nodes.Demand(job.Demand); err == nil {
		j.demand = demand
		j.fits = place.NewPlacer(e.left).Fits(demand, j.nodes)
	}
	return j
}
