package sched

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched/ranges"
	"github.com/hedgesched/hedge/sched/usage"
)

// state is what the events have told so far, kept in the form of a snapshot.
type state struct {
	jobs     map[string]*tracked
	nodes    map[string]*Node
	order    []*Node // as they came; those that nodes does not hold are gone
	set      *NodeSet
	stale    bool // nodes have changed since set was made
	ledger   Ledger
	pending  list[Pending] // by submission, then id
	running  list[Running] // by start, then id
	stopping []*tracked    // as they were told to
	delayed  []*tracked    // as they came back
	arrived  []*tracked    // since forecasts were last made
	waiting  []*tracked    // admitted before there were nodes to check them against
	left     []*tracked    // jobs that are gone since; arrived and waiting may hold them
	spare    []*tracked    // memory of jobs that are gone
	nowhere  stay          // of all jobs that have not run; it stays as it is
	finished []Completion  // since a snapshot was last shown
	stages
	news   news
	copied copied
	others map[string]usage.Level // by node; nil where nobody measures
	levels []usage.Level          // the same by index; nil where it is to be made
}

func (s *state) init() {
	s.jobs = make(map[string]*tracked)
	s.nodes = make(map[string]*Node)
	s.set, _ = NewNodeSet(nil) // no node, no error
	s.ledger.Open(s.set)
}

// show fills in a snapshot, which shares the state's memory.
func (s *state) show(to *Snapshot, now time.Time) {
	*to = Snapshot{Now: now, Nodes: s.set, Free: s.ledger.Free(), Pending: s.pending.items(), Held: s.held.items(),
		Running: s.running.items(), Completed: s.finished, Others: s.othersByNode(), sound: true, of: s}
	s.finished = nil
	s.news.publish()
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
	case Measured:
		return nil, s.measure(e)
	}
	if e.Kind < NodeUp || int(e.Kind) >= len(eventNames) {
		return nil, bad(e, "unknown kind")
	}
	j := s.jobs[e.ID]
	if j == nil {
		return nil, bad(e, "unknown job")
	}
	for i := range e.Nodes {
		if e.Nodes[i].Tasks < 1 {
			return nil, bad(e, fmt.Sprintf("%d tasks on node %q", e.Nodes[i].Tasks, short(e.Nodes[i].Node)))
		}
	}
	switch {
	case e.Kind == Preempted && e.Job != nil:
		return nil, s.lose(j, e, now)
	case e.Kind == Finished && len(e.Nodes) > 0:
		_, err := s.part(j, e)
		return nil, err
	case e.Kind == PreemptFailed && len(e.Nodes) > 0:
		return nil, s.rejoin(j, e)
	}
	switch e.Kind {
	case Started:
		return nil, s.confirm(j, e, now)
	case StartFailed, Preempted:
		return nil, s.comeBack(j, e, now)
	case PreemptFailed:
		return nil, s.goOn(j, e)
	case Stopping:
		return nil, s.beginStop(j, e, now)
	}
	s.leave(j) // Finished and Withdrawn
	s.forget(j)
	if e.Kind != Finished {
		s.abandon(j)
		return nil, nil
	}
	s.ready(j)
	at := now
	if !e.Time.IsZero() {
		at = wall(e.Time)
	}
	s.finished = append(s.finished, Completion{Job: e.ID, At: at})
	return j, nil
}

func bad(e *Event, why string) error {
	name := short(e.ID)
	switch {
	case e.Node != nil:
		name = short(e.Node.Name)
	case e.Job != nil:
		name = short(e.Job.ID)
	}
	return fmt.Errorf("%w: %s %q: %s", ErrBadEvent, e.Kind, name, why)
}

func (s *state) nodeUp(e *Event) error {
	if e.Node == nil {
		return bad(e, "no node")
	}
	n := s.nodes[e.Node.Name]
	if n != nil && n.equal(e.Node) {
		return nil // a sign of life
	}
	if err := e.Node.validate(); err != nil {
		return fmt.Errorf("%w: %w", ErrBadEvent, err)
	}
	if n == nil {
		n = new(Node)
		s.nodes[e.Node.Name] = n
		s.order = append(s.order, n)
	}
	// The host may go on to use its maps; what is compared with next time must not change with them.
	*n = Node{Name: e.Node.Name, Labels: e.Node.Labels, Capacity: e.Node.Capacity}
	s.copied.keep(n)
	s.stale = true
	return nil
}

// copied are the maps of the node that was last copied. Neighbours often have the same.
type copied struct {
	labels   map[string]string
	capacity Resources
}

