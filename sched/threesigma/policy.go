package threesigma

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/solver"
)

// Policy is 3Sigma's scheduler, 3σSched. It implements [sched.Policy] and keeps, between cycles, what it
// worked out of the jobs and the last plan. It is for one goroutine at a time.
type Policy struct {
	cfg     Config
	cycle   uint64
	refiner sched.Refiner
	places  places
	placer  sched.Placer
	jobs    map[string]*known
	held    map[string]*held
	// model is the last cycle's, whose memory is used again.
	model *model
}

// New returns a policy, or a [*ConfigError].
func New(cfg Config) (*Policy, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Policy{cfg: cfg, jobs: map[string]*known{}, held: map[string]*held{}}, nil
}

// Name is the configured name.
func (p *Policy) Name() string { return p.cfg.Name }

// maxRounds bounds how often a cycle is solved because starts could not be realised on single nodes.
const maxRounds = 3

// Plan decides one cycle. A job that cannot be planned with is deferred for [ReasonInvalid] and stops nobody else.
// Plan fails only if the snapshot contradicts itself, or if the solver engine fails and leaves no plan.
func (p *Policy) Plan(ctx context.Context, s *sched.Snapshot) (*sched.Plan, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p.cycle++
	begin := p.cfg.Stopwatch()
	m := p.build(s)
	built := p.cfg.Stopwatch()
	stats := sched.Stats{Options: m.valued, ValueTime: (built - begin).Seconds()}
	if p.cfg.Options.Time > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, p.cfg.Options.Time)
		defer cancel()
	}
	var x *extraction
	for round := 1; ; round++ {
		began := p.cfg.Stopwatch()
		sol, err := p.solve(ctx, m, &stats)
		if err != nil {
			return nil, fmt.Errorf("3sigma: %w", err)
		}
		stats.SolveTime += (p.cfg.Stopwatch() - began).Seconds()
		x = m.extract(sol)
		if round == maxRounds || len(x.failed) == 0 || p.model != m || ctx.Err() != nil {
			break
		}
		m.retract(x)
	}
	stats.Fault = strings.Join(m.faults, "; ")
	plan := x.plan(stats)
	p.forget()
	return plan, nil
}

// solve asks the solver, if there is anything to ask. An engine that failed may still have left a verified plan: that is
// used, and the failure noted.
func (p *Policy) solve(ctx context.Context, m *model, stats *sched.Stats) (*solver.Solution, error) {
	if len(m.problem.Jobs) == 0 {
		return &solver.Solution{}, nil
	}
	sol, err := solver.Solve(ctx, p.cfg.Solver, &m.problem, p.cfg.Options)
	if sol == nil {
		p.model = nil
		return nil, err
	}
	if err != nil || sol.Stop == solver.StopTime || sol.Stop == solver.StopCanceled || len(sol.Fallback) > 0 {
		// An abandoned engine may still read the problem: its memory is left to it.
		p.model = nil
	}
	m.blame(err)
	for _, rung := range sol.Fallback {
		m.blame(rung.Err)
	}
	stats.Engine, stats.Stop, stats.Value, stats.Gap = sol.Engine, string(sol.Stop), sol.Objective, 0
	if sol.Gap != nil {
		stats.Gap = *sol.Gap
	}
	return sol, nil
}

// slots is the number of slots in the window.
func (c *Config) slots() int { return int(c.Window / c.Slot) }

// slotAt is the first slot that begins no earlier than a time; what was due is due now.
func (c *Config) slotAt(from, at time.Time) int {
	return max(0, int((at.Sub(from)+c.Slot-1)/c.Slot))
}
