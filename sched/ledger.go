package sched

import (
	"math"
	"slices"

	"github.com/hedgesched/hedge/sched/ranges"
)

// maxTasks caps how many tasks fit on a node, for tasks that need (almost) nothing.
const maxTasks = math.MaxInt32

// slack is the share of a task that a node may lack and still take the task, to absorb rounding. It is smaller than the
// tolerance, so what a Ledger admits passes [Overcommits].
const slack = tolerance / 2

// tolerance is the share of a node's capacity by which its tasks may exceed it, to absorb rounding.
const tolerance = 1e-9

// Overcommits tells whether a node's tasks hold more of a resource than its capacity. Left is the capacity less what
// they hold. Sums of fractions are rounded, so an excess of a billionth of the capacity is allowed. [CheckPlan] uses
// this rule. A cluster with its own accounts should too: a start that the plan's check accepts and the cluster refuses
// would be planned again for ever. A [Ledger] is stricter.
func Overcommits(left, capacity float64) bool { return left < -tolerance*capacity }

// Ledger tracks what is free on the nodes of a cluster as tasks come and go. Call Open or Reset before use. Nodes are
// indexes in [0, NodeSet.Len), demands are as [NodeSet.Demand] returns them. It is deterministic and not safe for
// concurrent use.
type Ledger struct {
	nodes *NodeSet
	width int
	base  []float64  // what was free at the start
	free  []float64  // what is free now, on nodes that are own
	own   []bool     // by node: the current row is in free, not in base
	owned ranges.Set // the nodes that are own, unless all are
	// vacant tells which nodes are wholly free; nil where that is not known.
	vacant  *vacancy
	known   vacancy    // what vacant points to
	found   ranges.Set // scratch
	version uint64     // changes with every change of what is free
	// holders counts, by node, calls of Take without a call of Give. It is nil after Reset.
	holders []int32
}

// Open starts with empty nodes. A node becomes wholly free again, without rounding errors, once each Take has had its
// Give.
func (l *Ledger) Open(nodes *NodeSet) {
	l.nodes, l.width, l.base = nodes, len(nodes.resources), nodes.capacity
	l.free = append(l.free[:0], l.base...)
	l.own = append(l.own[:0], make([]bool, nodes.Len())...)
	for n := range l.own {
		l.own[n] = true
	}
	l.owned = nil
	l.holders = append(l.holders[:0], make([]int32, nodes.Len())...)
	l.known.full(nodes.Len())
	l.vacant = &l.known
	l.version++
}

// Reset starts with free, which is indexed [node*len(Resources())+resource]. The ledger reads that slice until the next
// Open or Reset, and never changes it. On a cluster of the same size, Reset costs time in proportion to the nodes that
// have changed.
func (l *Ledger) Reset(nodes *NodeSet, free []float64) {
	for _, r := range l.owned {
		clear(l.own[r.From:r.To])
	}
	if l.holders != nil || len(l.own) != nodes.Len() || len(l.free) != len(free) {
		l.free, l.own, l.holders = make([]float64, len(free)), make([]bool, nodes.Len()), nil
	}
	l.nodes, l.width, l.base, l.owned, l.vacant = nodes, len(nodes.resources), free, l.owned[:0], nil
	l.version++
}

// ResetTo is Reset to what is free in a snapshot. For one of a [Loop] the ledger knows which nodes are wholly free.
func (l *Ledger) ResetTo(s *Snapshot) {
	l.Reset(s.Nodes, s.Free)
	if of := s.ledger(); of != nil {
		l.vacant = of.vacant // until something changes
	}
}

// Free is what is free now, indexed [node*len(Resources())+resource]. It is valid until the next call and must not be
// modified.
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

// Row is what is free on one node, by resource. It is valid until the next call and must not be modified.
func (l *Ledger) Row(node int) []float64 {
	from := l.base
	if l.own[node] {
		from = l.free
	}
	return from[node*l.width : (node+1)*l.width]
}

// Fit is how many more tasks of the demand fit on one node, at most [math.MaxInt32].
func (l *Ledger) Fit(demand []float64, node int) int { return fitsOn(demand, l.Row(node)) }

