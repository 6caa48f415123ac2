package live_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/live"
	"github.com/hedgesched/hedge/adapters/live/loopback"
	"github.com/hedgesched/hedge/adapters/live/ticks"
	"github.com/hedgesched/hedge/sched/agent"
	"github.com/hedgesched/hedge/sched/bigc"
	"github.com/hedgesched/hedge/sched/eagle"
	"github.com/hedgesched/hedge/sched/kairos"
	"github.com/hedgesched/hedge/sched/pigeon"
)

// systems are those of the tests' fleets.
var systems = map[string]func() (*live.System, error){
	"kairos": newKairos,
	"eagle":  func() (*live.System, error) { return newEagle("eagle") },
	"hawk":   func() (*live.System, error) { return newEagle("hawk") },
	"pigeon": func() (*live.System, error) {
		s, err := pigeon.New(pigeon.Config{Workers: 3, Group: 2, Reserved: 1, Distributors: 2, Seed: 1})
		return named("pigeon", s, pigeon.Codec{}, err)
	},
	"big-c": func() (*live.System, error) {
		s, err := bigc.New(bigc.Config{Workers: 3, Slots: 1, ShortShare: 50})
		return named("big-c", s, bigc.Codec{}, err)
	},
}

func named[M any](name string, s agent.System[M], c agent.Codec[M], err error) (*live.System, error) {
	if err != nil {
		return nil, err
	}
	return live.NewSystem(name, s, c), nil
}

// kindVariable tells the processes of a fleet which system it is.
const kindVariable = "HEDGE_TEST_SYSTEM"

func TestMain(m *testing.M) {
	loopback.Main(func() (*live.System, error) { return systems[os.Getenv(kindVariable)]() })
	os.Exit(m.Run())
}

func newKairos() (*live.System, error) {
	s, err := kairos.New(kairos.Config{Workers: 3, Slots: 1, Queue: 2, Quantum: 200 * time.Millisecond,
		Interval: 50 * time.Millisecond, Guard: 3, GuardQuanta: 2, Seed: 1})
	return named("kairos", s, kairos.Codec{}, err)
}

func newEagle(name string) (*live.System, error) {
	v, err := eagle.Named(name)
	if err != nil {
		return nil, err
	}
	s, err := eagle.New(eagle.Config{Switches: v, Workers: 3, Schedulers: 2, ShortShare: 34, MinProbes: 4, Seed: 1})
	return named(name, s, eagle.Codec{}, err)
}

// trial is a fleet and the folder of its tasks' effects.
type trial struct {
	*loopback.Fleet
	client  *live.Client
	effects string
	want    []string
}

func newTrial(t *testing.T, system string, dispatches, agents int) *trial {
	t.Helper()
	t.Setenv(kindVariable, system)
	f, err := loopback.Start(loopback.Config{Dir: t.TempDir(), Dispatches: dispatches, Agents: agents,
		LostAfter: time.Second})
	require.NoError(t, err)
	client, err := f.Client()
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, client.Close())
		f.Stop()
		if t.Failed() {
			f.Logs(os.Stderr)
		}
	})
	return &trial{Fleet: f, client: client, effects: t.TempDir()}
}

func (r *trial) submit(ctx context.Context, t *testing.T, name string, tasks int, long bool, each time.Duration) {
	t.Helper()
	c, err := loopback.Command("", slices.Repeat([]time.Duration{each}, tasks), r.effects)
	require.NoError(t, err)
	require.NoError(t, r.client.Submit(ctx, live.Job{Name: name, Tasks: tasks, Estimate: each, Long: long, Command: c}))
	for i := range tasks {
		r.want = append(r.want, ticks.Name(name, i))
	}
}

// check waits for the jobs and checks that each task's effect is there, and nothing else.
func (r *trial) check(ctx context.Context, t *testing.T, jobs int) {
	t.Helper()
	for i := range jobs {
		s, err := r.client.Wait(ctx, fmt.Sprint("job", i))
		require.NoError(t, err)
		assert.Zero(t, s.Failed)
		assert.False(t, s.Ended.Before(s.Submitted))
	}
	entries, err := os.ReadDir(r.effects)
	require.NoError(t, err)
	var found []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".attempt-") {
			t.Log("a killed attempt has left", e.Name())
			continue // of an attempt that was killed while it published
		}
		found = append(found, e.Name())
	}
	assert.ElementsMatch(t, r.want, found)
	assert.NoError(t, r.Ended())
}

func TestAFleetRunsItsJobs(t *testing.T) {
	for system, dispatches := range map[string]int{"kairos": 1, "eagle": 2, "hawk": 2, "pigeon": 3, "big-c": 1} {
		t.Run(system, func(t *testing.T) {
			if testing.Short() && system != "hawk" {
				t.Skip("-short")
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			r := newTrial(t, system, dispatches, 3)
			for i := range 4 {
				r.submit(ctx, t, fmt.Sprint("job", i), 3, i == 0, 300*time.Millisecond)
			}
			r.check(ctx, t, 4)
		})
	}
}
