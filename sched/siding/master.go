package siding

import (
	"time"

	"github.com/hedgesched/hedge/sched/agent"
)

// master is the state of a group's master.
type master struct {
	*Config
	// first is the first worker of the group; the reserved ones are in front of the others.
	first, reserved int
	nodes           []node
	shares          agent.Slab[share]
	queues          [2]agent.Queue[agent.Batch] // short, long: what has come and found no slot
	// idle are workers of free slots, once for each: those for both classes, and the reserved ones.
	idle [2][]agent.Addr
	// now is the room, told what the yard was told last.
	now, told Room
	number    int32 // of what it was told
}

// node is a worker of the group.
type node struct {
	runs   []run
	orders int32 // sent to it
}

// run is a task on a worker.
type run struct {
	task     agent.Task
	ref      int32
	estimate time.Duration
	// attained is its service until since; of a paused one until it was paused.
	attained, since time.Duration
	// kept is how long it was kept waiting, by the estimates of short tasks.
	kept         time.Duration
	long, paused bool
}

// share is tasks of a job that have come together: how many, and how many have not ended.
type share struct {
	owner       agent.Addr
	job, of     int32 // of is the job's number at its owner
	count, left int32
	estimate    time.Duration
}

func newMaster(c *Config, group int) master {
	m := master{Config: c, first: group * c.Group}
	n := min(c.Group, c.Workers-m.first)
	m.reserved = min(c.Reserved, n-1)
	m.nodes = make([]node, n)
	for i := range n {
		for range c.Slots {
			m.rest(i)
		}
	}
	m.told = m.now
	return m
}

func (m *master) held() int {
	n := m.shares.Len() + m.queues[0].Len() + m.queues[1].Len()
	for i := range m.nodes {
		n += len(m.nodes[i].runs)
	}
	return n
}

// rest notes an idle slot.
func (m *master) rest(i int) {
	worker := agent.Addr(m.first + i)
	if i < m.reserved {
		m.idle[1] = append(m.idle[1], worker)
		m.now.Reserved++
	} else {
		m.idle[0] = append(m.idle[0], worker)
		m.now.Free++
	}
}

func (m *master) step(now time.Duration, in *agent.Input[Message], out *agent.Output[Message]) {
	switch in.Kind {
	case agent.Received:
		switch in.Msg.Kind {
		case Share, Grant:
			m.take(now, &in.Msg, out)
		case Finished:
			m.finished(now, int(in.From)-m.first, &in.Msg, out)
		}
	case agent.Lost:
		m.lost(now, int(in.From)-m.first, out)
	}
	m.tell(out)
}

// tell tells the yard of the room, if that cannot know it from what it has sent.
func (m *master) tell(out *agent.Output[Message]) {
	known := m.told.after(m.now.Long-m.told.Long, m.now.Short-m.told.Short)
	pausable := m.Bound == 0 || (known.Pausable > 0) == (m.now.Pausable > 0)
	if known.Free == m.now.Free && known.Reserved == m.now.Reserved && pausable {
		return
	}
	m.told = m.now
	m.number++
	out.Send(m.atYard(), &Message{Kind: Tell, Number: m.number, Room: m.now})
}

// take takes tasks in. Short ones of a distributor that find no idle slot go on to the yard.
func (m *master) take(now time.Duration, in *Message, out *agent.Output[Message]) {
	ref, own := m.shares.Add()
	*own = share{owner: in.Owner, job: in.Job, of: in.Ref, count: in.Count, left: in.Count, estimate: in.Estimate}
	b := agent.Batch{Job: in.Job, Ref: ref, Task: in.Task, Step: in.Step, Count: in.Count, Long: in.Long}
	if in.Kind == Grant && in.Long {
		m.now.Long += in.Count
	} else if in.Kind == Grant {
		m.now.Short += in.Count
	}
	stays := in.Kind == Grant || m.Local
	m.place(now, &b, stays, out)
	if b.Count == 0 {
		return
	}
	if stays {
		m.wait(b)
		return
	}
	own.count, own.left = own.count-b.Count, own.left-b.Count
	out.Send(m.atYard(), &Message{Kind: Overflow, Job: b.Job, Task: b.Task, Step: b.Step, Count: b.Count,
		Owner: own.owner, Estimate: own.estimate})
	if own.count == 0 {
		m.shares.Remove(ref)
	}
}

// place runs tasks in idle slots and, if short ones may, in place of long ones.
func (m *master) place(now time.Duration, b *agent.Batch, pausing bool, out *agent.Output[Message]) {
	for b.Count > 0 && len(m.idle[0]) > 0 {
		m.now.Free--
		m.launch(now, m.pop(0), b, none(), out)
	}
	for b.Count > 0 && !b.Long && len(m.idle[1]) > 0 {
		m.now.Reserved--
		m.launch(now, m.pop(1), b, none(), out)
	}
	for b.Count > 0 && !b.Long && pausing && m.now.Pausable > 0 {
		i, k := m.victim(now)
		v := &m.nodes[i].runs[k]
		v.attained += now - v.since
		v.paused = true
		v.kept += m.shares.At(b.Ref).estimate
		m.now.Pausable--
		m.launch(now, i, b, v.task, out)
	}
}

