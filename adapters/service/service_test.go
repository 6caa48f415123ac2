package service_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/fake"
	"github.com/hedgesched/hedge/adapters/service"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
	"github.com/hedgesched/hedge/sched/outlook"
	"github.com/hedgesched/hedge/sched/usage"
)

// leaseFor is what the tests' lease is granted for.
const leaseFor = 15 * time.Second

// lease is granted with one epoch after the other, unless it fails.
type lease struct {
	mu    sync.Mutex
	epoch uint64
	err   error // what every call but the last answers
}

func (l *lease) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err = err
}

func (l *lease) Acquire(context.Context) (adapters.Term, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.epoch++
	}
	return adapters.Term{Epoch: l.epoch, For: leaseFor}, l.err
}

func (l *lease) Renew(_ context.Context, t adapters.Term) (adapters.Term, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return t, l.err
}

func (l *lease) Release(context.Context, adapters.Term) error { return nil }

// counts are metrics that keep what they are told.
type counts struct {
	mu     sync.Mutex
	calls  []string // without those of cycles
	cycles int
	told   []outlook.Outlook // estimates of all cycles
}

func (c *counts) Estimated(_ *sched.Cycle, told []outlook.Outlook) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told = append(c.told, told...)
}

func (c *counts) add(call string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = append(c.calls, call)
}

func (c *counts) count(call string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, got := range c.calls {
		if got == call {
			n++
		}
	}
	return n
}

func (c *counts) Lead(uint64) { c.add("lead") }
func (c *counts) StandBy()    { c.add("stand by") }
func (c *counts) Fail(error)  { c.add("fail") }
func (c *counts) Warn()       { c.add("warn") }

func (c *counts) Refused(adapters.Refused) {}

func (c *counts) Observe(*sched.Cycle) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cycles++
}

// driver is of a fake cluster whose time is that of the machine. It hangs for as long as hang is open, and does not
// answer while err is there.
type driver struct {
	adapters.Driver
	mu      sync.Mutex // the cluster's
	cluster *fake.Cluster
	hang    chan struct{}
	err     atomic.Pointer[error]
}

func (d *driver) Observe(ctx context.Context, relist bool) (*adapters.View, error) {
	if d.hang != nil {
		<-d.hang
	}
	if err := d.err.Load(); err != nil && *err != nil {
		return nil, *err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cluster.Advance(time.Since(d.cluster.Now()))
	return d.Driver.Observe(ctx, relist)
}

func (d *driver) Measure(ctx context.Context) ([]adapters.Sample, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.Driver.(adapters.Meter).Measure(ctx)
}

// program is an instance on a fake cluster with one node, and on the history's file.
type program struct {
	*service.Instance
	cluster *fake.Cluster
	driver  *driver
	lease   *lease
	metrics *counts
	log     *bytes.Buffer
	history adapters.HistoryFile
}

// newProgram makes a program, in a bubble.
func newProgram(t *testing.T, change func(*service.Options)) *program {
	cluster := fake.New(fake.Options{Begin: time.Now()})
	require.NoError(t, cluster.AddNode(sched.Node{Name: "n"}))
	p := &program{cluster: cluster, driver: &driver{Driver: cluster.Connect(nil), cluster: cluster}, lease: &lease{},
		metrics: &counts{}, log: &bytes.Buffer{},
		history: adapters.HistoryFile(filepath.Join(t.TempDir(), "history"))}
	o := service.Options{Policy: fifo, LeaseFor: leaseFor, History: p.history, Metrics: p.metrics,
		Log: slog.New(slog.NewTextHandler(p.log, nil))}
	if change != nil {
		change(&o)
	}
	var err error
	p.Instance, err = service.New(o)
	require.NoError(t, err)
	return p
}

func fifo() (sched.Policy, error) { return baseline.NewFIFO(), nil }

// run leads for so long and returns what it ended with.
func (p *program) run(t *testing.T, long time.Duration) error {
	ctx, cancel := context.WithTimeout(t.Context(), long)
	defer cancel()
	return p.lead(ctx)
}

func (p *program) lead(ctx context.Context) error {
	return p.Lead(ctx, p.lease, func(ctx context.Context, t adapters.Term) error { return p.Schedule(ctx, t, p.driver) })
}

// background leads until the end of the test, which is to be well.
func (p *program) background(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- p.lead(ctx) }()
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-done)
	})
}

