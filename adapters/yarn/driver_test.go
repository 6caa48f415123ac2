package yarn

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
)

// stand is a driver with a fake ResourceManager and a clock of its own.
type stand struct {
	*fakeRM
	*Driver
	t     testing.TB
	now   time.Time
	spool string
}

func newStand(t testing.TB) *stand {
	f, server := newFakeRM(t)
	s := &stand{fakeRM: f, t: t, now: time.Now(), spool: t.TempDir()}
	for i := range 2 {
		f.nodes = append(f.nodes, &fakeNode{id: fmt.Sprint("localhost:", i+1), memory: 1000})
	}
	s.Driver = s.open(Options{URLs: []string{server.URL}})
	return s
}

// open makes another instance.
func (s *stand) open(o Options) *Driver {
	if s.Driver != nil {
		o.URLs = s.opt.URLs
	}
	o.Spool, o.AM.Classpath, o.Now = s.spool, "none", func() time.Time { return s.now }
	o.GangTimeout = time.Hour
	d, err := New(o)
	require.NoError(s.t, err)
	return d
}

func (s *stand) write(name, text string) {
	require.NoError(s.t, replace(filepath.Join(s.spool, jobsDir, name), []byte(text)))
}

// see is a job in a driver's full view, nil if it is not there.
func (s *stand) see(d *Driver, id string) *adapters.Job {
	v, err := d.Observe(context.Background(), true)
	require.NoError(s.t, err)
	for i := range v.Jobs {
		if v.Jobs[i].Spec.ID == id {
			return &v.Jobs[i]
		}
	}
	return nil
}

// start starts a job on the first node.
func (s *stand) start(id string) error {
	job := s.see(s.Driver, id)
	require.NotNil(s.t, job)
	return s.Start(context.Background(),
		&adapters.Start{Job: job, Nodes: []sched.NodeTasks{{Node: s.nodes[0].id, Tasks: job.Spec.Tasks}}})
}

// until observes until a job's tasks are in a state.
func (s *stand) until(id string, state adapters.TaskState) *adapters.Job {
	s.t.Helper()
	var job *adapters.Job
	wait(s.t, fmt.Sprintf("job %s is %s", id, state), func() bool {
		job = s.see(s.Driver, id)
		return job != nil && len(job.Tasks) > 0 && job.Tasks[0].State == state
	})
	return job
}

// runFor sets how long gangs run.
func (s *stand) runFor(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.behaves = func(string, int) behaviour { return behaviour{runtime: d} }
}

const gangText = "tasks: 2\nresources: {memory-mb: 100}\ncommand: sleep 1\n"

// TestSameContent: a finished job does not run again if its file is reformatted. It does if the file says something
// else.
func TestSameContent(t *testing.T) {
	s := newStand(t)
	s.runFor(0)
	s.write("a.yaml", gangText)
	require.NoError(t, s.start("a"))
	done := s.until("a", adapters.Finished)
	assert.Equal(t, 1, done.Attempt)

	s.write("a.yaml", `{"command": "sleep 1",   "tasks": 2, "resources": {"memory-mb": 100}}`)
	again := s.see(s.open(Options{}), "a")
	assert.Equal(t, done.UID, again.UID)
	assert.Equal(t, done.Revision, again.Revision)
	assert.Equal(t, done.Tasks, again.Tasks, "it stays finished")
	require.ErrorIs(t, s.start("a"), adapters.ErrStale)

	s.write("a.yaml", gangText+"priority: 2\n")
	next := s.see(s.Driver, "a")
	assert.NotEqual(t, done.UID, next.UID)
	assert.Empty(t, next.Tasks)
	require.NoError(t, s.start("a"))
	s.until("a", adapters.Finished)
	assert.Len(t, s.apps, 2)
}

// TestReplaced: if a job's file says something else, what runs of the old job is stopped before the new one begins.
func TestReplaced(t *testing.T) {
	s := newStand(t)
	s.write("a.yaml", gangText)
	require.NoError(t, s.start("a"))
	first := s.until("a", adapters.Running)
	s.write("a.yaml", gangText+"priority: 2\n")
	old := s.see(s.Driver, "a")
	assert.Equal(t, first.UID, old.UID)
	assert.True(t, old.Over)
	require.ErrorIs(t, old.Err, ErrWithdrawn)
	require.ErrorIs(t, old.Err, adapters.ErrCancelled)
	require.Len(t, old.Tasks, 2, "they hold their room until YARN says otherwise")
	require.NoError(t, s.Stop(context.Background(), &adapters.Stop{Job: old, Cause: adapters.CauseOver}))
	wait(t, "the other job waits", func() bool {
		job := s.see(s.Driver, "a")
		return job.UID != first.UID && len(job.Tasks) == 0 && job.Attempt == 0
	})
	assert.Equal(t, "hedge: over", s.apps[0].diagnostics)
}

