package yarn

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/adaptertest"
	"github.com/hedgesched/hedge/sched"
)

// fakeWorld is the suite's world on the fake ResourceManager.
type fakeWorld struct {
	*fakeRM
	url    string
	spool  string
	traits adaptertest.Traits
	jobs   map[string]adaptertest.Job
	epoch  uint64
}

func newFakeWorld(t testing.TB, s adaptertest.Shape) adaptertest.World {
	f, server := newFakeRM(t)
	w := &fakeWorld{fakeRM: f, url: server.URL, spool: t.TempDir(), jobs: map[string]adaptertest.Job{}}
	f.behaves = w.behave
	w.traits = adaptertest.Traits{
		Slot: sched.Resources{Memory: float64(f.slot), VCores: 1}, Unit: 50 * time.Millisecond, Patience: 2 * time.Minute,
		Exact: 10 * time.Millisecond, Wide: 1000,
		Spare: []string{"localhost:9"},
		Missing: map[adaptertest.Ability]string{
			adaptertest.Stages:     "its files have no such hint",
			adaptertest.BreakWatch: "there is no watch", adaptertest.Garble: "there are no events",
			adaptertest.Clear: "there are no events",
		},
	}
	for i := range s.Nodes {
		id := fmt.Sprint("localhost:", 10+i)
		f.nodes = append(f.nodes, &fakeNode{id: id, memory: s.Slots * f.slot})
		w.traits.Nodes = append(w.traits.Nodes, id)
	}
	return w
}

func (w *fakeWorld) behave(job string, attempt int) behaviour {
	j, ok := w.jobs[job]
	if !ok {
		return behaviour{runtime: time.Hour}
	}
	b := behaviour{runtime: j.Runtime, slowStop: j.SlowStop, failStart: attempt <= j.FailStarts, hang: attempt <= j.Hang}
	b.failRun = !b.failStart && attempt <= j.FailStarts+j.FailRuns
	if j.Runtime >= 60*w.traits.Unit {
		b.runtime = time.Hour
	}
	return b
}

func (w *fakeWorld) Traits() adaptertest.Traits { return w.traits }
func (w *fakeWorld) Now() time.Time             { return time.Now() }
func (w *fakeWorld) Pass(testing.TB)            { time.Sleep(5 * time.Millisecond) }

func (w *fakeWorld) options() Options {
	return Options{URLs: []string{w.url}, Spool: w.spool, AM: AM{Classpath: "none"}, GangTimeout: time.Second,
		User: "root"}
}

// gated calls the session's gate for calls that change something.
type gated struct {
	gate  func(string, bool) error
	alter func(*http.Request) error // what calls say, where it is not nil
	inner http.Transport
}

// RoundTrip makes a call if the gate lets it through.
func (g *gated) RoundTrip(r *http.Request) (*http.Response, error) {
	changes := r.Method != http.MethodGet && g.gate != nil
	if changes {
		if err := g.gate(r.Method, false); err != nil {
			return nil, err
		}
	}
	if g.alter != nil {
		if err := g.alter(r); err != nil {
			return nil, err
		}
	}
	resp, err := g.inner.RoundTrip(r)
	if changes {
		if gate := g.gate(r.Method, true); gate != nil {
			if err == nil {
				_ = resp.Body.Close()
			}
			return nil, gate
		}
	}
	return resp, err
}

// openInstance connects a scheduler to a cluster of either kind.
func openInstance(t testing.TB, o Options, s adaptertest.Session,
	alter func(*http.Request) error) adaptertest.Instance {
	g := &gated{gate: s.Gate, alter: alter}
	o.Client = &http.Client{Transport: g}
	var drivers []*Driver
	for range 2 {
		d, err := New(o)
		require.NoError(t, err)
		d.spool.gate = s.Gate
		drivers = append(drivers, d)
	}
	c, err := adapters.New(drivers[0],
		adapters.Options{Epoch: s.Epoch, StartTimeout: s.StartTimeout, LearntUntil: s.LearntUntil})
	require.NoError(t, err)
	return adaptertest.Instance{Cluster: c, Driver: drivers[1], Close: g.inner.CloseIdleConnections}
}

