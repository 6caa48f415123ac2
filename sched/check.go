package sched

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrInvalidPlan is the sentinel of plans that must not be carried out.
var ErrInvalidPlan = errors.New("sched: invalid plan")

// ErrInvalidSnapshot is the sentinel of snapshots that are no input for a policy.
var ErrInvalidSnapshot = errors.New("sched: invalid snapshot")

// CheckSnapshot refuses what a policy cannot look at: no snapshot, no nodes, a negative cycle, amounts free that are
// not one a node and resource, and jobs that are nil. Every policy begins with it. Jobs that make no
// sense otherwise pass: a policy tells of each in its decision. It costs nothing for the snapshots of a
// [Loop]. Errors wrap [ErrInvalidSnapshot] and name the field.
func CheckSnapshot(s *Snapshot) error {
	switch {
	case s == nil:
		return fmt.Errorf("%w: nil", ErrInvalidSnapshot)
	case s.sound:
		return nil
	case s.Nodes == nil:
		return fmt.Errorf("%w: Nodes: nil", ErrInvalidSnapshot)
	case s.Cycle < 0:
		return fmt.Errorf("%w: Cycle: %v, expected at least 0", ErrInvalidSnapshot, s.Cycle)
	}
	if want := s.Nodes.Len() * len(s.Nodes.Resources()); len(s.Free) != want {
		return fmt.Errorf("%w: Free: %d amounts, expected %d", ErrInvalidSnapshot, len(s.Free), want)
	}
	if s.Others != nil && len(s.Others) != s.Nodes.Len() {
		return fmt.Errorf("%w: Others: of %d nodes, expected %d", ErrInvalidSnapshot, len(s.Others), s.Nodes.Len())
	}
	for i, f := range s.Free {
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("%w: Free[%d]: %v, expected a finite number", ErrInvalidSnapshot, i, f)
		}
	}
	ids := make(map[string]struct{}, len(s.Pending)+len(s.Held)+len(s.Running))
	for i := range s.Pending {
		if err := identify(ids, "Pending", i, s.Pending[i].Job); err != nil {
			return err
		}
	}
	for i := range s.Held {
		if err := identify(ids, "Held", i, s.Held[i].Job); err != nil {
			return err
		}
	}
	for i := range s.Running {
		if err := identify(ids, "Running", i, s.Running[i].Job); err != nil {
			return err
		}
	}
	return nil
}

// identify notes a job by its id.
func identify(ids map[string]struct{}, list string, i int, job *Job) error {
	if job == nil {
		return fmt.Errorf("%w: %s[%d].Job: nil", ErrInvalidSnapshot, list, i)
	}
	if _, twice := ids[job.ID]; twice {
		return fmt.Errorf("%w: %s[%d].Job.ID: %q comes twice", ErrInvalidSnapshot, list, i, job.ID)
	}
	ids[job.ID] = struct{}{}
	return nil
}

// CheckPlan verifies a plan against its snapshot by arithmetic of its own:
// gangs whole and on nodes that exist and are in the required set, no node over-committed but in what the plan
// overpacks, one decision a job, starts only of pending and preemptions only of running jobs. Its errors wrap
// [ErrInvalidPlan], or [ErrInvalidSnapshot] where [CheckSnapshot] refuses the snapshot.
//
// A plan may leave out pending jobs; they stay pending.
func CheckPlan(s *Snapshot, p *Plan) error {
	if err := CheckSnapshot(s); err != nil {
		return err
	}
	jobs := make(map[string]*tracked, len(s.Pending)+len(s.Running))
	for i := range s.Pending {
		job := s.Pending[i].Job
		jobs[job.ID] = &tracked{job: job}
	}
	for i := range s.Running {
		r := &s.Running[i]
		jobs[r.Job.ID] = &tracked{job: r.Job, phase: running,
			stay: &stay{nodes: r.Nodes, ranges: r.Ranges, inRanges: s.Nodes}}
	}
	var c checker
	return c.check(s, p, jobs)
}

// checker keeps what checking needs from cycle to cycle. A check costs what the plan's decisions do,
// however many jobs wait and nodes there are.
type checker struct {
	round  uint64
	ledger Ledger
	booked bool       // the ledger is of this snapshot
	twice  []bool     // by resource: the plan may promise it twice
	bound  []float64  // scratch: a demand of what it may not
	jobs   []*tracked // of the plan's decisions
}

