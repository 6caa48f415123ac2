// Package am_test tests the ApplicationMaster on real servers, without the driver.
package am_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/testservers"
)

// patience is how long anything may take on a machine that is busy with other things.
const patience = 8 * time.Minute

// rig is a cluster that tests use one after another, since its servers take a while to start.
type rig struct {
	*testservers.YARN
	dir, jar string
}

var shared *rig

// TestMain takes the cluster down.
func TestMain(m *testing.M) {
	code := m.Run()
	if shared != nil {
		shared.Stop()
		_ = os.RemoveAll(shared.dir)
	}
	os.Exit(code)
}

// theRig is the cluster, which is started when a test first asks for it.
func theRig(t *testing.T) *rig {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: needs Maven and runs YARN")
	}
	if shared != nil {
		return shared
	}
	dir, err := os.MkdirTemp("", "hedge-am-")
	require.NoError(t, err)
	r := &rig{dir: dir}
	r.jar, err = testservers.Jar(t.Context(), ".")
	require.NoError(t, err)
	r.YARN, err = testservers.StartYARN(context.Background(),
		testservers.YARNConfig{Dir: dir, Labels: []string{"fast"}, Nodes: []testservers.YARNNode{
			{Name: "n0", MemoryMB: 2048, VCores: 20}, {Name: "n1", MemoryMB: 512, VCores: 4},
			{Name: "n2", MemoryMB: 512, VCores: 4}}})
	require.NoError(t, err)
	shared = r
	return r
}

// classpath is that of the ApplicationMaster, with configurations before the rig's own.
func (r *rig) classpath(configurations ...string) string {
	jars, own, _ := strings.Cut(r.Classpath(), ":")
	return strings.Join(append(append([]string{r.jar, jars}, configurations...), own), ":")
}

type onNode struct {
	Node  string `json:"node"`
	Tasks int    `json:"tasks"`
}

// gang is what a driver asks for.
type gang struct {
	Protocol int      `json:"protocol"`
	Job      string   `json:"job"`
	Attempt  int      `json:"attempt"`
	Nodes    []onNode `json:"nodes"`
	MemoryMB int      `json:"memory-mb"`
	VCores   int      `json:"vcores"`
	Label    string   `json:"label"`
	Timeout  int64    `json:"timeout-ms"`
	Script   string   `json:"script"`
}

// status is what the ApplicationMaster tells of it.
type status struct {
	Protocol, Tasks, Allocated int
	State, Cause               string
	Started                    int64 `json:"started-ms"`
	Ended                      int64 `json:"ended-ms"`
	Failed                     []struct {
		Rank, Exit int
		Node, Why  string
	}
}

// app is one application of a test.
type app struct {
	*rig
	t       *testing.T
	id, dir string
}

func (r *rig) gang(script string, nodes ...onNode) *gang {
	for i := range nodes {
		nodes[i].Node = r.NodeID(nodes[i].Node)
	}
	return &gang{1, "train-42", 3, nodes, 32, 1, "", patience.Milliseconds(), script}
}

// submit hands in a gang; $DIR is a folder of its own in its script. Configurations come before the rig's own.
func (r *rig) submit(t *testing.T, g *gang, change func(app map[string]any), configurations ...string) *app {
	t.Helper()
	a := &app{rig: r, t: t, dir: t.TempDir()}
	g.Script = "DIR=" + a.dir + "\n" + g.Script
	text, err := json.Marshal(g)
	require.NoError(t, err)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err = z.Write(text)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	var fresh struct {
		ID string `json:"application-id"`
	}
	a.ask(http.MethodPost, "/apps/new-application", nil, &fresh)
	a.id = fresh.ID
	entry := func(k, v string) any { return map[string]string{"key": k, "value": v} }
	body := map[string]any{
		"application-id": a.id, "application-name": g.Job, "application-type": "HEDGE", "max-app-attempts": 1,
		"resource": map[string]int{"memory": 256, "vCores": 1},
		"am-container-spec": map[string]any{
			"commands": map[string]string{
				"command": "java -Xmx64m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 io.github.hedgesched.yarn.GangMaster " +
					"1><LOG_DIR>/stdout 2><LOG_DIR>/stderr"},
			"environment": map[string]any{"entry": []any{entry("HEDGE_GANG", base64.StdEncoding.EncodeToString(packed.Bytes())),
				entry("CLASSPATH", r.classpath(configurations...))}},
		}}
	if change != nil {
		change(body)
	}
	a.ask(http.MethodPost, "/apps", body, nil)
	t.Cleanup(func() {
		a.ask(http.MethodPut, "/apps/"+a.id+"/state", map[string]string{"state": "KILLED"}, nil)
		a.until("nothing of it runs", func() bool { return a.over() && len(a.processes()) == 0 })
	})
	return a
}

