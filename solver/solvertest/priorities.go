package solvertest

import (
	"fmt"

	"github.com/hedgesched/hedge/solver"
)

// checkPriorities looks for preemptions for jobs that may not preempt, in tiny problems. Bounds must hold.
func checkPriorities(e solver.Solver, c Claims) error {
	for seed := range c.seeds() {
		p := Ranked(seed)
		sol, err := solve(e, p, solver.Options{Work: work})
		if err != nil {
			return fmt.Errorf("Ranked(%d): %w", seed, err)
		}
		best := Optimum(p)
		if sol.Objective > best+1e-6 {
			return fmt.Errorf("Ranked(%d): objective %v, the optimum is %v", seed, sol.Objective, best)
		}
		if sol.Bound != nil && *sol.Bound < best-1e-6 {
			return fmt.Errorf("Ranked(%d): bound %v is below the optimum %v", seed, *sol.Bound, best)
		}
	}
	return nil
}

// checkLargerPriorities does so in larger problems, with whole tasks and parts of them. It is for engines that count
// their work: others would take their whole time.
func checkLargerPriorities(e solver.Solver, _ Claims) error {
	for seed, jobs := range []int{5, 20, 60, 150} {
		for _, rule := range []solver.SplitRule{solver.SplitsInteger, solver.SplitsContinuous} {
			p := rank(Random(uint64(seed), jobs), uint64(seed))
			if _, err := solve(e, p, solver.Options{Work: work, Splits: rule}); err != nil {
				return fmt.Errorf("Random(%d, %d) with priorities: %w", seed, jobs, err)
			}
			p = rank(Cycle(uint64(seed), jobs, jobs/3), uint64(seed))
			if _, err := solve(e, p, solver.Options{Work: work, Splits: rule}); err != nil {
				return fmt.Errorf("Cycle(%d, %d, %d) with priorities: %w", seed, jobs, jobs/3, err)
			}
		}
	}
	return nil
}

func checkExactPriorities(e solver.Solver, c Claims) error {
	for seed := range c.seeds() {
		p := Ranked(seed)
		sol, err := solve(e, p, exactly())
		if err != nil {
			return fmt.Errorf("Ranked(%d): %w", seed, err)
		}
		if best := Optimum(p); !near(sol.Objective, best) || sol.Stop != solver.StopOptimal {
			return fmt.Errorf("Ranked(%d): %v (%s), the optimum is %v", seed, sol.Objective, sol.Stop, best)
		}
	}
	return nil
}

// checkEqualPriorities: where every job may preempt every other the priorities change nothing, not even the work.
func checkEqualPriorities(e solver.Solver, _ Claims) error {
	for seed := range uint64(4) {
		p, q := Random(seed, 30), Random(seed, 30)
		for j := range q.Jobs {
			q.Jobs[j].Priority = 2 + j%3
		}
		for m := range q.Running {
			q.Running[m].MinPriority = m%4 - 1
		}
		opts := solver.Options{Work: work, Seed: int64(seed)}
		a, err := solve(e, p, opts)
		if err != nil {
			return fmt.Errorf("Random(%d, 30): %w", seed, err)
		}
		b, err := solve(e, q, opts)
		if err != nil {
			return fmt.Errorf("Random(%d, 30) with priorities: %w", seed, err)
		}
		if !same(a, b) || a.Work != b.Work {
			return fmt.Errorf("Random(%d, 30): %v, with priorities that allow everything %v", seed, a.Objective, b.Objective)
		}
	}
	return nil
}
