package fxhedge_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"
	"go.uber.org/fx/fxtest"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/fake"
	"github.com/hedgesched/hedge/adapters/service"
	"github.com/hedgesched/hedge/fxhedge"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
)

type metricsOf = service.Metrics

// lease is granted at once, for as long as the app asks.
type lease struct{}

func (lease) Acquire(context.Context) (adapters.Term, error) {
	return adapters.Term{Epoch: 1, For: 15 * time.Second}, nil
}

func (lease) Renew(_ context.Context, t adapters.Term) (adapters.Term, error) { return t, nil }
func (lease) Release(context.Context, adapters.Term) error                    { return nil }

// driver is of a fake cluster whose time passes with every look.
type driver struct {
	adapters.Driver
	mu      sync.Mutex
	cluster *fake.Cluster
	closed  bool
	done    chan struct{} // once job a is
}

func (d *driver) Observe(ctx context.Context, relist bool) (*adapters.View, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cluster.Advance(time.Second)
	if !d.cluster.Finished("a").IsZero() && d.done != nil {
		close(d.done)
		d.done = nil
	}
	return d.Driver.Observe(ctx, relist)
}

func (d *driver) Close() { d.closed = true }

func newDriver(t *testing.T) *driver {
	c := fake.New(fake.Options{Begin: time.Now()})
	require.NoError(t, c.AddNode(sched.Node{Name: "n"}))
	require.NoError(t, c.Submit(fake.Job{Spec: sched.Job{ID: "a", Tasks: 1, Utility: adapters.DefaultUtility(0)},
		Runtime: 3 * time.Second}))
	return &driver{Driver: c.Connect(nil), cluster: c, done: make(chan struct{})}
}

func (d *driver) provide() fx.Option {
	return fx.Provide(
		func() adapters.Lease { return lease{} },
		func() fxhedge.Open {
			return func(context.Context, adapters.Term) (adapters.Driver, error) { return d, nil }
		})
}

// TestService: the app leads while it is started, answers health checks, and keeps what it has learnt.
func TestService(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	conf, d := config(t), newDriver(t)
	var instance *service.Instance
	var cycles atomic.Int32
	done := d.done
	app := fxtest.New(t, fxhedge.Service(conf), d.provide(), fx.Supply(fx.Annotate(listener, fx.As(new(net.Listener)))),
		fx.Supply(fx.Annotate(func(*sched.Cycle) { cycles.Add(1) }, fx.ResultTags(`group:"hedge.observers"`))),
		fx.Populate(&instance))
	app.RequireStart()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("the job is not done")
	}
	assert.Equal(t, "ok\n", get(t, listener, "/healthz"))
	assert.Equal(t, "ok\n", get(t, listener, "/readyz"))
	assert.Contains(t, get(t, listener, "/metrics"), "hedge_leader_epoch 1")
	assert.NoError(t, instance.Live())
	app.RequireStop()
	assert.Positive(t, cycles.Load())
	assert.True(t, d.closed)
	_, err = net.Dial("tcp", listener.Addr().String())
	require.Error(t, err)
	h, err := predict.NewHistory(nil)
	require.NoError(t, err)
	until, err := conf.History.Load(h)
	require.NoError(t, err)
	assert.Equal(t, d.cluster.Finished("a").UTC(), until)
}

func get(t *testing.T, listener net.Listener, path string) string {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get("http://" + listener.Addr().String() + path)
	require.NoError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return string(text)
}

// TestListen: an address that is taken keeps the app from starting.
func TestListen(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { assert.NoError(t, listener.Close()) }()
	conf := config(t)
	conf.Listen = listener.Addr().String()
	app := fx.New(fxhedge.Service(conf), newDriver(t).provide(), fx.NopLogger)
	require.NoError(t, app.Err())
	require.ErrorContains(t, app.Start(t.Context()), "address already in use")

	conf.Listen = "127.0.0.1:0"
	d := newDriver(t)
	done := d.done
	again := fxtest.New(t, fxhedge.Service(conf), d.provide()).RequireStart()
	<-done
	again.RequireStop()
}

// TestServiceErrors: what is wrong is told when the app is made.
func TestServiceErrors(t *testing.T) {
	err := fx.New(fxhedge.Service(fxhedge.Config{LeaseFor: -1}), newDriver(t).provide(), fx.NopLogger).Err()
	require.ErrorIs(t, err, adapters.ErrOptions)
}

// TestOpenFails: a driver that cannot be opened shuts the app down.
func TestOpenFails(t *testing.T) {
	open := func(context.Context, adapters.Term) (adapters.Driver, error) { return nil, io.ErrUnexpectedEOF }
	app := fx.New(fxhedge.Service(config(t)), newDriver(t).provide(), fx.NopLogger,
		fx.Decorate(func(fxhedge.Open) fxhedge.Open { return open }))
	require.NoError(t, app.Start(t.Context()))
	assert.Equal(t, 1, (<-app.Wait()).ExitCode)
	require.ErrorIs(t, app.Stop(t.Context()), io.ErrUnexpectedEOF)
}
