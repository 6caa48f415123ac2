package agent_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched/agent"
)

// Envelopes come in any order, some twice, some at first not: each message is new once.
func TestALinkDeliversEachMessageOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var from, to agent.Link[int]
		got := map[int]int{}
		var wire []agent.Envelope[int]
		for i := range 40 {
			wire = append(wire, from.Send(i))
		}
		for rounds := 0; len(wire) > 0; rounds++ {
			require.Less(t, rounds, 100)
			random.Shuffle(len(wire), func(i, j int) { wire[i], wire[j] = wire[j], wire[i] })
			for _, e := range append(wire, wire...) {
				if random.IntN(3) == 0 {
					continue // lost
				}
				if to.Receive(e.Number) {
					got[e.Msg]++
				}
				if random.IntN(3) > 0 {
					from.Acknowledged(e.Number)
				}
			}
			var left []agent.Envelope[int]
			for _, e := range wire {
				if again, ok := from.Waiting(e.Number); ok {
					assert.Equal(t, e, again)
					left = append(left, again)
				}
			}
			wire = left
		}
		assert.Len(t, got, 40)
		for m, n := range got {
			assert.Equal(t, 1, n, "message %d", m)
		}
	}
}

func TestRandomIsOfSeedAndAddress(t *testing.T) {
	draw := func(seed uint64, at agent.Addr) (n [4]int) {
		r := agent.NewRandom(seed, at)
		for i := range n {
			n[i] = r.Below(1 << 30)
		}
		return n
	}
	assert.Equal(t, draw(1, 2), draw(1, 2))
	assert.NotEqual(t, draw(1, 2), draw(1, 3))
	assert.NotEqual(t, draw(1, 2), draw(2, 2))
	r := agent.NewRandom(1, 1)
	var counts [7]int
	sum := 0.0
	for range 70_000 {
		counts[r.Below(7)]++
		u := r.Unit()
		require.True(t, u >= 0 && u < 1)
		sum += u
	}
	for _, n := range counts {
		assert.InDelta(t, 10_000, n, 500)
	}
	assert.InDelta(t, 35_000, sum, 500)
}
