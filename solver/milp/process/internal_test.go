package process

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/hedgesched/hedge/solver/milp"
)

// TestIntervals: what a printed number may stand for.
func TestIntervals(t *testing.T) {
	for text, want := range map[string]interval{
		"-151274.095":            {-151274.0955, -151274.0945},
		"-1.512600000e+05":       {-151260.00005, -151259.99995},
		"+3.07500000000000e-01":  {0.3075 - 5e-16, 0.3075 + 5e-16},
		"7":                      {6.5, 7.5},
		"-0.00":                  {-0.005, 0.005},
		"+1.04938269800000e+008": {104938269.8 - 5e-7, 104938269.8 + 5e-7},
	} {
		in, ok := parseInterval(text)
		assert.True(t, ok, text)
		width := want.high - want.low
		assert.InDelta(t, want.low, in.low, 0.5*width, text)
		assert.InDelta(t, want.high, in.high, 0.5*width, text)
		assert.LessOrEqual(t, in.low, want.low+0.01*width, text)
		assert.GreaterOrEqual(t, in.high, want.high-0.01*width, text)
	}
	for _, text := range []string{"", "inf", "-inf", "nan", "x", "1e999"} {
		_, ok := parseInterval(text)
		assert.False(t, ok, text)
	}
}

// TestBoundOfASolverThatDoesNotSay: the bound is beyond all at which a solver may have stopped, by whatever it divides,
// and close enough for the gap that was asked for.
func TestBoundOfASolverThatDoesNotSay(t *testing.T) {
	for _, gap := range []float64{1e-4, 0.1, 0.5} {
		for _, objective := range []float64{-100, 100, -1e6, 7} {
			for _, maximize := range []bool{false, true} {
				m := &milp.Model{Maximize: maximize}
				cost := objective
				if maximize {
					cost = -cost
				}
				m.AddVar(milp.Var{Upper: 1, Cost: cost, Integer: true})
				j := &job{m: m, opts: milp.Options{Gap: gap}}
				res := &milp.Result{Stop: milp.StopOptimal, X: []float64{1}, Objective: cost}
				(&reading{stop: milp.StopOptimal}).settleBound(j, res)
				assert.Equal(t, milp.StopOptimal, res.Stop)
				assert.LessOrEqual(t, res.Gap(), gap+1e-9)
				bound := res.Bound
				if maximize {
					bound = -bound
				}
				// The lowest bound at which a solver stops that divides by the objective, and by the larger of the two.
				asked := j.gap()
				byObjective := objective - asked*math.Abs(objective)
				byLarger := byObjective
				if objective < 0 {
					byLarger = objective / (1 - asked)
				}
				off := 1e-12 * math.Abs(objective)
				assert.LessOrEqual(t, bound, byObjective+off, "gap %v, objective %v", gap, objective)
				assert.LessOrEqual(t, bound, byLarger+off, "gap %v, objective %v", gap, objective)
			}
		}
	}
}

func TestSixDigits(t *testing.T) {
	r := &reading{}
	r.proves("3.2")
	r.provesSix("4")
	assert.InDelta(t, 4-5e-6, r.bound.low, 1e-9)
	r.proves("104938270.905")
	r.provesSix("1.04938e+08")
	assert.InDelta(t, 104938270.905, r.bound.low, 0.001, "the one with more digits stays")
	r.provesSix("inf")
	assert.InDelta(t, 104938270.905, r.bound.low, 0.001)
}

func TestLogs(t *testing.T) {
	for _, c := range []struct {
		line  func(*reading, string)
		text  string
		bound float64
	}{
		{glpsolLine, "+  2881: mip =  -1.507770000e+05 >=  -1.512600000e+05   0.3% (453; 144)", -151260},
		{glpsolLine, "+  1504: >>>>>   1.049384965e+08 >=   1.049382715e+08 < 0.1% (1505; 0)", 104938271.5},
		{cbcLine, "Lower bound:                    -151274.095", -151274.095},
		{highsLine,
			" L       0       0         0   0.00%   -39051.952227   -38830             0.57%      615     10      4      " +
				"1649     0.9s", -39051.952227},
		{highsLine,
			"      1542       0       705 100.00%   -38833.790594   -38830             0.01%      712      7   7531     " +
				"12148     1.8s", -38833.790594},
		{scipLine, "Dual Bound         : -1.51261325277894e+05", -151261.325277894},
	} {
		r := &reading{}
		c.line(r, c.text)
		assert.True(t, r.bounded, c.text)
		assert.InDelta(t, c.bound, r.bound.low, 0.1, c.text)
		assert.Less(t, r.bound.low, c.bound)
	}
}

func TestSchedule(t *testing.T) {
	for _, left := range []time.Duration{time.Millisecond, 30 * time.Millisecond, time.Second, time.Minute,
		24 * time.Hour} {
		now := time.Now()
		ctx, cancel := contextUntil(now.Add(left))
		p := schedule(ctx, now)
		cancel()
		assert.Positive(t, p.own)
		assert.Less(t, p.own, p.gentle)
		assert.Less(t, p.gentle, p.kill)
		assert.Less(t, p.kill, left)
		assert.GreaterOrEqual(t, p.own, left/2-time.Millisecond)
	}
}

func contextUntil(deadline time.Time) (context.Context, context.CancelFunc) {
	return context.WithDeadline(context.Background(), deadline)
}
