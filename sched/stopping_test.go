package sched_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/schedtest"
)

// Others than the loop stop jobs: their room is not free until they have stopped, and no policy is shown them.
func TestLoopIsToldOfStops(t *testing.T) {
	one := func(names ...string) (out []sched.NodeTasks) {
		for _, n := range names {
			out = append(out, sched.NodeTasks{Node: n, Tasks: 1})
		}
		return out
	}
	for _, tt := range []struct {
		name             string
		events           []sched.Event
		pending, running []string
		free             []float64
		ignored          int
	}{
		{"a running job", []sched.Event{{Kind: sched.Stopping, ID: "other"}}, nil, []string{"high"}, []float64{-1, 0, 0}, 0},
		{"a running job, elsewhere", []sched.Event{{Kind: sched.Stopping, ID: "high", Nodes: one("n1", "n2")}}, nil,
			[]string{"other"}, []float64{0, 0, -1}, 0},
		{"one that stops already", []sched.Event{{Kind: sched.Stopping, ID: "low"}}, nil, []string{"high", "other"},
			[]float64{-1, 0, 0}, 0},
		{"and has stopped", []sched.Event{{Kind: sched.Stopping, ID: "other"}, {Kind: sched.Preempted, ID: "other"}},
			[]string{"other"}, []string{"high"}, []float64{-1, 0, 1}, 0},
		{"and is cancelled", []sched.Event{{Kind: sched.Stopping, ID: "other"}, {Kind: sched.Withdrawn, ID: "other"}}, nil,
			[]string{"high"}, []float64{-1, 0, 1}, 0},
		{"and has finished", []sched.Event{{Kind: sched.Stopping, ID: "other"},
			{Kind: sched.Finished, ID: "other", Runtime: time.Second}},
			nil, []string{"high"}, []float64{-1, 0, 1}, 0},
		{"and goes on", []sched.Event{{Kind: sched.Stopping, ID: "other"}, {Kind: sched.PreemptFailed, ID: "other"}}, nil,
			[]string{"high", "other"}, []float64{-1, 0, 0}, 0},
		{"a pending job that holds room",
			[]sched.Event{{Kind: sched.StartFailed, ID: "other"}, {Kind: sched.Stopping, ID: "other", Nodes: one("n2")}},
			nil, []string{"high"}, []float64{-1, 0, 0}, 0},
		{"a delayed job that holds room", []sched.Event{
			{Kind: sched.StartFailed, ID: "other", NotBefore: schedtest.At(100)},
			{Kind: sched.Stopping, ID: "other", Nodes: one("n2")}},
			nil, []string{"high"}, []float64{-1, 0, 0}, 0},
		{"a pending job that holds none",
			[]sched.Event{{Kind: sched.StartFailed, ID: "other"}, {Kind: sched.Stopping, ID: "other"}},
			[]string{"other"}, []string{"high"}, []float64{-1, 0, 1}, 1},
		{"no job", []sched.Event{{Kind: sched.Stopping, ID: "ghost"}}, nil, []string{"high", "other"}, []float64{-1, 0, 0},
			1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cluster, next := applied(t, nil)
			cluster.events = tt.events
			s, cycle := next()
			assert.Len(t, cycle.Ignored, tt.ignored)
			pending, running := ids(s)
			assert.Equal(t, tt.pending, pending)
			assert.Equal(t, tt.running, running)
			assert.Equal(t, tt.free, s.Free)
			cluster.events = []sched.Event{{Kind: sched.NodeUp, Node: &sched.Node{Name: "n9"}}}
			s, _ = next()
			assert.Equal(t, tt.free, s.Free[:3], "the same on the new cluster")
		})
	}
}
