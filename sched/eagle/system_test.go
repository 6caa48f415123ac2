package eagle_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched/agent"
	"github.com/hedgesched/hedge/sched/agent/agenttest"
	"github.com/hedgesched/hedge/sched/eagle"
	"github.com/hedgesched/hedge/sched/eagle/longset"
)

func named(t testing.TB, name string) eagle.Switches {
	v, err := eagle.Named(name)
	require.NoError(t, err)
	return v
}

func TestEveryVariantConforms(t *testing.T) {
	for _, name := range eagle.Names() {
		t.Run(name, func(t *testing.T) { conforms(t, name, 1) })
	}
	t.Run("eagle on workers with three slots", func(t *testing.T) { conforms(t, "eagle", 3) })
}

func conforms(t *testing.T, name string, slots int) {
	agenttest.Run(t, agenttest.Harness[eagle.Message]{
		New: func(seed uint64) (agent.System[eagle.Message], error) {
			return eagle.New(eagle.Config{Switches: named(t, name), Workers: 24 / slots, Slots: slots, Schedulers: 3,
				ShortShare: 20, MinProbes: 6, Heartbeat: 3 * time.Second, Seed: seed})
		},
		Codec: eagle.Codec{}, Slots: slots, Schedules: 2,
	})
}

func TestBadParametersAreRefused(t *testing.T) {
	for what, change := range map[string]func(*eagle.Config){
		"workers":     func(c *eagle.Config) { c.Workers = 0 },
		"slots":       func(c *eagle.Config) { c.Slots = -1 },
		"schedulers":  func(c *eagle.Config) { c.Schedulers = -1 },
		"short share": func(c *eagle.Config) { c.ShortShare = 100 },
		"is NaN":      func(c *eagle.Config) { c.ShortShare = math.NaN() },
		"a partition": func(c *eagle.Config) { c.ShortShare = 1 },
		"probes":      func(c *eagle.Config) { c.MinProbes = -1 },
		"heartbeat":   func(c *eagle.Config) { c.Switches.Stale, c.Heartbeat = true, 0 },
	} {
		c := eagle.Config{Switches: named(t, "eagle"), Workers: 10, ShortShare: 20, Heartbeat: time.Second}
		change(&c)
		_, err := eagle.New(c)
		assert.ErrorIs(t, err, eagle.ErrConfig, what)
		assert.ErrorContains(t, err, what)
	}
}

func TestMessagesOfAnotherVersionAreRefused(t *testing.T) {
	b := eagle.Codec{}.Append(nil, &eagle.Message{Kind: eagle.Ask, Job: 7})
	m, err := eagle.Codec{}.Read(b)
	require.NoError(t, err)
	assert.Equal(t, eagle.Message{Kind: eagle.Ask, Job: 7}, m)
	b[0]++
	_, err = eagle.Codec{}.Read(b)
	assert.ErrorIs(t, err, agent.ErrMessage)
	b[0]--
	b[1] = 200
	_, err = eagle.Codec{}.Read(b)
	assert.ErrorIs(t, err, agent.ErrMessage)
}

func FuzzCodec(f *testing.F) {
	set := longset.New(70)
	set.Put(69, true)
	f.Add(eagle.Codec{}.Append(nil, &eagle.Message{Kind: eagle.Place, Long: true, Job: 1, Version: 9, Estimate: time.Hour,
		Seen: set.Snapshot()}))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := eagle.Codec{}.Read(b)
		if err != nil {
			require.ErrorIs(t, err, agent.ErrMessage)
			return
		}
		again, err := eagle.Codec{}.Read(eagle.Codec{}.Append(nil, &m))
		require.NoError(t, err)
		require.Equal(t, m, again)
	})
}
