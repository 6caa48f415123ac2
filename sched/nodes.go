package sched

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/hedgesched/hedge/sched/ranges"
)

// WholeNode is the resource that a job without a demand holds one of per task, and that a node without a capacity
// offers one of.
const WholeNode = "node"

// ErrInvalidNode is wrapped by errors about nodes that [NewNodeSet] refuses.
var ErrInvalidNode = errors.New("sched: invalid node")

// ErrUnknownResource is wrapped by errors about demands for a resource that no node offers.
var ErrUnknownResource = errors.New("sched: no node offers the resource")

// NodeSet is an immutable cluster. Nodes are numbered from 0, in the order given to [NewNodeSet]. It is safe for
// concurrent use.
type NodeSet struct {
	nodes     []Node
	index     map[string]int
	resources []string
	capacity  []float64 // [node*len(resources)+resource]
	all       []int32
	columns   map[string]*column
	class     []int32 // by node: nodes of one class have equal capacities
	classes   int
	whole     []float64 // the demand for one whole node; nil where none is offered
	sites     sites
}

// column holds one label of all nodes, with a number for each value, so that equivalence sets are matched without maps.
type column struct {
	values []string // by number, in the order in which nodes first have them
	ids    map[string]int32
	of     []int32 // by node, -1 without the label
}

// NewNodeSet builds a cluster. It refuses nodes without a name, duplicate names, names of nodes, resources and labels
// longer than [MaxName], and capacities that are NaN, infinite or negative. The error wraps [ErrInvalidNode] and names
// the node. The nodes' maps must not be changed afterwards.
func NewNodeSet(nodes []Node) (*NodeSet, error) {
	ns := &NodeSet{
		nodes:   slices.Clone(nodes),
		index:   make(map[string]int, len(nodes)),
		all:     make([]int32, len(nodes)),
		columns: make(map[string]*column),
	}
	names := make(map[string]struct{})
	for i := range ns.nodes {
		n := &ns.nodes[i]
		if err := n.validate(); err != nil {
			return nil, err
		}
		if _, twice := ns.index[n.Name]; twice {
			return nil, fmt.Errorf("%w: node %q comes twice", ErrInvalidNode, n.Name)
		}
		if n.Capacity == nil {
			n.Capacity = Resources{WholeNode: 1}
		}
		for r := range n.Capacity {
			names[r] = struct{}{}
		}
		ns.index[n.Name] = i
		ns.all[i] = int32(i)
	}
	ns.resources = slices.Sorted(maps.Keys(names))
	if k, ok := slices.BinarySearch(ns.resources, WholeNode); ok {
		ns.whole = make([]float64, len(ns.resources))
		ns.whole[k] = 1
	}
	ns.fillCapacity()
	ns.fillColumns()
	return ns, nil
}

func (n *Node) validate() error {
	if n.Name == "" {
		return fmt.Errorf("%w: a node without a name", ErrInvalidNode)
	}
	if len(n.Name) > MaxName {
		return fmt.Errorf("%w: name %s", ErrInvalidNode, tooLong(n.Name))
	}
	if r := overlong(n.Capacity); r != "" {
		return fmt.Errorf("%w: node %q: resource %s", ErrInvalidNode, n.Name, tooLong(r))
	}
	if l := overlong(n.Labels); l != "" {
		return fmt.Errorf("%w: node %q: label %s", ErrInvalidNode, n.Name, tooLong(l))
	}
	for _, r := range slices.Sorted(maps.Keys(n.Capacity)) {
		if c := n.Capacity[r]; math.IsNaN(c) || math.IsInf(c, 0) || c < 0 {
			return fmt.Errorf("%w: node %q: capacity of %q is %v", ErrInvalidNode, n.Name, r, c)
		}
	}
	return nil
}

// equal tells whether the nodes agree in everything that placement depends on.
func (n *Node) equal(o *Node) bool {
	return n.Name == o.Name && maps.Equal(n.Labels, o.Labels) &&
		(n.Capacity == nil) == (o.Capacity == nil) && maps.Equal(n.Capacity, o.Capacity)
}

func (ns *NodeSet) fillCapacity() {
	width := len(ns.resources)
	ns.capacity = make([]float64, len(ns.nodes)*width)
	ns.class = make([]int32, len(ns.nodes))
	seen := make(map[string]int32)
	var key []byte
	for i := range ns.nodes {
		row := ns.capacity[i*width : (i+1)*width]
		key = key[:0]
		for r, name := range ns.resources {
			row[r] = ns.nodes[i].Capacity[name]
			key = appendBits(key, row[r])
		}
		id, ok := seen[string(key)]
		if !ok {
			id = int32(len(seen))
			seen[string(key)] = id
		}
		ns.class[i] = id
	}
	ns.classes = len(seen)
}

