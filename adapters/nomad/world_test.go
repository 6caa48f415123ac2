package nomad_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/adaptertest"
	"github.com/hedgesched/hedge/adapters/nomad"
	"github.com/hedgesched/hedge/sched"
)

// world is the rig's cluster for one case. Jobs have names of its own, and nodes that it does not need are cordoned.
type world struct {
	*rig
	number  int
	shape   adaptertest.Shape
	traits  adaptertest.Traits
	slot    int // MHz
	ids     map[string]string
	lines   []*line
	jobs    map[string]bool
	purge   bool
	down    map[string]bool
	away    bool
	later   []func() // what users and operators do while the server is away
	cuts    []cut
	crashed map[string]bool            // nodes whose agents have crashed
	labels  map[string]map[string]bool // labels that were set, by node
	infos   map[string]*api.Allocation
	lost    map[string]time.Time // when the server gave up allocations as lost
	last    []adaptertest.Record
}

// checkLease is how long the drivers trust that they lead.
const checkLease = 200 * time.Millisecond

// cut is when a node lost power, and when it was back; zero before that.
type cut struct {
	node     string
	at, back time.Time
}

func newWorld(t testing.TB, s adaptertest.Shape) adaptertest.World {
	r := theRig(t)
	r.worlds++
	w := &world{
		rig: r, number: r.worlds, shape: s, slot: clientCPU / s.Slots, ids: map[string]string{}, jobs: map[string]bool{},
		down: map[string]bool{}, crashed: map[string]bool{},
		labels: map[string]map[string]bool{}, infos: map[string]*api.Allocation{}, lost: map[string]time.Time{},
	}
	w.traits = adaptertest.Traits{
		Slot: sched.Resources{nomad.CPU: float64(w.slot), nomad.Memory: 16, nomad.Disk: 10}, Unit: time.Second,
		Patience: patience, Wide: 12,
		Spare: []string{fmt.Sprintf("spare%d", w.number)},
		Missing: map[adaptertest.Ability]string{
			adaptertest.Garble: "events come over one connection, in order, or not at all",
			adaptertest.Clear:  "nothing is garbled",
		},
	}
	for i := range clients {
		name := fmt.Sprint("n", i)
		w.ids[name] = r.ready(t, name)
		_, err := r.client.Nodes().ToggleEligibility(w.ids[name], i < s.Nodes, nil)
		require.NoError(t, err)
		if i < s.Nodes {
			w.traits.Nodes = append(w.traits.Nodes, name)
		}
	}
	require.LessOrEqual(t, s.Nodes, clients)
	t.Cleanup(func() { w.leave(t) })
	return w
}

// leave restores the cluster for the next case.
func (w *world) leave(t testing.TB) {
	for _, name := range w.Gone() {
		t.Errorf("%s has ended, and nothing here has ended it: %s", name, w.Log(name))
		require.NoError(t, w.Start(context.Background(), name))
	}
	for _, l := range w.lines {
		l.close()
	}
	if w.away {
		w.back(t)
	}
	for name := range w.down {
		w.Do(t, adaptertest.Deed{Do: adaptertest.Revive, Node: name})
	}
	for id := range w.jobs {
		w.remove(t, id, true)
	}
	for name, keys := range w.labels {
		for k := range keys {
			w.label(t, name, k, nil)
		}
	}
	wait(t, "nothing runs", func() bool {
		list, _, err := w.client.Allocations().List(&api.QueryOptions{Namespace: "*"})
		return err == nil && !slices.ContainsFunc(list, func(a *api.AllocationListStub) bool {
			return a.ClientStatus == api.AllocClientStatusRunning ||
				a.ClientStatus == api.AllocClientStatusPending && a.DesiredStatus == api.AllocDesiredStatusRun
		})
	})
	for name, id := range w.ids {
		if strings.HasPrefix(name, "spare") {
			w.cut(name)
			continue
		}
		_, err := w.client.Nodes().UpdateDrain(id, nil, true, nil)
		require.NoError(t, err)
	}
	wait(t, "spares are known to be gone", func() bool {
		n := w.node(w.traits.Spare[0])
		return n == nil || n.Status == api.NodeStatusDown
	})
}

