package pigeon

import "github.com/hedgesched/hedge/sched/agent"

// batch is tasks of a job that wait: task, task + step, …, count of them.
type batch struct {
	job, ref, task, step, count int32
	long                        bool
}

// fifo is a queue of tasks; its room is used again.
type fifo struct {
	ring        []batch
	head, count int
}

// len is 0 only if nothing waits.
func (q *fifo) len() int { return q.count }

func (q *fifo) push(b batch) {
	if q.count == len(q.ring) {
		ring := make([]batch, max(8, 2*len(q.ring)))
		n := copy(ring, q.ring[q.head:])
		copy(ring[n:], q.ring[:q.head])
		q.ring, q.head = ring, 0
	}
	q.ring[(q.head+q.count)%len(q.ring)] = b
	q.count++
}

// pop takes the next task.
func (q *fifo) pop() held {
	b := &q.ring[q.head]
	h := held{task: agent.Task{Job: b.job, Index: b.task}, ref: b.ref, long: b.long}
	b.task += b.step
	if b.count--; b.count == 0 {
		q.head = (q.head + 1) % len(q.ring)
		q.count--
	}
	return h
}
