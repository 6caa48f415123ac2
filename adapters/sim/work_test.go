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
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
)

// A gang whose tasks take times of their own holds its nodes until the longest is done.
func TestTasksEndTogether(t *testing.T) {
	work := sim.Tasks([]time.Duration{3 * time.Second, 9 * time.Second, time.Second})
	assert.Equal(t, 9*time.Second, work.Runtime())
	assert.Zero(t, sim.Work{}.Runtime())
	var log bytes.Buffer
	r, err := sim.Run(context.Background(), sim.Config{
		Nodes: sim.Nodes(3, 1, 1), Policy: baseline.NewFIFO(), Predictor: fixed(t), Log: &log,
		Jobs: []sim.Job{
			{Job: sched.Job{ID: "gang", Tasks: 3}, Work: work},
			{Job: sched.Job{ID: "next", Tasks: 1}, Arrive: 1, Work: sim.Runtime(time.Second)},
		},
	})
	require.NoError(t, err)
	assert.Equal(t, 9*time.Second, r.Jobs[0].Finish)
	assert.Equal(t, 9*time.Second, r.Jobs[1].Start)
	assert.Equal(t, 28.0, r.Jobs[0].Held.Seconds()+r.Jobs[1].Held.Seconds())
	_, err = decisionlog.Check(&log, nil)
	require.NoError(t, err)
}
