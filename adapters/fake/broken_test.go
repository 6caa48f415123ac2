package fake_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/adaptertest"
	"github.com/hedgesched/hedge/adapters/fake"
	"github.com/hedgesched/hedge/sched"
)

// verdict stands in for a test that may fail.
type verdict struct {
	testing.TB
	text    strings.Builder
	failed  bool
	skipped bool
}

func (v *verdict) Errorf(format string, args ...any) {
	v.failed = true
	fmt.Fprintf(&v.text, format+"\n", args...)
}

func (v *verdict) Fatalf(format string, args ...any) {
	v.Errorf(format, args...)
	runtime.Goexit()
}

func (v *verdict) FailNow() {
	v.failed = true
	runtime.Goexit()
}

func (v *verdict) Skipf(string, ...any) {
	v.skipped = true
	runtime.Goexit()
}

func (v *verdict) Logf(string, ...any) {}

func (v *verdict) Failed() bool { return v.failed }

func (*verdict) Helper() {}

// failure is what a check says of a World; nothing if it passes.
func failure(t *testing.T, check func(testing.TB)) string {
	v := &verdict{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		check(v)
	}()
	<-done
	require.False(t, v.skipped)
	if v.failed && v.text.Len() == 0 {
		return "it failed without a word"
	}
	return v.text.String()
}

// meddling is a World whose adapter does something that it must not.
type meddling struct {
	*world
	driver func(adapters.Driver) adapters.Driver
	events func([]sched.Event) []sched.Event
}

func (m *meddling) Open(t testing.TB, s adaptertest.Session) adaptertest.Instance {
	m.Elect(s.Epoch)
	link := m.Connect(s.Gate)
	var d, second adapters.Driver = link, m.Connect(s.Gate)
	if m.driver != nil {
		d, second = m.driver(d), m.driver(second)
	}
	c, err := adapters.New(d,
		adapters.Options{Epoch: s.Epoch, Now: m.world.Cluster.Now, StartTimeout: s.StartTimeout, LearntUntil: s.LearntUntil})
	require.NoError(t, err)
	i := adaptertest.Instance{Cluster: c, Driver: second, Close: link.Close}
	if m.events != nil {
		i.Cluster = &telling{c, m.events}
	}
	return i
}

// telling is a cluster that tells other things.
type telling struct {
	sched.Cluster
	change func([]sched.Event) []sched.Event
}

func (c *telling) Events(ctx context.Context) ([]sched.Event, error) {
	events, err := c.Cluster.Events(ctx)
	return c.change(events), err
}

// bad is a driver of which something is replaced.
type bad struct {
	adapters.Driver
	view  func(*adapters.View)
	start func(adapters.Driver, *adapters.Start) error
	stop  func(adapters.Driver, *adapters.Stop) error
	note  func(adapters.Explainer, *adapters.Note) error
}

func (b *bad) Observe(ctx context.Context, relist bool) (*adapters.View, error) {
	v, err := b.Driver.Observe(ctx, relist)
	if err == nil && b.view != nil {
		b.view(v)
	}
	return v, err
}

func (b *bad) Start(ctx context.Context, s *adapters.Start) error {
	if b.start != nil {
		return b.start(b.Driver, s)
	}
	return b.Driver.Start(ctx, s)
}

func (b *bad) Stop(ctx context.Context, s *adapters.Stop) error {
	if b.stop != nil {
		return b.stop(b.Driver, s)
	}
	return b.Driver.Stop(ctx, s)
}

func (b *bad) Explain(ctx context.Context, n *adapters.Note) error {
	e := b.Driver.(adapters.Explainer)
	if b.note != nil {
		return b.note(e, n)
	}
	return e.Explain(ctx, n)
}

// newest is the job as it is now, whatever it was decided on.
func newest(d adapters.Driver, j *adapters.Job) *adapters.Job {
	v, err := d.Observe(context.Background(), true)
	if err != nil {
		return j
	}
	for i := range v.Jobs {
		if v.Jobs[i].Spec.ID == j.Spec.ID {
			return &v.Jobs[i]
		}
	}
	return j
}

func views(f func(*adapters.View)) func(adapters.Driver) adapters.Driver {
	return func(d adapters.Driver) adapters.Driver { return &bad{Driver: d, view: f} }
}

func eachEvent(f func(*sched.Event) bool) func([]sched.Event) []sched.Event {
	return func(events []sched.Event) []sched.Event {
		var out []sched.Event
		for _, e := range events {
			if f(&e) {
				out = append(out, e)
			}
		}
		return out
	}
}

