package nomad

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"

	"github.com/hashicorp/nomad/api"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched/usage"
)

// leastMemory is the least memory, in MiB, that Nomad lets a task have.
const leastMemory = 10

// errLeast is the error of a bound without the permission that it is for.
var errLeast = fmt.Errorf("meta %s without %s = \"true\"", KeyResizeLeast, KeyResize)

// sized reads what the job allows its task to be resized to.
func (h *hints) sized() error {
	if !h.resize {
		if h.least != 0 {
			return errLeast
		}
		return nil
	}
	g := h.template
	if len(g.Tasks) != 1 || g.Tasks[0].Resources == nil {
		return fmt.Errorf("group %q has %d tasks, expected one for %s", deref(g.Name), len(g.Tasks), KeyResize)
	}
	r := g.Tasks[0].Resources
	cpu, memory := float64(deref(r.CPU)), float64(deref(r.MemoryMB))
	if h.least == 0 {
		h.least = min(leastMemory, deref(r.MemoryMB))
	}
	if least := float64(h.least); least > memory {
		return fmt.Errorf("meta %s = \"%d\", expected at most the %g MiB that the task asks for", KeyResizeLeast, h.least,
			memory)
	}
	h.bounds = &adapters.Bounds{
		Least: usage.Level{CPU: min(1, cpu), Memory: float64(h.least)}, Most: usage.Level{CPU: cpu, Memory: memory},
		Limit: max(memory, float64(deref(r.MemoryMaxMB))), Failures: h.failures,
	}
	return nil
}

// bounded is what the job allows, as the cluster can do it.
func (d *Driver) bounded(j *job) *adapters.Bounds {
	if j.bounds == nil {
		return nil
	}
	b := *j.bounds
	b.Hard = !d.oversubscribes
	return &b
}

// reserves reads what the tasks of the last start reserve, if that is not what the job asks for.
func (h *hints) reserves(job *api.Job) {
	for _, g := range job.TaskGroups {
		if !h.placed(g) {
			continue
		}
		if now := demand(g); !maps.Equal(now, h.spec.Demand) {
			h.reserved = now
		}
		return
	}
}

// listScheduler reads whether a task may use more memory than it reserves. Without the right to know, no task may.
func (d *Driver) listScheduler(ctx context.Context) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	c, _, err := d.client.Operator().SchedulerGetConfiguration(query(ctx, ""))
	var answer api.UnexpectedResponseError
	switch {
	case err == nil && c.SchedulerConfig != nil:
		d.oversubscribes = c.SchedulerConfig.MemoryOversubscriptionEnabled
	case errors.As(err, &answer):
		d.oversubscribes = false
	}
}

// resize makes the template's task as large as it was decided. Nomad takes whole numbers.
func resize(g *api.TaskGroup, s *adapters.Size) {
	if s == nil || len(g.Tasks) != 1 || g.Tasks[0].Resources == nil {
		return
	}
	r := g.Tasks[0].Resources
	up := func(x float64) *int {
		n := int(math.Ceil(x))
		return &n
	}
	if s.Reserve.CPU > 0 {
		r.CPU = up(s.Reserve.CPU)
	}
	if s.Reserve.Memory > 0 {
		r.MemoryMB = up(s.Reserve.Memory)
		if r.MemoryMaxMB = up(s.Limit); *r.MemoryMaxMB <= *r.MemoryMB {
			r.MemoryMaxMB = nil
		}
	}
}
