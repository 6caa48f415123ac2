package threesigma_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/threesigma"
)

// moody is a utility that is well until it is told otherwise.
type moody struct{ at func(float64) float64 }

func (m *moody) At(t float64) float64 { return m.at(t) }

// TestMisbehavingUtility: one that was well at first and fails later defers its job alone, with a fault, for as long as
// it does. While the job runs, it is not preempted, as nobody knows its price.
func TestMisbehavingUtility(t *testing.T) {
	well := func(float64) float64 { return 1 }
	for name, ill := range map[string]func(float64) float64{
		"NaN":   func(float64) float64 { return math.NaN() },
		"panic": func(float64) float64 { panic("a user's utility") },
		"NaN but at 0, the deadline and the horizon": func(t float64) float64 {
			if t == 0 || t == 600 || t > 1e6 {
				return 1
			}
			return math.NaN()
		},
	} {
		for _, deadline := range []time.Duration{0, 10 * time.Minute} {
			t.Run(name, func(t *testing.T) {
				u := &moody{well}
				odd := be(t, "odd", 1)
				odd.Utility, odd.Deadline = u, deadline
				p := policy(t, threesigma.Config{})
				foreseen := forecast(uniform(t, 50, 100))
				see := func(want sched.Kind, code sched.ReasonCode, fault string) {
					s := cluster(t, 2, epoch.Add(time.Second))
					s.Pending = []sched.Pending{{Job: odd, Prediction: foreseen}, {Job: be(t, "sound", 1), Prediction: foreseen}}
					got, err := p.Plan(context.Background(), s)
					require.NoError(t, err)
					require.NoError(t, sched.CheckPlan(s, got))
					assert.Equal(t, want, got.Decisions[0].Kind)
					assert.Equal(t, code, got.Decisions[0].Reason.Code)
					assert.Equal(t, sched.Start, got.Decisions[1].Kind)
					assert.Contains(t, got.Stats.Fault, fault)
				}
				see(sched.Start, sched.ReasonPlaced, "")
				u.at = ill
				see(sched.Defer, threesigma.ReasonInvalid, "odd")
				see(sched.Defer, threesigma.ReasonInvalid, "odd")
				u.at = well
				see(sched.Start, sched.ReasonPlaced, "")
			})
		}
	}
}

// TestMisbehavingUtilityOfARunningJob: nobody knows its price, so it is not preempted.
func TestMisbehavingUtilityOfARunningJob(t *testing.T) {
	odd := be(t, "odd", 1)
	u := &moody{func(float64) float64 { return 1 }}
	odd.Utility = u
	p := policy(t, threesigma.Config{})
	for _, preempted := range []bool{true, false} {
		s := cluster(t, 1, epoch.Add(time.Minute),
			sched.Running{Job: odd, Prediction: forecast(point(t, 1e6)), Started: epoch,
				Nodes: []sched.NodeTasks{{Node: "n0", Tasks: 1}}})
		s.Pending = []sched.Pending{{Job: slo(t, "urgent", 1, 10*time.Minute), Prediction: forecast(point(t, 60))}}
		got, err := p.Plan(context.Background(), s)
		require.NoError(t, err)
		assert.Equal(t, preempted, got.Decisions[0].Kind == sched.Preempt)
		assert.Equal(t, preempted, got.Stats.Fault == "", got.Stats.Fault)
		u.at = func(float64) float64 { panic("a user's utility") }
	}
}
