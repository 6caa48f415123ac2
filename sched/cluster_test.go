package sched_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
	"github.com/hedgesched/hedge/sched/schedtest"
)

// watched is a loop over a cluster: next tells it of events and returns the nodes that its policy is shown then.
func watched(t *testing.T, nodes []sched.Node) (next func(events ...sched.Event) *sched.NodeSet) {
	t.Helper()
	var seen *sched.NodeSet
	c := schedtest.NewCluster(schedtest.At(0), nodes)
	loop := newLoop(t, c, &spy{Policy: baseline.NewFIFO(), see: func(s *sched.Snapshot) { seen = s.Nodes }},
		schedtest.Forecasts())
	now := 0.0
	return func(events ...sched.Event) *sched.NodeSet {
		for _, e := range events {
			c.Tell(e)
		}
		now++
		require.Empty(t, step(t, loop, c, now).Ignored)
		return seen
	}
}

func names(ns *sched.NodeSet) []string {
	out := make([]string, 0, ns.Len())
	for i := range ns.Len() {
		out = append(out, ns.Node(i).Name)
	}
	return out
}

// Nodes that tell of themselves again cost nothing; nodes that have changed do, even where the
// host changed the very maps that it had handed over.
func TestLoopNodeHeartbeats(t *testing.T) {
	node := sched.Node{Name: "n1", Labels: map[string]string{"rack": "r0"}, Capacity: sched.Resources{"cpu": 4}}
	up := func(n sched.Node) sched.Event { return sched.Event{Kind: sched.NodeUp, Node: &n} }
	next := watched(t, []sched.Node{{Name: "n0"}, node, {Name: "n2"}})
	first := next()
	same := next(up(node), up(sched.Node{Name: "n0"}),
		up(sched.Node{Name: "n1", Labels: map[string]string{"rack": "r0"}, Capacity: sched.Resources{"cpu": 4}}))
	assert.Same(t, first, same)
	node.Labels["rack"] = "r1"
	relabelled := next(up(node))
	require.NotSame(t, first, relabelled)
	assert.Equal(t, "r0", first.Node(1).Labels["rack"], "what policies were shown stays as it was")
	assert.Equal(t, "r1", relabelled.Node(1).Labels["rack"])
	node.Capacity["cpu"] = 8
	grown := next(up(node))
	require.NotSame(t, relabelled, grown)
	assert.Equal(t, 8.0, grown.Node(1).Capacity["cpu"])
	assert.Equal(t, []string{"n0", "n1", "n2"}, names(grown), "a change keeps the place")
}

func TestLoopNodesGoAndComeInOneBatch(t *testing.T) {
	next := watched(t, schedtest.Nodes(4, 1))
	event := func(kind sched.EventKind, name string) sched.Event {
		return sched.Event{Kind: kind, Node: &sched.Node{Name: name}}
	}
	got := next(event(sched.NodeDown, "n1"), event(sched.NodeUp, "n1"), event(sched.NodeDown, "n2"),
		event(sched.NodeUp, "n9"), event(sched.NodeDown, "n9"), event(sched.NodeDown, "n1"), event(sched.NodeUp, "n1"))
	assert.Equal(t, []string{"n0", "n3", "n1"}, names(got))
}

func BenchmarkLoopNodes(b *testing.B) {
	const many = 12_583 // the machines of the trace of Google's cluster of 2011
	events := func(kind sched.EventKind) []sched.Event {
		out := make([]sched.Event, many)
		for i := range out {
			out[i] = sched.Event{Kind: kind, Node: &sched.Node{
				Name: fmt.Sprint("n", i), Labels: map[string]string{"rack": fmt.Sprint("r", i%300)},
				Capacity: sched.Resources{"cpu": 1, "mem": 1},
			}}
		}
		return out
	}
	up, down := events(sched.NodeUp), events(sched.NodeDown)
	for _, bm := range []struct {
		name  string
		cycle [][]sched.Event
	}{{"heartbeat", [][]sched.Event{up[:1]}}, {"heartbeats of all", [][]sched.Event{up}},
		{"all go and come", [][]sched.Event{down, up}}} {
		b.Run(bm.name, func(b *testing.B) {
			r := &remote{events: up}
			loop, err := sched.NewLoop(r, baseline.NewFIFO(), schedtest.Forecasts())
			require.NoError(b, err)
			_, err = loop.Step(background, schedtest.At(0))
			require.NoError(b, err)
			b.ReportAllocs()
			for b.Loop() {
				for _, r.events = range bm.cycle {
					if _, err := loop.Step(background, schedtest.At(0)); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
