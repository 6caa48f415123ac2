package hydra

import (
	"context"
	"slices"
)

// table has, for every pair of a machine and a job, what the job would add to the cost of the machine's queue. Buffers
// are kept from plan to plan.
//
// Most costs are never worked out. No order has a smaller sum of completion times than that by runtime, and what one
// more task adds to this sum is quickly known. Where the tasks of a queue are all in time, that bounds the cost from
// below, and the cost itself only matters if the bound is not above the least cost found.
type table struct {
	order    orderer
	machines []machine
	jobs     []task // without their lengths, which differ by machine
	open     []bool // the job is in no queue
	joins    []join // by machine, then job
}

// machine is a node and its queue.
type machine struct {
	node  int32
	ready float64 // when the first of what runs there is expected to end
	idle  bool
	queue []task // in the best order
	cost  cost   // of the queue
	short lane   // the queue in order of runtime
	late  lane   // the queue in order of deadline
	// heap has the jobs that may join, and some that have joined another queue. The first adds least, as far as it is
	// known.
	heap []int32
}

// join is what comes of a job's joining a queue.
type join struct {
	length   float64 // the job's on that machine
	cost     cost    // what the job adds, or less
	exact    bool    // the cost is not less
	possible bool    // the job can run there
}

// slack is the share of a sum that rounding may have moved it by. It is far more than it does.
const slack = 1e-9

// empty makes as many machines as that, idle and with empty queues.
func (t *table) empty(count int) []machine {
	t.machines = slices.Grow(t.machines[:0], count)[:count]
	for i := range t.machines {
		m := &t.machines[i]
		m.node, m.ready, m.idle, m.queue, m.cost = int32(i), 0, true, m.queue[:0], cost{}
	}
	return t.machines
}

// resize makes room for as many open jobs as that, which can run nowhere yet.
func (t *table) resize(jobs int) {
	t.jobs = slices.Grow(t.jobs[:0], jobs)[:jobs]
	t.open = slices.Grow(t.open[:0], jobs)[:jobs]
	for j := range t.open {
		t.open[j] = true
	}
	all := len(t.machines) * jobs
	t.joins = slices.Grow(t.joins[:0], all)[:all]
	clear(t.joins)
}

// join is that of a machine and a job.
func (t *table) join(machine, job int) *join { return &t.joins[machine*len(t.jobs)+job] }

// assign fills the queues until ctx ends: in each round, with the pair of an open job and a machine that adds the least
// cost. Of equal pairs it takes that of the first machine, and there the first job.
func (t *table) assign(ctx context.Context) error {
	for i := range t.machines {
		m := &t.machines[i]
		m.heap = m.heap[:0]
		for j := range t.jobs {
			if t.join(i, j).possible {
				m.heap = append(m.heap, int32(j))
			}
		}
		t.renew(i)
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		on := -1
		var least cost
		for i := range t.machines {
			if best := t.choose(i); best != nil && (on < 0 || best.cost.less(least)) {
				on, least = i, best.cost
			}
		}
		if on < 0 {
			return nil // all jobs are in queues, or no machine may run those that are not
		}
		t.enqueue(on, int(t.machines[on].heap[0]))
		t.renew(on)
	}
}

// task is a job as a machine would run it.
func (t *table) task(at *join, job int) task {
	k := t.jobs[job]
	k.length = at.length
	return k
}

// enqueue has a job join a machine's queue.
func (t *table) enqueue(machine, job int) {
	m, at := &t.machines[machine], t.join(machine, job)
	k := t.task(at, job)
	t.order.best(&m.short, &m.late, &k)
	m.queue = append(m.queue[:0], t.order.found...)
	m.cost = m.cost.plus(at.cost)
	t.open[job] = false
}

// renew works out what the open jobs add at least to a machine's queue, which has changed.
func (t *table) renew(machine int) {
	m := &t.machines[machine]
	m.short.fill(m.queue, m.ready, byLength)
	m.late.fill(m.short.tasks, m.ready, byDue)
	heap := m.heap[:0]
	for _, j := range m.heap {
		if t.open[j] {
			heap = append(heap, j)
			t.bound(m, machine, int(j))
		}
	}
	m.heap = heap
	for i := len(heap)/2 - 1; i >= 0; i-- {
		t.sink(machine, i)
	}
}

// bound works out what a job adds at least.
func (t *table) bound(m *machine, machine, job int) {
	at := t.join(machine, job)
	k := t.task(at, job)
	if m.cost.late > 0 { // the rules may find a better order with one more task
		at.cost, at.exact = t.order.best(&m.short, &m.late, &k).minus(m.cost), true
		return
	}
	place := m.short.place(&k, byLength)
	after := float64(len(m.short.tasks) - place)
	sum := m.short.cost().done + k.waited + m.short.at[place] + k.length + float64(k.length*after)
	at.cost, at.exact = cost{done: sum - m.cost.done - float64(sum*slack)}, false
}

// choose finds the open job that adds least to a machine's queue, the first of equals, and has it first in the heap. It
// returns nil if there is none.
func (t *table) choose(machine int) *join {
	m := &t.machines[machine]
	for len(m.heap) > 0 {
		job := int(m.heap[0])
		at := t.join(machine, job)
		switch {
		case !t.open[job]:
			last := len(m.heap) - 1
			m.heap[0] = m.heap[last]
			m.heap = m.heap[:last]
		case at.exact:
			return at
		default:
			k := t.task(at, job)
			at.cost, at.exact = t.order.best(&m.short, &m.late, &k).minus(m.cost), true
		}
		t.sink(machine, 0)
	}
	return nil
}

// sink moves a job down the heap to where it belongs.
func (t *table) sink(machine, from int) {
	heap, joins := t.machines[machine].heap, t.joins[machine*len(t.jobs):][:len(t.jobs)]
	before := func(a, b int32) bool {
		x, y := &joins[a].cost, &joins[b].cost
		return x.less(*y) || a < b && *x == *y
	}
	for {
		next := 2*from + 1
		if next >= len(heap) {
			return
		}
		if next+1 < len(heap) && before(heap[next+1], heap[next]) {
			next++
		}
		if !before(heap[next], heap[from]) {
			return
		}
		heap[from], heap[next] = heap[next], heap[from]
		from = next
	}
}
