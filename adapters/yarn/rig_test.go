package yarn

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/testservers"
)

const (
	// nodeMB is the memory of nodes for YARN, whatever the machine has: half for tasks, and half for ApplicationMasters
	// and for what others take.
	nodeMB     = 20_000
	taskMB     = 10_000
	spareMB    = 200
	nodeVCores = 2_000
	// patience is how long anything may take on a busy machine. If a hundred processes compete for each core, a Java
	// program takes minutes to start.
	patience = 25 * time.Minute
	// callWithin is how long a call may take on such a machine.
	callWithin = 2 * time.Minute
)

// kind is how a ResourceManager treats silent servers.
type kind int

const (
	// steady does not give up a silent server for long, so that no slow one is lost.
	steady kind = iota
	// lossy gives up nodes after 20 s, for tests that remove nodes.
	lossy
)

// site are the properties of a kind.
func (k kind) site() map[string]string {
	if k == lossy {
		return map[string]string{
			"yarn.nm.liveness-monitor.expiry-interval-ms": "20000",
			// If a ResourceManager and a node both crash while the former hands an ApplicationMaster to the latter, the
			// restarted ResourceManager waits that long for the ApplicationMaster.
			"yarn.am.liveness-monitor.expiry-interval-ms": "120000",
		}
	}
	return map[string]string{"yarn.nm.liveness-monitor.expiry-interval-ms": "900000",
		"yarn.am.liveness-monitor.expiry-interval-ms": "900000"}
}

// rig is a YARN cluster. Tests use it one after another, since its servers take a while to start.
type rig struct {
	*testservers.YARN
	dir    string
	kind   kind
	nodes  int // n0, n1, ...
	am     AM
	user   string
	client *client
	worlds int
}

// clusters has the clusters. Each test has one for itself.
var clusters struct {
	sync.Mutex
	all, free []*rig
}

var keep = flag.Bool("keep", false, "keep the folders with what the servers wrote, for who looks into a failure")

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
	for _, r := range clusters.all {
		r.Stop()
		if *keep {
			fmt.Println("the servers' folder is", r.dir)
		} else {
			_ = os.RemoveAll(r.dir)
		}
	}
	os.Exit(code)
}

// need skips a test under -short if YARN's jars or the ApplicationMaster's are not built, or fails it if
// HEDGE_REQUIRE_SERVERS is 1. Otherwise they are built, which takes some minutes.
func need(t testing.TB) {
	t.Helper()
	if !testing.Short() {
		return
	}
	switch err := testservers.Built("yarn", "am"); {
	case err == nil:
	case errors.Is(err, testservers.ErrNotBuilt) && os.Getenv("HEDGE_REQUIRE_SERVERS") != "1":
		t.Skip("-short, and without HEDGE_REQUIRE_SERVERS=1: ", err)
	default:
		t.Fatal(err)
	}
}

// theRig is a cluster of a kind with at least that number of nodes, for the test alone: a free one, or a new one.
func theRig(t testing.TB, k kind, nodes int) *rig {
	t.Helper()
	need(t)
	r := take(k)
	if r == nil {
		r = newRig(t, k, nodes)
	}
	t.Cleanup(func() { // the last of the test's
		if t.Failed() { // who knows how it was left
			for _, name := range r.parts() {
				t.Logf("%s: %s", name, r.Log(name))
			}
			r.Stop()
			return
		}
		clusters.Lock()
		defer clusters.Unlock()
		clusters.free = append(clusters.free, r)
	})
	for _, name := range r.Gone() {
		t.Logf("%s has ended, and nothing here has ended it: %s", name, r.Log(name))
		require.NoError(t, r.Start(context.Background(), name))
	}
	if r.kind != k {
		r.turn(t, k)
	}
	r.grow(t, nodes)
	return r
}

// take is a free cluster, of that kind if there is one, nil if none is free.
func take(k kind) *rig {
	clusters.Lock()
	defer clusters.Unlock()
	if len(clusters.free) == 0 {
		return nil
	}
	i := max(0, slices.IndexFunc(clusters.free, func(r *rig) bool { return r.kind == k }))
	r := clusters.free[i]
	clusters.free = slices.Delete(clusters.free, i, i+1)
	return r
}

func newRig(t testing.TB, k kind, nodes int) *rig {
	t.Helper()
	dir, err := os.MkdirTemp("", "hedge-yarn-")
	require.NoError(t, err)
	r := &rig{dir: dir, kind: k}
	me, err := user.Current()
	require.NoError(t, err)
	r.user = me.Username
	jar, err := testservers.Jar(context.Background(), "am")
	require.NoError(t, err)
	archive, err := testservers.ClassArchive(context.Background(), jar, "io.github.hedgesched.yarn.Rehearsal")
	require.NoError(t, err)
	site := k.site()
	// This is for tasks that are slow to stop. It must not be longer: NodeManagers kill by process number, even after the
	// process has ended, and by then the number may be another process's.
	site["yarn.nodemanager.sleep-delay-before-sigkill.ms"] = "20000"
	r.YARN, err = testservers.StartYARN(context.Background(),
		testservers.YARNConfig{Dir: dir, Nodes: r.more(nodes), Labels: []string{"away", "pool"}, Site: site})
	require.NoError(t, err)
	clusters.Lock()
	clusters.all = append(clusters.all, r)
	clusters.Unlock()
	r.am = AM{Classpath: jar + ":" + r.Classpath(), Archive: archive, MemoryMB: 64, VCores: 1}
	o := r.options(dir)
	require.NoError(t, o.withDefaults())
	r.client = newClient(&o)
	return r
}

