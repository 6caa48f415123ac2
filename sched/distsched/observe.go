package distsched

import (
	"math"
	"slices"
	"time"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/usage"
)

// watch is the observed use of a job's tasks on one machine, where it exceeded the forecast.
type watch struct {
	at          int32
	cpu, memory seen
	version     uint64
}

// seen is a task's observed use of one resource, since it first exceeded the forecast.
type seen struct {
	begun bool
	atoms *dist.Atoms
	value []float64 // ascending
	time  []float64 // how long each value was observed, in seconds
	stale float64   // seconds observed since atoms was made
}

// onNode is the use of a job's tasks on one node: per task, but for max, which is the largest task's.
type onNode struct {
	at             int32
	tasks          float64
	now, mean, max usage.Level
	ran            time.Duration
}

// watch compares what a running job's tasks use with the forecast. If use exceeds the forecast's largest value, the
// observed values replace the forecast from then on, weighted by the time for which each was observed (section 5.3.2).
// Lower use changes nothing, unless the policy trusts what it has observed for long: see [Config].Trust.
func (p *Policy) watch(k *known, r *sched.Running, cycle time.Duration) {
	p.nodes = gather(p.nodes[:0], r, p.machines.set)
	for i := range p.nodes {
		n := &p.nodes[i]
		mean := n.mean
		if p.cfg.Maximum {
			mean = n.max
		}
		w := k.watchOn(n.at)
		trusted := p.cfg.Trust > 0 && n.ran >= p.cfg.Trust
		cpu := trusted || mean.CPU > k.profile.cpu.Max()*(1+tiny)
		memory := trusted || mean.Memory > k.profile.memory.Max()*(1+tiny)
		if w == nil {
			if !cpu && !memory {
				continue
			}
			k.watched = append(k.watched, watch{at: n.at})
			w = &k.watched[len(k.watched)-1]
		}
		last := min(cycle, n.ran).Seconds()
		if cpu && !w.cpu.begun {
			w.cpu.begin(mean.CPU, n.ran.Seconds()-last)
		}
		if memory && !w.memory.begun {
			w.memory.begin(mean.Memory, n.ran.Seconds()-last)
		}
		left := 0.0
		if trusted {
			left = max(0, k.length()-n.ran.Seconds())
		}
		newCPU := w.cpu.see(n.now.CPU, last, &p.cfg, k.profile.cpu, left)
		newMemory := w.memory.see(n.now.Memory, last, &p.cfg, k.profile.memory, left)
		if newCPU || newMemory {
			w.version++
		}
	}
}

func (k *known) watchOn(at int32) *watch {
	for i := range k.watched {
		if k.watched[i].at == at {
			return &k.watched[i]
		}
	}
	return nil
}

// gather sums up what a job's tasks use, by node.
func gather(out []onNode, r *sched.Running, set *sched.NodeSet) []onNode {
	last := "" // the previous task's node: tasks of a node are mostly adjacent
	for i := range r.Use {
		u := &r.Use[i]
		if len(out) == 0 || u.Node != last {
			at, ok := set.Index(u.Node)
			if !ok {
				continue
			}
			last = u.Node
			k := slices.IndexFunc(out, func(n onNode) bool { return n.at == int32(at) })
			if k < 0 {
				out = append(out, onNode{at: int32(at)})
			} else if k != len(out)-1 { // keep the current node last
				out[k], out[len(out)-1] = out[len(out)-1], out[k]
			}
		}
		n := &out[len(out)-1]
		n.tasks++
		n.ran = max(n.ran, u.Ran)
		n.now, n.mean = plus(n.now, u.Now), plus(n.mean, u.Mean)
		n.max = usage.Level{CPU: max(n.max.CPU, u.Max.CPU), Memory: max(n.max.Memory, u.Max.Memory)}
	}
	for i := range out {
		n := &out[i]
		n.now, n.mean = over(n.now, n.tasks), over(n.mean, n.tasks)
	}
	return out
}

func plus(a, b usage.Level) usage.Level {
	return usage.Level{CPU: a.CPU + b.CPU, Memory: a.Memory + b.Memory}
}

func over(a usage.Level, by float64) usage.Level {
	return usage.Level{CPU: a.CPU / by, Memory: a.Memory / by}
}

// or is what was observed, or the forecast if that was never exceeded.
func (s *seen) or(predicted *dist.Atoms) *dist.Atoms {
	if s.atoms != nil {
		return s.atoms
	}
	return predicted
}

// begin starts with the task's mean so far, because its earlier values are not known.
func (s *seen) begin(mean, seconds float64) {
	s.begun = true
	s.note(mean, max(seconds, tiny))
}

// see adds a value that was used for some seconds, and tells whether the distribution has changed. Beyond Atoms values,
// the two closest are merged. The forecast counts for the left seconds, which were not observed yet.
func (s *seen) see(value, seconds float64, c *Config, forecast *dist.Atoms, left float64) bool {
	if !s.begun {
		return false
	}
	s.note(value, max(seconds, tiny))
	for len(s.value) > c.Atoms {
		s.join()
	}
	if s.stale += seconds; s.atoms != nil && c.Trust > 0 && s.stale < renewed {
		return false
	}
	s.stale = 0
	all := seen{value: slices.Clone(s.value), time: slices.Clone(s.time)}
	for i := 0; left > 0 && i < forecast.Len(); i++ {
		x, share := forecast.At(i)
		all.note(x, float64(share*left))
	}
	edges, weights := make([]float64, 0, 2*len(all.value)), make([]float64, 0, 2*len(all.value))
	for i, v := range all.value {
		edges, weights = append(edges, v, v), append(weights, all.time[i], 0)
	}
	h, err := dist.NewHistogram(edges, weights[:len(weights)-1])
	if err != nil {
		return false // cannot happen: measurements are checked
	}
	a, err := dist.NewAtoms(h, c.Atoms)
	if err != nil {
		return false // cannot happen: check bounds Atoms
	}
	s.atoms = a
	return true
}

// renewed is how often, in seconds, a trusted observation changes a machine's sums.
const renewed = 300

func (s *seen) note(value, seconds float64) {
	i, known := slices.BinarySearch(s.value, value)
	if known {
		s.time[i] += seconds
		return
	}
	s.value, s.time = slices.Insert(s.value, i, value), slices.Insert(s.time, i, seconds)
}

// join merges the two closest values into their mean, weighted by time.
func (s *seen) join() {
	at, gap := 1, math.Inf(1)
	for i := 1; i < len(s.value); i++ {
		if d := s.value[i] - s.value[i-1]; d < gap {
			at, gap = i, d
		}
	}
	sum := s.time[at-1] + s.time[at]
	s.value[at-1] += float64((s.value[at] - s.value[at-1]) * (s.time[at] / sum))
	s.time[at-1] = sum
	s.value, s.time = slices.Delete(s.value, at, at+1), slices.Delete(s.time, at, at+1)
}
