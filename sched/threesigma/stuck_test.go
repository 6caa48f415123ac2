package threesigma_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/threesigma"
)

// splinters is a cluster of nodes of 4 cpus, half of each held by a job of its own that ends in one of the next slots
// of a minute, and gangs of 3 cpus a task that have room in sum and on no node. Every gang's priority is one of levels.
func splinters(t testing.TB, nodes, gangs, levels int) *sched.Snapshot {
	t.Helper()
	list := make([]sched.Node, nodes)
	s := &sched.Snapshot{Now: epoch}
	for i := range list {
		list[i] = sched.Node{Name: fmt.Sprintf("n%d", i), Capacity: sched.Resources{"cpu": 4}}
		j := be(t, fmt.Sprintf("old%d", i), 1)
		j.Demand, j.Priority = sched.Resources{"cpu": 2}, levels
		s.Running = append(s.Running, sched.Running{Job: j, Prediction: forecast(point(t, float64(60*(1+i%10)))),
			Started: epoch,
			Nodes:   []sched.NodeTasks{{Node: list[i].Name, Tasks: 1}}})
		s.Free = append(s.Free, 2)
	}
	var err error
	s.Nodes, err = sched.NewNodeSet(list)
	require.NoError(t, err)
	for i := range gangs {
		j := eager(t, fmt.Sprintf("gang%d", i), 1+i%nodes)
		j.Demand, j.Priority = sched.Resources{"cpu": 3}, i%levels
		s.Pending = append(s.Pending, sched.Pending{Job: j, Prediction: forecast(point(t, 600))})
	}
	return s
}

// TestStuckWaitForNodes: gangs that have no room on single nodes are planned for when enough nodes have it. A tenth of
// the nodes become free each minute.
func TestStuckWaitForNodes(t *testing.T) {
	for _, levels := range []int{1, 3} {
		s := splinters(t, 20, 20, levels)
		p := policy(t, threesigma.Config{Slot: time.Minute})
		plan(t, p, s)
		earliest := epoch.Add(24 * time.Hour)
		for id, d := range plan(t, p, s) {
			require.Equal(t, sched.Defer, d.Kind, id)
			var tasks int
			for _, w := range s.Pending {
				if w.Job.ID == id {
					tasks = w.Job.Tasks
				}
			}
			if !d.Start.IsZero() {
				assert.GreaterOrEqual(t, d.Start, epoch.Add(time.Duration((tasks+1)/2)*time.Minute), "%s of %d tasks", id, tasks)
				if d.Start.Before(earliest) {
					earliest = d.Start
				}
			}
		}
		assert.Equal(t, epoch.Add(time.Minute), earliest)
	}
}

// BenchmarkStuck is a cycle in which many gangs wait for nodes to become whole.
func BenchmarkStuck(b *testing.B) {
	for _, levels := range []int{1, 5} {
		b.Run(fmt.Sprintf("priorities=%d", levels), func(b *testing.B) {
			s := splinters(b, 2000, 200, levels)
			p := policy(b, threesigma.Config{Slot: time.Minute})
			plan(b, p, s)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Plan(context.Background(), s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
