package slearn_test

import (
	"cmp"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched/agent"
	"github.com/hedgesched/hedge/sched/agent/agenttest"
	"github.com/hedgesched/hedge/sched/slearn"
)

// schedules is how many random runs of each kind of trouble there are; HEDGE_AGENT_SCHEDULES asks for more.
func schedules(t *testing.T) int {
	asked := os.Getenv("HEDGE_AGENT_SCHEDULES")
	if asked == "" {
		return 5
	}
	n, err := strconv.Atoi(asked)
	require.NoError(t, err)
	return n
}

// knowledge is of jobs whose user is one of three, by their number.
func knowledge() *slearn.Knowledge {
	return &slearn.Knowledge{
		ThinLimit: 3,
		Ratio:     &slearn.Ratio{Recent: 3},
		History: func() (predict.Predictor, error) {
			return predict.NewHistory(&predict.HistoryOptions{Features: []predict.Feature{predict.Attr("user")}})
		},
		Describe: func(j *agent.Job) predict.Job {
			return predict.Job{Attributes: map[string]string{"user": strconv.Itoa(int(j.ID % 3))}}
		},
		Truth: func(j *agent.Job) float64 { return j.Estimate.Seconds() * float64(j.Tasks) },
	}
}

func configured(t *testing.T, scheme slearn.Scheme, c slearn.Config) slearn.Config {
	t.Helper()
	require.NoError(t, scheme.Configure(&c, knowledge()))
	return c
}

func TestConforms(t *testing.T) {
	for scheme := slearn.SLearn; scheme <= slearn.Oracle; scheme++ {
		for _, c := range []slearn.Config{{Workers: 20}, {Workers: 6, Slots: 3, PilotTimeout: 20 * time.Second}} {
			t.Run(fmt.Sprintf("%d on %d", scheme, c.Workers), func(t *testing.T) {
				agenttest.Run(t, agenttest.Harness[slearn.Message]{
					New: func(seed uint64) (agent.System[slearn.Message], error) {
						c := configured(t, scheme, c)
						c.Seed, c.PilotTimeout = seed, cmp.Or(c.PilotTimeout, time.Hour)
						c.Queues.First = 30 * time.Second
						return slearn.New(c)
					},
					Codec: slearn.Codec{}, Slots: c.Slots, Schedules: schedules(t),
				})
			})
		}
	}
}

func TestBadParametersAreRefused(t *testing.T) {
	for what, c := range map[string]slearn.Config{
		"workers": {Workers: 0}, "slots": {Workers: 1, Slots: -1}, "queues": {Workers: 1, Queues: slearn.Queues{Count: 65}},
		"limit":    {Workers: 1, Queues: slearn.Queues{First: -1}},
		"growth":   {Workers: 1, Queues: slearn.Queues{Growth: 0.5}},
		"decay":    {Workers: 1, Queues: slearn.Queues{Decay: -1}},
		"time-out": {Workers: 1, PilotTimeout: -1},
		"attained": {Workers: 1, Attained: true, Predictor: slearn.Known(func(*agent.Job) float64 { return 0 })},
	} {
		_, err := slearn.New(c)
		assert.ErrorIs(t, err, slearn.ErrConfig, what)
		assert.ErrorContains(t, err, what)
	}
}