// raise makes an epoch the leader's, as a lease does.
func raise(t testing.TB, spool string, epoch uint64) {
	s, err := openSpool(spool, time.Minute)
	require.NoError(t, err)
	require.NoError(t, s.locked(context.Background(), func() error { return s.setLease(lease{Epoch: epoch}) }))
}

func (w *fakeWorld) Open(t testing.TB, s adaptertest.Session) adaptertest.Instance {
	if s.Epoch > w.epoch {
		w.epoch = s.Epoch
		raise(t, w.spool, s.Epoch)
	}
	return openInstance(t, w.options(), s, nil)
}

// document is a job file as a user writes it.
func document(j *adaptertest.Job, command string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "tasks: %d\nresources: {memory-mb: %v, vcores: 1}\ncommand: %q\npriority: %d\nretries: 20\n",
		j.Spec.Tasks, j.Spec.Demand[Memory], command, j.Spec.Priority)
	if j.Spec.Checkpoint {
		b.WriteString("checkpoint: true\n")
	}
	if j.Malformed {
		b.WriteString("deadline: tomorrow\n")
	}
	if set := j.Spec.Required; !set.IsAny() {
		fmt.Fprintf(&b, "required: %q\n", strings.ReplaceAll(set.String(), `"`, ""))
	}
	return b.String()
}

func (w *fakeWorld) Submit(t testing.TB, j adaptertest.Job) string {
	w.mu.Lock()
	w.jobs[j.Spec.ID] = j
	w.mu.Unlock()
	require.NoError(t, os.MkdirAll(filepath.Join(w.spool, jobsDir), 0o755))
	text := document(&j, "sleep 1")
	if set := j.Spec.Required; slices.Contains(set.Keys(), "tier") { // one word is all a node label is
		text = strings.Replace(text, `required: "tier=gold"`, "label: gold", 1)
	}
	require.NoError(t, Submit(w.spool, j.Spec.ID, []byte(text)))
	return j.Spec.ID
}

func (w *fakeWorld) Do(t testing.TB, d adaptertest.Deed) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tick()
	n := w.node(d.Node)
	switch d.Do {
	case adaptertest.Withdraw:
		require.NoError(t, Withdraw(w.spool, d.Job))
	case adaptertest.AddNode:
		w.nodes = append(w.nodes, &fakeNode{id: d.Node, memory: w.nodes[0].memory})
	case adaptertest.Cordon:
		n.draining = true
	case adaptertest.Drain:
		n.draining = true
		for _, a := range w.apps {
			for _, task := range a.tasks {
				if task.node == d.Node && a.ended.IsZero() {
					w.fail(a, task, "task", adapters.Stopping, time.Now())
				}
			}
		}
	case adaptertest.Uncordon:
		n.draining = false
	case adaptertest.Kill:
		n.lost = true
	case adaptertest.Revive:
		n.lost = false
	case adaptertest.Relabel:
		n.label = d.Value
	case adaptertest.Occupy:
		free := n.memory - w.used(n.id) + n.others
		n.others = min(d.Slots*w.slot, free)
	case adaptertest.StopServer:
		w.down = true
	case adaptertest.StartServer:
		w.down = false
	default:
		t.Fatalf("unknown deed %q", d.Do)
	}
	w.tick()
}

func (w *fakeWorld) Notes(_ testing.TB, job string) []string {
	text, err := os.ReadFile(NotePath(w.spool, job))
	if err != nil {
		return nil
	}
	return []string{string(text)}
}

func (w *fakeWorld) Records(testing.TB) []adaptertest.Record {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tick()
	var out []adaptertest.Record
	for _, a := range w.apps {
		for _, t := range a.tasks {
			uid := ""
			for _, tag := range a.tags {
				if u, ok := strings.CutPrefix(tag, "hedge-job-"); ok {
					uid = u
				}
			}
			out = append(out, adaptertest.Record{
				Job: a.gang.Job, UID: uid, Attempt: a.gang.Attempt, Task: strconv.Itoa(t.rank), Node: t.node, Placed: t.placed,
				Started: t.started, Ended: t.ended, State: t.state,
			})
		}
	}
	return out
}

func TestConformanceFake(t *testing.T) { adaptertest.Run(t, newFakeWorld) }

func TestStormFake(t *testing.T) {
	for i := range max(5, *storms) {
		seed := *firstSeed + uint64(i)
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { adaptertest.Storm(t, newFakeWorld, seed) })
	}
}
