package sched

import "sync"

// Site is the nodes of one equivalence set as tasks of one demand see them. It is shared and must not be modified.
type Site struct {
	Set EquivalenceSet
	// Demand is what one task holds, as [NodeSet.Demand] gives it.
	Demand []float64
	// Nodes are the indexes of the set's nodes, ascending.
	Nodes []int32
	// Holds is the number of tasks that the nodes hold when they are empty: what is more can never run on them.
	Holds int
}

const (
	// maxSites bounds the sites that a NodeSet remembers.
	maxSites = 1 << 14
	// maxListed bounds the nodes that these list in all.
	maxListed = 1 << 22
)

// sites remembers the sites of a NodeSet. It is safe for concurrent use.
type sites struct {
	mu     sync.Mutex
	of     map[string]*Site   // by set and demand
	nodes  map[string][]int32 // by set
	listed int
	key    []byte
}

// Site is the site of a set and a demand. It is worked out once and remembered, so that to ask again costs a look-up.
// The site keeps the demand.
func (ns *NodeSet) Site(set EquivalenceSet, demand []float64) *Site {
	s := &ns.sites
	s.mu.Lock()
	defer s.mu.Unlock()
	s.key = append(append(s.key[:0], set.text()...), 0)
	for _, d := range demand {
		s.key = appendBits(s.key, d)
	}
	if site := s.of[string(s.key)]; site != nil {
		return site
	}
	if s.of == nil || len(s.of) >= maxSites || s.listed >= maxListed {
		s.of, s.nodes, s.listed = make(map[string]*Site), make(map[string][]int32), 0
	}
	nodes, known := s.nodes[set.text()]
	if !known {
		nodes = ns.NodesOf(set)
		s.nodes[set.text()] = nodes
		s.listed += len(nodes)
	}
	site := &Site{Set: set, Demand: demand, Nodes: nodes, Holds: ns.Holds(demand, nodes)}
	s.of[string(s.key)] = site
	return site
}
