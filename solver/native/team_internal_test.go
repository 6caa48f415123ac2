package native

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/solvertest"
)

// TestPanicOfAHelper reaches the goroutine that solves, and the team is gone then.
func TestPanicOfAHelper(t *testing.T) {
	for _, threads := range []int{2, 4} {
		w := newWorker()
		w.begin(context.Background(), solvertest.Cycle(7, 100, 10), solver.Options{Work: 100_000, Gap: -1, Threads: threads},
			Config{}, func(*solver.Solution) {})
		w.crew[threads-2].random.Rand = nil // whoever asks it for a number panics
		func() {
			defer func() {
				err, ok := recover().(error)
				require.True(t, ok)
				assert.ErrorContains(t, err, "nil pointer")
				assert.ErrorContains(t, err, "assist", "the stack of the worker")
			}()
			w.solve()
		}()
		assert.Zero(t, w.team.present)
		w.team.running.Wait()
	}
}

// TestPanicOfTheLeader does not leave helpers behind.
func TestPanicOfTheLeader(t *testing.T) {
	w := newWorker()
	w.begin(context.Background(), solvertest.Cycle(7, 100, 10), solver.Options{Work: 1 << 40, Gap: -1, Threads: 3},
		Config{}, func(*solver.Solution) {
			if w.team.started {
				panic("report")
			}
		})
	assert.PanicsWithValue(t, "report", func() { w.solve() })
	assert.Zero(t, w.team.present)
	w.team.running.Wait()
}

// TestSmallProblemsNeedNoTeam: nobody is called where the leader is done before the first meeting.
func TestSmallProblemsNeedNoTeam(t *testing.T) {
	w := newWorker()
	w.begin(context.Background(), solvertest.Tiny(1), solver.Options{Threads: 4}, Config{}, func(*solver.Solution) {})
	w.solve()
	assert.False(t, w.team.started)
	assert.Equal(t, solver.StopOptimal, w.stop())
}

// TestNothingIsKept: a pooled team keeps no problem alive.
func TestNothingIsKept(t *testing.T) {
	w := newWorker()
	w.begin(context.Background(), solvertest.Cycle(7, 60, 10), solver.Options{Work: 5000, Threads: 3}, Config{},
		func(*solver.Solution) {})
	w.solve()
	require.True(t, w.team.started)
	w.release()
	assert.Nil(t, w.team)
	for _, h := range w.crew {
		assert.Nil(t, h.in.P)
		assert.Nil(t, h.team)
		assert.Nil(t, h.budget.Context())
	}
}

// TestNewsBetweenRounds end no helper's work: they are what its next round begins with.
func TestNewsBetweenRounds(t *testing.T) {
	w := newWorker()
	w.begin(context.Background(), solvertest.Cycle(7, 40, 0), solver.Options{Work: 100_000, Gap: -1}, Config{},
		func(*solver.Solution) {})
	w.budget.MeetAt, w.budget.Meet = 0, func(int64) {
		w.budget.MeetAt = math.MaxInt64
		w.budget.EndPhase()
	}
	assert.True(t, w.assistsOn(), "with news")
	assert.True(t, w.budget.Checkpoint(), "after them")
	w.budget.Spend(w.budget.Limit())
	assert.False(t, w.assistsOn(), "without work left")
}