// submit hands in a job of some seconds.
func (p *program) submit(t *testing.T, id string) {
	require.NoError(t, p.cluster.Submit(fake.Job{Spec: sched.Job{ID: id, Tasks: 1}, Runtime: 3 * time.Second}))
}

// learnt is when the last job ended that the file knows of.
func (p *program) learnt(t *testing.T) time.Time {
	h, err := predict.NewHistory(nil)
	require.NoError(t, err)
	until, err := p.history.Load(h)
	require.NoError(t, err)
	return until
}

// TestTerms: a job runs, what was learnt is kept, and the next term, of a program that was started again, goes on from
// there.
func TestTerms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProgram(t, nil)
		p.submit(t, "a")
		require.NoError(t, p.run(t, 61*time.Second))
		assert.False(t, p.cluster.Finished("a").IsZero())
		assert.Equal(t, p.cluster.Finished("a").UTC(), p.learnt(t))
		assert.Equal(t, []string{"lead", "stand by"}, p.metrics.calls)
		assert.Equal(t, 31, p.metrics.cycles, "one every two seconds")
		assert.Contains(t, p.log.String(), "msg=leading epoch=1")
		assert.Contains(t, p.log.String(), `msg="leading no more" epoch=1`)

		data, err := os.ReadFile(string(p.history))
		require.NoError(t, err)
		q := newProgram(t, func(o *service.Options) { o.History = p.history })
		require.NoError(t, q.run(t, time.Minute))
		kept, err := os.ReadFile(string(p.history))
		require.NoError(t, err)
		assert.Equal(t, data, kept, "nothing was learnt, and nothing forgotten")
	})
}

// TestExplains: with Explain the notes of jobs that wait tell who holds the room; without it they do not.
func TestExplains(t *testing.T) {
	for _, explain := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			p := newProgram(t, func(o *service.Options) { o.Explain = explain })
			p.submit(t, "a")
			p.submit(t, "b")
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			require.NoError(t, p.Schedule(ctx, adapters.Term{Epoch: 1}, p.cluster.Connect(nil)))
			notes := p.cluster.Notes("b")
			require.NotEmpty(t, notes)
			assert.Equal(t, explain, strings.Contains(notes[0], "room for 0 of 1 task: 1 node too little"), notes[0])
		})
	}
}

// TestEstimates: with Estimates the notes of jobs that wait tell when these start, and the metrics are told, too;
// without them neither is.
func TestEstimates(t *testing.T) {
	for _, config := range []*outlook.Config{nil, {Seed: 1}} {
		synctest.Test(t, func(t *testing.T) {
			p := newProgram(t, func(o *service.Options) { o.Estimates, o.Explain = config, true })
			p.submit(t, "a")
			p.submit(t, "b")
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			require.NoError(t, p.Schedule(ctx, adapters.Term{Epoch: 1}, p.cluster.Connect(nil)))
			notes := p.cluster.Notes("b")
			require.NotEmpty(t, notes)
			assert.Equal(t, config != nil, strings.Contains(notes[0], "; expected to start about "), notes[0])
			assert.Contains(t, notes[0], "; room for 0 of 1 task")
			assert.Equal(t, config != nil, len(p.metrics.told) > 0)
		})
	}
	_, err := service.New(service.Options{Policy: fifo, LeaseFor: leaseFor, Estimates: &outlook.Config{Worlds: 1}})
	require.ErrorIs(t, err, adapters.ErrOptions)
	require.ErrorIs(t, err, outlook.ErrConfig)
}

