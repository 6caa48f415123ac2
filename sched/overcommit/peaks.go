package overcommit

import (
	"math"
	"slices"
	"time"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/usage"
)

// history is the recent use of each running task.
type history struct {
	every  time.Duration
	warmUp time.Duration
	most   int // samples per task
	last   time.Time
	begun  bool
	cycle  uint64
	jobs   map[string]*record
}

// record is the use of a job's tasks, by index.
type record struct {
	tasks []series
	seen  uint64
}

// series is the samples of a task's use, the newest last.
type series struct {
	node    string
	ran     time.Duration
	samples []usage.Level
	seen    uint64
}

func newHistory(c *Config) history {
	return history{every: c.Sample, warmUp: c.WarmUp, most: int(c.Window / c.Sample), jobs: make(map[string]*record)}
}

// sample records what tasks use, if a sample is due, and forgets jobs that are gone.
func (h *history) sample(s *sched.Snapshot) {
	h.cycle++
	due := !h.begun || s.Now.Sub(h.last) >= h.every
	if due {
		h.begun, h.last = true, s.Now
	}
	for i := range s.Running {
		r := &s.Running[i]
		j := h.jobs[r.Job.ID]
		if j == nil {
			if len(r.Use) == 0 {
				continue
			}
			j = &record{}
			h.jobs[r.Job.ID] = j
		}
		j.seen = h.cycle
		for t := range r.Use {
			h.note(j, &r.Use[t], due)
		}
	}
	for id, j := range h.jobs {
		if j.seen != h.cycle {
			delete(h.jobs, id)
		}
	}
}

// note records what a task uses: its state in each cycle, and a sample if one is due.
func (h *history) note(j *record, u *usage.Task, due bool) {
	if u.Index >= maxTasks {
		return
	}
	for len(j.tasks) <= u.Index {
		j.tasks = append(j.tasks, series{})
	}
	t := &j.tasks[u.Index]
	if t.node != u.Node || u.Ran < t.ran { // the task was restarted
		t.samples = t.samples[:0]
	}
	t.node, t.ran, t.seen = u.Node, u.Ran, h.cycle
	if !due {
		return
	}
	if len(t.samples) == h.most {
		copy(t.samples, t.samples[1:])
		t.samples = t.samples[:h.most-1]
	}
	t.samples = append(t.samples, u.Now)
}

// maxTasks bounds the indices of tasks whose use is kept, and so memory. Tasks beyond it count at their demand.
const maxTasks = 1 << 20

// peaks predicts each machine's peak from the tasks that run there.
type peaks struct {
	machines []machine
	sums     []float64
	sorted   []float64
}

type machine struct {
	demand usage.Level // of all tasks
	fresh  usage.Level // the demand of tasks that are not warm
	warm   []*series   // tasks that have run for longer than the warm-up
}

// collect assigns running tasks to machines.
func (p *peaks) collect(s *sched.Snapshot, h *history) {
	p.machines = slices.Grow(p.machines[:0], s.Nodes.Len())[:s.Nodes.Len()]
	for i := range p.machines {
		p.machines[i] = machine{warm: p.machines[i].warm[:0]}
	}
	for i := range s.Running {
		r := &s.Running[i]
		demand := usage.Level{CPU: r.Job.Demand[usage.CPU], Memory: r.Job.Demand[usage.Memory]}
		_, on := s.Nodes.Held(r)
		for k, nt := range r.Nodes {
			if on[k] < 0 {
				continue
			}
			m := &p.machines[on[k]]
			m.demand = plus(m.demand, demand, float64(nt.Tasks))
			fresh := nt.Tasks
			if j := h.jobs[r.Job.ID]; j != nil {
				for t := range j.tasks {
					w := &j.tasks[t]
					if fresh > 0 && w.node == nt.Node && w.seen == h.cycle && w.ran >= h.warmUp && len(w.samples) > 0 {
						m.warm = append(m.warm, w)
						fresh--
					}
				}
			}
			m.fresh = plus(m.fresh, demand, float64(fresh))
		}
	}
}

func plus(a, b usage.Level, times float64) usage.Level {
	return usage.Level{CPU: a.CPU + float64(b.CPU*times), Memory: a.Memory + float64(b.Memory*times)}
}

// of is the predicted peak of a resource on a machine.
func (p *peaks) of(c *Config, at int32, resource string) float64 {
	m := &p.machines[at]
	demand, fresh := amount(m.demand, resource), amount(m.fresh, resource)
	if c.Share == 0 && c.Percentile == 0 && c.Sigmas == 0 {
		return demand
	}
	peak := c.Share * demand
	if c.Percentile > 0 {
		peak = max(peak, fresh+p.percentiles(m, resource, c.Percentile))
	}
	if c.Sigmas > 0 {
		peak = max(peak, fresh+p.sigmas(m, resource, c.Sigmas))
	}
	return min(peak, demand)
}

// percentiles sums a percentile of each task's samples: the smallest sample that at least that share of the samples do
// not exceed.
func (p *peaks) percentiles(m *machine, resource string, percent float64) float64 {
	sum := 0.0
	for _, t := range m.warm {
		p.sorted = p.sorted[:0]
		for _, l := range t.samples {
			p.sorted = append(p.sorted, amount(l, resource))
		}
		slices.Sort(p.sorted)
		sum += p.sorted[max(0, int(math.Ceil(percent/100*float64(len(p.sorted))))-1)]
	}
	return sum
}

// sigmas is the mean of the tasks' summed use plus n standard deviations, over the samples that all of them have.
func (p *peaks) sigmas(m *machine, resource string, n float64) float64 {
	if len(m.warm) == 0 {
		return 0
	}
	length := len(m.warm[0].samples)
	for _, t := range m.warm {
		length = min(length, len(t.samples))
	}
	p.sums = append(p.sums[:0], make([]float64, length)...)
	for _, t := range m.warm {
		for i, l := range t.samples[len(t.samples)-length:] {
			p.sums[i] += amount(l, resource)
		}
	}
	mean, square := 0.0, 0.0
	for _, x := range p.sums {
		mean += x / float64(length)
	}
	for _, x := range p.sums {
		square += float64((x-mean)*(x-mean)) / float64(length)
	}
	return mean + float64(n*math.Sqrt(square))
}
