package plan

import (
	"cmp"
	"math"
	"slices"

	"github.com/hedgesched/hedge/solver/internal/pack"
	"github.com/hedgesched/hedge/solver/native/internal/relax"
	"github.com/hedgesched/hedge/solver/native/internal/search"
)

// Orders are how prices judge: options by reduced value, places by cost, running jobs by what their room is worth. All
// plans go by them. They put jobs into the plan in hand, one by one.
type Orders struct {
	Pre  pack.Preemptor // preempts, those first whose room is worth most beside their cost
	Jobs []int          // jobs in the order of the last plan made by prices

	in     *pack.Instance
	budget *search.Budget
	dual   *relax.Dual
	cur    *pack.State // its order of places is set here, too
	byRed  []int       // options of each job by falling reduced value
	key    []float64
	guides int64 // how often Guide has been called
	// What Guide has found at the best prices: a task's cost, per entry of in.Part, and each option's value less its
	// cheapest split's cost.
	cost, red []float64
}

// NewOrders are the orders by the prices d for plans made in cur.
func NewOrders(in *pack.Instance, budget *search.Budget, d *relax.Dual, cur *pack.State) Orders {
	return Orders{in: in, budget: budget, dual: d, cur: cur, Pre: pack.Preemptor{Late: budget.Late}}
}

// Reset forgets all orders.
func (g *Orders) Reset() {
	g.guides = 0
	g.cost, g.red = pack.Resize(g.cost, len(g.in.Part)), pack.Resize(g.red, len(g.in.Opts))
	g.byRed = g.byRed[:0]
	for range g.in.Opts {
		g.byRed = append(g.byRed, -1)
	}
	g.Pre.Reset(g.in)
}

// Guide takes the best prices over into the orders that greedy plans and local
// search go by: options by reduced value, partitions by cost, running jobs by gain.
func (g *Orders) Guide() {
	d := g.dual
	g.settle()
	for m := range g.in.P.Running {
		gain := d.ReleaseGain(m)
		cost := g.in.P.Running[m].PreemptCost
		g.Pre.Rank[m] = cost / (gain + cost + 1e-9)
	}
	g.arrange()
	copy(d.Lam, d.Best)
	g.guides++
}

// settle computes every option's cost and reduced value at the best prices. Given up, it leaves some as they were.
func (g *Orders) settle() {
	d := g.dual
	copy(d.Lam, d.Best)
	d.Window()
	for i := range g.in.Opts {
		o := &g.in.Opts[i]
		if g.budget.Late() {
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
func (g *Orders) arrange() {
	d := g.dual
	g.byRed = g.byRed[:0]
	for j := range g.in.P.Jobs {
		if g.budget.Late() {
			break
		}
		lo := len(g.byRed)
		for o := g.in.JobOpts[j]; o < g.in.JobOpts[j+1]; o++ {
			if !g.in.Opts[o].Dead {
				g.byRed = append(g.byRed, o)
			}
		}
		pack.SortBy(g.byRed[lo:], g.red, -1)
		for len(g.byRed) < g.in.JobOpts[j+1] {
			g.byRed = append(g.byRed, -1)
		}
		d.Ops += 8 * pack.SortOps(g.in.JobOpts[j+1]-g.in.JobOpts[j])
	}
	for len(g.byRed) < len(g.in.Opts) {
		g.byRed = append(g.byRed, -1)
	}
	for i := range g.in.Opts {
		if g.budget.Late() {
			return
		}
		o := &g.in.Opts[i]
		pack.SortBy(g.cur.Order[o.P0:o.P1], g.cost, 1)
		d.Ops += 8 + 4*pack.SortOps(o.P1-o.P0)
	}
	g.Pre.Sort()
}

// Advice is how prices judge options, places and running jobs, for others to go by.
type Advice struct {
	Number          int64 // counts the leader's; 0 is none
	lam             []float64
	red, cost, rank []float64
}

// Copy makes a equal to b.
func (a *Advice) Copy(b *Advice) {
	a.Number = b.Number
	a.lam, a.red = append(a.lam[:0], b.lam...), append(a.red[:0], b.red...)
	a.cost, a.rank = append(a.cost[:0], b.cost...), append(a.rank[:0], b.rank...)
}

// Advise writes down what Guide has found last, if a has not got it.
func (g *Orders) Advise(a *Advice) {
	if a.Number >= g.guides {
		return
	}
	a.Number = g.guides
	a.lam, a.red = append(a.lam[:0], g.dual.Best[:g.in.Rows]...), append(a.red[:0], g.red...)
	a.cost, a.rank = append(a.cost[:0], g.cost...), append(a.rank[:0], g.Pre.Rank...)
}

// Follow takes over the orders, and the prices, of others.
func (g *Orders) Follow(a *Advice) {
	d := g.dual
	d.Lam, d.Best = append(d.Lam[:0], a.lam...), append(d.Best[:0], a.lam...)
	d.Bound = d.Evaluate()
	copy(g.red, a.red)
	copy(g.cost, a.cost)
	copy(g.Pre.Rank, a.rank)
	g.arrange()
}

// byKey compares by falling key, and by number what has the same.
func byKey(key []float64, a, b int) int { return cmp.Or(cmp.Compare(key[b], key[a]), a-b) }

// order makes Jobs those that can be placed, in the order of value per price, or of reduced value, which favours big
// gangs.
func (g *Orders) order(big bool) {
	g.Jobs = g.Jobs[:0]
	g.key = pack.Resize(g.key, len(g.in.P.Jobs))
	for j := range g.in.P.Jobs {
		if g.in.JobOpts[j] == g.in.JobOpts[j+1] {
			continue
		}
		o := g.byRed[g.in.JobOpts[j]]
		if o < 0 {
			continue
		}
		g.Jobs = append(g.Jobs, j)
		red, value := g.red[o], g.in.Opts[o].Value
		g.key[j] = red / (value - red + float64(1e-3*value))
		if big {
			g.key[j] = red
		}
	}
	slices.SortFunc(g.Jobs, func(a, b int) int { return byKey(g.key, a, b) })
}

// Insert gives free job j its best option by reduced value that fits.
func (g *Orders) Insert(j int) bool {
	for _, o := range g.byRed[g.in.JobOpts[j]:g.in.JobOpts[j+1]] {
		if o < 0 || g.budget.Late() {
			break
		}
		if g.cur.TryPlace(o) {
			return true
		}
	}
	return false
}

// InsertByValue gives free job j its most valuable option that fits.
func (g *Orders) InsertByValue(j int) bool {
	for o := g.in.JobOpts[j]; o < g.in.JobOpts[j+1] && !g.budget.Late(); o++ {
		if g.cur.TryPlace(o) {
			return true
		}
	}
	return false
}
