package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/nomad"
	"github.com/hedgesched/hedge/adapters/testservers"
	"github.com/hedgesched/hedge/examples/internal/keys"
)

// patience is how long anything may take on a machine that is busy with other things.
const patience = 5 * time.Minute

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
	for text, want := range map[string]string{"cycle: 0s": "cycle is 0s", "slot: -1s": "slot is -1s", "save_every: 0s": "save_every is 0s", "lease_for: 1ms": "lease_for is 1ms", "cicle: 2s": "cicle",
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
	require.ErrorIs(t, run(t.Context(), []string{"-config", "no-such-file"}, slog.New(slog.DiscardHandler), nil), os.ErrNotExist)
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
		fmt.Fprintf(w, `{"Namespace": "default", "Path": "hedge/lease", "ModifyIndex": %d, "Items": {"epoch": "3", "holder": "another", "renewed": "1"}}`, index.Add(1))
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, "nomad_address: %s\nlease_for: %v\nlisten: 127.0.0.1:0\n", server.URL, patience), 0o600)) // which is how long it may take until the end of the test
	at, end := start(t, "-config", file)
	eventually(t, "it tells what is wrong", func() bool {
		text, code := get(t, at+"/readyz")
		return code == http.StatusServiceUnavailable && strings.Contains(text, "far and wide")
	})
	_, code := get(t, at+"/healthz")
	assert.Equal(t, http.StatusOK, code, "a standby lives")
	away.Store(false)
	eventually(t, "it is ready, as another has the lease", func() bool { _, code := get(t, at+"/readyz"); return code == http.StatusOK })
	require.NoError(t, end())
}

// TestScheduler runs the program on a real cluster: a gang runs, its runtime is kept, and the program ends when it is told to.
func TestScheduler(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: builds and runs Nomad")
	}
	dir := t.TempDir()
	servers, err := testservers.StartNomad(context.Background(), testservers.NomadConfig{Dir: dir, Clients: []testservers.NomadClient{
		{Name: "n0", CPU: 4000, MemoryMB: 4096}, {Name: "n1", CPU: 4000, MemoryMB: 4096}}})
	require.NoError(t, err)
	t.Cleanup(servers.Stop)
	client, err := api.NewClient(&api.Config{Address: servers.URL()})
	require.NoError(t, err)
	_, _, err = client.Jobs().Register(gang("a", 3), nil)
	require.NoError(t, err)

	file, history := filepath.Join(dir, "config.yaml"), filepath.Join(dir, "history")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, "nomad_address: %s\nhistory: %s\ncycle: 200ms\nlisten: 127.0.0.1:0\n", servers.URL(), history), 0o600))
	at, end := start(t, "-config", file)
	eventually(t, "three tasks have finished", func() bool {
		list, _, err := client.Jobs().Allocations("a", true, nil)
		n := 0
		for _, a := range list {
			if a.ClientStatus == api.AllocClientStatusComplete {
				n++
			}
		}
		return err == nil && n == 3
	})
	eventually(t, "it is ready", func() bool { _, status := get(t, at+"/readyz"); return status == http.StatusOK })
	eventually(t, "nothing runs by its metrics", func() bool {
		text, _ := get(t, at+"/metrics")
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

// start runs the program until end is called, or the test is over, and tells where it answers.
func start(t *testing.T, args ...string) (at string, end func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	addr, done := make(chan net.Addr, 1), make(chan error, 1)
	go func() {
		done <- run(ctx, args, slog.New(slog.NewTextHandler(t.Output(), nil)), func(a net.Addr) { addr <- a })
	}()
	end = sync.OnceValue(func() error {
		cancel()
		return <-done
	})
	t.Cleanup(func() { _ = end() })
	select {
	case a := <-addr:
		at = "http://" + a.String()
	case err := <-done:
		done <- err
		require.FailNow(t, "it has ended before it listened", "%v", err)
	}
	return at, end
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); {
		require.True(t, time.Now().Before(end), "it did not come about that %s", what)
		time.Sleep(100 * time.Millisecond)
	}
}

func get(t *testing.T, url string) (string, int) {
	t.Helper()
	resp, err := http.Get(url)
	require.NoError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return string(text), resp.StatusCode
}
