package adapters_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
)

var background = context.Background()

// script is a driver with scripted views and answers.
type script struct {
	now     time.Time
	views   []*adapters.View
	relists []bool
	start   func(*adapters.Start) error
	stop    func(*adapters.Stop) error
	note    func(*adapters.Note) error
	calls   []string
	notes   []string
}

func (s *script) Observe(_ context.Context, relist bool) (*adapters.View, error) {
	s.relists = append(s.relists, relist)
	if len(s.views) == 0 {
		return nil, adapters.ErrUnavailable
	}
	v := s.views[0]
	s.views = s.views[1:]
	return v, nil
}

func (s *script) Start(_ context.Context, a *adapters.Start) error {
	s.calls = append(s.calls, fmt.Sprintf("start %s v%d %v epoch %d", a.Job.Spec.ID, a.Job.Version, a.Nodes, a.Epoch))
	if s.start != nil {
		return s.start(a)
	}
	return nil
}

func (s *script) Stop(_ context.Context, a *adapters.Stop) error {
	s.calls = append(s.calls, fmt.Sprintf("stop %s v%d %s epoch %d", a.Job.Spec.ID, a.Job.Version, a.Cause, a.Epoch))
	if s.stop != nil {
		return s.stop(a)
	}
	return nil
}

func (s *script) Explain(_ context.Context, n *adapters.Note) error {
	s.notes = append(s.notes, n.Job.Spec.ID+": "+n.String())
	if s.note != nil {
		return s.note(n)
	}
	return nil
}

func (s *script) cluster(t *testing.T, change ...func(*adapters.Options)) *adapters.Cluster {
	s.now = time.Unix(1000, 0)
	o := adapters.Options{Epoch: 3, Now: func() time.Time { return s.now }}
	for _, c := range change {
		c(&o)
	}
	c, err := adapters.New(s, o)
	require.NoError(t, err)
	return c
}

// all is a full view. some is a view of changes.
func all(version uint64, nodes []string, jobs ...adapters.Job) *adapters.View {
	v := &adapters.View{Version: version, Floor: version, Full: true, Jobs: jobs}
	for _, n := range nodes {
		v.Nodes = append(v.Nodes, adapters.Node{Node: sched.Node{Name: n, Capacity: sched.Resources{"node": 2}}, Version: 1})
	}
	return v
}

func some(version uint64, jobs ...adapters.Job) *adapters.View {
	return &adapters.View{Version: version, Jobs: jobs}
}

var specs = map[string]*sched.Job{}

// job is a version of a job with some tasks.
func job(id string, tasks int, version uint64, of ...adapters.Task) adapters.Job {
	key := fmt.Sprint(id, tasks)
	if specs[key] == nil {
		specs[key] = &sched.Job{ID: id, Tasks: tasks, Submitted: time.Unix(900, 0)}
	}
	return adapters.Job{Spec: specs[key], UID: "uid-" + id, Version: version, Revision: 1, Tasks: of}
}

func on(node string, state adapters.TaskState) adapters.Task {
	t := adapters.Task{Node: node, State: state}
	if state == adapters.Running || state == adapters.Finished {
		t.Started = time.Unix(950, 0)
	}
	if state == adapters.Finished {
		t.Ended = time.Unix(960, 0)
	}
	return t
}

func gone(j adapters.Job) adapters.Job {
	j.Gone = true
	return j
}

// told is a summary of what the loop is told.
func told(t *testing.T, c *adapters.Cluster) []string {
	t.Helper()
	events, err := c.Events(background)
	require.NoError(t, err)
	return outline(events)
}

func outline(events []sched.Event) (out []string) {
	for _, e := range events {
		s := e.Kind.String() + " " + e.ID
		if e.Node != nil {
			s += e.Node.Name
		}
		if e.Nodes != nil {
			s += fmt.Sprint(" ", e.Nodes)
		}
		out = append(out, s)
	}
	return out
}

func plan(ds ...sched.Decision) *sched.Plan { return &sched.Plan{Decisions: ds} }

func start(id string, nodes ...string) sched.Decision {
	d := sched.Decision{Kind: sched.Start, Job: id}
	for _, n := range nodes {
		d.Nodes = append(d.Nodes, sched.NodeTasks{Node: n, Tasks: 1})
	}
	return d
}

func preempt(id string) sched.Decision { return sched.Decision{Kind: sched.Preempt, Job: id} }

func TestNewRefuses(t *testing.T) {
	_, err := adapters.New(nil, adapters.Options{})
	require.ErrorIs(t, err, adapters.ErrOptions)
	_, err = adapters.New(&script{}, adapters.Options{Backoff: -1})
	require.ErrorIs(t, err, adapters.ErrOptions)
	assert.ErrorContains(t, err, "Backoff of -1ns")
}

func TestOldNewsIsIgnored(t *testing.T) {
	s := &script{views: []*adapters.View{
		all(10, []string{"n0"}, job("a", 1, 5), job("b", 1, 6)),
		some(14, job("a", 1, 14, on("n0", adapters.Running)), gone(job("b", 1, 12)),
			job("a", 1, 13, on("n0", adapters.Requested)), job("b", 1, 11)),
		some(15, job("a", 1, 14, on("n0", adapters.Running)), job("c", 1, 15), gone(job("x", 1, 3))),
		all(16, []string{"n0"}, job("a", 1, 14, on("n0", adapters.Running))),
		some(17, job("c", 1, 15), job("d", 1, 9), job("e", 1, 17)),
	}}
	c := s.cluster(t)
	assert.Equal(t, []string{"node-up n0", "submitted a", "submitted b"}, told(t, c))
	assert.Equal(t, []string{"withdrawn b", "started a [{n0 1}]"}, told(t, c),
		"what is older than what was told is ignored")
	assert.Equal(t, []string{"submitted c"}, told(t, c), "nothing is told twice")
	assert.Equal(t, []string{"withdrawn c"}, told(t, c), "what is not listed is gone")
	assert.Equal(t, []string{"submitted e"}, told(t, c), "and stays so, whatever is told late")
	assert.Equal(t, []bool{true, false, false, false, false}, s.relists)
}