// more are the missing nodes of a cluster with that number of nodes.
func (r *rig) more(nodes int) (list []testservers.YARNNode) {
	for ; r.nodes < nodes; r.nodes++ {
		list = append(list, testservers.YARNNode{Name: fmt.Sprint("n", r.nodes), MemoryMB: nodeMB, VCores: nodeVCores})
	}
	return list
}

// parts are the names of its servers, except those of nodes that tests have added.
func (r *rig) parts() []string {
	names := []string{testservers.ResourceManager}
	for i := range r.nodes {
		names = append(names, fmt.Sprint("n", i))
	}
	return names
}

// grow adds nodes up to that number.
func (r *rig) grow(t testing.TB, nodes int) {
	if list := r.more(nodes); len(list) > 0 {
		require.NoError(t, r.Add(context.Background(), list...))
	}
}

// turn changes the kind of an idle cluster by restarting its ResourceManager.
func (r *rig) turn(t testing.TB, k kind) {
	r.Set(k.site())
	r.kind = k
	r.YARN.Kill(testservers.ResourceManager)
	require.NoError(t, r.Start(context.Background(), testservers.ResourceManager))
	r.wait(t, "the nodes are back", func() bool {
		return !slices.ContainsFunc(r.parts()[1:], func(name string) bool {
			n := r.realNode(r.NodeID(name))
			return n == nil || !n.up()
		})
	})
}

// options are those of a driver with a spool.
func (r *rig) options(spool string) Options {
	return Options{
		URLs: []string{r.URL()}, Spool: spool, User: r.user, HeadroomMB: nodeMB - taskMB - spareMB,
		HeadroomVCores: nodeVCores / 2,
		AM:             r.am, Pools: []string{"pool"},
		Timeout: callWithin, GangTimeout: 5 * time.Minute,
	}
}

// wait waits until something holds.
func wait(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(100 * time.Millisecond) {
		require.True(t, time.Now().Before(end), "it did not come about that %s", what)
	}
}

// wait waits until something holds. It gives up if others have killed a server.
func (r *rig) wait(t testing.TB, what string, holds func() bool) {
	t.Helper()
	wait(t, what, func() bool {
		if holds() {
			return true
		}
		require.Empty(t, r.Gone(), "what nothing here has ended")
		return false
	})
}

// never is a timeout of 24 days, in milliseconds. A negative timeout should mean none, but then the ResourceManager
// uses the one that the node was given before, if any: a node that was drained once would be drained again when it is
// cordoned.
const never = 1<<31 - 1

// resize changes a node's resources. What then exceeds them is killed after the timeout, in milliseconds.
func (r *rig) resize(t testing.TB, id string, memory, vcores, timeout int) {
	t.Helper()
	body := map[string]any{"resource": map[string]any{"memory": memory, "vCores": vcores}, "overCommitTimeout": timeout}
	require.NoError(t,
		r.client.call(context.Background(), http.MethodPost, "/ws/v1/cluster/nodes/"+id+"/resource", nil, body, nil))
}

// realNode is a node as the ResourceManager has it, nil if it does not answer or does not know the node.
func (r *rig) realNode(id string) *node {
	list, _, err := r.client.nodes(context.Background())
	for i := range list {
		if list[i].ID == id && err == nil {
			return &list[i]
		}
	}
	return nil
}

// allApps are the applications with a tag, including those that are over.
func (r *rig) allApps(tag string) ([]app, error) {
	var answer struct {
		Apps struct {
			App list[app] `json:"app"`
		} `json:"apps"`
	}
	err := r.client.call(context.Background(), http.MethodGet, apps,
		map[string][]string{"applicationTags": {tag}, "deSelects": {lean}}, nil, &answer)
	return answer.Apps.App, err
}

// submitGang submits a gang that is not from a spool.
func (r *rig) submitGang(t testing.TB, g *gang, tag string) string {
	t.Helper()
	text, err := new(packers).pack(g)
	require.NoError(t, err)
	var fresh struct {
		ID string `json:"application-id"`
	}
	require.NoError(t,
		r.client.call(context.Background(), http.MethodPost, apps+"/new-application", nil, struct{}{}, &fresh))
	o := r.options("/")
	require.NoError(t, o.withDefaults())
	body := map[string]any{
		"application-id": fresh.ID, "application-name": g.Job, "application-type": "HEDGE", "queue": "default",
		"max-app-attempts": 1,
		"application-tags": map[string]any{"tag": []string{tag}}, "resource": map[string]any{"memory": 64, "vCores": 1},
		"am-container-spec": map[string]any{
			"commands": map[string]any{"command": o.AM.command()},
			"environment": map[string]any{"entry": []map[string]string{
				{"key": "CLASSPATH", "value": o.AM.Classpath}, {"key": "HEDGE_GANG", "value": text},
			}},
		},
	}
	require.NoError(t, r.client.submit(context.Background(), fresh.ID, body))
	return fresh.ID
}

func (r *rig) managerLog() string { return filepath.Join(r.dir, testservers.ResourceManager+".log") }
