package yarn

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hedgesched/hedge/adapters"
)

// fakeRM is a ResourceManager with nodes and the ApplicationMaster of gangs, as far as the driver sees them. Whenever
// it is called, it catches up with the clock.
type fakeRM struct {
	mu      sync.Mutex
	down    bool
	knows   bool            // what it knew before it was started again
	odd     map[string]bool // what it says of these applications and nodes makes no sense
	nodes   []*fakeNode
	apps    []*fakeApp
	behaves func(job string, attempt int) behaviour
	slot    int // MiB
	calls   []string
}

// behaviour is what a gang does.
type behaviour struct {
	runtime            time.Duration
	failStart, failRun bool
	hang, slowStop     bool
}

type fakeNode struct {
	id       string
	memory   int
	others   int // MiB
	lost     bool
	draining bool
	label    string
}

type fakeApp struct {
	id, state, final, diagnostics string
	tags                          []string
	gang                          *gang
	queue                         string
	submitted, running, ended     time.Time
	killed                        time.Time
	tasks                         []*fakeTask
}

type fakeTask struct {
	node                   string
	rank                   int
	placed, started, ended time.Time
	state                  adapters.TaskState
}

func newFakeRM(t testing.TB) (*fakeRM, *httptest.Server) {
	f := &fakeRM{slot: 100, knows: true, odd: map[string]bool{}, behaves: func(string, int) behaviour {
		return behaviour{runtime: time.Hour}
	}}
	s := httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(s.Close)
	return f, s
}

func (f *fakeRM) node(id string) *fakeNode {
	for _, n := range f.nodes {
		if n.id == id {
			return n
		}
	}
	return nil
}

// used is what tasks and others hold of a node.
func (f *fakeRM) used(id string) int {
	n := f.node(id).others
	for _, a := range f.apps {
		for _, t := range a.tasks {
			if t.node == id && t.ended.IsZero() {
				n += a.gang.MemoryMB
			}
		}
	}
	return n
}

// tick catches up with the clock.
func (f *fakeRM) tick() {
	now := time.Now()
	for _, a := range f.apps {
		f.step(a, now)
	}
}

func (f *fakeRM) step(a *fakeApp, now time.Time) {
	if a.state == "FINISHED" || a.state == "FAILED" || a.state == "KILLED" {
		return
	}
	if a.queue == nowhere {
		f.end(a, "FAILED", "FAILED", "unknown queue", now)
		return
	}
	if a.gang == nil {
		return
	}
	b := f.behaves(a.gang.Job, a.gang.Attempt)
	if !a.killed.IsZero() {
		if !b.slowStop || now.Sub(a.killed) > 300*time.Millisecond {
			f.end(a, "KILLED", "KILLED", a.diagnostics, now)
		}
		return
	}
	if len(a.tasks) == 0 {
		f.place(a, now)
		return
	}
	for _, t := range a.tasks {
		if f.node(t.node).lost {
			f.fail(a, t, causeLost, adapters.Lost, now)
			return
		}
	}
	if a.running.IsZero() {
		if b.failStart {
			f.fail(a, a.tasks[0], "task", adapters.Failed, now)
			return
		}
		if !b.hang {
			a.running = now
			for _, t := range a.tasks {
				t.started, t.state = now, adapters.Running
			}
		}
		return
	}
	switch {
	case b.failRun && now.Sub(a.running) > b.runtime/2:
		f.fail(a, a.tasks[0], "task", adapters.Failed, now)
	case now.Sub(a.running) >= b.runtime:
		for _, t := range a.tasks {
			t.state, t.ended = adapters.Finished, now
		}
		a.state, a.final, a.ended = "FINISHED", "SUCCEEDED", now
		a.diagnostics = f.status(a, "succeeded", "")
	}
}

