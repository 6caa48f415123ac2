package sched

import "math"

// maxTasks caps what a node is said to hold of tasks that need (next to) nothing.
const maxTasks = math.MaxInt32

// slack is the part of a task by which rounding may be off: a node that lacks less than it still takes the
// task. It is within what [Overcommits] allows, whose sums are rounded, too.
const slack = tolerance / 2

// Ledger keeps account of what is free on the nodes of a cluster while tasks come and go. Its zero value is ready for
// Reset. It is deterministic and not safe for concurrent use.
type Ledger struct {
	nodes *NodeSet
	width int
	free  []float64
}

// Reset starts with what is free on the nodes, [node*len(Resources())+resource], of which it takes a copy. It does not
// allocate unless the cluster has grown.
func (l *Ledger) Reset(nodes *NodeSet, free []float64) {
	l.nodes, l.width = nodes, len(nodes.resources)
	l.free = append(l.free[:0], free...)
}

// Free is what is left now, [node*len(Resources())+resource]. It is valid until the next call and must not be modified.
func (l *Ledger) Free() []float64 { return l.free }

// Row is what is left on one node, by resource. It is valid until the next call and must not be modified.
func (l *Ledger) Row(node int) []float64 { return l.free[node*l.width : (node+1)*l.width] }

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
	return l.free[node*l.width+resource] < need*amount
}

// Add gives a node back what tasks of the demand held there. A negative number of tasks takes it. What is left may fall
// below 0.
func (l *Ledger) Add(node int, demand []float64, tasks float64) {
	row := l.Row(node)
	for r, d := range demand {
		row[r] += float64(tasks * d)
	}
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