func (w *world) Traits() adaptertest.Traits { return w.traits }
func (w *world) Now() time.Time             { return time.Now() }

// Pass also records which tasks were given up as lost: the server forgets that when the job is stopped or the agent has
// reported.
func (w *world) Pass(t testing.TB) {
	require.Empty(t, w.Gone(), "what nothing here has ended")
	time.Sleep(200 * time.Millisecond)
	w.Records(t)
}

// Open connects a scheduler by a transport of its own, which can be cut and asks the gate.
func (w *world) Open(t testing.TB, s adaptertest.Session) adaptertest.Instance {
	l := &line{gate: s.Gate, inner: &http.Transport{}, bodies: map[io.Closer]bool{}}
	// this timeout must have no effect
	config := &api.Config{Address: w.URL(), HttpClient: &http.Client{Transport: l, Timeout: time.Millisecond}}
	for range 2 {
		d, err := nomad.New(config,
			nomad.Options{LeasePath: fmt.Sprintf("hedge/lease-%d", w.number), Fence: 5 * time.Second, CheckLease: checkLease})
		require.NoError(t, err)
		l.drivers = append(l.drivers, d)
	}
	if s.Epoch > 0 {
		w.present(func() { w.lead(t, s.Epoch) })
	}
	w.lines = append(w.lines, l)
	c, err := adapters.New(l.drivers[0],
		adapters.Options{Epoch: s.Epoch, StartTimeout: s.StartTimeout, LearntUntil: s.LearntUntil, Parallel: 8})
	require.NoError(t, err)
	return adaptertest.Instance{Cluster: c, Driver: l.drivers[1], Close: l.close}
}

// lead raises the epoch, as a granted lease does. It waits until earlier leaders have noticed, as the margin of a lease
// ensures.
func (w *world) lead(t testing.TB, epoch uint64) {
	wait(t, "the epoch is known", func() bool {
		v := api.NewVariable(fmt.Sprintf("hedge/lease-%d", w.number))
		v.Items = api.VariableItems{"epoch": strconv.FormatUint(epoch, 10), "holder": "", "renewed": "0"}
		_, _, err := w.client.Variables().Update(v, nil)
		return err == nil
	})
	if len(w.lines) > 0 {
		time.Sleep(2 * checkLease)
	}
}

// line is a scheduler's connection: an HTTP transport.
type line struct {
	gate    func(string, bool) error
	inner   *http.Transport
	drivers []*nomad.Driver
	mu      sync.Mutex
	bodies  map[io.Closer]bool
}

// RoundTrip makes a call if the gate lets it through.
func (l *line) RoundTrip(r *http.Request) (*http.Response, error) {
	changes := r.Method != http.MethodGet && !strings.HasSuffix(r.URL.Path, "/plan") && l.gate != nil
	name := r.Method + " " + r.URL.Path
	if changes {
		if err := l.gate(name, false); err != nil {
			return nil, err
		}
	}
	resp, err := l.inner.RoundTrip(r)
	if changes {
		if gate := l.gate(name, true); gate != nil {
			if err == nil {
				_ = resp.Body.Close()
			}
			return nil, gate
		}
	}
	if err == nil && strings.HasSuffix(r.URL.Path, "/event/stream") {
		l.mu.Lock()
		l.bodies[resp.Body] = true
		l.mu.Unlock()
	}
	return resp, err
}

// cut breaks the event streams.
func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for b := range l.bodies {
		_ = b.Close()
	}
	clear(l.bodies)
}

func (l *line) close() {
	for _, d := range l.drivers {
		d.Close()
	}
	l.inner.CloseIdleConnections()
}

func ptr[T any](v T) *T { return &v }

// name is the job's name in Nomad.
func (w *world) name(id string) string { return fmt.Sprintf("%s-%d", id, w.number) }

