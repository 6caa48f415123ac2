package sched_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
	"github.com/hedgesched/hedge/sched/schedtest"
)

// TestLedger takes and gives at random, on clusters of changing size, and compares with sums over what is held.
func TestLedger(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	var l sched.Ledger
	for range 200 {
		nodes := make([]sched.Node, rng.IntN(6))
		for i := range nodes {
			nodes[i] = sched.Node{Name: fmt.Sprint(i), Capacity: sched.Resources{"cpu": float64(rng.IntN(20)), "mem": 9}}
		}
		set, err := sched.NewNodeSet(nodes)
		require.NoError(t, err)
		want := slices.Clone(set.Capacity())
		if rng.IntN(2) == 0 {
			l.Open(set)
		} else {
			for i := range want {
				want[i] = float64(rng.IntN(10))
			}
			before := slices.Clone(want)
			l.Reset(set, before)
			defer func(want []float64) { require.Equal(t, want, before, "the ledger leaves it as it is") }(slices.Clone(want))
		}
		type taken struct {
			node, tasks int
			demand      []float64
		}
		var held []taken
		for range 40 * min(1, len(nodes)) {
			x := taken{rng.IntN(len(nodes)), 1 + rng.IntN(3), []float64{float64(rng.IntN(4)), float64(rng.IntN(3))}}
			sign := -1.0
			if len(held) > 0 && rng.IntN(2) == 0 {
				sign, x = 1, held[0]
				held = held[1:]
				l.Give(x.node, x.demand, x.tasks)
			} else {
				r, by := l.Overcommits(x.node, x.demand, x.tasks)
				require.Equal(t, by > 0, l.Fit(x.demand, x.node) < x.tasks && slices.Max(x.demand) > 0)
				if by > 0 {
					require.Equal(t, float64(x.tasks)*x.demand[r]-want[2*x.node+r], by)
				}
				held = append(held, x)
				l.Take(x.node, x.demand, x.tasks)
			}
			for r, d := range x.demand {
				want[2*x.node+r] += sign * float64(x.tasks) * d
			}
			require.Equal(t, want[2*x.node:2*x.node+2], l.Row(x.node))
		}
		require.Equal(t, len(want), len(l.Free()))
		if len(want) > 0 {
			require.Equal(t, want, l.Free())
		}
	}
}

// Sums of fractions are rounded. A node that was opened empty and is empty again is wholly free all the same.
func TestLedgerIsExactWhenIdle(t *testing.T) {
	set, err := sched.NewNodeSet([]sched.Node{{Name: "a", Capacity: sched.Resources{"cpu": 1}}})
	require.NoError(t, err)
	demands, sum := []float64{0.3, 0.2, 0.2}, 1.0
	var l sched.Ledger
	l.Open(set)
	for _, d := range demands {
		l.Take(0, []float64{d}, 1)
		sum -= d
	}
	assert.True(t, l.Lacks(0, 0, 0.1, 4))
	assert.False(t, l.Lacks(0, 0, 0.1, 3), "rounding costs no task")
	for _, d := range demands {
		l.Give(0, []float64{d}, 1)
		sum += d
	}
	assert.NotEqual(t, 1.0, sum, "the sum is rounded")
	assert.Equal(t, []float64{1}, l.Free())
}

func ExampleLedger() {
	nodes, err := sched.NewNodeSet([]sched.Node{{Name: "a", Capacity: sched.Resources{"cpu": 8}}, {Name: "b"}})
	if err != nil {
		panic(err)
	}
	demand, err := nodes.Demand(sched.Resources{"cpu": 3})
	if err != nil {
		panic(err)
	}
	var l sched.Ledger
	l.Open(nodes)
	fmt.Println(l.Fits(demand, nodes.All()), "tasks fit")
	l.Take(0, demand, 1)
	fmt.Println(l.Fits(demand, nodes.All()), "more fits beside it, and", l.Row(0)[0], "cores are left")
	// Output:
	// 2 tasks fit
	// 1 more fits beside it, and 5 cores are left
}

// What a running job holds is the same by a loop's account and worked out anew, also while nodes go and come back.
func TestHeld(t *testing.T) {
	c := schedtest.NewCluster(schedtest.At(0), schedtest.Nodes(4, 2))
	loop, err := sched.NewLoop(c, baseline.NewFIFO(), schedtest.Forecasts())
	require.NoError(t, err)
	c.Submit(schedtest.Job("a", 3).Job(), 100)
	ran := 0
	for i := range 6 {
		switch i {
		case 2:
			c.NodeDown("n1")
		case 4:
			c.NodeUp(schedtest.Nodes(4, 2)[1])
		}
		cycle, err := loop.Step(background, schedtest.At(float64(i)))
		require.NoError(t, err)
		s := cycle.Snapshot
		for k := range s.Running {
			demand, on := s.Nodes.Held(&s.Running[k])
			again, where := s.Nodes.Held(&s.Clone().Running[k])
			require.Equal(t, again, demand)
			require.Equal(t, where, on)
			require.Len(t, on, len(s.Running[k].Nodes))
			for x, n := range on {
				ran++
				require.Equal(t, s.Running[k].Nodes[x].Node, s.Nodes.Node(int(n)).Name)
			}
		}
	}
	require.Positive(t, ran)

	set, err := sched.NewNodeSet(schedtest.Nodes(2, 1))
	require.NoError(t, err)
	job := schedtest.Job("b", 2).Job()
	_, on := set.Held(&sched.Running{Job: job, Nodes: []sched.NodeTasks{{Node: "gone", Tasks: 1}, {Node: "n1", Tasks: 1}}})
	require.Equal(t, []int32{-1, 1}, on)
	job = schedtest.Job("c", 1).Demand(sched.Resources{"gpu": 1}).Job()
	demand, _ := set.Held(&sched.Running{Job: job, Nodes: []sched.NodeTasks{{Node: "n1", Tasks: 1}}})
	require.Nil(t, demand)
}
