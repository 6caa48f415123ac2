package sim_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/adapters/sim/decisionlog"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
)

// stage is a job of one task, with a runtime in seconds, that waits for others.
func stage(id string, seconds int, after ...string) sim.Job {
	return sim.Job{Job: sched.Job{ID: id, Of: "whole", Tasks: 1, After: after, Utility: constant(1),
		Deadline: 100 * time.Second}, Work: sim.Runtime(time.Duration(seconds) * time.Second)}
}

func runStages(t *testing.T, nodes int, policy sched.Policy, jobs []sim.Job) (*sim.Result, *decisionlog.Report) {
	t.Helper()
	var log bytes.Buffer
	r, err := sim.Run(context.Background(), sim.Config{Nodes: sim.Nodes(nodes, 1, 1), Jobs: jobs, Policy: policy,
		Predictor: fixed(t), Log: &log})
	require.NoError(t, err)
	assert.Zero(t, r.Rejections)
	report, err := decisionlog.Check(&log, nil)
	require.NoError(t, err)
	return r, report
}

// A diamond on enough nodes takes its critical path, 10 + 40 + 20 s, and counts as one job.
func TestADiamondTakesItsCriticalPath(t *testing.T) {
	jobs := []sim.Job{stage("d", 20, "b", "c"), stage("b", 30, "a"), stage("c", 40, "a"), stage("a", 10)}
	r, report := runStages(t, 3, baseline.NewFIFO(), jobs)
	assert.Equal(t, 1, r.Metrics.SLO.Jobs)
	assert.Equal(t, 1, r.Metrics.SLO.Completed)
	assert.Zero(t, r.Metrics.SLO.Missed)
	assert.Equal(t, 70.0, r.Metrics.JCT.Mean)
	assert.Equal(t, 1.0, r.Metrics.Classes[sim.SLO].Normalised.Mean, "it never waited")
	assert.Equal(t, 100.0/3600, r.Metrics.Goodput.SLO, "the work of all stages")
	assert.Len(t, r.Jobs, 4)
	assert.Equal(t, r.Metrics.JCT, sim.Spread(report.Metrics.JCT))
	assert.Equal(t, r.Metrics.SLO.Jobs, report.Metrics.SLO.Jobs)
}

func TestStagesThatCannotBeAreRefused(t *testing.T) {
	late := stage("late", 1)
	late.Arrive = time.Minute
	for name, c := range map[string]struct {
		jobs []sim.Job
		want string
	}{
		"unknown":    {[]sim.Job{stage("a", 1, "ghost")}, `job "a" waits for job "ghost", which is unknown`},
		"circle":     {[]sim.Job{stage("a", 1, "b"), stage("b", 1, "a")}, "waits for itself, or for jobs that do"},
		"itself":     {[]sim.Job{stage("a", 1, "a")}, "which is the job itself"},
		"twice":      {[]sim.Job{stage("b", 1), stage("a", 1, "b", "b")}, `"b" twice`},
		"comes late": {[]sim.Job{stage("a", 1, "late"), late}, "which arrives later"},
	} {
		_, err := sim.Run(context.Background(), sim.Config{Nodes: sim.Nodes(1, 1, 1), Jobs: c.jobs,
			Policy: baseline.NewFIFO(), Predictor: fixed(t)})
		require.ErrorIs(t, err, sim.ErrJob, name)
		require.ErrorContains(t, err, c.want, name)
	}
}

// Random graphs with late arrivals, preemptions and too few nodes: each stage starts after those before it, as the
// log's own check confirms, and its figures are the simulator's.
func TestRandomGraphsOfStages(t *testing.T) {
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 3))
		var jobs []sim.Job
		for d := range 15 {
			arrive := time.Duration(rng.Int64N(int64(5 * time.Minute)))
			priority, deadline := rng.IntN(2), time.Duration(0)
			if priority > 0 {
				deadline = time.Duration(rng.Int64N(int64(10*time.Minute))) + 1
			}
			first := len(jobs)
			for i := range 1 + rng.IntN(6) {
				j := stage(fmt.Sprintf("j%d-%d", d, i), rng.IntN(90))
				j.Of, j.Arrive, j.Priority, j.Deadline = fmt.Sprint("j", d), arrive, priority, deadline
				j.Arrive += time.Duration(i) * time.Second
				j.Tasks = 1 + rng.IntN(3)
				for _, p := range jobs[first:] {
					if rng.IntN(2) == 0 {
						j.After = append(j.After, p.ID)
					}
				}
				jobs = append(jobs, j)
			}
		}
		end := map[string]time.Duration{}
		r, report := runStages(t, 4, baseline.NewPrio(), jobs)
		for _, j := range r.Jobs {
			end[j.ID] = j.Finish
		}
		for _, j := range r.Jobs {
			for k := range jobs {
				if jobs[k].ID != j.ID {
					continue
				}
				for _, p := range jobs[k].After {
					require.GreaterOrEqual(t, j.FirstStart, end[p], "seed %d: %s after %s", seed, j.ID, p)
				}
			}
		}
		assert.Equal(t, 15, r.Metrics.SLO.Jobs+r.Metrics.BE.Jobs)
		assert.InEpsilon(t, r.Metrics.JCT.Mean, report.Metrics.JCT.Mean, 1e-12)
		assert.Equal(t, r.Metrics.JCT.P90, report.Metrics.JCT.P90)
		assert.Equal(t, r.Metrics.SLO.Missed, report.Metrics.SLO.Missed)
		assert.Equal(t, r.Metrics.BELatency.P90, report.Metrics.BELatency.P90)
	}
}

// never starts nothing.
type never struct{}

func (never) Name() string { return "never" }
func (never) Plan(context.Context, *sched.Snapshot) (*sched.Plan, error) {
	return &sched.Plan{}, nil
}

func TestStagesAreDroppedWithTheRest(t *testing.T) {
	r, report := runStages(t, 1, never{}, []sim.Job{stage("a", 1), stage("b", 1, "a")})
	assert.Equal(t, 1, r.Metrics.SLO.Missed)
	assert.Equal(t, 1, report.Metrics.SLO.Missed)
	assert.Zero(t, r.Metrics.SLO.Completed)
}
