// Package ranges describes where a gang runs by ranges of node indexes, so that a gang of 80,000 nodes that lie
// together is as small as one of 8. The indexes are those of a sched.NodeSet, from 0.
//
// It knows no node and no job: package sched checks that the indexes are those of nodes. Nothing but [Set.Append]
// changes a set.
package ranges

import "iter"

// Range is Tasks tasks on each of the nodes from index From up to, and without, index To.
type Range struct {
	From, To, Tasks int32
}

// Set is where the tasks of a gang are. Its ranges are in the order in which the tasks are numbered, and none is empty.
// Its zero value has no tasks. It is safe for concurrent use as long as nobody changes it.
type Set []Range

// Append returns the set with tasks on one more node. They are added to the last range where that node is its neighbour
// and has as many tasks, else as a range of their own. As with the built-in append, s is not to be used any more.
func (s Set) Append(node, tasks int32) Set {
	if n := len(s); n > 0 && s[n-1].To == node && s[n-1].Tasks == tasks {
		s[n-1].To++
		return s
	}
	return append(s, Range{From: node, To: node + 1, Tasks: tasks})
}

// Len is the number of nodes; a node in two ranges counts twice.
func (s Set) Len() int {
	n := 0
	for i := range s {
		n += int(s[i].To - s[i].From)
	}
	return n
}

// Tasks is the number of tasks.
func (s Set) Tasks() int64 {
	n := int64(0)
	for i := range s {
		n += int64(s[i].To-s[i].From) * int64(s[i].Tasks)
	}
	return n
}

// All are the nodes, by index, with the number of tasks on each.
func (s Set) All() iter.Seq2[int32, int32] {
	return func(yield func(node, tasks int32) bool) {
		for i := range s {
			for n := s[i].From; n < s[i].To; n++ {
				if !yield(n, s[i].Tasks) {
					return
				}
			}
		}
	}
}

// Within tells whether every range is one of nodes below index n, with at least one node and one task.
func (s Set) Within(n int) bool {
	for i := range s {
		if r := &s[i]; r.From < 0 || r.To <= r.From || int(r.To) > n || r.Tasks < 1 {
			return false
		}
	}
	return true
}