// TestVoid: a lost submission is made void before the job waits again, so that it cannot arrive later.
func TestVoid(t *testing.T) {
	s := newStand(t)
	s.write("a.yaml", gangText)
	job := s.see(s.Driver, "a")
	s.rm.bases = []string{"http://127.0.0.1:1"}
	err := s.Start(context.Background(),
		&adapters.Start{Job: job, Nodes: []sched.NodeTasks{{Node: s.nodes[0].id, Tasks: 2}}})
	require.ErrorIs(t, err, adapters.ErrUnavailable)
	next := s.open(Options{})
	job = s.see(next, "a")
	require.Equal(t, adapters.Failed, job.Tasks[0].State)
	require.ErrorIs(t, job.Tasks[0].Err, errUnknownApp)
	require.NoError(t, next.Stop(context.Background(), &adapters.Stop{Job: job, Cause: adapters.CauseFailed}))
	require.Len(t, s.apps, 1)
	id := s.apps[0].id
	job = s.see(next, "a")
	assert.Empty(t, job.Tasks)
	assert.Equal(t, 1, job.Attempt)
	require.NoError(t, next.rm.submit(context.Background(), id, map[string]any{"application-id": id, "queue": "default"}),
		"it arrives late")
	assert.Len(t, s.apps, 1)
	assert.Equal(t, "FAILED", s.apps[0].state)
}

// TestRefused: a submission that YARN refuses leaves nothing behind.
func TestRefused(t *testing.T) {
	s := newStand(t)
	s.write("a.yaml", gangText)
	s.opt.AM.Classpath = ""
	require.ErrorIs(t, s.start("a"), adapters.ErrRefused)
	assert.Zero(t, s.see(s.Driver, "a").Attempt, "nothing was noted")
	s.opt.AM.Classpath = "none"
	refusing := answering(t, 400,
		[]byte(`{"RemoteException":{"exception":"BadRequestException","message":"no such label"}}`))
	job := s.see(s.Driver, "a")
	was := s.rm.bases
	s.rm.bases = refusing.bases
	err := s.Start(context.Background(),
		&adapters.Start{Job: job, Nodes: []sched.NodeTasks{{Node: s.nodes[0].id, Tasks: 2}}})
	require.ErrorIs(t, err, adapters.ErrRefused)
	assert.ErrorContains(t, err, "no such label")
	s.rm.bases = was
	job = s.see(s.Driver, "a")
	assert.Empty(t, job.Tasks)
	assert.Equal(t, 1, job.Attempt)
}

// TestKilledByOthers: an application that others kill has failed. After its retries the job is over with a reason.
func TestKilledByOthers(t *testing.T) {
	s := newStand(t)
	s.write("a.yaml", gangText+"retries: 0\n")
	require.NoError(t, s.start("a"))
	s.until("a", adapters.Running)
	require.NoError(t, s.rm.kill(context.Background(), s.apps[0].id, "an operator's reason"))
	wait(t, "the job is over", func() bool { return s.see(s.Driver, "a").Over })
	job := s.see(s.open(Options{}), "a")
	assert.True(t, job.Over, "for every instance")
	assert.Empty(t, job.Tasks)
	assert.ErrorContains(t, job.Err, "an operator's reason")
	text, err := os.ReadFile(NotePath(s.spool, "a"))
	require.NoError(t, err)
	assert.Contains(t, string(text), "an operator's reason")
	require.NoError(t, Withdraw(s.spool, "a"))
	s.see(s.Driver, "a")
	assert.NoFileExists(t, NotePath(s.spool, "a"))
}

// TestOddFiles: files that do not concern hedge, or make no sense, are no problem of other jobs.
func TestOddFiles(t *testing.T) {
	s := newStand(t)
	s.write("good.yaml", gangText)
	s.write("bad.yaml", "deadline: -5m\n")
	s.write("twice.yaml", gangText)
	s.write("twice.json", "{}")
	s.write("README.md", "not a job")
	s.write("-x.yaml", "no name of a job")
	dir := filepath.Join(s.spool, jobsDir)
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte(gangText), 0o600))
	require.NoError(t, os.Symlink(secret, filepath.Join(dir, "link.yaml")))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder.yaml"), 0o700))
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe.yaml"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(s.spool, stateDir, "scribbled.json"), []byte("{"), 0o600))
	require.NoError(t,
		os.WriteFile(filepath.Join(s.spool, stateDir, "orphan.json"), []byte(`{"open":true,"app":"../x"}`), 0o600))
	s.write("scribbled.yaml", gangText)
	v, err := s.Observe(context.Background(), true)
	require.NoError(t, err)
	problems := map[string]string{}
	for _, j := range v.Jobs {
		problems[j.Spec.ID] = fmt.Sprint(j.Problem)
	}
	assert.Len(t, problems, 7)
	assert.Equal(t, "<nil>", problems["good"])
	for id, want := range map[string]string{
		"bad": "resources.memory-mb is 0", "twice": "two files of that name", "link": "link.yaml",
		"folder": "no regular file", "pipe": "no regular file", "scribbled": "state file makes no sense",
	} {
		assert.Contains(t, problems[id], want)
	}
	require.NoError(t, s.start("good"))
	s.until("good", adapters.Running)
}

