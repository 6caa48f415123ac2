package agents_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim/agents"
	"github.com/hedgesched/hedge/sched/agent"
	"github.com/hedgesched/hedge/sched/slearn"
)

// A diamond of 10, 30, 40 and 20 s beside a second root takes its longest path on enough workers; a job that comes
// later is submitted in its time.
func TestStagesAreSubmittedWhenThoseBeforeAreDone(t *testing.T) {
	w := jobs(10*time.Second, 15*time.Second, 30*time.Second, 40*time.Second, 20*time.Second, time.Second)
	for i := range w.Jobs[:5] {
		w.Jobs[i].Phase = int32(i)
	}
	w.Jobs[5].Submit = 100 * time.Second
	w.After = [][]int32{nil, nil, {0}, {0, 1}, {2, 3}, nil}
	system, err := slearn.New(slearn.Config{Workers: 3, Queues: slearn.Queues{Count: 1}})
	require.NoError(t, err)
	r, err := agents.Run[slearn.Message](w, system, agents.Config{})
	require.NoError(t, err)
	for i, want := range []struct{ submit, end int }{{0, 10}, {0, 15}, {10, 40}, {15, 55}, {55, 75}, {100, 101}} {
		assert.Equal(t, time.Duration(want.submit)*time.Second, r.Jobs[i].Submit, "job %d", i)
		assert.Equal(t, time.Duration(want.end)*time.Second, r.Jobs[i].End, "job %d", i)
	}
	for _, after := range [][][]int32{{nil}, {nil, nil, {2}, nil, nil, nil}, {nil, nil, {-1}, nil, nil, nil}} {
		w.After = after
		_, err := agents.Run[slearn.Message](w, system, agents.Config{})
		require.ErrorIs(t, err, agents.ErrWorkload)
	}
}

// seen is FIFO, and remembers the attributes and the submissions that it is told of.
type seen struct {
	*slearn.System
	jobs []agent.Job
}

func (s *seen) Entry(j *agent.Job) agent.Addr {
	s.jobs = append(s.jobs, *j)
	return s.System.Entry(j)
}

func TestSystemsAreToldAttributes(t *testing.T) {
	w := jobs(time.Second, time.Second)
	w.Jobs[1].Submit = 3 * time.Second
	w.Attributes = []map[string]string{{"user": "a"}, nil}
	fifo, err := slearn.New(slearn.Config{Workers: 1, Queues: slearn.Queues{Count: 1}})
	require.NoError(t, err)
	system := &seen{System: fifo}
	_, err = agents.Run[slearn.Message](w, system, agents.Config{})
	require.NoError(t, err)
	require.Len(t, system.jobs, 2)
	assert.Equal(t, map[string]string{"user": "a"}, system.jobs[0].Attributes)
	assert.Nil(t, system.jobs[1].Attributes)
	assert.Equal(t, 3*time.Second, system.jobs[1].Submitted)
	w.Attributes = w.Attributes[:1]
	_, err = agents.Run[slearn.Message](w, system, agents.Config{})
	require.ErrorIs(t, err, agents.ErrWorkload)
}
