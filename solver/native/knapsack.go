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
	least, most []float64 // tasks of each
	room        []float64 // of each line
	use         []float64 // of each job and line: what a task uses
	fill        []float64 // the best tasks found

	items  []item
	sorted []item    // scratch
	order  []int     // scratch
	sizes  []float64 // scratch
	size   []float64 // of each item and line that can be too full: what a task uses, as a part of the room
	tight  int       // how many such lines there are
	price  []float64 // of each of them
	trial  []float64
	grad   []float64
	left   []float64 // of each item and line: what the items before it leave of the room
	take   []float64 // tasks of each item at present
	best   []float64 // and in the best fill
	value  float64   // of the best fill
	open   float64   // no fill that was left out for want of steps is worth more
	steps  int64
	until  int64
}

// item is a job of which there can be tasks beyond the least, and what one of them is worth, and costs at the prices.
type item struct {
	job               int
	most, worth, cost float64
	better            uint64 // the items before it, of the first 64, of which a task is worth no less and uses no more
}

// fuzz is how far sums and differences of amounts may be off, as a part of the largest sum: what is left of it in the end may be no more than its error.
const fuzz = 1e-9

func (q *knapsack) resize(jobs, lines int) {
	q.jobs, q.lines = jobs, lines
	q.worth, q.least, q.most, q.fill = pack.Resize(q.worth, jobs), pack.Resize(q.least, jobs), pack.Resize(q.most, jobs), pack.Resize(q.fill, jobs)
	q.room = pack.Resize(q.room, lines)
}

// solve finds a fill in so many steps, the best one if they are enough, and returns what no fill is worth more than; -Inf if the least tasks do not fit.
func (q *knapsack) solve(steps int64) float64 {
	q.until = q.steps + steps
	base, ok := q.begin()
	if !ok {
		return math.Inf(-1)
	}
	if len(q.items) == 0 {
		return base
	}
	q.scale()
	q.relax()
	q.value, q.open = -1, 0
	q.search(0, 0, 0)
	for i := range q.items {
		q.fill[q.items[i].job] += q.best[i]
	}
	return base + float64(max(q.value, q.open)*(1+2*fuzz))
}

// begin takes the least tasks, and lists what can be added. It returns what the least tasks are worth, and whether they fit.
func (q *knapsack) begin() (base float64, ok bool) {
	copy(q.fill, q.least)
	for j, n := range q.least {
		if n == 0 {
			continue
		}
		base += float64(n * q.worth[j])
		for l, u := range q.use[j*q.lines : (j+1)*q.lines] {
			if q.room[l] -= float64(n * u); q.room[l] < -fuzz*n*u {
				return 0, false
			}
		}
	}
	q.items = q.items[:0]
	for j, w := range q.worth {
		if w <= 0 {
			continue
		}
		if n := q.fits(j); n > 0 {
			q.items = append(q.items, item{job: j, most: n, worth: w})
		}
	}
	q.steps += int64(q.jobs + len(q.items)*q.lines)
	return base, true
}

// fits is how many tasks of job j fit in beside the least.
func (q *knapsack) fits(j int) float64 {
	return fitIn(q.most[j]-q.least[j], q.use[j*q.lines:(j+1)*q.lines], q.room)
}

// scale finds the lines that can be too full, and the sizes of tasks there.
func (q *knapsack) scale() {
	n := len(q.items)
	q.size, q.tight = pack.Resize(q.size, n*q.lines), 0
	for l, room := range q.room {
		sum := 0.0
		for i := range q.items {
			sum += float64(q.items[i].most * q.use[q.items[i].job*q.lines+l])
		}
		if sum <= room {
			continue
		}
		for i := range q.items {
			q.size[q.tight*n+i] = q.use[q.items[i].job*q.lines+l] / room
		}
		q.tight++
	}
	q.steps += int64(n * q.lines)
	q.price, q.trial, q.grad = pack.Resize(q.price, q.tight), pack.Resize(q.trial, q.tight), pack.Resize(q.grad, q.tight)
	q.left, q.take, q.best = pack.Resize(q.left, (n+1)*q.tight), pack.Resize(q.take, n), pack.Resize(q.best, n)
	for k := range q.tight {
		q.left[k] = 1
	}
}

// priceSteps is how many steps of Polyak's better the prices, towards what a fill that is at hand is worth; stepTurns how many without
// progress halve the steps.
const (
	priceSteps = 60
	stepTurns  = 4
)

