package slearn

import (
	"slices"
	"time"

	"github.com/hedgesched/hedge/sched/agent"
)

// central is the state of the central scheduler.
type central struct {
	queues
	predictor Predictor
	learner   Learner // nil if the predictor is not a Learner
	attained  bool
	patience  time.Duration // Config.PilotTimeout
	seed      uint64
	jobs      []job
	holes     []int32
	open      int
	nodes     []node
	free      []int32 // workers, one entry per free slot
	late      agent.Queue[deadline]
	armed     bool
	outcome   Outcome // passed to the predictor; reused
}

// node is what a worker runs.
type node struct {
	tasks []placed
	room  [1]placed // of tasks, while that suffices: beside it in memory
}

// placed is a task on a worker.
type placed struct {
	index, ref int32
	pilot      bool
}

// deadline is when the pilots of a job are late.
type deadline struct {
	at      time.Duration
	ref, id int32
}

// nowhere is the place of a job without tasks to send.
const nowhere = -1

// job is a job some of whose tasks have not ended.
type job struct {
	agent.Job
	submit time.Duration
	order  order
	next   int32   // how many tasks of its order have been sent
	again  []int32 // tasks to be sent again after a crash
	left   int32   // tasks that have not ended
	stamp  int32   // identifies its valid heap entry; kept when the record is reused
	where  int32   // the heap that it is in
	queue  int32   // the queue that its running tasks are charged to
	note   int32
	size   float64 // the size that decided its queue

	sampling, watch bool
	due, out        int32 // pilots to be sent, and running
	pilots, ended   Times

	running  int32
	attained float64 // attained service up to since, in seconds
	since    time.Duration
}

func newCentral(c *Config, limits *Queues) central {
	s := central{queues: newQueues(limits), predictor: c.Predictor, attained: c.Attained, patience: c.PilotTimeout,
		seed: c.Seed, nodes: make([]node, c.Workers), free: make([]int32, 0, c.Workers*c.Slots)}
	s.learner, _ = c.Predictor.(Learner)
	for i := c.Workers - 1; i >= 0; i-- {
		s.nodes[i].tasks = s.nodes[i].room[:0]
		for range c.Slots {
			s.free = append(s.free, int32(i))
		}
	}
	return s
}

func (c *central) held() int {
	n := c.open
	for i := range c.waiting {
		n += c.waiting[i].live
	}
	for i := range c.nodes {
		n += len(c.nodes[i].tasks)
	}
	return n
}

func (c *central) step(now time.Duration, in *agent.Input[Message], out *agent.Output[Message]) {
	switch in.Kind {
	case agent.Submitted:
		c.submit(now, in.Job)
	case agent.Received:
		c.finished(now, int32(in.From), &in.Msg, out)
	case agent.Fired:
		c.armed = false
		c.expire(now)
	case agent.Lost:
		c.lost(now, int32(in.From))
	}
	for len(c.free) > 0 {
		ref, filler := c.head(now)
		if ref < 0 {
			break
		}
		c.send(now, ref, filler, out)
	}
	c.arm(now, out)
}

func (c *central) submit(now time.Duration, j *agent.Job) {
	if len(c.holes) == 0 {
		c.holes = append(c.holes, int32(len(c.jobs)))
		c.jobs = append(c.jobs, job{})
	}
	ref := c.holes[len(c.holes)-1]
	c.holes = c.holes[:len(c.holes)-1]
	c.open++
	k := &c.jobs[ref]
	*k = job{Job: *j, submit: now, left: j.Tasks, since: now, where: nowhere, stamp: k.stamp, again: k.again[:0],
		order: newOrder(mix(c.seed^mix(uint64(uint32(j.ID)))), j.Tasks)}
	if c.predictor == nil {
		c.file(ref)
		return
	}
	k.sampling = true
	c.ask(now, ref, 0)
}

// head is the job that gets the next free slot, or -1. Filler tells whether the job is still waiting for its pilots.
func (c *central) head(now time.Duration) (ref int32, filler bool) {
	for {
		at := c.next()
		if at < 0 {
			return -1, false
		}
		h := &c.waiting[at]
		for c.jobs[h.entries[0].ref].stamp != h.entries[0].stamp {
			h.pop()
		}
		ref := h.entries[0].ref
		if !c.attained || !c.demote(now, ref) {
			return ref, at == c.Count
		}
	}
}

// send sends the next task of a job to a free worker.
func (c *central) send(now time.Duration, ref int32, filler bool, out *agent.Output[Message]) {
	j := &c.jobs[ref]
	var index int32
	if n := len(j.again); n > 0 {
		index = j.again[n-1]
		j.again = j.again[:n-1]
	} else {
		index = j.order.at(j.next)
		j.next++
	}
	pilot := j.sampling && !filler
	if pilot {
		j.due--
		j.out++
		if j.due == 0 {
			c.late.Push(deadline{now + c.patience, ref, j.ID})
		}
	}
	last := len(c.free) - 1
	at := c.free[last]
	c.free = c.free[:last]
	n := &c.nodes[at]
	n.tasks = append(n.tasks, placed{index, ref, pilot})
	c.run(now, j, 1)
	c.file(ref)
	out.Send(agent.Addr(at), &Message{Kind: Run, Ref: ref, Task: agent.Task{Job: j.ID, Index: index}})
}

// run counts tasks that start or, if by is negative, end.
func (c *central) run(now time.Duration, j *job, by int32) {
	if c.attained {
		j.attained += float64(float64(j.running) * (now - j.since).Seconds())
		j.since = now
	}
	j.running += by
	c.used[j.queue] += int64(by)
}

