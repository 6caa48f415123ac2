package experiment

import (
	"errors"
	"fmt"
	"time"

	"github.com/hedgesched/hedge/adapters/sim/trace"
	"github.com/hedgesched/hedge/adapters/sim/workload"
)

// flagOf are the flags that set the fields which the library may refuse.
var flagOf = map[string]string{
	"Nodes": "--nodes", "Racks": "--racks", "TasksPerNode": "--tasks-per-node", "Load": "--load", "Hours": "--hours",
	"StartHour": "--start-hour", "Slack": "--slack", "SLOShare": "--slo-share", "PreferShare": "--prefer-share",
	"PreferSlowdown": "--prefer-slowdown", "TrainShare": "--train", "Kind": "--workload", "JobsPerHour": "--jobs-per-hour",
}

// inFlags says an error of the library in the words of the command line.
func (s *Spec) inFlags(log *trace.Log, err error) error {
	var spec *workload.SpecError
	switch {
	case errors.As(err, &spec) && flagOf[spec.Field] != "":
		return fmt.Errorf("%s: %s: found %v, expected %s", log.Name, flagOf[spec.Field], spec.Value, spec.Want)
	case errors.Is(err, workload.ErrEmpty):
		wide, room := 0, s.Nodes*s.TasksPerNode
		for i := range log.Jobs {
			if log.Jobs[i].Tasks > room {
				wide++
			}
		}
		return fmt.Errorf("%s: %w: %d of %d jobs are wider than the cluster of %d tasks", log.Name, err, wide, len(log.Jobs),
			room)
	case errors.Is(err, workload.ErrTooLittleWork):
		return fmt.Errorf("%s: %w: try less of --hours, --load or --nodes", log.Name, err)
	}
	return fmt.Errorf("%s: %w", log.Name, err)
}

// maxSlots is how many slots a plan-ahead window may have.
const maxSlots = 4096

// checkWindow refuses windows of more slots than a policy can look at.
func checkWindow(window, slot time.Duration) error {
	if window/slot > maxSlots {
		return fmt.Errorf("--window: found %v in slots of %v, expected at most %d slots", window, slot, maxSlots)
	}
	return nil
}