func TestHandedInAgainBetweenTwoLooks(t *testing.T) {
	second := job("a", 1, 20)
	second.UID = "another"
	s := &script{views: []*adapters.View{
		all(10, []string{"n0"}, job("a", 1, 5, on("n0", adapters.Running))), some(20, second),
		some(21, gone(job("a", 1, 19))), some(22, job("a", 1, 18)),
	}}
	c := s.cluster(t)
	assert.Equal(t, []string{"node-up n0", "submitted a", "started a [{n0 1}]"}, told(t, c))
	assert.Equal(t, []string{"withdrawn a", "submitted a"}, told(t, c))
	assert.Empty(t, told(t, c), "the first one's end")
	assert.Empty(t, told(t, c), "the first one's life")
}

func TestHintsThatChange(t *testing.T) {
	better := job("a", 2, 7)
	better.Revision = 2
	wrong := better
	wrong.Version, wrong.Problem = 8, errors.New("deadline: -3")
	invalid := adapters.Job{Spec: &sched.Job{ID: "z"}, UID: "z", Version: 9}
	s := &script{views: []*adapters.View{all(5, nil, job("a", 1, 5)), some(7, better), some(8, wrong),
		some(9, wrong, invalid), some(10, better, job("a", 2, 10))}}
	c := s.cluster(t)
	assert.Equal(t, []string{"submitted a"}, told(t, c))
	assert.Equal(t, []string{"withdrawn a", "submitted a"}, told(t, c))
	assert.Equal(t, []string{"withdrawn a"}, told(t, c))
	assert.Empty(t, told(t, c))
	assert.Equal(t, []string{"a: deadline: -3", `z: sched: invalid job: job "z": Tasks = 0`}, s.notes, "each once")
	assert.Equal(t, []string{"submitted a"}, told(t, c))
}

// A start that fails is tried again after growing waits. A start that was never requested is tried again at once.
func TestBackoff(t *testing.T) {
	s := &script{views: []*adapters.View{all(5, []string{"n0"}, job("a", 1, 5))}}
	c := s.cluster(t, func(o *adapters.Options) { o.BackoffMax = 5 * time.Second })
	told(t, c)
	var waits []time.Duration
	for _, err := range []error{adapters.ErrRefused, adapters.ErrStale, adapters.ErrRefused, adapters.ErrRefused,
		adapters.ErrRefused, adapters.ErrRefused} {
		s.start = func(*adapters.Start) error { return fmt.Errorf("server: %w", err) }
		require.NoError(t, c.Apply(background, plan(start("a", "n0"))))
		s.views = []*adapters.View{all(5, []string{"n0"}, job("a", 1, 5))}
		events, failed := c.Events(background)
		require.NoError(t, failed)
		require.Equal(t, []string{"start-failed a"}, outline(events))
		require.ErrorIs(t, events[0].Err, err)
		wait := time.Duration(0)
		if nb := events[0].NotBefore; !nb.IsZero() {
			wait = nb.Sub(s.now)
		}
		waits = append(waits, wait)
	}
	assert.Equal(t, []time.Duration{time.Second, 0, 2 * time.Second, 4 * time.Second, 5 * time.Second, 5 * time.Second},
		waits)
	assert.True(t, s.relists[2], "what is stale is listed again")
	assert.False(t, s.relists[1])
}

// A start without an answer holds its room until its outcome is known, and is prevented from having an effect later.
func TestStartWithoutAnAnswer(t *testing.T) {
	nodes := []string{"n0", "n1"}
	lost := func(*adapters.Start) error { return context.DeadlineExceeded }
	setUp := func(t *testing.T) (*script, *adapters.Cluster) {
		s := &script{views: []*adapters.View{all(5, nodes, job("a", 1, 5))}, start: lost}
		c := s.cluster(t)
		told(t, c)
		require.NoError(t, c.Apply(background, plan(start("a", "n0"))))
		return s, c
	}
	t.Run("it took effect", func(t *testing.T) {
		s, c := setUp(t)
		s.views = []*adapters.View{all(7, nodes, job("a", 1, 7, on("n0", adapters.Requested))),
			some(8, job("a", 1, 8, on("n0", adapters.Running)))}
		assert.Empty(t, told(t, c), "just as planned")
		assert.Equal(t, []string{"started a [{n0 1}]"}, told(t, c))
		assert.Equal(t, []bool{true, true, false}, s.relists)
	})
	t.Run("it did not", func(t *testing.T) {
		s, c := setUp(t)
		s.views = []*adapters.View{all(5, nodes, job("a", 1, 5))}
		assert.Equal(t, []string{"start-failed a"}, told(t, c))
		assert.Equal(t, []string{"start a v5 [{n0 1}] epoch 3", "stop a v5 start-unanswered epoch 3"}, s.calls)
	})
	t.Run("it did when nobody looked", func(t *testing.T) {
		s, c := setUp(t)
		s.stop = func(*adapters.Stop) error { return adapters.ErrStale }
		s.views = []*adapters.View{all(5, nodes, job("a", 1, 5)), all(7, nodes, job("a", 1, 7, on("n0", adapters.Running)))}
		assert.Empty(t, told(t, c))
		assert.Equal(t, []string{"started a [{n0 1}]"}, told(t, c))
	})
	t.Run("the servers say nothing for long", func(t *testing.T) {
		s, c := setUp(t)
		s.stop = func(*adapters.Stop) error { return adapters.ErrUnavailable }
		for range 3 {
			s.views = []*adapters.View{all(5, nodes, job("a", 1, 5))}
			assert.Empty(t, told(t, c), "its room is held")
		}
		s.stop, s.now = nil, s.now.Add(time.Minute)
		s.views = []*adapters.View{all(5, nodes, job("a", 1, 5))}
		assert.Equal(t, []string{"start-failed a"}, told(t, c))
	})
	t.Run("it came and went", func(t *testing.T) {
		s, c := setUp(t)
		back := job("a", 1, 9)
		back.Attempt = 1
		s.views = []*adapters.View{all(9, nodes, back)}
		assert.Equal(t, []string{"start-failed a"}, told(t, c))
	})
}

