package sim

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/ranges"
)

// Random starts and stops: a gang starts exactly where there is room, ends when its work is done, and what it held is
// free again.
func TestExclusiveKeepsItsBooks(t *testing.T) {
	nodes, err := sched.NewNodeSet(Nodes(5, 1, 3))
	require.NoError(t, err)
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 3))
		x := newExclusive(nodes)
		used, ends := make([]int32, nodes.Len()), map[int32]time.Duration{}
		gangs := make([]gang, 200)
		now := time.Duration(0)
		forget := func(id int32) {
			delete(ends, id)
			for node, tasks := range gangs[id].on.All() {
				used[node] -= tasks
			}
		}
		for i := range gangs {
			g := &gangs[i]
			*g = gang{id: int32(i), tasks: 1 + rng.IntN(4), demand: []float64{1}, work: new(Work)}
			*g.work = Runtime(time.Duration(rng.IntN(50)))
			on := ranges.Set{}.Append(int32(rng.IntN(5)), int32(g.tasks))
			if g.tasks > 1 && rng.IntN(2) == 0 {
				on = ranges.Set{}.Append(int32(rng.IntN(5)), 1).Append(int32(rng.IntN(5)), int32(g.tasks)-1)
			}
			want := slices.Clone(used)
			for node, tasks := range on.All() {
				want[node] += tasks
			}
			stretch := float64(1 + rng.IntN(2))
			err := x.start(now, g, on, stretch)
			if slices.Max(want) > 3 {
				require.ErrorIs(t, err, errNoRoom)
			} else {
				require.NoError(t, err)
				used, ends[g.id] = want, now+g.work.Runtime()*time.Duration(stretch)
			}
			if victim := int32(rng.IntN(i + 1)); rng.IntN(3) == 0 && ends[victim] > now {
				v := &gangs[victim]
				require.Equal(t, time.Duration(math.Round(float64(now-v.since)/v.stretch)), x.stop(now, v))
				forget(victim)
			}
			x.settle(now)
			for at, ok := x.next(); ok && at <= now+5; at, ok = x.next() {
				var out ended
				x.happen(at, &out)
				require.NotEmpty(t, out.completed)
				for _, id := range out.completed {
					require.Equal(t, at, ends[id])
					forget(id)
				}
			}
			now += 5
			for _, end := range ends {
				require.Greater(t, end, now)
			}
			for n, u := range used {
				require.Equal(t, float64(3-u), x.ledger.Row(n)[0])
			}
		}
	}
}

func TestExclusiveStartsFromWorkDone(t *testing.T) {
	nodes, err := sched.NewNodeSet(Nodes(1, 1, 1))
	work := Runtime(100)
	require.NoError(t, err)
	x, on := newExclusive(nodes), ranges.Set{{From: 0, To: 1, Tasks: 1}}
	g := &gang{tasks: 1, demand: []float64{1}, work: &work, done: 40}
	require.NoError(t, x.start(7, g, on, 1.5))
	at, ok := x.next()
	require.True(t, ok)
	require.Equal(t, time.Duration(7+90), at)
	require.Equal(t, time.Duration(20), x.stop(7+30, g))
	_, ok = x.next()
	require.False(t, ok)
	require.ErrorIs(t, x.start(math.MaxInt64-50, g, on, 1), ErrTimeOverflow)
}
