package published

import (
	"math"

	"github.com/hedgesched/hedge/sched/eagle/longset"
)

// status is what the central scheduler knows: the estimated seconds of centrally placed tasks of each node, whether it
// has any, and what the last heartbeat copied.
type status struct {
	queued  []int64
	long    *longset.Set
	stale   []int64
	changed []int32
	dirty   []bool
}

// scratch is room used again.
type scratch struct {
	chosen []int32
	heap   []wait
	moved  []probe
}

// wait is the seconds until a node gets to a new task.
type wait struct {
	seconds float64
	node    int32
}

func (a wait) before(b wait) bool {
	return a.seconds < b.seconds || a.seconds == b.seconds && a.node < b.node
}

func (t *status) placed(node int32, estimate int64) {
	t.queued[node] += estimate
	t.long.Put(int(node), true)
	t.change(node)
}

func (t *status) ended(node int32, estimate int64) {
	t.queued[node] -= estimate
	if t.queued[node] == 0 {
		t.long.Put(int(node), !t.long.Has(int(node)))
	}
	t.change(node)
}

func (t *status) change(node int32) {
	if t.dirty == nil || t.dirty[node] {
		return
	}
	t.dirty[node] = true
	t.changed = append(t.changed, node)
}

// beat copies what has changed. Before the first beat the copy is the original.
func (s *simulation) beat() {
	t := &s.status
	if t.dirty == nil {
		t.dirty = make([]bool, len(t.queued))
		t.stale = append([]int64(nil), t.queued...)
	}
	for _, node := range t.changed {
		t.stale[node] = t.queued[node]
		t.dirty[node] = false
	}
	t.changed = t.changed[:0]
	if s.started != len(s.jobs) || len(s.jobs) < len(s.work.Jobs) {
		s.at(s.now+float64(s.Heartbeat), heartbeat, happening{})
	}
}

// place sends a job's probes.
func (s *simulation) place(id int32) {
	j := &s.jobs[id]
	switch v := &s.Variant; {
	case j.central && v.Central:
		s.placeCentral(id, j)
		return
	case !j.central:
		s.random.below(s.Nodes - s.general) // drawn there and not used
	}
	n := probeRatio * int(j.tasks)
	if s.Variant.MinProbes {
		n = max(n, s.MinProbes)
	}
	if !j.central && s.Variant.Share {
		s.probeRounds(id, n)
		return
	}
	if s.Variant.Ideal {
		free := s.status.long.Snapshot()
		for range n {
			s.probe(id, int32(free.Node(s.random.below(free.Free()))), 0)
		}
		return
	}
	for range n {
		s.probe(id, int32(s.random.below(s.Nodes)), 0)
	}
}

// probe sends a probe, one hop or two.
func (s *simulation) probe(id, to int32, extra int) {
	s.result.Messages++
	s.probes[extra].At(key(s.now+float64(hop*float64(extra+1))), happening{to, id})
}

// probeRounds is Succinct State Sharing: random nodes; for the rejected probes, nodes without long tasks by the newest
// snapshot; for those rejected again, the short partition.
func (s *simulation) probeRounds(id int32, n int) {
	chosen := s.scratch.chosen[:0]
	for range n {
		chosen = append(chosen, int32(s.random.below(s.Nodes)))
	}
	var newest *longset.Snapshot
	stamp := -1.0
	for round := range 2 {
		rejected := 0
		for _, to := range chosen {
			node := &s.nodes[to]
			if node.executing || node.long > 0 {
				rejected++
				s.result.Messages += 2
			} else {
				s.probe(id, to, round)
			}
			if node.stamp > stamp {
				newest, stamp = node.seen, node.stamp
			}
		}
		chosen = chosen[:rejected]
		for i := range chosen {
			chosen[i] = int32(newest.Node(s.random.below(newest.Free())))
		}
	}
	for range chosen {
		s.probe(id, int32(s.random.below(s.general)), 1)
	}
	s.scratch.chosen = chosen
}

