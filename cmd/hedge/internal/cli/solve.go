package cli

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hedgesched/hedge/solver"
)

// solveFlags are the flags of hedge solve.
type solveFlags struct {
	problem, engine, splits, out string
	plans, model                 string
	options                      solver.Options
	json, list                   bool
}

func newSolve(s *Host) *cobra.Command {
	var f solveFlags
	cmd := &cobra.Command{
		Use:   "solve",
		Short: "Solve one placement problem from a file",
		Long: `solve reads a placement problem (docs/problem-format.md), chooses at most one option of each job so that the
summed value is largest, and prints the plan with a proven bound where the engine has one. Where an engine fails after it had a plan, that plan is printed all the same, and the status is 1.

--work bounds deterministic work units, so that the same seed gives the same plan on any machine; --time bounds the wall clock.`,
		Example: `  hedge solve --engines
  hedge solve --problem cycle-100.json.gz
  hedge solve --problem cycle-100.json.gz --engine greedy --json
  hedge solve --problem cycle-100.json --time 2s --threads 2 --out plan.json
  hedge solve --problem cycle-100.json --work 500000 --seed 3 --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.list {
				return listEngines(s, f.json)
			}
			return f.run(cmd, s)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&f.problem, "problem", "", "problem `file`, gzip or not, - for stdin")
	fs.StringVar(&f.engine, "engine", "native", "`engine`, or ladder of engines; see --engines")
	fs.BoolVar(&f.list, "engines", false, "list the engines there are")
	fs.DurationVar(&f.options.Time, "time", 200*time.Millisecond,
		"wall-clock limit, 0s for none (default with --work: none)")
	fs.Int64Var(&f.options.Work, "work", 0, "deterministic limit in work `units`, about a million a second; of engines "+
		"that count none, microseconds; 0 for none")
	fs.Float64Var(&f.options.Gap, "gap", solver.DefaultGap, "stop at this relative gap to the bound")
	fs.IntVar(&f.options.Threads, "threads", 1, "threads the engine may use")
	fs.StringVar(&f.splits, "splits", "integer",
		"gangs' splits over partitions: integer, continuous or now (integer for starts now only)")
	fs.Int64Var(&f.options.Seed, "seed", 1, "seed of randomised search")
	fs.StringVar(&f.out, "out", "", "write the solution to this `file` as well, gzip if it ends in .gz, - for stdout")
	fs.StringVar(&f.plans, "plans", "", "write a line of JSON to this `file` for each better plan as it is found")
	fs.StringVar(&f.model, "model", "", "write the problem as a mixed-integer program to this .lp or .mps `file`, and "+
		"solve it only if --engine is given")
	fs.BoolVar(&f.json, "json", false, "print the solution document")
	return cmd
}

func (f *solveFlags) run(cmd *cobra.Command, s *Host) error {
	if err := f.finish(cmd); err != nil {
		return err
	}
	if f.model != "" {
		if err := f.writeModel(s); err != nil || !cmd.Flags().Changed("engine") {
			return err
		}
	}
	engine, err := s.Engines.Open(f.engine)
	if err != nil {
		return fmt.Errorf("--engine: %w", err)
	}
	if err := errors.Join(outputFile("--out", f.out), outputFile("--plans", f.plans)); err != nil {
		return err
	}
	p, err := readProblem(f.problem, s.In)
	if err != nil {
		return err
	}
	if c, ok := engine.(io.Closer); ok {
		defer c.Close()
	}
	engine, done, err := f.watch(engine)
	if err != nil {
		return err
	}
	sol, err := solver.Solve(cmd.Context(), engine, p, f.options)
	if err := done(); err != nil {
		return failed(fmt.Errorf("--plans: %w", err))
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", fileName(f.problem), err)
	}
	switch {
	case sol == nil && errors.Is(err, solver.ErrInvalid):
		return err
	case sol == nil:
		return failed(err)
	}
	// An engine that failed may have had a plan that is sound; and interrupted, the plan is the best by then.
	return failed(errors.Join(f.emit(s, p, sol), err, context.Cause(cmd.Context())))
}

func (f *solveFlags) finish(cmd *cobra.Command) error {
	o := &f.options
	switch {
	case f.problem == "":
		return errors.New("--problem: found nothing, expected a file or -")
	case o.Time < 0:
		return fmt.Errorf("--time: found %v, expected at least 0s", o.Time)
	case o.Work < 0:
		return fmt.Errorf("--work: found %d, expected at least 0", o.Work)
	case !finite(o.Gap) || o.Gap < 0:
		return fmt.Errorf("--gap: found %v, expected at least 0", o.Gap)
	case o.Threads < 1:
		return fmt.Errorf("--threads: found %d, expected at least 1", o.Threads)
	}
	if o.Gap == 0 {
		o.Gap = -1 // exactly zero, as solver.Options has it
	}
	if o.Work > 0 && !cmd.Flags().Changed("time") {
		o.Time = 0
	}
	switch f.splits {
	case "integer":
		o.Splits = solver.SplitsInteger
	case "continuous":
		o.Splits = solver.SplitsContinuous
	case "now":
		o.Splits = solver.SplitsNow
	default:
		return fmt.Errorf("--splits: found %q, expected integer, continuous or now", f.splits)
	}
	return nil
}

// readProblem reads a problem file, gzip or not.
func readProblem(path string, stdin io.Reader) (*solver.Problem, error) {
	in, name, err := openInput(path, stdin)
	if err != nil {
		return nil, fmt.Errorf("--problem: %w", err)
	}
	defer in.Close()
	p, err := solver.ReadProblem(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

func (f *solveFlags) emit(s *Host, p *solver.Problem, sol *solver.Solution) error {
	doc := solutionDocument(sol)
	if f.out != "" && f.out != "-" {
		if err := writeFile(f.out, doc); err != nil {
			return failed(err)
		}
	}
	if f.json || f.out == "-" {
		return writeJSON(s.Out, doc)
	}
	return failed(solveTable(s.Out, p, sol))
}

// solution is the document of hedge solve: problem-format.md's with its schema.
type solution struct {
	Schema int `json:"schema"`
	*solver.Solution
	// Rungs are those of a ladder, in order.
	Rungs []rung `json:"rungs,omitempty"`
}

type rung struct {
	Engine    string      `json:"engine"`
	Stop      solver.Stop `json:"stop,omitempty"`
	Objective float64     `json:"objective"`
	Error     string      `json:"error,omitempty"`
}

func solutionDocument(sol *solver.Solution) solution {
	doc := solution{Schema: schema, Solution: sol}
	for _, r := range sol.Rungs {
		one := rung{Engine: r.Engine, Stop: r.Stop, Objective: r.Objective}
		if r.Err != nil {
			one.Error = oneLine(r.Err)
		}
		doc.Rungs = append(doc.Rungs, one)
	}
	return doc
}

// writeFile writes doc to path, compressed if its name says so.
func writeFile(path string, doc any) error {
	var plain bytes.Buffer
	if err := writeJSON(&plain, doc); err != nil {
		return err
	}
	data := plain.Bytes()
	if strings.HasSuffix(path, ".gz") {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		if _, err := z.Write(data); err != nil {
			return err
		}
		if err := z.Close(); err != nil {
			return err
		}
		data = packed.Bytes()
	}
	return os.WriteFile(path, data, 0o644)
}