// TestChanges: an observation reports what has changed, and reads nothing else.
func TestChanges(t *testing.T) {
	s := newStand(t)
	for i := range 50 {
		s.write(fmt.Sprintf("j%d.yaml", i), gangText)
	}
	ctx := context.Background()
	v, err := s.Observe(ctx, false)
	require.NoError(t, err)
	assert.True(t, v.Full)
	assert.Len(t, v.Jobs, 50)
	v, err = s.Observe(ctx, false)
	require.NoError(t, err)
	assert.False(t, v.Full)
	assert.Empty(t, v.Jobs)
	assert.Empty(t, v.Nodes)
	require.NoError(t, s.start("j7"))
	v, err = s.Observe(ctx, false)
	require.NoError(t, err)
	require.Len(t, v.Jobs, 1)
	assert.Equal(t, "j7", v.Jobs[0].Spec.ID)
	require.NoError(t, Withdraw(s.spool, "j9"))
	wait(t, "it is told to be gone", func() bool {
		v, err = s.Observe(ctx, false)
		require.NoError(t, err)
		for _, j := range v.Jobs {
			if j.Spec.ID == "j9" {
				return j.Gone
			}
		}
		return false
	})
	s.mu.Lock()
	s.nodes[1].lost = true
	s.mu.Unlock()
	v, err = s.Observe(ctx, false)
	require.NoError(t, err)
	require.Len(t, v.Nodes, 1)
	assert.True(t, v.Nodes[0].Gone)
}

// TestRestartedRM: after a restart of the ResourceManager, nodes that it does not know yet are not lost at once.
func TestRestartedRM(t *testing.T) {
	s := newStand(t)
	s.write("a.yaml", gangText)
	require.NoError(t, s.start("a"))
	s.until("a", adapters.Running)
	fresh := s.open(Options{})
	_ = s.see(fresh, "a")
	fresh.state.nodes = map[string]*node{} // it never saw any
	for _, d := range []*Driver{s.Driver, fresh} {
		e := d.state.entries["a"]
		d.takeNodes(nil, nil)
		assert.Equal(t, adapters.Running, d.tasks(e)[0].State)
		s.now = s.now.Add(forgiven)
		d.takeNodes(nil, nil)
		assert.Equal(t, adapters.Lost, d.tasks(e)[0].State)
		s.now = s.now.Add(10 * forgiven)
		d.takeNodes(nil, nil)
		assert.Equal(t, adapters.Lost, d.tasks(e)[0].State, "it stays so")
	}
}

// TestProgress: the progress of an application that reports its end does not mean that a gang runs.
func TestProgress(t *testing.T) {
	s := newStand(t)
	e := &entry{name: "a",
		rec: &record{Open: true, Gang: true, App: "application_1_1", Plan: []sched.NodeTasks{{Node: "n", Tasks: 1}}}}
	s.state.nodes["n"] = &node{ID: "n", State: "RUNNING"}
	for progress, want := range map[number]adapters.TaskState{
		0: adapters.Requested, 49.9: adapters.Requested, 50: adapters.Running, 99: adapters.Running, 100: adapters.Requested,
		1000: adapters.Requested,
	} {
		e.app = &app{ID: "application_1_1", State: "RUNNING", Progress: progress}
		assert.Equal(t, want, s.tasks(e)[0].State, "%v", progress)
	}
}

// TestForeign: what hedge has planned and the headroom are hedge's own, whoever uses them at the moment. The rest is
// foreign.
func TestForeign(t *testing.T) {
	s := newStand(t)
	d := s.open(Options{HeadroomMB: 300, HeadroomVCores: 10, Pools: []string{"pool"}})
	s.nodes[0].others, s.nodes[1].label, s.nodes[1].others = 500, "pool", 50
	s.nodes = append(s.nodes, &fakeNode{id: "localhost:3", memory: 2000, label: "pool", draining: true, others: 100})
	v, err := d.Observe(context.Background(), true)
	require.NoError(t, err)
	require.Len(t, v.Nodes, 2)
	assert.Equal(t, sched.Resources{Memory: 700, VCores: 990}, v.Nodes[0].Capacity)
	assert.Equal(t, sched.Resources{Memory: 500}, v.Nodes[0].Foreign)
	pool := v.Nodes[1]
	assert.Equal(t, poolNode("pool"), pool.Name)
	assert.Equal(t, map[string]string{LabelPartition: "pool", LabelKind: KindPool, LabelNode: "pool:pool"}, pool.Labels)
	assert.Equal(t, sched.Resources{Memory: 1100, VCores: 1000}, pool.Capacity, "what drains has no more than it uses")
	assert.Equal(t, sched.Resources{Memory: 150}, pool.Foreign)
}

