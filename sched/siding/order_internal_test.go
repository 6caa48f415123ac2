package siding

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched/agent"
)

func TestWhatWaitsComesInOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var o order
	var all []waiting
	for range 5000 {
		if random.IntN(5) < 2 && len(all) > 0 {
			best := 0
			for i := range all {
				if all[i].before(&all[best]) {
					best = i
				}
			}
			require.Equal(t, all[best], o[0])
			o.pop()
			all = slices.Delete(all, best, best+1)
		} else {
			w := waiting{key: time.Duration(random.IntN(50)),
				Batch: agent.Batch{Job: int32(random.IntN(5)), Task: int32(len(all))}}
			o.push(w)
			all = append(all, w)
		}
		require.Len(t, o, len(all))
	}
}

func TestARankingKnowsTheHighest(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	r := newRanking(7)
	var counts [7]int32
	for range 5000 {
		i, count := random.IntN(7), int32(random.IntN(12)-2)
		r.set(i, count)
		counts[i] = max(count, 0)
		at, most := r.top()
		require.Equal(t, slices.Max(counts[:]), most)
		require.Equal(t, most, counts[at])
	}
}

// One that has outlived its estimate is predicted to take as long again as it has outlived it.
func TestPredictionOfWhatIsLeft(t *testing.T) {
	for _, c := range []struct{ estimate, attained, ran, left time.Duration }{
		{100, 0, 0, 100}, {100, 30, 20, 50}, {100, 30, 70, 0}, {100, 130, 20, 50}, {0, 0, 7, 7},
	} {
		r := run{estimate: c.estimate, attained: c.attained, since: 1000}
		assert.Equal(t, c.left, r.left(1000+c.ran))
	}
}

func TestRoomAfterTasks(t *testing.T) {
	r := Room{Free: 3, Reserved: 2, Pausable: 4}
	assert.Equal(t, Room{Free: 1, Reserved: 2, Pausable: 5}, r.after(1, 1))
	assert.Equal(t, Room{Reserved: 1, Pausable: 4}, r.after(0, 4))
	assert.Equal(t, Room{Pausable: 3}, r.after(1, 6))
	assert.Equal(t, Room{}, r.after(0, 60))
}
