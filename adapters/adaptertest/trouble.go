package adaptertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
)

func failureCases() []Case {
	return []Case{
		{Name: "a gang that cannot start whole is rolled back", Needs: []Ability{FailStarts}, run: rollBack},
		{Name: "a gang that does not come up is rolled back", Needs: []Ability{Hang, Restart}, run: hanging},
		{Name: "a run that fails is tried again", Needs: []Ability{FailRuns}, run: func(h *host) {
			id := h.submit("a", 3, 2, func(j *Job) { j.FailRuns = 1 })
			h.allFinish()
			h.allLearn()
			assert.Len(h, h.of(id), 6, "two attempts")
		}},
		{Name: "hints that make no sense", Needs: []Ability{Malformed, Explain}, run: func(h *host) {
			id := h.submit("a", 1, 1, func(j *Job) { j.Malformed = true })
			ok := h.submit("b", 1, 1)
			h.until("b finishes and the user of a is told", func() bool { return h.finished(ok) && len(h.Notes(h, id)) > 0 })
			h.cycles(3)
			assert.Empty(h, h.of(id))
			assert.Len(h, h.Notes(h, id), 1, "told once")
		}},
		{Name: "jobs that no node can hold", Needs: []Ability{Unplaceable}, run: impossible},
	}
}

func rollBack(h *host) {
	id := h.submit("a", 3, 2, func(j *Job) { j.FailStarts = 2 })
	other := h.submit("b", 1, 1)
	h.allFinish()
	h.allLearn()
	assert.Len(h, h.of(other), 1)
	for attempt, n := 1, 0; attempt <= 3; attempt++ {
		for _, r := range h.of(id) {
			if r.Attempt == attempt && r.State == adapters.Finished {
				n++
			}
		}
		assert.Equal(h, attempt == 3, n == 3, "attempt %d", attempt)
	}
	failures := 0
	for _, e := range h.first.failed {
		if e.Kind == sched.StartFailed && e.ID == id && e.Err != nil && e.NotBefore.After(e.Time) {
			failures++
		}
	}
	assert.GreaterOrEqual(h, failures, 2, "starts that were asked for and failed are not tried again at once")
}

func hanging(h *host) {
	h.first.close()
	h.first = h.open(Session{StartTimeout: min(h.traits.Patience/16, 2*h.traits.Unit)})
	id := h.submit("a", 4, 1, func(j *Job) { j.Hang = 1 })
	h.until("a is placed", func() bool { return len(h.of(id)) > 0 })
	other := h.submit("b", 2, 1)
	h.until("a is rolled back", func() bool {
		tried := h.of(id)
		return len(tried) >= 4 && count(tried[:4], adapters.Requested, adapters.Running) == 0
	})
	h.restart(Session{}) // where starts are slow, others might take as long without hanging
	h.allFinish()
	h.allLearn()
	assert.Greater(h, len(h.of(id)), 4, "two attempts")
	assert.Equal(h, 2, count(h.of(other), adapters.Finished))
}

func impossible(h *host) {
	wide := h.submit("wide", 5, 1)
	nowhere := h.submit("nowhere", 1, 1, func(j *Job) { j.Spec.Required = sched.NodesWith("no-such-label") })
	ok := h.submit("b", 2, 1)
	h.until("b finishes", func() bool { return h.finished(ok) })
	assert.Empty(h, h.of(wide))
	assert.Empty(h, h.of(nowhere))
	if _, lacks := h.traits.Missing[Explain]; lacks {
		return
	}
	told := func(id string, words ...string) bool {
		notes := h.Notes(h, id)
		return len(notes) > 0 && !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(notes[len(notes)-1], w) })
	}
	obstacles := func() bool {
		return told(wide, "5", "even if nothing else") && told(nowhere, "no-such-label")
	}
	h.until("the users are told what is in the way", obstacles)
	h.submit("c", 2, 1)
	h.submit("d", 2, 1)
	for range 3 { // there is nothing else to say, whatever else waits and runs
		h.cycles(1)
		assert.True(h, obstacles(), "%q, %q", h.Notes(h, wide), h.Notes(h, nowhere))
		for _, id := range []string{wide, nowhere} {
			assert.NotNil(h, h.first.reasons[id].Obstacle, "%s: %s", id, h.first.reasons[id])
		}
	}
}

