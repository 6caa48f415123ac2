package fake_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/adaptertest"
	"github.com/hedgesched/hedge/adapters/fake"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
	"github.com/hedgesched/hedge/sched/schedtest"
)

// site is a fake cluster that several goroutines use, in the time of a bubble.
type site struct {
	mu    sync.Mutex
	c     *fake.Cluster
	began time.Time
	led   []time.Duration // when work began
}

// process is a scheduler's, which can be killed.
type process struct {
	*site
	link  *fake.Driver
	lease *fake.Lease
	dead  bool
}

var errKilled = errors.New("killed")

// use is every way from a process to the cluster.
func use[T any](p *process, do func() (T, error)) (T, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead {
		var zero T
		return zero, errKilled
	}
	return do()
}

func done(p *process, do func() error) error {
	_, err := use(p, func() (struct{}, error) { return struct{}{}, do() })
	return err
}

func (p *process) Observe(ctx context.Context, relist bool) (*adapters.View, error) {
	return use(p, func() (*adapters.View, error) { return p.link.Observe(ctx, relist) })
}

func (p *process) Start(ctx context.Context, s *adapters.Start) error {
	return done(p, func() error { return p.link.Start(ctx, s) })
}

func (p *process) Stop(ctx context.Context, s *adapters.Stop) error {
	return done(p, func() error { return p.link.Stop(ctx, s) })
}

func (p *process) Acquire(ctx context.Context) (adapters.Term, error) {
	return use(p, func() (adapters.Term, error) { return p.lease.Acquire(ctx) })
}

func (p *process) Renew(ctx context.Context, t adapters.Term) (adapters.Term, error) {
	return use(p, func() (adapters.Term, error) { return p.lease.Renew(ctx, t) })
}

func (p *process) Release(ctx context.Context, t adapters.Term) error {
	return done(p, func() error { return p.lease.Release(ctx, t) })
}

// work is a term of a leader.
func (p *process) work(ctx context.Context, t adapters.Term) error {
	p.mu.Lock()
	p.led = append(p.led, time.Since(p.began))
	if p.link != nil {
		p.link.Close()
	}
	p.link = p.c.Connect(nil)
	p.mu.Unlock()
	cluster, err := adapters.New(p, adapters.Options{Epoch: t.Epoch})
	if err != nil {
		return err
	}
	loop, err := sched.NewLoop(cluster, baseline.NewPrio(), schedtest.Forecasts(), sched.WithCycle(time.Second),
		sched.WithErrorHandler(adapters.Unavailable))
	if err != nil {
		return err
	}
	return loop.Run(ctx)
}

// run runs a process until the context is done or it is killed.
func (s *site) run(ctx context.Context, ended *sync.WaitGroup) *process {
	p := &process{site: s, lease: s.c.Lease()}
	ended.Go(func() { _ = adapters.Lead(ctx, p, p.work, adapters.LeadOptions{}) })
	return p
}

// pump lets the cluster's time follow the bubble's.
func (s *site) pump(ctx context.Context) {
	for ctx.Err() == nil {
		time.Sleep(100 * time.Millisecond)
		s.mu.Lock()
		s.c.Advance(time.Since(s.c.Now()))
		s.mu.Unlock()
	}
}

// TestFailOver has a leader die, or leave, while jobs run, start and wait: the standby goes on where it was, in
// seconds, and no job notices.
func TestFailOver(t *testing.T) {
	for _, killed := range []bool{true, false} {
		t.Run(fmt.Sprintf("killed %v", killed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { failOver(t, killed) })
		})
	}
}

func failOver(t *testing.T, killed bool) {
	s := &site{c: fake.New(fake.Options{Begin: time.Now(), StartDelay: 2 * time.Second}), began: time.Now()}
	law := adaptertest.Law{Slots: 2, Tasks: map[string]int{}}
	for i := range 3 {
		require.NoError(t, s.c.AddNode(sched.Node{Name: fmt.Sprint("n", i), Capacity: sched.Resources{slot: 2}}))
	}
	for i := range 6 {
		id := fmt.Sprint("j", i)
		law.Tasks[id] = 2
		require.NoError(t, s.c.Submit(fake.Job{Spec: sched.Job{ID: id, Tasks: 2, Demand: sched.Resources{slot: 1}},
			Runtime: 30 * time.Second}))
	}
	ctx, stop := context.WithCancel(t.Context())
	var ended sync.WaitGroup
	ended.Go(func() { s.pump(ctx) })
	first, leave := context.WithCancel(ctx)
	defer leave()
	leader := s.run(first, &ended)
	time.Sleep(time.Second)
	s.run(ctx, &ended)
	time.Sleep(20 * time.Second)
	if killed {
		s.mu.Lock()
		leader.dead = true
		s.mu.Unlock()
	} else {
		leave()
	}
	time.Sleep(2 * time.Minute)
	stop()
	ended.Wait()

	require.Len(t, s.led, 2)
	limit := 21*time.Second + 2*time.Second
	if killed {
		limit += fake.LeaseFor
	}
	assert.LessOrEqual(t, s.led[1], limit, "the standby leads")
	w := &world{Cluster: s.c}
	records := w.Records(t)
	assert.Empty(t, adaptertest.Judge(records, law))
	assert.Len(t, records, 12, "every job ran once")
	for id := range law.Tasks {
		assert.False(t, s.c.Finished(id).IsZero(), "job %s", id)
	}
}
