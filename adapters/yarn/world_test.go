package yarn

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/adaptertest"
	"github.com/hedgesched/hedge/adapters/testservers"
	"github.com/hedgesched/hedge/sched"
)

// world is the rig's cluster for one case. Nodes that it does not need have a label that its jobs do not ask for.
type world struct {
	*rig
	number int
	shape  adaptertest.Shape
	traits adaptertest.Traits
	spool  string
	logs   string
	tag    string
	slot   int               // MiB
	names  map[string]string // of nodes, by id
	down   map[string]bool   // by id
	small  map[string]bool   // cordoned, by id
	spare  string            // the id of the node that can be added
	others map[string]string // applications, by node
	handed map[string][]time.Time
	away   bool
	gangs  time.Duration // as Options.GangTimeout, if not 0
	later  []func()
	epoch  uint64
	first  map[string]time.Time // when a process was first seen to be gone
	told   map[string]*status   // what ApplicationMasters told, by application
	over   map[string]time.Time // when applications were over
	failed map[string]bool      // those that were not over well
	squeeze
}

// newWorld is a world in which no slow node is lost. newLossy is one for tests in which nodes are lost.
func newWorld(t testing.TB, s adaptertest.Shape) adaptertest.World { return makeWorld(t, s, steady) }
func newLossy(t testing.TB, s adaptertest.Shape) adaptertest.World { return makeWorld(t, s, lossy) }

func makeWorld(t testing.TB, s adaptertest.Shape, k kind) *world {
	r := theRig(t, k, s.Nodes)
	r.worlds++
	w := &world{
		rig: r, number: r.worlds, shape: s, slot: taskMB / s.Slots, tag: fmt.Sprint("world-", r.worlds),
		names: map[string]string{}, down: map[string]bool{},
		small: map[string]bool{}, others: map[string]string{}, handed: map[string][]time.Time{},
		first: map[string]time.Time{}, told: map[string]*status{}, over: map[string]time.Time{}, failed: map[string]bool{},
		squeeze: squeeze{jobs: map[string]adaptertest.Job{}, taken: map[string]string{}},
	}
	w.spool = filepath.Join(r.dir, fmt.Sprint("spool-", w.number))
	w.logs = filepath.Join(r.dir, fmt.Sprint("tasks-", w.number))
	require.NoError(t, os.MkdirAll(w.logs, 0o755))
	// A task's own record and its ApplicationMaster measure separately. They differ by the time that it takes to start a
	// shell.
	w.traits = adaptertest.Traits{
		Slot: sched.Resources{Memory: float64(w.slot), VCores: 1}, Unit: 2 * time.Second, Patience: patience,
		Exact: time.Second, Wide: 12,
		Missing: map[adaptertest.Ability]string{
			adaptertest.Stages:     "its files have no such hint",
			adaptertest.BreakWatch: "there is no watch", adaptertest.Garble: "there are no events",
			adaptertest.Clear: "there are no events",
			adaptertest.Relabel: "YARN keeps attributes by host, of which there is one; a node with another node label is in " +
				"another partition, which ends what others run there",
			adaptertest.Hang: "a process that is launched runs, and none is launched before all have room",
		},
	}
	for i := range r.nodes {
		name := fmt.Sprint("n", i)
		id := w.NodeID(name)
		w.names[id] = name
		label := "away"
		if i < s.Nodes {
			label = ""
			w.traits.Nodes = append(w.traits.Nodes, id)
		}
		require.NoError(t, w.Label(context.Background(), name, label))
	}
	var err error
	w.spare, err = w.Reserve(w.spareName())
	require.NoError(t, err)
	w.traits.Spare = []string{w.spare}
	t.Cleanup(func() { w.leave(t) })
	return w
}

// spareName is the rig's name for the node that can be added.
func (w *world) spareName() string { return fmt.Sprint("spare", w.number) }

