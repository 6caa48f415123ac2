package nomad

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
)

// wrapped is a user's transport.
type wrapped struct{ http.RoundTripper }

// TestUsersClient: a client's Timeout does not affect the event stream, the client itself is not modified, and TLS for
// an unknown transport is an error.
func TestUsersClient(t *testing.T) {
	own := &http.Client{Timeout: time.Second, Transport: wrapped{http.DefaultTransport}}
	_, err := New(&api.Config{HttpClient: own}, Options{})
	require.NoError(t, err)
	assert.Equal(t, time.Second, own.Timeout)

	_, err = New(&api.Config{HttpClient: own, TLSConfig: &api.TLSConfig{Insecure: true}}, Options{})
	require.ErrorIs(t, err, ErrConfig)
	assert.ErrorContains(t, err, "nomad.wrapped")

	_, err = New(&api.Config{HttpClient: &http.Client{}, TLSConfig: &api.TLSConfig{Insecure: true}}, Options{})
	require.NoError(t, err)
	_, err = New(&api.Config{HttpClient: &http.Client{Transport: &http.Transport{}},
		TLSConfig: &api.TLSConfig{CACert: "/no/such/file"}}, Options{})
	require.ErrorIs(t, err, ErrConfig)
	_, err = New(&api.Config{Address: "://"}, Options{})
	require.ErrorIs(t, err, ErrConfig)
	_, err = New(nil, Options{})
	require.NoError(t, err)
}

// TestOptions: options that make no sense are refused. A CheckLease of 0 trusts nothing.
func TestOptions(t *testing.T) {
	for _, o := range []Options{{Timeout: -1}, {Fence: -1}, {CheckLease: -1}} {
		_, err := New(nil, o)
		require.ErrorIs(t, err, ErrOptions)
		_, err = NewLease(nil, o, 0)
		require.ErrorIs(t, err, ErrOptions)
	}
	_, err := NewLease(nil, Options{}, -1)
	require.ErrorIs(t, err, ErrOptions)
	l, err := NewLease(nil, Options{}, 0)
	require.NoError(t, err)
	assert.Equal(t, LeaseFor, l.granted)
	d, err := New(nil, Options{})
	require.NoError(t, err)
	assert.Zero(t, d.opt.CheckLease)
}

// answering is a driver of a server that gives every call the same answer.
func answering(t *testing.T, status int, text string) *Driver {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, text)
	}))
	t.Cleanup(s.Close)
	d, err := New(&api.Config{Address: s.URL}, Options{})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	return d
}

// TestErrors: an error says that nothing was done only if Nomad says so.
func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		status int
		text   string
		want   error
	}{
		{500, "Enforcing job modify index 5: job exists with conflicting job modify index: 7", adapters.ErrStale},
		{500, "Enforcing job modify index 5: job does not exist", adapters.ErrStale},
		{403, "Permission denied", adapters.ErrRefused},
		{500, "rpc error: Permission denied", adapters.ErrRefused},
		{500, "1 error occurred:\n\t* Task group work validation failed", adapters.ErrRefused},
		{400, "bad request", adapters.ErrRefused},
		{429, "slow down", adapters.ErrUnavailable},
		{500, "No cluster leader", adapters.ErrUnavailable},
		{503, "", adapters.ErrUnavailable},
		{200, "{", adapters.ErrUnavailable},
	} {
		d := answering(t, tt.status, tt.text)
		j := &job{heldJob(nil), read(heldJob(nil))}
		told := &adapters.Job{Spec: j.spec, Ref: j}
		err := d.Stop(context.Background(), &adapters.Stop{Job: told})
		require.ErrorIs(t, err, tt.want, "%d %s", tt.status, tt.text)
	}
	d := answering(t, 200, "{}")
	for _, ref := range []any{nil, (*job)(nil), 3, &job{heldJob(nil), &hints{}}} {
		told := &adapters.Job{Spec: read(heldJob(nil)).spec, Ref: ref}
		require.ErrorIs(t, d.Start(context.Background(), &adapters.Start{Job: told}), adapters.ErrRefused)
		require.ErrorIs(t, d.Stop(context.Background(), &adapters.Stop{Job: told}), adapters.ErrRefused)
	}
}

