package demo

import (
	"context"
	"math"

	"github.com/hedgesched/hedge/sched"
)

// Patient is a policy that does not preempt: it sees all that runs as more important than anything that waits. It is
// what schedulers are like that never take a node back.
func Patient(p sched.Policy) sched.Policy { return patient{p} }

type patient struct{ sched.Policy }

// Name says so.
func (p patient) Name() string { return p.Policy.Name() + " without preemption" }

// Plan plans by such a snapshot.
func (p patient) Plan(ctx context.Context, s *sched.Snapshot) (*sched.Plan, error) {
	c := s.Clone()
	for i := range c.Running {
		j := *c.Running[i].Job
		j.Priority = math.MaxInt
		c.Running[i].Job = &j
	}
	return p.Policy.Plan(ctx, c)
}
