// Package why explains a job that waits: what holds the room that it needs and until when, which jobs are planned
// before it, what is short and by how much, and the smallest change that would start it now, one of each kind. It
// does so for any policy, from the snapshot and the plan of a cycle.
//
// What it says of room is arithmetic on what the plan leaves. What it says of changes it tries: it applies the change
// with package whatif, has the policy plan again, and looks whether the job starts. So a [Remedy] holds for the
// policy that plans, however it decides.
//
// The package changes nothing: neither the snapshot nor the cluster. It reads no clock and keeps nothing between
// explanations but what it has worked out about the plan.
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

// ErrUnknownJob is the sentinel of explanations of jobs that are not in the snapshot.
var ErrUnknownJob = errors.New("why: no such job")

// Options are those of an [Explainer]. The zero value is useful.
type Options struct {
	// Plan plans the snapshots that remedies are tried on. An explanation then takes the time of some ten plans. If it
	// is nil none is tried: remedies then are those that make room beside the plan, and no more than is needed, and
	// [Remedy.Starts] is false.
	Plan whatif.Planner
	// Tries is how many plans may be made for one explanation, at least 1. 0 means 300. A remedy that is not settled
	// when they are used up is left out, or has [Remedy.Smallest] false.
	Tries int
}

// State is where a job stands.
type State string

// The states.
const (
	Pending State = "pending" // it waits
	Starts  State = "starts"  // the plan starts it now
	Runs    State = "running"
	Stops   State = "stops" // it runs, and the plan preempts it
	Held    State = "held"  // it waits for other jobs to finish, which are in Ahead
)

// Explanation is why a job waits. Amounts of room are those that the plan leaves: running jobs that it preempts hold
// nothing, and jobs that it starts hold their nodes.
type Explanation struct {
	Job   string `json:"job"`
	State State  `json:"state"`
	// Set is the set of nodes that the job requires, Tasks the size of its gang, and Fits for how many of its tasks
	// there is room. All else but Reason is empty for a job that does not wait.
	Set   string `json:"set,omitempty"`
	Tasks int    `json:"tasks,omitempty"`
	Fits  int    `json:"fits,omitempty"`
	// Reason is what the policy says.
	Reason sched.Reason `json:"reason"`
	// Obstacle is why the nodes cannot hold the job even if nothing else runs; nil if they can.
	Obstacle *sched.Obstacle `json:"obstacle,omitempty"`
	// Holders are the running jobs that hold room which the job lacks, those that are expected to end first before
	// others.
	Holders []Holder `json:"holders"`
	// Ahead are jobs that wait, or start now, and get room before this one: those that start with the plan on nodes
	// which the job lacks room on, then those that the policy names, in its order.
	Ahead []string `json:"ahead"`
	// Short is what there is too little of. It is empty if there is room and the job waits for another reason.
	Short []Shortage `json:"short"`
	// Remedies are the smallest changes that would start the job now, at most one of each kind.
	Remedies []Remedy `json:"smallest_change"`
	// Ends is how long a running job is expected to go on.
	Ends *Span `json:"ends_s,omitempty"`
}

// Holder is a running job that holds room.
type Holder struct {
	Job string `json:"job"`
	// Nodes is on how many nodes it runs, in the set or not.
	Nodes int `json:"node_count"`
	// Frees is what is free once it has ended, on nodes of the set that the waiting job requires.
	Frees sched.Resources `json:"frees"`
	// Tasks is how many more tasks of the waiting job fit if this job alone ends.
	Tasks int `json:"tasks"`
	// Ends is in how many seconds it is expected to end. Overdue tells that it has run longer than its forecast allows.
	Ends    Span `json:"ends_s"`
	Overdue bool `json:"overdue,omitempty"`
}

// Span is when something is expected, in seconds from the snapshot's Now: with a probability of 10, 50 and 90 % by
// then.
type Span struct {
	P10 float64 `json:"p10"`
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
}

// Shortage is a resource, or a label, of which there is too little.
type Shortage struct {
	// Resource is what is short. It is empty if no node has the Label, as rack=r9, that the job requires.
	Resource string `json:"resource,omitempty"`
	Label    string `json:"label,omitempty"`
	Set      string `json:"set"`
	// Need is what the whole gang needs. Free is the part of it that is free where a whole task fits: the job is short
	// of Need less Free.
	Need float64 `json:"need"`
	Free float64 `json:"free"`
	// Idle is all that is free in the set. What is more than Free lies in pieces that are too small for a task, or on
	// nodes that lack another resource.
	Idle float64 `json:"idle"`
}

// Explainer explains jobs by one snapshot and plan. It is for one goroutine at a time.
type Explainer struct {
	snap    *sched.Snapshot
	plan    *sched.Plan
	opt     Options
	left    *sched.Snapshot // the snapshot with what the plan leaves free
	holders place.Holders
	pending map[string]int
	decided map[string]int // decisions by job
	most    int            // the highest priority of all jobs
	tasks   int            // of all that wait
}

// New returns an explainer of a cycle. The plan must be of the snapshot; an error wraps [sched.ErrInvalidSnapshot] or
// [sched.ErrInvalidPlan]. Neither may change while the explainer is used.
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

// occupy works out what the plan leaves, and who holds the rest.
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

// decision is what the plan decides of a job.
func (e *Explainer) decision(id string) sched.Decision {
	if i, ok := e.decided[id]; ok {
		return e.plan.Decisions[i]
	}
	return sched.Decision{Job: id, Reason: e.plan.Rest}
}

// Explain explains one job. Its error wraps [ErrUnknownJob], or is that of the planner. Once the context is done it
// tries no further remedies, and returns those that it has with the context's error.
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

// holds explains a job that waits for others to finish. It tells whether it is one.
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

// known tells whether a job waits, runs or is held.
func (e *Explainer) known(id string) bool {
	_, waits := e.pending[id]
	return waits || slices.ContainsFunc(e.snap.Running, func(r sched.Running) bool { return r.Job.ID == id }) ||
		slices.ContainsFunc(e.snap.Held, func(p sched.Pending) bool { return p.Job.ID == id })
}

// running explains a job that runs.
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

// waiting is a job and the room that it may use.
type waiting struct {
	job    *sched.Job
	demand []float64 // nil if no node offers a resource
	nodes  []int32   // that it may run on
	fits   int       // tasks, beside the plan
	ends   []held    // running jobs that hold room it lacks, the first to end first
	starts []string
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