// TestLearnsUsage: with Measure, later terms know what the tasks of earlier ones used. A file without usage is good.
func TestLearnsUsage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told predict.Prediction
		p := newProgram(t, func(o *service.Options) {
			o.Cluster.Measure = time.Second
			o.Observe = func(c *sched.Cycle) {
				for i := range c.Snapshot.Pending {
					told = c.Snapshot.Pending[i].Prediction
				}
			}
		})
		run := func(use usage.Level, ids ...string) {
			for _, id := range ids {
				require.NoError(t, p.cluster.Submit(fake.Job{Runtime: 20 * time.Second, Use: use,
					Spec: sched.Job{ID: id, Tasks: 1, Attributes: map[string]string{"user": "ada"}}}))
			}
			require.NoError(t, p.run(t, 5*time.Minute))
		}
		before, err := predict.NewHistory(nil)
		require.NoError(t, err)
		require.NoError(t, before.Observe(predict.Observation{Runtime: 20,
			Job: predict.Job{ID: "z", Attributes: map[string]string{"user": "ada"}}}))
		require.NoError(t, p.history.Save(before, time.Now().Add(-time.Hour)))
		run(usage.Level{CPU: 2, Memory: 30}, "a", "b", "c")
		run(usage.Level{}, "d")
		for q, want := range map[predict.Quantity]float64{predict.CPU: 2, predict.CPUMax: 2, predict.Memory: 30,
			predict.MemoryMax: 30, predict.CPUTime: 40} {
			got, ok := told.Usage.Of(q)
			require.True(t, ok, q)
			assert.InDelta(t, want, got.Point, want/10, q)
			assert.Equal(t, 3, got.Samples, q)
		}
		assert.Equal(t, 4, told.Samples, "runtimes of the file without usage are known, too")
		assert.NoFileExists(t, string(p.history)+".damaged")
	})
}

// TestWithoutHistory: no file, and no complaint.
func TestWithoutHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		t.Chdir(t.TempDir())
		p := newProgram(t, func(o *service.Options) { o.History = "" })
		p.submit(t, "a")
		require.NoError(t, p.run(t, time.Hour))
		assert.False(t, p.cluster.Finished("a").IsZero())
		assert.NoFileExists(t, string(p.history))
		here, err := os.ReadDir(".")
		require.NoError(t, err)
		assert.Empty(t, here)
		assert.NotContains(t, p.log.String(), "history")
	})
}

// TestDamagedHistory: it is put aside and told of, and a new one begins; one that cannot be read ends the program.
func TestDamagedHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProgram(t, nil)
		require.NoError(t, os.WriteFile(string(p.history), []byte("not a history"), 0o600))
		require.NoError(t, p.run(t, time.Minute))
		assert.FileExists(t, string(p.history)+".damaged")
		assert.FileExists(t, string(p.history))
		assert.Contains(t, p.log.String(), "beginning without a history")
		assert.Equal(t, 1, p.metrics.count("warn"))

		q := newProgram(t, nil)
		require.NoError(t, os.Mkdir(string(q.history), 0o700))
		require.ErrorContains(t, q.run(t, time.Minute), "is a directory")
	})
}

// TestSaves: the history is saved now and then, so that a crash costs a minute's worth.
func TestSaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProgram(t, func(o *service.Options) { o.Save = 30 * time.Second })
		p.submit(t, "a")
		p.background(t)
		time.Sleep(25 * time.Second)
		synctest.Wait()
		assert.NoFileExists(t, string(p.history))
		time.Sleep(10 * time.Second)
		synctest.Wait()
		assert.Equal(t, p.cluster.Finished("a").UTC(), p.learnt(t))
	})
}

