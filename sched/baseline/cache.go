package baseline

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/hedgesched/hedge/sched"
)

// cache keeps what kinds of job ask for on the present nodes from cycle to cycle.
type cache struct {
	nodes *sched.NodeSet
	wants map[string]*want
	sites map[string]*site
	all   []*site
	key   []byte
	free  []float64 // what was free at the start of the cycle
	idle  bool      // nothing has been taken since, by the last plan
}

// want is a kind of job: the demand of its tasks and the sites they may go to.
type want struct {
	demand    []float64
	preferred *site // nil where it is the same as required
	required  *site
	err       error
	// obstacle is that of the last gang that the nodes cannot hold.
	obstacle *sched.Obstacle
}

// site is a set of nodes for one demand.
type site struct {
	name  string
	nodes []int32
	holds int // tasks that fit on the empty nodes
	bound int // tasks that may fit at most at this point of the cycle
	// evicted is the fewest tasks for which no room could be made in this cycle.
	evicted int
}

// renew starts a cycle. It forgets all, and says so, if the nodes have changed or, now and
// then, when more kinds are kept than jobs wait.
func (c *cache) renew(s *sched.Snapshot) (forgot bool) {
	if c.nodes != s.Nodes || len(c.wants) > 2*len(s.Pending)+1024 {
		c.nodes = s.Nodes
		c.wants = make(map[string]*want)
		c.sites = make(map[string]*site)
		c.all = c.all[:0]
		forgot = true
	}
	if !c.idle || !slices.Equal(c.free, s.Free) {
		c.free = append(c.free[:0], s.Free...)
		c.forgetBounds()
	}
	c.idle = true
	for _, p := range c.all {
		p.evicted = math.MaxInt
	}
	return forgot
}

// forgetBounds is due whenever resources become free.
func (c *cache) forgetBounds() {
	for _, p := range c.all {
		p.bound = math.MaxInt
	}
}

func (c *cache) want(job *sched.Job) *want {
	demand, err := c.nodes.Demand(job.Demand)
	if err != nil {
		return &want{err: err, required: &site{name: job.Required.String()}}
	}
	c.key = c.setKey(job.Required, demand)
	c.key = append(append(c.key, 0), job.Preferred.String()...)
	w := c.wants[string(c.key)]
	if w == nil {
		w = &want{demand: demand}
		c.wants[string(c.key)] = w
		w.required = c.site(job.Required, demand)
		w.preferred = c.site(job.Required.And(job.Preferred), demand)
		if slices.Equal(w.preferred.nodes, w.required.nodes) {
			w.preferred = nil
		}
	}
	return w
}

// setKey is a key for a set of nodes and a demand on them.
func (c *cache) setKey(set sched.EquivalenceSet, demand []float64) []byte {
	key := c.key[:0]
	for _, d := range demand {
		key = binary.LittleEndian.AppendUint64(key, math.Float64bits(d))
	}
	return append(key, set.String()...)
}

func (c *cache) site(set sched.EquivalenceSet, demand []float64) *site {
	c.key = c.setKey(set, demand)
	p := c.sites[string(c.key)]
	if p == nil {
		nodes := c.nodes.NodesOf(set)
		p = &site{
			name: set.String(), nodes: nodes, holds: c.nodes.Holds(demand, nodes),
			bound: math.MaxInt, evicted: math.MaxInt,
		}
		c.sites[string(c.key)] = p
		c.all = append(c.all, p)
	}
	return p
}
