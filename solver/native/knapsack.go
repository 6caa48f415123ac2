package native

import (
	"cmp"
	"math"
	"slices"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// knapsack looks for the most valuable fill of a partition: whole tasks of several jobs that it has room for in all lines at once, a line being a resource in
// a slot. Jobs are tried in the order of what they are worth for their cost at one set of prices of the lines, which bounds what can be added, too.
type knapsack struct {
	jobs, lines int
	worth       []float64 // of a task of each job
	most        []float64 // tasks of each
	room        []float64 // of each line
	use         []float64 // of each job and line: what a task uses
	fill        []float64 // the best tasks found
	value       float64   // of the fill
	unsearched  float64   // no fill that was left out for want of steps is worth more
	steps       int64
	until       int64

	items []item
	tight []int     // the lines that can be too full
	size  []float64 // of each item and tight line: what a task uses, as a part of the room
	price []float64 // of each tight line
	trial []float64
	grad  []float64
	left  []float64 // of each item and tight line: what the items before it leave of the room
	take  []float64 // tasks of each item at present

	order  []int // scratch
	sorted []item
	sizes  []float64
}

// item is a job of which there can be tasks, and what one of them is worth, and costs at the prices.
type item struct {
	job               int
	most, worth, cost float64
	better            uint64 // the items before it, of the first 64, of which a task is worth no less and uses no more
}

// fuzz is how far sums and differences of amounts may be off, as a part of the largest sum: what is left of it in the end may be no more than its error.
const fuzz = 1e-9

// fitIn is how many of n tasks fit that use so much of each line.
func fitIn(n float64, use, room []float64) float64 {
	for i, u := range use {
		if u > 0 && float64(n*u) > room[i] {
			n = math.Floor(max(0, room[i])/u + fuzz)
		}
	}
	return n
}

func (q *knapsack) resize(jobs, lines int) {
	q.jobs, q.lines = jobs, lines
	q.worth, q.most, q.fill = pack.Resize(q.worth, jobs), pack.Resize(q.most, jobs), pack.Resize(q.fill, jobs)
	q.room = pack.Resize(q.room, lines)
}

// solve finds a fill in so many steps, the best one if they are enough, and returns what no fill is worth more than.
func (q *knapsack) solve(steps int64) float64 {
	clear(q.fill)
	q.list()
	q.scale()
	q.quick()
	if q.unsearched = 0; len(q.items) > 0 {
		q.relax()
		q.sort()
		q.until = q.steps + steps
		q.search(0, 0, 0)
	}
	return float64(max(q.value, q.unsearched) * (1 + 2*fuzz))
}

// list lists what can be in a fill.
func (q *knapsack) list() {
	q.items = q.items[:0]
	for j, w := range q.worth {
		if w <= 0 {
			continue
		}
		if n := fitIn(q.most[j], q.use[j*q.lines:(j+1)*q.lines], q.room); n > 0 {
			q.items = append(q.items, item{job: j, most: n, worth: w})
		}
	}
	q.steps += int64(q.jobs + len(q.items)*q.lines)
}

// scale finds the lines that can be too full, and the sizes of tasks there.
func (q *knapsack) scale() {
	n := len(q.items)
	q.tight, q.size = q.tight[:0], q.size[:0]
	for l, room := range q.room {
		sum := 0.0
		for i := range q.items {
			sum += float64(q.items[i].most * q.use[q.items[i].job*q.lines+l])
		}
		if sum > room {
			q.tight = append(q.tight, l)
		}
	}
	for i := range q.items {
		for _, l := range q.tight {
			q.size = append(q.size, q.use[q.items[i].job*q.lines+l]/q.room[l])
		}
	}
	T := len(q.tight)
	q.price, q.trial, q.grad = pack.Resize(q.price, T), pack.Resize(q.trial, T), pack.Resize(q.grad, T)
	q.left, q.take = pack.Resize(q.left, (n+1)*T), pack.Resize(q.take, n)
	q.steps += int64(2 * n * q.lines)
}

// sizeOf is what a task of item i uses of the tight lines.
func (q *knapsack) sizeOf(i int) []float64 {
	T := len(q.tight)
	return q.size[i*T : (i+1)*T]
}

// empty is the tight lines' room with nothing in it.
func (q *knapsack) empty() []float64 {
	room := q.left[:len(q.tight)]
	for k := range room {
		room[k] = 1
	}
	return room
}

// quick makes the fill that takes the items one after the other, by what they are worth for the room they take.
func (q *knapsack) quick() {
	n, room := len(q.items), q.empty()
	for i := range q.items {
		it := &q.items[i]
		it.cost = 0
		for _, u := range q.sizeOf(i) {
			it.cost += u
		}
	}
	q.sort()
	q.value = 0
	for i := range q.items {
		it, size := &q.items[i], q.sizeOf(i)
		m := fitIn(it.most, size, room)
		for k, u := range size {
			room[k] -= float64(m * u)
		}
		q.fill[it.job] = m
		q.value += float64(m * it.worth)
	}
	q.steps += int64(3 * n * len(q.tight))
}

// relax finds prices of the lines at which the bound is low, by steps of Polyak's towards what the quick fill is worth.
func (q *knapsack) relax() {
	clear(q.trial)
	clear(q.price)
	lowest, theta, stale := math.Inf(1), 1.0, 0
	for range fillPriceSteps {
		bound, norm := q.priced(), 0.0
		if stale++; bound < lowest {
			if bound < lowest*(1-1e-4) {
				stale = 0
			}
			lowest = bound
			copy(q.price, q.trial)
		}
		if stale >= fillPricePatience {
			theta, stale = theta/2, 0
			copy(q.trial, q.price)
			bound = q.priced()
		}
		for k, g := range q.grad {
			if g < 0 || q.trial[k] > 0 {
				norm += float64(g * g)
			}
		}
		if norm == 0 || bound <= q.value {
			break
		}
		t := theta * (bound - q.value) / norm
		for k, g := range q.grad {
			q.trial[k] = max(0, q.trial[k]-float64(t*g))
		}
	}
	copy(q.trial, q.price)
	q.priced()
}

// priced is the bound at the trial prices; it leaves what is left over of each line in grad, and the items' costs.
func (q *knapsack) priced() (bound float64) {
	for k, v := range q.trial {
		bound += v
		q.grad[k] = 1
	}
	for i := range q.items {
		it, size := &q.items[i], q.sizeOf(i)
		it.cost = 0
		for k, u := range size {
			it.cost += float64(q.trial[k] * u)
		}
		if it.worth <= it.cost {
			continue
		}
		bound += float64(it.most * (it.worth - it.cost))
		for k, u := range size {
			q.grad[k] -= float64(it.most * u)
		}
	}
	q.steps += int64(2 * len(q.size))
	return bound
}

// sort orders the items by what they are worth for their cost, and finds out which are better than which.
func (q *knapsack) sort() {
	n, T := len(q.items), len(q.tight)
	q.order, q.sorted, q.sizes = q.order[:0], append(q.sorted[:0], q.items...), append(q.sizes[:0], q.size...)
	for i := range n {
		q.order = append(q.order, i)
	}
	slices.SortStableFunc(q.order, func(a, b int) int {
		x, y := &q.sorted[a], &q.sorted[b]
		return cmp.Compare(float64(y.worth*x.cost), float64(x.worth*y.cost))
	})
	for i, o := range q.order {
		q.items[i] = q.sorted[o]
		copy(q.sizeOf(i), q.sizes[o*T:(o+1)*T])
	}
	for i := range n {
		q.items[i].better = 0
		for d := range min(i, 64) {
			if q.items[d].worth >= q.items[i].worth && q.smaller(d, i) {
				q.items[i].better |= 1 << d
			}
		}
	}
	q.steps += int64(n * (T + 4 + n))
}

// smaller says whether a task of item a uses no more than one of item b.
func (q *knapsack) smaller(a, b int) bool {
	other := q.sizeOf(b)
	for k, u := range q.sizeOf(a) {
		if u > other[k] {
			return false
		}
	}
	return true
}

// search decides about the items from i on, beside what is worth v. There are none of an item while there could be more of a better one: notFull are those, of the
// first 64.
func (q *knapsack) search(i int, v float64, notFull uint64) {
	if i == 0 {
		q.empty()
	}
	if v > q.value {
		q.keep(i, v)
	}
	if i == len(q.items) {
		return
	}
	it, T, size := &q.items[i], len(q.tight), q.sizeOf(i)
	left, next := q.left[i*T:(i+1)*T], q.left[(i+1)*T:(i+2)*T]
	n := 0.0
	if it.better&notFull == 0 {
		n = fitIn(it.most, size, left)
	}
	for ; n >= 0; n-- {
		slack := 0.0
		for k, u := range size {
			next[k] = left[k] - float64(n*u)
			slack += float64(q.price[k] * max(0, next[k]))
		}
		worth := v + float64(n*it.worth)
		bound := worth + q.rest(i+1, slack)
		if q.steps += int64(2 * T); bound <= float64(q.value*(1+fuzz)) {
			return // and with fewer there is less
		}
		if q.steps > q.until {
			q.unsearched = max(q.unsearched, bound)
			return
		}
		q.take[i] = n
		more := notFull
		if n < it.most && i < 64 {
			more |= 1 << i
		}
		q.search(i+1, worth, more)
	}
}

// keep makes what is taken of the items before i, which is worth v, the fill.
func (q *knapsack) keep(i int, v float64) {
	q.value = v
	for k := range q.items {
		q.fill[q.items[k].job] = 0
		if k < i {
			q.fill[q.items[k].job] = q.take[k]
		}
	}
}

// rest is what the items from i on are worth at most that cost no more than slack.
func (q *knapsack) rest(i int, slack float64) (sum float64) {
	for ; i < len(q.items); i++ {
		it := &q.items[i]
		cost := float64(it.most * it.cost)
		if cost > slack {
			return sum + float64(slack/it.cost*it.worth)
		}
		sum += float64(it.most * it.worth)
		slack -= cost
		q.steps++
	}
	return sum
}