// ask calls the ResourceManager; where that does not answer, answer stays as it is.
func (a *app) ask(method, path string, body, answer any) {
	a.t.Helper()
	text, err := json.Marshal(body)
	require.NoError(a.t, err)
	req, err := http.NewRequestWithContext(context.Background(), method, a.URL()+"/ws/v1/cluster"+path+"?user.name=root",
		bytes.NewReader(text))
	require.NoError(a.t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return
	}
	defer resp.Body.Close()
	text, err = io.ReadAll(resp.Body)
	require.NoError(a.t, err)
	require.Less(a.t, resp.StatusCode, 300, "%s %s: %s", method, path, text)
	if answer != nil {
		require.NoError(a.t, json.Unmarshal(text, answer), "%s", text)
	}
}

type report struct {
	State, FinalStatus, Diagnostics string
	Address                         string `json:"amRPCAddress"`
	Progress                        float64
}

func (a *app) report() report {
	var answer struct{ App report }
	a.ask(http.MethodGet, "/apps/"+a.id, nil, &answer)
	return answer.App
}

func (a *app) over() bool {
	s := a.report().State
	return s == "FINISHED" || s == "FAILED" || s == "KILLED"
}

// status is what the ApplicationMaster says, by the ResourceManager's proxy, and nothing where it does not.
func (a *app) status() (s status) { return statusAt(a.URL() + "/proxy/" + a.id + "/") }

func statusAt(url string) (s status) {
	resp, err := http.Get(url)
	if err != nil {
		return s
	}
	defer resp.Body.Close()
	if json.NewDecoder(resp.Body).Decode(&s) != nil {
		return status{}
	}
	return s
}

// end waits until the application is over and returns what its ApplicationMaster said at last.
func (a *app) end(final string) (s status) {
	a.t.Helper()
	a.until("it is over", a.over)
	r := a.report()
	require.Equal(a.t, final, r.FinalStatus, "%s; %s", r.Diagnostics, a.logs())
	if _, text, found := strings.Cut(r.Diagnostics, `{"protocol":`); found {
		require.NoError(a.t, json.NewDecoder(strings.NewReader(`{"protocol":`+text)).Decode(&s), r.Diagnostics)
	}
	return s
}

func (a *app) until(what string, holds func() bool) {
	a.t.Helper()
	for end := time.Now().Add(patience); !holds(); {
		require.True(a.t, time.Now().Before(end), "it did not come about that %s: %+v %+v %s", what, a.report(), a.status(),
			a.logs())
		time.Sleep(100 * time.Millisecond)
	}
}

// logs are the ends of what its ApplicationMaster has written, as far as it is there.
func (a *app) logs() string {
	files, _ := filepath.Glob(filepath.Join(a.rig.dir, "*.d", "logs", a.id, "*_000001", "std*"))
	var text string
	for _, f := range files {
		data, _ := os.ReadFile(f) // it may just have been removed
		text += f + ":\n" + string(data[max(0, len(data)-3000):])
	}
	return text
}

