package solver_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
)

// stuck ignores its context until it is released. Then it answers at once.
type stuck struct{ release chan struct{} }

func (*stuck) Name() string { return "stuck" }

func (s *stuck) Solve(context.Context, *solver.Problem, solver.Options, func(*solver.Solution)) (*solver.Solution,
	error) {
	<-s.release
	return plan("a"), nil
}

// TestOneAbandonedCallPerEngine: an engine that hangs costs one goroutine, not one per cycle.
func TestOneAbandonedCallPerEngine(t *testing.T) {
	before := runtime.NumGoroutine()
	e, other := &stuck{make(chan struct{})}, &stuck{make(chan struct{})}
	close(other.release)
	for i := range 20 {
		sol, err := solver.Solve(context.Background(), e, pair(), solver.Options{Time: time.Millisecond})
		if i == 0 {
			require.NoError(t, err)
			assert.Equal(t, solver.StopTime, sol.Stop)
			continue
		}
		require.ErrorIs(t, err, solver.ErrEngine)
		assert.ErrorContains(t, err, "engine stuck")
		assert.ErrorContains(t, err, "still busy")
		assert.Nil(t, sol)
	}
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= before+3 }, time.Minute, time.Millisecond)

	sol, err := solver.Solve(context.Background(), other, pair(), solver.Options{})
	require.NoError(t, err, "another engine of the type")
	assert.Equal(t, 10.0, sol.Objective)
	sol, err = solver.Solve(context.Background(), solver.Ladder(e, other), pair(), solver.Options{Time: time.Hour})
	require.NoError(t, err, "a ladder goes on at once")
	require.Len(t, sol.Rungs, 2)
	assert.ErrorContains(t, sol.Rungs[0].Err, "still busy")

	close(e.release)
	require.Eventually(t, func() bool {
		sol, err = solver.Solve(context.Background(), e, pair(), solver.Options{})
		return err == nil
	}, time.Minute, time.Millisecond, "free again once the call has ended")
	assert.Equal(t, 10.0, sol.Objective)
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= before+3 }, time.Minute, time.Millisecond)
}

func faulty(context.Context, func(*solver.Solution)) (*solver.Solution, error) {
	panic(context.DeadlineExceeded)
}

func TestPanicKeepsItsStack(t *testing.T) {
	_, err := solver.Solve(context.Background(), script(faulty), pair(), solver.Options{})
	require.ErrorIs(t, err, solver.ErrEngine)
	require.ErrorIs(t, err, context.DeadlineExceeded, "what it panicked with, if that is an error")
	var p *solver.PanicError
	require.True(t, errors.As(err, &p))
	assert.Equal(t, context.DeadlineExceeded, p.Value)
	assert.Contains(t, string(p.Stack), "solver_test.faulty")
	assert.ErrorContains(t, err, "panic: context deadline exceeded")
	assert.NotContains(t, err.Error(), "\n")
}

// TestWait: a caller with time waits for an engine that is late, and for the rungs of a ladder.
func TestWait(t *testing.T) {
	e := &stuck{make(chan struct{})}
	l := solver.Ladder(solver.Share(e, 0.001), says(plan("a"), nil))
	require.NoError(t, solver.Wait(context.Background(), l))
	_, err := solver.Solve(context.Background(), l, pair(), solver.Options{Time: time.Minute})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, solver.Wait(ctx, l), context.DeadlineExceeded)
	_, err = solver.Solve(context.Background(), e, pair(), solver.Options{Time: time.Millisecond})
	require.ErrorIs(t, err, solver.ErrBusy)
	close(e.release)
	require.NoError(t, solver.Wait(context.Background(), l))
	_, err = solver.Solve(context.Background(), e, pair(), solver.Options{})
	require.NoError(t, err)
}
