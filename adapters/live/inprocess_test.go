package live_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/live"
	"github.com/hedgesched/hedge/sched/kairos"
)

// errKilled is how an attempt ends that was killed.
var errKilled = errors.New("killed")

// functions is an executor that runs no processes. An attempt takes a while, unless it is killed; its job's commands
// say how it ends.
type functions struct {
	mu       sync.Mutex
	attempts map[string]int
	pauses   int
}

type attempt struct {
	of     *functions
	killed chan struct{}
	once   sync.Once
	fails  bool
	takes  time.Duration
}

func (f *functions) Start(a live.Attempt) (live.Running, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.attempts == nil {
		f.attempts = map[string]int{}
	}
	name := fmt.Sprint(a.Job, " ", a.Task)
	f.attempts[name]++
	takes, err := time.ParseDuration(a.Args[0])
	if err != nil {
		return nil, err
	}
	fails := len(a.Args) > 1 && f.attempts[name] < len(a.Args)
	return &attempt{of: f, killed: make(chan struct{}), fails: fails, takes: takes}, nil
}

func (f *functions) count(name string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.attempts[name]
}

func (r *attempt) Pause() error {
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	r.of.pauses++
	return nil
}
func (r *attempt) Resume() error { return nil }
func (r *attempt) Kill() error   { r.once.Do(func() { close(r.killed) }); return nil }
func (r *attempt) Wait() error {
	select {
	case <-r.killed:
		return errKilled
	case <-time.After(r.takes):
	}
	if r.fails {
		return errors.New("it fails")
	}
	return nil
}

// site is a fleet within this process: one dispatch, which can be ended and started again, and agents.
type site struct {
	t       *testing.T
	dir     string
	address string
	secure  func(who string) *tls.Config
	// lostAfter is long enough for a busy machine.
	lostAfter time.Duration
	take      int // workers that an agent asks for
}

func newSite(t *testing.T) *site {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return &site{t: t, dir: t.TempDir(), address: l.Addr().String(), lostAfter: 20 * time.Second,
		secure: func(string) *tls.Config { return nil }}
}

// running is something that runs until it is ended.
type running struct {
	cancel context.CancelFunc
	done   chan error
}

func start(run func(context.Context) error) *running {
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{cancel, make(chan error, 1)}
	go func() { r.done <- run(ctx) }()
	return r
}

func (r *running) end() error {
	r.cancel()
	return <-r.done
}

func (s *site) system(name string, workers int) (*live.System, live.Fleet) {
	s.t.Helper()
	k, err := kairos.New(kairos.Config{Workers: workers, Slots: 1, Queue: 2, Quantum: 30 * time.Millisecond,
		Interval: 10 * time.Millisecond, Seed: 1})
	require.NoError(s.t, err)
	system := live.NewSystem(name, k, kairos.Codec{})
	fleet, err := live.Divide(system, s.address)
	require.NoError(s.t, err)
	return system, fleet
}

func (s *site) dispatch(workers int) *running {
	s.t.Helper()
	system, fleet := s.system("kairos", workers)
	l, err := net.Listen("tcp", s.address)
	require.NoError(s.t, err)
	c := live.DispatchConfig{System: system, Fleet: fleet, Dir: s.dir, Listener: l, TLS: s.secure("dispatch"),
		LostAfter: s.lostAfter, Resend: 50 * time.Millisecond}
	c.Log = slog.New(slog.NewTextHandler(s.t.Output(), nil))
	return start(func(ctx context.Context) error { return live.RunDispatch(ctx, c) })
}

func (s *site) agent(name string, workers int, e live.Executor) *running {
	s.t.Helper()
	system, fleet := s.system("kairos", workers)
	return start(func(ctx context.Context) error {
		return live.RunAgent(ctx, live.AgentConfig{System: system, Fleet: fleet, Name: name, Workers: s.take,
			Executor: e, Attempts: 2,
			TLS: s.secure(name), Resend: 50 * time.Millisecond,
			Log: slog.New(slog.NewTextHandler(s.t.Output(), nil))})
	})
}

func (s *site) client() *live.Client {
	s.t.Helper()
	c, err := live.Dial(s.address, s.secure("client"))
	require.NoError(s.t, err)
	s.t.Cleanup(func() { assert.NoError(s.t, c.Close()) })
	return c
}

func job(name string, tasks int, command ...string) live.Job {
	return live.Job{Name: name, Tasks: tasks, Command: live.Command{Args: command}}
}