func appendBits(b []byte, v float64) []byte {
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(v+0)) // -0 is 0
}

func (ns *NodeSet) fillColumns() {
	for i := range ns.nodes {
		for key, value := range ns.nodes[i].Labels {
			c := ns.columns[key]
			if c == nil {
				c = &column{ids: make(map[string]int32), of: make([]int32, len(ns.nodes))}
				for n := range c.of {
					c.of[n] = -1
				}
				ns.columns[key] = c
			}
			id, ok := c.ids[value]
			if !ok {
				id = int32(len(c.values))
				c.ids[value] = id
				c.values = append(c.values, value)
			}
			c.of[i] = id
		}
	}
}

// Len is the number of nodes.
func (ns *NodeSet) Len() int { return len(ns.nodes) }

// Node is the node of index i, in [0, Len). It must not be modified.
func (ns *NodeSet) Node(i int) *Node { return &ns.nodes[i] }

// Index is the index of the node of that name, and whether there is one.
func (ns *NodeSet) Index(name string) (int, bool) {
	i, ok := ns.index[name]
	return i, ok
}

// All are the indexes of all nodes, 0 to Len-1. The slice must not be modified.
func (ns *NodeSet) All() []int32 { return ns.all }

// IsAll tells whether nodes are what All returns: not a copy, which would take time to compare.
func (ns *NodeSet) IsAll(nodes []int32) bool {
	return len(nodes) > 0 && len(nodes) == len(ns.all) && &nodes[0] == &ns.all[0]
}

// Resources are the names of all resources that some node offers, sorted. The slice must not be modified.
func (ns *NodeSet) Resources() []string { return ns.resources }

// Capacity is what each node offers, indexed [node*len(Resources())+resource]. The slice must not be modified.
func (ns *NodeSet) Capacity() []float64 { return ns.capacity }

// Demand is a task's demand as a vector over Resources. An empty demand means one whole node. If r asks for a resource
// that no node offers, the error wraps [ErrUnknownResource]. The vector may be shared and must not be modified.
func (ns *NodeSet) Demand(r Resources) ([]float64, error) {
	if len(r) == 0 {
		if ns.whole == nil {
			return nil, fmt.Errorf("%w: %q", ErrUnknownResource, WholeNode)
		}
		return ns.whole, nil
	}
	v := make([]float64, len(ns.resources))
	unknown := ""
	for name, amount := range r {
		k, ok := slices.BinarySearch(ns.resources, name)
		switch {
		case ok:
			v[k] = amount
		case amount != 0 && (unknown == "" || name < unknown):
			unknown = name
		}
	}
	if unknown != "" {
		return nil, fmt.Errorf("%w: %q", ErrUnknownResource, unknown)
	}
	return v, nil
}

// Held returns what each task of a running job holds, and the indexes of its Nodes, with -1 for a node that is gone.
// Demand is nil if the job asks for a resource that no node offers. Neither result may be modified. For a job of a
// [Loop]'s snapshot, with that snapshot's nodes, it is a look-up. Of a job whose nodes are ranges the indexes are
// theirs; see [NodeSet.Holding].
func (ns *NodeSet) Held(r *Running) (demand []float64, on []int32) {
	if j := r.held; j != nil && j.needs == ns && j.on == ns && len(r.Ranges) == 0 && slices.Equal(j.nodes, r.Nodes) {
		return j.demand, j.at
	}
	demand, _ = ns.Demand(r.Job.Demand) // of an error: nil
	if len(r.Ranges) > 0 {
		for n := range r.Ranges.All() {
			on = append(on, n)
		}
		return demand, on
	}
	return demand, ns.Indexes(make([]int32, 0, len(r.Nodes)), r.Nodes)
}

// Holding returns what each task of a running job holds and where its tasks are; nodes that are gone are left out. It
// is [NodeSet.Held] for jobs whose nodes are ranges, and for others, too. Neither result may be modified.
func (ns *NodeSet) Holding(r *Running) (demand []float64, on ranges.Set) {
	if len(r.Ranges) > 0 {
		if j := r.held; j != nil && j.needs == ns {
			return j.demand, r.Ranges
		}
		demand, _ = ns.Demand(r.Job.Demand) // of an error: nil
		return demand, r.Ranges
	}
	demand, at := ns.Held(r)
	for i, n := range at {
		if n >= 0 {
			on = on.Append(n, int32(r.Nodes[i].Tasks))
		}
	}
	return demand, on
}

// Named are the nodes of a set by name, as a [Decision] has them that gives no ranges.
func (ns *NodeSet) Named(on ranges.Set) []NodeTasks {
	out := make([]NodeTasks, 0, on.Len())
	for n, tasks := range on.All() {
		out = append(out, NodeTasks{Node: ns.nodes[n].Name, Tasks: int(tasks)})
	}
	return out
}

