//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/clp"
	"github.com/hedgesched/hedge/solver/native"
	"github.com/hedgesched/hedge/solver/solvertest"
)

// same is how near bounds are to be, relatively.
const same = 1e-6

// problem is one to measure on.
type problem struct {
	name string
	p    *solver.Problem
}

// generated are random cycles of different shapes; none of them has been tuned for.
func generated() []problem {
	var list []problem
	for i, s := range []solvertest.Shape{
		{Jobs: 60, Running: 40, Partitions: 4},
		{Jobs: 120, Partitions: 6, Nodes: 64, Resources: 1},
		{Jobs: 150, Running: 60, Partitions: 10, Nodes: 128},
		{Jobs: 200, Running: 50, Partitions: 8, Nodes: 256, Resources: 1, Slots: 16},
		{Jobs: 300, Partitions: 10, Nodes: 1000, Widest: 0.02, Slots: 16},
	} {
		seed := uint64(500 + i)
		list = append(list, problem{fmt.Sprintf("cycle %d: %d pending, %d running", seed, s.Jobs, s.Running),
			solvertest.CycleOf(seed, s)})
	}
	return list
}

// methods are Clp's, by the names in tables.
var methods = []struct {
	name   string
	method clp.Method
}{{"Clp primal", clp.Primal}, {"dual", clp.Dual}, {"Clp's choice", clp.Automatic}}

// relaxation is what solving one linear relaxation took.
type relaxation struct {
	Name    string `json:"name"`
	Vars    int    `json:"vars"`
	Rows    int    `json:"rows"`
	Entries int    `json:"entries"`
	// Clp is the processor time by method, nil where the limit was reached; Value is the optimum.
	Clp   []*time.Duration `json:"clp_ns"`
	Value *float64         `json:"value"`
	// Reached is native's time to a bound no higher than Value, to a millionth; Solved, to its own relaxation's, which is
	// Bound and may be lower.
	Reached *time.Duration `json:"reached_ns"`
	Solved  time.Duration  `json:"solved_ns"`
	Bound   float64        `json:"bound"`
}

// best is the least of Clp's times.
func (r *relaxation) best() *time.Duration {
	var least *time.Duration
	for _, d := range r.Clp {
		if d != nil && (least == nil || *d < *least) {
			least = d
		}
	}
	return least
}

func newRelaxation() *cobra.Command {
	var paths []string
	var limit time.Duration
	var repeat int
	var asJSON, random bool
	cmd := &cobra.Command{Use: "relaxation", Short: "Native's bound and Clp's linear program of the same problems, in " +
		"processor time", Args: cobra.NoArgs}
	fs := cmd.Flags()
	fs.StringSliceVar(&paths, "problems", nil, "problem files")
	fs.BoolVar(&random, "generated", true, "random cycles as well")
	fs.DurationVar(&limit, "time", time.Minute,
		"limit of each solve; native, which must be done within it, has a minute at least")
	fs.IntVar(&repeat, "repeat", 3,
		"solves of each, of which the quickest counts; one that takes over 2 s is not repeated")
	fs.BoolVar(&asJSON, "json", false, "print JSON")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		var list []problem
		for _, path := range paths {
			p, err := solver.ReadProblemFile(path)
			if err != nil {
				return err
			}
			name, _, _ := strings.Cut(filepath.Base(path), ".json")
			list = append(list, problem{name, p})
		}
		if random {
			list = append(list, generated()...)
		}
		var found []relaxation
		for _, q := range list {
			fmt.Fprintln(cmd.ErrOrStderr(), q.name)
			r, err := relax(cmd.Context(), q, limit, repeat)
			if err != nil {
				return fmt.Errorf("%s: %w", q.name, err)
			}
			found = append(found, *r)
		}
		return emit(cmd.OutOrStdout(), asJSON, found, func() string { return relaxations(found) })
	}
	return cmd
}

// linear is p's model with nothing whole.
func linear(p *solver.Problem) (*milp.Placement, error) {
	c, err := milp.Compile(p, solver.SplitsContinuous, milp.RelaxAll)
	if err != nil {
		return nil, err
	}
	for j := range c.Model.Vars() {
		v := c.Model.Var(j)
		v.Integer = false
		c.Model.SetVar(j, v)
	}
	return c, nil
}

