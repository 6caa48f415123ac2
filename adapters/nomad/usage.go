package nomad

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched/usage"
)

const (
	// measureWithin limits all calls of a measurement: the cycle waits for them.
	measureWithin = 2 * time.Second
	// measureAgain is how long a node is left alone whose agent did not tell what an allocation uses.
	measureAgain = 5 * time.Second
)

var _ adapters.Meter = (*Driver)(nil)

// Measure asks the agents what the allocations of hedge's running jobs use: one call for each, eight at a time, for two
// seconds at most. CPU is in MHz, as agents count their ticks, and memory is the resident set, in MiB. An agent that
// does not answer is left alone for 5 s, and its error is returned beside what the others have told.
func (d *Driver) Measure(ctx context.Context) ([]adapters.Sample, error) {
	ctx, cancel := context.WithTimeout(ctx, min(measureWithin, d.opt.Timeout))
	defer cancel()
	live := d.live()
	samples := make([]*adapters.Sample, len(live))
	var mu sync.Mutex
	var first error
	now := d.opt.Now()
	_ = each(ctx, len(live), func(ctx context.Context, i int) error { // its error is that the time was up
		a := live[i].alloc
		mu.Lock()
		silent := now.Before(d.silent[a.NodeID])
		mu.Unlock()
		if silent {
			return nil
		}
		s, err := d.sample(ctx, &live[i])
		samples[i] = s
		if err != nil {
			mu.Lock()
			defer mu.Unlock()
			d.silent[a.NodeID] = now.Add(measureAgain)
			if first == nil {
				first = err
			}
		}
		return nil
	})
	var out []adapters.Sample
	for _, s := range samples {
		if s != nil {
			out = append(out, *s)
		}
	}
	return out, first
}

// measurable is an allocation of a job's last start that runs.
type measurable struct {
	*alloc
	job     *job
	started time.Time
}

// live are the allocations to measure, in a fixed order.
func (d *Driver) live() []measurable {
	var out []measurable
	for k, j := range d.state.jobs {
		if j.problem != nil || !j.runs() {
			continue
		}
		for _, a := range d.state.of[k] {
			if !j.current(a) || !d.own(j, a) || a.ClientStatus != api.AllocClientStatusRunning {
				continue
			}
			if t := d.task(j, a); t.State == adapters.Running {
				out = append(out, measurable{a, j, t.Started})
			}
		}
	}
	slices.SortFunc(out, func(a, b measurable) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// sample asks for one allocation. It is nil if the agent has measured nothing of it yet.
func (d *Driver) sample(ctx context.Context, m *measurable) (*adapters.Sample, error) {
	var told api.AllocResourceUsage
	_, err := d.client.Raw().Query("/v1/client/allocation/"+m.ID+"/stats", &told, query(ctx, m.Namespace))
	switch {
	case missing(err): // it has ended
		return nil, nil
	case err != nil:
		return nil, failRead("measure allocation "+m.ID, err)
	}
	at := told.Timestamp
	for _, t := range told.Tasks {
		if t != nil {
			at = max(at, t.Timestamp)
		}
	}
	r := told.ResourceUsage
	if at <= 0 || r == nil || r.MemoryStats == nil || r.CpuStats == nil || len(r.MemoryStats.Measured) == 0 {
		return nil, nil
	}
	s := &adapters.Sample{
		Job: m.key().String(), UID: m.job.uid(), Attempt: m.job.attempt, Task: m.ID, Node: d.state.nameOf(m.NodeID),
		Started: m.started, At: time.Unix(0, at).UTC(),
		Use:       usage.Level{CPU: r.CpuStats.TotalTicks, Memory: resident(r.MemoryStats)},
		Throttled: r.CpuStats.ThrottledPeriods > 0,
	}
	if s.At.Before(s.Started) { // of before the task began
		return nil, nil
	}
	return s, nil
}

// resident is the memory in use, in MiB: the resident set, or all of it where agents do not measure that.
func resident(m *api.MemoryStats) float64 {
	const mib = 1 << 20
	if slices.Contains(m.Measured, "RSS") {
		return float64(m.RSS) / mib
	}
	return float64(m.Usage) / mib
}

// uid distinguishes submissions of a job.
func (j *job) uid() string { return fmt.Sprintf("%d.%d", deref(j.CreateIndex), j.origin) }