// TestTLS: certificates come from the client's configuration.
func TestTLS(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "[]")
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	trusted := &api.Config{Address: s.URL, TLSConfig: &api.TLSConfig{Insecure: true},
		HttpClient: &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}}}}
	d, err := New(trusted, Options{})
	require.NoError(t, err)
	defer d.Close()
	_, err = d.Observe(context.Background(), true)
	require.NoError(t, err)

	strict, err := New(&api.Config{Address: s.URL}, Options{})
	require.NoError(t, err)
	defer strict.Close()
	_, err = strict.Observe(context.Background(), true)
	require.ErrorIs(t, err, adapters.ErrUnavailable)
}

// TestSucceeded: a task that ended before it was killed has done its work. A task that was told to stop has not,
// whatever it says.
func TestSucceeded(t *testing.T) {
	events := func(types ...string) []*api.TaskEvent {
		var out []*api.TaskEvent
		for _, one := range types {
			out = append(out, &api.TaskEvent{Type: one})
		}
		return out
	}
	ran := time.Unix(5, 0)
	for _, tt := range []struct {
		state api.TaskState
		want  bool
	}{
		{api.TaskState{State: "dead", StartedAt: ran, Events: events(api.TaskStarted, api.TaskTerminated)}, true},
		{api.TaskState{State: "dead", StartedAt: ran, Events: events(api.TaskStarted, api.TaskTerminated, api.TaskKilling,
			api.TaskKilled)}, true},
		{api.TaskState{State: "dead", StartedAt: ran, Events: events(api.TaskStarted, api.TaskKilling, api.TaskTerminated,
			api.TaskKilled)}, false},
		{api.TaskState{State: "dead", StartedAt: ran, Failed: true, Events: events(api.TaskStarted, api.TaskTerminated)},
			false},
		{api.TaskState{State: "dead", Events: events(api.TaskKilling, api.TaskKilled)}, false},
		{api.TaskState{State: "running", StartedAt: ran}, false},
	} {
		assert.Equal(t, tt.want, succeeded(&tt.state), "%+v", tt.state.Events)
	}
}

// TestNames: nodes with the same name get different names, and nodes that are up keep theirs.
func TestNames(t *testing.T) {
	s := newState()
	node := func(id, status string, index uint64) {
		s.nodes[id] = &api.Node{ID: id, Name: "n", Status: status, CreateIndex: index}
	}
	node("a", api.NodeStatusReady, 1)
	node("b", api.NodeStatusReady, 2)
	s.rename()
	assert.Equal(t, map[string]string{"a": "n", "b": "n@b"}, s.names)
	node("a", api.NodeStatusDown, 1)
	node("c", api.NodeStatusReady, 3)
	s.rename()
	assert.Equal(t, map[string]string{"a": "n", "b": "n@b", "c": "n"}, s.names,
		"a machine that was set up anew has its old name")
	assert.Equal(t, "c", s.byName("n").ID)
	assert.True(t, s.others("n", "a"))
	node("a", api.NodeStatusReady, 1)
	s.rename()
	assert.Equal(t, map[string]string{"a": "n@a", "b": "n@b", "c": "n"}, s.names, "what came back gives way")
}

// TestReplayed: events that are older than the listing, or come twice, change nothing.
func TestReplayed(t *testing.T) {
	s := newState()
	all := func(string) bool { return true }
	s.putJob(heldJob(nil), true)
	s.listed[api.TopicJob], s.listed[api.TopicAllocation] = 30, 30
	send := func(topic api.Topic, index uint64, payload any) {
		text, err := json.Marshal(payload)
		require.NoError(t, err)
		require.NoError(t, s.apply(&event{Topic: topic, Index: index, Payload: text}, all))
	}
	old := &alloc{ID: "x", Namespace: "prod", JobID: "a", NodeID: "n", ClientStatus: "running"}
	send(api.TopicAllocation, 30, map[string]any{"Allocation": old})
	assert.Empty(t, s.allocs)
	send(api.TopicAllocation, 31, map[string]any{"Allocation": old})
	assert.Len(t, s.allocs, 1)
	other := *old
	other.ID, other.JobID, other.ClientStatus = "y", "foreign", "complete"
	send(api.TopicAllocation, 32, map[string]any{"Allocation": &other})
	assert.Len(t, s.allocs, 1, "what others have ended is not kept")

	next := heldJob(map[string]string{KeyTasks: "3"})
	next.JobModifyIndex, next.ModifyIndex = ptr(uint64(40)), ptr(uint64(40))
	send(api.TopicJob, 40, map[string]any{"Job": next})
	send(api.TopicJob, 35, map[string]any{"Job": heldJob(nil)})
	assert.Equal(t, 3, s.jobs[key{"prod", "a"}].spec.Tasks)
	delete(next.Meta, KeyMark)
	next.ModifyIndex = ptr(uint64(41))
	send(api.TopicJob, 41, map[string]any{"Job": next})
	assert.Empty(t, s.jobs, "its user has taken it from hedge")
	assert.Len(t, s.allocs, 1, "what still runs is foreign")
	require.Error(t, s.apply(&event{Topic: api.TopicJob, Index: 50, Payload: []byte(`{"Job":3}`)}, all))
}

