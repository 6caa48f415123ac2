package solver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hedgesched/hedge/solver/internal/gap"
)

// climb is one solve by a ladder: the best plan so far, and the time and work left.
type climb struct {
	p    *Problem
	opts Options
	time time.Duration // of all rungs, from the start; 0 for no limit
	work int64         // what is left of opts.Work

	rungs  []Rung
	best   *Solution // the best verified plan; its bound, stop and rungs are unused
	stop   Stop      // why the rung that found best stopped; if that rung failed, why the last rung that ended did
	ended  bool      // at least one rung did not fail
	shaky  bool      // the rung that found best failed
	proof  Stop      // how best is proven, or StopNone
	bounds []proven
	memory *Memory
	spent  int64
}

// proven is a bound and the index of its rung.
type proven struct {
	bound float64
	rung  int
}

func newClimb(p *Problem, opts Options) *climb {
	return &climb{p: p, opts: opts, work: opts.Work, best: opts.Start, memory: opts.Memory}
}

// over is the reason why no further rung runs, empty if one does. Without a plan, the remaining rungs run even though
// time is up: some have a plan at once.
func (c *climb) over(ctx context.Context) string {
	switch {
	case c.proof != StopNone:
		return fmt.Sprintf("the plan of %s is proven (%s)", c.best.Engine, c.proof)
	case ctx.Err() != nil && c.best != nil && len(c.best.Choice) > 0:
		return fmt.Sprintf("there was no time left (%s)", StopOf(ctx.Err()))
	}
	return ""
}

// limits are the options of a rung that has at most this share of the whole.
func (c *climb) limits(ctx context.Context, share float64, last bool) Options {
	opts := c.opts
	opts.Start, opts.Memory = c.best, c.memory
	if opts.Work > 0 {
		if opts.Work = c.work; !last {
			opts.Work -= opts.Work / 10
		}
		opts.Work = max(1, min(opts.Work, part(share, c.opts.Work)))
	}
	if deadline, ok := ctx.Deadline(); ok {
		left := time.Until(deadline)
		if opts.Time = left; !last {
			opts.Time = max(left-left/10-Grace, left/2)
		}
		opts.Time = max(1, min(opts.Time, part(share, c.time)))
	}
	return opts
}

// part is this share of a whole.
func part[T ~int64](share float64, whole T) T {
	if share >= 1 {
		return whole
	}
	return T(share * float64(whole))
}

// take adds the outcome of a rung that had this limit of work. Sol may be nil, or what was verified before err.
func (c *climb) take(e Solver, sol *Solution, err error, limit int64) {
	rung := Rung{Engine: e.Name(), Err: err}
	var below []Rung // the rungs of a ladder that is itself a rung
	first := len(c.rungs)
	if sol != nil {
		below = sol.Rungs
		better := c.best == nil || sol.Objective > c.best.Objective ||
			c.shaky && err == nil && sol.Objective >= c.best.Objective
		if better {
			c.best, c.shaky = sol, err != nil
		}
		if err == nil {
			c.charge(sol.Work, limit)
			c.memory = sol.Memory
			rung.Stop = sol.Stop
			if better || !c.ended {
				c.stop = sol.Stop
			}
			c.ended = true
		}
	}
	if c.best != nil {
		rung.Objective = c.best.Objective
	}
	if err != nil {
		c.memory = c.memory.without(e.Name())
	} else if len(sol.Choice) == 0 && len(c.p.Jobs) > 0 && sol.Stop != StopOptimal && sol.Stop != StopGap {
		rung.Err = fmt.Errorf("%w: engine %s: no plan when it stopped (%s)", ErrEngine, e.Name(), sol.Stop)
	}
	if len(below) == 0 {
		below = []Rung{rung}
	}
	c.rungs = append(c.rungs, below...)
	if err == nil {
		c.prove(sol, first+min(sol.proved, len(below)-1))
	}
}

// charge subtracts what a rung has spent from what is left. A rung that does not count its work has spent its limit.
func (c *climb) charge(spent, limit int64) {
	c.spent += spent
	if spent == 0 {
		spent = limit
	}
	c.work = max(0, c.work-spent)
}

// prove adds the bound of sol, from the rung with this index. Then it checks what all bounds together prove.
func (c *climb) prove(sol *Solution, rung int) {
	if sol.Bound != nil {
		c.bounds = append(c.bounds, proven{*sol.Bound, rung})
	}
	c.refute()
	switch g := c.gap(); {
	case sol.Stop == StopOptimal || g <= Tolerance:
		c.proof = StopOptimal
	case sol.Stop == StopGap || g <= c.opts.TargetGap():
		c.proof = StopGap
	}
}

// refute drops bounds below the best verified plan: their rungs have failed.
func (c *climb) refute() {
	kept := c.bounds[:0]
	for _, b := range c.bounds {
		if b.bound >= c.best.Objective-slack(c.best.Objective) {
			kept = append(kept, b)
			continue
		}
		r := &c.rungs[b.rung]
		r.Err = errors.Join(r.Err, fmt.Errorf(
			"engine %s: %w: its bound %v is below %v, what a plan of a later rung is worth",
			r.Engine, ErrEngine, b.bound, c.best.Objective))
		r.Stop = StopNone
	}
	c.bounds = kept
}

// bound is the lowest bound, nil if there is none.
func (c *climb) bound() *float64 {
	if lowest := c.lowest(); lowest != nil {
		return &lowest.bound
	}
	return nil
}

// lowest is the lowest bound, the first of equal ones; nil if there is none.
func (c *climb) lowest() *proven {
	var lowest *proven
	for _, b := range c.bounds {
		if lowest == nil || b.bound < lowest.bound {
			lowest = &b
		}
	}
	return lowest
}

// gap is how far the lowest bound is above the best plan. Without a bound it is above any target.
func (c *climb) gap() float64 {
	bound := c.bound()
	if bound == nil {
		return 2 + c.opts.TargetGap()
	}
	return gap.Of(*bound, c.best.Objective)
}

// answer is the result of all rungs.
func (c *climb) answer() (*Solution, error) {
	if !c.ended {
		return nil, fmt.Errorf("%w: no rung answered: %w", ErrEngine, failures(c.rungs))
	}
	sol := *c.best
	sol.Stop, sol.Bound, sol.Work, sol.Memory, sol.Rungs = c.stop, c.bound(), c.spent, c.memory, c.rungs
	sol.proved = 0
	if lowest := c.lowest(); lowest != nil {
		sol.proved = lowest.rung
	}
	if c.proof != StopNone {
		sol.Stop = c.proof
	}
	return &sol, nil
}