func connectionCases() []Case {
	return []Case{
		{Name: "events are lost, doubled and reordered", Needs: []Ability{Garble, Clear}, Shape: Shape{Nodes: 3}, run: func(h *host) {
			h.do(Deed{Do: Garble})
			for i := range 12 {
				h.submit(fmt.Sprint("j", i), 1+i%4, 1+float64(i%3), priority(i%3))
				h.cycles(1)
			}
			h.cycles(10)
			h.do(Deed{Do: Clear})
			h.allFinish()
			h.allLearn()
		}},
		{Name: "the watch breaks", Needs: []Ability{BreakWatch}, run: func(h *host) {
			a := h.submit("a", 2, 2)
			h.until("a runs", func() bool { return h.up(a) })
			h.do(Deed{Do: BreakWatch})
			h.submit("b", 3, 1)
			h.cycles(1)
			h.do(Deed{Do: BreakWatch})
			h.allFinish()
			h.allLearn()
		}},
		{Name: "the server is gone for a while", Needs: []Ability{StopServer, StartServer}, run: func(h *host) {
			short, long := h.submit("short", 2, 2), h.submit("long", 2, 8)
			h.until("both run", func() bool { return h.up(short) && h.up(long) })
			h.do(Deed{Do: StopServer})
			if d := h.first.instance.Driver; d != nil {
				_, err := d.Observe(context.Background(), true)
				assert.ErrorIs(h, err, adapters.ErrUnavailable, "it cannot have told all there is")
			}
			for end := h.Now().Add(3 * h.traits.Unit); h.Now().Before(end); {
				h.cycles(1)
			}
			h.do(Deed{Do: StartServer})
			h.submit("after", 4, 1)
			h.allFinish()
			h.allLearn()
			assert.Len(h, h.of(short), 2, "what ran went on")
			assert.Len(h, h.of(long), 2, "what ran went on")
		}},
		{Name: "stale actions are refused", Needs: []Ability{Drive}, run: stale},
		{Name: "actions of an epoch that is over are refused", Needs: []Ability{Drive, Fence}, run: fencing},
		{Name: "notes of an epoch that is over are refused", Needs: []Ability{Drive, Fence, Explain, FenceNotes}, run: fencedNotes},
	}
}

// observed is a job as a driver tells of it.
func (h *host) observed(d adapters.Driver, id string) *adapters.Job {
	h.Helper()
	var found *adapters.Job
	h.untilBy("the driver tells of job "+id, func() bool {
		v, err := d.Observe(context.Background(), true)
		if errors.Is(err, adapters.ErrUnavailable) {
			return false
		}
		require.NoError(h, err)
		for i := range v.Jobs {
			if v.Jobs[i].Spec != nil && v.Jobs[i].Spec.ID == id {
				found = &v.Jobs[i]
			}
		}
		return found != nil
	}, func() {})
	return found
}

