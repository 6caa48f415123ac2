package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/nomad"
	"github.com/hedgesched/hedge/adapters/testservers"
	"github.com/hedgesched/hedge/examples/internal/keys"
	"github.com/hedgesched/hedge/examples/internal/trial"
)

func TestConfig(t *testing.T) {
	c, err := load("config.yaml")
	require.NoError(t, err)
	assert.Equal(t, "http://127.0.0.1:4646", c.api().Address)
	assert.Equal(t, 15*time.Second, c.LeaseFor)
	assert.Equal(t, "/var/lib/hedge/history", c.History)
	_, err = load("")
	require.NoError(t, err)
	empty := filepath.Join(t.TempDir(), "empty.yaml")
	require.NoError(t, os.WriteFile(empty, []byte("# nothing\n"), 0o600))
	c, err = load(empty)
	require.NoError(t, err)
	assert.Equal(t, 2*time.Second, c.Cycle, "all is as it is by itself")
	_, err = load("no-such-file")
	require.ErrorIs(t, err, os.ErrNotExist)
	for text, want := range map[string]string{
		"cycle: 0s": "cycle is 0s", "slot: -1s": "slot is -1s",
		"policy: fastest": `policy is "fastest", expected one of 3sigma`,
		"save_every: 0s":  "save_every is 0s", "lease_for: 1ms": "lease_for is 1ms", "cicle: 2s": "cicle",
		"cycle: soon": "soon", "parallel: 0": "parallel is 0", "{window: 1s, slot: 1h}": "Window = 1s"} {
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
	var away atomic.Bool
	var index atomic.Uint64
	away.Store(true)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if away.Load() {
			http.Error(w, "no leader far and wide", http.StatusInternalServerError)
			return
		}
		fmt.Fprintf(w,
			`{"Namespace": "default", "Path": "hedge/lease", "ModifyIndex": %d, "Items": {"epoch": "3", "holder": "another", `+
				`"renewed": "1"}}`, index.Add(1))
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "config.yaml")
	// which is how long it may take until the end of the test
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, "nomad_address: %s\nlease_for: %v\nlisten: 127.0.0.1:0\n",
		server.URL, trial.Patience), 0o600))
	at, end := trial.Start(t, run, "-config", file)
	trial.Eventually(t, "it tells what is wrong", func() bool {
		text, code := trial.Get(t, at+"/readyz")
		return code == http.StatusServiceUnavailable && strings.Contains(text, "far and wide")
	})
	_, code := trial.Get(t, at+"/healthz")
	assert.Equal(t, http.StatusOK, code, "a standby lives")
	away.Store(false)
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
		t.Skip("-short: builds and runs Nomad")
	}
	dir := t.TempDir()
	servers, err := testservers.StartNomad(context.Background(),
		testservers.NomadConfig{Dir: dir, Clients: []testservers.NomadClient{
			{Name: "n0", CPU: 4000, MemoryMB: 4096}, {Name: "n1", CPU: 4000, MemoryMB: 4096}}})
	require.NoError(t, err)
	t.Cleanup(servers.Stop)
	client, err := api.NewClient(&api.Config{Address: servers.URL()})
	require.NoError(t, err)
	_, _, err = client.Jobs().Register(gang("a", 3), nil)
	require.NoError(t, err)

	file, history := filepath.Join(dir, "config.yaml"), filepath.Join(dir, "history")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil,
		"nomad_address: %s\nhistory: %s\ncycle: 200ms\nlisten: 127.0.0.1:0\n", servers.URL(), history), 0o600))
	at, end := trial.Start(t, run, "-config", file)
	trial.Eventually(t, "three tasks have finished", func() bool {
		list, _, err := client.Jobs().Allocations("a", true, nil)
		n := 0
		for _, a := range list {
			if a.ClientStatus == api.AllocClientStatusComplete {
				n++
			}
		}
		return err == nil && n == 3
	})
	trial.Eventually(t, "it is ready", func() bool {
		_, status := trial.Get(t, at+"/readyz")
		return status == http.StatusOK
	})
	trial.Eventually(t, "nothing runs by its metrics", func() bool {
		text, _ := trial.Get(t, at+"/metrics")
		return !strings.Contains(text, "hedge_leader_epoch 0\n") && strings.Contains(text, "hedge_jobs_running 0\n")
	})
	require.NoError(t, end())
	kept, err := os.ReadFile(history)
	require.NoError(t, err)
	assert.Contains(t, string(kept), "hedge-history")
	v, _, err := client.Variables().Read("hedge/lease", nil)
	require.NoError(t, err)
	assert.Empty(t, v.Items["holder"], "the lease is given back")
}

// gang is a held job.
func gang(id string, tasks int) *api.Job {
	cpu, memory := 500, 32
	j := api.NewBatchJob(id, id, "global", 50)
	j.Datacenters = []string{"*"}
	j.Meta = map[string]string{nomad.KeyMark: "true", nomad.KeyTasks: fmt.Sprint(tasks), nomad.KeyDeadline: "1h"}
	task := api.NewTask("main", "raw_exec").SetConfig("command", "/bin/sleep").SetConfig("args", []string{"1"})
	return j.AddTaskGroup(api.NewTaskGroup("work", 0).AddTask(task.Require(&api.Resources{CPU: &cpu, MemoryMB: &memory})))
}
