package solvertest

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/hedgesched/hedge/solver"
)

func checkPast(e solver.Solver, _ Claims) error {
	ctx, cancel := context.WithDeadline(context.Background(), time.Now().Add(-time.Hour))
	defer cancel()
	sol, err := within(ctx, e, Random(3, 40), solver.Options{})
	if err != nil {
		return err
	}
	if sol.Stop == solver.StopCanceled {
		return fmt.Errorf("a past deadline stopped it for %q", sol.Stop)
	}
	return nil
}

func checkCanceled(e solver.Solver, _ Claims) error {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	sol, err := within(ctx, e, Random(3, 40), solver.Options{})
	if err != nil {
		return err
	}
	if sol.Stop == solver.StopTime {
		return fmt.Errorf("a canceled context stopped it for %q", sol.Stop)
	}
	return nil
}

// notice is how long an engine may take to notice that its context has ended;
// generous, because machines that run tests are loaded.
const notice = 2 * time.Minute

func checkNotices(e solver.Solver, _ Claims) error {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan any, 1)
	p := Random(5, 200)
	go func() {
		defer func() { done <- recover() }()
		_, _ = e.Solve(ctx, p, solver.Options{Time: time.Hour, Gap: -1}, func(*solver.Solution) { cancel() })
	}()
	timer := time.NewTimer(20 * time.Millisecond)
	defer timer.Stop()
	select {
	case panicked := <-done:
		cancel()
		return panicError(panicked)
	case <-timer.C:
		cancel()
	}
	late := time.NewTimer(notice)
	defer late.Stop()
	select {
	case panicked := <-done:
		return panicError(panicked)
	case <-late.C:
		return fmt.Errorf("still running %v after its context ended", notice)
	}
}

// panicError is an error of what was recovered, nil if that was nothing.
func panicError(recovered any) error {
	if recovered == nil {
		return nil
	}
	return fmt.Errorf("it panics: %v", recovered)
}

// hard is a problem that no engine solves to the end soon.
func hard() *solver.Problem { return Cycle(7, 400, 60) }

// patience are the times an engine gets to have a plan in hand: the first is plenty, the
// others are for loaded machines.
var patience = []time.Duration{25 * time.Millisecond, 200 * time.Millisecond, 1600 * time.Millisecond,
	12_800 * time.Millisecond}

func checkTimeEnds(e solver.Solver, _ Claims) error {
	for _, limit := range patience {
		sol, err := solve(e, hard(), solver.Options{Time: limit, Gap: -1})
		if err != nil {
			return err
		}
		if len(sol.Choice) > 0 {
			return nil
		}
	}
	return fmt.Errorf("no plan when the time is over, after %v", patience[len(patience)-1])
}

func checkCancelKeeps(e solver.Solver, _ Claims) error {
	for _, limit := range patience {
		ctx, cancel := context.WithCancel(context.Background())
		timer := time.AfterFunc(limit, cancel)
		sol, err := within(ctx, e, hard(), solver.Options{Time: time.Hour, Gap: -1})
		timer.Stop()
		cancel()
		if err != nil {
			return err
		}
		if len(sol.Choice) > 0 {
			return nil
		}
	}
	return fmt.Errorf("no plan when canceled after %v", patience[len(patience)-1])
}

// large are problems that much of a work limit may go by on without a look at it: wide, long, and of many running jobs.
var large = []Shape{
	{Jobs: 300, Partitions: 100, Nodes: 64, Slots: 12, Resources: 2},
	{Jobs: 300, Running: 20, Partitions: 4, Nodes: 500, Slots: 144, Resources: 1},
	{Jobs: 500, Running: 1000, Partitions: 20, Nodes: 500, Slots: 24, Resources: 2},
}

// checkWork lets an engine finish what it is at, which must not take long: a tenth of the limit, and a quarter of a
// unit for each option.
func checkWork(e solver.Solver, _ Claims) error {
	for _, limit := range []int64{work, 5 * work} {
		if err := keepsTo(limit, e, hard()); err != nil {
			return err
		}
	}
	for _, s := range large {
		if err := keepsTo(work/2, e, CycleOf(1, s)); err != nil {
			return fmt.Errorf("%+v: %w", s, err)
		}
	}
	return nil
}

func keepsTo(limit int64, e solver.Solver, p *solver.Problem) error {
	sol, err := solve(e, p, solver.Options{Work: limit, Gap: -1})
	if err != nil {
		return err
	}
	options := 0
	for j := range p.Jobs {
		options += len(p.Jobs[j].Options)
	}
	if most := limit + limit/10 + int64(options)/4; sol.Work <= 0 || sol.Work > most {
		return fmt.Errorf("it has spent %d units of work, the limit is %d and may be exceeded up to %d", sol.Work, limit,
			most)
	}
	return nil
}

func checkGap(e solver.Solver, c Claims) error {
	if !c.Bound {
		return nil
	}
	const gap = 0.9
	sol, err := solve(e, hard(), solver.Options{Work: 5 * work, Gap: gap})
	if err != nil {
		return err
	}
	if sol.Stop != solver.StopGap && sol.Stop != solver.StopOptimal {
		return fmt.Errorf("it stopped for %q, a gap of %v would do", sol.Stop, gap)
	}
	return nil
}

func checkUntouched(e solver.Solver, _ Claims) error {
	p, q := Random(9, 25), Random(9, 25)
	p.Hint, q.Hint = map[string]int{"j1": 0}, map[string]int{"j1": 0}
	if _, err := solve(e, p, solver.Options{Work: work}); err != nil {
		return err
	}
	if !reflect.DeepEqual(p, q) {
		return fmt.Errorf("it has modified the problem")
	}
	return nil
}