// file puts a job into the heap that its next task belongs to.
func (c *central) file(ref int32) {
	j := &c.jobs[ref]
	where := int32(nowhere)
	switch {
	case j.next == j.Tasks && len(j.again) == 0:
	case j.sampling && j.due == 0:
		where = int32(c.Count)
	default:
		where = j.queue
	}
	if where == j.where {
		return
	}
	j.stamp++
	if was := j.where; was != nowhere {
		c.waiting[was].live--
		c.waiting[was].sweep(c.jobs)
	}
	if j.where = where; where != nowhere {
		c.waiting[where].push(entry{j.Of, j.ID, ref, j.stamp})
	}
}

// move moves a job and the charge for its running tasks to another queue.
func (c *central) move(ref int32, queue int) {
	j := &c.jobs[ref]
	c.used[j.queue] -= int64(j.running)
	j.queue = int32(queue)
	c.used[j.queue] += int64(j.running)
	c.file(ref)
}

// finished handles the end of a task.
func (c *central) finished(now time.Duration, at int32, m *Message, out *agent.Output[Message]) {
	n := &c.nodes[at]
	tasks := n.tasks
	i := slices.IndexFunc(tasks, func(t placed) bool { return t.ref == m.Ref && t.index == m.Task.Index })
	if i < 0 {
		return // the worker was never sent this task
	}
	pilot := tasks[i].pilot
	tasks[i] = tasks[len(tasks)-1]
	n.tasks = tasks[:len(tasks)-1]
	c.free = append(c.free, at)
	j := &c.jobs[m.Ref]
	c.run(now, j, -1)
	j.left--
	j.ended.add(m.Ran.Seconds())
	if pilot {
		j.out--
		j.pilots.add(m.Ran.Seconds())
	}
	switch {
	case j.left == 0:
		c.done(now, m.Ref, out)
	case c.attained:
		c.demote(now, m.Ref)
	case pilot && j.sampling || j.watch && j.where != nowhere:
		c.ask(now, m.Ref, 0)
	}
}

func (c *central) done(now time.Duration, ref int32, out *agent.Output[Message]) {
	j := &c.jobs[ref]
	if c.learner != nil {
		c.show(now, j, 0)
		c.outcome.Completion = now - j.submit
		c.learner.Learn(&c.outcome)
	}
	out.Done(j.ID)
	c.holes = append(c.holes, ref)
	c.open--
}

// show fills in the job's sample.
func (c *central) show(now time.Duration, j *job, late time.Duration) {
	c.outcome.Sample = Sample{Job: j.Job, Now: now, Pilots: j.pilots, Ended: j.ended, Out: int(j.out), Late: late,
		Running: int(j.running), Placed: !j.sampling, Size: j.size, Note: j.note}
}

// ask asks the predictor about a job, and does as it answers.
func (c *central) ask(now time.Duration, ref int32, late time.Duration) {
	j := &c.jobs[ref]
	c.show(now, j, late)
	a := c.predictor.Estimate(&c.outcome.Sample)
	j.note, j.watch = a.Note, a.Watch
	if j.sampling && late == 0 {
		begun := j.pilots.Count + int(j.out+j.due)
		unsent := int(j.Tasks-j.next-j.due) + len(j.again)
		j.due += int32(max(0, min(min(a.Pilots, int(j.Tasks))-begun, unsent)))
		if a.Pilots > j.pilots.Count && j.due+j.out > 0 {
			queue := c.sampling()
			if a.First {
				queue = 0
			}
			c.move(ref, queue)
			return
		}
	}
	j.sampling, j.due, j.size = false, 0, a.Size
	c.move(ref, c.of(a.Size))
}

// demote moves a job down to the queue of its attained service, and tells whether it moved.
func (c *central) demote(now time.Duration, ref int32) bool {
	j := &c.jobs[ref]
	queue := c.of(j.attained + float64(float64(j.running)*(now-j.since).Seconds()))
	if queue <= int(j.queue) {
		return false
	}
	c.move(ref, queue)
	return true
}

// lost queues the tasks of a crashed worker again. The worker has restarted and is empty.
func (c *central) lost(now time.Duration, at int32) {
	n := &c.nodes[at]
	for _, t := range n.tasks {
		j := &c.jobs[t.ref]
		c.free = append(c.free, at)
		c.run(now, j, -1)
		j.again = append(j.again, t.index)
		if t.pilot {
			j.out--
			if j.sampling {
				j.due++
			}
		}
		c.file(t.ref)
	}
	n.tasks = n.tasks[:0]
}

// expire ends the sampling of jobs whose pilots are late.
func (c *central) expire(now time.Duration) {
	for c.late.Len() > 0 && c.late.Front().at <= now {
		if d := c.late.Pop(); c.pending(&d) {
			c.ask(now, d.ref, c.patience)
		}
	}
}

// pending tells whether the job still waits for pilots that have all been sent.
func (c *central) pending(d *deadline) bool {
	j := &c.jobs[d.ref]
	return j.ID == d.id && j.left > 0 && j.sampling && j.due == 0
}

// arm sets a timer for the first deadline that matters.
func (c *central) arm(now time.Duration, out *agent.Output[Message]) {
	for !c.armed && c.late.Len() > 0 {
		if d := c.late.Front(); c.pending(d) {
			c.armed = true
			out.Wake(d.at-now, 0)
			return
		}
		c.late.Pop()
	}
}
