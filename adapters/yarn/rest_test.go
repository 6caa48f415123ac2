package yarn

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
)

// answering is a client of a server that gives every call the same answer.
func answering(t testing.TB, status int, text []byte) *client {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write(text) // the client may have gone
	}))
	t.Cleanup(s.Close)
	o := Options{URLs: []string{s.URL + "/"}, Spool: t.TempDir()}
	require.NoError(t, o.withDefaults())
	return newClient(&o)
}

// TestRecorded: recorded answers of a real ResourceManager are understood, with all their oddities.
func TestRecorded(t *testing.T) {
	ctx := context.Background()
	none, err := answering(t, 200, testdata(t, "rm", "apps-none.json")).live(ctx, "x")
	require.NoError(t, err)
	assert.Empty(t, none)

	one, err := answering(t, 200, testdata(t, "rm", "apps-one.json")).live(ctx, "x")
	require.NoError(t, err)
	a := one["application_1795348901528_0001"]
	require.NotNil(t, a)
	assert.True(t, a.over() && a.succeeded())
	assert.Equal(t, number(1795349114239), a.FinishedTime)
	assert.Equal(t, number(-1), a.AllocatedMB)

	same, err := answering(t, 200, testdata(t, "rm", "app-finished.json")).app(ctx, a.ID)
	require.NoError(t, err)
	assert.Equal(t, a, same)
	_, err = answering(t, 200, testdata(t, "rm", "app-finished.json")).app(ctx, "application_1_1")
	require.ErrorIs(t, err, adapters.ErrUnavailable, "an answer about another one is none")
	_, err = answering(t, 404, testdata(t, "rm", "app-unknown.json")).ask(ctx, "application_1_99")
	assert.True(t, missing(err))

	nodes, _, err := answering(t, 200, testdata(t, "rm", "nodes-label.json")).nodes(ctx)
	require.NoError(t, err)
	require.Len(t, nodes, 2)
	assert.Equal(t, "x", nodes[0].partition())
	assert.Empty(t, nodes[1].partition())
	assert.InDelta(t, 8192, nodes[1].capacity()[Memory], 0)
	assert.InDelta(t, 100, nodes[1].capacity()[VCores], 0)
}

// TestOddApplication: one application that makes no sense does not hide the others.
func TestOddApplication(t *testing.T) {
	got, err := answering(t, 200,
		[]byte(`{"apps":{"app":[{"id":"application_1_1","state":5},{"id":"application_1_2","progress":"NaN"},null]}}`)).live(
		context.Background(), "x")
	require.NoError(t, err)
	assert.Len(t, got, 1)
	assert.Contains(t, got, "application_1_2")
}

// TestReadsRefused: a refused read may be allowed later.
func TestReadsRefused(t *testing.T) {
	ctx := context.Background()
	for _, status := range []int{400, 401, 403, 404, 429, 500} {
		c := answering(t, status, []byte("<html>"))
		for what, call := range map[string]func() error{
			"live":   func() error { _, err := c.live(ctx, "x"); return err },
			"app":    func() error { _, err := c.app(ctx, "application_1_1"); return err },
			"nodes":  func() error { _, _, err := c.nodes(ctx); return err },
			"status": func() error { _, err := c.status(ctx, "application_1_1"); return err },
		} {
			err := call()
			require.ErrorIs(t, err, adapters.ErrUnavailable, "%d %s", status, what)
			require.NotErrorIs(t, err, adapters.ErrRefused, "%d %s", status, what)
			require.NoError(t, adapters.Unavailable(err), "the loop goes on")
		}
	}
}

// TestErrors: an error says that nothing was done only if YARN says so.
func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		status int
		text   string
		want   error
	}{
		{400, `{"RemoteException":{"exception":"BadRequestException","message":"no such label"}}`, adapters.ErrRefused},
		{401, "<html>", adapters.ErrRefused},
		{429, "", adapters.ErrUnavailable},
		{500, "", adapters.ErrUnavailable},
		{503, "", adapters.ErrUnavailable},
		{200, "This is standby RM. The redirect url is: /", adapters.ErrUnavailable},
		{200, "Can not find any active RM. Will retry in next 3 seconds.\n", adapters.ErrUnavailable},
		{200, "<html>", adapters.ErrUnavailable},
	} {
		err := answering(t, tt.status, []byte(tt.text)).submit(context.Background(), "application_1_1", map[string]any{})
		require.ErrorIs(t, err, tt.want, "%d %s", tt.status, tt.text)
	}
	for _, text := range []string{"", "\n", `{"state":"ACCEPTED"}`} {
		require.NoError(t, answering(t, 202, []byte(text)).kill(context.Background(), "application_1_1", ""))
	}
	err := answering(t, 400,
		[]byte(`{"RemoteException":{"exception":"BadRequestException","message":"no such label"}}`)).kill(
		context.Background(), "application_1_1", "")
	assert.ErrorContains(t, err, "BadRequestException: no such label")
}