// place allocates the gang's containers if there is room for all of them.
func (f *fakeRM) place(a *fakeApp, now time.Time) {
	a.state = "RUNNING"
	for _, n := range a.gang.Nodes {
		if node := f.node(n.Node); node == nil || node.lost || f.used(n.Node)+n.Tasks*a.gang.MemoryMB > node.memory {
			if now.Sub(a.submitted).Milliseconds() > a.gang.TimeoutMS {
				f.end(a, "FINISHED", "FAILED", f.status(a, "failed", causeShort), now)
			}
			return
		}
	}
	for _, n := range a.gang.Nodes {
		for range n.Tasks {
			a.tasks = append(a.tasks, &fakeTask{node: n.Node, rank: len(a.tasks), placed: now})
		}
	}
}

func (f *fakeRM) fail(a *fakeApp, t *fakeTask, cause string, state adapters.TaskState, now time.Time) {
	t.state, t.ended = state, now
	f.end(a, "FINISHED", "FAILED", f.status(a, "failed", cause), now)
}

func (f *fakeRM) end(a *fakeApp, state, final, text string, now time.Time) {
	a.state, a.final, a.diagnostics, a.ended = state, final, text, now
	for _, t := range a.tasks {
		if t.ended.IsZero() {
			t.ended, t.state = now, adapters.Stopping
		}
	}
}

func (f *fakeRM) status(a *fakeApp, state, cause string) string {
	ms := func(t time.Time) int64 {
		if t.IsZero() {
			return 0
		}
		return t.UnixMilli()
	}
	s := status{Protocol: 1, Tasks: len(a.tasks), State: state, Allocated: len(a.tasks), StartedMS: ms(a.running),
		EndedMS: ms(a.ended), Cause: cause}
	text, _ := json.Marshal(s)
	return string(text)
}