func stale(h *host) {
	d := h.first.instance.Driver
	ctx := context.Background()
	id := h.submit("a", 2, 2)
	var before *adapters.Job
	var start *adapters.Start
	h.untilBy("the start is accepted", func() bool { // a cluster may still be at making it
		before = h.observed(d, id)
		start = &adapters.Start{Job: before, Nodes: []sched.NodeTasks{{Node: h.traits.Nodes[0], Tasks: 2}}, Epoch: h.epochs}
		err := d.Start(ctx, start)
		require.True(h, err == nil || errors.Is(err, adapters.ErrStale), "%v", err)
		return err == nil
	}, func() {})
	require.ErrorIs(h, d.Start(ctx, start), adapters.ErrStale, "it was asked for already")
	h.untilBy("it has a place", func() bool { return len(h.of(id)) == 2 }, func() {})
	require.ErrorIs(h, d.Start(ctx, start), adapters.ErrStale, "it has a place")
	require.ErrorIs(h, d.Stop(ctx, &adapters.Stop{Job: before, Epoch: h.epochs, Cause: adapters.CausePreempted}), adapters.ErrStale,
		"when that was decided, it did not run")
	h.allFinish()
	assert.Len(h, h.of(id), 2, "it ran once")
	require.ErrorIs(h, d.Start(ctx, start), adapters.ErrStale, "it has finished")
	if _, lacks := h.traits.Missing[Withdraw]; lacks {
		return
	}
	h.withdraw(id)
	h.cycles(2)
	h.hand(h.jobs[id].Job)
	h.observed(d, id)
	require.ErrorIs(h, d.Start(ctx, start), adapters.ErrStale, "that was another job of the same name")
	h.until("it runs again", func() bool { return len(h.of(id)) == 4 })
}

func fencing(h *host) {
	ctx := context.Background()
	runs := h.submit("a", 2, 2)
	old := h.first
	next := h.open(Session{})
	h.untilBy("the new leader starts it", func() bool { return len(h.of(runs)) == 2 }, next.step)
	waits := h.submit("b", 1, 1) // there is room for it
	d := old.instance.Driver
	start := &adapters.Start{Job: h.observed(d, waits), Nodes: []sched.NodeTasks{{Node: h.traits.Nodes[1], Tasks: 1}}, Epoch: old.Epoch}
	require.ErrorIs(h, d.Start(ctx, start), adapters.ErrFenced)
	require.ErrorIs(h, d.Stop(ctx, &adapters.Stop{Job: h.observed(d, runs), Epoch: old.Epoch, Cause: adapters.CausePreempted}), adapters.ErrFenced)
	assert.Empty(h, h.of(waits), "it was refused")
	h.first = next
	h.allFinish()
	assert.Len(h, h.of(runs), 2, "it ran once")
	assert.Len(h, h.of(waits), 1, "it ran once")
}

func fencedNotes(h *host) {
	id := h.submit("a", 2, 1)
	old := h.first
	next := h.open(Session{})
	e, ok := old.instance.Driver.(adapters.Explainer)
	require.True(h, ok, "there are notes, which the driver cannot write")
	n := &adapters.Note{Job: h.observed(old.instance.Driver, id), Epoch: old.Epoch, Reason: sched.Reason{Code: sched.ReasonDeferred, Probability: sched.UnknownProbability}}
	require.ErrorIs(h, e.Explain(context.Background(), n), adapters.ErrFenced)
	assert.Empty(h, h.Notes(h, id))
	h.first = next
	h.allFinish()
}

func schedulerCases() []Case {
	return []Case{
		{Name: "a restart finds what runs", Needs: []Ability{Restart}, run: restarted},
		{Name: "a restart learns nothing twice", Needs: []Ability{Restart}, run: func(h *host) {
			id := h.submit("a", 2, 1)
			h.allFinish()
			h.allLearn()
			h.cycles(2)
			h.restart(Session{LearntUntil: h.Now()})
			h.cycles(2)
			assert.Len(h, h.first.learnt[id], 1)
			b := h.submit("b", 1, 1)
			h.allFinish()
			h.allLearn()
			assert.Len(h, h.first.learnt[b], 1)
		}},
		{Name: "what finished while no scheduler ran is learnt", Needs: []Ability{Restart}, run: func(h *host) {
			id := h.submit("a", 2, 2)
			h.until("it has a place", func() bool { return len(h.of(id)) == 2 })
			h.first.close()
			h.untilBy("it finishes", func() bool { return h.finished(id) }, func() {})
			h.restart(Session{})
			h.allLearn()
		}},
		{Name: "two instances at once", Needs: []Ability{Restart, Fence}, Shape: Shape{Nodes: 3}, run: twins},
	}
}

