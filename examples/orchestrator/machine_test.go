package main

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
)

// bench is a machine of two slots without a scheduler.
type bench struct {
	*machine
	t       *testing.T
	changes chan struct{}
}

func newBench(t *testing.T) *bench {
	history, err := predict.NewHistory(nil)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	b := &bench{newMachine(ctx, newStory(&strings.Builder{}, history), 2), t, make(chan struct{}, 100)}
	t.Cleanup(func() { cancel(); b.wait() })
	b.changed = func() { b.changes <- struct{}{} }
	b.events = nil // the nodes
	return b
}

func (b *bench) job(id, seconds string, tasks int) {
	b.submit(&sched.Job{ID: id, Tasks: tasks}, seconds)
	b.expect("submitted " + id)
}

func (b *bench) apply(decisions ...sched.Decision) {
	require.NoError(b.t, b.Apply(b.ctx, &sched.Plan{Decisions: decisions}))
}

// expect waits for as many events as it is given.
func (b *bench) expect(want ...string) {
	b.t.Helper()
	names := map[sched.EventKind]string{sched.Submitted: "submitted ", sched.Started: "started ",
		sched.StartFailed: "failed ",
		sched.Preempted:   "preempted ", sched.Finished: "finished "}
	var got []string
	for len(got) < len(want) {
		select {
		case <-b.changes:
		case <-b.ctx.Done():
			require.Fail(b.t, "no more events", "%v", got)
		}
		events, err := b.Events(b.ctx)
		require.NoError(b.t, err)
		for _, e := range events {
			assert.Equal(b.t, e.Kind == sched.StartFailed, e.Err != nil && e.NotBefore.After(e.Time), "%v", e)
			got = append(got, names[e.Kind]+e.ID)
		}
	}
	assert.Equal(b.t, want, got)
}

func start(id string, slots ...string) sched.Decision {
	d := sched.Decision{Kind: sched.Start, Job: id}
	for _, s := range slots {
		d.Nodes = append(d.Nodes, sched.NodeTasks{Node: s, Tasks: 1})
	}
	return d
}

func preempt(id string) sched.Decision { return sched.Decision{Kind: sched.Preempt, Job: id} }

func TestAStartWaitsUntilItsVictimsHaveStopped(t *testing.T) {
	b := newBench(t)
	b.job("a", "50", 2)
	b.job("b", "0", 1)
	b.apply(start("a", "slot-0", "slot-1"))
	b.expect("started a")
	b.apply(preempt("a"), start("b", "slot-1"))
	b.expect("preempted a", "started b", "finished b")
	assert.Equal(t, 1, b.finished(1))
}

func TestAStartThatWaitsCanBePreempted(t *testing.T) {
	b := newBench(t)
	b.job("a", "50", 1)
	b.job("b", "0", 1)
	b.apply(start("a", "slot-0"))
	b.expect("started a")
	b.apply(start("b", "slot-0"), preempt("b"))
	b.expect("preempted b")
	b.apply(preempt("a"), start("b", "slot-0"))
	b.expect("preempted a", "started b", "finished b")
	b.apply(preempt("b")) // as a scheduler may that has not heard of its end
}

// The second process cannot be started: the first is killed, and no trace of it is left in the next start.
func TestHalfAStartFails(t *testing.T) {
	b := newBench(t)
	calls := 0
	b.command = func(ctx context.Context, seconds string) *exec.Cmd {
		if calls++; calls == 2 {
			return exec.CommandContext(ctx, "/no/such/program")
		}
		return sleep(ctx, seconds)
	}
	b.job("a", "0.2", 2)
	b.apply(start("a", "slot-0", "slot-1"))
	b.expect("failed a")
	b.apply(start("a", "slot-0", "slot-1"))
	b.expect("started a", "finished a")
	assert.Equal(t, 4, calls)
}

func TestNothingStarts(t *testing.T) {
	b := newBench(t)
	b.command = func(ctx context.Context, _ string) *exec.Cmd { return exec.CommandContext(ctx, "/no/such/program") }
	b.job("a", "0", 1)
	b.apply(start("a", "slot-0"))
	b.expect("failed a")
	assert.Empty(t, b.runs)
	assert.Empty(t, b.busy)
}
