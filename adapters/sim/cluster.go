package sim

import (
	"context"

	"github.com/hedgesched/hedge/sched"
)

var _ sched.Cluster = (*life)(nil)

// maxSpare is the room for events that is kept for later.
const maxSpare = 1 << 12

// Events hands out what has happened since the last call. The slice is used
// again by the call after the next.
func (l *life) Events(context.Context) ([]sched.Event, error) {
	if l.shared != nil {
		l.tellUsage()
	}
	out := l.told
	l.told, l.spare = l.spare[:0], nil
	if cap(out) <= maxSpare { // all nodes at once are told of but once
		l.spare = out
	}
	return out, nil
}

// Apply carries out preemptions, then starts.
func (l *life) Apply(_ context.Context, plan *sched.Plan) error {
	if l.charge != nil {
		l.advance(l.now + max(l.charge(), 0))
	}
	for i := range plan.Decisions {
		if d := &plan.Decisions[i]; d.Kind == sched.Preempt {
			if err := l.preempt(d); err != nil {
				return err
			}
		}
	}
	for i := range plan.Decisions {
		if d := &plan.Decisions[i]; d.Kind == sched.Start {
			if err := l.start(d); err != nil {
				return err
			}
		}
	}
	l.physics.settle(l.now)
	return nil
}