// leave restores the cluster for the next case.
func (w *world) leave(t testing.TB) {
	if t.Failed() { // nobody will use it
		return
	}
	for _, name := range w.Gone() {
		t.Errorf("%s has ended, and nothing here has ended it: %s", name, w.Log(name))
		require.NoError(t, w.Start(context.Background(), name))
	}
	if w.away {
		w.back(t)
	}
	for _, id := range sortedKeys(w.down) {
		w.Do(t, adaptertest.Deed{Do: adaptertest.Revive, Node: id})
	}
	for _, id := range sortedKeys(w.small) {
		w.resize(t, id, nodeMB, nodeVCores, never)
	}
	w.wait(t, "nothing runs", func() bool {
		none := true
		for _, tag := range []string{w.tag, "others"} {
			list, err := w.client.live(context.Background(), tag)
			none = none && err == nil && len(list) == 0
			for _, id := range sortedKeys(list) {
				_ = w.client.kill(context.Background(), id, "the test is over") // it is tried again
			}
		}
		return none
	})
	if w.names[w.spare] != "" {
		w.Terminate(w.spareName())
		w.wait(t, "the spare is known to be gone", func() bool { n := w.realNode(w.spare); return n == nil || !n.up() })
	}
	defer func() {
		if t.Failed() {
			t.Log(w.holders())
		}
	}()
	w.wait(t, "nothing is held", func() bool {
		list, _, err := w.client.nodes(context.Background())
		return err == nil && !slices.ContainsFunc(list, func(n node) bool { return n.up() && n.UsedMB > 0 })
	})
}

// holders are the nodes of which the ResourceManager counts some room as taken, and what it logged about containers
// there.
func (w *world) holders() string {
	var out strings.Builder
	text, err := os.ReadFile(w.managerLog())
	list, _, err2 := w.client.nodes(context.Background())
	fmt.Fprintln(&out, "read:", err, err2)
	for _, n := range list {
		if !n.up() || n.UsedMB == 0 {
			continue
		}
		fmt.Fprintf(&out, "%s holds %v MB\n", n.ID, n.UsedMB)
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, n.ID) && !strings.Contains(line, "HTTP/") {
				out.WriteString(line)
			}
		}
	}
	return out.String()
}

func (w *world) Traits() adaptertest.Traits { return w.traits }
func (w *world) Now() time.Time             { return time.Now() }

// Pass waits a little.
func (w *world) Pass(t testing.TB) {
	require.Empty(t, w.Gone(), "what nothing here has ended")
	time.Sleep(200 * time.Millisecond)
	w.release(t)
}

func (w *world) Open(t testing.TB, s adaptertest.Session) adaptertest.Instance {
	if s.Epoch > w.epoch {
		w.epoch = s.Epoch
		require.NoError(t, os.MkdirAll(w.spool, 0o755))
		raise(t, w.spool, s.Epoch)
	}
	o := w.options(w.spool)
	o.Instance = w.tag
	if w.gangs > 0 {
		o.GangTimeout = w.gangs
	}
	return openInstance(t, o, s, w.alter)
}

// present does something once the server is there, as users would try until it is.
func (w *world) present(do func()) {
	if w.away {
		w.later = append(w.later, do)
	} else {
		do()
	}
}

// command is what each task runs: it waits for the whole gang and then sleeps for the job's runtime.
func (w *world) command(j *adaptertest.Job) string {
	seconds := j.Runtime.Seconds()
	if seconds >= 60 { // as cases say that they do not wait for: it must not end while a busy machine takes its time
		seconds = 100_000
	}
	text := fmt.Sprintf(`d=%s; f=$d/$HEDGE_JOB.$HEDGE_ATTEMPT.$HEDGE_RANK.$CONTAINER_ID
log() { echo "$1 $(date +%%s%%N) $$ $HEDGE_NODE" >> $f; }
log start
g=${CONTAINER_ID%%_*}; n=0
while [ $n -lt $HEDGE_TASKS ]; do set -- $d/$HEDGE_JOB.$HEDGE_ATTEMPT.*.${g}_*; n=$#; [ $n -ge $HEDGE_TASKS ] || `+
		`sleep 0.1; done
`, w.logs)
	if j.SlowStop {
		text += "trap 'log told; sleep 3; log stopped; exit 143' TERM\n"
	} else {
		text += "trap 'log stopped; exit 143' TERM\n"
	}
	if j.FailRuns > 0 {
		text += fmt.Sprintf("if [ $HEDGE_ATTEMPT -le %d ] && [ $HEDGE_RANK = 0 ]; then sleep %g; log failed; exit 3; fi\n",
			j.FailStarts+j.FailRuns, seconds/2)
	}
	return text + fmt.Sprintf("sleep %g & wait $!\nlog finished\nexit 0", seconds)
}