// Indexes appends the index of each node to to, with -1 for a node that is not in the set.
func (ns *NodeSet) Indexes(to []int32, nodes []NodeTasks) []int32 {
	for _, nt := range nodes {
		n, ok := ns.index[nt.Node]
		if !ok {
			n = -1
		}
		to = append(to, int32(n))
	}
	return to
}

// NodesOf are the indexes of the nodes in an equivalence set, ascending. For the set of all nodes it is All itself. The
// slice must not be modified.
func (ns *NodeSet) NodesOf(set EquivalenceSet) []int32 {
	if set.IsAny() {
		return ns.all
	}
	in := ns.match(set)
	count := 0
	for _, word := range in {
		count += bits.OnesCount64(word)
	}
	out := make([]int32, 0, count)
	for i, word := range in {
		for ; word != 0; word &= word - 1 {
			out = append(out, int32(i<<6+bits.TrailingZeros64(word)))
		}
	}
	return out
}

// Classes returns each node's class, a number in [0, count). Nodes of a class have equal capacities. The slice must not
// be modified.
func (ns *NodeSet) Classes() (of []int32, count int) { return ns.class, ns.classes }

// maxNamed is the number of values of one label that Describe spells out.
const maxNamed = 3

// Describe is a readable name for some nodes: their values of these labels, such as "gpu=a100 rack=r1|r2". It is "any"
// if they have none of the labels.
func (ns *NodeSet) Describe(nodes []int32, labels []string) string {
	var parts []string
	for _, k := range labels {
		if c := ns.columns[k]; c != nil {
			if text := c.describe(nodes); text != "" {
				parts = append(parts, quoteSpecial(k)+"="+text)
			}
		}
	}
	if len(parts) == 0 {
		return anyText
	}
	return strings.Join(parts, " ")
}

// describe lists the values that the nodes have. Beyond the first few it only counts them.
func (c *column) describe(nodes []int32) string {
	seen := make([]bool, len(c.values))
	var values []string
	for _, n := range nodes {
		if id := c.of[n]; id >= 0 && !seen[id] {
			seen[id] = true
			values = append(values, quoteSpecial(c.values[id]))
		}
	}
	slices.Sort(values)
	if more := len(values) - maxNamed; more > 0 {
		return fmt.Sprintf("%s|+%d", strings.Join(values[:maxNamed], "|"), more)
	}
	return strings.Join(values, "|")
}

// Fit is how many tasks of a demand fit into what is free on a node, at most [math.MaxInt32]. Both are vectors over
// Resources.
func (ns *NodeSet) Fit(demand, free []float64) int { return fitsOn(demand, free) }

// Holds is how many tasks of a demand these nodes hold in total when they are empty, at most [math.MaxInt32].
func (ns *NodeSet) Holds(demand []float64, nodes []int32) int {
	total := 0
	width := len(ns.resources)
	for _, n := range nodes {
		total = addTasks(total, fitsOn(demand, ns.capacity[int(n)*width:(int(n)+1)*width]))
	}
	return total
}

// Speed is how fast a job runs on these nodes: as on the slowest of them. On nodes that are not in the NodeSet it has
// its lowest speed. It is 1 if there are no nodes.
func (ns *NodeSet) Speed(job *Job, nodes []NodeTasks) float64 {
	speed := 1.0
	if job.Speeds.Even() {
		return speed
	}
	for _, nt := range nodes {
		i, ok := ns.index[nt.Node]
		if !ok {
			return min(speed, job.Speeds.Least())
		}
		speed = min(speed, job.Speeds.On(ns.nodes[i].Labels))
	}
	return speed
}

// SpeedOn is Speed for ranges of the NodeSet's nodes.
func (ns *NodeSet) SpeedOn(job *Job, on ranges.Set) float64 {
	speed := 1.0
	if job.Speeds.Even() {
		return speed
	}
	for n := range on.All() {
		speed = min(speed, job.Speeds.On(ns.nodes[n].Labels))
	}
	return speed
}

// match finds the nodes of an equivalence set, with one table look-up per node and label. Node i is bit i%64 of word
// i/64.
func (ns *NodeSet) match(set EquivalenceSet) []uint64 {
	words := (len(ns.nodes) + 63) / 64
	in := make([]uint64, words)
	for i := range ns.nodes {
		in[i>>6] |= 1 << (uint(i) & 63)
	}
	for k := range set.terms() {
		t := &set.terms()[k]
		c := ns.columns[t.key]
		if c == nil {
			return make([]uint64, words)
		}
		allowed := make([]bool, len(c.values))
		for _, v := range t.values {
			if id, ok := c.ids[v]; ok {
				allowed[id] = true
			}
		}
		for i, id := range c.of {
			if id < 0 || !(t.has || allowed[id]) {
				in[i>>6] &^= 1 << (uint(i) & 63)
			}
		}
	}
	return in
}
