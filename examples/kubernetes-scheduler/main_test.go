package main

import (
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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/kubernetes"
	"github.com/hedgesched/hedge/examples/internal/keys"
	"github.com/hedgesched/hedge/examples/internal/trial"
)

func TestConfig(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	require.NoError(t,
		os.WriteFile(path, []byte("namespace: team\npolicy: keep\ncycle: 500ms\nwindow: 60s\nslot: 5s\n"+
			"lease: {namespace: a, name: b}\n"), 0o600))
	c, err := load(path)
	require.NoError(t, err)
	assert.Equal(t, "team", c.Namespace)
	p, err := c.NewPolicy()
	require.NoError(t, err)
	assert.Equal(t, "keep", p.Name())
	assert.Equal(t, 500*time.Millisecond, c.Cycle)
	assert.Equal(t, time.Minute, c.Window)
	assert.Equal(t, 5*time.Second, c.Slot)
	assert.Equal(t, kubernetes.LeaseName{Namespace: "a", Name: "b"}, c.Lease)
	require.NoError(t, os.WriteFile(path, []byte("# nothing\n"), 0o600))
	c, err = load(path)
	require.NoError(t, err)
	assert.Equal(t, 2*time.Second, c.Cycle, "all is as it is by itself")
	for text, want := range map[string]string{
		"cycle: 0s": "cycle is 0s", "slot: -1s": "slot is -1s",
		"policy: fastest": `policy is "fastest", expected one of 3sigma`,
		"save_every: 0s":  "save_every is 0s", "lease_for: 1ms": "lease_for is 1ms", "cicle: 2s": "cicle",
		"cycle: soon": "soon", "parallel: 0": "parallel is 0", "{window: 1s, slot: 1h}": "Window = 1s",
		"node_selector: a in (": "node_selector", "lease: {nam: a}": "nam"} {
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

// TestOneSetOfKeys: what all schedulers have is called the same in all, and has the same default.
func TestOneSetOfKeys(t *testing.T) {
	var tables []map[string]string
	for _, name := range []string{"kubernetes", "nomad", "yarn"} {
		page, err := os.ReadFile(filepath.Join("..", name+"-scheduler", "README.md"))
		require.NoError(t, err)
		tables = append(tables, keys.Table(string(page)))
	}
	for _, key := range []string{"listen", "lease_for", "policy", "cycle", "slot", "window", "parallel", "history",
		"save_every", "reserve_after", "estimates"} {
		for _, table := range tables {
			require.Contains(t, table, key)
			assert.Equal(t, tables[0][key], table[key], key)
		}
	}
}

// TestReady: a scheduler is ready while the lease answers.
func TestReady(t *testing.T) {
	var away atomic.Bool
	away.Store(true)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if away.Load() {
			http.Error(w, "no leader far and wide", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, err := fmt.Fprint(w, `{"kind": "Lease", "apiVersion": "coordination.k8s.io/v1", "metadata": {"name": "hedge", `+
			`"resourceVersion": "5"},
			"spec": {"holderIdentity": "another", "leaseDurationSeconds": 3600, "leaseTransitions": 3}}`)
		assert.NoError(t, err)
	}))
	defer server.Close()
	dir := t.TempDir()
	file, kubeconfig := filepath.Join(dir, "config.yaml"), filepath.Join(dir, "kubeconfig")
	// which is how long it may take until the end of the test
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, "lease_for: %v\nlisten: 127.0.0.1:0\n", trial.Patience), 0o600))
	require.NoError(t, os.WriteFile(kubeconfig, fmt.Appendf(nil,
		`{apiVersion: v1, kind: Config, clusters: [{name: c, cluster: {server: %q}}], contexts: [{name: c, context: `+
			`{cluster: c}}], current-context: c}`, server.URL), 0o600))
	at, end := trial.Start(t, run, "-config", file, "-kubeconfig", kubeconfig)
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

// TestLost: the count goes on over terms, each of which has a driver that counts from 0.
func TestLost(t *testing.T) {
	var l lost
	assert.Zero(t, l.count())
	l.follow(dropped(3))
	assert.InDelta(t, 3, l.count(), 0)
	l.keep()
	assert.InDelta(t, 3, l.count(), 0, "a standby")
	assert.Nil(t, l.driver, "what a driver holds is much")
	l.follow(dropped(2))
	assert.InDelta(t, 5, l.count(), 0)
}

type dropped uint64

func (d dropped) Dropped() uint64 { return uint64(d) }
