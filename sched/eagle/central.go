package eagle

import (
	"time"

	"github.com/hedgesched/hedge/sched/agent"
	"github.com/hedgesched/hedge/sched/eagle/longset"
)

// central is the state of the central scheduler, which places each task where the work left is least. It knows the
// tasks that it has placed, which of them have begun, and which have ended, a message later.
type central struct {
	*System
	jobs  jobs
	nodes [][]assigned
	// short and all others by their work left: the end of it if it has begun.
	short, others least
	long          *longset.Set
	longTasks     []int32
	number        int32 // of the last snapshot
	armed         bool
}

// assigned is a task at a worker, since when it runs, if it does.
type assigned struct {
	estimate, since time.Duration
	job, ref, task  int32
	long, begun     bool
}

func newCentral(s *System) central {
	c := central{System: s}
	if !s.Switches.Central || s.Switches.Stale {
		return c
	}
	n := s.Config.Workers
	c.nodes = make([][]assigned, n)
	c.short = newLeast(0, s.general, -time.Duration(s.Slots))
	c.others = newLeast(s.general, n-s.general, -time.Duration(s.Slots))
	c.long, c.longTasks = longset.New(n), make([]int32, n)
	return c
}

func (c *central) held() int {
	n := c.jobs.Len()
	for i := range c.nodes {
		n += len(c.nodes[i])
	}
	return n
}

func (c *central) step(now time.Duration, in *agent.Input[Message], out *agent.Output[Message]) {
	switch in.Kind {
	case agent.Submitted:
		j := c.jobs.add(in.Job)
		c.place(j, int(j.tasks), now, out)
	case agent.Received:
		c.receive(in.From, &in.Msg, now, out)
	case agent.Fired:
		c.armed = false
		c.number++
		for i := range c.Schedulers {
			out.SendInstant(c.scheduler(i), &Message{Kind: State, Version: c.number, Seen: c.long.Snapshot()})
		}
	case agent.Lost:
		c.lost(in.From, now, out)
	}
}

// place puts tasks of a job where the work left is least. Long ones bring a snapshot that knows of all of them.
func (c *central) place(j *owned, tasks int, now time.Duration, out *agent.Output[Message]) {
	if tasks == 0 {
		return
	}
	first := len(out.Actions)
	for range tasks {
		t, to := j.take(), c.leastWork(j.long, now)
		j.where[t] = agent.Addr(to)
		c.nodes[to] = append(c.nodes[to], assigned{estimate: j.estimate, job: j.id, ref: j.ref, task: t, long: j.long})
		c.rekey(to, now)
		c.count(to, j.long, 1, out)
		out.Send(agent.Addr(to), &Message{Kind: Place, Long: j.long, Job: j.id, Ref: j.ref, Owner: c.atCentral(), Task: t,
			Estimate: j.estimate})
	}
	if !c.Switches.Share || !j.long {
		return
	}
	c.number++
	seen := c.long.Snapshot()
	for i := first; i < len(out.Actions); i++ {
		out.Actions[i].Msg.Seen, out.Actions[i].Msg.Version = seen, c.number
	}
}

// leastWork is the worker with the least work left, of the general partition for a long task.
func (c *central) leastWork(long bool, now time.Duration) int32 {
	to, key := c.fresh(&c.others, now)
	if long || len(c.short.nodes) == 0 {
		return to
	}
	if short, k := c.fresh(&c.short, now); k <= key {
		return short
	}
	return to
}

// fresh is the worker with the least key as it is now. A key never falls by itself: it grows while a task that runs has
// outlived its estimate, or has not begun.
func (c *central) fresh(l *least, now time.Duration) (int32, time.Duration) {
	for {
		node, key := l.top()
		k := c.key(node, now)
		if k == key {
			return node, key
		}
		l.set(node, k)
	}
}

// key is when the work left at a worker ends; below 0 for one with free slots.
func (c *central) key(node int32, now time.Duration) time.Duration {
	tasks := c.nodes[node]
	if len(tasks) < c.Slots {
		return time.Duration(len(tasks) - c.Slots)
	}
	var left time.Duration
	for i := range tasks {
		t := &tasks[i]
		left += t.estimate
		if t.begun {
			left -= min(now-t.since, t.estimate)
		}
	}
	return now + left/time.Duration(c.Slots)
}

func (c *central) rekey(node int32, now time.Duration) {
	l := &c.others
	if int(node) < c.general {
		l = &c.short
	}
	l.set(node, c.key(node, now))
}

// count keeps which workers hold long tasks and, ideally, has everyone know at once.
func (c *central) count(node int32, long bool, by int32, out *agent.Output[Message]) {
	if !long {
		return
	}
	c.longTasks[node] += by
	c.long.Put(int(node), c.longTasks[node] > 0)
	if c.Switches.Ideal && !c.armed {
		c.armed = true
		out.Wake(0, 0)
	}
}

func (c *central) receive(from agent.Addr, m *Message, now time.Duration, out *agent.Output[Message]) {
	tasks := c.nodes[from]
	for i := range tasks {
		t := &tasks[i]
		if t.job != m.Job || t.task != m.Task {
			continue
		}
		if m.Kind == Began {
			t.begun, t.since = true, now
			c.rekey(int32(from), now)
			return
		}
		long := t.long
		c.nodes[from] = append(tasks[:i], tasks[i+1:]...)
		c.rekey(int32(from), now)
		c.count(int32(from), long, -1, out)
		break
	}
	if m.Kind != Finished {
		return
	}
	if j := c.jobs.find(m); j != nil && j.finish(m.Task) {
		c.jobs.remove(j)
		out.Done(j.id)
	}
}

// lost places the tasks again that a crashed worker held.
func (c *central) lost(worker agent.Addr, now time.Duration, out *agent.Output[Message]) {
	if len(c.nodes) == 0 {
		return
	}
	tasks := c.nodes[worker]
	c.nodes[worker] = tasks[:0]
	c.rekey(int32(worker), now)
	for i := range tasks {
		c.count(int32(worker), tasks[i].long, -1, out)
	}
	for ref := range c.jobs.Refs() {
		if j := c.jobs.At(ref); j.here {
			c.place(j, j.lose(worker, false), now, out)
		}
	}
}
