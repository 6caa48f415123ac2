package yarn

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
)

// TestOneAtATimeInTheSpool: the file's lock is per process, so concurrent calls take turns before they take it.
func TestOneAtATimeInTheSpool(t *testing.T) {
	s, err := openSpool(t.TempDir(), 5*time.Minute)
	require.NoError(t, err)
	in, total := 0, 0
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			assert.NoError(t, s.locked(context.Background(), func() error {
				in++
				total++
				assert.Equal(t, 1, in)
				time.Sleep(time.Millisecond) // for others to come
				in--
				return nil
			}))
		})
	}
	all.Wait()
	assert.Equal(t, 16, total)

	ctx, cancel := context.WithCancel(context.Background())
	require.NoError(t, s.locked(ctx, func() error {
		cancel()
		assert.ErrorIs(t, s.locked(ctx, func() error { return nil }), adapters.ErrUnavailable, "it does not wait for ever")
		return nil
	}))
}

// TestTogetherInTheSpool: calls for several jobs that wait at the same time run concurrently. Two for one job never do.
func TestTogetherInTheSpool(t *testing.T) {
	s, err := openSpool(t.TempDir(), 5*time.Minute)
	require.NoError(t, err)
	const jobs = 8
	var first, all sync.WaitGroup // first are done when the first call of every job is under way
	first.Add(jobs)
	var met, in [jobs]bool
	require.NoError(t, s.locked(context.Background(), func() error {
		for i := range 2 * jobs {
			j := i % jobs
			all.Go(func() {
				assert.NoError(t, s.lockedFor(context.Background(), string(rune('a'+j)), func() error {
					// This is unguarded: the race detector finds calls that do not take turns.
					assert.False(t, in[j], "no other call for it is under way")
					in[j] = true
					if !met[j] {
						met[j] = true
						first.Done()
						first.Wait()
					}
					in[j] = false
					return nil
				}))
			})
		}
		for { // until all wait
			s.mu.Lock()
			n := len(s.waiting)
			s.mu.Unlock()
			if n == 2*jobs {
				return nil
			}
			time.Sleep(time.Millisecond)
		}
	}))
	all.Wait()
}

// TestAloneInTheSpool: a change of the lease runs alone, whatever waits. Another instance's calls never run beside
// one's own.
func TestAloneInTheSpool(t *testing.T) {
	dir := t.TempDir()
	var instances [2]*spool
	for i := range instances {
		var err error
		instances[i], err = openSpool(dir, 5*time.Minute)
		require.NoError(t, err)
	}
	var in [2]atomic.Int64
	var all sync.WaitGroup
	for i := range 60 {
		me := i % 2
		s, name := instances[me], ""
		if i%5 > 0 {
			name = string(rune('a' + i%7))
		}
		all.Go(func() {
			assert.NoError(t, s.lockedFor(context.Background(), name, func() error {
				mine := in[me].Add(1)
				defer in[me].Add(-1)
				assert.Zero(t, in[1-me].Load(), "the other instance is not at it")
				if name == "" {
					assert.EqualValues(t, 1, mine)
				}
				runtime.Gosched()
				return nil
			}))
		})
	}
	all.Wait()
}

// TestGivenUpInTheSpool: if a call's context ends before its turn, the call is not made later, and others go on.
func TestGivenUpInTheSpool(t *testing.T) {
	s, err := openSpool(t.TempDir(), 5*time.Minute)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	made := 0
	require.NoError(t, s.locked(context.Background(), func() error {
		cancel()
		assert.ErrorIs(t, s.lockedFor(ctx, "a", func() error { made++; return nil }), adapters.ErrUnavailable)
		return nil
	}))
	require.NoError(t, s.lockedFor(context.Background(), "a", func() error { made += 10; return nil }))
	assert.Equal(t, 10, made)
}
