package longset_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched/eagle/longset"
)

func TestFreeNodesAreCountedAndFound(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, nodes := range []int{1, 63, 64, 65, 300} {
		set := longset.New(nodes)
		for range 20 {
			set.Put(random.IntN(nodes), random.IntN(3) > 0)
			snapshot := set.Snapshot()
			k := 0
			for node := range nodes {
				require.Equal(t, set.Has(node), snapshot.Has(node))
				if !set.Has(node) {
					require.Equal(t, node, snapshot.Node(k), "node %d of %d", k, nodes)
					k++
				}
			}
			require.Equal(t, k, snapshot.Free())
		}
	}
}

func TestSnapshotsDoNotChangeAndAreShared(t *testing.T) {
	set := longset.New(100)
	set.Put(7, true)
	first := set.Snapshot()
	set.Put(7, true)
	assert.Same(t, first, set.Snapshot(), "nothing has changed")
	set.Put(7, false)
	assert.True(t, first.Has(7))
	assert.False(t, set.Snapshot().Has(7))
}

func TestSnapshotsSurviveTheirBytes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, nodes := range []int{1, 64, 65, 300} {
		set := longset.New(nodes)
		for range nodes / 2 {
			set.Put(random.IntN(nodes), true)
		}
		b := set.Snapshot().Append(nil)
		again, err := longset.Read(b)
		require.NoError(t, err)
		require.Equal(t, set.Snapshot(), again)
		for cut := range b {
			_, err := longset.Read(b[:cut])
			require.ErrorIs(t, err, longset.ErrSnapshot)
		}
		if nodes%64 > 0 {
			b[len(b)-1] |= 0x80
			_, err = longset.Read(b)
			require.ErrorIs(t, err, longset.ErrSnapshot, "a node that there is not")
		}
	}
}