// Fits is how many more tasks of the demand fit on these nodes in total, at most [math.MaxInt32]. The nodes are as
// [NodeSet.NodesOf] returns them.
func (l *Ledger) Fits(demand []float64, nodes []int32) int {
	total := 0
	for _, n := range nodes {
		total = addTasks(total, l.Fit(demand, int(n)))
	}
	return total
}

// FitsAtLeast tells whether k more tasks of the demand fit on these nodes. It stops as soon as it knows.
func (l *Ledger) FitsAtLeast(demand []float64, nodes []int32, k int) bool {
	total := 0
	for i := 0; i < len(nodes) && total < k; i++ {
		total = addTasks(total, l.Fit(demand, int(nodes[i])))
	}
	return total >= k
}

// Lacks tells whether a node has too little of a resource left for that many tasks, which need an amount of it each.
func (l *Ledger) Lacks(node, resource int, amount float64, tasks int) bool {
	need := float64(tasks) - slack
	return l.Row(node)[resource] < need*amount
}

// Overcommits returns the first resource, by index, that would run out if that many more tasks started on the node, and
// by how much, according to [Overcommits]. If none does, by is 0.
func (l *Ledger) Overcommits(node int, demand []float64, tasks int) (resource int, by float64) {
	row, capacity := l.Row(node), l.nodes.capacity[node*l.width:]
	for r, d := range demand {
		if left := row[r] - float64(float64(tasks)*d); d > 0 && Overcommits(left, capacity[r]) {
			return r, -left
		}
	}
	return 0, 0
}

// Take subtracts what that many tasks hold from a node. What is free may become negative.
func (l *Ledger) Take(node int, demand []float64, tasks int) {
	row := l.change(node)
	before := l.mark(node, row)
	for r, d := range demand {
		row[r] -= float64(float64(tasks) * d)
	}
	if l.holders != nil {
		l.holders[node]++
	}
	l.remark(node, row, before)
}

// Give returns to a node what that many tasks held, as Take subtracted it.
func (l *Ledger) Give(node int, demand []float64, tasks int) {
	row := l.change(node)
	before := l.mark(node, row)
	if l.holders != nil {
		l.holders[node]--
	}
	if l.holders != nil && l.holders[node] == 0 {
		copy(row, l.base[node*l.width:])
	} else {
		for r, d := range demand {
			row[r] += float64(float64(tasks) * d)
		}
	}
	l.remark(node, row, before)
}

// The states of a node that a vacancy tells apart.
const (
	spent  = iota // nothing is left
	mixed         // something is left
	vacant        // all is
)

// mark is the state of a node before a change, as far as it is known.
func (l *Ledger) mark(node int, row []float64) int {
	switch {
	case l.vacant == nil:
		return spent
	case l.vacant.has(node):
		return vacant
	case anyPositive(row):
		return mixed
	}
	return spent
}

// remark notes the state of a node after a change.
func (l *Ledger) remark(node int, row []float64, before int) {
	l.version++
	if l.vacant == nil {
		return
	}
	after := spent
	switch {
	case l.holders != nil && l.holders[node] == 0,
		l.holders == nil && slices.Equal(row, l.nodes.capacity[node*l.width:(node+1)*l.width]):
		after = vacant
	case anyPositive(row):
		after = mixed
	}
	if after == before {
		return
	}
	switch before {
	case vacant:
		l.vacant.set(node, node+1, false)
	case mixed:
		l.vacant.mixed--
	}
	switch after {
	case vacant:
		l.vacant.set(node, node+1, true)
	case mixed:
		l.vacant.mixed++
	}
}

// change is the row of a node, ready to be changed.
func (l *Ledger) change(node int) []float64 {
	l.ownVacancy()
	row := l.free[node*l.width : (node+1)*l.width]
	if !l.own[node] {
		copy(row, l.base[node*l.width:])
		l.own[node], l.owned = true, l.owned.Append(int32(node), 1)
	}
	return row
}

// ownVacancy has the ledger change a vacancy of its own.
func (l *Ledger) ownVacancy() {
	if l.vacant != nil && l.vacant != &l.known {
		l.known.copyFrom(l.vacant)
		l.vacant = &l.known
	}
}

// fitsOn is how many tasks of a demand fit into what is free.
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

// addTasks is the sum of two numbers of tasks, at most maxTasks. An int may have only 32 bits.
func addTasks(a, b int) int {
	if a > maxTasks-b {
		return maxTasks
	}
	return a + b
}