func (w *world) Submit(t testing.TB, j adaptertest.Job) string {
	name := w.name(j.Spec.ID)
	w.jobs[name] = true
	job := w.held(t, name, &j)
	w.present(func() { w.register(t, job) })
	return "default/" + name
}

// present does something once the server is there, as users would try until it is.
func (w *world) present(do func()) {
	if w.away {
		w.later = append(w.later, do)
	} else {
		do()
	}
}

// held is a job as a user of hedge writes it: its processes wait for one another and then sleep.
func (w *world) held(t testing.TB, name string, j *adaptertest.Job) *api.Job {
	dir := filepath.Join(w.dir, "jobs", name)
	require.NoError(t, os.MkdirAll(dir, 0o755))
	job := api.NewBatchJob(name, name, "global", 50+j.Spec.Priority)
	job.Datacenters = []string{"*"}
	job.Meta = map[string]string{nomad.KeyMark: "true", nomad.KeyTasks: strconv.Itoa(j.Spec.Tasks), nomad.KeyRetries: "20"}
	if j.Spec.Checkpoint {
		job.Meta[nomad.KeyCheckpoint] = "true"
	}
	if len(j.Spec.After) > 0 {
		var after []string
		for _, id := range j.Spec.After {
			after = append(after, w.name(id))
		}
		job.Meta[nomad.KeyAfter] = strings.Join(after, ", ")
	}
	if j.Malformed {
		job.Meta[nomad.KeyDeadline] = "tomorrow"
	}
	job.Constraints = constraints(t, j.Spec.Required)
	main := w.task("main", w.shell(t, dir, j), script(dir, j))
	g := api.NewTaskGroup("work", 0)
	g.EphemeralDisk = &api.EphemeralDisk{SizeMB: ptr(10)}
	g.AddTask(main)
	if j.Hang > 0 {
		first := w.task("first", "/bin/sh",
			preamble+fmt.Sprintf("if [ $a -le %d ] && [ $rank = 0 ]; then exec sleep 100000; fi", j.Hang))
		first.Lifecycle = &api.TaskLifecycle{Hook: api.TaskLifecycleHookPrestart}
		g.AddTask(first)
	}
	return job.AddTaskGroup(g)
}

// task runs a script.
func (w *world) task(name, shell, text string) *api.Task {
	task := api.NewTask(name, "raw_exec")
	task.Config = map[string]any{"command": shell, "args": []string{"-c", text}}
	task.KillTimeout, task.KillSignal = ptr(25*time.Second), "SIGTERM"
	task.LogConfig = &api.LogConfig{MaxFiles: ptr(1), MaxFileSizeMB: ptr(1)}
	return task.Require(&api.Resources{CPU: ptr(w.slot), MemoryMB: ptr(16)})
}

// shell is the program that runs scripts. For starts that are to fail, it exists only for some tasks and attempts.
func (w *world) shell(t testing.TB, dir string, j *adaptertest.Job) string {
	if j.FailStarts == 0 {
		return "/bin/sh"
	}
	for attempt := range 30 {
		for rank := range j.Spec.Tasks {
			for index := range j.Spec.Tasks {
				if attempt > j.FailStarts || rank+index > 0 {
					require.NoError(t, os.Symlink("/bin/sh", filepath.Join(dir, fmt.Sprintf("sh-%d-%d-%d", attempt, rank, index))))
				}
			}
		}
	}
	return filepath.Join(dir, "sh-${NOMAD_META_hedge_attempt}-${NOMAD_META_hedge_first_rank}-${NOMAD_ALLOC_INDEX}")
}

const preamble = "a=$NOMAD_META_hedge_attempt; rank=$((NOMAD_META_hedge_first_rank + NOMAD_ALLOC_INDEX))\n"

