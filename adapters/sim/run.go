package sim

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hedgesched/hedge/sched"
)

// stalled is a number of cycles in a row. If in all of them the policy starts nothing, nothing runs and nothing is
// still to arrive, the pending jobs are dropped.
const stalled = 3

// step is what the engine needs to know of one cycle.
type step struct {
	plan            *sched.Plan
	snapshot, apply time.Duration
	rejected        int
}

// engine asks the policy once per cycle and has time pass in between.
type engine struct {
	cfg    *Config
	life   *life
	steady bool // the policy is a sched.SteadyPolicy, and nobody else looks at each cycle
	cycle  func(ctx context.Context, now time.Time) (step, error)
	watch  func() time.Duration
	began  time.Duration // stopwatch at the beginning of the cycle
	stats  cycleStats
	last   *sched.Plan
	idle   int  // cycles in a row that started nothing, with nothing running and nothing to arrive
	seen   int  // jobs last told to Progress
	behind bool // something happened in the time that the last cycle was charged
	// rejected is the number of decisions that the loop or life refused.
	rejected int
}

// Run simulates the jobs on the nodes under the policy until every job is finished or dropped, or until Config.Until.
// Pending jobs are dropped
// when nothing runs, nothing is still to arrive, and the policy has started nothing three times in a row.
//
// Where the work of all jobs is [Usage], the nodes are shared: they offer "cpu" and "memory" and nothing else, and
// their tasks use what their series say. Tasks share the CPU of a node by what their jobs demand: one that wants less
// than its share gets it, the others share the rest, and a task that gets less than it wants takes longer. A job that
// demands no CPU has the smallest share. A node whose tasks use more than 0.95 of its memory evicts some at once:
// those of the lowest priority first, of these the one most above its demand, then the largest, then the latest. An
// evicted task loses its work and waits again, as a part of its job, while the others go on. A job is complete when
// all its tasks are. What tasks use is told to the loop once a cycle.
//
// The same configuration gives the same result and the same log, byte for byte, but for wall-clock times. Runs are
// independent of each other and may go on concurrently.
//
// The errors wrap ErrConfig, ErrNode, ErrJob, ErrDuplicateJob, ErrTooWide, ErrTimeOverflow, ErrLivelock (one job is
// preempted a hundred times between two arrivals or completions), the context's error, or the error of the policy or
// of the log's writer.
func Run(ctx context.Context, cfg Config) (*Result, error) {
	e, err := newEngine(&cfg)
	if err != nil {
		return nil, err
	}
	opts := []sched.Option{sched.WithStopwatch(e.watch), sched.WithCycle(cfg.Cycle)}
	if cfg.Ranges && len(cfg.Outages) == 0 { // nodes that are lost would change the numbers of others
		opts = append(opts, sched.WithRanges())
	}
	if cfg.Fresh {
		opts = append(opts, sched.WithFreshPredictions())
	}
	loop, err := sched.NewLoop(e.life, cfg.Policy, cfg.Predictor, opts...)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	e.cycle = func(ctx context.Context, now time.Time) (step, error) {
		c, err := loop.Step(ctx, now)
		if err != nil {
			return step{}, err
		}
		if cfg.CycleObserver != nil {
			cfg.CycleObserver(c)
		}
		return step{
			plan: c.Plan, snapshot: c.SnapshotTime, apply: c.ApplyTime,
			rejected: len(c.Rejected) + len(c.Ignored),
		}, nil
	}
	return e.run(ctx)
}

