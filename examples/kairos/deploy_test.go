package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/hedgesched/hedge/adapters/live"
	"github.com/hedgesched/hedge/adapters/testservers"
)

// program builds hedge.
func program(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hedge")
	build := exec.Command("go", "build", "-o", path, ".")
	build.Dir = "../../cmd/hedge"
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return path
}

// workload is what the test reads of a Kubernetes object.
type workload struct {
	Kind string
	Spec struct {
		Template struct {
			Spec struct {
				Containers []struct{ Args []string }
			}
		}
	}
}

// The program knows the flags of the manifests, and the agents are told the same system as the scheduler.
func TestKubernetesManifests(t *testing.T) {
	hedge := program(t)
	f, err := os.Open("kubernetes.yaml")
	require.NoError(t, err)
	defer f.Close()
	args := map[string][]string{}
	for d := yaml.NewDecoder(f); ; {
		var w workload
		if err := d.Decode(&w); errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		for _, c := range w.Spec.Template.Spec.Containers {
			args[w.Kind] = c.Args
			out, err := exec.Command(hedge, append(c.Args, "--help")...).CombinedOutput()
			require.NoError(t, err, "%s", out)
		}
	}
	require.Contains(t, args, "StatefulSet")
	require.Contains(t, args, "DaemonSet")
	for _, same := range []string{"--fleet=hedge-dispatch-0.hedge-dispatch:7400", "--system=kairos", "--workers=30",
		"--slots=4"} {
		assert.Contains(t, args["StatefulSet"], same)
		assert.Contains(t, args["DaemonSet"], same)
	}
}

// The files for Nomad, on a real cluster of two nodes: the agents of both join, and a job runs.
func TestNomad(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it runs Nomad")
	}
	if err := testservers.Built("nomad"); err != nil && os.Getenv("HEDGE_REQUIRE_SERVERS") != "1" {
		t.Skip(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	hedge, dir := program(t), t.TempDir()
	servers, err := testservers.StartNomad(ctx, testservers.NomadConfig{Dir: t.TempDir(),
		Clients: []testservers.NomadClient{{Name: "n0", CPU: 4000, MemoryMB: 4096},
			{Name: "n1", CPU: 4000, MemoryMB: 4096}}})
	require.NoError(t, err)
	t.Cleanup(servers.Stop)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	fleet := l.Addr().String()
	require.NoError(t, l.Close())
	common := fmt.Sprintf("hedge = %q\nfleet = %q\nworkers = 2\ntls = []\n", hedge, fleet)
	register(ctx, t, servers.URL(), "dispatch.nomad.hcl", common+fmt.Sprintf("machine = \"n0\"\ndir = %q\n",
		filepath.Join(dir, "dispatch")))
	register(ctx, t, servers.URL(), "agent.nomad.hcl", common+fmt.Sprintf("dir = %q\n", filepath.Join(dir, "agents")))

	client, err := live.Dial(fleet, nil)
	require.NoError(t, err)
	defer func() { _ = client.Close() }()
	require.Eventually(t, func() bool {
		workers, present, err := client.Census(ctx)
		return err == nil && workers == 2 && present == 2
	}, 4*time.Minute, 200*time.Millisecond)
	done := filepath.Join(dir, "done")
	require.NoError(t, client.Submit(ctx, live.Job{Name: "touch", Tasks: 4, Command: live.Command{
		Args: []string{"/bin/sh", "-c", "touch " + done + "$HEDGE_TASK"}}}))
	s, err := client.Wait(ctx, "touch")
	require.NoError(t, err)
	assert.Zero(t, s.Failed)
	for i := range 4 {
		assert.FileExists(t, done+fmt.Sprint(i))
	}
}

// register has Nomad read a file with variables, and runs the job.
func register(ctx context.Context, t *testing.T, url, file, variables string) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var job json.RawMessage
	call(ctx, t, url+"/v1/jobs/parse", map[string]any{"JobHCL": string(text), "Variables": variables,
		"Canonicalize": true}, &job)
	call(ctx, t, url+"/v1/jobs", map[string]any{"Job": job}, nil)
}

func call(ctx context.Context, t *testing.T, url string, body, into any) {
	t.Helper()
	text, err := json.Marshal(body)
	require.NoError(t, err)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(text))
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, resp.StatusCode, "%s", answer)
	if into != nil {
		require.NoError(t, json.Unmarshal(answer, into))
	}
}
