package nomad

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
)

// records are Nomad's records: the index of each list, and the index of the list's only object, 0 if there is none.
type records struct{ list, object [3]uint64 }

// serve answers with nodes, jobs and allocations.
func (r *records) serve(t *testing.T, w http.ResponseWriter, req *http.Request) {
	answer := func(i int, stub string) {
		w.Header().Set("X-Nomad-Index", fmt.Sprint(r.list[i]))
		if r.object[i] == 0 {
			stub = ""
		}
		fmt.Fprintf(w, "[%s]", stub)
	}
	switch path := req.URL.Path; {
	case path == "/v1/nodes":
		answer(0, fmt.Sprintf(`{"ID":"n","ModifyIndex":%d}`, r.object[0]))
	case path == "/v1/jobs":
		answer(1, fmt.Sprintf(`{"ID":"j","Namespace":"prod","ModifyIndex":%d,"Meta":{"hedge":"true"}}`, r.object[1]))
	case path == "/v1/allocations":
		answer(2,
			fmt.Sprintf(
				`{"ID":"a","Name":"j.g[0]","Namespace":"prod","JobID":"j","NodeID":"n","ClientStatus":"running","ModifyIndex":%d}`,
				r.object[2]))
	case strings.HasPrefix(path, "/v1/node/"):
		fmt.Fprintf(w, `{"ID":"n","Name":"n","Status":"ready","ModifyIndex":%d}`, r.object[0])
	case strings.HasPrefix(path, "/v1/job/"):
		j := heldJob(nil)
		j.ID, j.ModifyIndex, j.JobModifyIndex = ptr("j"), &r.object[1], &r.object[1]
		assert.NoError(t, json.NewEncoder(w).Encode(j))
	default:
		http.NotFound(w, req)
	}
}

// TestRestored: a list, or an object in it, that is older than what was known ends the driver, whatever is asked. A new
// driver begins with what there is.
func TestRestored(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*records)
		over   bool
	}{
		"nothing":       {func(*records) {}, false},
		"newer":         {func(r *records) { r.list, r.object = [3]uint64{600, 600, 600}, [3]uint64{550, 600, 570} }, false},
		"gone":          {func(r *records) { r.list, r.object = [3]uint64{501, 502, 503}, [3]uint64{} }, false},
		"no index":      {func(r *records) { r.list = [3]uint64{} }, false},
		"nodes' list":   {func(r *records) { r.list[0] = 499 }, true},
		"jobs' list":    {func(r *records) { r.list[1] = 499 }, true},
		"allocs' list":  {func(r *records) { r.list[2] = 499 }, true},
		"node":          {func(r *records) { r.list[0], r.object[0] = 600, 399 }, true},
		"job":           {func(r *records) { r.list[1], r.object[1] = 600, 399 }, true},
		"allocation":    {func(r *records) { r.list[2], r.object[2] = 600, 399 }, true},
		"all, and gone": {func(r *records) { r.list, r.object = [3]uint64{300, 300, 300}, [3]uint64{} }, true},
	} {
		t.Run(name, func(t *testing.T) {
			is := &records{list: [3]uint64{500, 500, 500}, object: [3]uint64{400, 400, 400}}
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { is.serve(t, w, r) }))
			defer s.Close()
			open := func() *Driver {
				d, err := New(&api.Config{Address: s.URL}, Options{Timeout: time.Minute})
				require.NoError(t, err)
				t.Cleanup(d.Close)
				return d
			}
			ctx, d := context.Background(), open()
			v, err := d.Observe(ctx, true)
			require.NoError(t, err)
			require.Len(t, v.Nodes, 1)
			require.Len(t, v.Jobs, 1)
			tt.change(is)
			_, err = d.Observe(ctx, true)
			if !tt.over {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, adapters.ErrRestored)
			require.NotErrorIs(t, err, adapters.ErrUnavailable)
			*is = records{list: [3]uint64{700, 700, 700}, object: [3]uint64{400, 400, 400}}
			_, again := d.Observe(ctx, false)
			assert.Equal(t, err, again, "nothing is mended in place")
			v, err = open().Observe(ctx, true)
			require.NoError(t, err)
			assert.Len(t, v.Nodes, 1)
		})
	}
}

// TestRestoredBelowEvents: a list that is older than what the event stream has reported comes from a restored store.
func TestRestoredBelowEvents(t *testing.T) {
	is := &records{list: [3]uint64{500, 500, 500}, object: [3]uint64{400, 400, 400}}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { is.serve(t, w, r) }))
	defer s.Close()
	d, err := New(&api.Config{Address: s.URL}, Options{Timeout: time.Minute})
	require.NoError(t, err)
	defer d.Close()
	_, err = d.Observe(context.Background(), true)
	require.NoError(t, err)
	e := &event{Topic: api.TopicNode, Type: "NodeRegistration", Index: 520,
		Payload: json.RawMessage(`{"Node":{"ID":"n2","Name":"n2","ModifyIndex":520}}`)}
	require.NoError(t, d.state.apply(e, d.mine))
	is.list[0] = 510 // it is not in the list, and would stay for ever
	_, err = d.Observe(context.Background(), true)
	require.ErrorIs(t, err, adapters.ErrRestored)
}