func (w *world) Submit(t testing.TB, j adaptertest.Job) string {
	require.NoError(t, os.MkdirAll(filepath.Join(w.spool, jobsDir), 0o755))
	require.NoError(t, Submit(w.spool, j.Spec.ID, []byte(document(&j, w.command(&j)))))
	w.squeeze.jobs[j.Spec.ID] = j
	w.handed[j.Spec.ID] = append(w.handed[j.Spec.ID], time.Now())
	return j.Spec.ID
}

func (w *world) Do(t testing.TB, d adaptertest.Deed) {
	t.Helper()
	switch d.Do {
	case adaptertest.Withdraw:
		require.NoError(t, Withdraw(w.spool, d.Job))
	case adaptertest.AddNode:
		require.NoError(t,
			w.Add(context.Background(), testservers.YARNNode{Name: w.spareName(), MemoryMB: nodeMB, VCores: nodeVCores}))
		w.names[w.spare] = w.spareName()
	case adaptertest.Kill:
		w.Cut(w.names[d.Node])
		w.down[d.Node] = true
	case adaptertest.Revive:
		if !w.away {
			w.wait(t, "the loss is known", func() bool { n := w.realNode(d.Node); return n == nil || !n.up() })
		}
		require.NoError(t, w.Start(context.Background(), w.names[d.Node]))
		delete(w.down, d.Node)
		if !w.away {
			w.wait(t, "the node is back", func() bool { n := w.realNode(d.Node); return n != nil && n.up() })
			if w.small[d.Node] { // it has said that it has all that it had at first
				w.resize(t, d.Node, 1, 1, never)
			}
		}
	case adaptertest.StopServer:
		w.YARN.Kill(testservers.ResourceManager)
		w.away = true
	case adaptertest.StartServer:
		w.back(t)
	default:
		w.present(func() { w.administer(t, d) })
	}
}

// back brings the server back, and does what was to be done meanwhile.
func (w *world) back(t testing.TB) {
	require.NoError(t, w.Start(context.Background(), testservers.ResourceManager))
	w.away = false
	w.wait(t, "the nodes are back", func() bool {
		for id := range w.names {
			if n := w.realNode(id); !w.down[id] && (n == nil || !n.up()) {
				return false
			}
		}
		return true
	})
	for _, id := range sortedKeys(w.small) {
		w.size(t, id, 1, 1, never)
	}
	later := w.later
	w.later = nil
	for _, do := range later {
		do()
	}
}

// administer does what an operator does.
func (w *world) administer(t testing.TB, d adaptertest.Deed) {
	t.Helper()
	switch d.Do {
	case adaptertest.Cordon:
		w.small[d.Node] = true
		w.size(t, d.Node, 1, 1, never)
	case adaptertest.Drain:
		w.small[d.Node] = true
		w.size(t, d.Node, 1, 1, 0)
	case adaptertest.Uncordon:
		delete(w.small, d.Node)
		w.size(t, d.Node, nodeMB, nodeVCores, never)
	case adaptertest.Occupy:
		w.occupy(t, d.Node, d.Slots)
	default:
		t.Fatalf("unknown deed %q", d.Do)
	}
}

// size resizes a node that is up. If a node was cut off while its ResourceManager was away, the ResourceManager may not
// know it, and it comes back as [world.small] says.
func (w *world) size(t testing.TB, id string, memory, vcores, timeout int) {
	t.Helper()
	if !w.down[id] {
		w.resize(t, id, memory, vcores, timeout)
	}
}

