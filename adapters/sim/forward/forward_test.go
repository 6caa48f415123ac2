package forward_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/adapters/sim/forward"
	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
	"github.com/hedgesched/hedge/sched/schedtest"
	"github.com/hedgesched/hedge/sched/systems"
)

var background = context.Background()

// policies are made anew for every run.
var policies = map[string]func() (sched.Policy, error){
	"fifo": named("fifo"), "edf": named("edf"), "prio": named("prio"),
}

// named makes policies of a name.
func named(name string) func() (sched.Policy, error) {
	return func() (sched.Policy, error) {
		system, err := systems.Builtin().Find(name)
		if err != nil {
			return nil, err
		}
		return system.Policy(&systems.Planning{})
	}
}

// jobs are random jobs that come within ten minutes.
func jobs(rng *rand.Rand, nodes int) []sim.Job {
	out := make([]sim.Job, 30+rng.IntN(40))
	for i := range out {
		j := sched.Job{ID: fmt.Sprintf("j%02d", i), Tasks: 1 + rng.IntN(nodes), Checkpoint: rng.IntN(3) == 0}
		if rng.IntN(2) == 0 {
			j.Deadline, j.Priority = time.Duration(rng.IntN(3600))*time.Second, rng.IntN(3)
		}
		switch rng.IntN(4) {
		case 0:
			j.Speeds = sched.SpeedsOf(sched.Speed{On: sched.NodesWith(sim.RackLabel, "r00"), Factor: 1},
				sched.Speed{Factor: 1 / 1.5})
		case 1:
			j.Tasks, j.Required = 1, sched.NodesWith(sim.RackLabel, "r01")
		}
		out[i] = sim.Job{Job: j, Arrive: time.Duration(rng.IntN(600)) * time.Second,
			Work: sim.Runtime(time.Duration(1+rng.IntN(900)) * time.Second)}
	}
	return out
}

// A simulation with exact forecasts is stopped once all jobs have come, and the rest of it simulated from its
// snapshot: every job starts and ends when it did in the whole simulation.
func TestForwardIsTheRestOfTheSimulation(t *testing.T) {
	for name, policy := range policies {
		t.Run(name, func(t *testing.T) {
			waited, ran := 0, 0
			for trial := range 25 {
				rng := rand.New(rand.NewPCG(uint64(trial), 21))
				nodes := 3 + rng.IntN(8)
				all := jobs(rng, nodes)
				truth, arrive := map[string]float64{}, map[string]time.Duration{}
				for i := range all {
					arrive[all[i].ID] = all[i].Arrive
					truth[all[i].ID] = all[i].Work.Runtime().Seconds()
				}
				exact, err := predict.NewPerfect(func(j predict.Job) (float64, bool) { return truth[j.ID], true })
				require.NoError(t, err)
				p, err := policy()
				require.NoError(t, err)
				var s *sched.Snapshot
				at := time.Duration(600+10*rng.IntN(60)) * time.Second
				var epoch time.Time
				whole, err := sim.Run(background, sim.Config{Nodes: sim.Nodes(nodes, 2, 1), Jobs: all, Policy: p,
					Predictor: exact, Cycle: 10 * time.Second, CycleObserver: func(c *sched.Cycle) {
						for _, p := range c.Snapshot.Pending {
							epoch = p.Job.Submitted.Add(-arrive[p.Job.ID])
						}
						if s == nil && !epoch.IsZero() && c.Now.Sub(epoch) >= at {
							s, at = c.Snapshot.Clone(), c.Now.Sub(epoch)
						}
					}})
				require.NoError(t, err)
				require.NotNil(t, s)
				outcomes, err := forward.Run(background, s, policy, forward.Options{Runs: 1})
				require.NoError(t, err)
				records := map[string]sim.JobRecord{}
				for _, r := range whole.Jobs {
					records[r.ID] = r
				}
				for _, o := range outcomes {
					r := records[o.Job]
					if r.Preemptions > 0 && !o.Running && r.FirstStart < at {
						continue // it ran before, and was stopped; what it does is asked of others
					}
					if !o.Running {
						waited++
						assert.InDelta(t, (r.FirstStart - at).Seconds(), o.Start.P50, 1e-6, "trial %d, %s", trial, o.Job)
					} else {
						ran++
					}
					assert.InDelta(t, (r.Finish - at).Seconds(), o.End.P50, 1e-6, "trial %d, %s", trial, o.Job)
				}
			}
			t.Log(waited, "waited,", ran, "ran")
			assert.Greater(t, waited, 500)
		})
	}
}