// TestEvaluations: only a job that may have been purged is looked up. All others are only marked as changed.
func TestEvaluations(t *testing.T) {
	s := newState()
	all := func(string) bool { return true }
	s.putJob(heldJob(nil), true)
	k := key{"prod", "a"}
	for _, tt := range []struct {
		job, why   string
		dirty, ask bool
	}{
		{"b", "job-deregister", false, false}, {"a", "job-register", true, false}, {"a", "queued-allocs", true, false},
		{"a", "job-deregister", true, true},
	} {
		clear(s.dirtyJobs)
		text := fmt.Appendf(nil, `{"Evaluation":{"Namespace":"prod","JobID":%q,"TriggeredBy":%q}}`, tt.job, tt.why)
		require.NoError(t, s.apply(&event{Topic: api.TopicEvaluation, Index: 9, Payload: text}, all))
		assert.Equal(t, []bool{tt.dirty, tt.ask}, []bool{s.dirtyJobs[k], s.ask[k]}, "%v", tt)
	}
}

// placedJob is a gang of two that was started on node n.
func placedJob(t *testing.T) *job {
	held := heldJob(map[string]string{KeyTasks: "2"})
	held.TaskGroups[0].StopAfterClientDisconnect = ptr(time.Minute)
	j := &job{held, read(held)}
	next := j.changed(1, "for a test")
	next.Meta[keyStart], next.Meta[keyAttempt] = "20", "1"
	g, err := group(j.template, 20, 0, "n", 2, 0)
	require.NoError(t, err)
	next.TaskGroups = append(next.TaskGroups, g)
	next.JobModifyIndex, next.ModifyIndex, next.Stop = ptr(uint64(25)), ptr(uint64(25)), ptr(false)
	j = &job{next, read(next)}
	require.NoError(t, j.problem)
	require.True(t, j.runs())
	return j
}

// TestLost: lost tasks are reported as lost. Once their gang is stopped, they hold the job back for as long as its
// group lets them run. On a node that is back, they hold room until its agent has reported, or until the fence ends.
func TestLost(t *testing.T) {
	now := time.Unix(1000, 0)
	d, err := New(nil, Options{Now: func() time.Time { return now }, Fence: 30 * time.Second})
	require.NoError(t, err)
	node := &api.Node{ID: "n", Name: "n", Status: api.NodeStatusDown, StatusUpdatedAt: 1000, CreateIndex: 1}
	d.state.nodes["n"] = node
	d.state.rename()
	j := placedJob(t)
	k := key{"prod", "a"}
	d.state.putJob(j.Job, true)
	for _, id := range []string{"x", "y"} {
		d.state.put(&alloc{ID: id, Name: id, Namespace: "prod", JobID: "a", NodeID: "n",
			TaskGroup: deref(j.TaskGroups[1].Name), ClientStatus: "lost", AllocatedResources: &api.AllocatedResources{
				Tasks: map[string]*api.AllocatedTaskResources{"main": {Cpu: api.AllocatedCpuResources{CpuShares: 500}}}}})
	}
	told := func() []adapters.TaskState {
		out, _ := d.tell(k, d.state.jobs[k])
		var states []adapters.TaskState
		for _, one := range out.Tasks {
			states = append(states, one.State)
		}
		return states
	}
	assert.Equal(t, []adapters.TaskState{adapters.Lost, adapters.Lost}, told())
	held := d.state.jobs[k].changed(1, "node-lost")
	held.JobModifyIndex, held.ModifyIndex = ptr(uint64(30)), ptr(uint64(30))
	d.state.putJob(held, true)
	assert.Equal(t, []adapters.TaskState{adapters.Stopping, adapters.Stopping}, told(), "they may still run")
	assert.Equal(t, time.Unix(1061, 0), d.state.wake)
	now = time.Unix(1062, 0)
	assert.Empty(t, told(), "their agent has stopped them")
	d.state.jobs[k].template.Tasks[0].KillTimeout = ptr(20 * time.Second)
	assert.Len(t, told(), 2, "it gives them their time to end")
	now = time.Unix(1082, 0)
	assert.Empty(t, told(), "that is over, too")

	back := *node
	back.Status, back.StatusUpdatedAt, back.ModifyIndex = api.NodeStatusReady, 1070, 9
	d.state.putNode(&back, false)
	now = time.Unix(1090, 0)
	assert.Len(t, told(), 2, "it has not told yet")
	again := d.state.jobs[k].changed(1, "started elsewhere")
	g, err := group(j.template, 30, 0, "m", 2, 0)
	require.NoError(t, err)
	again.TaskGroups, again.Meta[keyStart] = append(again.TaskGroups, g), "30"
	again.JobModifyIndex, again.ModifyIndex, again.Status = ptr(uint64(40)), ptr(uint64(40)), ptr("dead")
	d.state.putJob(again, true)
	assert.Equal(t, sched.Resources{CPU: 1000, Memory: 0, Disk: 0}, d.foreign(&back), "they are in the way of others")
	now = time.Unix(1101, 0)
	assert.Nil(t, d.foreign(&back), "for as long as the fence")
}

