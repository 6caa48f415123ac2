package sched

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hedgesched/hedge/predict"
)

// phase is where a job is in its life.
type phase int

const (
	pending  phase = iota
	starting       // told to start, not yet confirmed; holds resources and counts as running
	running
	stopping // told to stop, not yet confirmed; holds nothing and is not shown to policies
)

// tracked is a job the loop knows.
type tracked struct {
	job        *Job
	prediction predict.Prediction
	phase      phase
	started    time.Time
	nodes      []NodeTasks
	slowed     bool
	gone       bool
}

// state is what the events have told so far, kept in the form of a snapshot.
type state struct {
	jobs    map[string]*tracked
	nodes   map[string]*Node
	order   []string // node names, as they came
	set     *NodeSet
	stale   bool // nodes have changed since set was made
	free    []float64
	pending []Pending // by submission, then id
	running []Running // by start, then id
	arrived []*tracked
	waiting []*tracked // admitted before there were nodes to check them against
	fits    map[string]int
}

func (s *state) init() {
	s.jobs = make(map[string]*tracked)
	s.nodes = make(map[string]*Node)
	s.fits = make(map[string]int)
	s.set, _ = NewNodeSet(nil) // no node, no error
}

func (s *state) snapshot(now time.Time) *Snapshot {
	return &Snapshot{Now: now, Nodes: s.set, Free: s.free, Pending: s.pending, Running: s.running}
}

// apply takes in one event. It returns the job that has finished, if one has.
func (s *state) apply(e *Event, now time.Time) (*tracked, error) {
	switch e.Kind {
	case NodeUp:
		return nil, s.nodeUp(e)
	case NodeDown:
		return nil, s.nodeDown(e)
	case Submitted:
		return nil, s.submit(e, now)
	}
	j := s.jobs[e.ID]
	if j == nil {
		return nil, bad(e, "unknown job")
	}
	switch e.Kind {
	case Started:
		return nil, s.confirm(j, e)
	case StartFailed, Preempted:
		if j.phase == pending {
			return nil, bad(e, "the job is pending")
		}
		s.leave(j)
		j.phase, j.nodes, j.slowed = pending, nil, false
		s.enterPending(j)
		return nil, nil
	case Finished, Withdrawn:
		s.leave(j)
		j.gone = true
		delete(s.jobs, j.job.ID)
		if e.Kind == Finished {
			return j, nil
		}
		return nil, nil
	default:
		return nil, bad(e, "unknown kind")
	}
}

func bad(e *Event, why string) error {
	name := e.ID
	switch {
	case e.Node != nil:
		name = e.Node.Name
	case e.Job != nil:
		name = e.Job.ID
	}
	return fmt.Errorf("%w: %s %q: %s", ErrBadEvent, e.Kind, name, why)
}

func (s *state) nodeUp(e *Event) error {
	if e.Node == nil {
		return bad(e, "no node")
	}
	if err := e.Node.validate(); err != nil {
		return fmt.Errorf("%w: %w", ErrBadEvent, err)
	}
	if s.nodes[e.Node.Name] == nil {
		s.order = append(s.order, e.Node.Name)
	}
	n := *e.Node
	s.nodes[n.Name] = &n
	s.stale = true
	return nil
}

func (s *state) nodeDown(e *Event) error {
	if e.Node == nil {
		return bad(e, "no node")
	}
	if s.nodes[e.Node.Name] == nil {
		return bad(e, "unknown node")
	}
	delete(s.nodes, e.Node.Name)
	s.order = slices.DeleteFunc(s.order, func(name string) bool { return name == e.Node.Name })
	s.stale = true
	return nil
}

func (s *state) submit(e *Event, now time.Time) error {
	if e.Job == nil {
		return bad(e, "no job")
	}
	job := e.Job
	if err := job.Validate(); err != nil {
		return err
	}
	if s.jobs[job.ID] != nil {
		return &JobError{Job: job.ID, Field: "ID", Value: job.ID, Err: ErrDuplicateJob}
	}
	if job.Submitted.IsZero() {
		dated := *job
		if dated.Submitted = e.Time; e.Time.IsZero() {
			dated.Submitted = now
		}
		job = &dated
	}
	j := &tracked{job: job}
	s.jobs[job.ID] = j
	s.arrived = append(s.arrived, j)
	s.waiting = append(s.waiting, j)
	s.enterPending(j)
	return nil
}

// confirm notes where and since when a job really runs.
func (s *state) confirm(j *tracked, e *Event) error {
	nodes, since := j.nodes, j.started
	if len(e.Nodes) > 0 {
		nodes = e.Nodes
	}
	if !e.Time.IsZero() {
		since = e.Time
	}
	if len(nodes) == 0 {
		return bad(e, "on no nodes")
	}
	if j.phase == stopping {
		return nil // it started before it was told to stop
	}
	s.leave(j)
	s.enterRunning(j, running, since, nodes)
	return nil
}

// leave takes the job out of the list it is in and gives back what it holds.
func (s *state) leave(j *tracked) {
	switch j.phase {
	case pending:
		if i, ok := slices.BinarySearchFunc(s.pending, j, comparePending); ok {
			s.pending = slices.Delete(s.pending, i, i+1)
		}
	case starting, running:
		if i, ok := slices.BinarySearchFunc(s.running, j, compareRunning); ok {
			s.running = slices.Delete(s.running, i, i+1)
		}
		s.hold(j, 1)
	}
}