// script waits for the whole gang and then runs for the job's runtime.
func script(dir string, j *adaptertest.Job) string {
	seconds := j.Runtime.Seconds()
	if seconds >= 60 { // cases do not wait for its end: it must not end while a busy machine takes its time
		seconds = 100_000
	}
	text := preamble + fmt.Sprintf(`d=%s/at-$NOMAD_META_hedge_start; mkdir -p $d; : >$d/$rank; n=0
while [ $n -lt %d ]; do set -- $d/*; n=$#; [ $n -ge %[2]d ] || sleep 0.1; done
`, dir, j.Spec.Tasks)
	if j.FailRuns > 0 {
		text += fmt.Sprintf("if [ $a -gt %d ] && [ $a -le %d ] && [ $rank = 0 ]; then sleep %g; exit 3; fi\n", j.FailStarts,
			j.FailStarts+j.FailRuns, seconds/2)
	}
	if j.SlowStop {
		return text + fmt.Sprintf("trap 'sleep 3; kill $p; exit 0' TERM\nsleep %g & p=$!\nwait $p", seconds)
	}
	return text + fmt.Sprintf("exec sleep %g", seconds)
}

// constraints are those of a set of nodes, by meta.
func constraints(t testing.TB, set sched.EquivalenceSet) []*api.Constraint {
	text, err := json.Marshal(set)
	require.NoError(t, err)
	var terms []struct {
		Key    string
		Values []string
		Has    bool
	}
	require.NoError(t, json.Unmarshal(text, &terms))
	var out []*api.Constraint
	for _, term := range terms {
		target := "${meta." + term.Key + "}"
		if term.Has {
			out = append(out, api.NewConstraint(target, api.ConstraintAttributeIsSet, ""))
			continue
		}
		out = append(out, api.NewConstraint(target, "regexp", "^("+strings.Join(term.Values, "|")+")$"))
	}
	return out
}

func (w *world) Do(t testing.TB, d adaptertest.Deed) {
	t.Helper()
	switch d.Do {
	case adaptertest.AddNode:
		require.NoError(t, w.Add(context.Background(), client(d.Node)))
		w.ids[d.Node] = w.ready(t, d.Node)
	case adaptertest.Kill:
		w.cut(d.Node)
		w.cuts = append(w.cuts, cut{node: d.Node, at: time.Now()})
		w.down[d.Node] = true
	case adaptertest.Revive:
		if !w.away {
			wait(t, "the loss is known", func() bool { n := w.node(d.Node); return n != nil && n.Status == api.NodeStatusDown })
		}
		for i := range w.cuts {
			if c := &w.cuts[i]; c.node == d.Node && c.back.IsZero() {
				c.back = time.Now()
			}
		}
		require.NoError(t, w.Start(context.Background(), d.Node))
		delete(w.down, d.Node)
	case adaptertest.BreakWatch:
		for _, l := range w.lines {
			l.cut()
		}
	case adaptertest.StopServer:
		w.Nomad.Kill("server")
		w.away = true
	case adaptertest.StartServer:
		w.back(t)
	default:
		w.present(func() { w.command(t, d) })
	}
}

// back brings the server back, and does what was to be done meanwhile.
func (w *world) back(t testing.TB) {
	require.NoError(t, w.Start(context.Background(), "server"))
	w.away = false
	wait(t, "there is a leader", func() bool {
		_, err := w.client.Status().Leader()
		return err == nil && w.node("n0") != nil
	})
	later := w.later
	w.later = nil
	for _, do := range later {
		do()
	}
}

// command is what a user or operator does by the API.
func (w *world) command(t testing.TB, d adaptertest.Deed) {
	t.Helper()
	var err error
	nodes := w.client.Nodes()
	switch d.Do {
	case adaptertest.Withdraw:
		w.purge = !w.purge
		w.remove(t, strings.TrimPrefix(d.Job, "default/"), w.purge)
	case adaptertest.Cordon:
		_, err = nodes.ToggleEligibility(w.ids[d.Node], false, nil)
	case adaptertest.Uncordon:
		_, err = nodes.UpdateDrain(w.ids[d.Node], nil, true, nil)
	case adaptertest.Drain:
		_, err = nodes.UpdateDrain(w.ids[d.Node], &api.DrainSpec{Deadline: -1}, false, nil)
	case adaptertest.Relabel:
		w.label(t, d.Node, d.Key, &d.Value)
	case adaptertest.Occupy:
		w.occupy(t, d.Node, d.Slots)
	default:
		err = fmt.Errorf("unknown deed %q", d.Do)
	}
	require.NoError(t, err)
}