// TestMasters: what hedge's own ApplicationMasters hold within the headroom is not foreign, whatever node they are on.
func TestMasters(t *testing.T) {
	s := newStand(t)
	d := s.open(Options{HeadroomMB: 300, HeadroomVCores: 10, AM: AM{MemoryMB: 200}})
	s.nodes[0].others, s.nodes[1].others = 450, 450
	for _, name := range []string{"a", "b"} {
		d.state.active[name] = &entry{name: name,
			rec: &record{Open: true, Gang: true, App: "application_1_1", Plan: []sched.NodeTasks{{Node: "gone", Tasks: 1}}}}
	}
	foreign := func() []float64 {
		list, odd, err := d.rm.nodes(context.Background())
		require.NoError(t, err)
		d.takeNodes(list, odd)
		v := &adapters.View{Full: true}
		d.tellNodes(v)
		return []float64{v.Nodes[0].Foreign[Memory], v.Nodes[1].Foreign[Memory]}
	}
	assert.Equal(t, []float64{150, 150}, foreign(), "both may be anywhere, within the headroom")
	d.state.active["a"].app = &app{State: "RUNNING", Master: s.nodes[0].id}
	assert.Equal(t, []float64{150, 250}, foreign())
	d.state.active["b"].app = &app{State: "FINISHED", Master: s.nodes[1].id}
	assert.Equal(t, []float64{250, 450}, foreign())
}

// TestApplication: a user's own application is submitted as it is, with the fields that hedge fills in.
func TestApplication(t *testing.T) {
	p := parse("spark", []byte(`
tasks: 5
resources: {memory-mb: 1024}
label: pool
queue: q
priority: 4
application:
  application-type: SPARK
  application-name: mine
  application-tags: {tag: one}
  max-app-attempts: 2
  am-container-spec: {commands: {command: run}}
`))
	require.NoError(t, p.problem)
	s := newStand(t)
	body, err := s.context(p, &record{App: "application_5_6", UID: "0123456789abcdef0123", Attempt: 2, Epoch: 7})
	require.NoError(t, err)
	assert.Equal(t, map[string]any{
		"application-id": "application_5_6", "application-name": "mine", "application-type": "SPARK", "max-app-attempts": 2.0,
		"queue": "q", "priority": 4,
		"app-node-label-expression": "pool",
		"am-container-spec":         map[string]any{"commands": map[string]any{"command": "run"}},
		"application-tags": map[string]any{
			"tag": []string{"one", "hedge", "hedge-job-0123456789abcdef", "hedge-attempt-2", "hedge-epoch-7"}},
	}, body)
}

// TestSubmit: names are checked, and no two jobs have the same name.
func TestSubmit(t *testing.T) {
	s := newStand(t)
	for _, name := range []string{"", "../x", ".x", "a/b", "a~b", strings.Repeat("a", 101)} {
		require.ErrorIs(t, Submit(s.spool, name, nil), ErrName, name)
		require.ErrorIs(t, Withdraw(s.spool, name), ErrName, name)
	}
	require.NoError(t, Submit(s.spool, "a", []byte(gangText)))
	require.ErrorIs(t, Submit(s.spool, "a", []byte(gangText)), ErrExists)
	first := s.see(s.Driver, "a")
	require.NoError(t, Withdraw(s.spool, "a"))
	require.NoError(t, Withdraw(s.spool, "a"), "it is gone already")
	require.NoError(t, Submit(s.spool, "a", []byte(gangText)))
	assert.NotEqual(t, first.UID, s.see(s.Driver, "a").UID, "it is another submission")
	require.Error(t, Submit(filepath.Join(s.spool, "none"), "a", nil))
}

func TestOptions(t *testing.T) {
	ok := Options{URLs: []string{"http://rm:8088"}, Spool: t.TempDir()}
	_, err := New(ok)
	require.NoError(t, err)
	for _, change := range []func(*Options){
		func(o *Options) { o.URLs = nil },
		func(o *Options) { o.URLs = []string{"rm:8088"} },
		func(o *Options) { o.Spool = "" },
		func(o *Options) { o.Instance = "Big" },
		func(o *Options) { o.Pools = []string{"a b"} },
		func(o *Options) { o.HeadroomMB = -1 },
		func(o *Options) { o.Timeout = -1 },
		func(o *Options) { o.GangTimeout = -1 },
		func(o *Options) { o.AM.Archive = "hedge-am.jsa" },
		func(o *Options) { o.AM.Archive = "/opt/$HOME/hedge-am.jsa" },
	} {
		o := ok
		change(&o)
		_, err := New(o)
		require.ErrorIs(t, err, ErrOptions)
		_, err = NewLease(o, 0)
		require.ErrorIs(t, err, ErrOptions)
	}
	_, err = NewLease(ok, -1)
	require.ErrorIs(t, err, ErrOptions)
	ok.Spool = filepath.Join(ok.Spool, lockDoc)
	require.NoError(t, os.WriteFile(ok.Spool, nil, 0o600))
	_, err = New(ok)
	require.Error(t, err, "a file where the spool should be")
}