// relax finds prices of the lines at which the bound is low, and orders the items by them.
func (q *knapsack) relax() {
	clear(q.trial)
	clear(q.price)
	lowest, goal, theta, stale := math.Inf(1), q.quick(), 1.0, 0
	for range priceSteps {
		bound, norm := q.priced(), 0.0
		if stale++; bound < lowest {
			if bound < lowest*(1-1e-4) {
				stale = 0
			}
			lowest = bound
			copy(q.price, q.trial)
		}
		if stale >= stepTurns {
			theta, stale = theta/2, 0
			copy(q.trial, q.price)
			bound = q.priced()
		}
		for k, g := range q.grad {
			if g < 0 || q.trial[k] > 0 {
				norm += float64(g * g)
			}
		}
		if norm == 0 || bound <= goal {
			break
		}
		t := theta * (bound - goal) / norm
		for k, g := range q.grad {
			q.trial[k] = max(0, q.trial[k]-float64(t*g))
		}
	}
	copy(q.trial, q.price)
	q.priced()
	q.sort()
}

// quick is what a fill is worth that takes the items one after the other, by what they are worth for the room they take.
func (q *knapsack) quick() (value float64) {
	n, left := len(q.items), q.left[:q.tight]
	for i := range q.items {
		it := &q.items[i]
		it.cost = 0
		for k := range left {
			it.cost += q.size[k*n+i]
		}
	}
	clear(q.take)
	for range n {
		at := -1
		for i := range q.items {
			if q.take[i] == 0 && (at < 0 || q.items[i].worth*q.items[at].cost > q.items[at].worth*q.items[i].cost) {
				at = i
			}
		}
		q.take[at] = 1
		it := &q.items[at]
		m := it.most
		for k, v := range left {
			if u := q.size[k*n+at]; float64(m*u) > v {
				m = math.Floor(max(0, v)/u + fuzz)
			}
		}
		for k := range left {
			left[k] -= float64(m * q.size[k*n+at])
		}
		value += float64(m * it.worth)
	}
	for k := range left {
		left[k] = 1
	}
	q.steps += int64(2 * n * (q.tight + n/2))
	return value
}

// priced is the bound at the trial prices; it leaves what is left over of each line in grad, and the items' costs.
func (q *knapsack) priced() (bound float64) {
	n := len(q.items)
	for k, v := range q.trial {
		bound += v
		q.grad[k] = 1
	}
	for i := range q.items {
		it := &q.items[i]
		it.cost = 0
		for k, v := range q.trial {
			it.cost += float64(v * q.size[k*n+i])
		}
		if it.worth <= it.cost {
			continue
		}
		bound += float64(it.most * (it.worth - it.cost))
		for k := range q.grad {
			q.grad[k] -= float64(it.most * q.size[k*n+i])
		}
	}
	q.steps += int64(2 * n * q.tight)
	return bound
}

// sort orders the items by what they are worth for their cost, and finds out which are better than which.
func (q *knapsack) sort() {
	n, T := len(q.items), q.tight
	q.order, q.sorted, q.sizes = q.order[:0], append(q.sorted[:0], q.items...), append(q.sizes[:0], q.size[:n*T]...)
	for i := range n {
		q.order = append(q.order, i)
	}
	slices.SortStableFunc(q.order, func(a, b int) int {
		x, y := &q.sorted[a], &q.sorted[b]
		return cmp.Compare(float64(y.worth*x.cost), float64(x.worth*y.cost))
	})
	for i, o := range q.order {
		q.items[i] = q.sorted[o]
		for k := range T {
			q.size[i*T+k] = q.sizes[k*n+o] // by item from here on
		}
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
	for k, u := range q.size[a*q.tight : (a+1)*q.tight] {
		if u > q.size[b*q.tight+k] {
			return false
		}
	}
	return true
}

// search decides about the items from i on, beside what is worth v. There are none of an item while there could be more of a better one: few are those, of the
// first 64.
func (q *knapsack) search(i int, v float64, few uint64) {
	if v > q.value {
		q.value = v
		copy(q.best, q.take[:i])
		clear(q.best[i:])
	}
	if i == len(q.items) {
		return
	}
	it, T := &q.items[i], q.tight
	left, next, size := q.left[i*T:(i+1)*T], q.left[(i+1)*T:(i+2)*T], q.size[i*T:(i+1)*T]
	n := 0.0
	if it.better&few == 0 {
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
			q.open = max(q.open, bound)
			return
		}
		q.take[i] = n
		more := few
		if n < it.most && i < 64 {
			more |= 1 << i
		}
		q.search(i+1, worth, more)
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
