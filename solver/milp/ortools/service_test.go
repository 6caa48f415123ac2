package ortools_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/ortools"
	"github.com/hedgesched/hedge/solver/milp/ortools/serve"
)

// hard is a covering problem that no solver is through with for a long time. All ones is a point of it.
func hard() *milp.Model { return covering(400, 60) }

func covering(n, rows int) *milp.Model {
	r := rand.New(rand.NewPCG(1, 1))
	m := &milp.Model{}
	for range n {
		m.AddVar(milp.Var{Upper: 1, Cost: float64(50 + r.IntN(100)), Integer: true})
	}
	for range rows {
		row, sum := milp.Row{Upper: 1e9}, 0
		for j := range n {
			a := r.IntN(100)
			sum += a
			row.Index, row.Value = append(row.Index, int32(j)), append(row.Value, float64(a))
		}
		row.Lower = float64(sum / 2)
		m.AddRow(row)
	}
	return m
}

func ones(m *milp.Model) []float64 {
	x := make([]float64, m.Vars())
	for j := range x {
		x[j] = 1
	}
	return x
}

// solve is a solve under way.
type solve struct {
	cancel context.CancelFunc
	found  chan struct{} // has one when there is a point
	began  chan struct{} // is closed with the first line of the log
	done   chan struct{}
	res    *milp.Result
	err    error
}

// begin has b solve m.
func begin(b milp.Backend, m *milp.Model, opts milp.Options) *solve {
	ctx, cancel := context.WithCancel(context.Background())
	s := &solve{cancel: cancel, found: make(chan struct{}, 1), began: make(chan struct{}), done: make(chan struct{})}
	opts.Incumbent = func(milp.Point) {
		select {
		case s.found <- struct{}{}:
		default:
		}
	}
	opts.Log = func(string) {
		select {
		case <-s.began:
		default:
			close(s.began)
		}
	}
	opts.Start = ones(m)
	go func() {
		defer close(s.done)
		s.res, s.err = milp.Solve(ctx, b, m, opts)
	}()
	return s
}

func optimum(t *testing.T, b milp.Backend) {
	t.Helper()
	res, err := milp.Solve(context.Background(), b, knapsack(), milp.Options{})
	require.NoError(t, err)
	require.Equal(t, milp.StopOptimal, res.Stop)
	require.InDelta(t, 8, res.Objective, 1e-6)
}

// room waits until there is room for a solve.
func room(t *testing.T, b milp.Backend) {
	t.Helper()
	eventually(t, "the service stays busy", func() bool {
		_, err := milp.Solve(context.Background(), b, knapsack(), milp.Options{})
		if err != nil {
			require.ErrorContains(t, err, "busy")
		}
		return err == nil
	})
}

var integral = []ortools.Solver{ortools.GSCIP, ortools.HiGHS, ortools.CPSAT}

func TestBusyServiceSaysSo(t *testing.T) {
	r := own(t, serve.Config{MaxSolves: 1, Grace: -1})
	b := backend(t, ortools.Config{Address: r.address})
	first := begin(b, hard(), milp.Options{})
	await(t, first.found, "no point")
	_, err := milp.Solve(context.Background(), b, knapsack(), milp.Options{})
	require.ErrorIs(t, err, milp.ErrUnavailable)
	assert.ErrorContains(t, err, "busy: 1 solves are running")
	first.cancel()
	await(t, first.done, "the first solve has not ended")
	require.NoError(t, first.err)
	assert.Equal(t, milp.StopCanceled, first.res.Stop)
	assert.NotNil(t, first.res.X, "the point that was told of is kept")
	room(t, b)
}

func TestCanceledSolveEndsOnTheService(t *testing.T) {
	r := own(t, serve.Config{MaxSolves: 1, Grace: -1})
	for _, s := range integral {
		t.Run(string(s), func(t *testing.T) {
			b := backend(t, ortools.Config{Address: r.address, Solver: s})
			running := begin(b, hard(), milp.Options{})
			await(t, running.began, "no log")
			running.cancel()
			await(t, running.done, "the solve has not ended")
			require.NoError(t, running.err)
			assert.Equal(t, milp.StopCanceled, running.res.Stop)
			room(t, b)
		})
	}
}

func TestCanceledSolvesLeakNothing(t *testing.T) {
	socket := "unix:" + filepath.Join(t.TempDir(), "service")
	r := own(t, serve.Config{Listen: socket, MaxSolves: 4, Grace: -1})
	pid := processOf(t, socket)
	b := backend(t, ortools.Config{Address: r.address})
	m := hard()
	cancelOne := func(i int) {
		// On a loaded machine the service may not have heard yet that the solves before this one are not wanted any more.
		eventually(t, "the service stays busy", func() bool {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			opts := milp.Options{}
			if i%2 == 0 {
				opts.Incumbent = func(milp.Point) { cancel() }
			} else {
				go cancel()
			}
			res, err := b.Solve(ctx, m, opts)
			if err != nil {
				require.ErrorContains(t, err, "busy")
				return false
			}
			require.Equal(t, milp.StopCanceled, res.Stop)
			return true
		})
	}
	for i := range 10 {
		cancelOne(i)
	}
	room(t, b)
	goroutines, open := runtime.NumGoroutine(), files(t, pid)
	for i := range 200 {
		cancelOne(i)
	}
	room(t, b)
	eventually(t, "goroutines are left behind", func() bool { return runtime.NumGoroutine() <= goroutines })
	eventually(t, "the service keeps files open", func() bool { return files(t, pid) <= open+8 })
	eventually(t, "the service keeps processes", func() bool { return len(children(pid)) <= 4 })
}

