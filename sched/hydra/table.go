package hydra

import "slices"

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
	best  int    // the open job that adds least, or -1
}

// join is what comes of a job's joining a queue.
type join struct {
	length float64 // the job's on that machine
	cost   cost    // what the job adds, or less
	state  state
}

// state tells what is known of a join.
type state uint8

const (
	never   state = iota // the job cannot run there
	bounded              // the cost is at most what the job adds
	exact                // the cost is what the job adds
)

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

// assign fills the queues: in each round, with the pair of an open job and a machine that adds the least cost. Of equal
// pairs it takes that of the first machine, and there the first job.
func (t *table) assign() {
	for i := range t.machines {
		m := &t.machines[i]
		m.arrange()
		t.bound(i)
		t.choose(i)
	}
	for {
		on := -1
		var least cost
		for i := range t.machines {
			if best := t.machines[i].best; best >= 0 {
				if c := t.join(i, best).cost; on < 0 || c.less(least) {
					on, least = i, c
				}
			}
		}
		if on < 0 {
			return // all jobs are in queues, or no machine may run those that are not
		}
		job := t.machines[on].best
		t.enqueue(on, job)
		for i := range t.machines {
			if i == on {
				t.bound(i)
				t.choose(i)
			} else if t.machines[i].best == job {
				t.choose(i)
			}
		}
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
	m.arrange()
}

// arrange makes the machine's lanes of its queue.
func (m *machine) arrange() {
	m.short.fill(m.queue, m.ready, byLength)
	m.late.fill(m.short.tasks, m.ready, byDue)
}

// bound has less than what every open job adds to a machine's queue.
func (t *table) bound(machine int) {
	m := &t.machines[machine]
	for j := range t.jobs {
		at := t.join(machine, j)
		if !t.open[j] || at.state == never {
			continue
		}
		at.state = bounded
		if m.cost.late > 0 { // the rules may find a better order with one more task
			t.weigh(m, at, j)
			continue
		}
		k := t.task(at, j)
		place := m.short.place(&k, byLength)
		after := float64(len(m.short.tasks) - place)
		sum := m.short.cost().done + k.waited + m.short.at[place] + k.length + float64(k.length*after)
		at.cost = cost{done: sum - m.cost.done - float64(sum*slack)}
	}
}

// weigh works out what a job adds.
func (t *table) weigh(m *machine, at *join, job int) {
	k := t.task(at, job)
	at.cost, at.state = t.order.best(&m.short, &m.late, &k).minus(m.cost), exact
}

// choose finds the open job that adds least to a machine's queue, the first of equals.
func (t *table) choose(machine int) {
	m, joins := &t.machines[machine], t.joins[machine*len(t.jobs):][:len(t.jobs)]
	best := -1
	for j := range joins { // the least as far as is known
		if t.open[j] && joins[j].state != never && (best < 0 || joins[j].cost.less(joins[best].cost)) {
			best = j
		}
	}
	if m.best = best; best < 0 || joins[best].state == exact {
		return // no other adds less than its bound
	}
	t.weigh(m, &joins[best], best)
	for j := range joins {
		at := &joins[j]
		if !t.open[j] || at.state == never || j == best || joins[best].cost.less(at.cost) {
			continue
		}
		if at.state == bounded {
			t.weigh(m, at, j)
		}
		if at.cost.less(joins[best].cost) || j < best && !joins[best].cost.less(at.cost) {
			best = j
		}
	}
	m.best = best
}
