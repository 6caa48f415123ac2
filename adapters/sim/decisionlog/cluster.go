package decisionlog

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// cluster is the nodes and what their tasks hold. A node is a number, in the order of the first line, and so is a
// resource, so that wide gangs are counted without look-ups.
type cluster struct {
	names     []string
	labels    []map[string]string
	byName    map[string]int
	resources []string
	capacity  []float64 // [node*len(resources)+resource]
	held      []float64 // the same
	jobs      []int     // by node
}

// amount is what a task holds of a resource; at is -1 where no node offers it.
type amount struct {
	at   int
	name string
	of   float64
}

// fill checks and enters the nodes of the first line.
func (c *cluster) fill(nodes []Node) error {
	c.byName = make(map[string]int, len(nodes))
	seen := map[string]bool{}
	offers := make([]map[string]float64, len(nodes))
	for i := range nodes {
		n := &nodes[i]
		if _, twice := c.byName[n.Node]; twice || n.Node == "" {
			return fmt.Errorf("%w: node %q twice or unnamed", ErrSyntax, n.Node)
		}
		capacity, err := offered(n)
		if err != nil {
			return err
		}
		for name := range capacity {
			seen[name] = true
		}
		offers[i], c.byName[n.Node] = capacity, i
		c.names, c.labels = append(c.names, n.Node), append(c.labels, n.Labels)
	}
	c.resources = slices.Sorted(maps.Keys(seen))
	c.jobs = make([]int, len(nodes))
	for i := range offers {
		for _, name := range c.resources {
			c.capacity = append(c.capacity, offers[i][name])
		}
	}
	c.held = make([]float64, len(c.capacity))
	return nil
}

// offered checks that what a node offers makes sense and agrees with itself: its tasks are its whole-node units, up to
// the most that a gang has, and stand for them where no capacity is given. A capacity that is given and empty, "{}", is
// a node that takes nothing.
func offered(n *Node) (map[string]float64, error) {
	if n.Tasks < 0 {
		return nil, fmt.Errorf("%w: node %q offers %d tasks", ErrSyntax, n.Node, n.Tasks)
	}
	if n.Capacity == nil {
		if n.Tasks == 0 {
			return nil, fmt.Errorf("%w: node %q offers nothing", ErrSyntax, n.Node)
		}
		return map[string]float64{"node": float64(n.Tasks)}, nil
	}
	for _, name := range slices.Sorted(maps.Keys(n.Capacity)) {
		if amount := n.Capacity[name]; amount < 0 {
			return nil, fmt.Errorf("%w: node %q offers %g of %q", ErrSyntax, n.Node, amount, name)
		}
	}
	if whole := n.Capacity["node"]; float64(n.Tasks) != min(math.Floor(whole), math.MaxInt32) {
		return nil, fmt.Errorf(`%w: node %q offers %d tasks, by its capacity %g`, ErrMismatch, n.Node, n.Tasks, whole)
	}
	return n.Capacity, nil
}

// has tells whether there is a node of that name.
func (c *cluster) has(name string) bool {
	_, known := c.byName[name]
	return known
}

// amounts are a demand in numbers, in order of names. Without one it is a whole node.
func (c *cluster) amounts(demand map[string]float64) []amount {
	if len(demand) == 0 {
		demand = map[string]float64{"node": 1}
	}
	var out []amount
	for _, name := range slices.Sorted(maps.Keys(demand)) {
		at, offered := slices.BinarySearch(c.resources, name)
		if !offered {
			at = -1
		}
		out = append(out, amount{at, name, demand[name]})
	}
	return out
}

// places are the nodes of a start by number.
func (c *cluster) places(e *Event) ([]Range, error) {
	for _, r := range e.Ranges {
		if r.To > len(c.names) {
			return nil, fmt.Errorf("%w: the range from %d to %d of %d nodes", ErrNode, r.From, r.To, len(c.names))
		}
	}
	if len(e.Nodes) == 0 {
		return e.Ranges, nil
	}
	on := make([]Range, len(e.Nodes))
	for i, n := range e.Nodes {
		at, known := c.byName[n.Node]
		if !known {
			return nil, fmt.Errorf("%w: %q is unknown", ErrNode, n.Node)
		}
		on[i] = Range{From: at, To: at + 1, Tasks: n.Tasks}
	}
	return on, nil
}

// named are the nodes of a start by name.
func (c *cluster) named(e *Event) ([]Node, error) {
	if _, err := c.places(e); err != nil || len(e.Ranges) == 0 {
		return e.Nodes, err
	}
	var out []Node
	for _, r := range e.Ranges {
		for at := r.From; at < r.To; at++ {
			out = append(out, Node{Node: c.names[at], Tasks: r.Tasks})
		}
	}
	return out, nil
}

// allowed checks that a job may use the nodes of a range, and tells how fast it runs on the slowest of them.
func (c *cluster) allowed(j *life, r *Range) (speed float64, err error) {
	speed = 1
	if len(j.required)+len(j.speeds) == 0 {
		return speed, nil
	}
	for at := r.From; at < r.To; at++ {
		if !matches(j.required, c.labels[at]) {
			return 0, fmt.Errorf("%w: %q is not among those required", ErrNode, c.names[at])
		}
		speed = min(speed, j.speedOn(c.labels[at]))
	}
	return speed, nil
}

// tolerance is the share of a capacity by which rounded sums may exceed it.
const tolerance = 1e-6

// hold has tasks hold what they demand on every node of a range.
func (c *cluster) hold(demand []amount, r *Range) error {
	for at := r.From; at < r.To; at++ {
		c.jobs[at]++
	}
	for _, d := range demand {
		more := float64(d.of * float64(r.Tasks))
		if d.at < 0 {
			if more > 0 {
				return fmt.Errorf("%w: %q holds %g of 0 %s", ErrOvercommit, c.names[r.From], more, d.name)
			}
			continue
		}
		width := len(c.resources)
		for i := r.From*width + d.at; i < r.To*width; i += width {
			c.held[i] += more
			if offers := c.capacity[i]; c.held[i] > offers*(1+tolerance) {
				return fmt.Errorf("%w: %q holds %g of %g %s", ErrOvercommit, c.names[i/width], c.held[i], offers, d.name)
			}
		}
	}
	return nil
}

// drop undoes hold. A node without jobs holds nothing, without rounding errors.
func (c *cluster) drop(demand []amount, r *Range) {
	width := len(c.resources)
	for at := r.From; at < r.To; at++ {
		held := c.held[at*width : (at+1)*width]
		if c.jobs[at]--; c.jobs[at] == 0 {
			clear(held)
			continue
		}
		for _, d := range demand {
			if d.at >= 0 {
				held[d.at] -= float64(d.of * float64(r.Tasks))
			}
		}
	}
}
