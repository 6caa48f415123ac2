package published

import (
	"math"

	"github.com/hedgesched/hedge/adapters/sim/tasklog"
	"github.com/hedgesched/hedge/sched/eagle/longset"
)

// node is a worker with one slot and a queue.
type node struct {
	queue     []probe
	long      int32 // long probes in the queue
	task      int32 // of its job, the last that started
	idle      bool
	executing bool    // a long task, or asking for one
	stamp     float64 // when the snapshot came; -1 for never
	seen      *longset.Snapshot
}

// placed is the task of a node that the central scheduler placed: when the node asked for it, -1 for none, and its
// estimate in seconds. They are beside each other, as DLWL looks at all of them for every job.
type placed struct{ since, estimate float64 }

// probe is a place in a queue; bypassed is the estimated time of the tasks that went before it.
type probe struct {
	bypassed int64
	job      int32
}

// add is the arrival of a probe.
func (s *simulation) add(at, id int32) {
	n := &s.nodes[at]
	n.queue = append(n.queue, probe{job: id})
	if s.jobs[id].central {
		n.long++
		if s.Variant.Share {
			n.seen, n.stamp = s.status.long.Snapshot(), s.now
		}
	}
	if n.idle {
		s.next(at)
	}
}

// freed is when a node's slot becomes idle.
func (s *simulation) freed(at int32) {
	n := &s.nodes[at]
	n.idle = true
	s.idle++
	n.executing = false
	switch {
	case len(n.queue) > 0:
		s.next(at)
	case s.Variant.Steal:
		s.steal(at)
	}
}

// next takes the slot for a probe of the queue.
func (s *simulation) next(at int32) {
	n := &s.nodes[at]
	n.idle = false
	s.idle--
	pos := 0
	if s.Variant.Shortest {
		if s.Variant.Stale {
			pos = s.shortestStale(n)
		} else {
			pos = s.shortest(n)
		}
	}
	if pos < 0 { // the queue held only jobs with nothing left
		s.noTasks.At(key(s.now), happening{node: at})
		return
	}
	id := n.queue[pos].job
	j := &s.jobs[id]
	n.executing, s.placed[at].since = j.central, -1
	if j.central {
		n.long--
		s.placed[at] = placed{s.now, float64(j.estimate)}
	}
	got := s.task(at, id, j)
	if !s.Variant.Sticky || !got || j.long {
		n.queue = append(n.queue[:pos], n.queue[pos+1:]...)
	}
	if got && !j.long && s.Variant.Shortest && !s.Variant.Stale {
		bypass(n.queue[:pos], j.estimate)
	}
}

// bypass charges the probes in front of a chosen one.
func bypass(front []probe, estimate int64) {
	for i := range front {
		front[i].bypassed += estimate
	}
}

// task is what a node is told when it asks for a task of a job, a round trip later.
func (s *simulation) task(at, id int32, j *job) bool {
	s.result.Messages += 2
	answer := s.now + 2*hop
	if !j.open() {
		s.noTasks.At(key(answer), happening{node: at})
		return false
	}
	seconds := int64(s.work.Runtimes[j.first+j.next] / 1e9)
	s.nodes[at].task = j.next
	s.observe(tasklog.Start, id, j.next, at)
	j.next++
	if !j.open() {
		s.started++
	}
	end := float64(seconds) + answer
	j.end = max(j.end, end)
	s.at(end, taskEnd, happening{at, id})
	if s.Variant.Shortest && s.Variant.Share {
		s.updates.At(key(answer), happening{job: id})
	}
	return true
}

// shortest chooses among a queue's probes the one of the job with the least work left that may bypass those in front,
// and drops the probes of jobs with nothing left. It is -1 if none is left. A long probe at the head is taken at once.
func (s *simulation) shortest(n *node) int {
	chosen, least, slack := -1, int64(math.MaxInt64), int64(math.MaxInt64)
	kept := 0
	for i, p := range n.queue {
		j := &s.jobs[p.job]
		if j.left == -1 {
			continue
		}
		n.queue[kept] = p
		if kept == 0 && j.long || j.left < least && j.estimate <= slack {
			chosen, least = kept, j.left
			if j.long {
				kept += 1 + copy(n.queue[kept+1:], n.queue[i+1:])
				break
			}
		}
		if own := bypassFactor*j.estimate - p.bypassed; !j.long && own < slack {
			slack = own
		}
		kept++
	}
	n.queue = n.queue[:kept]
	return chosen
}

// shortestStale is the rule of DLWL: it protects long probes too, and is charged at once.
func (s *simulation) shortestStale(n *node) int {
	chosen, least, slack := 0, int64(math.MaxInt64), int64(math.MaxInt64)
	for i, p := range n.queue {
		j := &s.jobs[p.job]
		if left := int64(j.tasks-j.next) * j.estimate; left < least && j.estimate < slack {
			chosen, least = i, left
		}
		slack = min(slack, bypassFactor*j.estimate-p.bypassed)
	}
	bypass(n.queue[:chosen], s.jobs[n.queue[chosen].job].estimate)
	return chosen
}

// steal moves to an idle node the first short probes that wait behind a long one elsewhere.
func (s *simulation) steal(thief int32) {
	for range stealAttempts {
		victim := &s.nodes[s.general+s.random.below(s.Nodes-s.general)]
		s.result.Messages += 2
		from, to := s.loot(victim)
		if from == to {
			continue
		}
		moved := append(s.scratch.moved[:0], victim.queue[from:to]...)
		victim.queue = append(victim.queue[:from], victim.queue[to:]...)
		for _, p := range moved {
			s.add(thief, p.job)
		}
		s.scratch.moved = moved
		return
	}
}

// loot is the range of a queue that may be stolen.
func (s *simulation) loot(n *node) (from, to int) {
	i := 0
	long := func() bool { return s.jobs[n.queue[i].job].long }
	if !n.executing {
		for i < len(n.queue) && !long() {
			i++
		}
	}
	for i < len(n.queue) && long() {
		i++
	}
	from = i
	for i < len(n.queue) && !long() && i-from < stealLimit {
		i++
	}
	return from, i
}
