package native

import (
	"cmp"
	"math"
	"slices"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// greedy makes plans from nothing, options taking what room there is in some order: of their values, or of what is
// left of those at the best prices.
type greedy struct {
	*progress
	recall  *recall
	pre     pack.Preemptor
	byValue []int // options by falling value per area
	byRed   []int // options of each job by falling reduced value
	merged  []int // scratch: options being sorted
	jobs    []int // jobs in insertion order
	key     []float64
	// What guide has found at the best prices: a task's cost, per entry of in.Part, and each option's value less its
	// cheapest split's cost.
	cost, red []float64
	guides    int64     // how often guide has been called
	leader    priceList // the prices of the team's leader
}

// reset forgets all orders.
func (g *greedy) reset() {
	g.guides = 0
	g.cost, g.red = pack.Resize(g.cost, len(g.in.Part)), pack.Resize(g.red, len(g.in.Opts))
	g.byRed = g.byRed[:0]
	for range g.in.Opts {
		g.byRed = append(g.byRed, -1)
	}
	g.pre.Reset(&g.in)
}

// starts makes the plans that need no prices: density greedy, value greedy, and
// last cycle's choices.
func (g *greedy) starts() {
	g.Hurry(earlyOps)
	g.byValue, g.key, g.smallest = g.byValue[:0], g.key[:0], math.Inf(1)
	for i := range g.in.Opts {
		o := &g.in.Opts[i]
		g.byValue = append(g.byValue, i)
		if !o.Dead {
			g.smallest = min(g.smallest, o.Value)
		}
		g.key = append(g.key, o.Value/(o.Area+1e-12))
	}
	g.hint()
	if len(g.in.P.Hint) > 0 {
		g.fillByValue()
		g.keep()
		if !g.checkpoint() && g.best.Value > 0 {
			return
		}
		g.emptyPlan()
	}
	g.jobsByValue()
	g.keep()
	if !g.checkpoint() {
		return
	}
	g.emptyPlan()
	g.fillByValue()
	g.keep()
}

// earlyOps is what the first plan gets however late it is, about two milliseconds: reading a big problem may have
// taken all the time, and the most valuable jobs are worth more than being in time.
const earlyOps = 2000 * opsPerUnit

// byKey compares options by falling key, and by number if they have the same.
func (g *greedy) byKey(a, b int) int { return cmp.Or(cmp.Compare(g.key[b], g.key[a]), a-b) }

// sortRun is how many options are sorted at a time.
const sortRun = 4096

// sortByValue brings byValue into order, and reports whether there was the time to: runs of it are sorted, and merged.
func (g *greedy) sortByValue() bool {
	n := len(g.byValue)
	for lo := 0; lo < n; lo += sortRun {
		if lo > 0 && g.ReadClock() {
			return false
		}
		slices.SortFunc(g.byValue[lo:min(lo+sortRun, n)], g.byKey)
	}
	for width := sortRun; width < n; width *= 2 {
		g.merged = g.merged[:0]
		for lo := 0; lo < n; lo += 2 * width {
			if g.ReadClock() {
				return false
			}
			mid := min(lo+width, n)
			g.merge(g.byValue[lo:mid], g.byValue[mid:min(mid+width, n)])
		}
		g.byValue, g.merged = g.merged, g.byValue
	}
	return true
}

// merge appends two lists that are in order to merged.
func (g *greedy) merge(a, b []int) {
	for len(a) > 0 && len(b) > 0 {
		if g.byKey(a[0], b[0]) < 0 {
			g.merged, a = append(g.merged, a[0]), a[1:]
		} else {
			g.merged, b = append(g.merged, b[0]), b[1:]
		}
	}
	g.merged = append(append(g.merged, a...), b...)
}

// hint places what is left of last cycle's plan.
func (g *greedy) hint() {
	if len(g.in.P.Hint) == 0 {
		return
	}
	g.recall.replay()
	for j := range g.in.P.Jobs {
		if o := g.recall.hinted(j); o >= 0 && g.cur.Choice[j] < 0 && !g.late() {
			g.cur.TryPlace(o)
		}
	}
	g.cur.Spare(g.pre.ByCost)
}

// hinted is the option that the hint gives job j; -1 if it gives none.
func (q *recall) hinted(j int) int {
	index, ok := q.in.P.Hint[q.in.P.Jobs[j].ID]
	if !ok {
		return -1
	}
	for o := q.in.JobOpts[j]; o < q.in.JobOpts[j+1]; o++ {
		if q.in.Opts[o].Index == index {
			return o
		}
	}
	return -1
}

// fillByValue places options where they fit, densest first.
func (g *greedy) fillByValue() {
	if !g.sortByValue() {
		return
	}
	for _, o := range g.byValue {
		if g.late() {
			return
		}
		if g.cur.Choice[g.in.Opts[o].Job] < 0 {
			g.cur.TryPlace(o)
		}
	}
}

// jobsByValue places each job's most valuable option that fits, densest job first.
func (g *greedy) jobsByValue() {
	first := g.merged[:0]
	for j := range g.in.P.Jobs {
		if g.in.JobOpts[j] < g.in.JobOpts[j+1] {
			first = append(first, g.in.JobOpts[j])
		}
	}
	g.merged = first
	slices.SortFunc(first, g.byKey)
	for _, o := range first {
		if g.late() {
			return
		}
		g.insertByValue(g.in.Opts[o].Job)
	}
}

// insertByValue gives free job j its most valuable option that fits.
func (g *greedy) insertByValue(j int) bool {
	for o := g.in.JobOpts[j]; o < g.in.JobOpts[j+1] && !g.late(); o++ {
		if g.cur.TryPlace(o) {
			return true
		}
	}
	return false
}