// Starts wait for the jobs that they replace.
func TestStartsWaitForRoom(t *testing.T) {
	low := func(version uint64, state adapters.TaskState) adapters.Job {
		return job("low", 2, version, on("n0", state), on("n0", state))
	}
	setUp := func(t *testing.T) (*script, *adapters.Cluster) {
		s := &script{views: []*adapters.View{all(5, []string{"n0", "n1"}, low(5, adapters.Running), job("high", 1, 4),
			job("free", 1, 3))}}
		c := s.cluster(t)
		told(t, c)
		require.NoError(t, c.Apply(background, plan(preempt("low"), start("high", "n0"), start("free", "n1"))))
		require.Equal(t, []string{"stop low v5 preempted epoch 3", "start free v3 [{n1 1}] epoch 3"}, s.calls)
		s.calls = nil
		return s, c
	}
	t.Run("until it has stopped", func(t *testing.T) {
		s, c := setUp(t)
		s.views = []*adapters.View{some(6, low(6, adapters.Stopping)), some(7, job("low", 2, 7))}
		assert.Empty(t, told(t, c))
		assert.Empty(t, s.calls)
		assert.Equal(t, []string{"preempted low"}, told(t, c))
		assert.Equal(t, []string{"start high v4 [{n0 1}] epoch 3"}, s.calls)
	})
	t.Run("in vain", func(t *testing.T) {
		s, c := setUp(t)
		s.views = []*adapters.View{all(7, []string{"n0", "n1"}, low(5, adapters.Running), job("high", 1, 4),
			job("free", 1, 7, on("n1", adapters.Running)))}
		s.stop = func(*adapters.Stop) error { return adapters.ErrRefused }
		s.now = s.now.Add(time.Hour) // the stop was accepted and had no effect
		assert.Equal(t, []string{"started free [{n1 1}]", "start-failed high"}, told(t, c))
		assert.Equal(t, []string{"stop low v5 preempted epoch 3"}, s.calls, "told again")
	})
	t.Run("or is preempted itself", func(t *testing.T) {
		s, c := setUp(t)
		require.NoError(t, c.Apply(background, plan(preempt("high"))))
		assert.Empty(t, s.calls, "the cluster knew nothing of it")
		s.views = []*adapters.View{some(7, job("low", 2, 7))}
		assert.Equal(t, []string{"preempted high", "preempted low"}, told(t, c))
		assert.Empty(t, s.calls)
	})
	t.Run("or is withdrawn", func(t *testing.T) {
		s, c := setUp(t)
		s.views = []*adapters.View{some(8, gone(job("high", 1, 8)), job("low", 2, 7))}
		assert.Equal(t, []string{"withdrawn high", "preempted low"}, told(t, c))
		assert.Empty(t, s.calls)
	})
	t.Run("or is another job by then", func(t *testing.T) {
		for _, stopped := range []bool{false, true} {
			s, c := setUp(t)
			changed := job("high", 1, 6)
			changed.Revision = 2
			s.views = []*adapters.View{some(6, changed)}
			if stopped {
				s.views[0].Jobs = append(s.views[0].Jobs, job("low", 2, 6))
			}
			got := told(t, c)
			assert.Subset(t, got, []string{"start-failed high", "withdrawn high", "submitted high"})
			assert.Empty(t, s.calls, "it was not what the decision was about")
			s.views = []*adapters.View{some(7, job("low", 2, 7))}
			told(t, c)
			assert.Empty(t, s.calls)
			require.NoError(t, c.Apply(background, plan(start("high", "n0"))))
			assert.Equal(t, []string{"start high v6 [{n0 1}] epoch 3"}, s.calls, "decided on anew, and not punished")
		}
	})
	t.Run("or has a problem by then", func(t *testing.T) {
		s, c := setUp(t)
		odd := job("high", 1, 6)
		odd.Problem = errors.New("odd")
		s.views = []*adapters.View{some(6, odd), some(7, job("low", 2, 7))}
		assert.Equal(t, []string{"start-failed high", "withdrawn high"}, told(t, c))
		assert.Equal(t, []string{"preempted low"}, told(t, c))
		assert.Empty(t, s.calls)
		assert.Equal(t, []string{"high: odd"}, s.notes)
	})
	t.Run("and its node is gone", func(t *testing.T) {
		s, c := setUp(t)
		s.views = []*adapters.View{all(8, []string{"n1"}, job("low", 2, 7), job("high", 1, 4), job("free", 1, 3))}
		assert.Contains(t, told(t, c), "start-failed high")
		assert.Empty(t, s.calls)
	})
}