func restarted(h *host) {
	running, waiting := h.submit("a", 3, forever), h.submit("b", 4, 1)
	h.until("a runs", func() bool { return h.up(running) })
	h.restart(Session{})
	h.until("the new loop knows what runs and what waits", func() bool { return h.first.known(running) && h.first.waits(waiting) })
	for _, r := range h.first.shown.Running {
		if r.Job.ID != running {
			continue
		}
		records := h.of(running)
		assert.Equal(h, placedOn(records, records[0].Attempt), planned(r.Nodes), "its nodes")
		since := records[0].Started
		for _, k := range records {
			if k.Started.After(since) {
				since = k.Started
			}
		}
		assert.LessOrEqual(h, r.Started.Sub(since).Abs(), h.traits.Exact, "since when: told %v, recorded %v", r.Started, since)
	}
	assert.Len(h, h.of(running), 3, "it ran once")
	h.end(running)
	h.allLearn()
}

// twins has two instances work at once, of which the second leads by its epoch.
func twins(h *host) {
	other := h.open(Session{})
	for i := range 10 {
		h.submit(fmt.Sprint("j", i), 1+i%4, 1, priority(i%2))
	}
	both := func() {
		h.first.step()
		other.step()
	}
	h.untilBy("all jobs finish", h.allDone, both)
	h.judge()
	assert.Positive(h, len(other.starts), "the leader works")
}

// crashes runs a plan's application, and lets the scheduler die before and after every call that it makes. Where calls depend on the servers' pace, one run may make
// fewer than another, so that the last are not reached; but most must be.
func crashes(t *testing.T, make Maker, side bool) {
	s := Shape{}.filled()
	w := make(t, s)
	traits := w.Traits()
	can(t, &traits, []Ability{Crash, Restart, Preemption})
	calls, _ := crashAt(t, w, s, 0, false)
	require.Greater(t, calls, 3, "calls to crash at")
	var tried, crashed atomic.Int64
	t.Cleanup(func() { // when the subtests have ended, side by side as they may be
		assert.GreaterOrEqual(t, 2*crashed.Load(), tried.Load(), "%d of %d schedulers died where they should", crashed.Load(), tried.Load())
	})
	for n := 1; n <= calls; n++ {
		if testing.Short() && !side && n%3 != 1 {
			continue // each is a World of its own, which takes seconds where they come one after the other
		}
		for _, done := range []bool{false, true} {
			t.Run(fmt.Sprintf("call %d, done %v", n, done), func(t *testing.T) {
				if side {
					t.Parallel()
				}
				tried.Add(1)
				if _, died := crashAt(t, make(t, s), s, n, done); died {
					crashed.Add(1)
				}
			})
		}
	}
}

// crashAt has the scheduler die at its n-th call and another take over. It returns how many calls the first has made, and whether it died.
func crashAt(t testing.TB, w World, s Shape, n int, after bool) (calls int, died bool) {
	h := &host{TB: t, World: w, traits: w.Traits(), shape: s, jobs: map[string]*handed{}}
	var first *scheduler
	first = h.open(Session{Gate: func(_ string, done bool) error {
		if first.dead {
			return errDead
		}
		if !done {
			calls++
		}
		if calls == n && done == after {
			first.dead = true
			return errDead
		}
		return nil
	}})
	h.first = first
	low := h.submit("low", 3, 4)
	h.untilBy("low has a place", func() bool { return len(h.of(low)) >= 3 }, h.stepOrReplace)
	h.submit("high", 4, 1, priority(1))
	h.submit("next", 2, 1)
	h.untilBy("all jobs finish", h.allDone, h.stepOrReplace)
	h.allFinish()
	return calls, first.dead
}

// stepOrReplace steps the first instance, and opens another where it is dead.
func (h *host) stepOrReplace() {
	if h.first.dead {
		h.restart(Session{})
	}
	h.first.step()
}
