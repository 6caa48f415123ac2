package fake_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
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
)

// mixed is a driver whose calls are made by several goroutines. Before and after every step of a call it gives way to
// the others for a while that the seed draws, in the time of a bubble: so steps of all calls that are under way follow
// one another in an order that is always the same.
type mixed struct {
	*fake.Driver
	mu       sync.Mutex // of all that is the fake's
	seed     uint64
	turn     string            // the job whose call has its turn
	steps    map[string]uint64 // so far, by job
	in, most int               // calls under way now, and at most
}

// gate gives way before a gate is asked.
func (m *mixed) gate(ask func(string, bool) error) fake.Gate {
	return func(call string, done bool) error {
		m.giveWay(m.turn)
		if ask == nil {
			return nil
		}
		return ask(call, done)
	}
}

// giveWay is called with the lock, and returns with it.
func (m *mixed) giveWay(job string) {
	m.steps[job]++
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %d", job, m.steps[job])
	d := time.Duration(rand.New(rand.NewPCG(m.seed, h.Sum64())).Int64N(int64(time.Hour)))
	m.mu.Unlock()
	time.Sleep(d)
	m.mu.Lock()
	m.turn = job
}

func (m *mixed) call(j *adapters.Job, do func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.in++
	m.most = max(m.most, m.in)
	defer func() { m.in-- }()
	m.giveWay(j.Spec.ID)
	return do()
}

func (m *mixed) Start(ctx context.Context, s *adapters.Start) error {
	return m.call(s.Job, func() error { return m.Driver.Start(ctx, s) })
}

func (m *mixed) Stop(ctx context.Context, s *adapters.Stop) error {
	return m.call(s.Job, func() error { return m.Driver.Stop(ctx, s) })
}

func (m *mixed) Explain(ctx context.Context, n *adapters.Note) error {
	return m.call(n.Job, func() error { return m.Driver.Explain(ctx, n) })
}

// bubbled is a cluster each of whose calls has a bubble of its own.
type bubbled struct {
	*adapters.Cluster
	t *testing.T
}

func (b *bubbled) Events(ctx context.Context) (events []sched.Event, err error) {
	synctest.Test(b.t, func(*testing.T) { events, err = b.Cluster.Events(ctx) })
	return events, err
}

func (b *bubbled) Apply(ctx context.Context, p *sched.Plan) (err error) {
	synctest.Test(b.t, func(*testing.T) { err = b.Cluster.Apply(ctx, p) })
	return err
}

// busy is a world whose schedulers make several calls at a time.
type busy struct {
	*world
	parallel int
	seed     uint64
	most     int // calls at a time that there were
	drivers  []*mixed
}

func newBusy(t testing.TB, s adaptertest.Shape, o fake.Options, parallel int) *busy {
	return &busy{world: newWorld(t, s, o), parallel: parallel, seed: s.Seed}
}

func (w *busy) Open(t testing.TB, s adaptertest.Session) adaptertest.Instance {
	w.Elect(s.Epoch)
	m := &mixed{seed: w.seed + s.Epoch, steps: map[string]uint64{}}
	m.Driver = w.Connect(m.gate(s.Gate))
	w.drivers = append(w.drivers, m)
	c, err := adapters.New(m, adapters.Options{Epoch: s.Epoch, Now: w.Cluster.Now, StartTimeout: s.StartTimeout,
		LearntUntil: s.LearntUntil, Parallel: w.parallel})
	require.NoError(t, err)
	return adaptertest.Instance{Cluster: &bubbled{c, t.(*testing.T)}, Driver: w.Connect(s.Gate), Close: m.Driver.Close}
}

// crowded is the most calls at a time that there were.
func (w *busy) crowded() int {
	for _, d := range w.drivers {
		w.most = max(w.most, d.most)
	}
	return w.most
}

// TestConformanceInParallel is the suite for a scheduler that makes several calls at a time.
func TestConformanceInParallel(t *testing.T) {
	n := uint64(20)
	if testing.Short() {
		n = 3
	}
	for seed := range n {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			most := 0
			adaptertest.Run(t, func(t testing.TB, s adaptertest.Shape) adaptertest.World {
				s.Seed = seed
				w := newBusy(t, s, fake.Options{StartDelay: 3 * time.Second, StopDelay: 3 * time.Second, Expiry: 20 * time.Second},
					2+int(seed%15))
				t.Cleanup(func() { most = max(most, w.crowded()) })
				return w
			})
			assert.Greater(t, most, 1, "calls were made at the same time")
		})
	}
}

// TestStormsInParallel runs random schedules with several calls at a time, whose steps follow one another as the seed
// says.
func TestStormsInParallel(t *testing.T) {
	n := uint64(1000)
	if testing.Short() {
		n = 100
	}
	most := 0
	for seed := range n {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			var w *busy
			adaptertest.Storm(t, func(t testing.TB, s adaptertest.Shape) adaptertest.World {
				w = newBusy(t, s, weather(seed), 2+int(seed%15))
				return w
			}, seed)
			most = max(most, w.crowded())
		})
	}
	assert.Greater(t, most, 4, "calls were made at the same time")
}

// TestSameSeedSameRunInParallel runs such storms twice: the records are the same to the nanosecond, whichever goroutine
// came first.
func TestSameSeedSameRunInParallel(t *testing.T) {
	for seed := range uint64(20) {
		var runs [2][]fake.Record
		for i := range runs {
			var w *busy
			adaptertest.Storm(t, func(t testing.TB, s adaptertest.Shape) adaptertest.World {
				w = newBusy(t, s, weather(seed), 8)
				return w
			}, seed)
			runs[i] = w.Cluster.Records()
			require.NotEmpty(t, runs[i])
		}
		require.Equal(t, runs[0], runs[1], "seed %d", seed)
	}
}