// TestUnsaved: a history that cannot be saved is logged and does not end a term. At the program's end it is an error,
// unless it could be saved after all.
func TestUnsaved(t *testing.T) {
	for _, mended := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "not-there")
			p := newProgram(t, func(o *service.Options) { o.History = adapters.HistoryFile(filepath.Join(dir, "history")) })
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- p.lead(ctx) }()
			time.Sleep(90 * time.Second)
			synctest.Wait()
			assert.Equal(t, 1, strings.Count(p.log.String(), "the history is not saved"), p.log)
			assert.Equal(t, 1, p.metrics.count("warn"))
			p.lease.fail(adapters.ErrFenced)
			time.Sleep(leaseFor)
			synctest.Wait()
			assert.Equal(t, 2, strings.Count(p.log.String(), "the history is not saved"), "the end of the term: %s", p.log)
			assert.Equal(t, 1, p.metrics.count("stand by"))
			p.lease.fail(nil)
			time.Sleep(leaseFor)
			synctest.Wait()
			require.Equal(t, 2, p.metrics.count("lead"), "it goes on: %s", p.log)
			if mended {
				require.NoError(t, os.Mkdir(dir, 0o700))
			}
			cancel()
			if err := <-done; mended {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, os.ErrNotExist)
			}
		})
	}
}

// TestLive: a leader that hangs is not alive, from the beginning of its term on; one whose cycles fail is, and so is a
// standby.
func TestLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProgram(t, func(o *service.Options) { o.Stuck = time.Minute })
		gone := adapters.ErrUnavailable
		p.driver.hang = make(chan struct{})
		p.driver.err.Store(&gone)
		time.Sleep(time.Hour)
		require.NoError(t, p.Live(), "a standby")
		p.background(t)
		synctest.Wait()
		require.Equal(t, 1, p.metrics.count("lead"))
		time.Sleep(time.Minute)
		require.NoError(t, p.Live(), "its first cycle is under way")
		time.Sleep(time.Second)
		require.ErrorContains(t, p.Live(), "no cycle has ended for 1m1s")
		close(p.driver.hang)
		synctest.Wait()
		require.NoError(t, p.Live())
		time.Sleep(time.Hour)
		require.NoError(t, p.Live(), "its cycles fail")
		assert.Positive(t, p.metrics.count("fail"))
		p.lease.fail(adapters.ErrHeld)
		time.Sleep(time.Hour)
		require.NoError(t, p.Live(), "a standby again")
	})
}

// TestReady: an instance is ready while the lease answers and, if it leads, its last cycle was well.
func TestReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProgram(t, nil)
		require.ErrorIs(t, p.Ready(), adapters.ErrUnavailable, "nothing was heard of the lease yet")
		p.lease.fail(&adapters.HeldError{Holder: "another"})
		p.background(t)
		after := func(d time.Duration) error {
			time.Sleep(d)
			synctest.Wait()
			return p.Ready()
		}
		require.NoError(t, after(time.Second), "another has the lease")
		assert.Contains(t, p.log.String(), "another")
		p.lease.fail(errors.Join(adapters.ErrUnavailable, errors.New("far and wide")))
		require.NoError(t, after(leaseFor/2))
		require.ErrorContains(t, after(leaseFor), "far and wide")
		p.lease.fail(nil)
		require.NoError(t, after(5*time.Second), "it leads")

		gone := errors.Join(adapters.ErrUnavailable, errors.New("no route"))
		p.driver.err.Store(&gone)
		require.ErrorContains(t, after(5*time.Second), "no route")
		p.driver.err.Store(new(error))
		require.NoError(t, after(5*time.Second))
		p.driver.err.Store(&gone)
		require.Error(t, after(5*time.Second))
		p.lease.fail(adapters.ErrHeld)
		require.NoError(t, after(2*leaseFor), "what failed was the term's")
	})
}

