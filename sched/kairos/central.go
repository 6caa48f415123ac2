package kairos

import (
	"time"

	"github.com/hedgesched/hedge/sched/agent"
)

// central is the state of the central scheduler (Algorithm 2): a queue of tasks, and of each worker how many tasks it
// has and what their service is.
type central struct {
	*Config
	random agent.Random
	queue  agent.Queue[agent.Batch]
	jobs   agent.Slab[job]
	nodes  []node
	// buckets are the workers by number of tasks, each with its place there.
	buckets [][]int32
	armed   bool
	heap    []choice
}

type job struct{ id, of, left int32 }

// node is what is known of a worker: the count of tasks is that of the last heartbeat and those sent since.
type node struct {
	load         Load
	number       int32 // of the heartbeat
	sent         int32
	count, place int32
	tasks        []done
}

// choice is a worker with what it is chosen by.
type choice struct {
	key  float64
	node int32
}

func newCentral(cfg *Config) central {
	c := *cfg
	s := central{Config: &c, random: agent.NewRandom(c.Seed, agent.Addr(c.Workers)), nodes: make([]node, c.Workers)}
	s.buckets = make([][]int32, c.Slots+c.Queue+1)
	for i := range s.nodes {
		s.nodes[i].place = int32(i)
		s.buckets[0] = append(s.buckets[0], int32(i))
	}
	return s
}

func (c *central) held() int {
	n := c.jobs.Len() + c.queue.Len()
	for i := range c.nodes {
		n += len(c.nodes[i].tasks)
	}
	return n
}

func (c *central) step(now time.Duration, in *agent.Input[Message], out *agent.Output[Message]) {
	switch in.Kind {
	case agent.Submitted:
		c.submit(in.Job)
	case agent.Received:
		if in.Msg.Kind == Beat {
			c.told(int32(in.From), &in.Msg)
		} else {
			c.finished(int32(in.From), &in.Msg, out)
		}
	case agent.Fired:
		c.armed = false
		c.assign(now, out)
	case agent.Lost:
		c.lost(int32(in.From))
	}
	if !c.armed && c.queue.Len() > 0 {
		// Between the heartbeats, so that it knows what they tell.
		c.armed = true
		out.Wake(c.Interval-(now+c.Interval/2)%c.Interval, 0)
	}
}

func (c *central) submit(j *agent.Job) {
	ref, own := c.jobs.Add()
	*own = job{j.ID, j.Of, j.Tasks}
	agent.Enqueue(&c.queue, agent.Batch{Job: j.ID, Of: j.Of, Ref: ref, Step: 1, Count: j.Tasks})
}

// told takes a heartbeat, unless a newer one has come before. Tasks on their way to the worker count.
func (c *central) told(at int32, m *Message) {
	n := &c.nodes[at]
	if m.Number <= n.number {
		return
	}
	n.number, n.load = m.Number, m.Load
	c.move(at, m.Load.Tasks+n.sent-m.Got)
}

// move puts a worker into the bucket of a number of tasks.
func (c *central) move(at, count int32) {
	n := &c.nodes[at]
	from := c.buckets[n.count]
	last := from[len(from)-1]
	from[n.place] = last
	c.nodes[last].place = n.place
	c.buckets[n.count] = from[:len(from)-1]
	n.count, n.place = count, int32(len(c.buckets[count]))
	c.buckets[count] = append(c.buckets[count], at)
}

func (c *central) finished(at int32, m *Message, out *agent.Output[Message]) {
	n := &c.nodes[at]
	for i, d := range n.tasks {
		if d.task.Job == m.Job && d.task.Index == m.Task {
			n.tasks[i] = n.tasks[len(n.tasks)-1]
			n.tasks = n.tasks[:len(n.tasks)-1]
			break
		}
	}
	j := c.jobs.At(m.Ref)
	if j.left--; j.left == 0 {
		out.Done(j.id)
		c.jobs.Remove(m.Ref)
	}
}

// assign gives the first tasks of the queue to the workers with the fewest, never more than they may hold. A worker
// that gets one is one of those with one more.
func (c *central) assign(now time.Duration, out *agent.Output[Message]) {
	for count := 0; count < c.Slots+c.Queue && c.queue.Len() > 0; count++ {
		c.heap = c.heap[:0]
		for _, at := range c.buckets[count] {
			c.heap = append(c.heap, choice{c.key(at, now), at})
		}
		for i := len(c.heap)/2 - 1; i >= 0; i-- {
			c.sink(i)
		}
		for len(c.heap) > 0 && c.queue.Len() > 0 {
			c.send(c.heap[0].node, out)
			last := len(c.heap) - 1
			c.heap[0] = c.heap[last]
			c.heap = c.heap[:last]
			if last > 0 {
				c.sink(0)
			}
		}
	}
}

// key is what the worker with the least is chosen by.
func (c *central) key(at int32, now time.Duration) float64 {
	l := &c.nodes[at].load
	switch c.Choice {
	case Sum:
		return l.sum(now)
	case Random:
		return c.random.Unit()
	}
	return l.variance(now)
}

func (c *central) send(at int32, out *agent.Output[Message]) {
	b := c.queue.Front()
	t, ref := b.Take(), b.Ref
	if b.Count == 0 {
		c.queue.Pop()
	}
	n := &c.nodes[at]
	n.tasks = append(n.tasks, done{t, ref})
	n.sent++
	c.move(at, n.count+1)
	out.Send(agent.Addr(at), &Message{Kind: Assign, Job: t.Job, Ref: ref, Task: t.Index})
}

// lost has the tasks of a crashed worker wait again. It is up again and empty.
func (c *central) lost(at int32) {
	n := &c.nodes[at]
	for _, d := range n.tasks {
		agent.Enqueue(&c.queue, agent.Batch{Job: d.task.Job, Of: c.jobs.At(d.ref).of, Ref: d.ref, Task: d.task.Index, Step: 1,
			Count: 1})
	}
	c.move(at, 0)
	n.tasks, n.load, n.number, n.sent = n.tasks[:0], Load{}, 0, 0
}

func (a choice) before(b choice) bool { return a.key < b.key || a.key == b.key && a.node < b.node }

func (c *central) sink(i int) {
	heap := c.heap
	n := heap[i]
	for {
		k := 2*i + 1
		if k >= len(heap) {
			break
		}
		if k+1 < len(heap) && heap[k+1].before(heap[k]) {
			k++
		}
		if !heap[k].before(n) {
			break
		}
		heap[i] = heap[k]
		i = k
	}
	heap[i] = n
}
