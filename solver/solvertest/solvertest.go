// Package solvertest is the conformance suite of solving engines: whoever
// implements [solver.Solver] calls [Run] from a test. It knows small problems'
// optima by exhaustive search, asks for every way of stopping, and feeds awkward
// but valid input. Its own tests give it engines that lie, each of which must be
// noticed.
package solvertest

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"testing"

	"github.com/hedgesched/hedge/solver"
)

// Claims is what an engine claims to do, and so which cases beyond the core apply.
type Claims struct {
	solver.Caps
	// Seeds is how many random problems to try; 0 means 200.
	Seeds int
	// Skip are cases that the engine is known to fail, by name, with the reason, which is printed.
	Skip map[string]string
}

// Case is one conformance case. Check returns what is wrong with the engine.
type Case struct {
	Name string
	// Needs says which capability it is about; empty is the core that no engine may skip.
	Needs string
	Check func(engine solver.Solver, claims Claims) error
}

// Run runs every case that claims makes applicable as a subtest; others are
// skipped with the reason.
func Run(t *testing.T, engine solver.Solver, claims Claims) {
	t.Helper()
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) {
			if why := claims.Skip[c.Name]; why != "" {
				t.Skip(why)
			}
			if !claims.has(c.Needs) {
				t.Skipf("%s does not claim %q", engine.Name(), c.Needs)
			}
			if err := c.Check(engine, claims); err != nil {
				t.Error(err)
			}
		})
	}
}

// Failures runs the applicable cases without a test and returns the failed
// ones' names and errors.
func Failures(engine solver.Solver, claims Claims) map[string]error {
	failed := map[string]error{}
	for _, c := range Cases() {
		if !claims.has(c.Needs) || claims.Skip[c.Name] != "" {
			continue
		}
		if err := c.Check(engine, claims); err != nil {
			failed[c.Name] = err
		}
	}
	return failed
}

func (c Claims) has(need string) bool {
	switch need {
	case "exact":
		return c.Exact
	case "bound":
		return c.Bound
	case "deterministic":
		return c.Deterministic
	case "anytime":
		return c.Anytime
	default:
		return true
	}
}

func (c Claims) seeds() uint64 {
	if c.Seeds > 0 {
		return uint64(c.Seeds)
	}
	return 200
}

// Cases lists the suite.
func Cases() []Case {
	return []Case{
		{"never above the optimum", "", checkOptimum},
		{"exact", "exact", checkExact},
		{"more capacity never hurts", "exact", checkMoreCapacity},
		{"order of jobs does not matter", "exact", checkPermuted},
		{"units do not matter", "exact", checkUnits},
		{"priorities", "", checkPriorities},
		{"larger problems with priorities", "deterministic", checkLargerPriorities},
		{"exact with priorities", "exact", checkExactPriorities},
		{"equal priorities do not matter", "deterministic", checkEqualPriorities},
		{"bound", "bound", checkBound},
		{"same answer twice", "deterministic", checkTwice},
		{"same answer on any number of processors", "deterministic", checkProcessors},
		{"concurrent solves", "", checkConcurrent},
		{"larger problems", "", checkLarger},
		{"split rules", "", checkSplits},
		{"hint", "", checkHint},
		{"memory is advice", "", checkMemory},
		{"past deadline", "", checkPast},
		{"canceled", "", checkCanceled},
		{"notices the end of ctx", "", checkNotices},
		{"keeps its plan when time ends", "anytime", checkTimeEnds},
		{"keeps its plan when canceled", "anytime", checkCancelKeeps},
		{"stops at the work limit", "deterministic", checkWork},
		{"stops at the gap", "anytime", checkGap},
		{"awkward problems", "", checkAwkward},
		{"mixed magnitudes", "", checkMixed},
		{"problem is left alone", "", checkUntouched},
	}
}

const work = 20_000

func exactly() solver.Options {
	return solver.Options{Work: 2_000_000, Gap: -1}
}

func solve(engine solver.Solver, p *solver.Problem, opts solver.Options) (*solver.Solution, error) {
	return within(context.Background(), engine, p, opts)
}

// within solves when engine is done with the problem before: on a loaded machine it may have been abandoned with that.
func within(ctx context.Context, engine solver.Solver, p *solver.Problem, opts solver.Options) (*solver.Solution,
	error) {
	patient, cancel := context.WithTimeout(context.Background(), notice)
	defer cancel()
	if err := solver.Wait(patient, engine); err != nil {
		return nil, fmt.Errorf("still busy with the problem before after %v", notice)
	}
	return solver.Solve(ctx, engine, p, opts)
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Max(1, math.Abs(b)) }