// TestEnds: what makes no sense ends the program, and a cluster of another leader does not.
func TestEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProgram(t, func(o *service.Options) { o.Cluster.Parallel = -1 })
		require.ErrorIs(t, p.run(t, time.Hour), adapters.ErrOptions)
		fenced := adapters.ErrFenced
		p = newProgram(t, nil)
		p.driver.err.Store(&fenced)
		require.NoError(t, p.run(t, 10*time.Second))
		assert.Greater(t, p.metrics.count("lead"), 5, "it tries anew")
		assert.Equal(t, p.metrics.count("lead"), p.metrics.count("stand by"))
	})
}

// TestPolicies: each term has a policy of its own.
func TestPolicies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made atomic.Int32
		p := newProgram(t, func(o *service.Options) {
			o.Policy = func() (sched.Policy, error) {
				made.Add(1)
				return fifo()
			}
		})
		p.background(t)
		time.Sleep(time.Minute)
		p.lease.fail(adapters.ErrFenced)
		time.Sleep(time.Minute)
		p.lease.fail(nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Equal(t, int32(3), made.Load(), "one as the instance is made, and two terms")
	})
}

// TestObserve: whoever else watches is called after the metrics, with every cycle.
func TestObserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []*sched.Cycle
		p := newProgram(t, func(o *service.Options) {
			o.Observe = func(c *sched.Cycle) { seen = append(seen, c) }
		})
		p.background(t)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.NotEmpty(t, seen)
		assert.NotNil(t, seen[0].Snapshot)
	})
}

// TestTold: what has failed is logged as such, and a job that its user took away is not.
func TestTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProgram(t, nil)
		require.NoError(t,
			p.cluster.Submit(fake.Job{Spec: sched.Job{ID: "bad", Tasks: 1}, Runtime: time.Second, BadStarts: 1}))
		require.NoError(t, p.cluster.Submit(fake.Job{Spec: sched.Job{ID: "large", Tasks: 9}, Runtime: time.Second}))
		require.NoError(t, p.cluster.Submit(fake.Job{Spec: sched.Job{ID: "gone", Tasks: 9}, Runtime: time.Second}))
		p.background(t)
		time.Sleep(time.Minute)
		synctest.Wait()
		p.driver.mu.Lock()
		require.NoError(t, p.cluster.Withdraw("gone"))
		p.driver.mu.Unlock()
		time.Sleep(time.Minute)
		synctest.Wait()
		lines := strings.Split(p.log.String(), "\n")
		told := func(words ...string) int {
			n := 0
			for _, line := range lines {
				if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(line, w) }) {
					n++
				}
			}
			return n
		}
		assert.Equal(t, 1, told("msg=failed"), p.log)
		assert.Equal(t, 1, told("msg=failed", "job=bad"), p.log)
		assert.Equal(t, 1, told(`msg="cannot be placed"`, "job=large"), p.log)
	})
}

func TestOptions(t *testing.T) {
	good := service.Options{Policy: fifo, LeaseFor: time.Second}
	_, err := service.New(good)
	require.NoError(t, err)
	for name, change := range map[string]func(*service.Options){
		"no policy":      func(o *service.Options) { o.Policy = nil },
		"no lease":       func(o *service.Options) { o.LeaseFor = 0 },
		"negative cycle": func(o *service.Options) { o.Cycle = -1 },
		"negative save":  func(o *service.Options) { o.Save = -1 },
		"negative stuck": func(o *service.Options) { o.Stuck = -1 },
		"resizing":       func(o *service.Options) { o.Cluster.Resize = &adapters.Resizing{} },
		"always stuck":   func(o *service.Options) { o.Cycle = 5 * time.Minute },
	} {
		o := good
		change(&o)
		_, err := service.New(o)
		require.ErrorIs(t, err, adapters.ErrOptions, name)
	}
	bad := errors.New("bad")
	good.Policy = func() (sched.Policy, error) { return nil, bad }
	_, err = service.New(good)
	require.ErrorIs(t, err, bad)
}