// keep has a node hold copies of its maps.
func (c *copied) keep(n *Node) {
	if n.Labels != nil && !maps.Equal(c.labels, n.Labels) || c.labels == nil {
		c.labels = maps.Clone(n.Labels)
	}
	if n.Capacity != nil && !maps.Equal(c.capacity, n.Capacity) || c.capacity == nil {
		c.capacity = maps.Clone(n.Capacity)
	}
	if n.Labels != nil {
		n.Labels = c.labels
	}
	if n.Capacity != nil {
		n.Capacity = c.capacity
	}
}

func (s *state) nodeDown(e *Event) error {
	if e.Node == nil {
		return bad(e, "no node")
	}
	if s.nodes[e.Node.Name] == nil {
		return bad(e, "unknown node")
	}
	delete(s.nodes, e.Node.Name) // from order: when the batch is over
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
		if dated.Submitted = wall(e.Time); e.Time.IsZero() {
			dated.Submitted = now
		}
		job = &dated
	} else if at := wall(job.Submitted); at != job.Submitted {
		dated := *job
		dated.Submitted = at
		job = &dated
	}
	j := s.track(job)
	if job.Checkpoint {
		j.done = max(0, e.Done)
	}
	s.jobs[job.ID] = j
	s.arrived = append(s.arrived, j)
	s.waiting = append(s.waiting, j)
	if len(job.After) > 0 {
		j.phase = held
		s.fresh = append(s.fresh, j)
		enter(&s.held, j)
		return nil
	}
	s.enterPending(j)
	return nil
}

// wall is the time without its monotonic reading. Times with and without one compare by different clocks, which
// a step of the wall clock sets apart: an order by both is none.
func wall(t time.Time) time.Time { return t.Round(0) }

// track makes room for a job.
func (s *state) track(job *Job) *tracked {
	n := len(s.spare)
	if n == 0 {
		return &tracked{job: job, stay: &s.nowhere}
	}
	j := s.spare[n-1]
	s.spare = s.spare[:n-1]
	j.job, j.gone = job, false
	return j
}

// forget lets a job go.
func (s *state) forget(j *tracked) {
	j.gone = true
	delete(s.jobs, j.job.ID)
	s.left = append(s.left, j)
}

// settled ends a batch of events: those that are gone are nowhere any more.
func (s *state) settled() {
	s.arrived = emptied(s.arrived)
	if len(s.waiting) > 0 {
		return
	}
	for _, j := range s.left {
		if j.stay != &s.nowhere {
			*j.stay = stay{at: j.at[:0]}
		}
		*j = tracked{stay: j.stay, gone: true}
		if len(s.spare) < maxSpare {
			s.spare = append(s.spare, j)
		}
	}
	s.left = emptied(s.left)
}

func (s *state) setPrediction(j *tracked, p predict.Prediction) {
	j.prediction = p
	switch j.phase {
	case pending:
		s.pending.items()[waitingAt(&s.pending, j)].Prediction = p
	case held:
		s.held.items()[waitingAt(&s.held, j)].Prediction = p
	case starting, running:
		r := &s.running.items()[s.runningAt(j)]
		r.Prediction, r.until = p, time.Time{}
	}
}

// hold takes (-1) or gives back (+1) what a job's tasks hold. While nodes are
// stale it does nothing: settle counts anew.
func (s *state) hold(j *tracked, sign int) {
	if s.stale {
		return
	}
	demand := j.need(s.set)
	if demand == nil {
		return // it holds nothing this cluster has
	}
	if len(j.ranges) > 0 {
		if sign < 0 {
			s.ledger.TakeAll(j.ranges, demand)
		} else {
			s.ledger.GiveAll(j.ranges, demand)
		}
		return // tasks of it that leave are named, and so is it
	}
	for i, n := range j.places(s.set) {
		if n >= 0 {
			s.holdOn(int(n), j.nodes[i].Tasks, demand, sign)
		}
	}
	for _, nt := range j.leaving {
		if n, ok := s.set.Index(nt.Node); ok {
			s.holdOn(n, nt.Tasks, demand, sign)
		}
	}
}

func (s *state) holdOn(n, tasks int, demand []float64, sign int) {
	if sign < 0 {
		s.ledger.Take(n, demand, tasks)
		return
	}
	s.ledger.Give(n, demand, tasks)
}

// settle rebuilds what hangs on the nodes if they have changed, shows the jobs whose time has come, and then names the
// jobs that have come and that the nodes, even empty, cannot hold. It forgets them if the cluster is fixed.
func (s *state) settle(fixed bool, now time.Time) []Rejection {
	if s.stale {
		s.rebuild()
	}
	s.release(now)
	if s.set.Len() == 0 {
		return nil
	}
	var out []Rejection
	for _, j := range s.waiting {
		if j.gone || !j.phase.waiting() {
			continue
		}
		if err := s.holds(j); err != nil {
			out = append(out, Rejection{Job: j.job, Err: err})
			if fixed {
				s.leave(j)
				s.forget(j)
				s.abandon(j)
			}
		}
	}
	s.waiting = emptied(s.waiting)
	return out
}

