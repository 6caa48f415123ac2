package sched

// EquivalenceSet is a label predicate over nodes: the nodes that are the same
// to a job (systems: TetriSched, 3Sigma section 4.3.3). It is immutable; the zero value is every node.
type EquivalenceSet struct {
	terms []term
}

type term struct {
	key    string
	values []string // sorted
}

// NodeSet is an immutable cluster: nodes by index, flat capacities, and the partition refinement
// cache of the equivalence sets in play.
type NodeSet struct {
	nodes     []Node
	index     map[string]int
	resources []string
	capacity  []float64
}

// Reason says why a decision was taken, as data.
type Reason struct {
	Code ReasonCode
}

// ReasonCode classifies a reason.
type ReasonCode string
