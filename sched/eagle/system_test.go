package eagle_test

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched/agent"
	"github.com/hedgesched/hedge/sched/agent/agenttest"
	"github.com/hedgesched/hedge/sched/eagle"
)

func named(t testing.TB, name string) eagle.Switches {
	v, err := eagle.Named(name)
	require.NoError(t, err)
	return v
}

// schedules is how many random runs of each kind of trouble there are; HEDGE_AGENT_SCHEDULES asks for more.
func schedules(t *testing.T) int {
	asked := os.Getenv("HEDGE_AGENT_SCHEDULES")
	if asked == "" {
		return 3
	}
	n, err := strconv.Atoi(asked)
	require.NoError(t, err)
	return n
}

func TestEveryVariantConforms(t *testing.T) {
	for _, name := range eagle.Names() {
		for _, slots := range []int{1, 3} {
			t.Run(name+"/"+strconv.Itoa(slots), func(t *testing.T) {
				t.Parallel()
				agenttest.Run(t, agenttest.Harness[eagle.Message]{
					New: func(seed uint64) (agent.System[eagle.Message], error) {
						return eagle.New(eagle.Config{Switches: named(t, name), Workers: 30 / slots, Slots: slots, Schedulers: 3,
							ShortShare: 20, MinProbes: 6, Heartbeat: 3 * time.Second, Seed: seed})
					},
					Codec: eagle.Codec{}, Slots: slots, Schedules: schedules(t),
				})
			})
		}
	}
}
