package adapters

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFenceAsks: an answer is never older than its question. Those who wait for a question share the next one.
func TestFenceAsks(t *testing.T) {
	var now, reads atomic.Uint64
	begun, goOn := make(chan struct{}), make(chan struct{})
	f := NewFence(func(context.Context) (Leader, error) {
		if reads.Add(1) == 1 {
			close(begun)
			<-goOn
			return Leader{}, nil
		}
		return Leader{Epoch: now.Load()}, nil
	}, 0, nil)
	var all sync.WaitGroup
	all.Go(func() {
		got, err := f.ask(t.Context())
		assert.NoError(t, err)
		assert.Zero(t, got.Leader)
	})
	<-begun
	now.Store(7) // the pending question may not see this
	const many = 20
	for range many {
		all.Go(func() { assert.NoError(t, f.Check(t.Context(), 7)) })
	}
	close(goOn)
	all.Wait()
	assert.LessOrEqual(t, reads.Load(), uint64(many+1))
	assert.Greater(t, reads.Load(), uint64(1))
}

// TestFenceAsksTogether: those who ask while a question is pending share one answer or error.
func TestFenceAsksTogether(t *testing.T) {
	wrong := errors.New("wrong")
	var reads atomic.Uint64
	f := NewFence(func(context.Context) (Leader, error) {
		reads.Add(1)
		return Leader{}, wrong
	}, 0, nil)
	f.turn.Lock() // a question is pending
	var all sync.WaitGroup
	all.Go(func() { assert.ErrorIs(t, f.Ask(t.Context(), 1), wrong) })
	for f.waits() == nil { // until the next one waits for its turn
		runtime.Gosched()
	}
	next := f.waits()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, f.Ask(gone, 1), ErrUnavailable)
	assert.Same(t, next, f.waits(), "it would have had the same")
	f.turn.Unlock()
	all.Wait()
	assert.EqualValues(t, 1, reads.Load())
}

func (f *Fence) waits() *question {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.next
}

// office is a lease that a fence reads.
type office struct {
	leader Leader
	err    error
	now    time.Time
	reads  int
}

func (o *office) fence(believe time.Duration) *Fence {
	return NewFence(func(context.Context) (Leader, error) {
		o.reads++
		return o.leader, o.err
	}, believe, func() time.Time { return o.now })
}

// TestFenceBelieves: an answer is trusted for a while, for its epoch, until a refusal.
func TestFenceBelieves(t *testing.T) {
	began := time.Now()
	o := &office{leader: Leader{4, "a"}, now: began}
	f := o.fence(time.Hour)
	believes := func(epoch uint64, after time.Duration) bool {
		o.now = began.Add(after)
		return f.believes(epoch)
	}
	assert.False(t, believes(4, 0), "nothing is known")
	assert.False(t, believes(0, 0))
	require.NoError(t, f.Check(t.Context(), 4))
	assert.True(t, believes(4, time.Hour-1))
	require.NoError(t, f.Check(t.Context(), 4))
	assert.Equal(t, 1, o.reads)
	assert.False(t, believes(5, time.Minute))
	assert.False(t, believes(4, time.Hour))
	assert.False(t, believes(4, -1), "the clock was set back")
	o.now = began.Add(time.Hour)
	require.NoError(t, f.Check(t.Context(), 4))
	assert.Equal(t, 2, o.reads, "it was too long ago")
	began = o.now

	early, err := f.ask(t.Context()) // its answer is handled late
	require.NoError(t, err)
	o.err = fmt.Errorf("%w: there is no lease", ErrFenced)
	require.ErrorIs(t, f.Ask(t.Context(), 4), ErrFenced, "what is asked is asked anew")
	assert.False(t, believes(4, 0), "a lease that is no more is a refusal")
	f.learn(early, nil)
	assert.False(t, believes(4, 0), "it is older than the refusal")
	o.leader, o.err = Leader{5, "b"}, nil
	require.ErrorIs(t, f.Check(t.Context(), 4), ErrFenced)
	assert.False(t, believes(4, 0))
	assert.False(t, believes(5, 0))
	require.NoError(t, f.Check(t.Context(), 5))
	assert.True(t, believes(5, time.Minute), "it is newer than the refusal")
	o.err = ErrUnavailable
	require.ErrorIs(t, f.Ask(t.Context(), 5), ErrUnavailable)
	assert.True(t, believes(5, time.Minute), "no answer is no refusal")
}

// TestWithin: an answer from before the machine slept is not trusted, although the steady clock stood still.
func TestWithin(t *testing.T) {
	for _, tt := range []struct {
		steady, day time.Duration
		want        bool
	}{
		{0, 0, true}, {59, 59, true}, {60, 60, false},
		{1, 60, false}, {60, 1, false}, // the machine was suspended; its time of day was set
		{1, -1, false}, {-1, 1, false},
	} {
		assert.Equal(t, tt.want, within(60, tt.steady, tt.day), "%v", tt)
	}
}

// TestFenceRefuses: the epoch must be the lease's, and the lease must be the one first seen with that epoch.
func TestFenceRefuses(t *testing.T) {
	for _, tt := range []struct {
		name  string
		seen  []Leader // in this order
		epoch uint64
		wants []bool
	}{
		{"the same", []Leader{{4, "a"}, {4, "a"}}, 4, []bool{true, true}},
		{"lower and higher", []Leader{{3, ""}, {5, ""}, {4, ""}}, 4, []bool{false, false, true}},
		{"another of that epoch", []Leader{{4, "a"}, {4, "b"}, {4, "a"}}, 4, []bool{true, false, true}},
		{"another of that epoch, after others", []Leader{{4, "a"}, {3, "a"}, {4, "b"}}, 4, []bool{true, false, false}},
		{"given back", []Leader{{4, "a"}, {4, ""}}, 4, []bool{true, false}},
	} {
		o := &office{now: time.Now()}
		f := o.fence(0)
		for i, l := range tt.seen {
			o.leader = l
			err := f.Check(t.Context(), tt.epoch)
			if tt.wants[i] {
				require.NoError(t, err, "%s: %d", tt.name, i)
			} else {
				require.ErrorIs(t, err, ErrFenced, "%s: %d", tt.name, i)
			}
		}
		assert.Equal(t, len(tt.seen), o.reads, "nothing is believed by default")
	}
}

// TestFenceOfNoClock: without a clock of its own, a fence uses the system's.
func TestFenceOfNoClock(t *testing.T) {
	reads := 0
	f := NewFence(func(context.Context) (Leader, error) { reads++; return Leader{Epoch: 1}, nil }, time.Hour, nil)
	require.NoError(t, f.Check(t.Context(), 1))
	require.NoError(t, f.Check(t.Context(), 1))
	assert.Equal(t, 1, reads)
	require.NoError(t, f.Ask(t.Context(), 1))
	assert.Equal(t, 2, reads)
}
