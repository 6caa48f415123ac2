package place

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/hedgesched/hedge/sched"
)

// Partitioning is the common refinement of equivalence sets over a NodeSet: every set is a union of disjoint partitions
// (3Sigma, section 4.3.3; systems: TetriSched). The nodes of a partition also have equal capacities. It is safe for
// concurrent use.
type Partitioning struct {
	nodes *sched.NodeSet
	of    []int32   // partition by node
	cells [][]int32 // node indexes by partition, ascending

	mu      sync.Mutex
	members map[string][]int // partitions by canonical text of a set
	keys    map[string]struct{}
	names   []string
}

// Refine computes the common refinement of the sets. Partitions are in order of their first nodes. A [Refiner] does the
// same and reuses the result from cycle to cycle.
func Refine(nodes *sched.NodeSet, sets []sched.EquivalenceSet) *Partitioning {
	class, classes := nodes.Classes()
	p := &Partitioning{nodes: nodes, of: slices.Clone(class)}
	p.refine(classes, sets)
	return p
}

// refine splits the existing cells, count of them, by the sets.
func (p *Partitioning) refine(count int, sets []sched.EquivalenceSet) {
	p.members = make(map[string][]int)
	if p.keys == nil {
		p.keys = make(map[string]struct{})
	}
	for _, s := range sets {
		if s.IsAny() {
			continue
		}
		for _, k := range s.Keys() {
			p.keys[k] = struct{}{}
		}
		count = split(p.of, count, p.nodes.NodesOf(s))
	}
	p.fillCells(count)
}

// finer returns a refinement in which these sets, too, are unions of partitions.
func (p *Partitioning) finer(sets []sched.EquivalenceSet) *Partitioning {
	q := &Partitioning{nodes: p.nodes, of: slices.Clone(p.of), keys: maps.Clone(p.keys)}
	q.refine(len(p.cells), sets)
	return q
}

// split divides every cell that is partly inside the set of nodes, and returns the new number of cells. The outside
// part keeps the cell's number.
func split(of []int32, count int, set []int32) int {
	inside := make([]int32, count)
	size := make([]int32, count)
	for _, c := range of {
		size[c]++
	}
	for _, n := range set {
		inside[of[n]]++
	}
	moved := inside // from here on: the new number of the inside part, or -1
	for c := range moved {
		if moved[c] == 0 || moved[c] == size[c] {
			moved[c] = -1
			continue
		}
		moved[c] = int32(count)
		count++
	}
	for _, n := range set {
		if m := moved[of[n]]; m >= 0 {
			of[n] = m
		}
	}
	return count
}

// fillCells numbers the partitions by their first nodes.
func (p *Partitioning) fillCells(count int) {
	number := make([]int32, count)
	for i := range number {
		number[i] = -1
	}
	var sizes []int
	for i, c := range p.of {
		if number[c] < 0 {
			number[c] = int32(len(sizes))
			sizes = append(sizes, 0)
		}
		p.of[i] = number[c]
		sizes[number[c]]++
	}
	flat := make([]int32, len(p.of))
	p.cells = make([][]int32, len(sizes))
	at := 0
	for c, size := range sizes {
		p.cells[c] = flat[at : at : at+size]
		at += size
	}
	for i, c := range p.of {
		p.cells[c] = append(p.cells[c], int32(i))
	}
}

// Len is the number of partitions.
func (p *Partitioning) Len() int { return len(p.cells) }

// Nodes are the indexes of the nodes of partition x, ascending. The slice must not be modified.
func (p *Partitioning) Nodes(x int) []int32 { return p.cells[x] }

// Of is the partition of a node, by index.
func (p *Partitioning) Of(node int) int { return int(p.of[node]) }

// Members are the partitions of a set, ascending. If the set was not refined and cuts through partitions, they are the
// partitions wholly inside it. The slice is shared and must not be modified.
func (p *Partitioning) Members(set sched.EquivalenceSet) []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m, ok := p.members[set.String()]; ok {
		return m
	}
	m, _ := p.union(set)
	p.members[set.String()] = m
	return m
}

// union returns the partitions inside a set, and whether the set cuts none.
func (p *Partitioning) union(set sched.EquivalenceSet) ([]int, bool) {
	members := make([]int, 0, len(p.cells))
	if set.IsAny() {
		for x := range p.cells {
			members = append(members, x)
		}
		return members, true
	}
	inside := make([]int32, len(p.cells))
	for _, n := range p.nodes.NodesOf(set) {
		inside[p.of[n]]++
	}
	whole := true
	for x, n := range inside {
		switch int(n) {
		case 0:
		case len(p.cells[x]):
			members = append(members, x)
		default:
			whole = false
		}
	}
	return members, whole
}

// covers reports whether a set is a union of partitions, and if so remembers which.
func (p *Partitioning) covers(set sched.EquivalenceSet) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	m, whole := p.union(set)
	if whole {
		p.members[set.String()] = m
	}
	return whole
}

// Name is a readable, unique name of a partition: the values of the labels that the sets use, such as "gpu=a100
// rack=r1|r2".
func (p *Partitioning) Name(x int) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.names == nil {
		p.fillNames()
	}
	return p.names[x]
}

func (p *Partitioning) fillNames() {
	keys := make([]string, 0, len(p.keys))
	for k := range p.keys {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	p.names = make([]string, len(p.cells))
	uses := make(map[string]int)
	for x, cell := range p.cells {
		p.names[x] = p.nodes.Describe(cell, keys)
		uses[p.names[x]]++
	}
	for x, name := range p.names {
		if uses[name] > 1 {
			p.names[x] = fmt.Sprintf("%s #%d", name, x)
		}
	}
}

// Refiner reuses a partitioning from cycle to cycle. Its zero value is ready for use; it is not safe for concurrent
// use.
type Refiner struct {
	last    *Partitioning
	covered map[string]struct{}
}

// maxKeptSets limits the sets that a Refiner remembers of jobs long gone. If it remembers more than this, and more than
// twice the sets now asked for, it refines the latter alone from scratch.
const maxKeptSets = 1024

// Refine returns a partitioning in which each of the sets is a union of partitions. It returns the same value as the
// last time as long as the nodes are the same and no set cuts through a partition.
func (r *Refiner) Refine(ns *sched.NodeSet, sets []sched.EquivalenceSet) *Partitioning {
	if r.last == nil || r.last.nodes != ns || len(r.covered) > max(maxKeptSets, 2*len(sets)) {
		r.restart()
	}
	var cutting []sched.EquivalenceSet
	for _, s := range sets {
		if _, known := r.covered[s.String()]; known {
			continue
		}
		r.covered[s.String()] = struct{}{}
		if r.last != nil && r.last.covers(s) {
			continue
		}
		cutting = append(cutting, s)
	}
	switch {
	case r.last == nil:
		r.last = Refine(ns, cutting)
	case len(cutting) > 0:
		r.last = r.last.finer(cutting)
	}
	return r.last
}

func (r *Refiner) restart() {
	r.last = nil
	r.covered = make(map[string]struct{})
}
