package bigc

import (
	"slices"

	"github.com/hedgesched/hedge/sched/agent"
)

// central is the state of the central scheduler.
type central struct {
	slots int
	// share is how many slots are the long jobs', long how many their tasks have.
	share, long int
	queues      [2]agent.Queue[agent.Batch] // short, long
	jobs        agent.Slab[job]
	nodes       []node
	free        []int32 // workers, once for each free slot
	// victims are long tasks that ran when they came here; those that do not any more are passed over.
	victims []victim
}

type job struct{ id, of, left int32 }

type node struct{ tasks []placed }

// placed is a task on a worker.
type placed struct {
	task  agent.Task
	ref   int32
	long  bool
	state state
}

type state uint8

const (
	sent state = iota // told to run; not known to
	runs
	stopping // told to stop; from here on it has no slot
	stopped
)

type victim struct {
	node int32
	task agent.Task
}

func (c *central) held() int {
	n := c.jobs.Len() + c.queues[0].Len() + c.queues[1].Len()
	for i := range c.nodes {
		n += len(c.nodes[i].tasks)
	}
	return n
}

func (c *central) step(in *agent.Input[Message], out *agent.Output[Message]) {
	switch in.Kind {
	case agent.Submitted:
		c.submit(in.Job)
	case agent.Received:
		if in.Msg.Kind != Finished {
			c.began(int32(in.From), &in.Msg)
		} else {
			c.finished(int32(in.From), &in.Msg, out)
		}
	case agent.Lost:
		c.lost(int32(in.From))
	}
	for len(c.free) > 0 && c.next(c.free[len(c.free)-1], out) {
	}
	for c.queues[0].Len() > 0 && c.long > c.share && c.preempt(out) {
	}
}

func (c *central) submit(j *agent.Job) {
	ref, own := c.jobs.Add()
	*own = job{j.ID, j.Of, j.Tasks}
	c.wait(agent.Batch{Job: j.ID, Ref: ref, Step: 1, Count: j.Tasks, Long: j.Long})
}

func (c *central) wait(b agent.Batch) {
	b.Of = c.jobs.At(b.Ref).of
	if b.Long {
		agent.Enqueue(&c.queues[1], b)
	} else {
		agent.Enqueue(&c.queues[0], b)
	}
}

// next gives the last free slot, which is of a worker, to a long task where these have less than their share, else to a
// short one, else to a long one that is stopped there, else to a new long one. It tells whether there was any.
func (c *central) next(at int32, out *agent.Output[Message]) bool {
	if c.long < c.share && c.nextLong(at, out) {
		return true
	}
	if c.queues[0].Len() > 0 {
		c.free = c.free[:len(c.free)-1]
		c.place(at, &c.queues[0], Message{Kind: Run}, out)
		return true
	}
	return c.nextLong(at, out)
}

func (c *central) nextLong(at int32, out *agent.Output[Message]) bool {
	tasks := c.nodes[at].tasks
	for i := range tasks {
		if t := &tasks[i]; t.state == stopped {
			t.state = sent
			c.long++
			c.free = c.free[:len(c.free)-1]
			out.Send(agent.Addr(at), &Message{Kind: Resume, Ref: t.ref, Task: t.task})
			return true
		}
	}
	if c.queues[1].Len() == 0 {
		return false
	}
	c.free = c.free[:len(c.free)-1]
	c.place(at, &c.queues[1], Message{Kind: Run}, out)
	return true
}

// place sends the next task of a queue to a worker.
func (c *central) place(at int32, q *agent.Queue[agent.Batch], m Message, out *agent.Output[Message]) {
	b := q.Front()
	m.Ref, m.Task = b.Ref, b.Take()
	if b.Long {
		c.long++
	}
	c.nodes[at].tasks = append(c.nodes[at].tasks, placed{task: m.Task, ref: b.Ref, long: b.Long})
	if b.Count == 0 {
		q.Pop()
	}
	out.Send(agent.Addr(at), &m)
}

// preempt has a short task take the slot of the long task that began last, and tells whether there was one. Only tasks
// that are known to run are stopped, so that a worker never has to stop what it has not got yet.
func (c *central) preempt(out *agent.Output[Message]) bool {
	for len(c.victims) > 0 {
		v := c.victims[len(c.victims)-1]
		c.victims = c.victims[:len(c.victims)-1]
		t := c.find(v.node, v.task)
		if t == nil || t.state != runs {
			continue
		}
		t.state = stopping
		c.long--
		c.place(v.node, &c.queues[0], Message{Kind: Swap, Victim: v.task}, out)
		return true
	}
	return false
}

func (c *central) find(at int32, t agent.Task) *placed {
	tasks := c.nodes[at].tasks
	for i := range tasks {
		if tasks[i].task == t {
			return &tasks[i]
		}
	}
	return nil
}

// began makes a long task one that may be stopped, and the victim of a swap one that may go on: now if a slot is free.
func (c *central) began(at int32, m *Message) {
	if v := c.find(at, m.Victim); m.Kind == Swapped && v != nil && v.state == stopping {
		v.state = stopped
		if i := slices.Index(c.free, at); i >= 0 {
			last := len(c.free) - 1
			c.free[i], c.free[last] = c.free[last], c.free[i]
		}
	}
	t := c.find(at, m.Task)
	if t == nil || t.state != sent {
		return
	}
	t.state = runs
	if !t.long {
		return
	}
	c.victims = append(c.victims, victim{at, m.Task})
	if len(c.victims) > 64+4*c.long {
		c.sweep()
	}
}

// sweep forgets victims that do not run any more.
func (c *central) sweep() {
	kept := c.victims[:0]
	for _, v := range c.victims {
		if t := c.find(v.node, v.task); t != nil && t.state == runs {
			kept = append(kept, v)
		}
	}
	c.victims = kept
}

// finished takes a task away. One that was to be stopped had no slot any more.
func (c *central) finished(at int32, m *Message, out *agent.Output[Message]) {
	n := &c.nodes[at]
	for i := range n.tasks {
		t := &n.tasks[i]
		if t.task != m.Task {
			continue
		}
		if t.state < stopping {
			c.free = append(c.free, at)
			if t.long {
				c.long--
			}
		}
		n.tasks = append(n.tasks[:i], n.tasks[i+1:]...)
		break
	}
	j := c.jobs.At(m.Ref)
	if j.left--; j.left == 0 {
		out.Done(j.id)
		c.jobs.Remove(m.Ref)
	}
}

// lost has the tasks of a crashed worker wait again. It is up again and empty.
func (c *central) lost(at int32) {
	n := &c.nodes[at]
	for i := range n.tasks {
		t := &n.tasks[i]
		if t.state < stopping {
			c.free = append(c.free, at)
			if t.long {
				c.long--
			}
		}
		c.wait(agent.Batch{Job: t.task.Job, Ref: t.ref, Task: t.task.Index, Step: 1, Count: 1, Long: t.long})
	}
	n.tasks = n.tasks[:0]
}
