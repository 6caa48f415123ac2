package agent_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

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

func TestAQueueIsInOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var q agent.Queue[int]
	next, first := 0, 0
	for range 2000 {
		if random.IntN(2) == 0 || q.Len() == 0 {
			q.Push(next)
			next++
		} else {
			require.Equal(t, first, *q.Front())
			require.Equal(t, first, q.Pop())
			first++
		}
		require.Equal(t, next-first, q.Len())
	}
}

func TestABatchIsEverySoManyth(t *testing.T) {
	b := agent.Batch{Job: 7, Task: 1, Step: 3, Count: 2}
	assert.Equal(t, agent.Task{Job: 7, Index: 1}, b.Take())
	assert.Equal(t, agent.Task{Job: 7, Index: 4}, b.Take())
	assert.Zero(t, b.Count)
}

// Tasks that come late wait where their job would, behind what that has in the queue.
func TestBatchesWaitInOrderOfTheirJobs(t *testing.T) {
	var q agent.Queue[agent.Batch]
	for i, of := range []int32{0, 0, 3, 5, 7, 4, 3, 9, 0} {
		agent.Enqueue(&q, agent.Batch{Job: int32(i), Of: of})
		if i == 0 {
			q.Pop() // so that the ring's beginning is not the queue's
		}
	}
	var jobs []int32
	for q.Len() > 0 {
		jobs = append(jobs, q.Pop().Job)
	}
	assert.Equal(t, []int32{1, 8, 2, 6, 5, 3, 4, 7}, jobs)
}

func TestWireReadsWhatWasAppended(t *testing.T) {
	b := agent.AppendNumbers([]byte{3, 200}, math.MinInt32, math.MaxInt64, agent.FloatBits(-0.1))
	w := agent.NewWire(b, 3)
	assert.Equal(t, byte(200), w.Byte(200))
	assert.Equal(t, int32(math.MinInt32), w.Int32())
	assert.Equal(t, time.Duration(math.MaxInt64), w.Duration())
	assert.Equal(t, -0.1, w.Float())
	assert.NoError(t, w.End())
	for what, read := range map[string]func() error{
		"version 3":     func() error { return agent.NewWire(b, 4).End() },
		"byte 200":      func() error { w := agent.NewWire(b, 3); w.Byte(199); return w.Err() },
		"bytes left":    func() error { return agent.NewWire(nil, 3).End() },
		"after the end": func() error { return agent.NewWire(b, 3).End() },
		"number 2147483": func() error {
			w := agent.NewWire(agent.AppendNumbers([]byte{3}, 1<<31), 3)
			w.Int32()
			return w.End()
		},
		"in place of": func() error { w := agent.NewWire([]byte{3, 255}, 3); w.Int32(); return w.End() },
		"no finite": func() error {
			w := agent.NewWire(agent.AppendNumbers([]byte{3}, agent.FloatBits(math.NaN())), 3)
			w.Float()
			return w.End()
		},
	} {
		err := read()
		require.ErrorIs(t, err, agent.ErrMessage, what)
		assert.ErrorContains(t, err, what)
	}
}
