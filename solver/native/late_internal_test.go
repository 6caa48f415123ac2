package native

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/internal/pack"
	"github.com/hedgesched/hedge/solver/native/internal/nativetest"
	"github.com/hedgesched/hedge/solver/solvertest"
)

// watched is a context that notes the work that is done between looks at it, and ends at the last of them.
type watched struct {
	context.Context
	w       *worker
	looks   int // how many there are to be; 0 is any number
	seen    int
	last    int64 // ops at the last look
	longest int64 // ops between two looks
	began   bool  // to search
}

func (c *watched) Err() error {
	c.seen++
	if spent := c.w.budget.Spent(); c.began {
		c.longest = max(c.longest, spent-c.last)
		c.last = spent
	}
	if c.looks > 0 && c.seen >= c.looks {
		return context.Canceled
	}
	return nil
}

// watch solves with that many looks at the context and returns it, and how much work was done after the last one, in
// units.
func watch(t *testing.T, p *solver.Problem, opts solver.Options, looks int) (c *watched, after int64) {
	c = &watched{Context: context.Background(), w: newWorker(), looks: looks}
	w := c.w
	w.begin(c, p, opts, Config{}, func(*solver.Solution) {})
	c.began, c.last = true, w.budget.Spent()
	end := c.last
	w.run()
	if looks > 0 && c.seen >= looks {
		require.Error(t, w.budget.Err())
		end = w.budget.Spent()
	}
	require.NoError(t, solver.Verify(p, w.known.Best.Solution(name, w.stop()), opts.Splits))
	return c, (max(end, c.last) - c.last) / pack.OpsPerUnit
}

// wide is jobs that may go to all of many partitions.
func wide(jobs, options, parts int) *solver.Problem {
	r := rand.New(rand.NewPCG(1, 1))
	p := &solver.Problem{SlotSeconds: 1, Slots: 4, Resources: []string{"node"}}
	var all []int
	for x := range parts {
		all = append(all, x)
		p.Partitions = append(p.Partitions, solver.Partition{Name: fmt.Sprint(x)})
		p.Capacity = append(p.Capacity, [][]float64{{float64(r.IntN(10)), 10, 10, 10}})
	}
	for j := range jobs {
		list := make([]solver.Option, options)
		for s := range list {
			list[s] = solver.Option{Start: s % 4, Count: 1 + r.IntN(parts), Demand: []float64{1 + float64(r.Float64())},
				Partitions: all,
				Usage:      []float64{1, .9, .8, .7}[:4-s%4], Value: 1 + float64(100*r.Float64())}
		}
		p.Jobs = append(p.Jobs, solver.Job{ID: fmt.Sprint(j), Options: list})
	}
	return p
}

// full is jobs with many options that find no room but by preempting what is worth more than they are.
func full(jobs int) *solver.Problem {
	p := wide(jobs, 20, 10)
	for x := range p.Partitions {
		p.Capacity[x] = [][]float64{{0.5, 0.5, 0.5, 0.5}}
		p.Running = append(p.Running, solver.Running{ID: fmt.Sprint("r", x), PreemptCost: 1e6, Demand: []float64{1},
			Usage: []float64{1, 1, 1, 1}, Alloc: []solver.Alloc{{Partition: x, Count: 100}}})
	}
	return p
}

// The time is looked at all the while: between two looks there is little work, whatever the shape.
func TestLooksAreNeverFarApart(t *testing.T) {
	nativetest.Sequential(t)
	for name, p := range map[string]*solver.Problem{
		"2,000 partitions": wide(100, 4, 2000),
		"10,000 jobs":      full(10_000),
		"1,000 running jobs": solvertest.CycleOf(1,
			solvertest.Shape{Jobs: 1000, Running: 1000, Partitions: 20, Nodes: 5000, Slots: 24, Resources: 2}),
		"60 jobs of 1,000 starts": long(60, 1000),
		"a proof":                 solvertest.Cycle(3, 40, 10),
		"3,000 to be preempted": solvertest.CycleOf(1,
			solvertest.Shape{Jobs: 40, Running: 3000, Partitions: 20, Nodes: 5000, Slots: 24, Resources: 2}),
		"40 jobs of 100 starts": solvertest.CycleOf(2, solvertest.Shape{Jobs: 40, Partitions: 8, Slots: 100}),
		"cuts": solvertest.CycleOf(11, solvertest.Shape{Jobs: 1000, Running: 100, Partitions: 16,
			Nodes: 6000, Widest: 0.01, Slots: 16, Resources: 1}),
	} {
		t.Run(name, func(t *testing.T) {
			opts := solver.Options{Work: 150_000, Gap: -1}
			c, _ := watch(t, p, opts, 0)
			t.Logf("%d looks, %d units at most between them, %d in all", c.seen, c.longest/pack.OpsPerUnit,
				c.w.budget.Spent()/pack.OpsPerUnit)
			assert.LessOrEqual(t, c.longest/pack.OpsPerUnit, int64(mostUnseen), "units between looks")
			further := 3
			if testing.Short() {
				further = 100 // for the race detector, under which all of it takes minutes
			}
			for looks := 1; looks < c.seen; looks = further*looks + 1 {
				c, after := watch(t, p, opts, looks)
				assert.LessOrEqual(t, after, int64(mostUnseen), "units after look %d of %d", looks, c.seen)
			}
		})
	}
}

// mostUnseen is how many units, each about a microsecond, may go by between two looks, and after the last one.
const mostUnseen = 2000

// long is jobs that may start in any of many slots.
func long(jobs, slots int) *solver.Problem {
	p := &solver.Problem{SlotSeconds: 1, Slots: slots, Resources: []string{"node"},
		Partitions: []solver.Partition{{Name: "x"}}, Capacity: [][][]float64{{make([]float64, slots)}}}
	for t := range slots {
		p.Capacity[0][0][t] = 4
	}
	for j := range jobs {
		list := make([]solver.Option, slots)
		for s := range list {
			list[s] = solver.Option{Start: s, Count: 1 + (j+s)%4, Demand: []float64{1}, Partitions: []int{0},
				Usage: []float64{1}, Value: 100 + float64(10*(slots-s))/float64(slots)}
		}
		p.Jobs = append(p.Jobs, solver.Job{ID: fmt.Sprint(j), Options: list})
	}
	return p
}

// A solve whose time is over while it reads makes a plan of what it has read, and proves nothing of the rest.
func TestTimeEndsWhileReading(t *testing.T) {
	p := wide(400, 20, 500)
	ctx, cancel := context.WithDeadline(context.Background(), time.Now().Add(-time.Hour))
	defer cancel()
	sol, err := New(nil).Solve(ctx, p, solver.Options{}, func(*solver.Solution) {})
	require.NoError(t, err)
	require.NoError(t, solver.Verify(p, sol, solver.SplitsInteger))
	assert.Equal(t, solver.StopTime, sol.Stop)
	assert.NotEmpty(t, sol.Choice)
	assert.Nil(t, sol.Bound)
}