// TestMasterEnds: if a gang's ApplicationMaster ends without a report, the gang starts again, as often as that happens,
// even without retries. A gang whose ApplicationMaster used too much memory does not.
func TestMasterEnds(t *testing.T) {
	s := newStand(t)
	s.write("a.yaml", gangText+"retries: 0\n")
	ends := func(code int) {
		require.NoError(t, s.start("a"))
		s.until("a", adapters.Running)
		s.mu.Lock()
		a := s.apps[len(s.apps)-1]
		s.end(a, "FAILED", "FAILED",
			fmt.Sprintf(
				"Application %s failed 1 times (global limit =2; local limit is =1) due to AM Container for appattempt_%s_000001 "+
					"exited with  exitCode: %d\nFailing this attempt.",
				a.id, strings.TrimPrefix(a.id, "application_"), code), time.Now())
		s.mu.Unlock()
	}
	for _, code := range []int{4, 3, 1} {
		ends(code)
		failed := s.see(s.Driver, "a")
		require.False(t, failed.Over)
		assert.Equal(t, adapters.Failed, failed.Tasks[0].State)
		require.NoError(t, s.Stop(context.Background(), &adapters.Stop{Job: failed, Cause: adapters.CauseFailed}))
		again := s.see(s.open(Options{}), "a")
		assert.Empty(t, again.Tasks)
		assert.Zero(t, again.Ref.(*ref).rec.Failures)
	}
	ends(-104)
	assert.True(t, s.see(s.Driver, "a").Over)
}

// TestBlame: what YARN took from a job is no failure of the job, and neither is the end of hedge's own
// ApplicationMaster. A container that could not be set up is a failure of an application.
func TestBlame(t *testing.T) {
	const crashed = "Application application_1_1 failed 1 times (global limit =2; local limit is =1) due to AM " +
		"Container for appattempt_1_1_000001 exited with  exitCode: %d\nFailing this attempt."
	for _, tt := range []struct {
		code              int
		gang, application bool
	}{
		{1, false, true}, {3, false, true}, {4, false, true}, {127, false, true}, {137, false, true}, {-100, false, false},
		{-101, false, false}, {-102, false, false},
		{-103, true, true}, {-104, true, true}, {-106, false, false}, {-1000, false, true}, {-1001, false, true},
	} {
		e := &entry{rec: &record{},
			app: &app{State: "FAILED", FinalStatus: "FAILED", Diagnostics: fmt.Sprintf(crashed, tt.code)}}
		assert.Equal(t, tt.application, e.blame(), "%d", tt.code)
		e.rec.Gang = true
		assert.Equal(t, tt.gang, e.blame(), "%d", tt.code)
		e.rec.Stop = "preempted"
		assert.False(t, e.blame(), "%d", tt.code)
	}
	for words, want := range map[string]bool{
		"Container exited with a non-zero exit code 154":                                     false,
		"Exception from container-launch.\nContainer id: container_1_1_01_1\nExit code: 154": true,
	} {
		e := &entry{rec: &record{}, app: &app{State: "FAILED", FinalStatus: "FAILED",
			Diagnostics: fmt.Sprintf(crashed, 154) + "Diagnostics: [2026-11-22 18:18:32.023]" + words}}
		assert.Equal(t, want, e.blame(), words)
	}
	for cause, want := range map[string]bool{causeShort: false, causeStart: false, causeLost: false, "task": true,
		"input": true} {
		e := &entry{rec: &record{Gang: true},
			app: &app{State: "FINISHED", FinalStatus: "FAILED", Diagnostics: fmt.Sprintf(`{"protocol":1,"cause":%q}`, cause)}}
		assert.Equal(t, want, e.blame(), cause)
		e.rec.Gang = false
		assert.True(t, e.blame(), "an application's own words: %s", cause)
	}
	for diagnostics, want := range map[string]bool{
		fmt.Sprintf(crashed, 1) + "Diagnostics: \n" + fmt.Sprintf(crashed, -100):                               true,
		"Application application_1_1 failed 2 times due to Error launching it\n" + fmt.Sprintf(crashed, -100):  true,
		strings.Replace(fmt.Sprintf(crashed, -100), "AM Cont", "Attempt recovered after RM restartAM Cont", 1): false,
	} {
		e := &entry{rec: &record{}, app: &app{State: "FAILED", FinalStatus: "FAILED", Diagnostics: diagnostics}}
		assert.Equal(t, want, e.blame(), diagnostics)
	}
	for words, want := range map[string]bool{ // of applications, and of gangs
		"failed 1 times (global limit =2; local limit is =1) due to ApplicationMaster for attempt appattempt_1_1_000001 " +
			"timed out. Failing the application.": false,
		"failed 1 times (global limit =2; local limit is =1) due to Error launching appattempt_1_1_000001. Got exception: " +
			"java.net.ConnectException. Failing the application.": false,
		"submitted by user u to unknown queue: q": true,
	} {
		e := &entry{rec: &record{},
			app: &app{State: "FAILED", FinalStatus: "FAILED", Diagnostics: "Application application_1_1 " + words}}
		assert.True(t, e.blame(), words)
		e.rec.Gang = true
		assert.Equal(t, want, e.blame(), words)
		e.app.State = "KILLED"
		assert.True(t, e.blame(), words)
	}
	for _, diagnostics := range []string{"User class threw exception: exitCode: -100", fmt.Sprintf(crashed, -100),
		`{"protocol":1,"cause":"lost"}`} {
		e := &entry{rec: &record{}, app: &app{State: "FINISHED", FinalStatus: "FAILED", Diagnostics: diagnostics}}
		assert.True(t, e.blame(), "an application that told its end has failed by itself: %s", diagnostics)
		assert.ErrorContains(t, e.why(), diagnostics)
	}
}

