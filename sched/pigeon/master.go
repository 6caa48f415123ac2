package pigeon

import (
	"github.com/hedgesched/hedge/sched/agent"
)

// master is the state of a group's master.
type master struct {
	first, reserved, slots int // its workers are first …, the reserved ones in front
	weight, shorts         int // short tasks that went before long ones that waited
	// general and short are the free slots, by worker, of workers that take all tasks and of those that are reserved.
	general, short []agent.Addr
	runs           [][]held                    // by worker
	queues         [2]agent.Queue[agent.Batch] // short, long
	shares         agent.Slab[share]
}

// share is what a master has of a job.
type share struct {
	from      agent.Addr // the distributor
	job, left int32
}

func newMaster(c *Config, group int) master {
	m := master{first: group * c.Group, slots: c.Slots, weight: c.Weight}
	n := min(c.Group, c.Workers-m.first)
	m.reserved = min(c.Reserved, n-1)
	m.runs = make([][]held, n)
	for i := range n {
		for range c.Slots {
			m.free(agent.Addr(m.first + i))
		}
	}
	return m
}

func (m *master) held() int {
	n := m.shares.Len() + m.queues[0].Len() + m.queues[1].Len()
	for _, r := range m.runs {
		n += len(r)
	}
	return n
}

// free notes a free slot.
func (m *master) free(worker agent.Addr) {
	if int(worker)-m.first < m.reserved {
		m.short = append(m.short, worker)
	} else {
		m.general = append(m.general, worker)
	}
}

func (m *master) step(in *agent.Input[Message], out *agent.Output[Message]) {
	switch in.Kind {
	case agent.Received:
		if in.Msg.Kind == Share {
			m.take(in.From, &in.Msg)
		} else {
			m.finished(in.From, &in.Msg, out)
		}
	case agent.Lost:
		m.lost(in.From)
	}
	m.dispatch(out)
}

// take queues a share of a job.
func (m *master) take(from agent.Addr, s *Message) {
	ref, own := m.shares.Add()
	*own = share{from: from, job: s.Job, left: s.Count}
	m.wait(agent.Batch{Job: s.Job, Ref: ref, Task: s.Task, Step: s.Step, Count: s.Count, Long: s.Long})
}

// wait queues tasks by their class.
func (m *master) wait(b agent.Batch) {
	if b.Long {
		m.queues[1].Push(b)
	} else {
		m.queues[0].Push(b)
	}
}

func (m *master) finished(from agent.Addr, f *Message, out *agent.Output[Message]) {
	runs := m.runs[int(from)-m.first]
	for i, r := range runs {
		if r.task.Job == f.Job && r.task.Index == f.Task {
			runs[i] = runs[len(runs)-1]
			m.runs[int(from)-m.first] = runs[:len(runs)-1]
			break
		}
	}
	m.free(from)
	s := m.shares.At(f.Ref)
	if s.left--; s.left == 0 {
		out.Send(s.from, &Message{Kind: Shared, Job: s.job})
		m.shares.Remove(f.Ref)
	}
}

// dispatch gives tasks to free slots. General slots take short tasks first. After a number of short ones they take one
// long task, if any waits. Reserved slots take the short tasks that are left.
func (m *master) dispatch(out *agent.Output[Message]) {
	short, long := &m.queues[0], &m.queues[1]
	for len(m.general) > 0 && short.Len()+long.Len() > 0 {
		q := short
		if short.Len() == 0 || long.Len() > 0 && m.shorts >= m.weight {
			q, m.shorts = long, 0
		} else if long.Len() > 0 {
			m.shorts++
		}
		m.general = m.run(q, m.general, out)
	}
	for len(m.short) > 0 && short.Len() > 0 {
		m.short = m.run(short, m.short, out)
	}
}

// run has the free slot that was last to become so run the next task of a queue.
func (m *master) run(q *agent.Queue[agent.Batch], free []agent.Addr, out *agent.Output[Message]) []agent.Addr {
	worker := free[len(free)-1]
	b := q.Front()
	next := held{task: b.Take(), ref: b.Ref, long: b.Long}
	if b.Count == 0 {
		q.Pop()
	}
	i := int(worker) - m.first
	m.runs[i] = append(m.runs[i], next)
	out.Send(worker, &Message{Kind: Run, Job: next.task.Job, Ref: next.ref, Task: next.task.Index})
	return free[:len(free)-1]
}

// lost has the tasks of a crashed worker of this group wait again. It is up again and empty.
func (m *master) lost(worker agent.Addr) {
	i := int(worker) - m.first
	if i < 0 || i >= len(m.runs) {
		return
	}
	for _, r := range m.runs[i] {
		m.wait(agent.Batch{Job: r.task.Job, Ref: r.ref, Task: r.task.Index, Step: 1, Count: 1, Long: r.long})
		m.free(worker)
	}
	m.runs[i] = m.runs[i][:0]
}
