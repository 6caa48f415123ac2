package loopback_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/live"
	"github.com/hedgesched/hedge/adapters/live/loopback"
	"github.com/hedgesched/hedge/adapters/sim/agents"
	"github.com/hedgesched/hedge/sched/kairos"
)

func newSystem() (*live.System, error) {
	s, err := kairos.New(kairos.Config{Workers: 2, Slots: 2, Queue: 2, Quantum: time.Second,
		Interval: 10 * time.Millisecond})
	if err != nil {
		return nil, err
	}
	return live.NewSystem("kairos", s, kairos.Codec{}), nil
}

func TestMain(m *testing.M) {
	loopback.Main(newSystem)
	os.Exit(m.Run())
}

// A workload of two jobs, one of two phases, is replayed; its effects are there, and a process that ends by itself is
// told of.
func TestReplay(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	f, err := loopback.Start(loopback.Config{Dir: t.TempDir(), Dispatches: 1, Agents: 2, LostAfter: time.Second})
	require.NoError(t, err)
	t.Cleanup(f.Stop)
	require.NoError(t, f.Ready(ctx))
	w := &agents.Workload{Jobs: []agents.Job{{Mean: 60 * time.Millisecond, Tasks: 2},
		{Mean: 50 * time.Millisecond, First: 2, Tasks: 1, Phase: 1},
		{Submit: 20 * time.Millisecond, Mean: 300 * time.Millisecond, First: 3, Tasks: 1}},
		Runtimes: []time.Duration{50e6, 70e6, 50e6, 300e6}}
	effects := t.TempDir()
	r, err := f.Replay(ctx, w, 200*time.Millisecond, effects)
	require.NoError(t, err)
	entries, err := os.ReadDir(effects)
	require.NoError(t, err)
	assert.Len(t, entries, 4)
	assert.Equal(t, r[0].End, r[1].Submit, "the phases")
	assert.GreaterOrEqual(t, r[0].End-r[0].Submit, 70*time.Millisecond)
	assert.True(t, r[2].Long)
	short := loopback.Completions(w, r, false)
	assert.Equal(t, []time.Duration{r[1].End - r[0].Submit}, short)
	var out bytes.Buffer
	require.NoError(t, loopback.Compare(&out, w, r, r))
	assert.Contains(t, out.String(), "1.000")
	assert.NoError(t, f.Ended())
}

func ExampleQuantile() {
	fmt.Println(loopback.Quantile([]time.Duration{1 * time.Second, 2 * time.Second, 4 * time.Second}, 0.75))
	// Output: 3s
}
