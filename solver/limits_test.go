package solver_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
)

// TestValidateLimits: amounts may be the bytes of any cluster; values have a limit of their own.
func TestValidateLimits(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(p *solver.Problem, v float64)
		most float64
	}{
		{"capacity", func(p *solver.Problem, v float64) { p.Capacity[0][0][1] = v }, 1e24},
		{"demand", func(p *solver.Problem, v float64) { p.Jobs[0].Options[0].Demand[0] = v }, 1e24},
		{"held", func(p *solver.Problem, v float64) { p.Running[0].Demand[0] = v }, 1e24},
		{"value", func(p *solver.Problem, v float64) { p.Jobs[0].Options[0].Value = v }, 1e15},
		{"preempt_cost", func(p *solver.Problem, v float64) { p.Running[0].PreemptCost = v }, 1e15},
	} {
		for _, f := range []float64{1e-300, 1} {
			p := pair()
			c.set(p, c.most*f)
			require.NoError(t, solver.Validate(p), c.name)
		}
		p := pair()
		c.set(p, c.most*1.01)
		err := solver.Validate(p)
		require.ErrorIs(t, err, solver.ErrInvalid, c.name)
		assert.ErrorContains(t, err, "1.01e+", c.name)
	}
}
