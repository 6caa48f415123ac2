package sched

import (
	"errors"
	"fmt"
)

// ErrInvalidPlan is the sentinel of plans that must not be carried out.
var ErrInvalidPlan = errors.New("sched: invalid plan")

// CheckPlan verifies a plan against its snapshot by arithmetic of its own:
// gangs whole and on nodes that exist and are in the required set, no node over-committed, one decision
// a job, starts only of pending and preemptions only of running jobs. Its errors wrap [ErrInvalidPlan].
//
// A plan may leave out pending jobs; they stay pending.
func CheckPlan(s *Snapshot, p *Plan) error {
	var c checker
	return c.check(s, p)
}

// checker keeps what checking needs from cycle to cycle.
type checker struct {
	free    []float64
	pending map[string]int
	running map[string]int
	seen    map[string]struct{}
}

func (c *checker) check(s *Snapshot, p *Plan) error {
	if p == nil {
		return fmt.Errorf("%w: no plan", ErrInvalidPlan)
	}
	c.reset(s)
	for i := range p.Decisions {
		if err := c.admit(s, &p.Decisions[i]); err != nil {
			return err
		}
	}
	for i := range p.Decisions {
		if d := &p.Decisions[i]; d.Kind == Start {
			if err := c.start(s, s.Pending[c.pending[d.Job]].Job, d); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *checker) reset(s *Snapshot) {
	if c.pending == nil {
		c.pending = make(map[string]int, len(s.Pending))
		c.running = make(map[string]int, len(s.Running))
		c.seen = make(map[string]struct{}, len(s.Pending))
	}
	clear(c.pending)
	clear(c.running)
	clear(c.seen)
	c.free = append(c.free[:0], s.Free...)
	for i := range s.Pending {
		c.pending[s.Pending[i].Job.ID] = i
	}
	for i := range s.Running {
		c.running[s.Running[i].Job.ID] = i
	}
}

// admit checks that the decision is about a job it can be about, and frees
// what preemptions free.
func (c *checker) admit(s *Snapshot, d *Decision) error {
	if _, twice := c.seen[d.Job]; twice {
		return fmt.Errorf("%w: two decisions for job %q", ErrInvalidPlan, d.Job)
	}
	c.seen[d.Job] = struct{}{}
	_, pending := c.pending[d.Job]
	at, running := c.running[d.Job]
	switch {
	case !pending && !running:
		return fmt.Errorf("%w: %s of unknown job %q", ErrInvalidPlan, d.Kind, d.Job)
	case d.Kind == Preempt && !running, d.Kind != Preempt && !pending:
		return fmt.Errorf("%w: %s of job %q, which is not %s", ErrInvalidPlan, d.Kind, d.Job, needs(d.Kind))
	case d.Kind != Preempt && d.Kind != Start && d.Kind != Defer:
		return fmt.Errorf("%w: job %q: %s is no decision", ErrInvalidPlan, d.Job, d.Kind)
	case d.Kind != Preempt:
		return nil
	}
	r := &s.Running[at]
	demand, err := s.Nodes.Demand(r.Job.Demand)
	if err != nil {
		return nil // it holds nothing this cluster has
	}
	for _, nt := range r.Nodes {
		if n, ok := s.Nodes.Index(nt.Node); ok {
			c.take(n, demand, -float64(nt.Tasks))
		}
	}
	return nil
}

func needs(k Kind) string {
	if k == Preempt {
		return "running"
	}
	return "pending"
}

func (c *checker) start(s *Snapshot, job *Job, d *Decision) error {
	demand, err := s.Nodes.Demand(job.Demand)
	if err != nil {
		return fmt.Errorf("%w: start of job %q: %w", ErrInvalidPlan, job.ID, err)
	}
	width, tasks := len(demand), 0
	for _, nt := range d.Nodes {
		n, ok := s.Nodes.Index(nt.Node)
		switch {
		case !ok:
			return fmt.Errorf("%w: job %q starts on unknown node %q", ErrInvalidPlan, job.ID, nt.Node)
		case nt.Tasks < 1:
			return fmt.Errorf("%w: job %q starts %d tasks on node %q", ErrInvalidPlan, job.ID, nt.Tasks, nt.Node)
		case !job.Required.Matches(s.Nodes.Node(n).Labels):
			return fmt.Errorf("%w: job %q requires %s, which node %q is not in", ErrInvalidPlan, job.ID, job.Required, nt.Node)
		}
		tasks += nt.Tasks
		c.take(n, demand, float64(nt.Tasks))
		for r, need := range demand {
			if left := c.free[n*width+r]; need > 0 && left < -overcommit*max(s.Nodes.capacity[n*width+r], need) {
				return fmt.Errorf("%w: job %q over-commits %s of node %q by %g",
					ErrInvalidPlan, job.ID, s.Nodes.resources[r], nt.Node, -left)
			}
		}
	}
	if tasks != job.Tasks {
		return fmt.Errorf("%w: job %q starts %d of %d tasks", ErrInvalidPlan, job.ID, tasks, job.Tasks)
	}
	return nil
}

// overcommit is the part of a node's capacity that rounding may cost.
const overcommit = 1e-7

func (c *checker) take(n int, demand []float64, tasks float64) {
	row := c.free[n*len(demand):]
	for r, d := range demand {
		row[r] -= tasks * d
	}
}
