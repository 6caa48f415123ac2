package baseline

import (
	"fmt"
	"math"
	"slices"

	"github.com/hedgesched/hedge/sched"
)

// cache keeps what a job means on the present nodes from cycle to cycle.
type cache struct {
	nodes  *sched.NodeSet
	wants  map[*sched.Job]*want
	places map[string]*place
	all    []*place
}

// want is a job's demand and the places it may go.
type want struct {
	demand    []float64
	preferred *place // nil where it is the same as required
	required  *place
	err       error
}

// place is a set of nodes for one demand.
type place struct {
	name  string
	nodes []int32
	holds int // tasks that fit on the empty nodes
	bound int // tasks that may fit at most at this point of the cycle
}

// renew starts a cycle: forgets all if the nodes have changed, and otherwise
// now and then what no pending job needs.
func (c *cache) renew(s *sched.Snapshot) {
	stale := len(c.wants) > 2*len(s.Pending)+1024
	if c.nodes != s.Nodes || stale {
		c.nodes = s.Nodes
		c.wants = make(map[*sched.Job]*want, len(s.Pending))
		c.places = make(map[string]*place)
		c.all = c.all[:0]
	}
	c.forgetBounds()
}

// forgetBounds is due whenever resources become free.
func (c *cache) forgetBounds() {
	for _, p := range c.all {
		p.bound = math.MaxInt
	}
}

func (c *cache) want(job *sched.Job) *want {
	if w := c.wants[job]; w != nil {
		return w
	}
	w := &want{}
	w.demand, w.err = c.nodes.Demand(job.Demand)
	if w.err != nil {
		w.required = &place{name: job.Required.String()}
	} else {
		w.required = c.place(job.Required, w.demand)
		w.preferred = c.place(job.Required.And(job.Preferred), w.demand)
		if slices.Equal(w.preferred.nodes, w.required.nodes) {
			w.preferred = nil
		}
	}
	c.wants[job] = w
	return w
}

func (c *cache) place(set sched.EquivalenceSet, demand []float64) *place {
	key := fmt.Sprint(set.String(), demand)
	p := c.places[key]
	if p == nil {
		nodes := c.nodes.NodesOf(set)
		p = &place{name: set.String(), nodes: nodes, holds: c.nodes.Holds(demand, nodes), bound: math.MaxInt}
		c.places[key] = p
		c.all = append(c.all, p)
	}
	return p
}

func (c *cache) canHold(w *want, tasks int) bool { return w.required.holds >= tasks }
