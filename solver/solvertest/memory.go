package solvertest

import (
	"errors"
	"fmt"

	"github.com/hedgesched/hedge/solver"
)

// checkMemory hands on what was learned of the same problem, of another one, and long ago, and what the engine has
// never noted.
func checkMemory(e solver.Solver, c Claims) error {
	for seed := range min(c.seeds(), 6) {
		p := Tiny(seed)
		learned := map[string]*solver.Memory{
			"with a note that is not its own": new(solver.Memory).With(e.Name(), "what is this")}
		for what, q := range map[string]*solver.Problem{"the same problem": p, "another problem": Tiny(seed + 1)} {
			sol, err := solve(e, q, solver.Options{Work: work, Memory: new(solver.Memory)})
			if err != nil {
				return fmt.Errorf("Tiny(%d), %s: %w", seed, what, err)
			}
			learned["with a memory of "+what] = sol.Memory
			learned["with an old memory of "+what] = sol.Memory.Later(1 + int(seed))
		}
		for what, m := range learned {
			if err := checkRemembered(e, c, p, m); err != nil {
				return fmt.Errorf("Tiny(%d), %s: %w", seed, what, err)
			}
		}
	}
	if err := checkNames(e, c); err != nil || !c.Deterministic {
		return err
	}
	return checkOverwritten(e)
}

// checkNames solves problems again whose partitions have no names, or all have the same, with what was learned and the
// plan as hint.
func checkNames(e solver.Solver, c Claims) error {
	for seed := range min(c.seeds(), 6) {
		for _, name := range []string{"", "same"} {
			p := build(1, []float64{1, 1}, option(2, 5, 0, 1)) // a task each
			if seed > 0 {
				p = Tiny(seed)
			}
			for x := range p.Partitions {
				p.Partitions[x].Name = name
			}
			sol, err := solve(e, p, solver.Options{Work: work, Memory: new(solver.Memory)})
			if err != nil {
				return fmt.Errorf("problem %d, all partitions named %q: %w", seed, name, err)
			}
			p.Hint = map[string]int{}
			for id, choice := range sol.Choice {
				p.Hint[id] = choice.Option
			}
			if err := checkRemembered(e, c, p, sol.Memory); err != nil {
				return fmt.Errorf("problem %d again, all partitions named %q: %w", seed, name, err)
			}
		}
	}
	return nil
}

// checkRemembered checks that a memory costs neither the optimum nor the validity of the bound.
func checkRemembered(e solver.Solver, c Claims, p *solver.Problem, m *solver.Memory) error {
	opts := solver.Options{Work: work}
	if c.Exact {
		opts = exactly()
	}
	opts.Memory = m
	sol, err := solve(e, p, opts)
	if err != nil {
		return err
	}
	best := Optimum(p)
	switch {
	case sol.Objective > best+1e-6 || c.Exact && !near(sol.Objective, best):
		return fmt.Errorf("%v (%s), the optimum is %v", sol.Objective, sol.Stop, best)
	case sol.Bound != nil && *sol.Bound < best-1e-6:
		return fmt.Errorf("bound %v is below the optimum %v", *sol.Bound, best)
	}
	return nil
}

// checkOverwritten checks that a memory gives the same plan twice, though the problem it was learned of is overwritten
// in between: callers make cycle after cycle's in the same place.
func checkOverwritten(e solver.Solver) error {
	for seed := range uint64(4) {
		before, p := Random(seed, 30), Random(seed, 30)
		opts := solver.Options{Work: work, Memory: new(solver.Memory)}
		sol, err := solve(e, before, opts)
		if err != nil {
			return fmt.Errorf("Random(%d, 30): %w", seed, err)
		}
		opts.Memory = sol.Memory
		first, err := solve(e, p, opts)
		overwrite(before)
		again, err2 := solve(e, p, opts)
		if err = errors.Join(err, err2); err != nil {
			return fmt.Errorf("Random(%d, 30) with a memory: %w", seed, err)
		}
		if !same(first, again) || first.Work != again.Work {
			return fmt.Errorf("Random(%d, 30) with a memory: %v, then %v when the problem it was learned of has gone", seed,
				first.Objective, again.Objective)
		}
	}
	return nil
}

// overwrite makes another problem of p in the same place.
func overwrite(p *solver.Problem) {
	for i := range p.Resources {
		p.Resources[i] = fmt.Sprint("other", i)
	}
	for i := range p.Partitions {
		p.Partitions[i].Name = fmt.Sprint("other", i)
	}
	for i := range p.Running {
		p.Running[i].ID = fmt.Sprint("other", i)
	}
	for i := range p.Jobs {
		p.Jobs[i].ID = fmt.Sprint("other", i)
		for k := range p.Jobs[i].Options {
			o := &p.Jobs[i].Options[k]
			o.Start, o.Count, o.Value = o.Start+1, o.Count+1, 2*o.Value
			clear(o.Partitions)
			clear(o.Usage)
			clear(o.Demand)
		}
	}
	for _, rows := range p.Capacity {
		for _, row := range rows {
			clear(row)
		}
	}
}