// TestUnreadable: a job file that cannot be read for the moment does not count as another job.
func TestUnreadable(t *testing.T) {
	s := newStand(t)
	s.write("a.yaml", gangText)
	before := s.see(s.Driver, "a")
	e := s.state.entries["a"]
	files := e.files
	err := s.readJob(e, []jobFile{{base: "a\x00.yaml", name: "a"}}) // which the system refuses
	require.ErrorIs(t, err, adapters.ErrUnavailable)
	assert.ErrorContains(t, err, "a\x00.yaml")
	assert.Equal(t, files, e.files, "it is read again")
	assert.Equal(t, before.UID, e.uid)
	assert.Equal(t, before.UID, s.see(s.Driver, "a").UID)
}

// TestRecordGone: a record that another instance deletes is gone, although this one has written it. A record does not
// count as another one with the same number.
func TestRecordGone(t *testing.T) {
	s := newStand(t)
	s.runFor(0)
	s.write("a.yaml", gangText)
	require.NoError(t, s.start("a"))
	s.until("a", adapters.Finished)
	require.NoError(t, os.Remove(s.Driver.spool.recordPath("a")))
	assert.Empty(t, s.see(s.Driver, "a").Tasks)

	ctx, plan := context.Background(), []sched.NodeTasks{{Node: "h:1", Tasks: 1}}
	first := &record{UID: "u", App: "application_1_1", Open: true, Plan: plan}
	require.NoError(t, s.Driver.spool.change(ctx, "b", nil, first, 0, nil))
	require.NoError(t, s.Driver.spool.change(ctx, "b", first, nil, 0, nil))
	second := &record{UID: "u", App: "application_1_2", Open: true, Plan: plan}
	require.NoError(t, s.Driver.spool.change(ctx, "b", nil, second, 0, nil))
	require.ErrorIs(t, s.Driver.spool.change(ctx, "b", first, &record{UID: "u", Finished: true, Plan: plan}, 0, nil),
		adapters.ErrStale)
}

// TestFailedMeanwhile: if an attempt fails for the last time while the job is to be preempted, it is the last attempt.
func TestFailedMeanwhile(t *testing.T) {
	for _, retries := range []int{0, 1} {
		s := newStand(t)
		s.write("a.yaml", gangText+fmt.Sprintf("retries: %d\n", retries))
		require.NoError(t, s.start("a"))
		job := s.until("a", adapters.Running)
		require.NoError(t, s.rm.kill(context.Background(), s.apps[0].id, "an operator's reason"))
		wait(t, "it is killed", func() bool {
			a, err := s.rm.app(context.Background(), s.apps[0].id)
			return err == nil && a != nil && a.over()
		})
		require.NoError(t, s.Stop(context.Background(), &adapters.Stop{Job: job, Cause: adapters.CausePreempted}))
		assert.Equal(t, retries == 0, s.see(s.Driver, "a").Over)
	}
}

// TestNamelessFiles: a file whose name is no job's is noted once. The note is deleted with the file, even if another
// instance has written it.
func TestNamelessFiles(t *testing.T) {
	s := newStand(t)
	note := func(file string) string {
		text, _ := os.ReadFile(NotePath(s.spool, file))
		return string(text)
	}
	for _, file := range []string{"bad name.yaml", "-rf.yaml", "ü.json", strings.Repeat("a", 200) + ".yaml", "job?.txt",
		".swap.yaml", "notes.txt", "a.yaml"} {
		s.write(file, simple)
	}
	require.NotNil(t, s.see(s.Driver, "a"))
	for _, file := range []string{"bad name.yaml", "-rf.yaml", "ü.json", strings.Repeat("a", 200) + ".yaml", "job?.txt"} {
		assert.Contains(t, note(file), "expected NAME.yaml", file)
	}
	assert.Contains(t, note("bad name.yaml"), `"bad name.yaml"`)
	assert.Empty(t, note(".swap.yaml"), "it is an editor's")
	assert.Empty(t, note("notes.txt"), "a job notes.txt would be noted there")

	require.NoError(t, os.Remove(filepath.Join(s.spool, jobsDir, "-rf.yaml")))
	s.see(s.Driver, "a")
	assert.Empty(t, note("-rf.yaml"))
	require.NoError(t, os.Remove(filepath.Join(s.spool, jobsDir, "ü.json")))
	s.see(s.open(Options{}), "a")
	assert.Empty(t, note("ü.json"))
	assert.NotEmpty(t, note("bad name.yaml"))
}

