package ticks_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/live/ticks"
)

// wall is a clock whose sleeps are late.
type wall struct {
	now  time.Time
	late func() time.Duration
}

func (w *wall) sleep(d time.Duration) { w.now = w.now.Add(max(0, d) + w.late()) }

// took is how long work takes on a clock.
func took(total, tick time.Duration, late func() time.Duration) time.Duration {
	w := &wall{now: time.Unix(0, 0), late: late}
	ticks.Work(total, tick, func() time.Time { return w.now }, w.sleep)
	return w.now.Sub(time.Unix(0, 0))
}

func TestWork(t *testing.T) {
	never := func() time.Duration { return 0 }
	assert.Equal(t, time.Second, took(time.Second, 20*time.Millisecond, never))
	assert.Equal(t, 50*time.Millisecond, took(50*time.Millisecond, 20*time.Millisecond, never), "no whole ticks")
	assert.Zero(t, took(0, time.Millisecond, never))
	little := func() time.Duration { return 3 * time.Millisecond }
	assert.Equal(t, 1003*time.Millisecond, took(time.Second, 20*time.Millisecond, little), "it does not add up")
	stopped, calls := 7*time.Second, 0
	once := func() time.Duration {
		if calls++; calls == 10 {
			return stopped
		}
		return 0
	}
	assert.Equal(t, time.Second+stopped, took(time.Second, 20*time.Millisecond, once), "time while stopped is not work")
}

func TestAnEffectIsThereOnce(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, ticks.Publish(dir, "a/b", 3))
	first, err := os.ReadFile(filepath.Join(dir, ticks.Name("a/b", 3)))
	require.NoError(t, err)
	require.NoError(t, ticks.Publish(dir, "a/b", 3))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	again, err := os.ReadFile(filepath.Join(dir, entries[0].Name()))
	require.NoError(t, err)
	assert.Equal(t, first, again)
	assert.Error(t, ticks.Publish(filepath.Join(dir, "none"), "a", 0))
}

func TestMainDoesWhatItIsTold(t *testing.T) {
	asked, err := ticks.Main()
	require.NoError(t, err)
	require.False(t, asked)
	dir := t.TempDir()
	text, err := (&ticks.Spec{Work: []time.Duration{1, 2}, Tick: time.Millisecond, Effects: dir}).Environment()
	require.NoError(t, err)
	name, value, _ := strings.Cut(text, "=")
	t.Setenv(name, value)
	t.Setenv("HEDGE_JOB", "a")
	t.Setenv("HEDGE_TASK", "1")
	asked, err = ticks.Main()
	require.NoError(t, err)
	require.True(t, asked)
	assert.FileExists(t, filepath.Join(dir, "a.1"))
	for _, task := range []string{"", "2", "-1"} {
		t.Setenv("HEDGE_TASK", task)
		_, err = ticks.Main()
		require.ErrorContains(t, err, "expected 0 to 1")
	}
	t.Setenv(name, "{")
	_, err = ticks.Main()
	require.Error(t, err)
}