// TestActive: of several ResourceManagers, the active one is found, and is called first from then on.
func TestActive(t *testing.T) {
	standby := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "This is standby RM.")
	}))
	defer standby.Close()
	var user string
	active := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user = r.URL.Query().Get("user.name")
		fmt.Fprint(w, `{"apps":{}}`)
	}))
	defer active.Close()
	o := Options{URLs: []string{"http://127.0.0.1:1", standby.URL, active.URL}, Spool: t.TempDir(), User: "me"}
	require.NoError(t, o.withDefaults())
	c := newClient(&o)
	_, err := c.live(context.Background(), "x")
	require.NoError(t, err)
	assert.EqualValues(t, 2, c.last.Load())
	assert.Equal(t, "me", user)
	active.Close()
	_, err = c.live(context.Background(), "x")
	require.ErrorIs(t, err, adapters.ErrUnavailable)
}

// TestRedirected: a change that became a GET on its way has changed nothing.
func TestRedirected(t *testing.T) {
	var got []string
	active := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Method)
		fmt.Fprint(w, `{}`)
	}))
	defer active.Close()
	for status, want := range map[int]string{http.StatusFound: http.MethodGet,
		http.StatusTemporaryRedirect: http.MethodPost} {
		got = nil
		standby := httptest.NewServer(http.RedirectHandler(active.URL, status))
		o := Options{URLs: []string{standby.URL}, Spool: t.TempDir()}
		require.NoError(t, o.withDefaults())
		err := newClient(&o).submit(context.Background(), "application_1_1", map[string]any{})
		standby.Close()
		assert.Equal(t, []string{want}, got)
		if want == http.MethodPost {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, adapters.ErrUnavailable)
		}
	}
}

// TestMute: if one ApplicationMaster does not answer, those of other gangs are asked all the same.
func TestMute(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		if r.URL.Path != "/proxy/application_1_2/" {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		fmt.Fprint(w, `{"protocol":1,"started-ms":5}`)
	}))
	defer server.Close()
	d, err := New(Options{URLs: []string{server.URL}, Spool: t.TempDir()})
	require.NoError(t, err)
	var list []*entry
	for i, name := range []string{"a", "b", "c"} {
		a := &app{ID: fmt.Sprint("application_1_", i+1), State: "RUNNING", Progress: allRun}
		list = append(list, &entry{name: name, app: a, rec: &record{Open: true, Gang: true, App: a.ID}})
	}
	for range 4 {
		d.readStarts(context.Background(), list)
	}
	assert.Equal(t, []string{"/proxy/application_1_1/", "/proxy/application_1_2/", "/proxy/application_1_3/",
		"/proxy/application_1_1/", "/proxy/application_1_3/"}, asked)
	assert.Equal(t, milliseconds(5), d.state.starts["application_1_2"])
}

func FuzzAnswers(f *testing.F) {
	for _, name := range []string{"apps-none", "apps-one", "app-finished", "app-unknown", "nodes", "nodes-label"} {
		f.Add(testdata(f, "rm", name+".json"))
	}
	for _, text := range []string{`{"nodes":""}`, `{"nodes":{"node":[{"id":"a","nodeLabels":[[]],"totalResource":[]}]}}`,
		`{"nodes":[{"node":""},5]}`, `{"apps":[""]}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var answer struct {
			App  object[app] `json:"app"`
			Apps object[struct {
				App list[app] `json:"app"`
			}] `json:"apps"`
			Nodes object[struct {
				Node list[node] `json:"node"`
			}] `json:"nodes"`
		}
		if read(&http.Response{StatusCode: 200}, data, &answer) != nil {
			return
		}
		for i := range answer.Nodes.value.Node {
			n := &answer.Nodes.value.Node[i]
			for r, v := range n.capacity() {
				require.GreaterOrEqual(t, v, 0.0, r)
			}
			_ = n.partition()
			_ = (&Driver{}).labels(n)
		}
	})
}

// TestConnectionsStay: concurrent calls reuse the connections of earlier ones.
func TestConnectionsStay(t *testing.T) {
	const atOnce = 16
	var arrived sync.WaitGroup // those of one round are all under way at a time
	var opened atomic.Int64
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		arrived.Done()
		arrived.Wait()
		fmt.Fprint(w, `{"apps":{}}`)
	}))
	s.Config.ConnState = func(_ net.Conn, is http.ConnState) {
		if is == http.StateNew {
			opened.Add(1)
		}
	}
	s.Start()
	defer s.Close()
	o := Options{URLs: []string{s.URL}, Spool: t.TempDir(), Timeout: time.Minute}
	require.NoError(t, o.withDefaults())
	c := newClient(&o)
	for range 100 { // a connection may not be given back yet when its answer was read
		before := opened.Load()
		arrived.Add(atOnce)
		var all sync.WaitGroup
		for range atOnce {
			all.Go(func() {
				_, err := c.live(context.Background(), "x")
				assert.NoError(t, err)
			})
		}
		all.Wait()
		if opened.Load() == before {
			return
		}
	}
	require.Fail(t, "connections are opened again and again", "%d", opened.Load())
}