func checkOptimum(e solver.Solver, c Claims) error {
	for seed := range c.seeds() {
		p := Tiny(seed)
		sol, err := solve(e, p, solver.Options{Work: work})
		if err != nil {
			return fmt.Errorf("Tiny(%d): %w", seed, err)
		}
		best := Optimum(p)
		if sol.Objective > best+1e-6 {
			return fmt.Errorf("Tiny(%d): objective %v, the optimum is %v", seed, sol.Objective, best)
		}
		if sol.Bound != nil && *sol.Bound < best-1e-6 {
			return fmt.Errorf("Tiny(%d): bound %v is below the optimum %v", seed, *sol.Bound, best)
		}
		if sol.Stop == solver.StopOptimal && !near(sol.Objective, best) {
			return fmt.Errorf("Tiny(%d): says optimal with %v, the optimum is %v", seed, sol.Objective, best)
		}
	}
	return nil
}

func checkExact(e solver.Solver, c Claims) error {
	for seed := range c.seeds() {
		p := Tiny(seed)
		sol, err := solve(e, p, exactly())
		if err != nil {
			return fmt.Errorf("Tiny(%d): %w", seed, err)
		}
		if best := Optimum(p); !near(sol.Objective, best) || sol.Stop != solver.StopOptimal {
			return fmt.Errorf("Tiny(%d): %v (%s), the optimum is %v", seed, sol.Objective, sol.Stop, best)
		}
	}
	return nil
}

func checkMoreCapacity(e solver.Solver, c Claims) error {
	for seed := range c.seeds() / 4 {
		p := Tiny(seed)
		before, err := solve(e, p, exactly())
		if err != nil {
			return fmt.Errorf("Tiny(%d): %w", seed, err)
		}
		for _, byResource := range p.Capacity {
			for _, bySlot := range byResource {
				for t := range bySlot {
					bySlot[t]++
				}
			}
		}
		after, err := solve(e, p, exactly())
		if err != nil {
			return fmt.Errorf("Tiny(%d) with more capacity: %w", seed, err)
		}
		if after.Objective < before.Objective-1e-6 {
			return fmt.Errorf("Tiny(%d): %v, with more capacity %v", seed, before.Objective, after.Objective)
		}
	}
	return nil
}

func checkPermuted(e solver.Solver, c Claims) error {
	for seed := range c.seeds() / 4 {
		p, q := Tiny(seed), Tiny(seed)
		for i, j := 0, len(q.Jobs)-1; i < j; i, j = i+1, j-1 {
			q.Jobs[i], q.Jobs[j] = q.Jobs[j], q.Jobs[i]
		}
		a, err := solve(e, p, exactly())
		if err != nil {
			return fmt.Errorf("Tiny(%d): %w", seed, err)
		}
		b, err := solve(e, q, exactly())
		if err != nil {
			return fmt.Errorf("Tiny(%d) reversed: %w", seed, err)
		}
		if !near(a.Objective, b.Objective) {
			return fmt.Errorf("Tiny(%d): %v, reversed %v", seed, a.Objective, b.Objective)
		}
	}
	return nil
}

func checkUnits(e solver.Solver, c Claims) error {
	for seed := range c.seeds() / 4 {
		p, q := Tiny(seed), inUnits(Tiny(seed), 1<<60)
		a, err := solve(e, p, exactly())
		if err != nil {
			return fmt.Errorf("Tiny(%d): %w", seed, err)
		}
		b, err := solve(e, q, exactly())
		if err != nil {
			return fmt.Errorf("Tiny(%d) in small units: %w", seed, err)
		}
		if !near(a.Objective, b.Objective) {
			return fmt.Errorf("Tiny(%d): %v, in small units %v", seed, a.Objective, b.Objective)
		}
	}
	return nil
}

// inUnits is p with the last resource in units that are smaller by a factor.
func inUnits(p *solver.Problem, times float64) *solver.Problem {
	r := len(p.Resources) - 1
	for _, byResource := range p.Capacity {
		for t := range byResource[r] {
			byResource[r][t] *= times
		}
	}
	for _, j := range p.Jobs {
		for _, o := range j.Options {
			o.Demand[r] *= times
		}
	}
	for _, run := range p.Running {
		run.Demand[r] *= times
	}
	return p
}

func checkBound(e solver.Solver, c Claims) error {
	for seed := range c.seeds() / 4 {
		sol, err := solve(e, Tiny(seed), solver.Options{Work: work})
		if err != nil {
			return fmt.Errorf("Tiny(%d): %w", seed, err)
		}
		if sol.Bound == nil || sol.Gap == nil {
			return fmt.Errorf("Tiny(%d): no bound", seed)
		}
	}
	return nil
}

func same(a, b *solver.Solution) bool {
	return a.Objective == b.Objective && a.Stop == b.Stop && reflect.DeepEqual(a.Choice, b.Choice) &&
		reflect.DeepEqual(a.Preempt, b.Preempt)
}

