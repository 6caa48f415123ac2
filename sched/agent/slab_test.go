package agent_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched/agent"
)

// A slab against a map: numbers are below Refs, no two things have the same, and each keeps what it is.
func TestSlab(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	var s agent.Slab[int]
	want := map[int32]int{}
	most := 0
	for i := range 5000 {
		if rng.IntN(2) == 0 {
			ref, x := s.Add()
			require.NotContains(t, want, ref)
			*x = i
			want[ref] = i
		} else if s.Len() > 0 {
			for ref := int32(rng.IntN(int(s.Refs()))); ; ref = (ref + 1) % s.Refs() {
				if x, ok := want[ref]; ok {
					require.Equal(t, x, *s.At(ref))
					delete(want, ref)
					s.Remove(ref)
					break
				}
			}
		}
		most = max(most, len(want))
		require.Equal(t, len(want), s.Len())
		require.Equal(t, most, int(s.Refs()), "numbers are used again")
	}
}
