// Package longset keeps which nodes hold long tasks: the succinct state that Eagle's schedulers share. A [Set] is
// changed by its one owner; a [Snapshot] of it never changes, so that any number of messages and nodes hold the same.
package longset

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// ErrSnapshot is the error about bytes that are no snapshot.
var ErrSnapshot = errors.New("no snapshot")

// Set is the nodes that hold long tasks. It is not safe for concurrent use.
type Set struct {
	words  []uint64
	nodes  int
	latest *Snapshot
}

// New is a set of no node among 0 … nodes-1.
func New(nodes int) *Set { return &Set{words: make([]uint64, (nodes+63)/64), nodes: nodes} }

// Put says whether a node holds long tasks.
func (s *Set) Put(node int, long bool) {
	bit := uint64(1) << (node & 63)
	if s.words[node>>6]&bit != 0 == long {
		return
	}
	s.words[node>>6] ^= bit
	s.latest = nil
}

// Has tells whether a node holds long tasks.
func (s *Set) Has(node int) bool { return s.words[node>>6]>>(node&63)&1 == 1 }

// Snapshot is the set as it is now. It is made anew only if the set has changed since the last.
func (s *Set) Snapshot() *Snapshot {
	if s.latest != nil {
		return s.latest
	}
	s.latest = snapshot(append([]uint64(nil), s.words...), s.nodes)
	return s.latest
}

// snapshot keeps the words.
func snapshot(words []uint64, nodes int) *Snapshot {
	n := &Snapshot{words: words, free: make([]int32, len(words)+1), nodes: nodes}
	for i, w := range n.words {
		n.free[i+1] = n.free[i] + int32(64-bits.OnesCount64(w))
	}
	if tail := len(n.words)*64 - nodes; tail > 0 {
		n.free[len(n.words)] -= int32(tail)
	}
	return n
}

// Snapshot is a [Set] at a moment. It is immutable and safe for concurrent use.
type Snapshot struct {
	words []uint64
	free  []int32 // before each word, the nodes without long tasks
	nodes int
}

// Append appends the binary form: the number of nodes, then their bits.
func (n *Snapshot) Append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(n.nodes))
	for _, w := range n.words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// maxNodes is the most nodes that a snapshot which is read may have.
const maxNodes = 1 << 30

// Read makes a snapshot of all of b, or an [ErrSnapshot].
func Read(b []byte) (*Snapshot, error) {
	nodes, size := binary.Uvarint(b)
	if size <= 0 || nodes > maxNodes || uint64(len(b)-size) != (nodes+63)/64*8 {
		return nil, ErrSnapshot
	}
	words := make([]uint64, (nodes+63)/64)
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(b[size+8*i:])
	}
	if tail := nodes % 64; tail > 0 && words[len(words)-1]>>tail != 0 {
		return nil, ErrSnapshot
	}
	return snapshot(words, int(nodes)), nil
}

// Free is the number of nodes that hold no long task.
func (n *Snapshot) Free() int { return int(n.free[len(n.words)]) }

// Has tells whether a node held long tasks.
func (n *Snapshot) Has(node int) bool { return n.words[node>>6]>>(node&63)&1 == 1 }

// Node is the k-th node without long tasks, from 0 and in ascending order; k is below Free.
func (n *Snapshot) Node(k int) int {
	low, high := 0, len(n.words)-1
	for low < high {
		if mid := (low + high + 1) / 2; int(n.free[mid]) <= k {
			low = mid
		} else {
			high = mid - 1
		}
	}
	w := ^n.words[low]
	for range k - int(n.free[low]) {
		w &= w - 1
	}
	return low*64 + bits.TrailingZeros64(w)
}
