package experiment

import (
	"context"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/solver"
)

// patient is a policy whose engine may be late: the next cycle, which comes at once in a simulation, waits until it is
// done with the last.
type patient struct {
	sched.Policy
	engine solver.Solver
}

// Plan implements sched.Policy.
func (p *patient) Plan(ctx context.Context, s *sched.Snapshot) (*sched.Plan, error) {
	if err := solver.Wait(ctx, p.engine); err != nil {
		return nil, err
	}
	return p.Policy.Plan(ctx, s)
}