// TestNotesGo: the note of a job is deleted with the job, even if the job never ran.
func TestNotesGo(t *testing.T) {
	s := newStand(t)
	s.write("a.yaml", gangText)
	require.NoError(t, s.Explain(context.Background(), &adapters.Note{Job: s.see(s.Driver, "a"), Err: ErrJob}))
	text, err := os.ReadFile(NotePath(s.spool, "a"))
	require.NoError(t, err)
	assert.Equal(t, ErrJob.Error()+"\n", string(text))
	require.NoError(t, Withdraw(s.spool, "a"))
	assert.True(t, s.see(s.Driver, "a").Gone)
	assert.NoFileExists(t, NotePath(s.spool, "a"))
}

// TestNotesEndWithStart: a started job has no note, even if the scheduler crashed at that moment. A job whose start was
// refused keeps its note.
func TestNotesEndWithStart(t *testing.T) {
	s := newStand(t)
	path := NotePath(s.spool, "a")
	explain := func() {
		require.NoError(t, s.Explain(context.Background(), &adapters.Note{Job: s.see(s.Driver, "a"), Err: ErrJob}))
		require.FileExists(t, path)
	}
	s.write("a.yaml", gangText)
	explain()
	job, was := s.see(s.Driver, "a"), s.rm.bases
	s.rm.bases = answering(t, 400,
		[]byte(`{"RemoteException":{"exception":"BadRequestException","message":"no such label"}}`)).bases
	require.ErrorIs(t, s.Start(context.Background(), &adapters.Start{Job: job,
		Nodes: []sched.NodeTasks{{Node: s.nodes[0].id, Tasks: 2}}}), adapters.ErrRefused)
	assert.FileExists(t, path)
	s.rm.bases = was
	require.NoError(t, s.start("a"))
	assert.NoFileExists(t, path)

	require.NoError(t, os.WriteFile(path, []byte("no room\n"), 0o600))
	s.see(s.open(Options{}), "a")
	assert.NoFileExists(t, path)
}

// TestBackAndLost: a node that is back but also listed as lost is there.
func TestBackAndLost(t *testing.T) {
	for _, list := range [][]node{{{ID: "n", State: "LOST"}, {ID: "n", State: "DECOMMISSIONING"}},
		{{ID: "n", State: "DECOMMISSIONING"}, {ID: "n", State: "LOST"}}} {
		s := newStand(t)
		s.takeNodes(list, nil)
		assert.True(t, s.present("n"))
	}
}