// Runtimes are drawn from forecasts, given how long a job has run; a horizon cuts the future off.
func TestForwardDraws(t *testing.T) {
	d, err := dist.NewUniform(100, 300)
	require.NoError(t, err)
	s, err := schedtest.Snapshot(schedtest.Nodes(1, 1)).Now(200).
		Running(schedtest.Job("run", 1).Predicted(d), 0, "n0").
		Pending(schedtest.Job("next", 1).Predicted(d).Deadline(450), schedtest.Job("wide", 2)).Build()
	require.NoError(t, err)
	outcomes, err := forward.Run(background, s, policies["edf"], forward.Options{Runs: 400, Seed: 7})
	require.NoError(t, err)
	run, next, wide := outcomes[0], outcomes[1], outcomes[2]
	assert.True(t, run.Running)
	assert.InDelta(t, -200, run.Start.P50, 1e-9)
	assert.InDelta(t, 50, run.End.P50, 8, "it is uniform in 0 to 100 from now")
	assert.InDelta(t, 10, run.End.P10, 5)
	assert.InDelta(t, run.End.P50, next.Start.P50, 1e-6, "without a cycle it starts at once")
	assert.InDelta(t, 250, next.End.P50, 15)
	assert.InDelta(t, 0.5, next.Meets, 0.08, "250 s are left, and the sum is symmetric about 250 s")
	assert.InDelta(t, 1, next.Started, 0)
	assert.True(t, math.IsInf(wide.Start.P10, 1), "no nodes can hold it")
	assert.InDelta(t, 0, wide.Started, 0)

	again, err := forward.Run(background, s, policies["edf"], forward.Options{Runs: 400, Seed: 7})
	require.NoError(t, err)
	assert.Equal(t, outcomes, again)

	near, err := forward.Run(background, s, policies["edf"], forward.Options{Horizon: time.Minute, Runs: 50})
	require.NoError(t, err)
	assert.Greater(t, near[1].Started, 0.3)
	assert.Less(t, near[1].Started, 0.9)
	assert.InDelta(t, 0, near[1].Done, 0)
}

// Jobs that are still to come, and true runtimes: the whole of a simulation is foretold from its first snapshot.
func TestForwardWithArrivals(t *testing.T) {
	for trial := range 10 {
		rng := rand.New(rand.NewPCG(uint64(trial), 22))
		all := jobs(rng, 6)
		truth := func(id string) (float64, bool) {
			for i := range all {
				if all[i].ID == id {
					return all[i].Work.Runtime().Seconds(), true
				}
			}
			return 0, false
		}
		minute, err := dist.NewPoint(60)
		require.NoError(t, err)
		guess, err := predict.NewFixed(minute)
		require.NoError(t, err)
		whole, err := sim.Run(background, sim.Config{Nodes: sim.Nodes(6, 2, 1), Jobs: all, Policy: baseline.NewPrio(),
			Predictor: guess, Cycle: 10 * time.Second})
		require.NoError(t, err)
		b := schedtest.Snapshot(sim.Nodes(6, 2, 1))
		s, err := b.Build()
		require.NoError(t, err)
		s.Cycle = 10 * time.Second
		o := forward.Options{Runs: 1, Runtime: truth}
		for i := range all {
			j := all[i].Job
			j.Submitted = s.Now.Add(all[i].Arrive)
			o.Arrivals = append(o.Arrivals, sched.Pending{Job: &j, Prediction: guess.Predict(j.Features())})
		}
		outcomes, err := forward.Run(background, s, policies["prio"], o)
		require.NoError(t, err)
		for _, r := range whole.Jobs {
			i := slices.IndexFunc(outcomes, func(o forward.Outcome) bool { return o.Job == r.ID })
			assert.InDelta(t, r.FirstStart.Seconds(), outcomes[i].Start.P50, 1e-6, "trial %d, %s", trial, r.ID)
			assert.InDelta(t, r.Finish.Seconds(), outcomes[i].End.P50, 1e-6, "trial %d, %s", trial, r.ID)
		}
	}
}

