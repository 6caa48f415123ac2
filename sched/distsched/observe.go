package distsched

import (
	"math"
	"slices"
	"time"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/usage"
)

// watch is what a job's tasks on one machine were seen to use, where that was more than predicted.
type watch struct {
	at          int32
	cpu, memory seen
	version     uint64
}

// seen is a resource's usage by a task: once it has left the predicted range, the values seen since, by time.
type seen struct {
	seen  bool
	atoms *dist.Atoms
	value []float64 // ascending
	time  []float64 // in seconds
}

// onNode is what a job's tasks on one node use, by task.
type onNode struct {
	at             int32
	tasks          float64
	now, mean, max usage.Level
	ran            time.Duration
}

// watch compares what a running job's tasks use with what was predicted. Where the prediction was too low, what is
// observed takes its place from then on, each value with the share of time for which it was seen (section 5.3.2). Usage
// within the predicted range, or below it, changes nothing.
func (p *Policy) watch(k *known, r *sched.Running, cycle time.Duration) {
	p.nodes = gather(p.nodes[:0], r, p.machines.set)
	for i := range p.nodes {
		n := &p.nodes[i]
		mean := n.mean
		if p.cfg.Maximum {
			mean = n.max
		}
		w := k.watchOn(n.at)
		cpu, memory := mean.CPU > k.profile.cpu.Max()*(1+tiny), mean.Memory > k.profile.memory.Max()*(1+tiny)
		if w == nil {
			if !cpu && !memory {
				continue
			}
			k.watched = append(k.watched, watch{at: n.at})
			w = &k.watched[len(k.watched)-1]
		}
		last := min(cycle, n.ran).Seconds()
		if cpu && !w.cpu.seen {
			w.cpu.begin(mean.CPU, n.ran.Seconds()-last)
		}
		if memory && !w.memory.seen {
			w.memory.begin(mean.Memory, n.ran.Seconds()-last)
		}
		newCPU, newMemory := w.cpu.see(n.now.CPU, last, p.cfg.Atoms), w.memory.see(n.now.Memory, last, p.cfg.Atoms)
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

// gather collects what a job's tasks use by node.
func gather(out []onNode, r *sched.Running, set *sched.NodeSet) []onNode {
	last := "" // of the task before: tasks of a node mostly come together
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
			} else if k != len(out)-1 { // the one that grows is the last
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

// or is what was seen, or what was predicted where that is not exceeded.
func (s *seen) or(predicted *dist.Atoms) *dist.Atoms {
	if s.atoms != nil {
		return s.atoms
	}
	return predicted
}

// begin starts with what was used until now, as far as that is known: its mean.
func (s *seen) begin(mean, seconds float64) {
	s.seen = true
	s.note(mean, max(seconds, tiny))
}

// see notes what is used now, for so many seconds, and tells whether the distribution has changed. It knows at most so
// many values; of more, the two nearest become their mean.
func (s *seen) see(value, seconds float64, most int) bool {
	if !s.seen {
		return false
	}
	s.note(value, max(seconds, tiny))
	for len(s.value) > most {
		s.join()
	}
	edges, weights := make([]float64, 0, 2*len(s.value)), make([]float64, 0, 2*len(s.value))
	for i, v := range s.value {
		edges, weights = append(edges, v, v), append(weights, s.time[i], 0)
	}
	h, err := dist.NewHistogram(edges, weights[:len(weights)-1])
	if err != nil {
		return false // what is measured was checked
	}
	a, err := dist.NewAtoms(h, most)
	if err != nil {
		return false
	}
	s.atoms = a
	return true
}

func (s *seen) note(value, seconds float64) {
	i, known := slices.BinarySearch(s.value, value)
	if known {
		s.time[i] += seconds
		return
	}
	s.value, s.time = slices.Insert(s.value, i, value), slices.Insert(s.time, i, seconds)
}

// join makes the two nearest values one, with their mean by time.
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