func newEngine(cfg *Config) (*engine, error) {
	switch {
	case cfg.Policy == nil:
		return nil, fmt.Errorf("%w: no policy", ErrConfig)
	case cfg.Predictor == nil:
		return nil, fmt.Errorf("%w: no predictor", ErrConfig)
	case cfg.Cycle < 0 || cfg.Cycle > maxTime:
		return nil, fmt.Errorf("%w: cycle of %v, expected 0 to 50 years", ErrConfig, cfg.Cycle)
	case cfg.Span < 0 || cfg.Span > maxTime:
		return nil, fmt.Errorf("%w: submissions over %v, expected at most 50 years", ErrConfig, cfg.Span)
	case cfg.Until < 0 || cfg.Until > maxTime:
		return nil, fmt.Errorf("%w: simulation until %v, expected 0 to 50 years", ErrConfig, cfg.Until)
	case cfg.TasksPerNode < 0:
		return nil, fmt.Errorf("%w: %d tasks per node", ErrConfig, cfg.TasksPerNode)
	}
	l, err := newLife(cfg)
	if err != nil {
		return nil, err
	}
	e := &engine{cfg: cfg, life: l, watch: cfg.Stopwatch}
	if e.watch == nil {
		e.watch = stopwatch()
	}
	if p, ok := cfg.Policy.(sched.SteadyPolicy); ok && cfg.CycleObserver == nil && !cfg.ChargeSolverTime {
		e.steady = p.Steady() && cfg.Cycle > 0 && l.shared == nil
	}
	if cfg.TasksPerNode == 0 {
		cfg.TasksPerNode = tasksPerNode(l.nodes)
	}
	if cfg.ChargeSolverTime {
		l.charge = func() time.Duration { return e.watch() - e.began }
	}
	e.stats.stops = map[string]int{}
	l.log = newLogger(cfg.Log, l.nodes)
	l.log.goByRanges(cfg.LogRanges)
	return e, nil
}

// tasksPerNode is the most tasks of the default demand that a node holds, at least 1.
func tasksPerNode(nodes *sched.NodeSet) int {
	most := 1
	for i := range nodes.Len() {
		most = max(most, int(min(nodes.Node(i).Capacity[sched.WholeNode], 1<<30)))
	}
	return most
}

func (e *engine) run(ctx context.Context) (*Result, error) {
	l := e.life
	l.log.cluster(e.cfg, e.cfg.TasksPerNode, l.window, l.shared != nil)
	for l.tally.finished+l.tally.dropped < len(l.jobs) {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("sim: at %v: %w", l.now, err)
		}
		l.advance(e.nextCycle())
		if e.cfg.Until > 0 && l.now >= e.cfg.Until {
			e.giveUp()
			break
		}
		if err := e.decide(ctx); err != nil {
			return nil, fmt.Errorf("sim: cycle at %v: %w", l.now, err)
		}
		e.progress()
		e.skip(ctx)
	}
	solver := e.stats.solver()
	l.log.end(l.now, e.stats.cycles(), &solver)
	if err := l.log.close(); err != nil {
		return nil, fmt.Errorf("sim: decision log: %w", err)
	}
	return e.finish(solver), nil
}

// nextCycle is when the policy is next asked.
func (e *engine) nextCycle() time.Duration {
	l := e.life
	at, ok := l.nextInstant()
	if e.cfg.Cycle == 0 {
		if !ok || e.behind {
			return l.now // pending jobs on an idle cluster, or news since the snapshot: ask again
		}
		return max(at, l.now)
	}
	from := l.now
	if e.stats.cycles() > 0 {
		from++ // a multiple of the cycle is for one cycle only
	}
	if ok && l.level.pending+l.level.running == 0 {
		from = max(from, at) // skip idle time
	}
	if rest := from % e.cfg.Cycle; rest > 0 {
		from += e.cfg.Cycle - rest
	}
	return from
}

// decide runs one cycle at the time that life has reached.
func (e *engine) decide(ctx context.Context) error {
	l := e.life
	starts, refused, news := l.tally.starts, l.tally.refused, l.news()
	e.began = e.watch()
	s, err := e.cycle(ctx, epoch.Add(l.now))
	if err != nil {
		return err
	}
	e.stats.observe(&s, e.watch()-e.began)
	e.rejected += s.rejected + l.tally.refused - refused
	e.last = s.plan
	e.behind = l.news() > news
	if l.tally.starts > starts || l.level.running > 0 || l.next < len(l.jobs) || l.outages.next < len(l.outages.turns) {
		e.idle = 0
		return nil
	}
	if e.idle++; e.idle >= stalled {
		e.dropPending()
	}
	return nil
}

