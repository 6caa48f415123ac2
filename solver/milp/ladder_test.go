package milp_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/engines"
	"github.com/hedgesched/hedge/solver/greedy"
	"github.com/hedgesched/hedge/solver/native"
	"github.com/hedgesched/hedge/solver/solvertest"
)

// poor is an engine like a solver whose time was up: it has the greedy plan without its most valuable job, and no
// proof.
type poor struct{}

func (poor) Name() string { return "milp+cbc" }

func (poor) Solve(ctx context.Context, p *solver.Problem, opts solver.Options,
	report func(*solver.Solution)) (*solver.Solution, error) {
	sol, err := greedy.New().Solve(ctx, p, opts, report)
	if err != nil {
		return nil, err
	}
	best, most := "", 0.0
	for i := range p.Jobs {
		if c, ok := sol.Choice[p.Jobs[i].ID]; ok && p.Jobs[i].Options[c.Option].Value > most {
			best, most = p.Jobs[i].ID, p.Jobs[i].Options[c.Option].Value
		}
	}
	delete(sol.Choice, best)
	sol.Stop = solver.StopTime
	return sol, nil
}

// TestALadderIsAsGoodAsItsBestRung: thirty jobs, of which the first rung ends with a plan below the optimum.
func TestALadderIsAsGoodAsItsBestRung(t *testing.T) {
	p := solvertest.Cycle(3, 30, 4)
	alone, err := solver.Solve(context.Background(), native.New(nil), p, solver.Options{Work: 1_000_000})
	require.NoError(t, err)
	ladder := func() *solver.Solution {
		sol, err := solver.Solve(context.Background(), solver.Ladder(poor{}, native.New(nil), greedy.New()), p,
			solver.Options{Work: 3_000_000})
		require.NoError(t, err)
		return sol
	}
	sol := ladder()
	assert.GreaterOrEqual(t, sol.Objective, alone.Objective*(1-solver.DefaultGap))
	assert.Equal(t, "native", sol.Engine)
	require.Len(t, sol.Rungs, 3)
	assert.Less(t, sol.Rungs[0].Objective, sol.Objective)
	assert.Equal(t, solver.StopTime, sol.Rungs[0].Stop)
	again := ladder()
	assert.Equal(t, sol.Choice, again.Choice, "work alone limits it")
	assert.Equal(t, sol.Work, again.Work)
}

// TestARealLadder is the same with CBC's executable in time.
func TestARealLadder(t *testing.T) {
	if _, err := engines.Open("milp+process:cbc"); err != nil {
		t.Skip(err)
	}
	e, err := engines.Open("milp+process:cbc?share=0.2,native,greedy")
	require.NoError(t, err)
	p := solvertest.Cycle(3, 30, 4)
	sol, err := solver.Solve(context.Background(), e, p, solver.Options{Time: 5 * time.Second})
	require.NoError(t, err)
	require.Len(t, sol.Rungs, 3)
	assert.GreaterOrEqual(t, sol.Objective, sol.Rungs[0].Objective)
	assert.LessOrEqual(t, sol.Rungs[0].Objective, sol.Rungs[1].Objective)
}