func TestPreemptionsThatFail(t *testing.T) {
	runs := job("a", 1, 5, on("n0", adapters.Running))
	for _, err := range []error{adapters.ErrStale, adapters.ErrRefused, adapters.ErrUnavailable} {
		s := &script{views: []*adapters.View{all(5, []string{"n0"}, runs)}, stop: func(*adapters.Stop) error { return err }}
		c := s.cluster(t)
		told(t, c)
		require.NoError(t, c.Apply(background, plan(preempt("a"), preempt("ghost"))))
		s.views = []*adapters.View{all(6, []string{"n0"}, runs)}
		assert.Equal(t, []string{"preempt-failed ghost", "preempt-failed a"}, told(t, c), "%v", err)
	}
}

func TestRestartFindsAllStates(t *testing.T) {
	over := job("over", 1, 1)
	over.Over = true
	unfit := job("unfit", 1, 1, on("n0", adapters.Running))
	unfit.Problem = errors.New("deadline: soon")
	short := job("short", 2, 1, on("n1", adapters.Requested))
	short.Short = true
	s := &script{views: []*adapters.View{all(9, []string{"n0"},
		job("waits", 1, 1), job("starts", 1, 1, on("n0", adapters.Requested)), job("runs", 1, 1, on("n0", adapters.Running)),
		job("stops", 1, 1, on("n0", adapters.Stopping)), short, job("lost", 1, 1, on("n9", adapters.Lost)),
		job("done", 1, 1, on("n0", adapters.Finished)), over, unfit, job("failed", 1, 1, on("n0", adapters.Failed)))}}
	c := s.cluster(t)
	assert.Equal(t, []string{"node-up n0", "submitted waits",
		"submitted starts", "started starts [{n0 1}]", "submitted runs", "started runs [{n0 1}]",
		"submitted stops", "stopping stops [{n0 1}]", "submitted short", "stopping short [{n1 1}]", "submitted lost",
		"stopping lost [{n9 1}]",
		"submitted done", "started done [{n0 1}]", "finished done", "submitted unfit", "started unfit [{n0 1}]"}, told(t, c))
	assert.Equal(t, []string{"stop short v1 gang-short epoch 3", "stop lost v1 node-lost epoch 3",
		"stop failed v1 task-failed epoch 3"}, s.calls)
	assert.Equal(t, time.Unix(960, 0), c.LearntUntil())

	s = &script{views: []*adapters.View{all(9, nil, job("done", 1, 1, on("n0", adapters.Finished)))}}
	c = s.cluster(t, func(o *adapters.Options) { o.LearntUntil = time.Unix(960, 0) })
	assert.Empty(t, told(t, c), "it was learnt before")
}

func TestFenced(t *testing.T) {
	s := &script{views: []*adapters.View{all(5, []string{"n0"}, job("a", 1, 5), job("b", 1, 5))},
		start: func(*adapters.Start) error { return adapters.ErrFenced }}
	c := s.cluster(t)
	told(t, c)
	require.NoError(t, c.Apply(background, plan(start("a", "n0"), start("b", "n0"))))
	assert.Len(t, s.calls, 1, "nothing more is tried")
	_, err := c.Events(background)
	require.ErrorIs(t, err, adapters.ErrFenced)
	require.ErrorIs(t, c.Apply(background, plan(start("a", "n0"))), adapters.ErrFenced)
	assert.Len(t, s.relists, 1)
}

// TestRestored: if a requested view is older than what was known, the cluster went back in time. A view that is merely
// late is ignored.
func TestRestored(t *testing.T) {
	node := func(version uint64) adapters.Node {
		return adapters.Node{Node: sched.Node{Name: "n0", Capacity: sched.Resources{"node": 2}}, Version: version}
	}
	full := func(version uint64, n adapters.Node, jobs ...adapters.Job) *adapters.View {
		return &adapters.View{Version: version, Full: true, Nodes: []adapters.Node{n}, Jobs: jobs}
	}
	another := job("a", 1, 4)
	another.UID = "another"
	for _, tt := range []struct {
		name  string
		view  *adapters.View
		wrong string
	}{
		{"the same again", full(9, node(5), job("a", 1, 6)), ""},
		{"without versions", full(0, node(0), job("a", 1, 0)), ""},
		{"the view is older", full(8, node(5), job("a", 1, 6)), "it is at version 8, and was at 9"},
		{"the node is older", full(9, node(4), job("a", 1, 6)), `node "n0" is of version 4, and was of 5`},
		{"the job is older", full(9, node(5), job("a", 1, 5)), `job "a" is of version 5, and was of 6`},
		{"another job of that name", full(9, node(5), another), ""},
	} {
		for _, asked := range []bool{true, false} {
			s := &script{views: []*adapters.View{full(9, node(5), job("a", 1, 6)), tt.view}}
			c := s.cluster(t)
			_, err := c.Events(background)
			require.NoError(t, err)
			if asked {
				s.now = s.now.Add(time.Hour) // a full view is due
			}
			_, err = c.Events(background)
			assert.Equal(t, []bool{true, asked}, s.relists)
			if !asked || tt.wrong == "" {
				assert.NoError(t, err, tt.name)
				continue
			}
			require.ErrorIs(t, err, adapters.ErrRestored, tt.name)
			require.ErrorContains(t, err, tt.wrong, tt.name)
			_, err = c.Events(background)
			require.ErrorIs(t, err, adapters.ErrRestored, "the term is over")
			require.ErrorIs(t, c.Apply(background, plan(start("a", "n0"))), adapters.ErrRestored)
			assert.Len(t, s.relists, 2)
			assert.Empty(t, s.calls)
		}
	}
}

