package sched

import "math"

// maxTasks caps what a node is said to hold of tasks that need (next to) nothing.
const maxTasks = math.MaxInt32

// slack is the part of a task by which rounding may be off: a node that lacks less than it still takes the
// task. It is within what [Overcommits] allows, whose sums are rounded, too.
const slack = tolerance / 2

// tolerance is the part of what a node offers that rounding may cost.
const tolerance = 1e-9

// Overcommits tells whether a node that offers a capacity of a resource holds too much if so much of it is left,
// which is below 0 where tasks hold more than there is. Sums of fractions are rounded, so a billionth of the capacity
// is allowed. [CheckPlan] goes by it, and clusters that keep account of their own should: a start that the
// one lets through and the other refuses would be planned again for ever. What fits by a [Ledger] is well within it.
func Overcommits(left, capacity float64) bool { return left < -tolerance*capacity }

// Ledger keeps account of what is free on the nodes of a cluster while tasks come and go. Begin it with Open or Reset.
// Nodes are indexes in [0, NodeSet.Len), demands are as [NodeSet.Demand] gives them. It is deterministic and not safe
// for concurrent use.
type Ledger struct {
	nodes *NodeSet
	width int
	base  []float64 // what was free at first
	free  []float64 // what is free, on the nodes that own names
	own   []bool    // by node: what is free there is in free, not in base
	owned []int32   // the nodes of own, unless all are
	// holders is by node how often tasks were taken in and not given back. It is nil after Reset.
	holders []int32
}

// Open begins with empty nodes. A node from which all that was taken has been given back is wholly free again,
// whatever sums of fractions say.
func (l *Ledger) Open(nodes *NodeSet) {
	l.nodes, l.width, l.base = nodes, len(nodes.resources), nodes.capacity
	l.free = append(l.free[:0], l.base...)
	l.own = append(l.own[:0], make([]bool, nodes.Len())...)
	for n := range l.own {
		l.own[n] = true
	}
	l.owned = nil
	l.holders = append(l.holders[:0], make([]int32, nodes.Len())...)
}

// Reset begins with what is free, [node*len(Resources())+resource]. The ledger reads it until it begins anew and never
// changes it. To reset costs what has changed since the last time, not what nodes there are.
func (l *Ledger) Reset(nodes *NodeSet, free []float64) {
	for _, n := range l.owned {
		l.own[n] = false
	}
	if l.holders != nil || len(l.own) != nodes.Len() || len(l.free) != len(free) {
		l.free, l.own, l.holders = make([]float64, len(free)), make([]bool, nodes.Len()), nil
	}
	l.nodes, l.width, l.base, l.owned = nodes, len(nodes.resources), free, l.owned[:0]
}

// Free is what is left now, [node*len(Resources())+resource]. It is valid until the next call and must not be modified.
func (l *Ledger) Free() []float64 {
	if l.holders == nil {
		for n, own := range l.own {
			if !own {
				copy(l.free[n*l.width:(n+1)*l.width], l.base[n*l.width:])
			}
		}
	}
	return l.free
}

// Row is what is left on one node, by resource. It is valid until the next call and must not be modified.
func (l *Ledger) Row(node int) []float64 {
	from := l.base
	if l.own[node] {
		from = l.free
	}
	return from[node*l.width : (node+1)*l.width]
}

// Fit is how many tasks of the demand fit on one node now, at most [math.MaxInt32].
func (l *Ledger) Fit(demand []float64, node int) int { return fitsOn(demand, l.Row(node)) }

// Fits is how many tasks of the demand fit on these nodes now, at most [math.MaxInt32]. Both are as [NodeSet.Demand]
// and [NodeSet.NodesOf] give them.
func (l *Ledger) Fits(demand []float64, nodes []int32) int {
	total := 0
	for _, n := range nodes {
		total = addTasks(total, l.Fit(demand, int(n)))
	}
	return total
}

// FitsAtLeast tells whether k tasks of the demand fit on these nodes; it looks at no
// more nodes than it needs.
func (l *Ledger) FitsAtLeast(demand []float64, nodes []int32, k int) bool {
	total := 0
	for i := 0; i < len(nodes) && total < k; i++ {
		total = addTasks(total, l.Fit(demand, int(nodes[i])))
	}
	return total >= k
}

// Lacks tells whether a node has too little left of a resource for that many tasks that need an amount of it each.
func (l *Ledger) Lacks(node, resource int, amount float64, tasks int) bool {
	need := float64(tasks) - slack
	return l.Row(node)[resource] < need*amount
}

// Overcommits names the first resource of which tasks of the demand need more than the node has left, as the function
// of that name has it, and by how much. By is 0 if there is none.
func (l *Ledger) Overcommits(node int, demand []float64, tasks int) (resource int, by float64) {
	row, capacity := l.Row(node), l.nodes.capacity[node*l.width:]
	for r, d := range demand {
		if left := row[r] - float64(float64(tasks)*d); d > 0 && Overcommits(left, capacity[r]) {
			return r, -left
		}
	}
	return 0, 0
}

// Take takes what tasks of the demand hold on a node. Less than nothing may be left.
func (l *Ledger) Take(node int, demand []float64, tasks int) {
	row := l.change(node)
	for r, d := range demand {
		row[r] -= float64(float64(tasks) * d)
	}
	if l.holders != nil {
		l.holders[node]++
	}
}

// Give gives back what tasks of the demand held on a node.
func (l *Ledger) Give(node int, demand []float64, tasks int) {
	row := l.change(node)
	if l.holders != nil {
		if l.holders[node]--; l.holders[node] == 0 {
			copy(row, l.base[node*l.width:])
			return
		}
	}
	for r, d := range demand {
		row[r] += float64(float64(tasks) * d)
	}
}

// change is the row of a node that is about to change.
func (l *Ledger) change(node int) []float64 {
	row := l.free[node*l.width : (node+1)*l.width]
	if !l.own[node] {
		copy(row, l.base[node*l.width:])
		l.own[node], l.owned = true, append(l.owned, int32(node))
	}
	return row
}

// fitsOn is the number of tasks of a demand that fit in what is free.
func fitsOn(demand, free []float64) int {
	fit := maxTasks
	for r, d := range demand {
		if d <= 0 {
			continue
		}
		q := free[r]/d + slack
		switch {
		case q < 1:
			return 0
		case q < float64(fit):
			fit = int(q)
		}
	}
	return fit
}

// addTasks is the sum of two numbers up to maxTasks, up to maxTasks itself; an int may hold no more.
func addTasks(a, b int) int {
	if a > maxTasks-b {
		return maxTasks
	}
	return a + b
}