// check verifies the plan; jobs are those of the snapshot, by id.
func (c *checker) check(s *Snapshot, p *Plan, jobs map[string]*tracked) error {
	if p == nil {
		return fmt.Errorf("%w: no plan", ErrInvalidPlan)
	}
	if want := s.Nodes.Len() * len(s.Nodes.resources); len(s.Free) != want {
		return fmt.Errorf("%w: a snapshot with %d free amounts, want %d", ErrInvalidPlan, len(s.Free), want)
	}
	c.round++
	c.booked = false
	clear(c.jobs)
	c.jobs = c.jobs[:0]
	if err := c.overpack(s, p); err != nil {
		return err
	}
	for i := range p.Decisions {
		if err := c.admit(s, &p.Decisions[i], jobs); err != nil {
			return err
		}
	}
	for i := range p.Decisions {
		if d := &p.Decisions[i]; d.Kind == Start {
			if err := c.start(s, c.jobs[i], d); err != nil {
				return err
			}
		}
	}
	return nil
}

// books is the ledger, which is brought up to date when first it is needed.
func (c *checker) books(s *Snapshot) *Ledger {
	if !c.booked {
		c.booked = true
		c.ledger.ResetTo(s)
	}
	return &c.ledger
}

// overpack notes what the plan may promise twice.
func (c *checker) overpack(s *Snapshot, p *Plan) error {
	c.twice = append(c.twice[:0], make([]bool, len(s.Nodes.resources))...)
	for _, name := range p.Overpacks {
		r, ok := slices.BinarySearch(s.Nodes.resources, name)
		if !ok {
			return fmt.Errorf("%w: it overpacks %q, which no node offers", ErrInvalidPlan, name)
		}
		c.twice[r] = true
	}
	return nil
}

// binding is the demand of what the plan may not promise twice. It is valid until the next call.
func (c *checker) binding(demand []float64) []float64 {
	c.bound = append(c.bound[:0], demand...)
	for r, twice := range c.twice {
		if twice {
			c.bound[r] = 0
		}
	}
	return c.bound
}

// admit checks that the decision is about a job it can be about, and frees
// what preemptions free.
func (c *checker) admit(s *Snapshot, d *Decision, jobs map[string]*tracked) error {
	j := jobs[d.Job]
	switch {
	case j == nil || j.phase == stopping || j.phase.hidden():
		return fmt.Errorf("%w: %s of unknown job %q", ErrInvalidPlan, d.Kind, d.Job)
	case j.checked == c.round:
		return fmt.Errorf("%w: two decisions for job %q", ErrInvalidPlan, d.Job)
	case d.Kind == Preempt && j.phase == pending:
		return fmt.Errorf("%w: %s of job %q, which is not running", ErrInvalidPlan, d.Kind, d.Job)
	case d.Kind != Preempt && j.phase != pending:
		return fmt.Errorf("%w: %s of job %q, which is not pending", ErrInvalidPlan, d.Kind, d.Job)
	case d.Kind != Preempt && d.Kind != Start && d.Kind != Defer:
		return fmt.Errorf("%w: job %q: %s is no decision", ErrInvalidPlan, d.Job, d.Kind)
	}
	j.checked = c.round
	c.jobs = append(c.jobs, j)
	if d.Kind != Preempt {
		return nil
	}
	if len(d.Nodes) > 0 {
		return c.freePart(s, j, d)
	}
	demand := j.need(s.Nodes)
	if demand == nil {
		return nil // it holds nothing this cluster has
	}
	if len(j.ranges) > 0 {
		c.books(s).GiveAll(j.ranges, demand)
		return nil
	}
	for i, n := range j.places(s.Nodes) {
		if n >= 0 {
			c.books(s).Give(int(n), demand, j.nodes[i].Tasks)
		}
	}
	return nil
}

