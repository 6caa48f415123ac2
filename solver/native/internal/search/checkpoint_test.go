package search

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/internal/pack"
)

// started is a budget of 100 units for a search whose prices prove 20 and whose plan is worth 10.
func started() (*Budget, *Incumbent) {
	b, n, bound := &Budget{MeetAt: math.MaxInt64}, &Incumbent{}, 20.0
	n.Watch(&bound)
	n.Reset(nil)
	n.Best.Value = 10
	b.Aim(n)
	b.Begin(context.Background(), solver.Options{Work: 100}, DefaultWork)
	b.Restart()
	return b, n
}

// TestCheckpointEnds: a search goes on until its work is used, its phase ends, or the plan is as good as it has to be.
func TestCheckpointEnds(t *testing.T) {
	for name, c := range map[string]struct {
		change func(b *Budget, n *Incumbent)
		on     bool
	}{
		"nothing has happened": {func(*Budget, *Incumbent) {}, true},
		"work is left":         {func(b *Budget, _ *Incumbent) { b.Spend(100*pack.OpsPerUnit - 1) }, true},
		"work is used":         {func(b *Budget, _ *Incumbent) { b.Spend(100 * pack.OpsPerUnit) }, false},
		"the phase is over":    {func(b *Budget, _ *Incumbent) { b.EndPhase() }, false},
		"the plan is proven":   {func(_ *Budget, n *Incumbent) { n.Proven = true }, false},
		"others prove enough":  {func(_ *Budget, n *Incumbent) { n.TeamBound = 10 }, false},
		"the tree does":        {func(_ *Budget, n *Incumbent) { n.TreeBound = 10 }, false},
		"others find enough":   {func(_ *Budget, n *Incumbent) { n.Team.Value = 20 }, false},
		"a gap may be left":    {func(_ *Budget, n *Incumbent) { n.Target = 1 }, false},
	} {
		b, n := started()
		c.change(b, n)
		assert.Equal(t, c.on, b.Checkpoint(), name)
	}
}

// TestCheckpointMeets: the others are met once the ops for that are spent, and what they bring counts at once.
func TestCheckpointMeets(t *testing.T) {
	b, n := started()
	met := 0
	b.MeetAt, b.Meet = 50, func(spent int64) {
		met++
		b.MeetAt, n.TeamBound = spent+1000, 10
	}
	b.Spend(49)
	assert.True(t, b.Checkpoint())
	assert.Zero(t, met)
	b.Spend(1)
	assert.False(t, b.Checkpoint())
	assert.False(t, b.Checkpoint())
	assert.Equal(t, 1, met)
}

// TestLate: what is under way is abandoned 5 % after the limit, and not while the first plan is made.
func TestLate(t *testing.T) {
	b, _ := started()
	b.Spend(105*pack.OpsPerUnit - 1)
	assert.False(t, b.Late())
	b.Spend(1)
	assert.True(t, b.Late())
	b.Hurry(10)
	assert.False(t, b.Late())
	b.Spend(10)
	assert.True(t, b.Late())
}

// TestEnough: a plan is worth looking for that is worth more than the best one by more than rounding errors.
func TestEnough(t *testing.T) {
	_, n := started()
	n.Smallest = 4
	for _, c := range []struct{ best, team, want float64 }{
		{10, math.Inf(-1), 10 + 10*LeastGain},
		{10, 12, 12 + 12*LeastGain},
		{-10, math.Inf(-1), -10 + 10*LeastGain},
		{0, math.Inf(-1), 4e-8},
	} {
		n.Best.Value, n.Team.Value = c.best, c.team
		assert.InDelta(t, c.want, n.Enough(), 1e-12)
	}
}
