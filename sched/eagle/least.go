package eagle

import "time"

// least finds the node with the least key among neighbours, the lower number where keys are equal. Keys may be set in
// any order; a place in a heap is kept for each node.
type least struct {
	base  int32
	nodes []int32 // heap
	at    []int32 // of node base+i in the heap
	key   []time.Duration
}

// newLeast has the nodes base … base+n-1, all with one key.
func newLeast(base, n int, key time.Duration) least {
	l := least{base: int32(base), nodes: make([]int32, n), at: make([]int32, n), key: make([]time.Duration, n)}
	for i := range n {
		l.nodes[i], l.at[i], l.key[i] = int32(i), int32(i), key
	}
	return l
}

// top is the node with the least key, and that key.
func (l *least) top() (int32, time.Duration) {
	return l.base + l.nodes[0], l.key[l.nodes[0]]
}

// set changes the key of a node.
func (l *least) set(node int32, key time.Duration) {
	i := node - l.base
	if l.key[i] == key {
		return
	}
	l.key[i] = key
	l.down(l.up(l.at[i]))
}

func (l *least) before(a, b int32) bool {
	return l.key[a] < l.key[b] || l.key[a] == l.key[b] && a < b
}

func (l *least) up(i int32) int32 {
	n := l.nodes[i]
	for i > 0 {
		parent := (i - 1) / 2
		if !l.before(n, l.nodes[parent]) {
			break
		}
		l.put(i, l.nodes[parent])
		i = parent
	}
	l.put(i, n)
	return i
}

func (l *least) down(i int32) {
	n := l.nodes[i]
	for {
		c := 2*i + 1
		if int(c) >= len(l.nodes) {
			break
		}
		if int(c)+1 < len(l.nodes) && l.before(l.nodes[c+1], l.nodes[c]) {
			c++
		}
		if !l.before(l.nodes[c], n) {
			break
		}
		l.put(i, l.nodes[c])
		i = c
	}
	l.put(i, n)
}

func (l *least) put(i, n int32) {
	l.nodes[i] = n
	l.at[n] = i
}