// TestLostWithTwoNodes: two starts of a job were lost with their nodes, and both nodes are back. An allocation that is
// not reported as the job's task is foreign to its node: while it may run, its room is taken.
func TestLostWithTwoNodes(t *testing.T) {
	now := time.Unix(1000, 0)
	d, err := New(nil, Options{Now: func() time.Time { return now }, Fence: 30 * time.Second})
	require.NoError(t, err)
	for _, id := range []string{"m", "n"} {
		d.state.nodes[id] = &api.Node{ID: id, Name: id, Status: api.NodeStatusReady, StatusUpdatedAt: 990, CreateIndex: 1}
	}
	j := placedJob(t)
	k := key{"prod", "a"}
	d.state.putJob(j.Job, true)
	over := map[string]*api.TaskState{"main": {State: "dead", StartedAt: time.Unix(5, 0), FinishedAt: time.Unix(6, 0),
		Events: []*api.TaskEvent{{Type: api.TaskTerminated}}}}
	put := func(id, node string, start uint64, status string) {
		d.state.put(&alloc{ID: id, Name: fmt.Sprint(start, id), Namespace: "prod", JobID: "a", NodeID: node,
			TaskGroup: groupName("work", start, 0), ClientStatus: status,
			DesiredStatus: api.AllocDesiredStatusStop, TaskStates: over,
			AllocatedResources: &api.AllocatedResources{
				Tasks: map[string]*api.AllocatedTaskResources{"main": {Cpu: api.AllocatedCpuResources{CpuShares: 500}}}}})
	}
	held := d.state.jobs[k].changed(1, "node-lost")
	held.JobModifyIndex, held.ModifyIndex = ptr(uint64(30)), ptr(uint64(30))
	d.state.putJob(held, true)
	told := func() (tasks []adapters.Task, foreign map[string]float64) {
		v, err := d.view(context.Background(), false)
		require.NoError(t, err)
		require.Len(t, v.Jobs, 1)
		foreign = map[string]float64{}
		for _, n := range v.Nodes {
			foreign[n.Name] = n.Foreign[CPU]
		}
		return v.Jobs[0].Tasks, foreign
	}
	stopping := adapters.Task{Node: "m", State: adapters.Stopping, Started: time.Unix(5, 0)}
	put("old", "m", 15, api.AllocClientStatusLost)
	tasks, foreign := told()
	assert.Equal(t, []adapters.Task{stopping}, tasks)
	assert.Equal(t, map[string]float64{"m": 0, "n": 0}, foreign, "it is told as a task")
	put("x", "n", 20, api.AllocClientStatusLost)
	put("y", "n", 20, api.AllocClientStatusLost)
	tasks, foreign = told()
	stopping.Node = "n"
	assert.Equal(t, []adapters.Task{stopping, stopping}, tasks)
	assert.Equal(t, map[string]float64{"m": 500, "n": 0}, foreign)
	put("x", "n", 20, api.AllocClientStatusComplete)
	put("y", "n", 20, api.AllocClientStatusComplete)
	tasks, foreign = told()
	require.Len(t, tasks, 2)
	assert.Equal(t, adapters.Finished, tasks[1].State)
	assert.Equal(t, map[string]float64{"m": 500, "n": 0}, foreign, "the job is over, and its first start may still run")
	now = time.Unix(1021, 0)
	d.state.dirtyNodes["m"], d.state.dirtyJobs[k] = true, true
	_, foreign = told()
	assert.Equal(t, map[string]float64{"m": 0}, foreign, "for as long as the fence")
}

