package bigc_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched/agent"
	"github.com/hedgesched/hedge/sched/agent/agenttest"
	"github.com/hedgesched/hedge/sched/bigc"
)

func TestConforms(t *testing.T) {
	for name, c := range map[string]bigc.Config{
		"95": {Workers: 20, ShortShare: 95}, "50": {Workers: 8, Slots: 3, ShortShare: 50}, "0": {Workers: 12},
	} {
		t.Run(name, func(t *testing.T) {
			agenttest.Run(t, agenttest.Harness[bigc.Message]{
				New:   func(uint64) (agent.System[bigc.Message], error) { return bigc.New(c) },
				Codec: bigc.Codec{}, Slots: c.Slots, Schedules: 5,
			})
		})
	}
}

func TestBadParametersAreRefused(t *testing.T) {
	for what, c := range map[string]bigc.Config{
		"workers": {Workers: 0}, "slots": {Workers: 1, Slots: -1}, "share": {Workers: 1, ShortShare: 101},
	} {
		_, err := bigc.New(c)
		assert.ErrorIs(t, err, bigc.ErrConfig, what)
		assert.ErrorContains(t, err, what)
	}
}

// Two workers, one slot each, half of them long jobs'. Long tasks borrow both; a short one stops the one that began
// last; the next short one waits, since long tasks have only their share; then the stopped one goes on.
func TestShortTasksStopLongOnesAboveTheirShare(t *testing.T) {
	s, err := bigc.New(bigc.Config{Workers: 2, ShortShare: 50})
	require.NoError(t, err)
	step := func(in agent.Input[bigc.Message]) (did []string) {
		var out agent.Output[bigc.Message]
		s.Step(2, 0, &in, &out)
		for _, a := range out.Actions {
			if a.Do == agent.Send {
				kind := map[bigc.Kind]string{bigc.Run: "run", bigc.Swap: "swap", bigc.Resume: "resume"}[a.Msg.Kind]
				did = append(did, fmt.Sprint(kind, " ", a.Msg.Task.Job, " on ", a.To))
			}
		}
		return did
	}
	submit := func(id int32, long bool, tasks int32) []string {
		return step(agent.Input[bigc.Message]{Kind: agent.Submitted, Job: &agent.Job{ID: id, Tasks: tasks, Long: long}})
	}
	tell := func(kind bigc.Kind, from agent.Addr, job, index int32) []string {
		return step(agent.Input[bigc.Message]{Kind: agent.Received, From: from, Msg: bigc.Message{Kind: kind, Ref: job,
			Task: agent.Task{Job: job, Index: index}}})
	}
	assert.Equal(t, []string{"run 0 on 0", "run 0 on 1"}, submit(0, true, 2))
	assert.Empty(t, submit(1, false, 2), "not known to run yet")
	assert.Equal(t, []string{"swap 1 on 0"}, tell(bigc.Began, 0, 0, 0))
	swapped := bigc.Message{Kind: bigc.Swapped, Ref: 1, Task: agent.Task{Job: 1}, Victim: agent.Task{}}
	assert.Empty(t, step(agent.Input[bigc.Message]{Kind: agent.Received, Msg: swapped}))
	assert.Empty(t, tell(bigc.Began, 1, 0, 1), "their share")
	assert.Equal(t, []string{"run 1 on 0"}, tell(bigc.Finished, 0, 1, 0), "short before the stopped one")
	assert.Equal(t, []string{"resume 0 on 0"}, tell(bigc.Finished, 0, 1, 1))
}

func FuzzCodec(f *testing.F) {
	f.Add(bigc.Codec{}.Append(nil, &bigc.Message{Kind: bigc.Swap, Ref: 1, Task: agent.Task{Job: 2, Index: 3}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := bigc.Codec{}.Read(b)
		if err != nil {
			require.ErrorIs(t, err, agent.ErrMessage)
			return
		}
		again, err := bigc.Codec{}.Read(bigc.Codec{}.Append(nil, &m))
		require.NoError(t, err)
		require.Equal(t, m, again)
	})
}