// processes are those of its tasks.
func (a *app) processes() (found []string) {
	procs, err := filepath.Glob("/proc/[0-9]*")
	require.NoError(a.t, err)
	for _, proc := range procs {
		environ, _ := os.ReadFile(proc + "/environ") // it may have ended
		if bytes.Contains(environ, []byte(a.id)) {
			line, _ := os.ReadFile(proc + "/cmdline")
			found = append(found, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}

// file is what a task has written, and "" before.
func (a *app) file(name string) string {
	data, _ := os.ReadFile(filepath.Join(a.dir, name)) // it may not be there yet
	return string(data)
}

// count is how many files match.
func (a *app) count(pattern string) int {
	files, err := filepath.Glob(filepath.Join(a.dir, pattern))
	require.NoError(a.t, err)
	return len(files)
}

// began has each task tell that it runs, and how often it has begun.
const began = `echo "$HEDGE_JOB $HEDGE_ATTEMPT $HEDGE_RANK/$HEDGE_TASKS $HEDGE_NODE ` +
	`$NM_HOST:$NM_PORT${HEDGE_SCRIPT+?}" >>$DIR/$HEDGE_RANK
`

// TestJava runs the unit tests of the Java sources.
func TestJava(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: needs Maven")
	}
	text, err := exec.CommandContext(t.Context(), "mvn", "--batch-mode", "--quiet", "--no-transfer-progress",
		"-DbuildDirectory="+t.TempDir(), "test").CombinedOutput()
	assert.NoError(t, err, "%s", text)
}

// TestArchive: classes come from the archive of a rehearsal where a configuration stands behind the jars, and not where
// it stands before them, which does no harm.
func TestArchive(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: needs Maven")
	}
	const main = "io.github.hedgesched.yarn.Rehearsal"
	jar, err := testservers.Jar(t.Context(), ".")
	require.NoError(t, err)
	archive, err := testservers.ClassArchive(t.Context(), jar, main)
	require.NoError(t, err)
	again, err := testservers.ClassArchive(t.Context(), jar, main)
	require.NoError(t, err)
	assert.Equal(t, archive, again)
	dir, err := testservers.Program(t.Context(), "yarn")
	require.NoError(t, err)
	jars, conf := filepath.Join(dir, "*"), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(conf, "yarn-site.xml"), []byte("<configuration/>"), 0o644))
	loads := func(classpath ...string) string {
		cmd := exec.CommandContext(t.Context(), "java", "-Xlog:class+load", "-XX:+UseSerialGC",
			"-XX:SharedArchiveFile="+archive, "-cp", strings.Join(classpath, ":"), main)
		cmd.Env = append(os.Environ(), "NM_HOST=localhost")
		text, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", text)
		return string(text)
	}
	const found = "io.github.hedgesched.yarn.GangMaster source: shared objects file (top)"
	assert.Contains(t, loads(jar, jars, conf), found)
	assert.NotContains(t, loads(jar, conf, jars), found)
}

// TestNamedNodes: tasks run where they are asked to, know who they are, and their script reaches the shell as it is.
func TestNamedNodes(t *testing.T) {
	r := theRig(t)
	const odd = "it's \"$HOME\" `id` {{X}} <LOG_DIR> \\n $(id) %s ü"
	script := began + "cat >$DIR/odd-$HEDGE_RANK <<'END'\n" + odd + "\nEND\nwhile [ ! -e $DIR/go ]; do sleep 0.1; done"
	a := r.submit(t, r.gang(script, onNode{"n2", 2}, onNode{"n1", 1}), nil)
	a.until("all run", func() bool { return a.status().State == "running" })
	s := a.status()
	assert.Equal(t, 3, s.Allocated)
	assert.Positive(t, s.Started)
	assert.Zero(t, s.Ended)
	a.until("that is told", func() bool { return a.report().Progress >= 50 })
	require.NoError(t, os.WriteFile(filepath.Join(a.dir, "go"), nil, 0o644))
	s = a.end("SUCCEEDED")
	assert.Equal(t, "succeeded", s.State)
	assert.GreaterOrEqual(t, s.Ended, s.Started)
	for rank, node := range []string{"n2", "n2", "n1"} {
		id := r.NodeID(node)
		assert.Equal(t, fmt.Sprintf("train-42 3 %d/3 %s %s\n", rank, id, id), a.file(fmt.Sprint(rank)))
		assert.Equal(t, odd+"\n", a.file(fmt.Sprint("odd-", rank)))
	}
}

// TestLabel: named nodes that have a label are had by an application with that label.
func TestLabel(t *testing.T) {
	r := theRig(t)
	require.NoError(t, r.Label(t.Context(), "n1", "fast"))
	defer func() { require.NoError(t, r.Label(context.Background(), "n1", "")) }()
	g := r.gang(began, onNode{"n1", 2})
	g.Label = "fast"
	a := r.submit(t, g, func(app map[string]any) {
		app["app-node-label-expression"], app["am-container-node-label-expression"] = "fast", ""
	})
	assert.Equal(t, 2, a.end("SUCCEEDED").Allocated)
}

