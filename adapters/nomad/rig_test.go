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
	// patience is how long anything may take on a machine that is busy with other things.
	patience = 8 * time.Minute
)

// rig is a Nomad cluster that tests use one after another, since its agents take a while to start.
type rig struct {
	*testservers.Nomad
	dir    string
	client *api.Client
	worlds int
}

// pool are the clusters that there are; each test has one for itself.
var pool struct {
	sync.Mutex
	all, free []*rig
}

// beside is how many cases of the suite run at a time, unless the flag -parallel says otherwise: most of a case is
// waiting.
const beside = "3"

// TestMain takes the clusters down.
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

// need skips a test under -short, or has it fail where HEDGE_REQUIRE_SERVERS is 1, if Nomad is not built yet. Otherwise
// it is built, in some minutes.
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

// theRig is a cluster that is the test's until it ends: one that is free, or another.
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
	t.Cleanup(func() { // the last of the test's
		if t.Failed() { // who knows how it was left
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

// say has the test's log end with what the server and the agents have written last.
func (r *rig) say(t testing.TB) {
	const most = 50_000 // bytes
	logs, err := filepath.Glob(filepath.Join(r.dir, "*.log"))
	require.NoError(t, err)
	for _, log := range logs {
		text, err := os.ReadFile(log)
		t.Logf("%s: %s %v", filepath.Base(log), text[max(0, len(text)-most):], err)
	}
}

// newRig is called with the lock.
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

// node finds a node by its name, and nothing where the server knows none.
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

// ready waits until a node is and returns its id.
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

// cut ends a client and all that it runs, as a loss of power does.
func (r *rig) cut(name string) {
	r.Kill(name)
	data := filepath.Join(r.dir, "data-"+name) + "/"
	for range 3 { // what is just being started
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

// register hands in a job.
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
