package hydra

import "slices"

// task is a job in a queue. Times are in seconds from now.
type task struct {
	job         int
	length      float64
	due, waited float64
}

// byLength and byDue are the orders of lanes. In a lane, tasks that are equal in them stand as they did before.
func byLength(a, b *task) bool { return a.length < b.length }

func byDue(a, b *task) bool { return a.due < b.due || a.due == b.due && a.length < b.length }

// lane is tasks in an order, with what comes before each.
type lane struct {
	tasks []task
	at    []float64 // when the tasks before this one have ended; the last is when all have
	sum   []cost    // what the tasks before this one cost; the last is what all do
}

// place is where a task goes: before the first that it is less than.
func (l *lane) place(k *task, less func(a, b *task) bool) int {
	low, high := 0, len(l.tasks)
	for low < high {
		if mid := int(uint(low+high) >> 1); less(k, &l.tasks[mid]) {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low
}

// with is what the lane costs with one more task at a place. It adds up task by task, so that the sum is that of
// a lane that has the task, to the last bit.
func (l *lane) with(k *task, place int) cost {
	at := l.at[place] + k.length
	sum := l.sum[place].plus(k.ending(at))
	for i := place; i < len(l.tasks); i++ {
		at += l.tasks[i].length
		sum = sum.plus(l.tasks[i].ending(at))
	}
	return sum
}

// fill has the lane be these tasks, in that order.
func (l *lane) fill(tasks []task, ready float64, less func(a, b *task) bool) {
	l.tasks = append(l.tasks[:0], tasks...)
	slices.SortStableFunc(l.tasks, func(a, b task) int {
		switch {
		case less(&a, &b):
			return -1
		case less(&b, &a):
			return 1
		}
		return 0
	})
	l.at, l.sum = append(l.at[:0], ready), append(l.sum[:0], cost{})
	for i := range l.tasks {
		end := l.at[i] + l.tasks[i].length
		l.at, l.sum = append(l.at, end), append(l.sum, l.sum[i].plus(l.tasks[i].ending(end)))
	}
}

// cost is what the lane costs.
func (l *lane) cost() cost { return l.sum[len(l.tasks)] }

// orderer finds the order of a queue that costs least.
type orderer struct {
	limit int // of nodes
	nodes int
	tried []task
	found []task
	least cost
}

// best is the least cost of a queue with one more task. It leaves the queue in that order in found.
//
// The queue is short, in order of runtime, and late, in order of deadline.
func (o *orderer) best(short, late *lane, k *task) cost {
	place := short.place(k, byLength)
	least := short.with(k, place)
	if least.late == 0 {
		o.found = joined(o.found, short, k, place)
		return least // the shortest first is the least sum of completions
	}
	due := late.place(k, byDue)
	if c := late.with(k, due); c.less(least) {
		least = c
		o.found = joined(o.found, late, k, due)
	} else {
		o.found = joined(o.found, short, k, place)
	}
	if c := o.modified(o.found, short.at[0]); c.less(least) {
		least = c
		o.found = append(o.found[:0], o.tried...)
	}
	if o.limit > 0 {
		o.nodes, o.least = 0, least
		o.tried = append(o.tried[:0], o.found...)
		o.branch(0, short.at[0], cost{})
		least = o.least
	}
	return least
}

// joined writes the lane's tasks to a slice, with one more at a place.
func joined(to []task, l *lane, k *task, place int) []task {
	to = append(to[:0], l.tasks[:place]...)
	return append(append(to, *k), l.tasks[place:]...)
}

// modified is the cost of the order by modified due date (Baker and Bertrand 1982), which it leaves in tried: next is
// the task whose deadline, or the end that it would have now if that is later, comes first. Among tasks without a
// deadline the shortest is first, after all that have one.
func (o *orderer) modified(queue []task, at float64) cost {
	o.tried = append(o.tried[:0], queue...)
	var sum cost
	for rest := o.tried; len(rest) > 0; rest = rest[1:] {
		next, key := 0, max(rest[0].due, at+rest[0].length)
		for k := 1; k < len(rest); k++ {
			other := max(rest[k].due, at+rest[k].length)
			if other < key || other == key && rest[k].length < rest[next].length {
				next, key = k, other
			}
		}
		rest[0], rest[next] = rest[next], rest[0]
		at += rest[0].length
		sum = sum.plus(rest[0].ending(at))
	}
	return sum
}

// branch tries all orders of the tasks from a place on that may cost less than the best so far. The bound is the cost
// of the tasks before, and of each other as if it came next.
func (o *orderer) branch(place int, at float64, so cost) {
	if o.nodes++; o.nodes > o.limit {
		return
	}
	if place == len(o.tried) {
		if so.less(o.least) {
			o.least = so
			copy(o.found, o.tried)
		}
		return
	}
	bound := so
	for i := place; i < len(o.tried); i++ {
		bound = bound.plus(o.tried[i].ending(at + o.tried[i].length))
	}
	if !bound.less(o.least) {
		return
	}
	for i := place; i < len(o.tried); i++ {
		o.tried[place], o.tried[i] = o.tried[i], o.tried[place]
		end := at + o.tried[place].length
		o.branch(place+1, end, so.plus(o.tried[place].ending(end)))
		o.tried[place], o.tried[i] = o.tried[i], o.tried[place]
	}
}

// ending is the cost of a task that ends at that time.
func (t *task) ending(end float64) cost {
	c := cost{done: t.waited + end}
	if over := end - t.due; over > 0 {
		c.late = over
	}
	return c
}

// cost is what a queue costs, or a difference of such costs.
type cost struct{ late, done float64 }

func (c cost) less(o cost) bool  { return c.late < o.late || c.late == o.late && c.done < o.done }
func (c cost) plus(o cost) cost  { return cost{c.late + o.late, c.done + o.done} }
func (c cost) minus(o cost) cost { return cost{c.late - o.late, c.done - o.done} }
