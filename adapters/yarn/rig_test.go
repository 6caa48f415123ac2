package yarn

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/user"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/testservers"
)

const (
	realNodes = 4
	// nodeMB is what nodes have by YARN's books, whatever the machine has: half of it for tasks and half for ApplicationMasters, but for what those of others
	// take of it.
	nodeMB     = 20_000
	taskMB     = 10_000
	spareMB    = 200
	nodeVCores = 2_000
	// patience is how long anything may take on a machine that is busy with other things: where a hundred processes want each core, a Java program is up after minutes.
	patience = 25 * time.Minute
	// callWithin is how long a call may take there.
	callWithin = 2 * time.Minute
)

// rig is a YARN cluster that tests use one after another, since its servers take a while to start.
type rig struct {
	*testservers.YARN
	dir    string
	am     AM
	user   string
	client *client
	worlds int
}

var shared struct {
	sync.Mutex
	*rig
}

var keep = flag.Bool("keep", false, "keep the folder with what the servers wrote, for who looks into a failure")

// TestMain takes the cluster down.
func TestMain(m *testing.M) {
	code := m.Run()
	if shared.rig != nil {
		shared.Stop()
		if *keep {
			fmt.Println("the servers' folder is", shared.dir)
		} else {
			_ = os.RemoveAll(shared.dir)
		}
	}
	os.Exit(code)
}

// need skips a test under -short where YARN's jars or the ApplicationMaster's are not built, or has it fail where HEDGE_REQUIRE_SERVERS is 1. Otherwise they
// are built, in some minutes.
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

// theRig is the cluster, which is started when a test first asks for it.
func theRig(t testing.TB) *rig {
	t.Helper()
	need(t)
	shared.Lock()
	defer shared.Unlock()
	if shared.rig != nil {
		return shared.rig
	}
	dir, err := os.MkdirTemp("", "hedge-yarn-")
	require.NoError(t, err)
	r := &rig{dir: dir}
	me, err := user.Current()
	require.NoError(t, err)
	r.user = me.Username
	jar, err := testservers.Jar(context.Background(), "am")
	require.NoError(t, err)
	archive, err := testservers.ClassArchive(context.Background(), jar, "io.github.hedgesched.yarn.Rehearsal")
	require.NoError(t, err)
	var list []testservers.YARNNode
	for i := range realNodes {
		list = append(list, testservers.YARNNode{Name: fmt.Sprint("n", i), MemoryMB: nodeMB, VCores: nodeVCores})
	}
	site := map[string]string{
		// For tasks that are slow to stop. Not longer: NodeManagers kill by the process's number, also when it has ended, and by then it may be another's.
		"yarn.nodemanager.sleep-delay-before-sigkill.ms": "20000",
		"yarn.am.liveness-monitor.expiry-interval-ms":    "900000", // for ApplicationMasters that are slow to start
	}
	switch { // no node may be lost but those that are to be
	case testing.Short():
		site["yarn.nm.liveness-monitor.expiry-interval-ms"] = "900000"
	case *storms > 0:
		site["yarn.nm.liveness-monitor.expiry-interval-ms"] = "20000"
		// A ResourceManager that crashes as it hands an ApplicationMaster to a node, which crashes, too, waits so long for it when it is back.
		site["yarn.am.liveness-monitor.expiry-interval-ms"] = "120000"
	}
	r.YARN, err = testservers.StartYARN(context.Background(), testservers.YARNConfig{Dir: dir, Nodes: list, Labels: []string{"away", "pool"}, Site: site})
	require.NoError(t, err)
	r.am = AM{Classpath: jar + ":" + r.Classpath(), Archive: archive, MemoryMB: 64, VCores: 1}
	shared.rig = r
	o := r.options(dir)
	require.NoError(t, o.withDefaults())
	r.client = newClient(&o)
	return r
}

// options are those of a driver with a spool.
func (r *rig) options(spool string) Options {
	gangs := 5 * time.Minute
	if *storms > 0 { // where nodes are taken from gangs that are starting, and nothing else may happen until they give up
		gangs = 90 * time.Second
	}
	return Options{
		URLs: []string{r.URL()}, Spool: spool, User: r.user, HeadroomMB: nodeMB - taskMB - spareMB, HeadroomVCores: nodeVCores / 2,
		AM: r.am, Pools: []string{"pool"},
		Timeout: callWithin, GangTimeout: gangs,
	}
}

// wait waits until something holds. It gives up when a server was killed by others.
func wait(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); {
		require.True(t, time.Now().Before(end), "it did not come about that %s", what)
		if shared.rig != nil {
			require.Empty(t, shared.Gone(), "what nothing here has ended")
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// resize changes what a node has; with a timeout of 0 what is too much is killed.
func (r *rig) resize(t testing.TB, id string, memory, vcores, timeout int) {
	t.Helper()
	body := map[string]any{"resource": map[string]any{"memory": memory, "vCores": vcores}, "overCommitTimeout": timeout}
	require.NoError(t, r.client.call(context.Background(), http.MethodPost, "/ws/v1/cluster/nodes/"+id+"/resource", nil, body, nil))
}

// realNode is a node as the ResourceManager has it, nil if it does not answer or knows none.
func (r *rig) realNode(id string) *node {
	list, _, err := r.client.nodes(context.Background())
	for i := range list {
		if list[i].ID == id && err == nil {
			return &list[i]
		}
	}
	return nil
}

// allApps are the applications with a tag, those that are over, too.
func (r *rig) allApps(tag string) ([]app, error) {
	var answer struct {
		Apps struct {
			App list[app] `json:"app"`
		} `json:"apps"`
	}
	err := r.client.call(context.Background(), http.MethodGet, apps, map[string][]string{"applicationTags": {tag}, "deSelects": {lean}}, nil, &answer)
	return answer.Apps.App, err
}

// submitGang hands in a gang that is not from a spool.
func (r *rig) submitGang(t testing.TB, g *gang, tag string) string {
	t.Helper()
	text, err := new(packers).pack(g)
	require.NoError(t, err)
	var fresh struct {
		ID string `json:"application-id"`
	}
	require.NoError(t, r.client.call(context.Background(), http.MethodPost, apps+"/new-application", nil, struct{}{}, &fresh))
	o := r.options("/")
	require.NoError(t, o.withDefaults())
	body := map[string]any{
		"application-id": fresh.ID, "application-name": g.Job, "application-type": "HEDGE", "queue": "default", "max-app-attempts": 1,
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