// TestSuiteFindsBrokenAdapters makes sure that no case passes whatever the adapter does.
func TestSuiteFindsBrokenAdapters(t *testing.T) {
	const second = 2 // the epoch of a case's second instance
	ctx := context.Background()
	for _, tt := range []struct {
		name   string
		driver func(adapters.Driver) adapters.Driver
		events func([]sched.Event) []sched.Event
		caught []string // the cases that find it, by part of their names
	}{
		{name: "runtimes with the time in the queue", events: eachEvent(func(e *sched.Event) bool {
			e.Runtime += time.Second
			return true
		}), caught: []string{"its end is observed", "jobs wait", "restart learns", "finished while no"}},
		{name: "kept work is not told", driver: views(func(v *adapters.View) {
			for i := range v.Jobs {
				v.Jobs[i].Done = 1
			}
		}), caught: []string{"is kept"}},
		{name: "cordons are not told", driver: views(func(v *adapters.View) {
			for i := range v.Nodes {
				v.Nodes[i].Cordoned = false
			}
		}), caught: []string{"cordoned", "drained"}},
		{name: "work of others is not told", driver: views(func(v *adapters.View) {
			for i := range v.Nodes {
				v.Nodes[i].Foreign = nil
			}
		}), caught: []string{"work of others"}},
		{name: "labels are told once", driver: views(func(v *adapters.View) {
			for i := range v.Nodes {
				v.Nodes[i].Labels = nil
			}
		}), caught: []string{"labels"}},
		{name: "room is free as soon as the stop was asked for", driver: views(func(v *adapters.View) {
			for i := range v.Jobs {
				var tasks []adapters.Task
				for _, k := range v.Jobs[i].Tasks {
					if k.State != adapters.Stopping {
						tasks = append(tasks, k)
					}
				}
				v.Jobs[i].Tasks = tasks
			}
		}), caught: []string{"before its job has stopped", "while it stops"}},
		{name: "versions are not compared", driver: func(d adapters.Driver) adapters.Driver {
			return &bad{Driver: d,
				start: func(d adapters.Driver, s *adapters.Start) error {
					c := *s
					c.Job = newest(d, s.Job)
					return d.Start(ctx, &c)
				},
				stop: func(d adapters.Driver, s *adapters.Stop) error {
					c := *s
					c.Job = newest(d, s.Job)
					return d.Stop(ctx, &c)
				}}
		}, caught: []string{"stale"}},
		{name: "stops of old epochs", driver: func(d adapters.Driver) adapters.Driver {
			return &bad{Driver: d, stop: func(d adapters.Driver, s *adapters.Stop) error {
				c := *s
				c.Epoch = max(c.Epoch, second)
				return d.Stop(ctx, &c)
			}}
		}, caught: []string{"actions of an epoch that is over"}},
		{name: "starts of old epochs", driver: func(d adapters.Driver) adapters.Driver {
			return &bad{Driver: d, start: func(d adapters.Driver, s *adapters.Start) error {
				c := *s
				c.Epoch = max(c.Epoch, second)
				return d.Start(ctx, &c)
			}}
		}, caught: []string{"actions of an epoch that is over"}},
		{name: "notes of old epochs", driver: func(d adapters.Driver) adapters.Driver {
			return &bad{Driver: d, note: func(e adapters.Explainer, n *adapters.Note) error {
				c := *n
				c.Epoch = max(c.Epoch, second)
				return e.Explain(ctx, &c)
			}}
		}, caught: []string{"notes of an epoch that is over"}},
		{name: "starts on other nodes", driver: func(d adapters.Driver) adapters.Driver {
			return &bad{Driver: d, start: func(d adapters.Driver, s *adapters.Start) error {
				c := *s
				c.Nodes = []sched.NodeTasks{{Node: "n0", Tasks: s.Job.Spec.Tasks}}
				return d.Start(ctx, &c)
			}}
		}, caught: []string{"where it was planned", "jobs wait", "is added"}},
		{name: "starts are asked for twice", driver: func(d adapters.Driver) adapters.Driver {
			return &bad{Driver: d, start: func(d adapters.Driver, s *adapters.Start) error {
				_ = d.Start(ctx, s)
				return d.Start(ctx, s)
			}}
		}, caught: []string{"stale"}},
		{name: "ends are not told", events: eachEvent(func(e *sched.Event) bool { return e.Kind != sched.Finished }),
			caught: []string{"its end is observed", "jobs wait"}},
		{name: "withdrawals are not told", events: eachEvent(func(e *sched.Event) bool { return e.Kind != sched.Withdrawn }),
			caught: []string{"handed in again unchanged"}},
		{name: "nodes that are lost are not told", events: eachEvent(func(e *sched.Event) bool {
			return e.Kind != sched.NodeDown
		}),
			caught: []string{"runs elsewhere"}},
		{name: "starts are told twice", events: func(events []sched.Event) []sched.Event { return append(events, events...) },
			caught: []string{"its end is observed"}},
		{name: "stops do nothing", driver: func(d adapters.Driver) adapters.Driver {
			return &bad{Driver: d, stop: func(adapters.Driver, *adapters.Stop) error { return nil }}
		}, caught: []string{"preempted job", "rolled back", "tried again", "runs elsewhere"}},
		{name: "jobs are told as new after a restart", driver: views(func(v *adapters.View) {
			for i := range v.Jobs {
				if v.Full {
					v.Jobs[i].Tasks = nil
				}
			}
		}), caught: []string{"finds what runs"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, part := range tt.caught {
				found := false
				for _, c := range adaptertest.Cases() {
					if !strings.Contains(c.Name, part) {
						continue
					}
					found = true
					said := failure(t, func(tb testing.TB) {
						c.Run(tb, func(tb testing.TB, s adaptertest.Shape) adaptertest.World {
							w := newWorld(tb, s, fake.Options{StartDelay: time.Second, StopDelay: time.Second, Expiry: 5 * time.Second})
							w.traits.Patience = 30 * time.Minute
							return &meddling{w, tt.driver, tt.events}
						})
					})
					assert.NotEmpty(t, said, "%s passes", c.Name)
				}
				require.True(t, found, "a case %q", part)
			}
		})
	}
}

// TestMeddlingWithNothingPasses shows that it is the meddling that is found.
func TestMeddlingWithNothingPasses(t *testing.T) {
	for _, c := range adaptertest.Cases() {
		assert.Empty(t, failure(t, func(tb testing.TB) {
			c.Run(tb, func(tb testing.TB, s adaptertest.Shape) adaptertest.World {
				return &meddling{
					world: newWorld(tb, s, fake.Options{StartDelay: time.Second, StopDelay: time.Second, Expiry: 5 * time.Second})}
			})
		}), c.Name)
	}
}
