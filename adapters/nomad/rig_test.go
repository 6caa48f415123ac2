package nomad_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/testservers"
)

const (
	clients   = 4
	clientCPU = 4000
	// patience is how long anything may take on a busy machine.
	patience = 8 * time.Minute
)

// rig is a Nomad cluster. Tests use it one after another, since its agents take a while to start.
type rig struct {
	*testservers.Nomad
	dir    string
	client *api.Client
	worlds int
}

// pool has the clusters. Each test has one for itself.
var pool struct {
	sync.Mutex
	all, free []*rig
}

// beside is the default of the flag -parallel: the number of the suite's cases that run concurrently. A case mostly
// waits.
const beside = "3"

// TestMain stops the clusters at the end.
func TestMain(m *testing.M) {
	flag.Parse()
	set := false
	flag.Visit(func(f *flag.Flag) { set = set || f.Name == "test.parallel" })
	if !set {
		if err := flag.Set("test.parallel", beside); err != nil {
			panic(err)
		}
	}
	code := m.Run()
	for _, r := range pool.all {
		r.Stop()
		_ = os.RemoveAll(r.dir)
	}
	os.Exit(code)
}

// need skips a test under -short if Nomad is not built yet, or fails it if HEDGE_REQUIRE_SERVERS is 1. Otherwise Nomad
// is built, which takes some minutes.
func need(t testing.TB) {
	t.Helper()
	err := testservers.Built("nomad")
	switch {
	case err == nil:
	case os.Getenv("HEDGE_REQUIRE_SERVERS") == "1":
		t.Fatalf("HEDGE_REQUIRE_SERVERS is 1: %v", err)
	case testing.Short():
		t.Skipf("-short: %v", err)
	}
}

// theRig is a cluster for the test alone: a free one, or a new one.
func theRig(t testing.TB) *rig {
	t.Helper()
	need(t)
	pool.Lock()
	defer pool.Unlock()
	var r *rig
	if n := len(pool.free); n > 0 {
		r, pool.free = pool.free[n-1], pool.free[:n-1]
	} else {
		r = newRig(t)
	}
	t.Cleanup(func() { // the last cleanup of the test
		if t.Failed() { // its state is unknown
			r.say(t)
			r.Stop()
			return
		}
		pool.Lock()
		defer pool.Unlock()
		pool.free = append(pool.free, r)
	})
	return r
}

// say adds to the test's log what the server and the agents have written last.
func (r *rig) say(t testing.TB) {
	const most = 50_000 // bytes
	logs, err := filepath.Glob(filepath.Join(r.dir, "*.log"))
	require.NoError(t, err)
	for _, log := range logs {
		text, err := os.ReadFile(log)
		t.Logf("%s: %s %v", filepath.Base(log), text[max(0, len(text)-most):], err)
	}
}

// newRig is called with the lock held.
func newRig(t testing.TB) *rig {
	t.Helper()
	dir, err := os.MkdirTemp("", "hedge-nomad-")
	require.NoError(t, err)
	r := &rig{dir: dir}
	var list []testservers.NomadClient
	for i := range clients {
		list = append(list, client(fmt.Sprint("n", i)))
	}
	r.Nomad, err = testservers.StartNomad(context.Background(), testservers.NomadConfig{Dir: dir, Clients: list})
	require.NoError(t, err)
	pool.all = append(pool.all, r)
	r.client, err = api.NewClient(&api.Config{Address: r.URL()})
	require.NoError(t, err)
	for i := range clients {
		r.ready(t, fmt.Sprint("n", i))
	}
	return r
}

func client(name string) testservers.NomadClient {
	return testservers.NomadClient{Name: name, CPU: clientCPU, MemoryMB: 8192, Class: "standard"}
}

// node finds a node by its name. It is nil if the server knows none.
func (r *rig) node(name string) *api.NodeListStub {
	nodes, _, err := r.client.Nodes().List(nil)
	if err != nil {
		return nil
	}
	for _, n := range nodes {
		if n.Name == name {
			return n
		}
	}
	return nil
}

// ready waits until a node is ready and returns its id.
func (r *rig) ready(t testing.TB, name string) string {
	t.Helper()
	id := ""
	wait(t, "node "+name+" is ready", func() bool {
		n := r.node(name)
		if n == nil || n.Status != api.NodeStatusReady {
			return false
		}
		full, _, err := r.client.Nodes().Info(n.ID, nil)
		if err != nil || full.Drivers["raw_exec"] == nil || !full.Drivers["raw_exec"].Healthy {
			return false
		}
		id = n.ID
		return true
	})
	return id
}

// wait waits until something holds.
func wait(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); {
		require.True(t, time.Now().Before(end), "it did not come about that %s", what)
		time.Sleep(100 * time.Millisecond)
	}
}

// cut kills a client and everything that it runs, like a loss of power.
func (r *rig) cut(name string) {
	r.Kill(name)
	data := filepath.Join(r.dir, "data-"+name) + "/"
	for range 3 { // also what is just being started
		procs, err := filepath.Glob("/proc/[0-9]*")
		if err != nil {
			return
		}
		for _, proc := range procs {
			at, _ := os.Readlink(proc + "/cwd") // it may have ended
			line, _ := os.ReadFile(proc + "/cmdline")
			var pid int
			if _, err := fmt.Sscanf(proc, "/proc/%d", &pid); err != nil || pid == os.Getpid() {
				continue
			}
			if strings.HasPrefix(at, data) || strings.Contains(string(line), data) {
				_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
			}
		}
	}
}

// register submits a job.
func (r *rig) register(t testing.TB, j *api.Job) {
	t.Helper()
	wait(t, "the server takes job "+*j.ID, func() bool {
		_, _, err := r.client.Jobs().Register(j, nil)
		if err != nil && !strings.Contains(err.Error(), "connection refused") &&
			!strings.Contains(err.Error(), "No cluster leader") {
			require.NoError(t, err)
		}
		return err == nil
	})
}
