package threesigma

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/internal/odds"
	"github.com/hedgesched/hedge/sched/paths"
	"github.com/hedgesched/hedge/sched/place"
	"github.com/hedgesched/hedge/solver"
)

// Policy is 3Sigma's scheduler, 3σSched. It implements [sched.Policy]. Between cycles it keeps what it has worked out
// about the jobs, and its last plan. It is for one goroutine at a time.
type Policy struct {
	cfg     Config
	cycle   uint64
	period  time.Duration // from one cycle to the next
	refiner place.Refiner
	placer  place.Placer
	holders place.Holders
	jobs    map[string]*known
	held    map[string]*held
	// model is the last cycle's. Its memory is used again.
	model *model
	// learned is what the solver has learned so far, in terms of the slots at learnedAt.
	learned   *solver.Memory
	learnedAt time.Time
	// rests are what is left of jobs that have stages, after each stage that is not held back.
	rests paths.Rests
	// spans are scratch. followed tells that the slots follow from jobs that were at hand.
	spans    []time.Duration
	followed bool
	// told is what was told of the jobs that run, by id.
	calibrator odds.Calibrator
	told       map[string]telling
	// reserved is the job for which nodes are kept; nil if there is none.
	reserved *reservation
}

// New returns a policy. Its error is a [*sched.ConfigError].
func New(cfg Config) (*Policy, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Policy{
		cfg: cfg, rests: paths.Rests{Point: cfg.Point}, period: UnknownCycle,
		jobs: map[string]*known{}, held: map[string]*held{},
		calibrator: odds.New(), told: map[string]telling{},
	}, nil
}

// Name implements [sched.Policy]: it is the configured name.
func (p *Policy) Name() string { return p.cfg.Name }

// Plan implements [sched.Policy]. A pending job that cannot be planned is deferred with [ReasonInvalid]; all others
// are planned. Plan fails only if the snapshot contradicts itself, if the context is done before it begins, or if the
// solver fails and leaves no plan. A failure that leaves one is told in [sched.Stats].
func (p *Policy) Plan(ctx context.Context, s *sched.Snapshot) (*sched.Plan, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := sched.CheckSnapshot(s); err != nil {
		return nil, err
	}
	p.cycle++
	p.period = cmp.Or(s.Cycle, UnknownCycle)
	p.review(s)
	p.follow(s)
	p.rests.Update(s)
	whole := s
	s = p.setAside(s)
	begin := p.cfg.Stopwatch()
	m := p.build(s)
	built := p.cfg.Stopwatch()
	stats := sched.Stats{Options: m.valued, ValueTime: (built - begin).Seconds()}
	opts := p.cfg.limits(p.period)
	if opts.Time > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, opts.Time)
		defer cancel()
	}
	began := p.cfg.Stopwatch()
	sol, err := p.solve(ctx, m, opts, &stats)
	if err != nil {
		return nil, fmt.Errorf("3sigma: %w", err)
	}
	stats.SolveTime = (p.cfg.Stopwatch() - began).Seconds()
	x := m.extract(sol)
	stats.Value += x.advance() - x.failed
	stats.Fault = m.fault()
	plan := x.plan(stats)
	if r := p.reserved; r != nil {
		r.decide(p, whole, plan)
	}
	p.forget()
	return plan, nil
}

// solve runs the solver, unless no job has an option. A solver that fails may leave a verified plan; it is used, and
// the failure is noted.
func (p *Policy) solve(
	ctx context.Context, m *model, opts solver.Options, stats *sched.Stats,
) (*solver.Solution, error) {
	if len(m.problem.Jobs) == 0 {
		return &solver.Solution{}, nil
	}
	opts.Memory = p.recall(m.snap.Now)
	sol, err := solver.Solve(ctx, p.cfg.Solver, &m.problem, opts)
	if sol == nil {
		p.model, p.learned = nil, nil
		return nil, err
	}
	p.learned = sol.Memory
	if err != nil || late(sol) {
		// An abandoned engine may still read the problem, so its memory is not used again.
		p.model = nil
	}
	m.blame(err)
	for _, rung := range sol.Rungs {
		if !errors.Is(rung.Err, solver.ErrSkipped) {
			m.blame(rung.Err)
		}
	}
	stats.Engine, stats.Stop, stats.Value, stats.Gap = sol.Engine, string(sol.Stop), sol.Objective, math.NaN()
	if sol.Gap != nil {
		stats.Gap = *sol.Gap
	}
	return sol, nil
}

// late reports whether an engine may have been left behind past its deadline.
func late(sol *solver.Solution) bool {
	over := func(s solver.Stop) bool { return s == solver.StopTime || s == solver.StopCanceled }
	return over(sol.Stop) || slices.ContainsFunc(sol.Rungs, func(r solver.Rung) bool {
		return over(r.Stop) || r.Err != nil && !errors.Is(r.Err, solver.ErrSkipped)
	})
}

// recall is what the solver has learned in the cycles before, moved on to the present slots; nil without [WarmStart].
func (p *Policy) recall(now time.Time) *solver.Memory {
	if p.cfg.Without&WarmStart != 0 {
		return nil
	}
	passed := now.Sub(p.learnedAt)
	p.learnedAt = now
	if p.learned == nil || passed < 0 || passed >= p.cfg.Window {
		return &solver.Memory{}
	}
	return p.learned.Later(int(passed.Round(p.cfg.Slot) / p.cfg.Slot))
}

// slots is the number of slots in the window.
func (c *Config) slots() int { return int(c.Window / c.Slot) }

// slotAt is the first slot that begins at that time or later, 0 if the time has passed.
func (c *Config) slotAt(from, at time.Time) int {
	return max(0, int((at.Sub(from)+c.Slot-1)/c.Slot))
}
