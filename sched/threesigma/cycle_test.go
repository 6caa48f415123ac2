package threesigma_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/schedtest"
	"github.com/hedgesched/hedge/sched/threesigma"
	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/native"
)

// pricing is an engine that keeps the last price of each preemption.
type pricing struct {
	solver.Solver
	prices map[string]float64
}

func (e *pricing) Solve(
	ctx context.Context, p *solver.Problem, opts solver.Options, report func(*solver.Solution),
) (*solver.Solution, error) {
	for _, r := range p.Running {
		e.prices[r.ID] = r.PreemptCost
	}
	return e.Solver.Solve(ctx, p, opts, report)
}

// TestTheLoopTellsTheCycle: exp-inc and the price of a preemption count in the cycles of the loop.
func TestTheLoopTellsTheCycle(t *testing.T) {
	for name, c := range map[string]struct {
		options []sched.Option
		cycle   float64 // seconds
	}{
		"the loop's default":   {nil, 2},
		"2 s":                  {[]sched.Option{sched.WithCycle(2 * time.Second)}, 2},
		"5 s":                  {[]sched.Option{sched.WithCycle(5 * time.Second)}, 5},
		"as something happens": {[]sched.Option{sched.WithCycle(0)}, threesigma.UnknownCycle.Seconds()},
	} {
		t.Run(name, func(t *testing.T) {
			engine := &pricing{Solver: native.New(nil), prices: map[string]float64{}}
			p := policy(t, threesigma.Config{Solver: engine, Slot: time.Second, Window: time.Minute})
			cluster := schedtest.NewCluster(schedtest.At(0), schedtest.Nodes(1, 1))
			late, next := schedtest.Job("late", 1), schedtest.Job("next", 1).Submitted(100).Deadline(10_000).Priority(1)
			loop, err := sched.NewLoop(cluster, p, schedtest.Forecasts(late, next), c.options...)
			require.NoError(t, err)
			cluster.Submit(late.Job(), 1000)
			_, err = loop.Step(context.Background(), schedtest.At(0))
			require.NoError(t, err)

			cluster.Advance(schedtest.At(100)) // late should be done
			cluster.Submit(next.Job(), 100)
			done, err := loop.Step(context.Background(), schedtest.At(100))
			require.NoError(t, err)
			require.Len(t, done.Snapshot.Running, 1)
			worth := 1 - (100+c.cycle)/(24*3600)
			assert.InDelta(t, worth*(1+100/(100+c.cycle)), engine.prices["late"], 1e-12)
			for d := range done.Decisions() {
				assert.Equal(t, schedtest.At(100+c.cycle), d.Start, d.Job)
			}
		})
	}
}