func TestObserve(t *testing.T) {
	s := &script{}
	c := s.cluster(t)
	_, err := c.Events(background)
	require.ErrorIs(t, err, adapters.ErrUnavailable)
	s.views = []*adapters.View{some(1)}
	_, err = c.Events(background)
	require.ErrorContains(t, err, "told only changes")
	s.views = []*adapters.View{all(1, nil), all(1, nil)}
	told(t, c)
	s.now = s.now.Add(10 * time.Minute)
	told(t, c)
	assert.Equal(t, []bool{true, true, true, true}, s.relists, "the last to find out what was lost without a word")
}

func TestNodes(t *testing.T) {
	node := func(version uint64, change func(*adapters.Node)) *adapters.View {
		n := adapters.Node{Node: sched.Node{Name: "n0", Capacity: sched.Resources{"cpu": 8, "gpu": 1}}, Version: version}
		if change != nil {
			change(&n)
		}
		return &adapters.View{Version: version, Nodes: []adapters.Node{n}}
	}
	first := node(1, nil)
	first.Full = true
	s := &script{views: []*adapters.View{first}}
	c := s.cluster(t)
	told(t, c)
	look := func(v *adapters.View) []sched.Event {
		s.views = []*adapters.View{v}
		events, err := c.Events(background)
		require.NoError(t, err)
		return events
	}
	assert.Empty(t, look(node(2, nil)), "a heartbeat")
	e := look(node(3, func(n *adapters.Node) { n.Foreign = sched.Resources{"cpu": 3, "gpu": 2} }))
	require.Len(t, e, 1)
	assert.Equal(t, sched.Resources{"cpu": 5, "gpu": 0}, e[0].Node.Capacity)
	assert.Empty(t, look(node(2, nil)), "late")
	e = look(node(4, func(n *adapters.Node) { n.Cordoned = true }))
	assert.Equal(t, sched.Resources{"cpu": 0, "gpu": 0}, e[0].Node.Capacity)
	assert.Equal(t, []string{"node-down n0"}, outline(look(node(5, func(n *adapters.Node) { n.Gone = true }))))
	assert.Empty(t, look(node(4, nil)), "late")
	e = look(node(6, nil))
	assert.Equal(t, sched.Resources{"cpu": 8, "gpu": 1}, e[0].Node.Capacity)
}

// TestNoteOfWhatFitsNowhere: the user reads what the scheduler has understood.
func TestNoteOfWhatFitsNowhere(t *testing.T) {
	spec := &sched.Job{ID: "a", Tasks: 1000, Demand: sched.Resources{"memory": 1 << 30, "cpu": 0.5},
		Required: sched.NodesWith("rack", "mars")}
	for _, tt := range []struct {
		note adapters.Note
		want string
	}{
		{adapters.Note{Job: &adapters.Job{Spec: spec}, Reason: sched.Reason{Code: sched.ReasonNoFeasibleSet,
			Probability: -1}},
			"no set of nodes can hold the gang: it asks for 1000 tasks, each with cpu 0.5, memory 1073741824, on nodes with " +
				"rack=mars"},
		{adapters.Note{Job: &adapters.Job{Spec: &sched.Job{ID: "b", Tasks: 2}},
			Reason: sched.Reason{Code: sched.ReasonTooLarge, Set: "any", Probability: -1}},
			"larger than the nodes it may run on, which are any: it asks for 2 tasks, each with node 1"},
		{adapters.Note{Job: &adapters.Job{Spec: spec}, Reason: sched.Reason{Code: sched.ReasonWaiting, Probability: -1}},
			"waits"},
		{adapters.Note{Job: &adapters.Job{Spec: spec}, Reason: sched.Reason{Code: sched.ReasonTooLarge},
			Err: adapters.ErrIncomplete}, adapters.ErrIncomplete.Error()},
	} {
		assert.Equal(t, tt.want, tt.note.String())
	}
}

func TestNotes(t *testing.T) {
	views := func() []*adapters.View {
		return []*adapters.View{all(5, []string{"n0"}, job("a", 1, 5), job("b", 1, 5), job("c", 1, 5))}
	}
	s := &script{views: views()}
	c := s.cluster(t, func(o *adapters.Options) { o.Notes = 2 })
	waits := sched.Reason{Code: sched.ReasonWaiting, Probability: sched.UnknownProbability}
	late := sched.Reason{Code: sched.ReasonNoUtility, Value: 1}
	p := &sched.Plan{Decisions: []sched.Decision{{Job: "b", Reason: late}}, Rest: waits}
	told(t, c)
	require.NoError(t, c.Apply(background, p))
	assert.Equal(t, []string{"b: expected to be worth nothing by the time it is done; expected utility 1", "a: waits"},
		s.notes, "two a cycle")
	s.notes, s.views = nil, views()
	told(t, c)
	p.Decisions[0].Reason.Value = 2
	s.note = func(*adapters.Note) error { return adapters.ErrUnavailable }
	require.NoError(t, c.Apply(background, p))
	assert.Equal(t, []string{"c: waits"}, s.notes, "numbers alone make no other note")
	s.notes, s.views, s.note = nil, views(), nil
	told(t, c)
	require.NoError(t, c.Apply(background, p))
	require.NoError(t, c.Apply(background, p))
	assert.Equal(t, []string{"c: waits"}, s.notes, "tried again, and told once")
	s.notes, s.views = nil, views()
	told(t, c)
	s.note = func(*adapters.Note) error { return adapters.ErrFenced }
	p.Rest.Code = sched.ReasonTooLarge
	require.NoError(t, c.Apply(background, p))
	_, err := c.Events(background)
	require.ErrorIs(t, err, adapters.ErrFenced)
}

