package whatif

import (
	"context"

	"github.com/hedgesched/hedge/sched"
)

// Planner plans a snapshot. A policy's Plan method is a planner if its plans do not depend on earlier calls, as in
// package baseline. For other policies use [Fresh].
type Planner func(ctx context.Context, s *sched.Snapshot) (*sched.Plan, error)

// Fresh returns a planner that plans every snapshot with a new policy. It is safe for concurrent use if policy is.
func Fresh(policy func() (sched.Policy, error)) Planner {
	return func(ctx context.Context, s *sched.Snapshot) (*sched.Plan, error) {
		p, err := policy()
		if err != nil {
			return nil, err
		}
		return p.Plan(ctx, s)
	}
}

// Answer says how changes of a snapshot change its plan.
type Answer struct {
	// Snapshot is the changed snapshot. Before is the plan of the original, After that of the changed one.
	Snapshot      *sched.Snapshot
	Before, After *sched.Plan
	// StartsNow are the jobs that start after the change, in the order of the plan. Gained are those among them that did
	// not start before. Lost are jobs that started before and still wait after the change.
	StartsNow, Gained, Lost []string
	// Stopped are running jobs that only the plan after the change preempts.
	Stopped []string
}

// Planned returns a planner that has planned already: it returns this plan for every snapshot. As the first planner of
// [Ask], with the plan that the live policy has made of the snapshot, it saves half of the work. The answer then also
// says what changes for the plan in force, even where another instance of the policy would decide otherwise.
func Planned(plan *sched.Plan) Planner {
	return func(context.Context, *sched.Snapshot) (*sched.Plan, error) { return plan, nil }
}

// Ask plans the snapshot as it is with before, and the changed snapshot with after. Both plan at the same time, so they
// must share nothing that changes, as those of [Fresh] do not. If after is nil, before plans both, one after the other.
// A [Policy] change has no effect here: pass the other policy's planner as after. Errors wrap [ErrChange], or are the
// planner's; if both fail, before's.
func Ask(ctx context.Context, s *sched.Snapshot, changes []Change, before, after Planner) (*Answer, error) {
	changed, err := Apply(s, changes)
	if err != nil {
		return nil, err
	}
	a := &Answer{Snapshot: changed}
	if err := a.plan(ctx, s, before, after); err != nil {
		return nil, err
	}
	was, is := decisions(a.Before), decisions(a.After)
	for i := range a.After.Decisions {
		d := &a.After.Decisions[i]
		switch {
		case d.Kind == sched.Start:
			if a.StartsNow = append(a.StartsNow, d.Job); was[d.Job] != sched.Start {
				a.Gained = append(a.Gained, d.Job)
			}
		case d.Kind == sched.Preempt && was[d.Job] != sched.Preempt:
			a.Stopped = append(a.Stopped, d.Job)
		}
	}
	waits := make(map[string]struct{}, len(changed.Pending))
	for i := range changed.Pending {
		waits[changed.Pending[i].Job.ID] = struct{}{}
	}
	for i := range a.Before.Decisions {
		d := &a.Before.Decisions[i]
		if _, there := waits[d.Job]; there && d.Kind == sched.Start && is[d.Job] != sched.Start {
			a.Lost = append(a.Lost, d.Job)
		}
	}
	return a, nil
}

// plan makes both plans.
func (a *Answer) plan(ctx context.Context, s *sched.Snapshot, before, after Planner) (err error) {
	if after == nil {
		if a.Before, err = before(ctx, s); err == nil {
			a.After, err = before(ctx, a.Snapshot)
		}
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		var failed error
		a.After, failed = after(ctx, a.Snapshot)
		done <- failed
	}()
	if a.Before, err = before(ctx, s); err != nil {
		cancel()
	}
	if failed := <-done; err == nil {
		err = failed
	}
	return err
}

// decisions maps jobs to the plan's starts and preemptions.
func decisions(p *sched.Plan) map[string]sched.Kind {
	out := map[string]sched.Kind{}
	for i := range p.Decisions {
		if d := &p.Decisions[i]; d.Kind != sched.Defer {
			out[d.Job] = d.Kind
		}
	}
	return out
}