func (w *world) remove(t testing.TB, name string, purge bool) {
	wait(t, "job "+name+" is taken back", func() bool {
		_, _, err := w.client.Jobs().Deregister(name, purge, nil)
		return err == nil
	})
}

func (w *world) label(t testing.TB, node, k string, v *string) {
	if w.labels[node] == nil {
		w.labels[node] = map[string]bool{}
	}
	w.labels[node][k] = v != nil
	_, err := w.client.Nodes().Meta().Apply(&api.NodeMetaApplyRequest{NodeID: w.ids[node], Meta: map[string]*string{k: v}},
		nil)
	require.NoError(t, err)
}

// occupy makes a job that is not hedge's hold slots of a node.
func (w *world) occupy(t testing.TB, node string, slots int) {
	name := w.name("others-" + node)
	if slots == 0 {
		w.remove(t, name, false)
	} else {
		w.jobs[name] = true
		job := api.NewBatchJob(name, name, "global", 90)
		job.Datacenters = []string{"*"}
		job.Constrain(api.NewConstraint("${node.unique.id}", "=", w.ids[node]))
		g := api.NewTaskGroup("work", slots)
		g.EphemeralDisk = &api.EphemeralDisk{SizeMB: ptr(10)}
		g.AddTask(w.task("main", "/bin/sleep", "").SetConfig("args", []string{"100000"}))
		w.register(t, job.AddTaskGroup(g))
	}
	wait(t, "others hold what they should, or wait for it", func() bool {
		evals, _, err := w.client.Jobs().Evaluations(name, nil)
		if err != nil || slots > 0 && slices.ContainsFunc(evals, func(e *api.Evaluation) bool {
			return e.Status == "blocked"
		}) {
			return err == nil
		}
		list, _, err := w.client.Jobs().Allocations(name, true, nil)
		n := 0
		for _, a := range list {
			if a.ClientStatus == api.AllocClientStatusRunning || a.ClientStatus == api.AllocClientStatusPending {
				n++
			}
		}
		return err == nil && n == slots
	})
}

// Notes is the note in the job's variable.
func (w *world) Notes(_ testing.TB, job string) []string {
	v, _, err := w.client.Variables().Read(nomad.NotePath(strings.TrimPrefix(job, "default/")), nil)
	if err != nil {
		return nil
	}
	return []string{v.Items["reason"]}
}

// Records come from the server's allocations. While the server is away, they stay as they were.
func (w *world) Records(testing.TB) []adaptertest.Record {
	list, _, err := w.client.Allocations().List(nil)
	if err != nil {
		return w.last
	}
	slices.SortStableFunc(list, func(a, b *api.AllocationListStub) int { return int(a.CreateIndex) - int(b.CreateIndex) })
	var out []adaptertest.Record
	var lost, alone []bool // lost for the server, before it heard how they ended; and gangs of one
	var marks []string
	for _, a := range list {
		if !w.jobs[a.JobID] || strings.HasPrefix(a.JobID, "others-") {
			continue
		}
		if w.infos[a.ID] == nil {
			if w.infos[a.ID], _, err = w.client.Allocations().Info(a.ID, nil); err != nil {
				delete(w.infos, a.ID)
				return w.last
			}
		}
		if a.ClientStatus == api.AllocClientStatusLost && w.lost[a.ID].IsZero() {
			w.lost[a.ID] = time.Unix(0, a.ModifyTime)
		}
		job := w.infos[a.ID].Job
		out = append(out, w.record(a, job))
		lost = append(lost, !w.lost[a.ID].IsZero() || strings.Contains(a.DesiredDescription, "lost"))
		alone = append(alone, job.Meta[nomad.KeyTasks] == "1")
		marks = append(marks, filepath.Join(w.dir, "jobs", a.JobID, "at-"+job.Meta["hedge_start"], out[len(out)-1].Task))
	}
	w.silent(out, lost)
	settle(out, lost, replaced(out, lost, alone))
	begun(out, marks)
	w.last = out
	return out
}

