package hydra

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
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

// priced is the cost of a queue in its order.
func priced(queue []task, at float64) cost {
	var sum cost
	for i := range queue {
		at += queue[i].length
		sum.late += max(0, at-queue[i].due)
		sum.done += queue[i].waited + at
	}
	return sum
}

// some makes tasks with so few different numbers that many are equal.
func some(rng *rand.Rand, count int) []task {
	queue := make([]task, count)
	for i := range queue {
		k := task{job: i, length: float64(1+rng.IntN(20)) / 3, due: math.Inf(1), waited: float64(rng.IntN(5)) / 7}
		if rng.IntN(2) == 0 {
			k.due = float64(rng.IntN(20))
		}
		queue[i] = k
	}
	return queue
}

// best puts a queue into its best order, as if its last task joined the others.
func best(o *orderer, queue []task, ready float64) cost {
	var short, late lane
	short.fill(queue[:len(queue)-1], ready, byLength)
	late.fill(short.tasks, ready, byDue)
	c := o.best(&short, &late, &queue[len(queue)-1])
	copy(queue, o.found)
	return c
}

// TestBranchAndBound: it finds the best order of every small queue, and the heuristic never a better one. Both find an
// order that costs what they say.
func TestBranchAndBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	worse := 0
	for range 300 {
		queue := some(rng, 1+rng.IntN(6))
		ready := float64(rng.IntN(10)) / 3
		want := least(queue, ready)
		exact, rough := orderer{limit: 1 << 20}, orderer{}
		again := append([]task{}, queue...)
		got := best(&exact, queue, ready)
		assert.InDelta(t, want.late, got.late, 1e-9)
		assert.InDelta(t, want.done, got.done, 1e-9)
		assert.Equal(t, got, priced(queue, ready), "the order costs what it is said to")
		h := best(&rough, again, ready)
		assert.Equal(t, h, priced(again, ready))
		require.GreaterOrEqual(t, h.late, want.late-1e-9)
		if h.late > want.late+1e-9 || h.done > want.done+1e-9 {
			worse++
		}
	}
	assert.Positive(t, worse, "else the branch and bound would be idle")
}

// slowly fills the queues by the rules as they are written: every pair is priced anew in every round.
func slowly(t *table) [][]task {
	queues, costs := make([][]task, len(t.machines)), make([]cost, len(t.machines))
	open := slices.Repeat([]bool{true}, len(t.jobs))
	for {
		on, job := -1, -1
		var adds cost
		var order []task
		for i := range queues {
			for j := range t.jobs {
				if !open[j] || !t.join(i, j).possible {
					continue
				}
				k := t.jobs[j]
				k.length = t.join(i, j).length
				queue := append(slices.Clone(queues[i]), k)
				c := ruled(queue, t.machines[i].ready).minus(costs[i])
				if on < 0 || c.late < adds.late || c.late == adds.late && c.done < adds.done {
					on, job, adds, order = i, j, c, queue
				}
			}
		}
		if on < 0 {
			return queues
		}
		queues[on], costs[on], open[job] = order, costs[on].plus(adds), false
	}
}

// ruled puts a queue into the best of its orders by runtime, by deadline and by modified due date.
func ruled(queue []task, ready float64) cost {
	slices.SortStableFunc(queue, func(a, b task) int { return cmp.Compare(a.length, b.length) })
	cheapest := priced(queue, ready)
	if cheapest.late == 0 {
		return cheapest
	}
	due := slices.Clone(queue)
	slices.SortStableFunc(due, func(a, b task) int { return cmp.Compare(a.due, b.due) })
	if c := priced(due, ready); c.less(cheapest) {
		cheapest = c
		copy(queue, due)
	}
	modified, at := slices.Clone(queue), ready
	for i := range modified {
		next := i
		for k := i + 1; k < len(modified); k++ {
			a, b := modified[k], modified[next]
			if cmp.Or(cmp.Compare(max(a.due, at+a.length), max(b.due, at+b.length)), cmp.Compare(a.length, b.length)) < 0 {
				next = k
			}
		}
		modified[i], modified[next] = modified[next], modified[i]
		at += modified[i].length
	}
	if c := priced(modified, ready); c.less(cheapest) {
		cheapest = c
		copy(queue, modified)
	}
	return cheapest
}

// TestQueuesAreTheRules: the queues are those of the rules, to the job, where nothing is late and where much is.
func TestQueuesAreTheRules(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var quick table // its buffers are used again
	late := 0
	for range 300 {
		ease := float64(1 + rng.IntN(6)) // of the deadlines
		machines := quick.empty(1 + rng.IntN(4))
		jobs := some(rng, rng.IntN(24))
		quick.resize(len(jobs))
		copy(quick.jobs, jobs)
		for i := range machines {
			machines[i].ready = float64(rng.IntN(10)) / 3
			for j := range jobs {
				if rng.IntN(5) > 0 {
					*quick.join(i, j) = join{length: float64(1+rng.IntN(3)) / 3 * jobs[j].length, possible: true}
				}
			}
		}
		for j := range quick.jobs {
			quick.jobs[j].due *= ease
		}
		want := slowly(&quick)
		require.NoError(t, quick.assign(t.Context()))
		for i, queue := range want {
			require.Equal(t, append([]task{}, queue...), append([]task{}, machines[i].queue...))
			if priced(queue, machines[i].ready).late > 0 {
				late++
			}
		}
	}
	assert.Greater(t, late, 50)
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
