package testservers_test

import (
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/testservers"
)

func TestUnknownProgram(t *testing.T) {
	_, err := testservers.Program(t.Context(), "mesos")
	assert.ErrorContains(t, err, `unknown program "mesos"`)
	assert.ErrorContains(t, testservers.Built("mesos"), `unknown program "mesos"`)
}

// TestBuilt: what is not in the cache is not built, and the error says how to build it.
func TestBuilt(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	err := testservers.Built("etcd", "nomad", "yarn")
	require.ErrorIs(t, err, testservers.ErrNotBuilt)
	assert.ErrorContains(t, err, "cmd/servers etcd nomad yarn")
	require.NoError(t, testservers.Built())

	dir := filepath.Join(t.TempDir(), "greeting")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "src", "main"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "pom.xml"), nil, 0o644))
	err = testservers.Built("yarn", dir)
	require.ErrorIs(t, err, testservers.ErrNotBuilt)
	assert.ErrorContains(t, err, "cmd/servers yarn "+dir)
}

// TestFolder: what is no folder of the cluster's own is refused, since all that works in it is killed.
func TestFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	for _, dir := range []string{"", "/", ".", "tmp", "/tmp/..", file, file + ".none"} {
		_, err := testservers.StartNomad(t.Context(), testservers.NomadConfig{Dir: dir})
		require.ErrorContains(t, err, "testservers: Dir", "%q", dir)
		_, err = testservers.StartYARN(t.Context(), testservers.YARNConfig{Dir: dir})
		require.ErrorContains(t, err, "testservers: Dir", "%q", dir)
		_, err = testservers.StartKubernetes(t.Context(), testservers.KubernetesConfig{Dir: dir})
		require.ErrorContains(t, err, "testservers: Dir", "%q", dir)
	}
	_, err := testservers.StartNomad(t.Context(), testservers.NomadConfig{Dir: filepath.Dir(file)})
	require.ErrorContains(t, err, `with "file" in it, expected an empty folder`)
}

// TestKubernetes: all parts come up, a node that is told of is ready, and what is written outlives a crash of the API
// server.
func TestKubernetes(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: builds and runs a control plane")
	}
	k, err := testservers.StartKubernetes(t.Context(),
		testservers.KubernetesConfig{Dir: t.TempDir(), Controllers: "job-controller", Scheduler: true})
	require.NoError(t, err)
	defer k.Stop()
	// the server's own certificate
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	call := func(method, path, body string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), method, k.URL()+path, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+testservers.AdminToken)
		req.Header.Set("Content-Type", "application/json")
		resp, err := client.Do(req)
		if err != nil {
			return 0, err.Error()
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, string(text)
	}
	status, text := call(http.MethodPost, "/api/v1/nodes",
		`{"metadata":{"name":"n0"},"status":{"capacity":{"cpu":"4","memory":"8Gi","pods":"110"}}}`)
	require.Equal(t, http.StatusCreated, status, text)
	ready := func() bool {
		_, text := call(http.MethodGet, "/api/v1/nodes/n0", "")
		var node struct {
			Status struct {
				Conditions []struct{ Type, Status string }
			}
		}
		if json.Unmarshal([]byte(text), &node) != nil {
			return false
		}
		for _, c := range node.Status.Conditions {
			if c.Type == "Ready" {
				return c.Status == "True"
			}
		}
		return false
	}
	require.Eventually(t, ready, 2*time.Minute, 100*time.Millisecond, "kwok: %s", k.Log("kwok"))

	k.Kill("kube-apiserver")
	status, _ = call(http.MethodGet, "/api/v1/nodes/n0", "")
	assert.Zero(t, status, "it has gone")
	require.NoError(t, k.Start(t.Context(), "kube-apiserver"))
	require.Eventually(t, ready, 2*time.Minute, 100*time.Millisecond)
}

// TestNomad: a task runs as a process, on the client that was asked for.
func TestNomad(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: builds and runs Nomad")
	}
	n, err := testservers.StartNomad(t.Context(),
		testservers.NomadConfig{Dir: t.TempDir(), Clients: []testservers.NomadClient{
			{Name: "c0", CPU: 4000, MemoryMB: 4096},
			{Name: "c1", CPU: 4000, MemoryMB: 4096, Meta: map[string]string{"rack": "r1"}}}})
	require.NoError(t, err)
	defer n.Stop()
	client := &http.Client{}
	defer client.CloseIdleConnections()
	ready := func() (count int) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, n.URL()+"/v1/nodes", nil)
		require.NoError(t, err)
		resp, err := client.Do(req)
		if err != nil {
			return 0
		}
		defer resp.Body.Close()
		var nodes []struct{ Name, Status string }
		if json.NewDecoder(resp.Body).Decode(&nodes) != nil {
			return 0
		}
		for _, node := range nodes {
			if node.Status == "ready" {
				count++
			}
		}
		return count
	}
	require.Eventually(t, func() bool {
		return ready() == 2
	}, 2*time.Minute, 100*time.Millisecond, "server: %s", n.Log(testservers.Server))
	n.Kill("c1")
	require.Eventually(t, func() bool {
		return ready() == 1
	}, 2*time.Minute, 100*time.Millisecond, "a client that is gone is seen to be")
	require.NoError(t, n.Start(t.Context(), "c1"))
	require.Eventually(t, func() bool { return ready() == 2 }, 2*time.Minute, 100*time.Millisecond)
}
