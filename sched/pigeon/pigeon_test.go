package pigeon_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched/agent"
	"github.com/hedgesched/hedge/sched/agent/agenttest"
	"github.com/hedgesched/hedge/sched/pigeon"
)

func TestConforms(t *testing.T) {
	for name, c := range map[string]pigeon.Config{
		"Usual":   {Workers: 30, Group: 8, Reserved: 2, Distributors: 3},
		"Slots":   {Workers: 10, Slots: 3, Group: 4, Reserved: 1, Distributors: 2},
		"Weight1": {Workers: 12, Group: 12, Weight: 1, Distributors: 1},
	} {
		t.Run(name, func(t *testing.T) {
			agenttest.Run(t, agenttest.Harness[pigeon.Message]{
				New: func(seed uint64) (agent.System[pigeon.Message], error) {
					c.Seed = seed
					return pigeon.New(c)
				},
				Codec: pigeon.Codec{}, Slots: c.Slots, Schedules: 5,
			})
		})
	}
}

func TestBadParametersAreRefused(t *testing.T) {
	for what, c := range map[string]pigeon.Config{
		"workers":      {Workers: 0},
		"slots":        {Workers: 1, Slots: -1},
		"group":        {Workers: 1, Group: -1},
		"reserved":     {Workers: 10, Group: 5, Reserved: 5},
		"weight":       {Workers: 1, Weight: -1},
		"distributors": {Workers: 1, Distributors: -1},
	} {
		_, err := pigeon.New(c)
		assert.ErrorIs(t, err, pigeon.ErrConfig, what)
		assert.ErrorContains(t, err, what)
	}
}

// drive steps a master alone and notes what it runs where.
func drive(s *pigeon.System, master agent.Addr, from agent.Addr, m pigeon.Message) (runs []string) {
	var out agent.Output[pigeon.Message]
	s.Step(master, 0, &agent.Input[pigeon.Message]{Kind: agent.Received, From: from, Msg: m}, &out)
	for _, a := range out.Actions {
		if a.Msg.Kind == pigeon.Run {
			runs = append(runs, strconv.Itoa(int(a.Msg.Job))+"@"+strconv.Itoa(int(a.To)))
		}
	}
	return runs
}

// Workers 0 is reserved of 0, 1, 2. Two long tasks fill the others, a third waits; a short one takes the reserved
// worker. When a general worker is free again, short tasks go first; after two of them, the long one does.
func TestShortTasksGoFirstButForTheWeight(t *testing.T) {
	s, err := pigeon.New(pigeon.Config{Workers: 3, Group: 3, Reserved: 1, Weight: 2, Distributors: 1})
	require.NoError(t, err)
	const master, distributor = 3, 4
	share := func(job, count int32, long bool) []string {
		m := pigeon.Message{Kind: pigeon.Share, Job: job, Step: 1, Count: count, Long: long}
		return drive(s, master, distributor, m)
	}
	end := func(worker agent.Addr, job, ref, task int32) []string {
		return drive(s, master, worker, pigeon.Message{Kind: pigeon.Finished, Job: job, Ref: ref, Task: task})
	}
	assert.Equal(t, []string{"0@2", "0@1"}, share(0, 3, true), "never on the reserved worker")
	assert.Equal(t, []string{"1@0"}, share(1, 4, false))
	assert.Equal(t, []string{"1@2"}, end(2, 0, 0, 0), "short before long")
	assert.Equal(t, []string{"1@2"}, end(2, 1, 1, 1))
	assert.Equal(t, []string{"0@2"}, end(2, 1, 1, 2), "after two short ones a long one")
	assert.Equal(t, []string{"1@0"}, end(0, 1, 1, 0))
	assert.Empty(t, end(0, 1, 1, 3))
}

func FuzzCodec(f *testing.F) {
	f.Add(pigeon.Codec{}.Append(nil, &pigeon.Message{Kind: pigeon.Share, Long: true, Job: 1, Task: 2, Step: 3, Count: 4}))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := pigeon.Codec{}.Read(b)
		if err != nil {
			require.ErrorIs(t, err, agent.ErrMessage)
			return
		}
		again, err := pigeon.Codec{}.Read(pigeon.Codec{}.Append(nil, &m))
		require.NoError(t, err)
		require.Equal(t, m, again)
	})
}