func (s *state) enterPending(j *tracked) {
	i, _ := slices.BinarySearchFunc(s.pending, j, comparePending)
	s.pending = slices.Insert(s.pending, i, Pending{Job: j.job, Prediction: j.prediction})
}

func (s *state) enterRunning(j *tracked, as phase, since time.Time, nodes []NodeTasks) {
	j.phase, j.started, j.nodes = as, since, nodes
	j.slowed = s.set.Slowed(j.job, nodes)
	i, _ := slices.BinarySearchFunc(s.running, j, compareRunning)
	s.running = slices.Insert(s.running, i, j.asRunning())
	s.hold(j, -1)
}

func (j *tracked) asRunning() Running {
	return Running{Job: j.job, Prediction: j.prediction, Started: j.started, Nodes: j.nodes, Slowed: j.slowed}
}

func comparePending(p Pending, j *tracked) int {
	return cmp.Or(p.Job.Submitted.Compare(j.job.Submitted), strings.Compare(p.Job.ID, j.job.ID))
}

func compareRunning(r Running, j *tracked) int {
	return cmp.Or(r.Started.Compare(j.started), strings.Compare(r.Job.ID, j.job.ID))
}

func (s *state) setPrediction(j *tracked, p predict.Prediction) {
	j.prediction = p
	switch j.phase {
	case pending:
		if i, ok := slices.BinarySearchFunc(s.pending, j, comparePending); ok {
			s.pending[i].Prediction = p
		}
	case starting, running:
		if i, ok := slices.BinarySearchFunc(s.running, j, compareRunning); ok {
			s.running[i].Prediction = p
		}
	}
}

// hold takes (-1) or gives back (+1) what a job's tasks hold. While nodes are
// stale it does nothing: settle counts anew.
func (s *state) hold(j *tracked, sign float64) {
	if s.stale {
		return
	}
	demand, err := s.set.Demand(j.job.Demand)
	if err != nil {
		return // it holds nothing this cluster has
	}
	width := len(demand)
	for _, nt := range j.nodes {
		n, ok := s.set.Index(nt.Node)
		if !ok {
			continue
		}
		row := s.free[n*width : (n+1)*width]
		for r, d := range demand {
			row[r] += sign * float64(nt.Tasks) * d
		}
	}
}

// settle rebuilds what hangs on the nodes if they have changed, and then
// turns away the jobs that the cluster cannot ever hold.
func (s *state) settle(elastic bool) []Rejection {
	if s.stale {
		s.rebuild()
	}
	if s.set.Len() == 0 && !elastic {
		return nil
	}
	var out []Rejection
	for _, j := range s.waiting {
		if elastic || j.gone || j.phase != pending {
			continue
		}
		if err := s.holds(j.job); err != nil {
			s.leave(j)
			j.gone = true
			delete(s.jobs, j.job.ID)
			out = append(out, Rejection{Job: j.job, Err: err})
		}
	}
	s.waiting = s.waiting[:0]
	return out
}

func (s *state) rebuild() {
	nodes := make([]Node, len(s.order))
	for i, name := range s.order {
		nodes[i] = *s.nodes[name]
	}
	// Every node was validated when it came, and names are keys of a map.
	s.set, _ = NewNodeSet(nodes)
	s.stale = false
	s.free = append(s.free[:0], s.set.Capacity()...)
	for i := range s.running {
		r := &s.running[i]
		j := s.jobs[r.Job.ID]
		j.slowed = s.set.Slowed(j.job, j.nodes)
		r.Slowed = j.slowed
		s.hold(j, -1)
	}
	clear(s.fits)
}

// holds tells whether the empty cluster could take the gang.
func (s *state) holds(job *Job) error {
	demand, err := s.set.Demand(job.Demand)
	if err != nil {
		return &JobError{Job: job.ID, Field: "Demand", Value: job.DemandOrNode(), Err: err}
	}
	key := append([]byte(job.Required.text), 0)
	for _, d := range demand {
		key = appendBits(key, d)
	}
	fit, known := s.fits[string(key)]
	if !known {
		fit = s.set.Holds(demand, s.set.NodesOf(job.Required))
		s.fits[string(key)] = fit
	}
	if fit < job.Tasks {
		return &JobError{Job: job.ID, Field: "Tasks", Value: job.Tasks,
			Err: fmt.Errorf("%w: room for %d on %s", ErrTooLarge, fit, job.Required)}
	}
	return nil
}

// carryOut notes what the cluster was told to do.
func (s *state) carryOut(plan *Plan, now time.Time) (started, preempted int) {
	for i := range plan.Decisions {
		if d := &plan.Decisions[i]; d.Kind == Preempt {
			j := s.jobs[d.Job]
			s.leave(j)
			j.phase, j.nodes, j.slowed = stopping, nil, false
			preempted++
		}
	}
	for i := range plan.Decisions {
		if d := &plan.Decisions[i]; d.Kind == Start {
			j := s.jobs[d.Job]
			s.leave(j)
			s.enterRunning(j, starting, now, d.Nodes)
			started++
		}
	}
	return started, preempted
}
