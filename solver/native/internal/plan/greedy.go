package plan

import (
	"math"
	"slices"

	"github.com/hedgesched/hedge/solver/internal/pack"
	"github.com/hedgesched/hedge/solver/native/internal/search"
)

// Greedy makes plans from nothing, options taking what room there is in some order: of their values, or of what is
// left of those at the best prices.
type Greedy struct {
	in      *pack.Instance
	budget  *search.Budget
	known   *search.Incumbent
	cur     *pack.State
	orders  *Orders
	byValue []int // options by falling value per area
	merged  []int // scratch: options being sorted
	key     []float64
}

// NewGreedy makes plans in cur, by value or by the orders.
func NewGreedy(in *pack.Instance, budget *search.Budget, known *search.Incumbent, cur *pack.State, o *Orders) Greedy {
	return Greedy{in: in, budget: budget, known: known, cur: cur, orders: o}
}

// Starts makes the plans that need no prices: of the hint, added to what is in the plan in hand and filled up; of each
// job's most valuable option; and of the densest options. It finds the least value of an option on the way.
func (g *Greedy) Starts() {
	g.byValue, g.key, g.known.Smallest = g.byValue[:0], g.key[:0], math.Inf(1)
	for i := range g.in.Opts {
		o := &g.in.Opts[i]
		g.byValue = append(g.byValue, i)
		if !o.Dead {
			g.known.Smallest = min(g.known.Smallest, o.Value)
		}
		g.key = append(g.key, o.Value/(o.Area+1e-12))
	}
	g.hint()
	if len(g.in.P.Hint) > 0 {
		g.fillByValue()
		g.known.Keep(g.cur)
		if !g.budget.Checkpoint() && g.known.Best.Value > 0 {
			return
		}
		g.cur.Empty()
	}
	g.jobsByValue()
	g.known.Keep(g.cur)
	if !g.budget.Checkpoint() {
		return
	}
	g.cur.Empty()
	g.fillByValue()
	g.known.Keep(g.cur)
}

// EarlyOps is what the first plan is to get however late it is, about two milliseconds: reading a big problem may have
// taken all the time, and the most valuable jobs are worth more than being in time.
const EarlyOps = 2000 * pack.OpsPerUnit

// falling compares options by falling value per area.
func (g *Greedy) falling(a, b int) int { return byKey(g.key, a, b) }

// sortRun is how many options are sorted at a time.
const sortRun = 4096

// sortByValue brings byValue into order, and reports whether there was the time to: runs of it are sorted, and merged.
func (g *Greedy) sortByValue() bool {
	n := len(g.byValue)
	for lo := 0; lo < n; lo += sortRun {
		if lo > 0 && g.budget.ReadClock() {
			return false
		}
		slices.SortFunc(g.byValue[lo:min(lo+sortRun, n)], g.falling)
	}
	for width := sortRun; width < n; width *= 2 {
		g.merged = g.merged[:0]
		for lo := 0; lo < n; lo += 2 * width {
			if g.budget.ReadClock() {
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
func (g *Greedy) merge(a, b []int) {
	for len(a) > 0 && len(b) > 0 {
		if g.falling(a[0], b[0]) < 0 {
			g.merged, a = append(g.merged, a[0]), a[1:]
		} else {
			g.merged, b = append(g.merged, b[0]), b[1:]
		}
	}
	g.merged = append(append(g.merged, a...), b...)
}

// hint places what is left of last cycle's plan and is not placed already.
func (g *Greedy) hint() {
	if len(g.in.P.Hint) == 0 {
		return
	}
	for j := range g.in.P.Jobs {
		if o := g.in.Hinted(j); o >= 0 && g.cur.Choice[j] < 0 && !g.budget.Late() {
			g.cur.TryPlace(o)
		}
	}
	g.cur.Spare(g.orders.Pre.ByCost)
}

// fillByValue places options where they fit, densest first.
func (g *Greedy) fillByValue() {
	if !g.sortByValue() {
		return
	}
	for _, o := range g.byValue {
		if g.budget.Late() {
			return
		}
		if g.cur.Choice[g.in.Opts[o].Job] < 0 {
			g.cur.TryPlace(o)
		}
	}
}

// jobsByValue places each job's most valuable option that fits, densest job first.
func (g *Greedy) jobsByValue() {
	first := g.merged[:0]
	for j := range g.in.P.Jobs {
		if g.in.JobOpts[j] < g.in.JobOpts[j+1] {
			first = append(first, g.in.JobOpts[j])
		}
	}
	g.merged = first
	slices.SortFunc(first, g.falling)
	for _, o := range first {
		if g.budget.Late() {
			return
		}
		g.orders.InsertByValue(g.in.Opts[o].Job)
	}
}

// ByPrices makes plans by the best prices, unless the limits are reached.
func (g *Greedy) ByPrices() {
	if !g.budget.Checkpoint() {
		return
	}
	if g.orders.Guide(); g.budget.Checkpoint() {
		g.FillByRed()
	}
}

// FillByRed makes plans from nothing: running jobs whose room is worth more than
// they cost are preempted, jobs take the best option by reduced value that fits,
// more are preempted for those left out, and unneeded preemptions are undone.
func (g *Greedy) FillByRed() {
	g.fillBy(false)
	if g.budget.Checkpoint() {
		g.fillBy(true)
	}
}

// fillBy is FillByRed with jobs in the order of value per price, or of reduced
// value, which favours big gangs.
func (g *Greedy) fillBy(big bool) {
	g.cur.Empty()
	for m := range g.in.P.Running {
		if g.orders.dual.ReleaseGain(m) > 0 {
			g.cur.Preempt(m)
		}
	}
	g.orders.order(big)
	for _, j := range g.orders.Jobs {
		if g.budget.Late() {
			break
		}
		g.orders.Insert(j)
	}
	for _, j := range g.orders.Jobs {
		if len(g.in.P.Running) == 0 || g.budget.Late() {
			break
		}
		if g.cur.Choice[j] < 0 {
			o := g.orders.byRed[g.in.JobOpts[j]]
			g.orders.Pre.TryPlace(g.cur, o, g.in.Opts[o].Value)
		}
	}
	g.cur.Spare(g.orders.Pre.ByCost)
	g.known.Keep(g.cur)
}
