package sched

import (
	"math"
	"slices"
)

// Placer packs gangs on the free resources of a snapshot's nodes and keeps
// account of them while a plan is made. It is deterministic and not safe for concurrent use.
type Placer struct {
	nodes *NodeSet
	width int
	free  []float64
	keys  []uint64    // scratch: tasks that fit << 32 | node
	block []NodeTasks // what placements are cut from
	short int         // tasks that fitted where the last Place failed
	first int         // nodes before it have nothing left of any resource
}

// maxTasks caps what a node is said to hold of tasks that need (next to) nothing.
const maxTasks = math.MaxInt32

// slack is the part of a task by which rounding may be off: a node that lacks less than it still takes the
// task. It is within what [Overcommits] allows, whose sums are rounded, too.
const slack = tolerance / 2

// NewPlacer starts from what is free in the snapshot.
func NewPlacer(s *Snapshot) *Placer {
	p := &Placer{}
	p.Reset(s)
	return p
}

// Reset starts again from what is free in the snapshot, without allocation
// where the cluster has not grown.
func (p *Placer) Reset(s *Snapshot) {
	p.nodes = s.Nodes
	p.width = len(s.Nodes.resources)
	p.free = append(p.free[:0], s.Free...)
	p.first = 0
}

// Free is what is left now, [node*len(Resources())+resource]. It is valid
// until the next call and must not be modified.
func (p *Placer) Free() []float64 { return p.free }

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

// Fit is the number of tasks of a demand that fit in what is free of one node, up to 2^31-1. Both have a number a
// resource, as [NodeSet.Demand] has it. A part in 2·10⁹ of a task that lacks does no harm.
func Fit(demand, free []float64) int { return fitsOn(demand, free) }

// addTasks is the sum of two numbers up to maxTasks, up to maxTasks itself; an int may hold no more.
func addTasks(a, b int) int {
	if a > maxTasks-b {
		return maxTasks
	}
	return a + b
}

// Fits is how many tasks of the demand fit on these nodes now. Both are as
// [NodeSet.Demand] and [Partitioning.Nodes] give them.
func (p *Placer) Fits(demand []float64, nodes []int32) int {
	total := 0
	for _, n := range nodes {
		at := int(n) * p.width
		total = addTasks(total, fitsOn(demand, p.free[at:at+p.width]))
	}
	return total
}

// FitsAtLeast tells whether k tasks of the demand fit on these nodes; it looks at no
// more nodes than it needs.
func (p *Placer) FitsAtLeast(demand []float64, nodes []int32, k int) bool {
	total := 0
	for i := 0; i < len(nodes) && total < k; i++ {
		at := int(nodes[i]) * p.width
		total = addTasks(total, fitsOn(demand, p.free[at:at+p.width]))
	}
	return total >= k
}

// Place puts k tasks of the demand on these nodes, all or none, and takes the
// resources. It is a best fit: nodes on which the fewest tasks fit are filled
// first, ties in the order of nodes, which keeps roomy nodes whole. For tasks that hold
// whole nodes these are just the first k free ones.
func (p *Placer) Place(demand []float64, nodes []int32, k int) ([]NodeTasks, bool) {
	if k < 1 {
		return nil, false
	}
	p.keys = p.keys[:0]
	total, single := 0, 0
	for i := p.begin(demand, nodes); i < len(nodes); i++ {
		at := int(nodes[i]) * p.width
		fit := fitsOn(demand, p.free[at:at+p.width])
		if fit == 0 {
			continue
		}
		p.keys = append(p.keys, uint64(fit)<<32|uint64(uint32(i)))
		total = addTasks(total, fit)
		if fit == 1 {
			if single++; single == k {
				break
			}
		}
	}
	if total < k {
		p.short = total
		return nil, false
	}
	if single < len(p.keys) {
		slices.Sort(p.keys)
	}
	out := p.room(min(k, len(p.keys)))
	for _, key := range p.keys {
		n := int(nodes[uint32(key)])
		tasks := min(k, int(key>>32))
		p.add(n, demand, -float64(tasks))
		out = append(out, NodeTasks{Node: p.nodes.nodes[n].Name, Tasks: tasks})
		if k -= tasks; k == 0 {
			break
		}
	}
	return out, true
}

// begin is the first of the nodes at which it is worth to look for room. Of all nodes of the cluster it skips
// those that have nothing left, which in a full cluster are most.
func (p *Placer) begin(demand []float64, nodes []int32) int {
	all := p.nodes.all
	if len(nodes) == 0 || len(nodes) != len(all) || &nodes[0] != &all[0] || !anyPositive(demand) {
		return 0
	}
	for at := p.first * p.width; at < len(p.free) && !anyPositive(p.free[at:at+p.width]); at += p.width {
		p.first++
	}
	return p.first
}

func anyPositive(row []float64) bool {
	for _, x := range row {
		if x > 0 {
			return true
		}
	}
	return false
}

// Short is how many tasks would have fitted where the last Place failed, which is fewer than were asked for.
func (p *Placer) Short() int { return p.short }

// placeBlock is the number of placements allocated at once.
const placeBlock = 64

// room is an empty slice for n placements, cut from a block that placements share but never take twice.
func (p *Placer) room(n int) []NodeTasks {
	if n > placeBlock/4 {
		return make([]NodeTasks, 0, n)
	}
	if n > len(p.block) {
		p.block = make([]NodeTasks, placeBlock)
	}
	out := p.block[:0:n]
	p.block = p.block[n:]
	return out
}

// Release gives back what a running job holds, as when it is preempted. Nodes
// that are gone give nothing back.
func (p *Placer) Release(r *Running) {
	demand, err := p.nodes.Demand(r.Job.Demand)
	if err != nil {
		return // it holds nothing this cluster has
	}
	p.move(r.Nodes, demand, 1)
}

// Take holds the resources of tasks placed elsewhere, as by a plan made
// before. It does not check that they are free.
func (p *Placer) Take(nodes []NodeTasks, demand []float64) { p.move(nodes, demand, -1) }

// Give undoes Take and Place.
func (p *Placer) Give(nodes []NodeTasks, demand []float64) { p.move(nodes, demand, 1) }

func (p *Placer) move(nodes []NodeTasks, demand []float64, sign float64) {
	for _, nt := range nodes {
		if n, ok := p.nodes.index[nt.Node]; ok {
			p.add(n, demand, sign*float64(nt.Tasks))
		}
	}
}

func (p *Placer) add(n int, demand []float64, tasks float64) {
	if tasks > 0 {
		p.first = min(p.first, n)
	}
	row := p.free[n*p.width : (n+1)*p.width]
	for r, d := range demand {
		row[r] += float64(tasks * d)
	}
}