// serve answers like the ResourceManager's REST API.
func (f *fakeRM) serve(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	f.calls = append(f.calls, r.Method+" "+r.URL.Path)
	f.tick()
	rest, isApp := strings.CutPrefix(r.URL.Path, apps+"/")
	id, _ := strings.CutSuffix(rest, "/state")
	proxy, isProxy := strings.CutPrefix(r.URL.Path, "/proxy/")
	switch {
	case r.URL.Path == "/ws/v1/cluster/info":
		fmt.Fprintf(w, `{"clusterInfo":{"id":5,"startedOn":5,"state":"STARTED","haState":%q}}`,
			map[bool]string{true: "ACTIVE", false: "INITIALIZING"}[f.knows])
	case r.URL.Path == "/ws/v1/cluster/nodes":
		f.answerNodes(w)
	case r.Method == http.MethodPost:
		f.submit(w, r)
	case r.URL.Path == apps:
		var list []string
		for _, a := range f.apps {
			if f.knows && a.ended.IsZero() && slices.Contains(a.tags, r.URL.Query().Get("applicationTags")) {
				list = append(list, f.describe(a))
			}
		}
		switch len(list) { // as the ResourceManager does
		case 0:
			fmt.Fprint(w, `{"apps":{}}`)
		case 1:
			fmt.Fprintf(w, `{"apps":{"app":%s}}`, list[0])
		default:
			fmt.Fprintf(w, `{"apps":{"app":[%s]}}`, strings.Join(list, ","))
		}
	case isProxy:
		if a := f.app(strings.TrimSuffix(proxy, "/")); a != nil {
			fmt.Fprint(w, f.status(a, "running", ""))
		}
	case isApp && (f.app(id) == nil || !f.knows):
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"RemoteException":{"exception":"NotFoundException","message":"not found"}}`)
	case r.Method == http.MethodPut:
		f.kill(w, r, f.app(id))
	default:
		fmt.Fprintf(w, `{"app":%s}`, f.describe(f.app(id)))
	}
}

func (f *fakeRM) app(id string) *fakeApp {
	for _, a := range f.apps {
		if a.id == id {
			return a
		}
	}
	return nil
}

func (f *fakeRM) kill(w http.ResponseWriter, r *http.Request, a *fakeApp) {
	var body struct{ Diagnostics string }
	_ = json.NewDecoder(r.Body).Decode(&body)
	if a.ended.IsZero() && a.killed.IsZero() {
		a.killed, a.diagnostics = time.Now(), body.Diagnostics
		for _, t := range a.tasks {
			if t.ended.IsZero() {
				t.state = adapters.Stopping
			}
		}
	}
	w.WriteHeader(http.StatusAccepted)
	fmt.Fprint(w, `{"state":"KILLING"}`)
}

// submission is the part of a submission context that the fake reads.
type submission struct {
	ID    string `json:"application-id"`
	Queue string `json:"queue"`
	Tags  struct {
		Tag list[string] `json:"tag"`
	} `json:"application-tags"`
	Spec struct {
		Environment struct {
			Entry list[struct{ Key, Value string }] `json:"entry"`
		} `json:"environment"`
	} `json:"am-container-spec"`
}

func (f *fakeRM) submit(w http.ResponseWriter, r *http.Request) {
	var body submission
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || !appID.MatchString(body.ID) {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusAccepted)
	if f.app(body.ID) != nil {
		return
	}
	a := &fakeApp{id: body.ID, state: "ACCEPTED", final: "UNDEFINED", queue: body.Queue, tags: body.Tags.Tag,
		submitted: time.Now()}
	for _, e := range body.Spec.Environment.Entry {
		if e.Key == "HEDGE_GANG" {
			a.gang, _ = decodeGang(e.Value)
		}
	}
	f.apps = append(f.apps, a)
}

// decodeGang decodes a gang like the ApplicationMaster.
func decodeGang(text string) (*gang, error) {
	packed, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(z)
	if err != nil {
		return nil, err
	}
	g := &gang{}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(g); err != nil {
		return nil, err
	}
	return g, g.check()
}

func (f *fakeRM) describe(a *fakeApp) string {
	progress := 10.0
	if !a.running.IsZero() {
		progress = 50
	}
	ended := int64(0)
	if !a.ended.IsZero() {
		progress, ended = 100, a.ended.UnixMilli()
	}
	text, _ := json.Marshal(map[string]any{
		"id": a.id, "state": a.state, "finalStatus": a.final, "progress": progress, "diagnostics": a.diagnostics,
		"applicationTags": strings.Join(a.tags, ","),
		"startedTime":     a.submitted.UnixMilli(), "launchTime": a.submitted.UnixMilli(), "finishedTime": ended,
	})
	if f.odd[a.id] {
		return fmt.Sprintf(`{"id":%q,"state":5}`, a.id)
	}
	// as the ResourceManager does
	return strings.TrimSuffix(string(text), "}") +
		`,"resourceSecondsMap":{"entry":{"key":"memory-mb","value":"43"},"entry":{"key":"vcores","value":"0"}}}`
}

func (f *fakeRM) answerNodes(w http.ResponseWriter) {
	var list []string
	for _, n := range f.nodes {
		state := "RUNNING"
		if n.lost {
			state = "LOST"
		} else if n.draining {
			state = "DECOMMISSIONING"
		}
		labels := ""
		if n.label != "" {
			labels = fmt.Sprintf(`,"nodeLabels":["%s"]`, n.label)
		}
		used := f.used(n.id)
		if f.odd[n.id] {
			state = `","usedMemoryMB":"many","x":"`
		}
		list = append(list, fmt.Sprintf(`{"id":"%s","nodeHostName":"localhost","rack":"/r","state":"%s",`+
			`"usedMemoryMB":%d,"availMemoryMB":%d,"usedVirtualCores":0,"availableVirtualCores":1000%s,
			"totalResource":{"memory":%d,"vCores":1000}}`, n.id, state, used, n.memory-used, labels, n.memory))
	}
	if len(list) == 1 {
		fmt.Fprintf(w, `{"nodes":{"node":%s}}`, list[0])
		return
	}
	fmt.Fprintf(w, `{"nodes":{"node":[%s]}}`, strings.Join(list, ","))
}