// relax solves one problem's relaxation by all means. Methods that take more than twice as long as one before them are
// given up.
func relax(ctx context.Context, q problem, limit time.Duration, repeat int) (*relaxation, error) {
	c, err := linear(q.p)
	if err != nil {
		return nil, err
	}
	r := &relaxation{Name: q.name, Vars: c.Model.Vars(), Rows: c.Model.Rows(), Entries: c.Model.Entries()}
	for _, m := range methods {
		most := limit
		if best := r.best(); best != nil { // the quickest counts
			most = min(limit, max(time.Second, 2**best))
		}
		d, value, err := byClp(ctx, c, m.method, most, repeat)
		if err != nil {
			return nil, err
		}
		r.Clp = append(r.Clp, d)
		if d != nil {
			r.Value = &value
		}
	}
	return r, r.byNative(ctx, q.p, max(limit, time.Minute), repeat)
}

// byClp is the quickest of some solves of c, nil if the limit was reached, and the bound that it proves.
func byClp(ctx context.Context, c *milp.Placement, method clp.Method, limit time.Duration,
	repeat int) (least *time.Duration, bound float64, err error) {
	for range repeat {
		runtime.GC()
		began := cpu()
		res, err := milp.Solve(ctx, clp.NewMethod(method), c.Model, milp.Options{Time: limit})
		took := cpu() - began
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, 0, err
		}
		if res.Stop != milp.StopOptimal {
			return nil, 0, nil
		}
		if least == nil || took < *least {
			least, bound = &took, c.Bound(res.Bound)
		}
		if took > 2*time.Second {
			break
		}
	}
	return least, bound, nil
}

// byNative fills in the quickest of some solves by the native engine.
func (r *relaxation) byNative(ctx context.Context, p *solver.Problem, limit time.Duration, repeat int) error {
	for i := range repeat {
		runtime.GC()
		took, reached, sol, err := toTarget(ctx, p, r.Value, limit)
		if err != nil {
			return err
		}
		if r.Bound = *sol.Bound; i == 0 || took < r.Solved {
			r.Solved = took
		}
		if reached != nil && (r.Reached == nil || *reached < *r.Reached) {
			r.Reached = reached
		}
		if took > 2*time.Second {
			break
		}
	}
	return nil
}

// toTarget is how long native took to solve its relaxation, and to a bound no higher than target; nil if that is nil or
// it never had one.
func toTarget(ctx context.Context, p *solver.Problem, target *float64, limit time.Duration) (took time.Duration,
	reached *time.Duration, sol *solver.Solution, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	e := native.New(&native.Config{Relaxation: true})
	began := cpu()
	look := func(s *solver.Solution) {
		if target != nil && reached == nil && s.Bound != nil && *s.Bound <= *target+same*math.Abs(*target) {
			at := cpu() - began
			reached = &at
		}
	}
	sol, err = e.Solve(ctx, p, solver.Options{Time: limit, Splits: solver.SplitsContinuous, Gap: -1}, look)
	took = cpu() - began
	switch {
	case err != nil:
		return 0, nil, nil, err
	case sol.Bound == nil:
		return 0, nil, nil, errors.New("the native engine has no bound")
	}
	if look(sol); ctx.Err() != nil {
		return 0, nil, nil, fmt.Errorf("the native engine has not solved the relaxation in %v", limit)
	}
	return took, reached, sol, nil
}

// relaxations is the table.
func relaxations(found []relaxation) string {
	head := table.Row{"problem", "columns", "rows"}
	for _, m := range methods {
		head = append(head, m.name+", ms")
	}
	head = append(head, "native, same bound, ms", "× best of Clp", "native, its own, ms", "its bound lower by %")
	var rows []table.Row
	logs, n := 0.0, 0
	for i := range found {
		r := &found[i]
		row := table.Row{r.Name, r.Vars, r.Rows}
		for _, d := range r.Clp {
			row = append(row, milliseconds(d))
		}
		ratio, lower := "–", "–"
		if best := r.best(); best != nil && r.Reached != nil {
			x := float64(*best) / float64(*r.Reached)
			ratio, logs, n = digits(x), logs+math.Log(x), n+1
		}
		if r.Value != nil {
			lower = fmt.Sprintf("%.4f", 100*max(0, *r.Value-r.Bound)/math.Abs(*r.Value))
		}
		rows = append(rows, append(row, milliseconds(r.Reached), ratio, milliseconds(&r.Solved), lower))
	}
	if n > 0 {
		rows = append(rows, table.Row{"geometric mean", "", "", "", "", "", "", digits(math.Exp(logs / float64(n))), "", ""})
	}
	return markdown(head, rows)
}