// A running job that a policy preempts begins anew.
func TestForwardPreempts(t *testing.T) {
	s, err := schedtest.Snapshot(schedtest.Nodes(1, 1)).Now(90).
		Running(schedtest.Job("low", 1).Runs(100), 0, "n0").
		Pending(schedtest.Job("high", 1).Priority(1).Runs(40)).Build()
	require.NoError(t, err)
	outcomes, err := forward.Run(background, s, policies["prio"], forward.Options{Runs: 1})
	require.NoError(t, err)
	assert.InDelta(t, 140, outcomes[0].End.P50, 1e-9, "40 s of the other, then 100 s of its own")
	assert.InDelta(t, 0, outcomes[1].Start.P50, 1e-9)
}

// Jobs that run where they no longer can hold nothing, and end by their forecast.
func TestForwardWithoutRoom(t *testing.T) {
	s, err := schedtest.Snapshot(schedtest.Nodes(1, 1)).Running(schedtest.Job("a", 1), 0, "n0").Build()
	require.NoError(t, err)
	s.Running[0].Nodes = []sched.NodeTasks{{Node: "gone", Tasks: 1}}
	outcomes, err := forward.Run(background, s, policies["edf"], forward.Options{Runs: 1})
	require.NoError(t, err)
	assert.InDelta(t, 100, outcomes[0].End.P50, 1e-9)
	_, err = forward.Run(background, nil, policies["edf"], forward.Options{})
	require.ErrorIs(t, err, sched.ErrInvalidSnapshot)
}

// A stage starts once the jobs that it waits for have finished; those that finished before are of no account.
func TestForwardStages(t *testing.T) {
	s, err := schedtest.Snapshot(schedtest.Nodes(2, 1)).Now(10).Running(schedtest.Job("a", 1).Runs(50), 0, "n0").
		Pending(schedtest.Job("b", 1).Runs(20)).Build()
	require.NoError(t, err)
	ready := *s.Pending[0].Job
	ready.After, ready.Of = []string{"done"}, "whole"
	s.Pending[0].Job = &ready
	last := schedtest.Job("c", 2).Runs(5)
	job := last.Job()
	job.After, job.Of = []string{"a", "b", "done"}, "whole"
	s.Held = append(s.Held, sched.Pending{Job: job, Prediction: last.Prediction()})
	outcomes, err := forward.Run(background, s, policies["edf"], forward.Options{Runs: 1})
	require.NoError(t, err)
	require.Len(t, outcomes, 3)
	assert.InDelta(t, 20, outcomes[1].End.P50, 1e-9)
	assert.Equal(t, "c", outcomes[2].Job)
	assert.InDelta(t, 40, outcomes[2].Start.P50, 1e-9)
	assert.InDelta(t, 45, outcomes[2].End.P50, 1e-9)
}

func ExampleRun() {
	s, err := schedtest.Snapshot(schedtest.Nodes(2, 1)).Now(60).
		Running(schedtest.Job("batch", 2).Runs(100), 0, "n0", "n1").
		Pending(schedtest.Job("train", 1).Runs(30).Deadline(150)).Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	policy := func() (sched.Policy, error) { return baseline.NewEDF(), nil }
	outcomes, err := forward.Run(background, s, policy, forward.Options{Runs: 5})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, o := range outcomes {
		fmt.Println(o.Job, o.Start.P50, o.End.P50, o.Meets)
	}
	// Output:
	// batch -60 40 -1
	// train 40 70 1
}