func limited(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// A dispatch is ended and started again while tasks run, some of them paused, and jobs come: nothing runs twice, and no
// goroutine is left when all have ended.
func TestTasksSurviveTheirSchedulersRestart(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Run("fleet", func(t *testing.T) {
		ctx, s, e := limited(t), newSite(t), &functions{}
		s.take = 2
		d, a, client := s.dispatch(2), s.agent("a", 2, e), s.client()
		for i := range 6 {
			require.NoError(t, client.Submit(ctx, job(fmt.Sprint("job", i), 3, "70ms")))
			if i%2 == 0 {
				require.NoError(t, d.end())
				d = s.dispatch(2)
			}
		}
		for i := range 6 {
			status, err := client.Wait(ctx, fmt.Sprint("job", i))
			require.NoError(t, err)
			assert.Zero(t, status.Failed)
			for task := range 3 {
				assert.Equal(t, 1, e.count(fmt.Sprintf("job%d %d", i, task)))
			}
		}
		assert.Positive(t, e.pauses, "tasks were preempted")
		require.NoError(t, a.end())
		require.NoError(t, d.end())
	})
	for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			all := make([]byte, 1<<20)
			t.Fatalf("goroutines are left:\n%s", all[:runtime.Stack(all, true)])
		}
	}
}

// The tasks of an agent that ends run on another, which then has its worker too; a third agent takes it over.
func TestALostWorkersTasksRunElsewhere(t *testing.T) {
	ctx, s, e, other := limited(t), newSite(t), &functions{}, &functions{}
	s.lostAfter = 200 * time.Millisecond
	d, a, b, client := s.dispatch(2), s.agent("a", 2, e), s.agent("b", 2, other), s.client()
	require.Eventually(t, func() bool { _, n, err := client.Census(ctx); return err == nil && n == 2 }, 20*time.Second,
		5*time.Millisecond)
	require.NoError(t, client.Submit(ctx, job("long", 2, "1s")))
	require.Eventually(t, func() bool { return e.count("long 0")+e.count("long 1") == 1 }, 20*time.Second,
		5*time.Millisecond)
	require.NoError(t, a.end())
	status, err := client.Wait(ctx, "long")
	require.NoError(t, err)
	assert.Zero(t, status.Failed)
	assert.Equal(t, 1, other.count("long 0"))
	assert.Equal(t, 1, other.count("long 1"))

	third := &functions{}
	c := s.agent("c", 2, third)
	require.Eventually(t, func() bool {
		name := fmt.Sprint("more", time.Now().UnixNano())
		require.NoError(t, client.Submit(ctx, job(name, 2, "1ms")))
		_, err := client.Wait(ctx, name)
		require.NoError(t, err)
		return third.count(name+" 0")+third.count(name+" 1") == 1
	}, 20*time.Second, 20*time.Millisecond)
	for _, r := range []*running{b, c, d} {
		require.NoError(t, r.end())
	}
}

func TestFailures(t *testing.T) {
	ctx, s, e := limited(t), newSite(t), &functions{}
	d, a, client := s.dispatch(1), s.agent("a", 1, e), s.client()
	require.NoError(t, client.Submit(ctx, job("once", 1, "1ms", "fails")))
	status, err := client.Wait(ctx, "once")
	require.NoError(t, err)
	assert.Zero(t, status.Failed, "the second attempt was good")
	assert.Equal(t, 2, e.count("once 0"))
	require.NoError(t, client.Submit(ctx, job("twice", 2, "1ms", "fails", "fails")))
	status, err = client.Wait(ctx, "twice")
	require.NoError(t, err)
	assert.True(t, status.Done)
	assert.Equal(t, 2, status.Failed)
	require.NoError(t, client.Submit(ctx, job("strange", 1, "soon")))
	status, err = client.Wait(ctx, "strange")
	require.NoError(t, err)
	assert.Equal(t, 1, status.Failed, "it cannot be started")
	require.NoError(t, a.end())
	require.NoError(t, d.end())
}

// A next phase starts when the phase before is done, also if that was before it was submitted, and over a restart.
func TestPhases(t *testing.T) {
	ctx, s, e := limited(t), newSite(t), &functions{}
	d, a, client := s.dispatch(1), s.agent("a", 1, e), s.client()
	next := func(name, after string) live.Job {
		j := job(name, 1, "1ms")
		j.After = after
		return j
	}
	require.NoError(t, client.Submit(ctx, job("maps", 2, "100ms")))
	require.NoError(t, client.Submit(ctx, next("reduces", "maps")))
	status, err := client.Inspect(ctx, "reduces")
	require.NoError(t, err)
	assert.Zero(t, status.Submitted)
	require.NoError(t, d.end())
	d = s.dispatch(1)
	first, err := client.Wait(ctx, "maps")
	require.NoError(t, err)
	status, err = client.Wait(ctx, "reduces")
	require.NoError(t, err)
	assert.Equal(t, first.Ended, status.Submitted)
	require.NoError(t, client.Submit(ctx, next("late", "maps")))
	_, err = client.Wait(ctx, "late")
	require.NoError(t, err)
	require.ErrorIs(t, client.Submit(ctx, next("lost", "nobody")), live.ErrJob)
	require.NoError(t, a.end())
	require.NoError(t, d.end())
}

