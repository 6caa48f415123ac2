package threesigma

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/greedy"
	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/milptest/reference"
	"github.com/hedgesched/hedge/solver/native"
)

// TestTheLimitSuitsTheEngine: ten thousand units of work are ten milliseconds to an engine that counts none.
func TestTheLimitSuitsTheEngine(t *testing.T) {
	generic := milp.New(reference.New(), nil)
	for _, c := range []struct {
		engine solver.Solver
		time   time.Duration
		work   int64
	}{
		{nil, 0, DefaultWork},
		{solver.Ladder(native.New(nil), greedy.New()), 0, DefaultWork},
		{generic, 20 * time.Second, 0},
		{solver.Ladder(solver.Share(generic, 0.5), native.New(nil)), 20 * time.Second, 0},
	} {
		p, err := New(Config{Solver: c.engine})
		require.NoError(t, err)
		o := p.cfg.limits(40 * time.Second)
		assert.Equal(t, c.time, o.Time)
		assert.Equal(t, c.work, o.Work)
	}
}