// TestDeadForAMoment: when a job is started, Nomad calls it dead until its evaluation is there, a transaction later.
// Only a job that was called dead after that is over.
func TestDeadForAMoment(t *testing.T) {
	d, err := New(nil, Options{})
	require.NoError(t, err)
	j := placedJob(t)
	k := key{"prod", "a"}
	j.Status = ptr("dead")
	d.state.putJob(j.Job, true)
	out, placing := d.tell(k, d.state.jobs[k])
	assert.False(t, out.Over, "%v", out.Err)
	assert.True(t, placing)
	assert.Len(t, out.Tasks, 2)
	later := *j.Job
	later.ModifyIndex = ptr(uint64(40))
	d.state.putJob(&later, true)
	out, placing = d.tell(k, d.state.jobs[k])
	assert.True(t, out.Over)
	require.ErrorIs(t, out.Err, ErrStopped)
	require.ErrorIs(t, out.Err, adapters.ErrCancelled)
	assert.False(t, placing)
	assert.Empty(t, out.Tasks)
}

// TestStoppedByItsUser: a job that its user has stopped is over and has not failed. A job that hedge has given up has
// failed.
func TestStoppedByItsUser(t *testing.T) {
	d, err := New(nil, Options{})
	require.NoError(t, err)
	j := heldJob(nil)
	j.Stop = ptr(true)
	told, _ := d.tell(key{"prod", "a"}, &job{j, read(j)})
	require.True(t, told.Over)
	require.ErrorIs(t, told.Err, adapters.ErrCancelled)
	require.ErrorIs(t, told.Err, ErrStopped)
	j.Meta[keyOrigin], j.Meta[keyOver] = "15", "it has failed 4 times"
	told, _ = d.tell(key{"prod", "a"}, &job{j, read(j)})
	require.True(t, told.Over)
	require.EqualError(t, told.Err, "it has failed 4 times")
}

// TestFinishedTwice: a task was lost with its node but had finished, and Nomad ran it again when the node was back. It
// is one task of the gang.
func TestFinishedTwice(t *testing.T) {
	d, err := New(nil, Options{})
	require.NoError(t, err)
	j := placedJob(t)
	k := key{"prod", "a"}
	d.state.putJob(j.Job, true)
	over := map[string]*api.TaskState{"main": {State: "dead", StartedAt: time.Unix(5, 0), FinishedAt: time.Unix(6, 0),
		Events: []*api.TaskEvent{{Type: api.TaskTerminated}}}}
	for i, name := range []string{"a.work[0]", "a.work[0]", "a.work[1]"} {
		d.state.put(&alloc{ID: fmt.Sprint(i), Name: name, Namespace: "prod", JobID: "a", NodeID: "n",
			TaskGroup:    deref(j.TaskGroups[1].Name),
			ClientStatus: api.AllocClientStatusComplete, TaskStates: over, CreateIndex: uint64(i)})
	}
	held := d.state.jobs[k].changed(1, "node-lost")
	held.JobModifyIndex, held.ModifyIndex = ptr(uint64(30)), ptr(uint64(30))
	d.state.putJob(held, true)
	out, _ := d.tell(k, d.state.jobs[k])
	require.Len(t, out.Tasks, 2)
	for _, one := range out.Tasks {
		assert.Equal(t, adapters.Finished, one.State)
	}
}