// occupy makes an application that is not hedge's hold slots of a node.
func (w *world) occupy(t testing.TB, id string, slots int) {
	t.Helper()
	if old := w.others[id]; old != "" {
		require.NoError(t, w.client.kill(context.Background(), old, "others go"))
		w.wait(t, "others are gone", func() bool {
			a, err := w.client.app(context.Background(), old)
			return err == nil && a != nil && a.over()
		})
		delete(w.others, id)
	}
	if slots == 0 {
		return
	}
	g := &gang{
		Protocol: protocol, Job: "others", Attempt: 1, Nodes: []gangNode{{id, slots}}, MemoryMB: w.slot, VCores: 1,
		TimeoutMS: 3_000_000, Script: "exec sleep 100000\n",
	}
	w.others[id] = w.submitGang(t, g, "others")
	w.wait(t, "others have what they are to have, or wait for it", func() bool {
		a, err := w.client.app(context.Background(), w.others[id])
		if err != nil || a == nil {
			return false
		}
		if a.over() { // with a node where its ApplicationMaster was, say
			w.others[id] = w.submitGang(t, g, "others")
			return false
		}
		if a.State != "RUNNING" { // nor will it be before a node has room for its ApplicationMaster
			return !slices.ContainsFunc(w.traits.Nodes, func(id string) bool { return !w.small[id] && !w.down[id] })
		}
		n := w.realNode(id) // where a gang of hedge's has the room and waits for more elsewhere, others would wait as long
		return a.Progress >= allRun || int(a.AllocatedMB) > 64 || w.small[id] || w.down[id] ||
			n != nil && int(n.AvailMB) < w.slot
	})
}

// Notes is the note in the job's file.
func (w *world) Notes(_ testing.TB, job string) []string {
	text, err := os.ReadFile(NotePath(w.spool, job))
	if err != nil {
		return nil
	}
	return []string{string(text)}
}

// Records come from what the tasks' processes have written, and from the operating system's view of whether they exist.
// The ApplicationMaster has told the ResourceManager when the whole gang began and ended.
func (w *world) Records(t testing.TB) []adaptertest.Record {
	paths, err := filepath.Glob(filepath.Join(w.logs, "*"))
	require.NoError(t, err)
	w.ask(t)
	var out []adaptertest.Record
	for _, path := range paths {
		if r, ok := w.record(t, path); ok {
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, func(a, b adaptertest.Record) int { return a.Placed.Compare(b.Placed) })
	return out
}

// ask asks the ResourceManager and the running ApplicationMasters, again if there is no answer. Their data is more
// exact than what tasks have written.
func (w *world) ask(t testing.TB) {
	if w.away {
		return
	}
	var list []app
	w.wait(t, "the ResourceManager tells of all applications", func() bool {
		var err error
		list, err = w.allApps(w.tag)
		return err == nil
	})
	for i := range list {
		a := &list[i]
		switch {
		case !w.over[a.ID].IsZero():
		case a.over():
			w.over[a.ID], w.failed[a.ID] = milliseconds(int64(a.FinishedTime)), !a.succeeded()
			if st, err := parseStatus([]byte(a.Diagnostics)); err == nil {
				w.told[a.ID] = st
			}
		case a.Progress >= allRun && a.Progress < 100 && w.told[a.ID] == nil:
			if st, err := w.client.status(context.Background(), a.ID); err == nil && st.StartedMS > 0 {
				w.told[a.ID] = st
			}
		}
	}
}

// record is one task's record, from its file NAME.ATTEMPT.RANK.CONTAINER.
func (w *world) record(t testing.TB, path string) (adaptertest.Record, bool) {
	text, err := os.ReadFile(path)
	parts := strings.Split(filepath.Base(path), ".")
	if err != nil || len(parts) != 4 || !strings.Contains(string(text), "\n") {
		return adaptertest.Record{}, false
	}
	r := adaptertest.Record{Job: parts[0], Task: parts[2], State: adapters.Running}
	r.Attempt, err = strconv.Atoi(parts[1])
	require.NoError(t, err)
	pid := 0
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) != 4 {
			continue
		}
		ns, err := strconv.ParseInt(f[1], 10, 64)
		require.NoError(t, err)
		at := time.Unix(0, ns)
		switch f[0] {
		case "start":
			r.Placed, r.Started, r.Node = at, at, f[3]
			pid, err = strconv.Atoi(f[2])
			require.NoError(t, err)
		case "told":
			r.State = adapters.Stopping
		case "stopped":
			r.State, r.Ended = adapters.Stopping, at
		case "failed":
			r.State, r.Ended = adapters.Failed, at
		case "finished":
			r.State, r.Ended = adapters.Finished, at
		}
	}
	n := 0
	for _, at := range w.handed[r.Job] {
		if at.Before(r.Placed) {
			n++
		}
	}
	r.UID = strconv.Itoa(n)
	if r.Ended.IsZero() && !alive(pid, parts[3]) {
		if w.first[path].IsZero() {
			w.first[path] = time.Now()
		}
		r.State, r.Ended = adapters.Lost, w.first[path]
	}
	w.exact(&r, parts[3])
	return r, true
}

