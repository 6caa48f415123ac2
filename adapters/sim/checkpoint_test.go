package sim_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/adapters/sim/decisionlog"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
)

// scholar remembers what it is taught.
type scholar struct {
	predict.Predictor
	learnt map[string]float64
}

func (p *scholar) Observe(o predict.Observation) error {
	p.learnt[o.Job.ID] = o.Runtime
	return nil
}

// By hand: low runs 40 s of its 100 s at two thirds of its speed, which is 60 s by the clock, is stopped for
// high's 30 s, and then has 60 s left on its preferred node.
func TestCheckpointByHand(t *testing.T) {
	for _, keeps := range []bool{true, false} {
		nodes := sim.Nodes(2, 2, 1)
		fast := sched.NodesWith(sim.RackLabel, "r01")
		low := sched.Job{
			ID: "low", Tasks: 1, Utility: constant(1), Checkpoint: keeps,
			Speeds: sched.SpeedsOf(sched.Speed{On: fast, Factor: 1}, sched.Speed{Factor: 1 / 1.5}),
		}
		above := func(id string, required sched.EquivalenceSet) sched.Job {
			return sched.Job{ID: id, Tasks: 1, Utility: constant(1), Priority: 1, Required: required}
		}
		jobs := []sim.Job{
			{Job: above("other", fast), Work: sim.Runtime(70 * time.Second)},
			{Job: low, Arrive: time.Second, Work: sim.Runtime(100 * time.Second)},
			{
				Job:    above("high", sched.NodesWith(sim.RackLabel, "r00")),
				Arrive: 61 * time.Second, Work: sim.Runtime(30 * time.Second),
			},
		}
		var log bytes.Buffer
		p := &scholar{fixed(t), map[string]float64{}}
		r, err := sim.Run(context.Background(), sim.Config{
			Nodes: nodes, Jobs: jobs, Policy: baseline.NewPrio(), Predictor: p, Log: &log,
		})
		require.NoError(t, err)
		report, err := decisionlog.Check(&log, &decisionlog.Options{})
		require.NoError(t, err)
		record := r.Jobs[1]
		require.Equal(t, "low", record.ID)
		assert.Equal(t, []any{1, 70 * time.Second}, []any{record.Preemptions, record.Start})
		assert.InDelta(t, 100, p.learnt["low"], 1e-9, "learnt as a whole")
		if !keeps {
			assert.Equal(t, []time.Duration{170 * time.Second, 60 * time.Second}, []time.Duration{record.Finish, record.Lost})
			continue
		}
		assert.Equal(t, []time.Duration{130 * time.Second, 0}, []time.Duration{record.Finish, record.Lost})
		assert.Zero(t, r.Metrics.LostMachineHours)
		assert.InDelta(t, (60+60+70+30)/3600.0, r.Metrics.Goodput.BE, 1e-9)
		assert.InDelta(t, r.Metrics.Goodput.BE, report.Metrics.Goodput.BE, 1e-12)
		assert.InDelta(t, r.Metrics.WorkInWindow.BE, report.Metrics.WorkInWindow.BE, 1e-12)
	}
}

// Whatever is preempted: the log is found right by another hand, no kept work is lost, and whole runtimes are learnt.
func TestCheckpointLogs(t *testing.T) {
	for seed := range uint64(20) {
		jobs := workload(seed, 60, 3)
		preferRacks(seed, jobs)
		for i := range jobs {
			jobs[i].Checkpoint = i%2 == 0
		}
		var log bytes.Buffer
		p := &scholar{fixed(t), map[string]float64{}}
		r, err := sim.Run(context.Background(), sim.Config{
			Nodes: sim.Nodes(6, 4, 1), Jobs: jobs, Policy: baseline.NewPrio(), Predictor: p,
			Cycle: 10 * time.Second, Log: &log,
		})
		require.NoError(t, err)
		report, err := decisionlog.Check(&log, &decisionlog.Options{})
		require.NoError(t, err)
		assert.InDelta(t, r.Metrics.Goodput.BE, report.Metrics.Goodput.BE, 1e-9)
		assert.InDelta(t, r.Metrics.LostMachineHours, report.Metrics.LostMachineHours, 1e-9)
		lost := map[string]time.Duration{}
		for _, record := range r.Jobs {
			lost[record.ID] = record.Lost
		}
		for _, j := range jobs {
			assert.InDelta(t, j.Work.Runtime().Seconds(), p.learnt[j.ID], 1e-8, "%s", j.ID)
			assert.False(t, j.Checkpoint && lost[j.ID] > 0, "%s", j.ID)
		}
	}
}
