package native

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// guide takes the best prices over into the orders that greedy plans and local
// search go by: options by reduced value, partitions by cost, running jobs by gain.
func (g *greedy) guide() {
	d := &g.dual
	g.settle()
	for m := range g.in.P.Running {
		gain := d.ReleaseGain(m)
		cost := g.in.P.Running[m].PreemptCost
		g.pre.Rank[m] = cost / (gain + cost + 1e-9)
	}
	g.arrange()
	copy(d.Lam, d.Best)
	g.guides++
}

// settle computes every option's cost and reduced value at the best prices. Given up, it leaves some as they were.
func (g *greedy) settle() {
	d := &g.dual
	copy(d.Lam, d.Best)
	d.Window()
	for i := range g.in.Opts {
		o := &g.in.Opts[i]
		if g.late() {
			return
		}
		if d.Decided.Dead[i] {
			g.red[i] = math.Inf(-1)
			continue
		}
		g.red[i] = o.Value - d.Price(o, g.cost[o.P0:o.P1])
	}
}

// arrange sorts by reduced values, costs and ranks.
func (g *greedy) arrange() {
	d := &g.dual
	g.byRed = g.byRed[:0]
	for j := range g.in.P.Jobs {
		if g.late() {
			break
		}
		lo := len(g.byRed)
		for o := g.in.JobOpts[j]; o < g.in.JobOpts[j+1]; o++ {
			if !g.in.Opts[o].Dead {
				g.byRed = append(g.byRed, o)
			}
		}
		sortIndices(g.byRed[lo:], g.red, -1)
		for len(g.byRed) < g.in.JobOpts[j+1] {
			g.byRed = append(g.byRed, -1)
		}
		d.Ops += 8 * sortOps(g.in.JobOpts[j+1]-g.in.JobOpts[j])
	}
	for len(g.byRed) < len(g.in.Opts) {
		g.byRed = append(g.byRed, -1)
	}
	for i := range g.in.Opts {
		if g.late() {
			return
		}
		o := &g.in.Opts[i]
		sortIndices(g.cur.Order[o.P0:o.P1], g.cost, 1)
		d.Ops += 8 + 4*sortOps(o.P1-o.P0)
	}
	g.pre.Sort()
}

// takePrices takes the leader's advice, if it is news.
func (g *greedy) takePrices() {
	a, d := &g.leader, &g.dual
	if !a.fresh {
		return
	}
	a.fresh, a.at = false, g.Spent()
	d.Lam, d.Best = append(d.Lam[:0], a.lam...), append(d.Best[:0], a.lam...)
	d.Bound = d.Evaluate()
	copy(g.red, a.red)
	copy(g.cost, a.cost)
	copy(g.pre.Rank, a.rank)
	g.arrange()
	g.fillByRed()
}

// planByPrices makes plans by the best prices, unless the limits are reached.
func (g *greedy) planByPrices() {
	if !g.checkpoint() {
		return
	}
	if g.guide(); g.checkpoint() {
		g.fillByRed()
	}
}

// fillByRed makes plans from nothing: running jobs whose room is worth more than
// they cost are preempted, jobs take the best option by reduced value that fits,
// more are preempted for those left out, and unneeded preemptions are undone.
func (g *greedy) fillByRed() {
	g.fillBy(false)
	if g.checkpoint() {
		g.fillBy(true)
	}
}

// fillBy is fillByRed with jobs in the order of value per price, or of reduced
// value, which favours big gangs.
func (g *greedy) fillBy(big bool) {
	g.emptyPlan()
	for m := range g.in.P.Running {
		if g.dual.ReleaseGain(m) > 0 {
			g.cur.Preempt(m)
		}
	}
	g.order(big)
	for _, j := range g.jobs {
		if g.late() {
			break
		}
		g.insert(j)
	}
	for _, j := range g.jobs {
		if len(g.in.P.Running) == 0 || g.late() {
			break
		}
		if g.cur.Choice[j] < 0 {
			o := g.byRed[g.in.JobOpts[j]]
			g.pre.TryPlace(&g.cur, o, g.in.Opts[o].Value)
		}
	}
	g.cur.Spare(g.pre.ByCost)
	g.keep()
}

// order makes jobs the order for fillBy to go by.
func (g *greedy) order(big bool) {
	g.jobs = g.jobs[:0]
	g.key = pack.Resize(g.key, len(g.in.P.Jobs))
	for j := range g.in.P.Jobs {
		if g.in.JobOpts[j] == g.in.JobOpts[j+1] {
			continue
		}
		o := g.byRed[g.in.JobOpts[j]]
		if o < 0 {
			continue
		}
		g.jobs = append(g.jobs, j)
		red, value := g.red[o], g.in.Opts[o].Value
		g.key[j] = red / (value - red + float64(1e-3*value))
		if big {
			g.key[j] = red
		}
	}
	slices.SortFunc(g.jobs, g.byKey)
}

// insert gives free job j its best option by reduced value that fits.
func (g *greedy) insert(j int) bool {
	for _, o := range g.byRed[g.in.JobOpts[j]:g.in.JobOpts[j+1]] {
		if o < 0 || g.late() {
			break
		}
		if g.cur.TryPlace(o) {
			return true
		}
	}
	return false
}

// few is the number of entries up to which lists are sorted by insertion.
const few = 32

// sortOps is n, or where there are many about what it takes to sort them.
func sortOps(n int) int64 {
	if n <= few {
		return int64(n)
	}
	return int64(n * bits.Len(uint(n)))
}

// sortIndices sorts indices by key·sign, stably.
func sortIndices(list []int, key []float64, sign float64) {
	if len(list) > few {
		slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(sign*key[a], sign*key[b]) })
		return
	}
	for i := 1; i < len(list); i++ {
		for k := i; k > 0 && sign*key[list[k]] < sign*key[list[k-1]]; k-- {
			list[k], list[k-1] = list[k-1], list[k]
		}
	}
}