func checkTwice(e solver.Solver, _ Claims) error {
	for seed := range uint64(8) {
		p := Random(seed, 30)
		opts := solver.Options{Work: work, Seed: int64(seed)}
		a, err := solve(e, p, opts)
		if err != nil {
			return fmt.Errorf("Random(%d, 30): %w", seed, err)
		}
		b, err := solve(e, p, opts)
		if err != nil {
			return fmt.Errorf("Random(%d, 30) again: %w", seed, err)
		}
		if !same(a, b) {
			return fmt.Errorf("Random(%d, 30): %v, then %v", seed, a.Objective, b.Objective)
		}
	}
	return nil
}

// checkProcessors solves with several threads, whose number may change the answer, on one processor and on four, whose
// number must not.
func checkProcessors(e solver.Solver, _ Claims) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, jobs := range []int{12, 60} {
		for threads := 1; threads <= 3; threads++ {
			p := Random(uint64(jobs+threads), jobs)
			opts := solver.Options{Work: work, Seed: int64(threads), Threads: threads, Gap: -1}
			runtime.GOMAXPROCS(1)
			a, err := solve(e, p, opts)
			if err != nil {
				return fmt.Errorf("Random(%d, %d) with %d threads: %w", jobs+threads, jobs, threads, err)
			}
			runtime.GOMAXPROCS(4)
			b, err := solve(e, p, opts)
			if err != nil {
				return fmt.Errorf("Random(%d, %d) with %d threads on four processors: %w", jobs+threads, jobs, threads, err)
			}
			if !same(a, b) || a.Work != b.Work {
				return fmt.Errorf("Random(%d, %d) with %d threads: %v on one processor, %v on four", jobs+threads, jobs, threads,
					a.Objective, b.Objective)
			}
		}
	}
	return nil
}

func checkConcurrent(e solver.Solver, c Claims) error {
	const n = 6
	type result struct {
		sol *solver.Solution
		err error
	}
	results := make([]chan result, n)
	for i := range results {
		results[i] = make(chan result, 1)
		go func() {
			sol, err := solve(e, Random(uint64(i/2), 20), solver.Options{Work: work})
			results[i] <- result{sol, err}
		}()
	}
	var before result
	var first error
	for i, ch := range results {
		r := <-ch
		switch {
		case first != nil:
		case r.err != nil:
			first = r.err
		case i%2 == 1 && c.Deterministic && !same(before.sol, r.sol):
			first = fmt.Errorf("two solves of Random(%d, 20) at once differ: %v, %v", i/2, before.sol.Objective, r.sol.Objective)
		}
		before = r
	}
	return first
}

func checkLarger(e solver.Solver, _ Claims) error {
	for seed, jobs := range []int{1, 5, 20, 60, 150} {
		if _, err := solve(e, Random(uint64(seed), jobs), solver.Options{Work: work}); err != nil {
			return fmt.Errorf("Random(%d, %d): %w", seed, jobs, err)
		}
	}
	return nil
}

func checkMixed(e solver.Solver, c Claims) error {
	for seed := range c.seeds() {
		for _, rule := range []solver.SplitRule{solver.SplitsInteger, solver.SplitsContinuous} {
			if _, err := solve(e, Mixed(seed), solver.Options{Work: work, Splits: rule}); err != nil {
				return fmt.Errorf("Mixed(%d) with split rule %d: %w", seed, rule, err)
			}
		}
	}
	return nil
}

func checkSplits(e solver.Solver, c Claims) error {
	for _, rule := range []solver.SplitRule{solver.SplitsInteger, solver.SplitsContinuous, solver.SplitsNow} {
		for seed := range c.seeds() / 4 {
			if _, err := solve(e, Tiny(seed), solver.Options{Work: work, Splits: rule}); err != nil {
				return fmt.Errorf("Tiny(%d) with split rule %d: %w", seed, rule, err)
			}
		}
	}
	// Half a task fits into each partition: no whole split, but a fractional one.
	p := build(1, []float64{0.5, 0.5}, option(1, 10, 0, 1))
	sol, err := solve(e, p, solver.Options{Work: work})
	if err != nil {
		return err
	}
	if len(sol.Choice) != 0 {
		return fmt.Errorf("a task was cut in half")
	}
	return nil
}

func checkHint(e solver.Solver, _ Claims) error {
	p := build(1, []float64{2}, option(2, 10, 0), option(3, 99, 0), option(1, 1, 0))
	for _, hint := range []map[string]int{nil, {}, {"j0": 0, "j2": 0}, {"j1": 0}, {"gone": 3}, {"j0": 7, "j2": -1}} {
		p.Hint = hint
		sol, err := solve(e, p, solver.Options{Work: work})
		if err != nil {
			return fmt.Errorf("hint %v: %w", hint, err)
		}
		if sol.Objective != 10 {
			return fmt.Errorf("hint %v: objective %v, want 10", hint, sol.Objective)
		}
	}
	return nil
}
