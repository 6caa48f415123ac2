package fake

import (
	"context"
	"fmt"
	"maps"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/usage"
)

var _ adapters.Meter = (*Driver)(nil)

// Measure reports [Job].Use of each running task. Jobs that use nothing are not measured.
func (d *Driver) Measure(context.Context) ([]adapters.Sample, error) {
	if d.dead != nil {
		return nil, d.dead
	}
	if d.c.down {
		return nil, adapters.ErrUnavailable
	}
	var out []adapters.Sample
	for _, j := range d.c.living() {
		if j.Use.IsZero() {
			continue
		}
		for _, t := range j.tasks {
			if t.State == adapters.Running && !d.c.nodes[t.Node].dead {
				out = append(out, adapters.Sample{
					Job: j.spec.ID, UID: j.told.UID, Attempt: j.told.Attempt, Task: fmt.Sprint(t.record.Task), Node: t.Node,
					Started: t.Started, At: d.c.Now(), Use: j.Use,
				})
			}
		}
	}
	return out, nil
}

// reserves is what each task of the job's attempt holds.
func (j *job) reserves() sched.Resources {
	demand := j.spec.DemandOrNode()
	if j.size == nil {
		return demand
	}
	out := maps.Clone(demand)
	if j.size.Reserve.CPU > 0 {
		out[usage.CPU] = j.size.Reserve.CPU
	}
	if j.size.Reserve.Memory > 0 {
		out[usage.Memory] = j.size.Reserve.Memory
	}
	return out
}
