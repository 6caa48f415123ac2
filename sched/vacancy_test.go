package sched_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/ranges"
)

// pieces cuts some of n nodes into ranges that do not overlap, in any order.
func pieces(rng *rand.Rand, n int) ranges.Set {
	var out ranges.Set
	for at := rng.IntN(8); at < n; {
		to := min(n, at+1+rng.IntN(40))
		out = append(out, ranges.Range{From: int32(at), To: int32(to), Tasks: 1 + rng.Int32N(2)})
		at = to + rng.IntN(60)
	}
	rng.Shuffle(len(out), func(a, b int) { out[a], out[b] = out[b], out[a] })
	return out
}

// A ledger that takes and gives ranges has the same accounts as one that does so node by node, and finds the same free
// nodes as a search.
func TestLedgerOfRanges(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 7))
		size := 1 + rng.IntN(200)
		nodes := make([]sched.Node, size)
		for i := range nodes {
			nodes[i] = sched.Node{Name: string(rune('A' + i)), Capacity: sched.Resources{"node": 1, "x": 2}}
			if seed%3 == 2 {
				nodes[i].Capacity = sched.Resources{"node": float64(1 + rng.IntN(2))}
			}
			if seed%3 == 1 {
				nodes[i].Capacity = nil
			}
		}
		set, err := sched.NewNodeSet(nodes)
		require.NoError(t, err)
		whole, err := set.Demand(nil)
		require.NoError(t, err)
		half := append([]float64(nil), whole...)
		half[0] /= 2
		var fast, slow sched.Ledger
		fast.Open(set)
		slow.Open(set)
		type held struct {
			on     ranges.Set
			demand []float64
		}
		var all []held
		for range 40 {
			if len(all) > 0 && rng.IntN(2) == 0 {
				k := rng.IntN(len(all))
				fast.GiveAll(all[k].on, all[k].demand)
				for n, tasks := range all[k].on.All() {
					slow.Give(int(n), all[k].demand, int(tasks))
				}
				all = append(all[:k], all[k+1:]...)
			} else {
				h := held{pieces(rng, size), whole}
				if rng.IntN(4) == 0 {
					h.demand = half
				}
				for i := range h.on {
					node, resource, by := fast.OvercommitsOn(&h.on[i], h.demand)
					first := 0.0
					for n := h.on[i].From; n < h.on[i].To && first == 0; n++ {
						var r int
						if r, first = slow.Overcommits(int(n), h.demand, int(h.on[i].Tasks)); first > 0 {
							require.Equal(t, [2]int{int(n), r}, [2]int{node, resource}, seed)
						}
					}
					require.Equal(t, first, by, seed)
				}
				fast.TakeAll(h.on, h.demand)
				for n, tasks := range h.on.All() {
					slow.Take(int(n), h.demand, int(tasks))
				}
				all = append(all, h)
			}
			require.Equal(t, slow.Free(), fast.Free(), seed)
			requireSearch(t, set, &fast, whole)
			requireSearch(t, set, &slow, whole)
		}
	}
}

// requireSearch looks at every node to see whether the ledger has found the free ones.
func requireSearch(t *testing.T, set *sched.NodeSet, l *sched.Ledger, demand []float64) {
	t.Helper()
	if !l.Whole(demand) {
		return
	}
	require.Equal(t, l.Fits(demand, set.All()), l.Vacant())
	var want ranges.Set
	for n := range set.Len() {
		if l.Fit(demand, n) > 0 {
			want = want.Append(int32(n), 1)
		}
	}
	require.Equal(t, want, append(ranges.Set(nil), l.FirstVacant(l.Vacant())...))
	require.Equal(t, l.Vacant()/2, l.FirstVacant(l.Vacant()/2).Len())
}
