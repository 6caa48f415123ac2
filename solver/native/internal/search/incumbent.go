package search

import (
	"math"

	"github.com/hedgesched/hedge/solver/internal/gap"
	"github.com/hedgesched/hedge/solver/internal/pack"
)

// Incumbent is the best plan that is known and the bound that is proven, of one worker and of those it works with. A
// search ends when they meet. It is not safe for concurrent use.
type Incumbent struct {
	Best      pack.State // the best plan of this worker
	Team      pack.State // the best plan of other workers when they have met last, if it is better than Best
	TeamBound float64    // the bound that the team's leader has proven, for the others
	TreeBound float64    // the tree's bound: the highest of its open, pruned and unbranchable nodes; no prices prove it
	Proven    bool       // no plan is worth more than the best one
	Smallest  float64    // the least value of an option that can fit
	Target    float64    // the gap to end at

	prices *float64 // the bound that prices prove
}

// Watch makes bound, which prices prove, the incumbent's. Whoever finds a better one writes it there.
func (n *Incumbent) Watch(bound *float64) { n.prices = bound }

// Reset forgets what other workers and the tree have found. Best stays; its partitions have the given order.
func (n *Incumbent) Reset(order []int) {
	n.Proven = false
	n.TeamBound, n.TreeBound, n.Team.Value = math.Inf(1), math.Inf(1), math.Inf(-1)
	n.Best.Order = append(n.Best.Order[:0], order...)
}

// Bound is the least bound that is proven.
func (n *Incumbent) Bound() float64 { return min(*n.prices, n.TeamBound, n.TreeBound) }

// Gap is how far the bound is from the best plan, relatively.
func (n *Incumbent) Gap() float64 { return gap.Of(n.Bound(), n.Top()) }

// Reached says whether the gap is as small as it has to be. That of a bound that is not known never is.
func (n *Incumbent) Reached() bool { return n.Gap() <= n.Target }

// Top is the value of the best plan that the worker knows of.
func (n *Incumbent) Top() float64 { return max(n.Best.Value, n.Team.Value) }

// Keep makes cur the best plan if it is better. It reports whether cur still has all its jobs: rounding may have let
// in more than fits.
func (n *Incumbent) Keep(cur *pack.State) bool {
	noise := n.Best.Value + float64(1e-12*math.Abs(n.Best.Value)) // a gain up to it is a rounding error
	if cur.Value <= noise {
		return true
	}
	stood := cur.Settle()
	if cur.Value > noise {
		n.Best.Copy(cur)
	}
	return stood
}

// Adopt makes the best plan the worker's own.
func (n *Incumbent) Adopt() {
	if n.Team.Value > n.Best.Value {
		n.Best.Copy(&n.Team)
	}
}

// Inexact is how far, relatively, a bound may be below a plan for rounding errors alone. One that is lower is wrong,
// and left as it is for the caller to see.
const Inexact = 1e-9

// LeastGain is the relative gain worth searching for: a plan called optimal may be short of the optimum by that part
// of its value, and the bound says by how much. Less costs proofs where preemptions cost far more than the plan is
// worth, for rounding errors of the nodes' programs.
const LeastGain = 3e-7

// leastOfAll is the same where the best plan is worth nothing, as a part of the least valuable option. It is no more
// than rounding errors, since the bound is then called 0, which is no part of anything.
const leastOfAll = 1e-8

// Enough is what a node's bound, or a plan, must exceed to be worth looking for beside the best one. Where the best
// plan is worth nothing, that is more than rounding errors: a small part of the least valuable option.
func (n *Incumbent) Enough() float64 {
	v := n.Top()
	if v == 0 {
		return leastOfAll * n.Smallest
	}
	return v + float64(LeastGain*math.Abs(v))
}
