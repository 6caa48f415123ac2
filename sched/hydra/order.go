package hydra

import (
	"cmp"
	"math"
	"slices"
)

// task is a job in a queue. Times are in seconds from now.
type task struct {
	job         int
	length      float64
	due, waited float64
}

// orderer finds the order of a queue that costs least.
type orderer struct {
	limit int // of nodes
	nodes int
	tried []task
	found []task
	least cost
}

// best puts a queue into its best order and returns the cost. The machine is idle after ready.
func (o *orderer) best(queue []task, ready float64) cost {
	slices.SortStableFunc(queue, func(a, b task) int { return cmp.Compare(a.length, b.length) })
	least := price(queue, ready)
	if least.late == 0 {
		return least // the shortest first is the least sum of completions
	}
	try := func(less func(a, b task) int) {
		o.tried = append(o.tried[:0], queue...)
		slices.SortStableFunc(o.tried, less)
		if c := price(o.tried, ready); c.less(least) {
			least = c
			copy(queue, o.tried)
		}
	}
	try(func(a, b task) int { return cmp.Compare(a.due, b.due) })
	o.modified(queue, ready)
	if c := price(o.tried, ready); c.less(least) {
		least = c
		copy(queue, o.tried)
	}
	if o.limit > 0 {
		o.nodes, o.least = 0, least
		o.found = append(o.found[:0], queue...)
		o.tried = append(o.tried[:0], queue...)
		o.branch(0, ready, cost{})
		copy(queue, o.found)
		least = o.least
	}
	return least
}

// modified is the order by modified due date (Baker and Bertrand 1982): next is the task whose deadline, or the end
// that it would have now if that is later, comes first. Among tasks without a deadline the shortest is first, after all
// that have one.
func (o *orderer) modified(queue []task, at float64) {
	o.tried = append(o.tried[:0], queue...)
	for i := range o.tried {
		next := i
		key := func(t *task) float64 { return max(t.due, at+t.length) }
		for k := i + 1; k < len(o.tried); k++ {
			a, b := &o.tried[k], &o.tried[next]
			if c := cmp.Or(cmp.Compare(key(a), key(b)), cmp.Compare(a.length, b.length)); c < 0 {
				next = k
			}
		}
		o.tried[i], o.tried[next] = o.tried[next], o.tried[i]
		at += o.tried[i].length
	}
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
	if !math.IsInf(t.due, 1) {
		c.late = max(0, end-t.due)
	}
	return c
}

// price is the cost of a queue in its order.
func price(queue []task, at float64) cost {
	var sum cost
	for i := range queue {
		at += queue[i].length
		sum = sum.plus(queue[i].ending(at))
	}
	return sum
}