// TestNotesSayWhen: a note is written again when the words about the start have changed, and not before.
func TestNotesSayWhen(t *testing.T) {
	when := map[string]string{"a": "starts at 14:05"}
	views := func() []*adapters.View {
		return []*adapters.View{all(5, []string{"n0"}, job("a", 1, 5), job("b", 1, 5))}
	}
	s := &script{}
	c := s.cluster(t, func(o *adapters.Options) {
		o.When = func(job string) string { return when[job] }
		o.Why = func(job string) string { return "it is " + job }
	})
	p := &sched.Plan{Decisions: []sched.Decision{{Job: "a", Reason: sched.Reason{Code: sched.ReasonWaiting,
		Probability: sched.UnknownProbability}}},
		Rest: sched.Reason{Code: sched.ReasonWaiting, Probability: sched.UnknownProbability}}
	for _, step := range []struct {
		now  map[string]string
		want []string
	}{
		{when, []string{"a: waits; starts at 14:05; it is a", "b: waits; it is b"}},
		{when, nil},
		{map[string]string{"a": "starts at 14:05", "b": "starts at 15:00"}, []string{"b: waits; starts at 15:00; it is b"}},
		{map[string]string{"a": "starts at 14:30", "b": "starts at 15:00"}, []string{"a: waits; starts at 14:30; it is a"}},
		{map[string]string{"a": "starts at 14:30", "b": "starts at 15:00"}, nil},
	} {
		when, s.notes, s.views = step.now, nil, views()
		told(t, c)
		require.NoError(t, c.Apply(background, p))
		assert.ElementsMatch(t, step.want, s.notes)
	}
}

func TestTaskErrors(t *testing.T) {
	err := &adapters.TaskError{Job: "a", Node: "n0"}
	assert.EqualError(t, err, `adapters: job "a": a task failed on node "n0"`)
	err.Err = context.Canceled
	require.ErrorIs(t, err, context.Canceled)
	for s := adapters.Requested; s <= adapters.Lost; s++ {
		assert.NotEqual(t, "unknown", s.String())
	}
	assert.Equal(t, "unknown", adapters.TaskState(99).String())
}

// TestMadeWhileAllIsListed has jobs listed at version 10 and nodes at 15. Jobs created in between are reported later.
func TestMadeWhileAllIsListed(t *testing.T) {
	first := all(15, []string{"n0"}, job("a", 1, 5))
	first.Floor = 10
	s := &script{views: []*adapters.View{first, some(16, job("b", 1, 12), job("c", 1, 10), job("d", 1, 9))}}
	c := s.cluster(t)
	assert.Equal(t, []string{"node-up n0", "submitted a"}, told(t, c))
	assert.Equal(t, []string{"submitted b"}, told(t, c), "not what is older than the list")
}

// TestInvalidHintsHoldRoom: a running job holds its room whatever is wrong with its hints. It is not scheduled again
// once it waits.
func TestInvalidHintsHoldRoom(t *testing.T) {
	for _, spec := range []*sched.Job{{ID: "a", Tasks: 1, Speeds: sched.SpeedsOf(sched.Speed{Factor: 2})},
		{ID: "a", Tasks: 1, Deadline: -1}} {
		bad := func(version uint64, of ...adapters.Task) adapters.Job {
			j := job("a", 1, version, of...)
			j.Spec = spec
			return j
		}
		s := &script{views: []*adapters.View{all(5, []string{"n0"}, bad(5, on("n0", adapters.Running))), some(6, bad(6)),
			some(7, bad(7))}}
		c := s.cluster(t)
		events, err := c.Events(background)
		require.NoError(t, err)
		require.Len(t, events, 3)
		assert.Equal(t, []sched.EventKind{sched.NodeUp, sched.Submitted, sched.Started},
			[]sched.EventKind{events[0].Kind, events[1].Kind, events[2].Kind})
		require.NoError(t, events[1].Job.Validate())
		_, err = c.Events(background)
		require.NoError(t, err)
		events, err = c.Events(background)
		require.NoError(t, err)
		require.Len(t, events, 1)
		assert.Equal(t, sched.Withdrawn, events[0].Kind)
		assert.Equal(t, 1, c.Refused().Invalid)
	}
}

// TestGangsThatAreTooWide: their users are told, and the loop is not.
func TestGangsThatAreTooWide(t *testing.T) {
	s := &script{views: []*adapters.View{all(5, nil, job("a", 50_000_000, 5), job("b", adapters.MaxTasks+1, 5),
		job("c", adapters.MaxTasks, 5))}}
	assert.Equal(t, []string{"submitted c"}, told(t, s.cluster(t)))
	assert.Equal(t, []string{
		`a: adapters: the gang is too large: job "a" has 50000000 tasks, at most 1000 are scheduled`,
		`b: adapters: the gang is too large: job "b" has 1001 tasks, at most 1000 are scheduled`,
	}, s.notes)
}