// freePart frees what the preempted tasks of a gang hold whose others go on.
func (c *checker) freePart(s *Snapshot, j *tracked, d *Decision) error {
	nodes := j.nodes
	if len(j.ranges) > 0 {
		nodes = s.Nodes.Named(j.ranges)
	}
	rest, ok := lessTasks(nodes, d.Nodes)
	switch {
	case !ok:
		return fmt.Errorf("%w: preempt of tasks of job %q that do not run there", ErrInvalidPlan, d.Job)
	case len(rest) == 0:
		return fmt.Errorf("%w: preempt of all tasks of job %q, by name", ErrInvalidPlan, d.Job)
	}
	demand := j.need(s.Nodes)
	if demand == nil {
		return nil
	}
	for _, nt := range d.Nodes {
		if n, ok := s.Nodes.Index(nt.Node); ok {
			c.books(s).Give(n, demand, nt.Tasks)
		}
	}
	return nil
}

func (c *checker) start(s *Snapshot, j *tracked, d *Decision) error {
	job := j.job
	demand := j.need(s.Nodes)
	if demand == nil {
		_, err := s.Nodes.Demand(job.Demand)
		return fmt.Errorf("%w: start of job %q: %w", ErrInvalidPlan, job.ID, err)
	}
	if len(d.Ranges) > 0 {
		return c.startRanges(s, job, d, demand)
	}
	binding := c.binding(demand)
	tasks := int64(0) // a plan may list more than an int holds
	for _, nt := range d.Nodes {
		n, ok := s.Nodes.Index(nt.Node)
		switch {
		case !ok:
			return fmt.Errorf("%w: job %q starts on unknown node %q", ErrInvalidPlan, job.ID, nt.Node)
		case nt.Tasks < 1 || nt.Tasks > job.Tasks:
			return fmt.Errorf("%w: job %q of %d tasks starts %d tasks on node %q", ErrInvalidPlan, job.ID, job.Tasks, nt.Tasks,
				nt.Node)
		case !job.Required.Matches(s.Nodes.Node(n).Labels):
			return fmt.Errorf("%w: job %q requires %s, which node %q is not in", ErrInvalidPlan, job.ID, job.Required, nt.Node)
		}
		tasks += int64(nt.Tasks)
		if r, over := c.books(s).Overcommits(n, binding, nt.Tasks); over > 0 {
			return fmt.Errorf("%w: job %q over-commits %s of node %q by %g",
				ErrInvalidPlan, job.ID, s.Nodes.resources[r], nt.Node, over)
		}
		c.books(s).Take(n, demand, nt.Tasks)
	}
	if tasks != int64(job.Tasks) {
		return fmt.Errorf("%w: job %q starts %d of %d tasks", ErrInvalidPlan, job.ID, tasks, job.Tasks)
	}
	return nil
}

// startRanges checks a start whose nodes are ranges.
func (c *checker) startRanges(s *Snapshot, job *Job, d *Decision, demand []float64) error {
	switch tasks := d.Ranges.Tasks(); {
	case !s.Ranges || len(d.Nodes) > 0:
		return fmt.Errorf("%w: job %q starts on ranges of nodes, which nobody has asked for", ErrInvalidPlan, job.ID)
	case !d.Ranges.Within(s.Nodes.Len()):
		return fmt.Errorf("%w: job %q starts on ranges %v of %d nodes", ErrInvalidPlan, job.ID, d.Ranges, s.Nodes.Len())
	case tasks != int64(job.Tasks):
		return fmt.Errorf("%w: job %q starts %d of %d tasks", ErrInvalidPlan, job.ID, tasks, job.Tasks)
	}
	if !job.Required.IsAny() {
		for n := range d.Ranges.All() {
			if node := s.Nodes.Node(int(n)); !job.Required.Matches(node.Labels) {
				return fmt.Errorf("%w: job %q requires %s, which node %q is not in", ErrInvalidPlan, job.ID, job.Required,
					node.Name)
			}
		}
	}
	binding := c.binding(demand)
	for i := range d.Ranges {
		one := d.Ranges[i : i+1]
		if node, r, over := c.books(s).OvercommitsOn(&one[0], binding); over > 0 {
			return fmt.Errorf("%w: job %q over-commits %s of node %q by %g",
				ErrInvalidPlan, job.ID, s.Nodes.resources[r], s.Nodes.Node(node).Name, over)
		}
		c.books(s).TakeAll(one, demand)
	}
	return nil
}