// pop takes the slot that was last to become idle.
func (m *master) pop(kind int) int {
	last := len(m.idle[kind]) - 1
	worker := m.idle[kind][last]
	m.idle[kind] = m.idle[kind][:last]
	return int(worker) - m.first
}

func (m *master) wait(b agent.Batch) {
	if b.Long {
		m.queues[1].Push(b)
	} else {
		m.queues[0].Push(b)
	}
}

// none is the victim where there is none.
func none() agent.Task { return agent.Task{Job: -1} }

// launch has a worker run the next task of a batch.
func (m *master) launch(now time.Duration, i int, b *agent.Batch, victim agent.Task, out *agent.Output[Message]) {
	n := &m.nodes[i]
	r := run{task: b.Take(), ref: b.Ref, estimate: m.shares.At(b.Ref).estimate, since: now, long: b.Long}
	n.runs = append(n.runs, r)
	m.now.Pausable += m.open(&r)
	n.orders++
	out.Send(agent.Addr(m.first+i), &Message{Kind: Run, Job: r.task.Job, Ref: r.ref, Task: r.task.Index,
		Number: n.orders, Victim: victim})
}

// open is 1 for a task that may be paused, else 0.
func (m *master) open(r *run) int32 {
	if r.long && !r.paused && float64(r.kept) < float64(m.Bound*float64(r.estimate)) {
		return 1
	}
	return 0
}

// victim is the long task to be paused, of which there is one: the one that is predicted to have the most time left.
func (m *master) victim(now time.Duration) (node, at int) {
	most := time.Duration(-1)
	for i := range m.nodes {
		for k := range m.nodes[i].runs {
			r := &m.nodes[i].runs[k]
			if left := r.left(now); left > most && m.open(r) > 0 {
				most, node, at = left, i, k
			}
		}
	}
	return node, at
}

// left is how long a running task is predicted to take yet. One that has outlived its estimate takes as long again as
// it has outlived it: runtimes are heavy-tailed.
func (r *run) left(now time.Duration) time.Duration {
	left := r.estimate - r.attained - (now - r.since)
	return max(left, -left)
}

// finished takes a task away. A paused one had no slot any more.
func (m *master) finished(now time.Duration, i int, f *Message, out *agent.Output[Message]) {
	n := &m.nodes[i]
	for k := range n.runs {
		r := &n.runs[k]
		if r.task.Job != f.Job || r.task.Index != f.Task {
			continue
		}
		m.now.Pausable -= m.open(r)
		paused := r.paused
		n.runs[k] = n.runs[len(n.runs)-1]
		n.runs = n.runs[:len(n.runs)-1]
		if !paused {
			m.freed(now, i, out)
		}
		break
	}
	s := m.shares.At(f.Ref)
	if s.left--; s.left == 0 {
		out.Send(s.owner, &Message{Kind: Over, Job: s.job, Ref: s.of, Count: s.count})
		m.shares.Remove(f.Ref)
	}
}

// freed uses a slot that has become idle: for a short task that waits here, else for one that is paused there, else for
// a long one that waits here.
func (m *master) freed(now time.Duration, i int, out *agent.Output[Message]) {
	if m.queues[0].Len() > 0 {
		m.next(now, i, &m.queues[0], out)
		return
	}
	if m.resume(now, i, out) {
		return
	}
	if i >= m.reserved && m.queues[1].Len() > 0 {
		m.next(now, i, &m.queues[1], out)
		return
	}
	m.rest(i)
}

// next has a worker run the next task of a queue.
func (m *master) next(now time.Duration, i int, q *agent.Queue[agent.Batch], out *agent.Output[Message]) {
	b := q.Front()
	m.launch(now, i, b, none(), out)
	if b.Count == 0 {
		q.Pop()
	}
}

// resume goes on with the task on a worker that was paused first, and tells whether there is any.
func (m *master) resume(now time.Duration, i int, out *agent.Output[Message]) bool {
	n := &m.nodes[i]
	for k := range n.runs {
		r := &n.runs[k]
		if !r.paused {
			continue
		}
		r.paused, r.since = false, now
		m.now.Pausable += m.open(r)
		n.orders++
		out.Send(agent.Addr(m.first+i), &Message{Kind: Resume, Job: r.task.Job, Task: r.task.Index, Number: n.orders})
		return true
	}
	return false
}

// lost has the tasks of a crashed worker of this group run again. It is up again and empty.
func (m *master) lost(now time.Duration, i int, out *agent.Output[Message]) {
	if i < 0 || i >= len(m.nodes) {
		return
	}
	runs := m.nodes[i].runs
	for k := range runs {
		r := &runs[k]
		m.now.Pausable -= m.open(r)
		m.wait(agent.Batch{Job: r.task.Job, Ref: r.ref, Task: r.task.Index, Step: 1, Count: 1, Long: r.long})
	}
	m.nodes[i].runs, m.nodes[i].orders = runs[:0], 0
	for _, r := range runs {
		if !r.paused {
			m.rest(i)
		}
	}
	for k := range m.queues {
		q := &m.queues[k]
		for q.Len() > 0 {
			if m.place(now, q.Front(), true, out); q.Front().Count > 0 {
				break
			}
			q.Pop()
		}
	}
}