// TestCallsThatAlwaysFail runs 120 cycles of a second with a job whose calls always fail. The cluster does not order it
// to stop, or request a full view, in every cycle. Once the calls work again, they are made within a minute.
func TestCallsThatAlwaysFail(t *testing.T) {
	broken := job("a", 2, 5, on("n0", adapters.Running), on("n0", adapters.Failed))
	runs := job("a", 1, 5, on("n0", adapters.Running))
	waits := job("a", 1, 5)
	for name, tt := range map[string]struct {
		job  adapters.Job
		plan *sched.Plan
	}{
		"a gang that must stop": {broken, plan()}, "a preemption": {runs, plan(preempt("a"))},
		"a start": {waits, plan(start("a", "n0"))},
	} {
		for _, err := range []error{adapters.ErrStale, adapters.ErrRefused, adapters.ErrUnavailable} {
			s := &script{start: func(*adapters.Start) error { return err }, stop: func(*adapters.Stop) error { return err }}
			c := s.cluster(t)
			cycle := func() {
				s.views, s.now = []*adapters.View{all(5, []string{"n0"}, tt.job)}, s.now.Add(time.Second)
				told(t, c)
				require.NoError(t, c.Apply(background, tt.plan))
			}
			for range 120 {
				cycle()
			}
			lists := 0
			for _, all := range s.relists {
				if all {
					lists++
				}
			}
			assert.Less(t, lists, 20, "%s, %v: full lists", name, err)
			if name != "a start" { // the loop delays starts that fail
				assert.Less(t, len(s.calls), 20, "%s, %v: orders", name, err)
			}
			assert.GreaterOrEqual(t, len(s.calls), 2, "%s, %v: it is tried again", name, err)
			made := len(s.calls)
			s.start, s.stop = nil, nil
			for range 60 {
				cycle()
			}
			assert.Greater(t, len(s.calls), made, "%s, %v: it works again", name, err)
		}
	}
}

func deferral() sched.Decision {
	return sched.Decision{Job: "a", Kind: sched.Defer, Reason: sched.Reason{Code: "no-room"}}
}

// A job that was started and waits again for the same reason gets the reason again, however short it ran.
func TestReasonsThatComeBack(t *testing.T) {
	for name, between := range map[string][]*adapters.View{
		"it ran":             {some(6, job("a", 1, 6, on("n0", adapters.Running))), some(7, job("a", 1, 7))},
		"it came and went":   {some(7, func() adapters.Job { j := job("a", 1, 7); j.Attempt = 1; return j }())},
		"another started it": {some(6, job("a", 1, 6, on("n0", adapters.Running))), some(7, job("a", 1, 7))},
	} {
		s := &script{views: []*adapters.View{all(5, []string{"n0"}, job("a", 1, 5))}}
		c := s.cluster(t)
		told(t, c)
		for range 2 {
			require.NoError(t, c.Apply(background, plan(deferral())))
		}
		require.Equal(t, []string{"a: no-room"}, s.notes, "%s: once", name)
		if name != "another started it" {
			require.NoError(t, c.Apply(background, plan(start("a", "n0"))))
		}
		for _, v := range between {
			s.views = []*adapters.View{v}
			told(t, c)
		}
		s.notes = nil
		for range 2 {
			require.NoError(t, c.Apply(background, plan(deferral())))
		}
		require.NotEmpty(t, s.notes, name)
		assert.Equal(t, "a: no-room", s.notes[len(s.notes)-1], name)
	}
}

// A refused start leaves the old reason on the job.
func TestReasonsOfStartsThatAreRefused(t *testing.T) {
	s := &script{views: []*adapters.View{all(5, []string{"n0"}, job("a", 1, 5))}, start: func(*adapters.Start) error {
		return adapters.ErrRefused
	}}
	c := s.cluster(t)
	told(t, c)
	for range 3 {
		s.views = []*adapters.View{some(5), some(5)}
		require.NoError(t, c.Apply(background, plan(start("a", "n0"))))
		told(t, c)
		told(t, c)
	}
	assert.Equal(t, []string{"a: " + adapters.ErrRefused.Error()}, s.notes)
}

// A note that names jobs is written again once the loop knows none of them any more, and not before.
func TestReasonsThatNameJobs(t *testing.T) {
	done := func(id string, version uint64) adapters.Job { return job(id, 1, version, on("n0", adapters.Finished)) }
	for _, rest := range []bool{false, true} {
		s := &script{views: []*adapters.View{all(5, []string{"n0"}, job("a", 1, 5), job("x", 1, 5), job("y", 1, 5))}}
		c := s.cluster(t)
		defers := func(ahead ...string) []string {
			r := sched.Reason{Code: sched.ReasonDeferred, Ahead: ahead, Probability: sched.UnknownProbability}
			p := &sched.Plan{Decisions: []sched.Decision{{Job: "a", Reason: r}}}
			if rest {
				p = &sched.Plan{Rest: r}
			}
			told(t, c)
			s.notes = nil
			require.NoError(t, c.Apply(background, p))
			return slices.DeleteFunc(s.notes, func(n string) bool { return n[0] != 'a' })
		}
		assert.Equal(t, []string{"a: deferred, behind x, y"}, defers("x", "y"))
		s.views = []*adapters.View{some(6, done("x", 6))}
		assert.Empty(t, defers("y"), "y is still ahead")
		s.views = []*adapters.View{some(7, done("y", 7))}
		assert.Equal(t, []string{"a: deferred"}, defers())
		s.views = []*adapters.View{some(8)}
		assert.Empty(t, defers("z"), "the same again")
	}
}

