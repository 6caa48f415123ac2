package nomad

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
)

// never is newer than every listing.
const never = uint64(1) << 40

// failedFor is an instance that observes a job which has failed for good, since its task could not start.
func failedFor(t *testing.T, s *variables, now *time.Time) *Driver {
	d, err := New(&api.Config{Address: s.URL}, Options{Timeout: time.Minute, Now: func() time.Time { return *now }})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	j := placedJob(t).Job
	j.Meta[KeyRetries], j.ModifyIndex = "0", ptr(never)
	d.state.putJob(j, true)
	for i, status := range []string{api.AllocClientStatusFailed, api.AllocClientStatusComplete} {
		a := &alloc{ID: fmt.Sprint("x", i), Name: fmt.Sprintf("a.work-at20-0[%d]", i), Namespace: "prod", JobID: "a",
			NodeID: "n", TaskGroup: deref(j.TaskGroups[1].Name), ClientStatus: status,
			DesiredStatus: "run", ModifyIndex: never,
			TaskStates: map[string]*api.TaskState{"main": {State: "dead", Failed: i == 0,
				Events: []*api.TaskEvent{{Type: api.TaskDriverFailure, DisplayMessage: "no such file"}}}}}
		d.state.put(a)
	}
	return d
}

// serveJob makes the server know the job of failedFor, in the given version, beside its variables. The server lists
// nothing.
func (s *variables) serveJob(version *atomic.Uint64) {
	s.others = func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/job/a" {
			fmt.Fprintf(w, `{"ID":"a","JobModifyIndex":%d}`, version.Load())
			return
		}
		fmt.Fprint(w, "[]")
	}
}

// seen is the version that failedFor has seen.
func seen() *atomic.Uint64 {
	var v atomic.Uint64
	v.Store(25)
	return &v
}

// TestNoteOfTheEnd: the user of a job that has failed for good can read why, until it is submitted again, whoever leads
// meanwhile.
func TestNoteOfTheEnd(t *testing.T) {
	s := newVariables(t)
	s.serveJob(seen())
	now := time.Unix(1000, 0)
	d := failedFor(t, s, &now)
	observe := func(d *Driver) []string {
		v, err := d.Observe(context.Background(), true)
		require.NoError(t, err)
		require.Len(t, v.Jobs, 1)
		now = now.Add(tidyEvery) // the next check of the notes is due
		return s.made()
	}
	path := NotePath("a")
	assert.Equal(t, []string{"PUT " + path}, observe(d))
	assert.Equal(t, `nomad: job "prod/a" has failed 1 times: nomad: task "main": Driver Failure: no such file`,
		s.at[path].Items["reason"])
	assert.Len(t, observe(d), 1, "it stands, and is not taken away as the note of one that runs")
	assert.Len(t, observe(failedFor(t, s, &now)), 1, "another sees that it stands")

	s.at[path].Items["reason"] = "no room"
	other := failedFor(t, s, &now)
	assert.Len(t, observe(other), 2, "what stands is of before its start")
	again := heldJob(nil)
	again.ModifyIndex, again.JobModifyIndex = ptr(never+1), ptr(never+1)
	other.state.putJob(again, true)
	assert.Len(t, observe(other), 2)
	assert.Empty(t, other.ends.of)
	require.NoError(t, other.Explain(context.Background(),
		&adapters.Note{Job: &adapters.Job{Ref: other.state.jobs[key{"prod", "a"}]}, Err: ErrJob}))
	assert.Equal(t, ErrJob.Error(), s.at[path].Items["reason"])
	other.state.forget(key{"prod", "a"})
	_, err := other.Observe(context.Background(), false)
	require.NoError(t, err)
	assert.Empty(t, other.state.toldUIDs)
}

// TestNoteOfTheEndOfAnother: an instance that has not seen that the job was submitted again, perhaps since it no longer
// leads, overwrites no note about the new submission, whenever that note was written.
func TestNoteOfTheEndOfAnother(t *testing.T) {
	path := NotePath("a")
	for name, when := range map[string]func(r *http.Request) bool{
		"long ago":                  func(*http.Request) bool { return true },
		"after it looked at it":     func(r *http.Request) bool { return r.URL.Path == "/v1/job/a" },
		"just before it writes":     func(r *http.Request) bool { return r.Method == http.MethodPut },
		"long ago, and has no note": func(r *http.Request) bool { return false },
	} {
		t.Run(name, func(t *testing.T) {
			s, version := newVariables(t), seen()
			s.serveJob(version)
			var done atomic.Bool
			again := func() {
				version.Store(26)
				s.mu.Lock()
				defer s.mu.Unlock()
				s.index++
				s.at[path] = &api.Variable{Path: path, Namespace: "prod", ModifyIndex: s.index,
					Items: api.VariableItems{"reason": "no room"}}
			}
			asked := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if when(r) && done.CompareAndSwap(false, true) {
					if r.URL.Path == "/v1/job/a" { // its answer is from before
						defer again()
					} else {
						again()
					}
				}
				s.serve(w, r)
			}))
			t.Cleanup(asked.Close)
			if name == "long ago, and has no note" {
				version.Store(26)
			}
			s.URL = asked.URL
			now := time.Unix(1000, 0)
			d := failedFor(t, s, &now)
			for range 2 {
				_, err := d.Observe(context.Background(), false)
				require.NoError(t, err)
				now = now.Add(endsAgain)
			}
			assert.Empty(t, s.made())
			assert.False(t, d.ends.of[key{"prod", "a"}].said)
		})
	}
}

// TestNoteOfTheEndThatFails: if the note cannot be written, everything else goes on. It is written later, unless Nomad
// refuses it.
func TestNoteOfTheEndThatFails(t *testing.T) {
	s := newVariables(t)
	s.serveJob(seen())
	var away atomic.Bool
	away.Store(true)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if away.Load() && r.Method == http.MethodPut {
			http.Error(w, "no leader", http.StatusInternalServerError)
			return
		}
		s.serve(w, r)
	}))
	t.Cleanup(s.Server.Close)
	now := time.Unix(1000, 0)
	d := failedFor(t, s, &now)
	observe := func() []string {
		_, err := d.Observe(context.Background(), true)
		require.NoError(t, err)
		return s.made()
	}
	assert.Empty(t, observe())
	away.Store(false)
	assert.Empty(t, observe(), "it was tried just now")
	now = now.Add(endsAgain)
	assert.Len(t, observe(), 1)

	s.refuse = true
	d = failedFor(t, s, &now)
	delete(s.at, NotePath("a"))
	assert.Len(t, observe(), 1)
	s.refuse = false
	now = now.Add(endsAgain)
	assert.Len(t, observe(), 1, "it may not be written")
}