// TestFailure: when a task fails the others are ended, and who it was is told.
func TestFailure(t *testing.T) {
	r := theRig(t)
	a := r.submit(t, r.gang(began+"while [ $HEDGE_RANK != 1 ] || [ ! -e $DIR/go ]; do sleep 0.1; done; exit 3",
		onNode{"n0", 2}, onNode{"n1", 1}), nil)
	a.until("all run", func() bool { return a.status().State == "running" })
	require.NoError(t, os.WriteFile(filepath.Join(a.dir, "go"), nil, 0o644))
	s := a.end("FAILED")
	assert.Equal(t, "task", s.Cause)
	require.Len(t, s.Failed, 1)
	assert.Equal(t, 1, s.Failed[0].Rank)
	assert.Equal(t, 3, s.Failed[0].Exit)
	assert.Equal(t, r.NodeID("n0"), s.Failed[0].Node)
	assert.Positive(t, s.Ended)
}

// TestNoRoom: a gang that does not get all of its containers in time starts nothing and gives back what it has.
func TestNoRoom(t *testing.T) {
	r := theRig(t)
	g := r.gang(began, onNode{"n0", 1}, onNode{"n1", 5})
	g.Timeout = 5000
	a := r.submit(t, g, nil)
	s := a.end("FAILED")
	assert.Equal(t, "short", s.Cause)
	require.NotEmpty(t, s.Failed)
	last := s.Failed[len(s.Failed)-1]
	assert.Equal(t, r.NodeID("n1"), last.Node, "that has too little room")
	assert.Equal(t, -1, last.Exit)
	assert.Zero(t, a.count("[0-9]"), "nothing ran")
}

// TestBadInput: a description that makes no sense ends the application with words to that effect.
func TestBadInput(t *testing.T) {
	r := theRig(t)
	g := r.gang(began, onNode{"n0", 1})
	g.VCores = 0
	a := r.submit(t, g, nil)
	assert.Equal(t, "input", a.end("FAILED").Cause)
}

// TestNodeLost: a node that is gone is told of as that.
func TestNodeLost(t *testing.T) {
	r := theRig(t)
	a := r.submit(t, r.gang(began+"exec sleep 100000", onNode{"n1", 1}, onNode{"n2", 1}), func(app map[string]any) {
		awayFrom(app)
	})
	a.until("all run", func() bool { return a.status().State == "running" })
	r.Cut("n1")
	defer func() { require.NoError(t, r.Start(context.Background(), "n1")) }()
	s := a.end("FAILED")
	assert.Equal(t, "lost", s.Cause)
	require.Len(t, s.Failed, 1)
	assert.Equal(t, r.NodeID("n1"), s.Failed[0].Node)
}

// awayFrom has the ApplicationMaster be where only n0 has room for it.
func awayFrom(app map[string]any) {
	app["resource"] = map[string]int{"memory": 600, "vCores": 1}
}

// TestManagerCrash: what runs goes on while the ResourceManager is gone, and how it ends is known when it is back.
func TestManagerCrash(t *testing.T) {
	r := theRig(t)
	script := began + "while [ ! -e $DIR/go-$HEDGE_RANK ]; do sleep 0.1; done"
	a := r.submit(t, r.gang(script, onNode{"n1", 1}, onNode{"n2", 1}), nil)
	a.until("all run", func() bool { return a.status().State == "running" })
	r.Kill(testservers.ResourceManager)
	require.NoError(t, os.WriteFile(filepath.Join(a.dir, "go-0"), nil, 0o644))
	require.NoError(t, r.Start(t.Context(), testservers.ResourceManager))
	a.until("it is known again", func() bool { return a.status().State == "running" })
	require.NoError(t, os.WriteFile(filepath.Join(a.dir, "go-1"), nil, 0o644))
	s := a.end("SUCCEEDED")
	assert.Equal(t, "succeeded", s.State)
	for _, rank := range []string{"0", "1"} {
		assert.Equal(t, 1, strings.Count(a.file(rank), "\n"), "it ran once")
	}
}