// skip lets the cycles pass in which a steady policy would do nothing, since it has just done nothing and nothing has
// happened since. They count as cycles. It ends early when the context does, for run to say so.
func (e *engine) skip(ctx context.Context) {
	l := e.life
	if !e.steady || len(l.told) > 0 || acts(e.last) {
		return
	}
	until, ok := l.nextInstant()
	if !ok {
		return
	}
	if e.cfg.Until > 0 {
		until = min(until, e.cfg.Until)
	}
	if l.level.pending+l.level.running == 0 {
		return // nextCycle leaves idle time out
	}
	for at := e.nextCycle(); at < until; at += e.cfg.Cycle {
		l.pass(at)
		e.stats.skipped++
		if e.stats.skipped%(1<<16) == 0 && ctx.Err() != nil {
			return
		}
	}
}

// acts tells that a plan starts or preempts something, or that an engine has worked on it.
func acts(plan *sched.Plan) bool {
	return plan == nil || plan.Stats.Engine != "" || slices.ContainsFunc(plan.Decisions, func(d sched.Decision) bool {
		return d.Kind != sched.Defer
	})
}

// giveUp ends the simulation before its jobs do.
func (e *engine) giveUp() {
	for i := range len(e.life.jobs) + len(e.life.parts) {
		switch j := e.life.at(int32(i)); j.state {
		case running:
			e.life.abandon(j)
			e.life.drop(j, "it ran when the simulation ended")
		case pending:
			e.life.drop(j, "it waited when the simulation ended")
		}
	}
}

// dropPending drops the jobs that the policy does not start, with the reason it last gave.
func (e *engine) dropPending() {
	reasons, rest := map[string]*sched.Reason{}, &sched.Reason{}
	if e.last != nil {
		rest = &e.last.Rest
		for i := range e.last.Decisions {
			d := &e.last.Decisions[i]
			reasons[d.Job] = &d.Reason
		}
	}
	for i := range len(e.life.jobs) + len(e.life.parts) {
		j := e.life.at(int32(i))
		if j.state != pending {
			continue
		}
		why := fmt.Sprintf("not started in %d cycles on an idle cluster", stalled)
		if j.waits > 0 {
			e.life.drop(j, "waits for jobs that have not finished")
			continue
		}
		reason, own := reasons[j.ID]
		if !own {
			reason = rest
		}
		if own || reason.Code != "" {
			why += ": " + reason.String()
		}
		e.life.drop(j, why)
	}
}

func (e *engine) progress() {
	t := &e.life.tally
	if done := t.finished + t.dropped; e.cfg.Progress != nil && done != e.seen {
		e.seen = done
		e.cfg.Progress(done, len(e.life.jobs))
	}
}

// finish computes the result once all is over.
func (e *engine) finish(solver Solver) *Result {
	l, tpn := e.life, e.cfg.TasksPerNode
	records := l.records()
	a := account{jobs: records, paths: l.paths, window: l.window, nodes: l.nodes.Len(), tasksPerNode: tpn}
	t := a.sum()
	m := a.metrics(&t)
	m.Policy, m.Seed = e.cfg.Policy.Name(), e.cfg.Seed
	m.Cycles, m.CycleMS, m.PhaseMS, m.Solver = e.stats.cycles(), e.stats.cycleMS(), e.stats.phaseMS(), solver
	return &Result{
		Metrics: m, Sharing: l.sharingFigures(records), Jobs: records, Series: l.load.series(float64(a.nodes * tpn)),
		Events: t.events, Rejections: e.rejected, BusyMachineHours: t.busy.machineHours(tpn),
	}
}

// stopwatch is the machine's monotonic clock.
func stopwatch() func() time.Duration {
	origin := time.Now()
	return func() time.Duration { return time.Since(origin) }
}
