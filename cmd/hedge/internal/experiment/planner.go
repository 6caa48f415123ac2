package experiment

import (
	"fmt"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/systems"
	"github.com/hedgesched/hedge/solver/engines"
)

// Planner makes a fresh policy of a system, as the spec's Engine, Cycle, Work, Budget, Window, Slot, Reserve and
// Estimate have it. Done lets go of what the policy holds on to.
func Planner(of *systems.System, spec *Spec, known *engines.Set) (p sched.Policy, done func(), err error) {
	e := &Experiment{spec: *spec, known: known}
	if err := e.tryEngine(); err != nil {
		return nil, nil, fmt.Errorf("--engine: %w", err)
	}
	if spec.Window > 0 && spec.Slot > 0 {
		if err := checkWindow(spec.Window, spec.Slot); err != nil {
			return nil, nil, err
		}
	}
	return e.policy(of, 0, spec.Window, spec.Slot)
}