func TestJobsThatAreRefused(t *testing.T) {
	ctx, s := limited(t), newSite(t)
	d, client := s.dispatch(1), s.client()
	require.NoError(t, client.Submit(ctx, job("a", 1, "1ms")))
	require.NoError(t, client.Submit(ctx, job("a", 1, "1ms")), "the same again")
	for name, j := range map[string]live.Job{"another": job("a", 2, "1ms"), "no name": job("", 1, "1ms"),
		"no task": job("b", 0, "1ms"), "no command": job("b", 1),
		"below 0": {Name: "b", Tasks: 1, Estimate: -1, Command: live.Command{Args: []string{"1ms"}}}} {
		require.ErrorIs(t, client.Submit(ctx, j), live.ErrJob, name)
	}
	_, err := client.Wait(ctx, "b")
	require.ErrorIs(t, err, live.ErrJob)
	require.NoError(t, d.end())
	late, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, client.Submit(late, job("c", 1, "1ms")), context.DeadlineExceeded)
}

// Processes of another system, and folders of another place or in use, are refused.
func TestStrangers(t *testing.T) {
	s := newSite(t)
	d := s.dispatch(2)
	system, fleet := s.system("another", 2)
	err := live.RunAgent(limited(t), live.AgentConfig{System: system, Fleet: fleet, Name: "a", Executor: &functions{}})
	require.ErrorIs(t, err, live.ErrFleet)
	require.ErrorContains(t, err, `found "another, 2-2", expected "kairos, 2-2"`)

	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	system, fleet = s.system("kairos", 2)
	err = live.RunDispatch(limited(t), live.DispatchConfig{System: system, Fleet: fleet, Dir: s.dir, Listener: l})
	require.ErrorIs(t, err, live.ErrConfig)
	require.ErrorContains(t, err, "in use")
	require.NoError(t, d.end())
	system, fleet = s.system("another", 2)
	err = live.RunDispatch(limited(t), live.DispatchConfig{System: system, Fleet: fleet, Dir: s.dir, Listener: l})
	require.ErrorIs(t, err, live.ErrFleet)
	require.NoError(t, l.Close())
}

// An agent whose fleet has begun anew begins anew, too.
func TestAnotherFleetAtTheSamePlace(t *testing.T) {
	ctx, s, e := limited(t), newSite(t), &functions{}
	d, a, client := s.dispatch(1), s.agent("a", 1, e), s.client()
	require.NoError(t, client.Submit(ctx, job("a", 1, "1ms")))
	_, err := client.Wait(ctx, "a")
	require.NoError(t, err)
	require.NoError(t, client.Submit(ctx, job("b", 1, "1h")))
	require.Eventually(t, func() bool { return e.count("b 0") == 1 }, 20*time.Second, 5*time.Millisecond)
	require.NoError(t, d.end())
	s.dir = t.TempDir()
	d = s.dispatch(1)
	require.NoError(t, client.Submit(ctx, job("a", 2, "2ms")))
	_, err = client.Wait(ctx, "a")
	require.NoError(t, err)
	assert.Equal(t, 2, e.count("a 0"))
	assert.Equal(t, 1, e.count("a 1"))
	require.NoError(t, a.end())
	require.NoError(t, d.end())
}

// A dispatch behind the first comes back with its folder, and is refused without.
func TestADispatchThatHasLostItsFolder(t *testing.T) {
	ctx, s := limited(t), newSite(t)
	other := newSite(t)
	run := func(place int, dir string) *running {
		v, err := newEagle("eagle")
		require.NoError(t, err)
		fleet, err := live.Divide(v, s.address, other.address)
		require.NoError(t, err)
		l, err := net.Listen("tcp", fleet[place].Address)
		require.NoError(t, err)
		c := live.DispatchConfig{System: v, Fleet: fleet, Place: place, Dir: dir, Listener: l}
		return start(func(ctx context.Context) error { return live.RunDispatch(ctx, c) })
	}
	v, err := newEagle("eagle")
	require.NoError(t, err)
	fleet, err := live.Divide(v, s.address, other.address)
	require.NoError(t, err)
	e := &functions{}
	a := start(func(ctx context.Context) error {
		return live.RunAgent(ctx, live.AgentConfig{System: v, Fleet: fleet, Name: "a", Workers: 3, Executor: e})
	})
	first, second, client := run(0, s.dir), run(1, other.dir), s.client()
	for i := range 4 {
		require.NoError(t, client.Submit(ctx, job(fmt.Sprint("job", i), 2, "10ms")))
		_, err := client.Wait(ctx, fmt.Sprint("job", i))
		require.NoError(t, err)
		require.NoError(t, second.end())
		second = run(1, other.dir)
	}
	require.NoError(t, second.end())
	err = <-run(1, t.TempDir()).done
	require.ErrorIs(t, err, live.ErrFleet)
	require.ErrorContains(t, err, "dispatch 1 was there before")
	require.NoError(t, a.end())
	require.NoError(t, first.end())
}
