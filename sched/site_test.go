package sched_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
)

// TestSite: a site is what NodesOf and Holds say, and the same value whenever it is asked for, by many at a time.
func TestSite(t *testing.T) {
	nodes := make([]sched.Node, 100)
	for i := range nodes {
		nodes[i] = sched.Node{Name: fmt.Sprint(i), Labels: map[string]string{"rack": fmt.Sprint(i % 7)},
			Capacity: sched.Resources{"cpu": float64(1 + i%5), "mem": 8}}
	}
	ns, err := sched.NewNodeSet(nodes)
	require.NoError(t, err)
	first := make([]*sched.Site, 60)
	var all sync.WaitGroup
	ask := func(seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 2))
		for range 500 {
			i := rng.IntN(len(first))
			set := sched.NodesWith("rack", fmt.Sprint(i%3), fmt.Sprint(i%4))
			s := ns.Site(set, []float64{float64(i / 12), 2})
			assert.Equal(t, ns.NodesOf(set), s.Nodes)
			assert.Equal(t, ns.Holds(s.Demand, s.Nodes), s.Holds)
			assert.Same(t, first[i], s)
		}
	}
	for i := range first {
		first[i] = ns.Site(sched.NodesWith("rack", fmt.Sprint(i%3), fmt.Sprint(i%4)), []float64{float64(i / 12), 2})
	}
	for seed := range uint64(4) {
		all.Go(func() { ask(seed) })
	}
	all.Wait()
	assert.NotSame(t, ns.Site(sched.AnyNode(), []float64{1, 0}), ns.Site(sched.AnyNode(), []float64{0, 1}))
}

// A cluster remembers a bounded number of sites.
func TestSitesAreForgotten(t *testing.T) {
	ns, err := sched.NewNodeSet([]sched.Node{{Name: "a", Capacity: sched.Resources{"cpu": 8}}})
	require.NoError(t, err)
	first := ns.Site(sched.AnyNode(), []float64{1})
	for i := range 1 << 14 {
		ns.Site(sched.AnyNode(), []float64{2 + float64(i)})
	}
	again := ns.Site(sched.AnyNode(), []float64{1})
	assert.NotSame(t, first, again)
	assert.Equal(t, first, again)
}
