package testservers_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/testservers"
)

// yarn is a cluster for a test, with calls that only tests need.
type yarn struct {
	*testservers.YARN
	t   testing.TB
	dir string
}

func startYARN(t testing.TB, cfg testservers.YARNConfig) *yarn {
	if testing.Short() {
		t.Skip("-short: fetches and runs YARN")
	}
	cfg.Dir = t.TempDir()
	y, err := testservers.StartYARN(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() {
		y.Stop()
		assert.Empty(t, processesOf(t, cfg.Dir), "all has ended")
	})
	return &yarn{y, t, cfg.Dir}
}

// processesOf are the processes that have to do with a folder.
func processesOf(t testing.TB, dir string) []string {
	procs, err := filepath.Glob("/proc/[0-9]*")
	require.NoError(t, err)
	var found []string
	for _, proc := range procs {
		line, _ := os.ReadFile(proc + "/cmdline") // it may have ended
		environ, _ := os.ReadFile(proc + "/environ")
		if strings.Contains(string(line)+string(environ), dir+"/") {
			found = append(found, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}

// archived is how many Java programs of a folder have an archive of YARN's classes in their memory.
func archived(t testing.TB, dir string) (n int) {
	procs, err := filepath.Glob("/proc/[0-9]*")
	require.NoError(t, err)
	for _, proc := range procs {
		line, _ := os.ReadFile(proc + "/cmdline") // it may have ended
		maps, _ := os.ReadFile(proc + "/maps")
		if strings.Contains(string(line), dir+"/") && regexp.MustCompile(`(?m)/yarn-[0-9a-f-]+\.jsa$`).Match(maps) {
			n++
		}
	}
	return n
}

// ask reads or changes something by the ResourceManager's API; nothing comes back where it does not answer.
func (y *yarn) ask(method, path string, body, answer any) {
	text, err := json.Marshal(body)
	require.NoError(y.t, err)
	req, err := http.NewRequestWithContext(y.t.Context(), method, y.URL()+"/ws/v1/cluster"+path+"?user.name=tester",
		strings.NewReader(string(text)))
	require.NoError(y.t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return
	}
	defer resp.Body.Close()
	text, err = io.ReadAll(resp.Body)
	require.NoError(y.t, err)
	require.Less(y.t, resp.StatusCode, 300, "%s %s: %s", method, path, text)
	if answer != nil {
		require.NoError(y.t, json.Unmarshal(text, answer), "%s", text)
	}
}

type yarnNode struct {
	State         string
	NumContainers int
	NodeLabels    []string
	TotalResource struct{ Memory, VCores int }
}

func (y *yarn) node(name string) yarnNode {
	var answer struct{ Node yarnNode }
	y.ask(http.MethodGet, "/nodes/"+y.NodeID(name), nil, &answer)
	return answer.Node
}

// app hands in an application whose only process is a command, and returns how to ask for its state.
func (y *yarn) app(command string) (id string, state func() string) {
	var fresh struct {
		ID string `json:"application-id"`
	}
	y.ask(http.MethodPost, "/apps/new-application", nil, &fresh)
	require.NotEmpty(y.t, fresh.ID)
	y.ask(http.MethodPost, "/apps", map[string]any{
		"application-id": fresh.ID, "application-name": "one", "max-app-attempts": 1,
		"resource":          map[string]int{"memory": 64, "vCores": 1},
		"am-container-spec": map[string]any{"commands": map[string]string{"command": command}}}, nil)
	return fresh.ID, func() string {
		var answer struct{ App struct{ State string } }
		y.ask(http.MethodGet, "/apps/"+fresh.ID, nil, &answer)
		return answer.App.State
	}
}

func (y *yarn) eventually(what string, holds func() bool) {
	y.t.Helper()
	require.Eventually(y.t, holds, 3*time.Minute, 200*time.Millisecond, "%s; ResourceManager: %s", what,
		y.Log(testservers.ResourceManager))
}

// TestYARN: nodes have what they are said to have; they take and lose labels; what runs outlives a crash of either
// server; a node whose power is cut is lost with what ran there, and is back when it is started again.
func TestYARN(t *testing.T) {
	y := startYARN(t, testservers.YARNConfig{Nodes: []testservers.YARNNode{{Name: "n0", MemoryMB: 1024, VCores: 7}},
		Labels: []string{"big", "fast"}})
	assert.Equal(t, 2, archived(t, y.dir), "both servers use the archives of their classes")
	n := y.node("n0")
	assert.Equal(t, "RUNNING", n.State)
	assert.Equal(t, 1024, n.TotalResource.Memory)
	assert.Equal(t, 7, n.TotalResource.VCores)
	assert.Empty(t, n.NodeLabels)
	require.NoError(t, y.Label(t.Context(), "n0", "fast"))
	y.eventually("the label is there", func() bool { l := y.node("n0").NodeLabels; return len(l) == 1 && l[0] == "fast" })
	require.NoError(t, y.Resize(t.Context(), "n0", 2048, 3))
	y.eventually("it has other amounts", func() bool {
		r := y.node("n0").TotalResource
		return r.Memory == 2048 && r.VCores == 3
	})
	require.NoError(t, y.Label(t.Context(), "n0", ""))

	for _, name := range []string{testservers.ResourceManager, "n0"} {
		unpacked, err := filepath.Glob(filepath.Join(y.dir, name+".d", "tmp", "*"))
		require.NoError(t, err)
		assert.NotEmpty(t, unpacked, "what %s unpacks for itself is in the cluster's folder", name)
	}

	file := filepath.Join(t.TempDir(), "alive")
	_, state := y.app("echo started > " + file + "; sleep 100000")
	y.eventually("the command runs", func() bool { _, err := os.Stat(file); return err == nil })
	y.Kill(testservers.ResourceManager)
	y.Kill("n0")
	assert.Empty(t, y.Gone(), "they were told to")
	require.NoError(t, y.Start(t.Context(), testservers.ResourceManager))
	require.NoError(t, y.Start(t.Context(), "n0"))
	y.eventually("its container is known to run", func() bool { return y.node("n0").NumContainers == 1 })
	assert.Equal(t, "ACCEPTED", state(), "it was not lost, and never is more for want of an ApplicationMaster")

	id, err := y.Reserve("n1")
	require.NoError(t, err)
	require.NoError(t, y.Add(t.Context(), testservers.YARNNode{Name: "n1"}))
	assert.Equal(t, id, y.NodeID("n1"))
	assert.Equal(t, 8192, y.node("n1").TotalResource.Memory)
	y.Cut("n0")
	assert.NotContains(t, strings.Join(processesOf(t, "n0.d/local"), "\n"), "sleep 100000")
	y.eventually("the node is lost", func() bool { return y.node("n0").State == "LOST" })
	y.eventually("so is what ran there", func() bool { return state() == "FAILED" })
	require.NoError(t, y.Start(t.Context(), "n0"))
	y.eventually("it is back", func() bool { return y.node("n0").State == "RUNNING" })
	y.Terminate("n1")
	assert.Empty(t, y.Gone())
	y.eventually("a node that ended says so or is missed", func() bool {
		s := y.node("n1").State
		return s == "SHUTDOWN" || s == "LOST"
	})
}

// TestYARNBad: what goes wrong at the start is told by the part's own words, and nothing stays.
func TestYARNBad(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: fetches and runs YARN")
	}
	dir := t.TempDir()
	_, err := testservers.StartYARN(t.Context(),
		testservers.YARNConfig{Dir: dir, Scheduler: map[string]string{"yarn.scheduler.capacity.root.default.capacity": "50"}})
	require.ErrorContains(t, err, "resourcemanager has ended")
	assert.ErrorContains(t, err, "capacity")
	assert.Empty(t, processesOf(t, dir))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = testservers.StartYARN(ctx, testservers.YARNConfig{Dir: t.TempDir()})
	assert.Error(t, err)
}

// TestNoJava: without its programs YARN says what to install.
func TestNoJava(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	_, err := testservers.StartYARN(t.Context(), testservers.YARNConfig{Dir: t.TempDir()})
	assert.ErrorContains(t, err,
		"needs java and mvn on the path: install the Debian packages default-jdk-headless and maven")
}

// TestJar: a project's jar is built once, and again when its sources have changed; what the compiler says comes back.
func TestJar(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: needs Maven")
	}
	dir := filepath.Join(t.TempDir(), "greeting")
	source := filepath.Join(dir, "src", "main", "java", "Greeting.java")
	require.NoError(t, os.MkdirAll(filepath.Dir(source), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "pom.xml"), []byte(`<project `+
		`xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>g</groupId><artifactId>a</artifactId><version>1</version>
<properties><maven.compiler.source>17</maven.compiler.source><maven.compiler.target>17</maven.compiler.target>`+
		`</properties></project>`), 0o644))
	program := func(text string) {
		require.NoError(t,
			os.WriteFile(source,
				[]byte(`class Greeting { public static void main(String[] a) { System.out.print(`+text+`); } }`), 0o644))
	}
	program(`"good morning"`)
	first, err := testservers.Jar(t.Context(), dir)
	require.NoError(t, err)
	again, err := testservers.Jar(t.Context(), dir)
	require.NoError(t, err)
	assert.Equal(t, first, again)
	program(`"good evening"`)
	second, err := testservers.Jar(t.Context(), dir)
	require.NoError(t, err)
	assert.NotEqual(t, first, second)
	for jar, want := range map[string]string{first: "good morning", second: "good evening"} {
		said, err := exec.CommandContext(t.Context(), "java", "-cp", jar, "Greeting").Output()
		require.NoError(t, err)
		assert.Equal(t, want, string(said))
		assert.NoError(t, os.Remove(jar))
	}
	program(`unknown`)
	_, err = testservers.Jar(t.Context(), dir)
	assert.ErrorContains(t, err, "cannot find symbol")
}
