package live_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/live/loopback"
)

var storms = flag.Int("storms", 1, "runs of each system in which processes are killed at random")

// Agents and dispatches are killed at random while jobs come; some agents stay away until the end. Every job is done,
// and the effect of each task is there once.
func TestStorms(t *testing.T) {
	for system, dispatches := range map[string]int{"kairos": 1, "eagle": 2} {
		for seed := range uint64(*storms) {
			t.Run(fmt.Sprint(system, seed), func(t *testing.T) { storm(t, system, dispatches, seed) })
		}
	}
}

func storm(t *testing.T, system string, dispatches int, seed uint64) {
	const agents, jobs, kills = 3, 8, 12
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	random := rand.New(rand.NewPCG(seed, 1))
	r := newTrial(t, system, dispatches, agents)
	away := random.IntN(agents) // comes never again once it was killed
	gone := false
	submitted := make(chan struct{})
	go func() {
		defer close(submitted)
		for i := range jobs {
			r.submit(ctx, t, fmt.Sprint("job", i), 1+i%4, i%4 == 0, time.Duration(100+100*(i%5))*time.Millisecond)
			time.Sleep(150 * time.Millisecond)
		}
	}()
	for range kills {
		time.Sleep(time.Duration(50+random.IntN(200)) * time.Millisecond)
		if n := random.IntN(agents + dispatches); n < agents {
			r.Kill(loopback.Agent(n))
			if gone = gone || n == away; n != away {
				require.NoError(t, r.StartAgent(n))
			}
		} else {
			r.Kill(loopback.Dispatch(n - agents))
			require.NoError(t, r.StartDispatch(n-agents))
		}
	}
	<-submitted
	r.check(ctx, t, jobs)
	t.Log("an agent stayed away:", gone)
}

// No process of a fleet or of its tasks outlives it, though agents were killed.
func TestNothingIsLeftRunning(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	dir := ""
	t.Run("fleet", func(t *testing.T) {
		r := newTrial(t, "kairos", 1, 3)
		dir = r.Dir
		r.submit(ctx, t, "long", 6, false, time.Hour)
		require.Eventually(t, func() bool { return len(processes(t, dir)) >= 4+3 }, 20*time.Second, 50*time.Millisecond)
		r.Kill(loopback.Agent(1))
		r.Kill(loopback.Dispatch(0))
		require.NoError(t, r.StartDispatch(0))
	})
	assert.Eventually(t, func() bool { return len(processes(t, dir)) == 0 }, 10*time.Second, 50*time.Millisecond,
		"%v", processes(t, dir))
}

// processes are those whose environment has a folder.
func processes(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skip("there is no /proc")
	}
	var found []string
	for _, name := range files {
		if text, err := os.ReadFile(name); err == nil && strings.Contains(string(text), dir) {
			found = append(found, name)
		}
	}
	return found
}