// A job that was withdrawn because of a problem is ahead of no other job.
func TestReasonsThatNameAJobWithAProblem(t *testing.T) {
	s := &script{views: []*adapters.View{all(5, []string{"n0"}, job("a", 1, 5), job("x", 1, 5))}}
	c := s.cluster(t)
	defers := func(ahead ...string) []string {
		told(t, c)
		s.notes = nil
		r := sched.Reason{Code: sched.ReasonDeferred, Ahead: ahead, Probability: sched.UnknownProbability}
		require.NoError(t, c.Apply(background, &sched.Plan{Decisions: []sched.Decision{{Job: "a", Reason: r}}}))
		return s.notes
	}
	assert.Equal(t, []string{"a: deferred, behind x"}, defers("x"))
	x := job("x", 1, 6)
	x.Problem = errors.New("bad")
	s.views = []*adapters.View{some(6, x)}
	assert.Equal(t, []string{"a: deferred"}, defers())
}

// A note is about one revision of the job. A new revision gets the same reason again.
func TestReasonsOfAnotherRevision(t *testing.T) {
	s := &script{views: []*adapters.View{all(5, []string{"n0"}, job("a", 1, 5))}}
	c := s.cluster(t)
	told(t, c)
	for range 2 {
		require.NoError(t, c.Apply(background, plan(deferral())))
	}
	require.Len(t, s.notes, 1)
	another := job("a", 1, 6)
	another.Revision = 7
	s.views = []*adapters.View{some(6, another)}
	told(t, c)
	for range 2 {
		require.NoError(t, c.Apply(background, plan(deferral())))
	}
	assert.Equal(t, []string{"a: no-room", "a: no-room"}, s.notes)
}

// Waiting jobs that the loop does not know are counted by their problems. If a job gets a problem, it leaves the loop
// with an error that says so.
func TestRefused(t *testing.T) {
	with := func(j adapters.Job, problem error) adapters.Job { j.Problem = problem; return j }
	short := fmt.Errorf("1 of 2: %w", adapters.ErrIncomplete)
	s := &script{views: []*adapters.View{all(5, []string{"n0"}, job("a", 1, 5), with(job("b", 1, 5), short),
		with(job("c", 1, 5), errors.New("deadline: -3")),
		with(job("d", 1, 5, on("n0", adapters.Running)), short),
		adapters.Job{Spec: &sched.Job{ID: "z"}, UID: "z", Version: 5})}}
	c := s.cluster(t)
	_, err := c.Events(background)
	require.NoError(t, err)
	assert.Equal(t, adapters.Refused{Incomplete: 1, Invalid: 2}, c.Refused())
	s.views = []*adapters.View{some(6, with(job("a", 1, 6), short), job("b", 1, 6))}
	events, err := c.Events(background)
	require.NoError(t, err)
	require.Len(t, events, 2)
	assert.Equal(t, "a", events[0].ID)
	require.ErrorIs(t, events[0].Err, adapters.ErrProblem)
	require.ErrorIs(t, events[0].Err, adapters.ErrIncomplete)
	assert.Equal(t, adapters.Refused{Incomplete: 1, Invalid: 2}, c.Refused())
}

// Notes that a driver could not write in the background are written again: reasons and problems.
func TestNotesThatAreLost(t *testing.T) {
	odd := job("b", 1, 5)
	odd.Problem = errors.New("deadline: -3")
	s := &script{views: []*adapters.View{all(5, []string{"n0"}, job("a", 1, 5), odd)}}
	c := s.cluster(t)
	told(t, c)
	require.NoError(t, c.Apply(background, plan(deferral())))
	require.Equal(t, []string{"b: deadline: -3", "a: no-room"}, s.notes)
	for n := range 3 {
		lost := some(5)
		if n == 1 {
			lost.Unsaid = []string{"a", "b", "ghost"}
		}
		s.views, s.notes = []*adapters.View{lost}, nil
		told(t, c)
		require.NoError(t, c.Apply(background, plan(deferral())))
		if n == 1 {
			assert.Equal(t, []string{"b: deadline: -3", "a: no-room"}, s.notes)
		} else {
			assert.Empty(t, s.notes, "look %d", n)
		}
	}
}

// refusing is a driver that may not read.
type refusing struct {
	*script
	err error
}

func (r *refusing) Observe(context.Context, bool) (*adapters.View, error) { return nil, r.err }

// The loop outlasts reads that are refused or fail otherwise. Only another leader, or a cluster that went back in time,
// ends it.
func TestReadsThatFail(t *testing.T) {
	for _, tt := range []struct{ err, want error }{
		{adapters.ErrUnavailable, adapters.ErrUnavailable}, {adapters.ErrRefused, adapters.ErrUnavailable},
		{errors.New("403"), adapters.ErrUnavailable}, {adapters.ErrFenced, adapters.ErrFenced},
		{adapters.ErrRestored, adapters.ErrRestored},
	} {
		c, err := adapters.New(&refusing{&script{}, tt.err}, adapters.Options{})
		require.NoError(t, err)
		_, err = c.Events(background)
		require.ErrorIs(t, err, tt.want)
		require.ErrorIs(t, err, tt.err, "what it was stays known")
		assert.Equal(t, !errors.Is(tt.want, adapters.ErrUnavailable), adapters.Unavailable(err) != nil, "%v ends the loop",
			tt.err)
	}
}

// If a start was accepted and then vanished, the error names no cause, since none is known.
func TestStartsThatVanish(t *testing.T) {
	s := &script{views: []*adapters.View{all(5, []string{"n0"}, job("a", 1, 5))}}
	c := s.cluster(t)
	told(t, c)
	require.NoError(t, c.Apply(background, plan(start("a", "n0"))))
	back := job("a", 1, 7)
	back.Attempt = 1
	s.views = []*adapters.View{some(7, back)}
	assert.Equal(t, []string{"start-failed a"}, told(t, c))
	assert.Equal(t, []string{`a: adapters: the start had no effect: job "a"`}, s.notes)
}
