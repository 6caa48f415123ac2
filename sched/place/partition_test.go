package place_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/place"
	"github.com/hedgesched/hedge/sched/schedtest"
)

// randomSets are sets over two labels of a random cluster.
func randomSets(rng *rand.Rand, n int) []sched.EquivalenceSet {
	out := make([]sched.EquivalenceSet, n)
	for i := range out {
		var racks []string
		for r := range 6 {
			if rng.IntN(3) > 0 {
				racks = append(racks, fmt.Sprintf("r%d", r))
			}
		}
		out[i] = sched.NodesWith("rack", racks...)
		if rng.IntN(3) == 0 {
			out[i] = out[i].And(sched.NodesWith("gpu"))
		}
	}
	return out
}

func randomCluster(t *testing.T, rng *rand.Rand) *sched.NodeSet {
	t.Helper()
	nodes := make([]sched.Node, 1+rng.IntN(150))
	for i := range nodes {
		labels := map[string]string{"rack": fmt.Sprintf("r%d", rng.IntN(6))}
		if rng.IntN(4) == 0 {
			labels["gpu"] = "a100"
		}
		nodes[i] = sched.Node{Name: fmt.Sprintf("n%d", i), Labels: labels,
			Capacity: sched.Resources{"cpu": float64(8 * (1 + rng.IntN(2)))}}
	}
	ns, err := sched.NewNodeSet(nodes)
	require.NoError(t, err)
	return ns
}

// TestRefineIsCommonRefinement compares with the definition: two nodes share
// a partition exactly when the same sets hold them and their capacities are equal.
func TestRefineIsCommonRefinement(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 0))
		ns := randomCluster(t, rng)
		sets := randomSets(rng, rng.IntN(6))
		p := place.Refine(ns, sets)
		first := map[string]int{}
		names := map[string]bool{}
		for i := range ns.Len() {
			sign := fmt.Sprint(ns.Node(i).Capacity["cpu"])
			for _, s := range sets {
				sign += fmt.Sprint(s.Matches(ns.Node(i).Labels))
			}
			if x, ok := first[sign]; ok {
				require.Equal(t, x, p.Of(i))
			} else {
				first[sign] = p.Of(i)
			}
			require.Contains(t, p.Nodes(p.Of(i)), int32(i))
		}
		require.Equal(t, len(first), p.Len())
		for x := range p.Len() {
			assert.False(t, names[p.Name(x)], "name %q is not unique", p.Name(x))
			names[p.Name(x)] = true
		}
		for _, s := range append(sets, sched.AnyNode()) {
			var nodes []int32
			for _, x := range p.Members(s) {
				nodes = append(nodes, p.Nodes(x)...)
			}
			require.ElementsMatch(t, ns.NodesOf(s), nodes, s.String())
		}
	}
}

func TestRefinerKeepsThePartitioning(t *testing.T) {
	nodes := schedtest.Nodes(12, 4)
	ns, err := sched.NewNodeSet(nodes)
	require.NoError(t, err)
	r0, r01, r23 := sched.NodesWith("rack", "r0"), sched.NodesWith("rack", "r0", "r1"), sched.NodesWith("rack", "r2", "r3")
	var r place.Refiner
	none := r.Refine(ns, nil)
	assert.Equal(t, 1, none.Len())
	two := r.Refine(ns, []sched.EquivalenceSet{r01})
	assert.Equal(t, 2, two.Len())
	assert.Same(t, two, r.Refine(ns, []sched.EquivalenceSet{r23, sched.AnyNode()}), "a union of partitions")
	assert.Same(t, two, r.Refine(ns, nil), "fewer sets")
	three := r.Refine(ns, []sched.EquivalenceSet{r0})
	assert.Equal(t, 3, three.Len())
	assert.Equal(t, []int{0, 1}, three.Members(r01))
	assert.Equal(t, []int{2}, three.Members(r23))
	assert.Equal(t, []int{0}, three.Members(sched.NodesWith("rack", "r0", "r2")), "what lies wholly inside")

	other, err := sched.NewNodeSet(nodes)
	require.NoError(t, err)
	assert.Equal(t, 1, r.Refine(other, nil).Len(), "other nodes start afresh")
}

func TestRefinerForgets(t *testing.T) {
	nodes := make([]sched.Node, 3000)
	for i := range nodes {
		nodes[i] = sched.Node{Name: fmt.Sprint(i), Labels: map[string]string{"host": fmt.Sprint(i)}}
	}
	ns, err := sched.NewNodeSet(nodes)
	require.NoError(t, err)
	var r place.Refiner
	most := 0
	for i := range 2500 {
		most = max(most, r.Refine(ns, []sched.EquivalenceSet{sched.NodesWith("host", fmt.Sprint(i))}).Len())
	}
	assert.Less(t, most, 1100, "sets of jobs long gone do not pile up")
}

func TestPartitionNames(t *testing.T) {
	ns, err := sched.NewNodeSet(schedtest.Nodes(8, 4))
	require.NoError(t, err)
	p := place.Refine(ns, []sched.EquivalenceSet{sched.NodesWith("rack", "r0"), sched.NodesWith("rack", "r1", "r2")})
	assert.Equal(t, []string{"rack=r0", "rack=r1|r2", "rack=r3"}, []string{p.Name(0), p.Name(1), p.Name(2)})
	assert.Equal(t, "any", place.Refine(ns, nil).Name(0))
}
