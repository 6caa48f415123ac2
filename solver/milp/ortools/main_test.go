package ortools_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/ortools"
	"github.com/hedgesched/hedge/solver/milp/ortools/serve"
)

// hang is how long a test waits for what must come.
const hang = 3 * time.Minute

// running is a service, started by a test.
type running struct {
	address string
	stop    context.CancelFunc
	done    chan struct{}
	err     error // of Run, when done is closed
}

// start runs a service of c on a free port.
func start(c serve.Config) (*running, error) {
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{stop: cancel, done: make(chan struct{})}
	ready := make(chan string, 1)
	if c.Listen == "" {
		c.Listen = "127.0.0.1:0"
	}
	c.Ready = func(address string) { ready <- address }
	go func() {
		defer close(r.done)
		r.err = serve.Run(ctx, c)
	}()
	select {
	case r.address = <-ready:
		return r, nil
	case <-r.done:
		return nil, r.err
	}
}

// shared is the service that most tests use; it is started with the first of them. It has much room, so that calls that
// are just being given up do not make it busy.
var shared struct {
	once sync.Once
	*running
	err error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.running != nil {
		shared.stop()
		<-shared.done
		if shared.running.err != nil { // which may be why tests have failed
			fmt.Println(shared.running.err)
			code = 1
		}
	}
	os.Exit(code)
}

// service is the shared service's address. Where OR-Tools cannot be had the test is skipped, or fails if
// HEDGE_REQUIRE_SOLVERS is set.
func service(t testing.TB) string {
	t.Helper()
	shared.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
		defer cancel()
		if shared.err = serve.Prepare(ctx, os.Stderr); shared.err == nil {
			shared.running, shared.err = start(serve.Config{MaxSolves: 16, Grace: -1})
		}
	})
	if shared.err != nil && os.Getenv("HEDGE_REQUIRE_SOLVERS") == "" {
		t.Skipf("no OR-Tools service: %v", shared.err)
	}
	require.NoError(t, shared.err)
	return shared.address
}

// own starts a service for this test alone, and stops it at its end.
func own(t *testing.T, c serve.Config) *running {
	t.Helper()
	service(t)
	r, err := start(c)
	require.NoError(t, err)
	t.Cleanup(func() {
		r.stop()
		await(t, r.done, "the service has not stopped")
	})
	return r
}

func await[T any](t testing.TB, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(hang):
		require.FailNow(t, what)
		panic("unreachable")
	}
}

// backend is a client of the service at an address.
func backend(t testing.TB, c ortools.Config) *ortools.Backend {
	t.Helper()
	b, err := ortools.New(c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}

// knapsack has the optimum 8.
func knapsack() *milp.Model {
	m := &milp.Model{Maximize: true, Offset: 1}
	for _, c := range []float64{3, 4, 5} {
		m.AddVar(milp.Var{Upper: 1, Cost: c, Integer: true})
	}
	m.AddRow(milp.Row{Upper: 5, Index: []int32{0, 1, 2}, Value: []float64{2, 3, 4}})
	return m
}
