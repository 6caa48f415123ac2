package event_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim/event"
)

// oracle is the queue as a slice that is sorted again for every question.
type oracle struct {
	events   []oracleEvent
	sequence int
}

type oracleEvent struct {
	at       time.Duration
	class    uint8
	sequence int
	id       int
}

func (o *oracle) push(at time.Duration, class uint8, id int) {
	o.events = append(o.events, oracleEvent{at, class, o.sequence, id})
	o.sequence++
	slices.SortFunc(o.events, func(a, b oracleEvent) int {
		if a.at != b.at {
			return int(a.at - b.at)
		}
		if a.class != b.class {
			return int(a.class) - int(b.class)
		}
		return a.sequence - b.sequence
	})
}

func (o *oracle) remove(id int) (oracleEvent, bool) {
	i := slices.IndexFunc(o.events, func(e oracleEvent) bool { return e.id == id })
	if i < 0 {
		return oracleEvent{}, false
	}
	e := o.events[i]
	o.events = slices.Delete(o.events, i, i+1)
	return e, true
}

func TestQueueAgreesWithSortedSlice(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var q event.Queue[int]
		var o oracle
		handles := map[int]event.Handle{}
		cancels := rng.IntN(4) // some runs cancel a lot, so that sweeping happens
		for op := range 1500 {
			switch r := rng.IntN(10 + 5*cancels); {
			case r < 6:
				at, class := time.Duration(rng.IntN(40)), uint8(rng.IntN(3))
				handles[op] = q.Push(at, class, op)
				o.push(at, class, op)
			case r < 9:
				requireSamePop(t, &q, &o)
			case r == 9 || r%2 == 0:
				id := rng.IntN(op + 1)
				_, want := o.remove(id)
				require.Equal(t, want, q.Cancel(handles[id]), "cancel %d", id)
			default:
				id, at := rng.IntN(op+1), time.Duration(rng.IntN(40))
				e, want := o.remove(id)
				moved, ok := q.Retime(handles[id], at)
				require.Equal(t, want, ok, "retime %d", id)
				if ok {
					handles[id] = moved
					o.push(at, e.class, id)
				}
			}
			require.Equal(t, len(o.events), q.Len())
		}
		for q.Len() > 0 {
			requireSamePop(t, &q, &o)
		}
	}
}

func requireSamePop(t *testing.T, q *event.Queue[int], o *oracle) {
	t.Helper()
	at, class, peeked := q.Peek()
	got, ok := q.Pop()
	require.Equal(t, len(o.events) > 0, ok)
	require.Equal(t, ok, peeked)
	if !ok {
		return
	}
	want := o.events[0]
	o.events = o.events[1:]
	require.Equal(t, event.Event[int]{At: want.at, Class: want.class, Payload: want.id}, got)
	require.Equal(t, got.At, at)
	require.Equal(t, got.Class, class)
}

func TestHandlesDie(t *testing.T) {
	var q event.Queue[string]
	assert.False(t, q.Cancel(event.Handle{}), "the zero handle names nothing")
	first := q.Push(1, 0, "a")
	_, ok := q.Pop()
	require.True(t, ok)
	second := q.Push(2, 0, "b") // takes the same slot
	assert.False(t, q.Cancel(first))
	moved, ok := q.Retime(second, 3)
	require.True(t, ok)
	assert.False(t, q.Cancel(second))
	q.Reset()
	assert.False(t, q.Cancel(moved))
	assert.Zero(t, q.Len())
	_, ok = q.Pop()
	assert.False(t, ok)
}

func TestCoreMergesLanesInOrder(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 2))
		var core event.Core[int]
		lanes := []*event.Lane[int]{core.Lane(0), core.Lane(2)}
		delays := []time.Duration{3, 7}
		var o oracle
		for op := range 2000 {
			switch r := rng.IntN(8); {
			case r < 2:
				at, class := core.Now()+time.Duration(rng.IntN(20)), uint8(rng.IntN(3))
				core.At(at, class, op)
				o.push(at, class, op)
			case r < 4:
				lanes[r-2].After(delays[r-2], op)
				o.push(core.Now()+delays[r-2], uint8(2*(r-2)), op)
			default:
				got, ok := core.Next()
				require.Equal(t, len(o.events) > 0, ok)
				if ok {
					require.Equal(t, o.events[0].id, got.Payload)
					require.Equal(t, o.events[0].at, core.Now())
					o.events = o.events[1:]
				}
			}
			require.Equal(t, len(o.events), core.Len())
		}
	}
}

func TestCoreNeverRunsBackwards(t *testing.T) {
	var core event.Core[string]
	core.At(5, 0, "x")
	core.Advance(9)
	assert.Equal(t, time.Duration(5), core.Now(), "not past the next event")
	core.At(1, 0, "late")
	core.After(-4, 0, "negative")
	for want := range []int{0, 1, 2} {
		e, ok := core.Next()
		require.True(t, ok, want)
		assert.Equal(t, time.Duration(5), e.At)
	}
	core.Advance(8)
	assert.Equal(t, time.Duration(8), core.Now())
}

func ExampleCore() {
	var core event.Core[string]
	done := core.After(10*time.Second, 0, "done")
	core.After(4*time.Second, 0, "machine slows down")
	for e, ok := core.Next(); ok; e, ok = core.Next() {
		fmt.Println(e.At, e.Payload)
		if e.At == 4*time.Second {
			core.Retime(done, 16*time.Second)
		}
	}
	// Output:
	// 4s machine slows down
	// 16s done
}

// BenchmarkQueueHold is the classic hold model: pop one event, push its successor.
func BenchmarkQueueHold(b *testing.B) {
	for _, size := range []int{1_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 1))
			var q event.Queue[int32]
			q.Grow(size)
			for i := range size {
				q.Push(time.Duration(rng.Int64N(1e9)), 0, int32(i))
			}
			delays := make([]time.Duration, 1<<14)
			for i := range delays {
				delays[i] = time.Duration(rng.Int64N(2e9))
			}
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				e, _ := q.Pop()
				q.Push(e.At+delays[i&(1<<14-1)], 0, e.Payload)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

// BenchmarkQueueRetime moves a random one of many events, as machines with contention do.
func BenchmarkQueueRetime(b *testing.B) {
	const size = 100_000
	rng := rand.New(rand.NewPCG(1, 1))
	var q event.Queue[int32]
	handles := make([]event.Handle, size)
	for i := range handles {
		handles[i] = q.Push(time.Duration(rng.Int64N(1e12)), 0, int32(i))
	}
	for range 2 * size { // reach the steady size of the heap
		i := rng.IntN(size)
		handles[i], _ = q.Retime(handles[i], time.Duration(rng.Int64N(1e12)))
	}
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		i := rng.IntN(size)
		handles[i], _ = q.Retime(handles[i], time.Duration(rng.Int64N(1e12)))
	}
}

// BenchmarkCoreMessages is a ring of 100,000 workers that pass messages with a
// delay of 0.5 ms over a lane and run a task after each, as Sparrow and Eagle do.
func BenchmarkCoreMessages(b *testing.B) {
	const workers = 100_000
	type message struct{ to int32 }
	rng := rand.New(rand.NewPCG(1, 1))
	var core event.Core[message]
	network := core.Lane(1)
	for i := range workers {
		core.After(time.Duration(rng.Int64N(1e9)), 0, message{int32(i)})
	}
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		e, _ := core.Next()
		if e.Class == 0 {
			network.After(500*time.Microsecond, message{(e.Payload.to + 1) % workers})
		} else {
			core.After(time.Duration(rng.Int64N(1e9)), 0, e.Payload)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}