// emptied is the slice without elements, which are let go.
func emptied(jobs []*tracked) []*tracked {
	clear(jobs)
	return jobs[:0]
}

func (s *state) rebuild() {
	s.order = slices.DeleteFunc(s.order, func(n *Node) bool { return s.nodes[n.Name] != n })
	nodes := make([]Node, len(s.order))
	for i, n := range s.order {
		nodes[i] = *n
	}
	for _, j := range s.stopping {
		j.name()
	}
	// Every node was validated when it came, and names are keys of a map.
	s.set, _ = NewNodeSet(nodes)
	s.stale, s.levels = false, nil
	s.news.version++
	s.ledger.Open(s.set)
	for i := range s.running.items() {
		r := &s.running.items()[i]
		j := s.jobs[r.Job.ID]
		j.name()
		r.Nodes, r.Ranges = j.nodes, nil
		if !slices.Contains(j.places(s.set), -1) {
			j.speed = s.set.Speed(j.job, j.nodes)
			r.Speed, r.until = j.speed, time.Time{}
		} // else it ran as it did before its node was gone
		s.hold(j, -1)
	}
	for _, j := range s.stopping {
		s.hold(j, -1)
	}
}

// holds tells whether the empty cluster could take the gang.
func (s *state) holds(j *tracked) error {
	job := j.job
	demand := j.need(s.set)
	if demand == nil {
		_, err := s.set.Demand(job.Demand)
		return &JobError{Job: job.ID, Field: "Demand", Value: job.DemandOrNode(), Err: err}
	}
	if s.set.Site(job.Required, demand).Holds < job.Tasks {
		return s.tooLarge(job)
	}
	return nil
}

// tooLarge is the error of a gang that the empty cluster could not take: the field that is at fault, and the obstacle.
func (s *state) tooLarge(job *Job) error {
	o := s.set.Obstacle(job, job.Required)
	e := &JobError{Job: job.ID, Field: "Tasks", Value: job.Tasks, Err: fmt.Errorf("%w: %s", ErrTooLarge, o)}
	switch {
	case o.Missing != "":
		e.Field, e.Value = "Required", job.Required
	case o.Resource != "":
		e.Field, e.Value = "Demand["+o.Resource+"]", o.Wanted
	case o.Room == 0:
		e.Field, e.Value = "Demand", job.Demand
	}
	return e
}

// deeds are what the cluster was told to do and the state does not know yet.
type deeds struct {
	at      time.Time
	preempt []*tracked
	leave   [][]NodeTasks // of each preemption: the tasks, or nil for all
	start   []*tracked
	where   []where // of each start
}

// where is where a job starts: nodes by name or by ranges.
type where struct {
	nodes  []NodeTasks
	ranges ranges.Set
}

// note takes up a plan that the cluster carries out; jobs are those of its decisions.
func (d *deeds) note(plan *Plan, jobs []*tracked, now time.Time) {
	d.at = now
	for i := range plan.Decisions {
		switch plan.Decisions[i].Kind {
		case Preempt:
			d.preempt, d.leave = append(d.preempt, jobs[i]), append(d.leave, plan.Decisions[i].Nodes)
		case Start:
			d.start = append(d.start, jobs[i])
			d.where = append(d.where, where{plan.Decisions[i].Nodes, plan.Decisions[i].Ranges})
		}
	}
}

// carryOut brings the state up to date with the deeds, and forgets them. What a job that is to stop holds stays held
// until the cluster says that it has stopped, so a start in its place may leave less than nothing free until then.
func (s *state) carryOut(d *deeds) {
	if len(d.preempt)+len(d.start) > 0 {
		s.news.version++
	}
	for i, j := range d.preempt {
		if len(d.leave[i]) > 0 {
			s.beginLeave(j, d.leave[i])
			continue
		}
		s.running.remove(s.runningAt(j))
		j.phase = stopping
		s.stopping = append(s.stopping, j)
	}
	for i, j := range d.start {
		s.leave(j)
		s.enterRunning(j, starting, d.at, d.where[i])
		s.hold(j, -1)
	}
	clear(d.where)
	clear(d.leave)
	d.preempt, d.leave = emptied(d.preempt), d.leave[:0]
	d.start, d.where = emptied(d.start), d.where[:0]
}