// silent marks tasks as lost whose node was given up before they were replaced, by the server's own record of the node.
// That an allocation was lost is visible only until its agent reports how it ended, which may take just a second, and
// what is written on it may be overwritten (seed 43, once).
func (w *world) silent(records []adaptertest.Record, lost []bool) {
	for i := range records {
		r := &records[i]
		next := slices.IndexFunc(records[i+1:], func(o adaptertest.Record) bool {
			return attemptOf(&o) == attemptOf(r) && o.Task == r.Task && o.Node == r.Node
		})
		if lost[i] || next < 0 {
			continue
		}
		n, _, err := w.client.Nodes().Info(w.ids[r.Node], nil)
		if err != nil {
			continue
		}
		for _, e := range n.Events {
			missed := e.Message == "Node heartbeat missed" && e.Timestamp.After(r.Placed) &&
				e.Timestamp.Before(records[i+1+next].Placed)
			lost[i] = lost[i] || missed
		}
	}
}

// record is an allocation of a version of a job.
func (w *world) record(a *api.AllocationListStub, job *api.Job) adaptertest.Record {
	r := adaptertest.Record{
		Job: "default/" + a.JobID, UID: job.Meta["hedge_origin"], Node: a.NodeName, Placed: time.Unix(0, a.CreateTime),
		State: adapters.Requested,
		Lost:  w.lost[a.ID],
	}
	r.Attempt, _ = strconv.Atoi(job.Meta["hedge_attempt"])
	rank, _ := strconv.Atoi(job.LookupTaskGroup(a.TaskGroup).Meta["hedge_first_rank"])
	_, tail, _ := strings.Cut(a.Name, "[")
	index, _ := strconv.Atoi(strings.TrimSuffix(tail, "]"))
	r.Task = strconv.Itoa(rank + index)
	ended, killed, failed := false, false, false
	if s := a.TaskStates["main"]; s != nil {
		r.Started, failed = s.StartedAt, s.Failed
		for _, e := range s.Events {
			if at := time.Unix(0, e.Time); w.crashed[r.Node] && e.Type == api.TaskStarted && at.Before(r.Started) {
				r.Started = at // an agent that does not find its task after a crash starts another process
			}
			if ended = e.Type == api.TaskTerminated; ended {
				break
			}
			killed = killed || e.Type == api.TaskKilling
		}
		if !s.StartedAt.IsZero() {
			r.State = adapters.Running
		}
		if !s.FinishedAt.IsZero() {
			r.Ended = s.FinishedAt
		}
	}
	switch a.ClientStatus {
	case api.AllocClientStatusComplete, api.AllocClientStatusFailed:
		if r.Ended.IsZero() {
			r.Ended = time.Unix(0, a.ModifyTime)
		}
		switch {
		case failed || a.ClientStatus == api.AllocClientStatusFailed:
			r.State = adapters.Failed
		case killed || !ended || r.Started.IsZero():
			r.State = adapters.Stopping
		default:
			r.State = adapters.Finished
		}
	case api.AllocClientStatusLost:
		r.State, r.Ended = adapters.Lost, time.Unix(0, a.ModifyTime)
	default:
		r.Ended = time.Time{}
		if a.DesiredStatus != api.AllocDesiredStatusRun {
			r.State = adapters.Stopping
		}
	}
	w.power(&r, a.DesiredStatus == api.AllocDesiredStatusRun)
	return r
}

func TestConformance(t *testing.T) {
	adaptertest.RunParallel(t, newWorld)
}
