package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/testservers"
	"github.com/hedgesched/hedge/adapters/yarn"
	"github.com/hedgesched/hedge/examples/internal/keys"
	"github.com/hedgesched/hedge/examples/internal/trial"
)

func TestConfig(t *testing.T) {
	c, err := load("config.yaml")
	require.NoError(t, err)
	assert.Equal(t, 15*time.Second, c.LeaseFor)
	assert.Equal(t, "/var/lib/hedge/history", c.History)
	assert.Equal(t, []string{"http://127.0.0.1:8088"}, c.options().URLs)
	assert.Contains(t, c.options().AM.Classpath, "hedge-am.jar")
	_, err = load("")
	require.NoError(t, err)
	empty := filepath.Join(t.TempDir(), "empty.yaml")
	require.NoError(t, os.WriteFile(empty, []byte("# nothing\n"), 0o600))
	_, err = load(empty)
	require.ErrorContains(t, err, "application_master.classpath is empty")
	_, err = load("no-such-file")
	require.ErrorIs(t, err, os.ErrNotExist)
	for text, want := range map[string]string{
		"cycle: 0s": "cycle is 0s", "slot: -1s": "slot is -1s",
		"policy: fastest": `policy is "fastest", expected one of 3sigma`,
		"save_every: 0s":  "save_every is 0s", "lease_for: 1ms": "lease_for is 1ms", "cicle: 2s": "cicle",
		"cycle: soon": "soon", "parallel: 0": "parallel is 0", "{window: 1s, slot: 1h, pools: [a]}": "Window = 1s"} {
		file := filepath.Join(t.TempDir(), "c.yaml")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		_, err = load(file)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, file)
	}
}

// TestReadme: the page has all keys, with their defaults.
func TestReadme(t *testing.T) {
	page, err := os.ReadFile("README.md")
	require.NoError(t, err)
	c, err := load("")
	require.NoError(t, err)
	require.NoError(t, keys.Check(string(page), c))
}

// TestArguments: what is no flag is not passed over.
func TestArguments(t *testing.T) {
	require.ErrorContains(t, run(t.Context(), []string{"c.yaml"}, slog.New(slog.DiscardHandler), nil), "c.yaml")
	require.ErrorIs(t, run(t.Context(), []string{"-config", "no-such-file"}, slog.New(slog.DiscardHandler), nil),
		os.ErrNotExist)
}

// TestReady: a scheduler is ready while the lease answers.
func TestReady(t *testing.T) {
	spool := t.TempDir()
	require.NoError(t,
		os.WriteFile(filepath.Join(spool, "lease.json"), []byte(`{"epoch": 3, "holder": "another"}`), 0o600))
	lock := filepath.Join(spool, "lock")
	require.NoError(t, os.Mkdir(lock, 0o700)) // which is no file to lock
	file := filepath.Join(t.TempDir(), "config.yaml")
	// which is how long it may take until the end of the test
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, "spool: %s\nlease_for: %v\nlisten: 127.0.0.1:0\npools: [x]\n",
		spool, trial.Patience), 0o600))
	at, end := trial.Start(t, run, "-config", file)
	trial.Eventually(t, "it tells what is wrong", func() bool {
		text, code := trial.Get(t, at+"/readyz")
		return code == http.StatusServiceUnavailable && strings.Contains(text, "is a directory")
	})
	_, code := trial.Get(t, at+"/healthz")
	assert.Equal(t, http.StatusOK, code, "a standby lives")
	require.NoError(t, os.Remove(lock))
	trial.Eventually(t, "it is ready, as another has the lease", func() bool {
		_, code := trial.Get(t, at+"/readyz")
		return code == http.StatusOK
	})
	require.NoError(t, end())
}

// TestScheduler runs the program on a real cluster: a gang runs, its runtime is kept, and the program ends when it is
// told to.
func TestScheduler(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: runs YARN's servers")
	}
	dir := t.TempDir()
	jar, err := testservers.Jar(context.Background(), "../../adapters/yarn/am")
	require.NoError(t, err)
	servers, err := testservers.StartYARN(context.Background(),
		testservers.YARNConfig{Dir: dir, Nodes: []testservers.YARNNode{{Name: "n0"}, {Name: "n1"}}})
	require.NoError(t, err)
	t.Cleanup(servers.Stop)
	me, err := user.Current()
	require.NoError(t, err)

	file, history, spool := filepath.Join(dir, "config.yaml"), filepath.Join(dir, "history"), filepath.Join(dir, "spool")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, `resource_managers: [%q]
spool: %s
user: %s
headroom_mb: 1024
headroom_vcores: 10
application_master: {classpath: %q, memory_mb: 128}
history: %s
cycle: 200ms
listen: 127.0.0.1:0
`, servers.URL(), spool, me.Username, jar+":"+servers.Classpath(), history), 0o600))
	at, end := trial.Start(t, run, "-config", file)
	trial.Eventually(t, "it is ready", func() bool {
		_, status := trial.Get(t, at+"/readyz")
		return status == http.StatusOK
	})
	trial.Eventually(t, "the spool is there", func() bool {
		_, err := os.Stat(filepath.Join(spool, "jobs"))
		return err == nil
	})
	job := fmt.Sprintf(
		"tasks: 3\nresources: {memory-mb: 64}\ndeadline: 1h\ncommand: sleep 1; echo done > %s/ran-$HEDGE_RANK\n", dir)
	require.NoError(t, yarn.Submit(spool, "a", []byte(job)))
	trial.Eventually(t, "three tasks have finished", func() bool {
		ran, err := filepath.Glob(filepath.Join(dir, "ran-*"))
		return err == nil && len(ran) == 3
	})
	trial.Eventually(t, "nothing runs by its metrics", func() bool {
		text, _ := trial.Get(t, at+"/metrics")
		return strings.Contains(text, "hedge_leader_epoch 1\n") && strings.Contains(text, "hedge_jobs_running 0\n")
	})
	require.NoError(t, end())
	kept, err := os.ReadFile(history)
	require.NoError(t, err)
	assert.Contains(t, string(kept), "hedge-history")
	lease, err := os.ReadFile(filepath.Join(spool, "lease.json"))
	require.NoError(t, err)
	assert.JSONEq(t, `{"epoch": 1, "holder": "", "renewed": 0}`, string(lease), "the lease is given back")
}
