package eagle

import (
	"time"

	"github.com/hedgesched/hedge/sched/agent"
)

// waits is what the last heartbeats have told a scheduler of each worker.
type waits struct {
	nodes []beaten
	heap  []wait
}

// beaten is the estimates of what waits at a worker, when what runs should end, and the heartbeat's number.
type beaten struct {
	rest, ends time.Duration
	number     int32
}

// wait is how long a task would wait at a worker.
type wait struct {
	time time.Duration
	node int32
}

func newWaits(workers int) waits {
	return waits{nodes: make([]beaten, workers)}
}

func (w *waits) told(from agent.Addr, m *Message) {
	if b := &w.nodes[from]; m.Version > b.number {
		*b = beaten{m.Estimate, m.At, m.Version}
	}
}

func (w *waits) forget(worker agent.Addr) { w.nodes[worker] = beaten{} }

// placeStale puts a number of a job's tasks where the wait is least, by the last heartbeats and a random addition below
// their interval, so that schedulers do not all choose the same (section 6.2). Each task adds to the wait of its
// worker; the next job knows of it by heartbeat only.
func (p *scheduler) placeStale(j *owned, tasks int, out *agent.Output[Message]) {
	if tasks == 0 {
		return
	}
	w := &p.waits
	from := 0
	if j.long {
		from = p.general
	}
	w.heap = w.heap[:0]
	for i := from; i < len(w.nodes); i++ {
		b := &w.nodes[i]
		t := b.rest/time.Duration(p.Slots) + max(b.ends-p.now, 0) + time.Duration(p.random.Below(int(p.Heartbeat)))
		w.heap = append(w.heap, wait{t, int32(i)})
	}
	for i := len(w.heap)/2 - 1; i >= 0; i-- {
		w.sink(i)
	}
	if len(j.nodes) == 0 {
		for range j.tasks {
			j.nodes = append(j.nodes, nowhere)
		}
	}
	for range tasks {
		t, to := j.take(), agent.Addr(w.heap[0].node)
		w.heap[0].time += j.estimate / time.Duration(p.Slots)
		w.sink(0)
		j.where[t], j.nodes[t] = to, to
		out.Send(to, &Message{Kind: Place, Long: j.long, Job: j.id, Ref: j.ref, Owner: p.at, Task: t, Left: j.left(),
			Version: j.version, Estimate: j.estimate})
	}
}

func (a wait) before(b wait) bool {
	return a.time < b.time || a.time == b.time && a.node < b.node
}

func (w *waits) sink(i int) {
	heap := w.heap
	n := heap[i]
	for {
		c := 2*i + 1
		if c >= len(heap) {
			break
		}
		if c+1 < len(heap) && heap[c+1].before(heap[c]) {
			c++
		}
		if !heap[c].before(n) {
			break
		}
		heap[i] = heap[c]
		i = c
	}
	heap[i] = n
}