// TestEndWithoutManager: a gang that ends while the ResourceManager is gone has ended then, not when that is back.
func TestEndWithoutManager(t *testing.T) {
	r := theRig(t)
	a := r.submit(t, r.gang(began+"while [ ! -e $DIR/go ]; do sleep 0.1; done", onNode{"n1", 1}, onNode{"n2", 1}), nil)
	a.until("all run", func() bool { return a.status().State == "running" })
	own := "http://" + a.report().Address + "/"
	r.Kill(testservers.ResourceManager)
	require.NoError(t, os.WriteFile(filepath.Join(a.dir, "go"), nil, 0o644))
	a.until("the end is known", func() bool { return statusAt(own).State == "succeeded" })
	ended := statusAt(own).Ended
	require.NoError(t, r.Start(t.Context(), testservers.ResourceManager))
	assert.Equal(t, ended, a.end("SUCCEEDED").Ended)
}

// TestManagerCrashEarly: what was allocated by a ResourceManager that is gone, and not used yet, is asked for again,
// and only once.
func TestManagerCrashEarly(t *testing.T) {
	r := theRig(t)
	other := r.submit(t, r.gang("exec sleep 100000", onNode{"n1", 4}), awayFrom)
	other.until("n1 is full", func() bool { return other.status().State == "running" })
	a := r.submit(t, r.gang(began, onNode{"n2", 2}, onNode{"n1", 1}), awayFrom)
	a.until("it has a part", func() bool { return a.status().Allocated == 2 })
	r.Kill(testservers.ResourceManager)
	require.NoError(t, r.Start(t.Context(), testservers.ResourceManager))
	a.until("it is known again", func() bool { return a.status().Allocated == 2 })
	assert.Zero(t, a.count("[0-9]"), "nothing has begun")
	a.ask(http.MethodPut, "/apps/"+other.id+"/state", map[string]string{"state": "KILLED"}, nil)
	s := a.end("SUCCEEDED")
	assert.Equal(t, 3, s.Allocated)
	for rank := range 3 {
		assert.Equal(t, 1, strings.Count(a.file(fmt.Sprint(rank)), "\n"), "it ran once")
	}
}

// TestManagerGone: an ApplicationMaster that hears nothing for long ends, and its tasks before it.
func TestManagerGone(t *testing.T) {
	r := theRig(t)
	conf := t.TempDir()
	_, before, _ := strings.Cut(r.Classpath(), ":")
	own, err := os.ReadFile(filepath.Join(before, "yarn-site.xml"))
	require.NoError(t, err)
	const soon = "<property><name>yarn.resourcemanager.connect.max-wait.ms</name>" +
		"<value>3000</value></property></configuration>"
	require.NoError(t, os.WriteFile(filepath.Join(conf, "yarn-site.xml"),
		bytes.Replace(own, []byte("</configuration>"), []byte(soon), 1), 0o644))
	a := r.submit(t, r.gang(began+"exec sleep 100000", onNode{"n1", 1}, onNode{"n2", 1}), awayFrom, conf)
	a.until("all run", func() bool { return a.status().State == "running" })
	r.Kill(testservers.ResourceManager)
	a.until("all has ended", func() bool { return len(a.processes()) == 0 })
	require.NoError(t, r.Start(t.Context(), testservers.ResourceManager))
	a.until("that is known", a.over)
	assert.Equal(t, "FAILED", a.report().FinalStatus)
	assert.Contains(t, a.report().Diagnostics, "exitCode: 4")
}

// TestKilled: nothing is left of an application that is killed.
func TestKilled(t *testing.T) {
	r := theRig(t)
	a := r.submit(t, r.gang(began+"sleep 100000 & wait", onNode{"n0", 3}), nil)
	a.until("all run", func() bool { return a.status().State == "running" })
	a.until("it sleeps, which is after its shell has started", func() bool {
		return slices.ContainsFunc(a.processes(), func(line string) bool { return strings.Contains(line, "sleep 100000") })
	})
	a.ask(http.MethodPut, "/apps/"+a.id+"/state", map[string]string{"state": "KILLED"}, nil)
	a.until("nothing is left", func() bool { return a.over() && len(a.processes()) == 0 })
}