func TestSolvesAtTheSameTime(t *testing.T) {
	for _, s := range integral {
		b := backend(t, ortools.Config{Address: service(t), Solver: s})
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				res, err := milp.Solve(context.Background(), b, knapsack(), milp.Options{})
				if assert.NoError(t, err) {
					assert.InDelta(t, 8, res.Objective, 1e-6)
				}
			})
		}
		all.Wait()
	}
}

func TestMessagesThatAreTooLarge(t *testing.T) {
	r := own(t, serve.Config{MaxMessage: 4000, Grace: -1})
	m := hard()
	for name, limit := range map[string]int{"the service's limit": 0, "the client's": 5000} {
		t.Run(name, func(t *testing.T) {
			b := backend(t, ortools.Config{Address: r.address, MaxMessage: limit})
			_, err := milp.Solve(context.Background(), b, m, milp.Options{})
			require.ErrorIs(t, err, milp.ErrUnsupported)
			assert.ErrorContains(t, err, "too large")
			optimum(t, b)
		})
	}
}

func TestGracefulStopInterruptsAtTheEndOfTheGrace(t *testing.T) {
	r := own(t, serve.Config{MaxSolves: 4, Grace: -1})
	running := begin(backend(t, ortools.Config{Address: r.address}), hard(), milp.Options{})
	await(t, running.found, "no point")
	r.stop()
	await(t, running.done, "the solve has not ended")
	await(t, r.done, "the service has not stopped")
	require.NoError(t, r.err)
	if running.err != nil { // SCIP took longer than the service waits for it
		require.ErrorIs(t, running.err, milp.ErrUnavailable)
	}
	require.NotNil(t, running.res)
	assert.Equal(t, milp.StopOther, running.res.Stop)
	assert.NotNil(t, running.res.X)
}

func TestGracefulStopLetsSolvesFinish(t *testing.T) {
	socket := "unix:" + filepath.Join(t.TempDir(), "service")
	r := own(t, serve.Config{Listen: socket, Grace: hang})
	pid := processOf(t, socket)
	b := backend(t, ortools.Config{Address: r.address, Solver: ortools.HiGHS})
	running := begin(b, covering(40, 8), milp.Options{Nodes: 1})
	await(t, running.began, "no log")
	workers := children(pid)
	require.NotEmpty(t, workers)
	r.stop()
	await(t, running.done, "the solve has not ended")
	require.NoError(t, running.err)
	assert.Equal(t, milp.StopNodes, running.res.Stop)
	await(t, r.done, "the service has not stopped")
	require.NoError(t, r.err)
	assert.True(t, gone(append(workers, pid)...), "processes are left behind")
}

func TestServiceStopsOnSIGTERM(t *testing.T) {
	socket := "unix:" + filepath.Join(t.TempDir(), "service")
	r := own(t, serve.Config{Listen: socket})
	pid := processOf(t, socket)
	workers := children(pid)
	require.NotEmpty(t, workers)
	b := backend(t, ortools.Config{Address: r.address})
	optimum(t, b)
	require.NoError(t, syscall.Kill(pid, syscall.SIGTERM))
	await(t, r.done, "the service has not stopped")
	require.ErrorIs(t, r.err, milp.ErrUnavailable)
	assert.ErrorContains(t, r.err, "it stopped by itself")
	eventually(t, "processes are left behind", func() bool { return gone(append(workers, pid)...) })
	require.ErrorIs(t, b.Ping(context.Background()), milp.ErrUnavailable)
}

func TestKilledService(t *testing.T) {
	socket := "unix:" + filepath.Join(t.TempDir(), "service")
	r := own(t, serve.Config{Listen: socket, Grace: -1})
	pid := processOf(t, socket)
	running := begin(backend(t, ortools.Config{Address: r.address}), hard(), milp.Options{})
	await(t, running.found, "no point")
	workers := children(pid)
	require.NotEmpty(t, workers)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	await(t, running.done, "the solve has not ended")
	require.ErrorIs(t, running.err, milp.ErrUnavailable)
	assert.ErrorContains(t, running.err, "was lost while it solved")
	require.NotNil(t, running.res, "the point that was told of is kept")
	assert.NotNil(t, running.res.X)
	await(t, r.done, "Run has not returned")
	require.ErrorIs(t, r.err, milp.ErrUnavailable)
	eventually(t, "workers are left behind", func() bool { return gone(workers...) })
}