// placeCentral places each task where the work left is least.
func (s *simulation) placeCentral(id int32, j *job) {
	from := s.general
	if !j.long {
		from = 0
	}
	if s.Variant.Stale {
		s.staleWaits(from, int(j.tasks))
		s.least(j)
	} else if !s.idleNodes(from, int(j.tasks)) {
		for _, node := range s.scratch.chosen {
			s.scratch.heap = append(s.scratch.heap, wait{float64(j.estimate), node})
		}
		s.least(j)
	}
	for _, node := range s.scratch.chosen {
		s.status.placed(node, j.estimate)
		s.probe(id, node, 0)
	}
}

// idleNodes chooses nodes without work in ascending order, and gathers the waits of the others it has seen. It tells
// whether that was enough.
func (s *simulation) idleNodes(from, need int) bool {
	chosen, heap := s.scratch.chosen[:0], s.scratch.heap[:0]
	for i := from; i < s.Nodes && len(chosen) < need; i++ {
		queued := s.status.queued[i]
		if queued == 0 {
			chosen = append(chosen, int32(i))
			continue
		}
		heap = append(heap, wait{s.adjusted(s.placed[i], queued), int32(i)})
	}
	s.scratch.chosen, s.scratch.heap = chosen, heap
	return len(chosen) == need
}

// adjusted is the work left less what has been done of the task that runs.
func (s *simulation) adjusted(p placed, queued int64) float64 {
	if p.since == -1 {
		return float64(queued)
	}
	return 2*hop + float64(queued) - min(s.now-p.since, p.estimate)
}

// staleWaits gathers the least waits by the last heartbeat, each with a random addition: as many as there are tasks,
// since a task adds to one wait and so no other node can be chosen. They are a heap with the greatest on top until all
// nodes have been seen.
func (s *simulation) staleWaits(from, need int) {
	heap := s.scratch.heap[:0]
	stale := s.status.stale[from:]
	tasks := s.placed[from:][:len(stale)]
	passed, most := 0, math.Inf(1) // nodes without a draw so far; the greatest wait that is kept
	for i := range stale {
		w := float64(stale[i])
		if p := &tasks[i]; p.since != -1 {
			done := s.now - p.since // adjusted, without the cost of what min says of NaN
			if done > p.estimate {
				done = p.estimate
			}
			if w = 2*hop + w - done; w < 0 {
				w = 0
			}
		}
		if w >= most {
			passed++ // a node of a higher number that waits no less
			continue
		}
		s.random.skip(passed)
		passed = 0
		w += float64(s.random.below(s.Heartbeat + 1))
		switch {
		case len(heap) < need:
			heap = append(heap, wait{-w, -int32(from + i)})
			if len(heap) == need {
				heapify(heap)
				most = -heap[0].seconds
			}
		case w < most:
			heap[0] = wait{-w, -int32(from + i)}
			sink(heap, 0)
			most = -heap[0].seconds
		}
	}
	s.random.skip(passed)
	for i := range heap {
		heap[i] = wait{-heap[i].seconds, -heap[i].node}
	}
	s.scratch.chosen, s.scratch.heap = s.scratch.chosen[:0], heap
}

func heapify(heap []wait) {
	for i := len(heap)/2 - 1; i >= 0; i-- {
		sink(heap, i)
	}
}

// least chooses the node with the least wait for each task that has none; its wait grows by the estimate.
func (s *simulation) least(j *job) {
	heap := s.scratch.heap
	heapify(heap)
	for len(s.scratch.chosen) < int(j.tasks) {
		s.scratch.chosen = append(s.scratch.chosen, heap[0].node)
		heap[0].seconds += float64(j.estimate)
		if len(heap) > 1 {
			s.stay(heap)
		}
	}
}

// stay lets the top of the heap take further tasks while its wait is not above the next, whatever the nodes' order.
func (s *simulation) stay(heap []wait) {
	next := heap[1].seconds
	if len(heap) > 2 {
		next = min(next, heap[2].seconds)
	}
	if heap[0].seconds > next {
		sink(heap, 0)
	}
}

func sink(heap []wait, i int) {
	w := heap[i]
	for {
		c := 2*i + 1
		if c >= len(heap) {
			break
		}
		if c+1 < len(heap) && heap[c+1].before(heap[c]) {
			c++
		}
		if !heap[c].before(w) {
			break
		}
		heap[i] = heap[c]
		i = c
	}
	heap[i] = w
}