// TestRanAgain: if Nomad replaces a task that was lost with its node, the replacement is not part of the gang's run. It
// is not needed if the lost task had finished.
func TestRanAgain(t *testing.T) {
	d, err := New(nil, Options{})
	require.NoError(t, err)
	d.state.nodes["n"] = &api.Node{ID: "n", Name: "n", Status: api.NodeStatusReady, CreateIndex: 1}
	d.state.rename()
	j := placedJob(t)
	k := key{"prod", "a"}
	d.state.putJob(j.Job, true)
	over := map[string]*api.TaskState{"main": {State: "dead", StartedAt: time.Unix(5, 0), FinishedAt: time.Unix(6, 0),
		Events: []*api.TaskEvent{{Type: api.TaskTerminated}}}}
	put := func(id string, index uint64, name, status string, states map[string]*api.TaskState) {
		d.state.put(&alloc{ID: id, Name: name, Namespace: "prod", JobID: "a", NodeID: "n",
			TaskGroup: deref(j.TaskGroups[1].Name), DesiredStatus: api.AllocDesiredStatusRun,
			ClientStatus: status, TaskStates: states, CreateIndex: index,
			AllocatedResources: &api.AllocatedResources{
				Tasks: map[string]*api.AllocatedTaskResources{"main": {Cpu: api.AllocatedCpuResources{CpuShares: 500}}}}})
	}
	told := func() (states []adapters.TaskState, errs []error) {
		out, _ := d.tell(k, d.state.jobs[k])
		for _, one := range out.Tasks {
			states, errs = append(states, one.State), append(errs, one.Err)
		}
		return states, errs
	}
	put("0", 1, "a.work[0]", api.AllocClientStatusComplete, over)
	put("1", 1, "a.work[1]", api.AllocClientStatusLost, nil)
	put("2", 7, "a.work[1]", api.AllocClientStatusRunning, nil)
	states, _ := told()
	assert.Equal(t, []adapters.TaskState{adapters.Finished, adapters.Lost, adapters.Requested}, states)
	put("2", 7, "a.work[1]", api.AllocClientStatusComplete, over)
	states, errs := told()
	assert.Equal(t, []adapters.TaskState{adapters.Finished, adapters.Lost, adapters.Failed}, states,
		"one ran with its gang, one without")
	require.ErrorIs(t, errs[2], ErrStopped, "which is none of the job's failures")

	held := d.state.jobs[k].changed(1, "node-lost")
	held.JobModifyIndex, held.ModifyIndex = ptr(uint64(30)), ptr(uint64(30))
	running := d.state.jobs[k]
	d.state.putJob(held, true)
	put("1", 1, "a.work[1]", api.AllocClientStatusFailed, nil)
	states, _ = told()
	assert.Empty(t, states, "it is started again")
	d.state.jobs[k] = running

	// its agent had not reported that before its node was lost
	put("1", 1, "a.work[1]", api.AllocClientStatusComplete, over)
	put("2", 7, "a.work[1]", api.AllocClientStatusRunning, nil)
	states, _ = told()
	assert.Equal(t, []adapters.TaskState{adapters.Finished, adapters.Finished}, states)
	assert.InDelta(t, 500, d.foreign(d.state.nodes["n"])[CPU], 0, "what nobody needs holds its room until it ends")
}

// TestRanAgainAlone: in a gang of one, a replacement by Nomad counts like any other run.
func TestRanAgainAlone(t *testing.T) {
	d, err := New(nil, Options{})
	require.NoError(t, err)
	j := placedJob(t)
	j.Meta[KeyTasks], j.TaskGroups[1].Count = "1", ptr(1)
	k := key{"prod", "a"}
	d.state.putJob(j.Job, true)
	over := map[string]*api.TaskState{"main": {State: "dead", StartedAt: time.Unix(5, 0), FinishedAt: time.Unix(6, 0),
		Events: []*api.TaskEvent{{Type: api.TaskTerminated}}}}
	for i, status := range []string{api.AllocClientStatusLost, api.AllocClientStatusComplete} {
		d.state.put(&alloc{ID: fmt.Sprint(i), Name: "a.work[0]", Namespace: "prod", JobID: "a", NodeID: "n",
			TaskGroup:    deref(j.TaskGroups[1].Name),
			ClientStatus: status, TaskStates: over, CreateIndex: uint64(i)})
	}
	out, _ := d.tell(k, d.state.jobs[k])
	require.Len(t, out.Tasks, 1)
	assert.Equal(t, adapters.Finished, out.Tasks[0].State)
}