// alive reports whether a process runs and is the container's. Its number may be another process's by now, or it may be
// a zombie.
func alive(pid int, container string) bool {
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return err == nil && slices.Contains(strings.Split(string(environ), "\x00"), "CONTAINER_ID="+container)
}

func TestAlive(t *testing.T) {
	c := exec.CommandContext(t.Context(), "sleep", "100000")
	c.Env = []string{"CONTAINER_ID=container_1"}
	require.NoError(t, c.Start())
	// Start may return before the kernel has set up the new program's environment.
	wait(t, "its environment is there", func() bool { return alive(c.Process.Pid, "container_1") })
	require.False(t, alive(c.Process.Pid, "container_2"))
	require.NoError(t, c.Process.Kill())
	wait(t, "it has ended, unnoticed", func() bool { return !alive(c.Process.Pid, "container_1") })
	require.Error(t, c.Wait())
	require.False(t, alive(c.Process.Pid, "container_1"))
}

// exact corrects a record by the cluster's own data about when the gang began and ended. A gang is not known to run
// before its ApplicationMaster has said so. A task has not finished before its application is over: it may have done
// its work and be lost with its node before YARN knows, and then it starts again. What was stopped ends with its
// application, or later.
func (w *world) exact(r *adaptertest.Record, container string) {
	id := applicationOf(container)
	switch {
	case r.State != adapters.Finished:
	case w.over[id].IsZero():
		r.State, r.Ended = adapters.Running, time.Time{}
	case w.failed[id] && !w.told[id].ended(r.Task):
		r.State = adapters.Lost
	}
	if st := w.told[id]; st != nil && st.StartedMS > 0 {
		r.Started = milliseconds(st.StartedMS)
		if r.State == adapters.Finished && st.EndedMS > 0 {
			r.Ended = milliseconds(st.EndedMS)
		}
	} else if r.State == adapters.Running {
		r.Started, r.State = time.Time{}, adapters.Requested
	}
	if over := w.over[id]; r.State == adapters.Stopping && !r.Ended.IsZero() && over.After(r.Ended) {
		r.Ended = over
	}
}

// ended reports whether a gang's last status, of a failed application, says that a task had succeeded before.
func (s *status) ended(task string) bool {
	return s != nil && s.State == "failed" && !slices.ContainsFunc(s.Failed, func(f failedTask) bool {
		return strconv.Itoa(f.Rank) == task
	})
}

// TestEnded: without a last report of its ApplicationMaster, a task of a failed gang has not succeeded for YARN,
// whatever the task says itself.
func TestEnded(t *testing.T) {
	s := &status{State: "failed", Failed: []failedTask{{Rank: 1, Exit: -100}}}
	require.True(t, s.ended("0"))
	require.False(t, s.ended("1"))
	require.False(t, (&status{State: "running"}).ended("0"))
	require.False(t, (*status)(nil).ended("0"))
}

// applicationOf is the application of a container: container_e17_1410901177871_0001_01_000005, with the epoch only if
// the ResourceManager was restarted.
func applicationOf(container string) string {
	p := strings.Split(strings.TrimPrefix(container, "container_"), "_")
	if len(p) == 5 {
		p = p[1:]
	}
	if len(p) != 4 {
		return ""
	}
	return "application_" + p[0] + "_" + p[1]
}

var crashes = flag.Bool("crashes", false,
	"a crash at every call on the real cluster, too; on the fake one it is always done")

// TestConformance runs the suite, some cases concurrently, each on its own cluster.
func TestConformance(t *testing.T) {
	if *crashes {
		adaptertest.RunParallel(t, newLossy)
		return
	}
	t.Parallel()
	for _, c := range adaptertest.Cases() {
		make := newWorld
		if slices.Contains(c.Needs, adaptertest.Kill) {
			make = newLossy
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel() // also those that take the servers away: they are its own
			c.Run(t, make)
		})
	}
}