func TestKilledWorkerFailsItsSolveAlone(t *testing.T) {
	socket := "unix:" + filepath.Join(t.TempDir(), "service")
	r := own(t, serve.Config{Listen: socket, MaxSolves: 1, Grace: -1})
	pid := processOf(t, socket)
	b := backend(t, ortools.Config{Address: r.address})
	running := begin(b, hard(), milp.Options{})
	await(t, running.found, "no point")
	for _, worker := range children(pid) {
		require.NoError(t, syscall.Kill(worker, syscall.SIGKILL))
	}
	await(t, running.done, "the solve has not ended")
	require.ErrorIs(t, running.err, milp.ErrBackend)
	assert.ErrorContains(t, running.err, "process ended")
	require.NotNil(t, running.res)
	optimum(t, b)
}

// written is what a service has written so far.
type written struct {
	mu   sync.Mutex
	text strings.Builder
}

func (w *written) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

func (w *written) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// TestLogHasNoNoise: SCIP writes two lines in every solve that tells of its points, and they mean nothing.
func TestLogHasNoNoise(t *testing.T) {
	log := new(written)
	r := own(t, serve.Config{Log: log, Grace: -1})
	b := backend(t, ortools.Config{Address: r.address, Solver: ortools.GSCIP})
	for range 3 {
		_, err := milp.Solve(t.Context(), b, knapsack(), milp.Options{Incumbent: func(milp.Point) {}})
		require.NoError(t, err)
	}
	r.stop()
	await(t, r.done, "the service has not stopped") // then all that it has written is here
	assert.Contains(t, log.String(), "stopping")
	assert.NotContains(t, log.String(), "ERROR")
}

func TestServiceThatComesLater(t *testing.T) {
	service(t)
	address := "unix:" + filepath.Join(t.TempDir(), "service")
	b := backend(t, ortools.Config{Address: address})
	for range 3 {
		_, err := milp.Solve(context.Background(), b, knapsack(), milp.Options{})
		require.ErrorIs(t, err, milp.ErrUnavailable)
		assert.ErrorContains(t, err, address)
		assert.ErrorContains(t, err, "hedge solver serve")
	}
	require.ErrorIs(t, b.Ping(context.Background()), milp.ErrUnavailable)
	own(t, serve.Config{Listen: address, Grace: -1})
	require.NoError(t, b.Ping(context.Background()))
	optimum(t, b)
}

func TestReflectionNamesBothServices(t *testing.T) {
	conn, err := grpc.NewClient(service(t), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	// The service has version 1alpha, whose messages are version 1's.
	s, err := conn.NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true, ClientStreams: true},
		"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo")
	require.NoError(t, err)
	require.NoError(t, s.SendMsg(&reflectionpb.ServerReflectionRequest{
		MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{}}))
	r := new(reflectionpb.ServerReflectionResponse)
	require.NoError(t, s.RecvMsg(r))
	var names []string
	for _, n := range r.GetListServicesResponse().GetService() {
		names = append(names, n.GetName())
	}
	assert.Subset(t, names,
		[]string{"operations_research.service.v1.Optimization", "hedge.solver.v1.Solver", "grpc.health.v1.Health"})
	require.NoError(t, s.CloseSend())
}

func TestSecondServiceOnTheSameAddress(t *testing.T) {
	address := service(t)
	var log bytes.Buffer
	_, err := start(serve.Config{Listen: address, Log: &log})
	require.ErrorIs(t, err, milp.ErrUnavailable)
	assert.ErrorContains(t, err, "cannot listen on "+address)
	assert.Contains(t, log.String(), "cannot listen")
}

func TestServiceWithFlagsThatMakeNoSense(t *testing.T) {
	service(t)
	for want, c := range map[string]serve.Config{
		"need each other":    {Cert: "cert.pem"},
		"must be at least 1": {MaxSolves: -1},
		"No such file":       {Cert: "no-such.pem", Key: "no-such.pem"},
	} {
		_, err := start(c)
		require.ErrorIs(t, err, milp.ErrUnavailable, want)
		assert.ErrorContains(t, err, want)
	}
}

// BenchmarkTransfer: the way of 10,000 variables to the service and back, without the solver's own time.
func BenchmarkTransfer(b *testing.B) {
	bk := backend(b, ortools.Config{Address: service(b), Solver: ortools.GLOP})
	m := &milp.Model{Maximize: true}
	const n, rows, each = 10_000, 1_000, 5
	for j := range n {
		m.AddVar(milp.Var{Upper: 1, Cost: float64(j%7 + 1)})
	}
	index, value := make([]int32, n*each/rows), make([]float64, n*each/rows)
	for i := range rows {
		for k := range index {
			index[k], value[k] = int32((i*n/rows+k)%n), 1
		}
		m.AddRow(milp.Row{Upper: float64(len(index)), Index: index, Value: value}) // it never binds
	}
	var setUp time.Duration
	for b.Loop() {
		res, err := milp.Solve(context.Background(), bk, m, milp.Options{})
		if err != nil || res.Stop != milp.StopOptimal {
			b.Fatal(errors.Join(err, errors.New(strings.ToLower(res.Raw))))
		}
		setUp += res.SetUp
	}
	b.ReportMetric(float64(setUp.Microseconds())/1000/float64(b.N), "set-up-ms/op")
}
