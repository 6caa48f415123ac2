package hydra

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/schedtest"
)

func TestRefuses(t *testing.T) {
	_, err := New(Config{Nodes: -1})
	require.ErrorIs(t, err, ErrConfig)
}

func TestConformance(t *testing.T) {
	schedtest.RunPolicy(t, func() sched.Policy {
		p, err := New(Config{})
		require.NoError(t, err)
		return p
	})
}

// TestEndsWithItsContext: queues take long to make, so a plan that nobody waits for is not made.
func TestEndsWithItsContext(t *testing.T) {
	s, err := schedtest.Snapshot(schedtest.Nodes(1, 1)).Pending(schedtest.Job("a", 1).Runs(10)).Build()
	require.NoError(t, err)
	p, err := New(Config{})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = p.Plan(ctx, s)
	require.ErrorIs(t, err, context.Canceled)
}

// least is the cost of the best order, by trying all.
func least(queue []task, at float64) cost {
	if len(queue) == 0 {
		return cost{}
	}
	best := cost{math.Inf(1), math.Inf(1)}
	for i := range queue {
		rest := append(append([]task{}, queue[:i]...), queue[i+1:]...)
		end := at + queue[i].length
		c := cost{max(0, end-queue[i].due), queue[i].waited + end}
		if math.IsInf(queue[i].due, 1) {
			c.late = 0
		}
		if c = c.plus(least(rest, end)); c.less(best) {
			best = c
		}
	}
	return best
}

// TestBranchAndBound: it finds the best order of every small queue, and the heuristic never a better one.
func TestBranchAndBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	worse := 0
	for range 300 {
		var queue []task
		for i := range 1 + rng.IntN(6) {
			k := task{job: i, length: float64(1 + rng.IntN(20)), due: math.Inf(1), waited: float64(rng.IntN(5))}
			if rng.IntN(2) == 0 {
				k.due = float64(rng.IntN(60))
			}
			queue = append(queue, k)
		}
		ready := float64(rng.IntN(10))
		want := least(queue, ready)
		exact, rough := orderer{limit: 1 << 20}, orderer{}
		again := append([]task{}, queue...)
		got := exact.best(queue, ready)
		assert.Equal(t, want, got)
		assert.Equal(t, want, price(queue, ready), "the order costs what it is said to")
		h := rough.best(again, ready)
		require.False(t, h.less(want))
		if want.less(h) {
			worse++
		}
	}
	assert.Positive(t, worse, "else the branch and bound would be idle")
}

// TestFasterMachineForTheUrgent: by hand. Two machines, fast and slow. Round 1 gives the fast one to the short job,
// which adds 50 s. In round 2 the job with a deadline is in time on the fast one alone, and goes before the short job
// there, which is then to end after 150 s.
func TestFasterMachineForTheUrgent(t *testing.T) {
	speeds := []sched.Speed{{On: sched.NodesWith("rack", "r0"), Factor: 1}, {Factor: 0.5}}
	s, err := schedtest.Snapshot(schedtest.Nodes(2, 2)).
		Pending(schedtest.Job("short", 1).Runs(50).Speeds(speeds...)).
		Pending(schedtest.Job("urgent", 1).Runs(100).Deadline(110).Speeds(speeds...)).Build()
	require.NoError(t, err)
	p, err := New(Config{})
	require.NoError(t, err)
	plan, err := p.Plan(context.Background(), s)
	require.NoError(t, err)
	require.NoError(t, sched.CheckPlan(s, plan))
	on := map[string]string{}
	for _, d := range plan.Decisions {
		on[d.Job] = s.Nodes.Node(0).Name
		if i, _ := s.Nodes.Index(d.Nodes[0].Node); s.Nodes.Node(i).Labels["rack"] != "r0" {
			on[d.Job] = "slow"
		}
	}
	assert.Equal(t, map[string]string{"urgent": s.Nodes.Node(0).Name}, on, "short waits for the fast one")
}

// The shorter job is first in the queue of the one machine.
func Example() {
	snapshot, err := schedtest.Snapshot(schedtest.Nodes(1, 1)).
		Pending(schedtest.Job("long", 1).Runs(100)).Pending(schedtest.Job("short", 1).Runs(50)).Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := New(Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := p.Plan(context.Background(), snapshot)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range plan.Decisions {
		fmt.Println(d.Kind, d.Job)
	}
	// Output: start short
}