// TestDated: a file's date is trusted if it is possible.
func TestDated(t *testing.T) {
	s := newStand(t)
	for _, tt := range []struct{ is, want time.Time }{
		{s.now.Add(-time.Hour), s.now.Add(-time.Hour)},
		{s.now.Add(time.Hour), s.now},
		{time.Date(20_000, 1, 1, 0, 0, 0, 0, time.UTC), s.now}, // which no record could say
		{time.Date(-5, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(0, 0)},
	} {
		assert.True(t, tt.want.Equal(s.dated(&jobFile{modified: tt.is})), "%v", tt.is)
	}
	s.write("a.yaml", gangText)
	require.NoError(t, os.Chtimes(filepath.Join(s.spool, jobsDir, "a.yaml"), time.Time{}, s.now.Add(100*time.Hour)))
	assert.True(t, s.now.Equal(s.see(s.Driver, "a").Spec.Submitted))
	require.NoError(t, s.start("a"))
	assert.Zero(t, milliseconds(1<<53))
}

// TestBackAsItWas: a file that was deleted or changed and is back as it was is a job submitted later. The loop is told.
func TestBackAsItWas(t *testing.T) {
	s := newStand(t)
	c, err := adapters.New(s.Driver, adapters.Options{Now: func() time.Time { return s.now }})
	require.NoError(t, err)
	look := func() (kinds []sched.EventKind) {
		events, err := c.Events(context.Background())
		require.NoError(t, err)
		for _, e := range events {
			if e.ID == "a" {
				kinds = append(kinds, e.Kind)
			}
		}
		return kinds
	}
	s.write("a.yaml", gangText)
	assert.Equal(t, []sched.EventKind{sched.Submitted}, look())
	for range 2 {
		require.NoError(t, Withdraw(s.spool, "a"))
		assert.Equal(t, []sched.EventKind{sched.Withdrawn}, look())
		s.write("a.yaml", gangText)
		assert.Equal(t, []sched.EventKind{sched.Submitted}, look())
		for _, text := range []string{gangText + "priority: 2\n", gangText} {
			s.write("a.yaml", text)
			assert.Equal(t, []sched.EventKind{sched.Withdrawn, sched.Submitted}, look())
		}
		assert.Empty(t, look())
	}
}

// TestRecovering: a restarted ResourceManager that does not know its earlier state yet is not trusted when it says that
// an application does not exist.
func TestRecovering(t *testing.T) {
	s := newStand(t)
	s.write("a.yaml", gangText)
	require.NoError(t, s.start("a"))
	s.until("a", adapters.Running)
	knows := func(does bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.knows = does
	}
	knows(false)
	for _, d := range []*Driver{s.Driver, s.open(Options{})} {
		_, err := d.Observe(context.Background(), true)
		require.ErrorIs(t, err, adapters.ErrUnavailable)
		assert.ErrorContains(t, err, "INITIALIZING")
	}
	knows(true)
	assert.Equal(t, adapters.Running, s.see(s.Driver, "a").Tasks[0].State)
	s.mu.Lock()
	s.apps = nil
	s.mu.Unlock()
	assert.Equal(t, adapters.Failed, s.see(s.Driver, "a").Tasks[0].State, "it has forgotten it")
}

// TestOdd: if the ResourceManager's answer about an application or node makes no sense, that one stays as it was,
// others are read as usual, and OnError is called.
func TestOdd(t *testing.T) {
	s := newStand(t)
	var told []string
	tell := func(err error) { told = append(told, err.Error()) }
	s.opt.OnError = tell
	for _, name := range []string{"a", "b"} {
		s.write(name+".yaml", gangText)
		require.NoError(t, s.start(name))
		s.until(name, adapters.Running)
	}
	odd := func(id string, is bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.odd[id] = is
	}
	a, n := s.apps[0].id, s.nodes[0].id
	odd(a, true)
	odd(n, true)
	job := s.see(s.Driver, "a")
	assert.Equal(t, adapters.Running, job.Tasks[0].State)
	require.ErrorIs(t, job.Problem, errOdd)
	assert.ErrorContains(t, job.Problem, a)
	b := s.see(s.Driver, "b")
	assert.NoError(t, b.Problem)
	assert.Equal(t, adapters.Running, b.Tasks[0].State)
	require.Len(t, told, 2, "once each")
	assert.Contains(t, told[0], a)
	assert.Contains(t, told[1], n)

	fresh := s.open(Options{OnError: tell}) // it never saw what they were before
	v, err := fresh.Observe(context.Background(), true)
	require.NoError(t, err)
	require.Len(t, v.Nodes, 1)
	assert.Equal(t, s.nodes[1].id, v.Nodes[0].Name)
	assert.Equal(t, adapters.Requested, v.Jobs[0].Tasks[0].State, "it may run, or not")
	assert.Equal(t, adapters.Running, v.Jobs[1].Tasks[0].State, "though its node is odd")
	v, err = s.Observe(context.Background(), true)
	require.NoError(t, err)
	require.Len(t, v.Nodes, 2)
	assert.True(t, v.Nodes[0].Cordoned)
	assert.False(t, v.Nodes[1].Cordoned)

	odd(n, false)
	require.NoError(t, s.Stop(context.Background(), &adapters.Stop{Job: job, Cause: adapters.CausePreempted}))
	assert.Equal(t, adapters.Stopping, s.see(s.Driver, "a").Tasks[0].State)
	odd(a, false)
	wait(t, "it has stopped", func() bool { return len(s.see(s.Driver, "a").Tasks) == 0 })
	assert.NoError(t, s.see(s.Driver, "a").Problem)
	assert.Empty(t, s.state.named)
}

// TestSweep: half-written files of a crash are deleted when a driver is made. Files that are being written, and all
// others, are not.
func TestSweep(t *testing.T) {
	s := newStand(t)
	old := time.Now().Add(-2 * staleAfter)
	for _, sub := range []string{"", jobsDir, stateDir, notesDir} {
		for _, name := range []string{".new-old", ".new-fresh", "kept.txt"} {
			file := filepath.Join(s.spool, sub, name)
			require.NoError(t, os.WriteFile(file, nil, 0o600))
			if name != ".new-fresh" {
				require.NoError(t, os.Chtimes(file, old, old))
			}
		}
	}
	s.open(Options{})
	for _, sub := range []string{"", jobsDir, stateDir, notesDir} {
		assert.NoFileExists(t, filepath.Join(s.spool, sub, ".new-old"))
		assert.FileExists(t, filepath.Join(s.spool, sub, ".new-fresh"))
		assert.FileExists(t, filepath.Join(s.spool, sub, "kept.txt"))
	}
}
