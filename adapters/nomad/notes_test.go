package nomad

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
)

// TestPredicatesEnd: the constraints of jobs that are gone are forgotten, and nodes lose their labels.
func TestPredicatesEnd(t *testing.T) {
	s := newState()
	s.nodes["x"] = &api.Node{ID: "x", Name: "x"}
	plain := len(s.labels(s.nodes["x"]))
	demand := func(id, not string, index uint64) {
		j := heldJob(nil)
		j.ID, j.ModifyIndex, j.JobModifyIndex = &id, &index, &index
		j.Constraints = []*api.Constraint{{LTarget: "${node.unique.name}", Operand: "!=", RTarget: not}}
		s.putJob(j, true)
	}
	for i := range 100 {
		demand(fmt.Sprint("j", i), fmt.Sprint("n", i%10), 20)
	}
	assert.Len(t, s.preds, 10)
	assert.Len(t, s.labels(s.nodes["x"]), plain+10)
	for i := range 90 {
		s.forget(key{"prod", fmt.Sprint("j", i)})
	}
	assert.Len(t, s.preds, 10, "others still ask for it")
	clear(s.dirtyNodes)
	demand("j90", "n5", 30)
	assert.Len(t, s.preds, 9, "it asks for something else now")
	assert.Empty(t, s.dirtyNodes, "another asks for that, too")
	demand("j91", "n0", 30)
	assert.NotEmpty(t, s.dirtyNodes, "it is asked for anew")
	for i := range 100 {
		s.forget(key{"prod", fmt.Sprint("j", i)})
		s.forget(key{"prod", fmt.Sprint("j", i)})
	}
	assert.Empty(t, s.preds)
	assert.Len(t, s.labels(s.nodes["x"]), plain)
}

// TestNotesEnd: from time to time, when everything is listed, the notes of jobs that are gone are deleted. Notes of
// other namespaces and of existing jobs stay.
func TestNotesEnd(t *testing.T) {
	s := newVariables(t)
	s.others = func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "[]") }
	for _, path := range []string{NotePath("gone"), NotePath("there"), "hedge/lease"} {
		s.at[path] = &api.Variable{Namespace: "prod", Path: path, ModifyIndex: 7}
	}
	foreign := NotePath("others")
	s.at[foreign] = &api.Variable{Namespace: "test", Path: foreign, ModifyIndex: 8}
	now := time.Unix(1000, 0)
	d, err := New(&api.Config{Address: s.URL},
		Options{Namespaces: []string{"prod"}, Timeout: time.Minute, Now: func() time.Time {
			return now
		}})
	require.NoError(t, err)
	defer d.Close()
	there := heldJob(nil)
	there.ID, there.ModifyIndex = ptr("there"), ptr(uint64(1<<40)) // newer than the listing, which has no jobs
	d.state.putJob(there, true)
	observe := func() []string {
		_, err := d.Observe(context.Background(), true)
		require.NoError(t, err)
		return s.made()
	}
	s.refuse = true
	assert.Empty(t, observe(), "it may not be taken away, and all else goes on")
	s.refuse = false
	assert.Empty(t, observe(), "it is looked at now and then")
	now = now.Add(tidyEvery)
	assert.Equal(t, []string{"DELETE " + NotePath("gone")}, observe())

	again := &api.VariableMetadata{Namespace: "prod", Path: NotePath("again"), ModifyIndex: 5}
	s.at[again.Path] = &api.Variable{Path: again.Path, ModifyIndex: 6}
	d.tidy(context.Background(), []*api.VariableMetadata{again})
	assert.Len(t, s.made(), 1, "it was written meanwhile")
}

// TestNoteEndsWithStart: a started job has no note. If the note cannot be deleted at once, it is deleted later.
func TestNoteEndsWithStart(t *testing.T) {
	s := newVariables(t)
	s.others = func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			fmt.Fprint(w, "[]")
		} else {
			fmt.Fprint(w, "{}")
		}
	}
	d, err := New(&api.Config{Address: s.URL}, Options{Timeout: time.Minute})
	require.NoError(t, err)
	defer d.Close()
	ctx := context.Background()
	d.state.putNode(&api.Node{ID: "n", Name: "n", Status: api.NodeStatusReady}, false)
	d.state.rename()
	j := &job{heldJob(nil), read(heldJob(nil))}
	told := &adapters.Job{Spec: j.spec, Ref: j}
	start := func() {
		require.NoError(t, d.Start(ctx, &adapters.Start{Job: told, Nodes: []sched.NodeTasks{{Node: "n", Tasks: 1}}}))
	}
	explain := func() {
		require.NoError(t, d.Explain(ctx, &adapters.Note{Job: told, Reason: sched.Reason{Code: "no-room"}}))
	}
	path := NotePath("a")
	start()
	assert.Empty(t, s.made(), "there is none")
	explain()
	start()
	start()
	assert.Equal(t, []string{"PUT " + path, "DELETE " + path}, s.made())

	explain()
	s.refuse = true
	start()
	s.refuse = false
	runs := placedJob(t).Job
	runs.ModifyIndex = ptr(uint64(1 << 40))
	d.state.putJob(runs, true)
	assert.Len(t, s.made(), 3)
	_, err = d.Observe(ctx, true)
	require.NoError(t, err)
	assert.Equal(t, "DELETE "+path, s.made()[3])
}

// TestBacklog: the total size of waiting events is limited.
func TestBacklog(t *testing.T) {
	w := newWatch(nil)
	many := make([]event, 1000)
	require.NoError(t, w.add(1, many))
	large := []event{{Payload: make([]byte, backlog/2)}}
	require.NoError(t, w.add(2, large))
	require.Error(t, w.add(3, large), "which is more than is kept")
	assert.Empty(t, w.events)
	require.NoError(t, w.add(4, large), "all was forgotten")
	w.done = make(chan struct{})
	events, _, _ := w.take()
	assert.Len(t, events, 1)
	require.NoError(t, w.add(5, large), "all was taken")
}
