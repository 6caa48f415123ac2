package threesigma_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/schedtest"
	"github.com/hedgesched/hedge/sched/threesigma"
	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/native"
)

// inexact is an engine whose splits are off by as much as a solver may be.
type inexact struct{ solver.Solver }

func (e inexact) Solve(ctx context.Context, p *solver.Problem, opts solver.Options,
	report func(*solver.Solution)) (*solver.Solution, error) {
	sol, err := e.Solver.Solve(ctx, p, opts, report)
	if err != nil {
		return nil, err
	}
	for _, c := range sol.Choice {
		for i := range c.Split {
			c.Split[i].Count *= 1 - 1e-7
		}
	}
	return sol, nil
}

// TestInexactSplits: counts that are whole but for rounding are taken for what they stand for.
func TestInexactSplits(t *testing.T) {
	s := cluster(t, 3, epoch)
	s.Pending = []sched.Pending{{Job: be(t, "gang", 3), Prediction: forecast(point(t, 60))}}
	got := plan(t, policy(t, threesigma.Config{Solver: inexact{native.New(nil)}}), s)
	assert.Equal(t, sched.Start, got["gang"].Kind)
}

// TestContinuousSplits: a gang that the solver splits into fractions starts whole or not at all.
func TestContinuousSplits(t *testing.T) {
	for trial := range uint64(40) {
		s, err := schedtest.Random(rand.New(rand.NewPCG(trial, 3)))
		require.NoError(t, err)
		for _, splits := range []solver.SplitRule{solver.SplitsContinuous, solver.SplitsNow} {
			plan(t, policy(t, threesigma.Config{Options: solver.Options{Splits: splits, Work: 2000}}), s)
		}
	}
}
