package sched

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Obstacle is what keeps a job from the nodes there are, even if they were empty. The cases are told apart by what is
// not zero: Resource names what a node has too little of for one task, Missing names the term of the job's required set
// that no node meets, and otherwise Room is for how many of the gang's Tasks there is room.
type Obstacle struct {
	// Set is the set that the job may run on.
	Set string `json:"set"`
	// Nodes is how many nodes are in the set; 0 where no node at all offers the resource.
	Nodes int `json:"nodes"`
	// Missing is the part of the set, as "gpu-model=b200", that no node meets, or the whole set if nodes meet each
	// part and none all of them.
	Missing string `json:"missing,omitempty"`
	// Resource is what a task asks for more of than any node of the set offers: Wanted, and at most Offered.
	Resource string  `json:"resource,omitempty"`
	Wanted   float64 `json:"wanted,omitempty"`
	Offered  float64 `json:"offered,omitempty"`
	// Known are the resources that nodes offer, where Resource is none of them.
	Known []string `json:"known,omitempty"`
	// Tasks is the size of the gang. Room is how many of its tasks the nodes of the set have room for.
	Tasks int `json:"tasks"`
	Room  int `json:"room"`
}

// Obstacle is what keeps the job's gang from the nodes of a set even if they are empty; nil if they have room for it.
func (ns *NodeSet) Obstacle(j *Job, set EquivalenceSet) *Obstacle {
	o := &Obstacle{Set: set.String(), Tasks: j.Tasks}
	if ns.Len() == 0 {
		o.Missing = anyText
		return o
	}
	demand, err := ns.Demand(j.Demand)
	if err != nil {
		o.Resource, o.Known = ns.unknown(j), append([]string{}, ns.resources...) // not nil
		o.Wanted = j.DemandOrNode()[o.Resource]
		return o
	}
	nodes := ns.NodesOf(set)
	if o.Nodes = len(nodes); o.Nodes == 0 {
		o.Missing = ns.missing(set)
		return o
	}
	if o.Room = ns.Holds(demand, nodes); o.Room >= j.Tasks {
		return nil
	}
	for r, d := range demand {
		most := 0.0
		for _, n := range nodes {
			most = max(most, ns.capacity[int(n)*len(demand)+r])
		}
		if d > 0 && most/d+slack < 1 {
			o.Resource, o.Wanted, o.Offered = ns.resources[r], d, most
			return o
		}
	}
	return o
}

// unknown is the first resource that the job asks for and no node offers.
func (ns *NodeSet) unknown(j *Job) string {
	first := ""
	for name, amount := range j.DemandOrNode() {
		_, known := slices.BinarySearch(ns.resources, name)
		if !known && amount != 0 && (first == "" || name < first) {
			first = name
		}
	}
	return first
}

// missing is the first term of the set that no node can meet or, if there is none, that no node meets, or else the set.
func (ns *NodeSet) missing(set EquivalenceSet) string {
	for i := range set.terms() {
		if one := newSet(set.terms()[i : i+1]); strings.HasSuffix(one.text(), noValue) {
			return one.text()
		}
	}
	for i := range set.terms() {
		if one := newSet(set.terms()[i : i+1]); len(ns.NodesOf(one)) == 0 {
			return one.String()
		}
	}
	return set.String()
}

// String says it in words, as "no node offers gpus, of which each task needs 1; nodes offer cpu, gpu, memory".
func (o *Obstacle) String() string {
	where := counted(o.Nodes, "node")
	if o.Set != anyText {
		where += " with " + o.Set
	}
	switch {
	case o.Known != nil && len(o.Known) == 0:
		return "nodes offer nothing, and each task needs " + amount(o.Wanted) + " " + o.Resource
	case o.Known != nil:
		offer := "nodes offer " + strings.Join(o.Known, ", ")
		if o.Resource == WholeNode {
			return "no node is offered whole, as a task without a demand needs it; " + offer
		}
		return fmt.Sprintf("no node offers %s, of which each task needs %s; %s", o.Resource, amount(o.Wanted), offer)
	case o.Nodes == 0 && o.Missing == anyText:
		return "there are no nodes"
	case o.Missing != "":
		if label, none := strings.CutSuffix(o.Missing, noValue); none {
			return "what is asked of " + label + " contradicts itself: no value is left that it may have"
		}
		return "no node has " + o.Missing
	case o.Resource != "":
		return fmt.Sprintf("each task needs %s %s, and the most that one of %s offers is %s: %s too little",
			amount(o.Wanted), o.Resource, where, amount(o.Offered), amount(o.Wanted-o.Offered))
	case o.Room == 0:
		return fmt.Sprintf("none of %s offers all that a task needs together", where)
	}
	return fmt.Sprintf("%s of %d fit on %s even if nothing else runs there: %d too many",
		counted(o.Room, "task"), o.Tasks, where, o.Tasks-o.Room)
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

func amount(v float64) string { return strconv.FormatFloat(v, 'g', 12, 64) }
