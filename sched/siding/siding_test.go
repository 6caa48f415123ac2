package siding_test

import (
	"testing"

	"github.com/hedgesched/hedge/sched/agent"
	"github.com/hedgesched/hedge/sched/agent/agenttest"
	"github.com/hedgesched/hedge/sched/siding"
)

func TestConforms(t *testing.T) {
	for name, c := range map[string]siding.Config{
		"Usual":   {Workers: 30, Group: 8, Bound: 1, Distributors: 3},
		"Slots":   {Workers: 10, Slots: 3, Group: 4, Reserved: 1, Bound: 0.5, Weight: 3, Lean: 1, Distributors: 2},
		"NoPause": {Workers: 12, Group: 5, Reserved: 2, Distributors: 1},
		"OneGroup": {Workers: 5, Group: 5, Bound: 1000, Distributors: 1},
	} {
		t.Run(name, func(t *testing.T) {
			agenttest.Run(t, agenttest.Harness[siding.Message]{
				New: func(seed uint64) (agent.System[siding.Message], error) {
					c.Seed = seed
					return siding.New(c)
				},
				Codec: siding.Codec{}, Slots: c.Slots, Schedules: 5,
			})
		})
	}
}
