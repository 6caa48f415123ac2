package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hedgesched/hedge/cmd/hedge/internal/bench"
)

// benchFlags are the flags of hedge bench.
type benchFlags struct {
	spec     bench.Spec
	problems []string
	jobs     string
	most     int
	oracle   string
	totals   bool
	markdown string
	json     bool
}

func newBench(s *Host) *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Run solving engines side by side on placement problems",
		Long: `bench solves every problem with every engine, one after the other, each in a process of its own, and shows what was in hand
at each moment: the first plan, the objective, the gap to the bound, and the memory used.

--reach ENGINE tells how long that engine took to a plan as good as the best that the others had at the last moment of --at, and how many
times longer they took: from when the first of them had it, and as a share of the whole time. A plan is as good if it is worth at most --gap
less, for that engine and the others alike: all may stop there. --parallel lets the others run side by side,
which costs them some speed; the engine itself always runs alone.

--work takes limits in work units instead of moments: each engine then solves once for each limit, without a time limit, so that
the plans, gaps and units spent are the same on any machine. Engines that count no work are refused.

--totals counts, instead of showing each problem: how many plans are worth at least 99.9 % of the best that any engine had, how many the engine itself has
proven to be within --gap, and how many of these are optimal but for a millionth. It is for many problems, such as the cycles that
hedge simulate --capture writes; --jobs and --most choose among them. --oracle gives those that nothing has proven to another engine, with one thread and no gap.

Generic solvers tell of their bound with each better plan and at the end, so that a gap in between may be older than its moment.`,
		Example: `  hedge bench --problems solver/testdata --engine native --engine milp+highs
  hedge bench --problems cycle.json.gz --engine native --engine 'milp+cbc?splits=now' --at 0.1s,1s,10s,60s --markdown out.md
  hedge bench --problems solver/testdata --engine native --engine milp+highs --engine milp+process:cbc --at 1s,60s --reach native
  hedge bench --problems solver/testdata --engine native --work 20000,200000 --seed 3
  hedge simulate --capture cycles/google >/dev/null
  hedge bench --problems cycles/google --jobs 5-30 --most 60 --engine native --work 20000,1000000 --threads 1,2 --oracle 20s=milp+highs --totals`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.reconcile(cmd.Flags(), s); err != nil {
				return err
			}
			return f.run(cmd.Context(), s)
		},
	}
	f.register(cmd.Flags())
	return cmd
}

// register declares the flags.
func (f *benchFlags) register(fs *pflag.FlagSet) {
	fs.StringSliceVar(&f.problems, "problems", nil, "problem `files`, or directories of them")
	fs.StringArrayVar(&f.spec.Engines, "engine", []string{"native", "greedy"},
		"`engine`, or ladder of engines; may be repeated")
	fs.DurationSliceVar(&f.spec.At, "at", []time.Duration{100 * time.Millisecond, time.Second},
		"`moments` to look at, rising; the last is the time limit")
	fs.Int64SliceVar(&f.spec.Work, "work", nil, "limits in work `units`, rising, instead of --at")
	fs.StringVar(&f.jobs, "jobs", "", "only problems with `MIN-MAX` pending jobs, such as 5-30")
	fs.IntVar(&f.most, "most", 0, "at most this many problems of each directory, spread evenly over its files by name; 0 "+
		"for all")
	fs.StringVar(&f.oracle, "oracle", "", "`TIME=ENGINE`: an engine, and the time it is given for each problem that the "+
		"others leave unproven")
	fs.Int64Var(&f.spec.Seed, "seed", 1, "seed of randomised search")
	fs.IntSliceVar(&f.spec.Threads, "threads", []int{1},
		"threads an engine may use; with several `numbers` it runs once with each")
	fs.StringVar(&f.spec.Splits, "splits", "integer",
		"gangs' splits over partitions in the plan: integer, continuous or now (integer for starts now only)")
	fs.Float64Var(&f.spec.Gap, "gap", 1e-4, "stop at this relative gap to the bound")
	fs.StringVar(&f.spec.Reach, "reach", "", "one of the engines: tell how long this `engine` takes to what the others "+
		"have in the end")
	fs.IntVar(&f.spec.Parallel, "parallel", 1, "engines that run at the same time, but for that of --reach")
	fs.BoolVar(&f.totals, "totals", false, "count what was reached, instead of a table for each problem")
	fs.StringVar(&f.markdown, "markdown", "", "write the tables to this `file` too, as Markdown")
	fs.BoolVar(&f.json, "json", false, "print one JSON document")
	for name, text := range map[string]string{"engine": "native and greedy", "at": "100ms,1s", "threads": "1",
		"work": ""} {
		fs.Lookup(name).DefValue = text // pflag's has brackets
	}
}

// reconcile refuses flags that exclude each other, and adds the engine of --reach to the default ones.
func (f *benchFlags) reconcile(fs *pflag.FlagSet, s *Host) error {
	switch limited := fs.Changed("work"); {
	case limited && fs.Changed("at"):
		return fmt.Errorf("--work: found --at as well, expected limits of work or moments")
	case limited && f.spec.Reach != "":
		return fmt.Errorf("--work: found --reach as well, which is about moments")
	case limited:
		f.spec.At = nil
	}
	if reach := f.spec.Reach; reach != "" && !fs.Changed("engine") && !slices.Contains(f.spec.Engines, reach) {
		if _, err := s.Engines.Caps(reach); err != nil {
			return fmt.Errorf("--reach: found %q: %w", reach, err)
		}
		f.spec.Engines = append(f.spec.Engines, reach) // a default never makes a given flag wrong
	}
	return nil
}

func (f *benchFlags) run(ctx context.Context, s *Host) error {
	if err := f.finish(s); err != nil {
		return err
	}
	bar := newProgress(s.Err, f.spec.Steps(), "solving")
	problems, err := bench.Do(ctx, &f.spec, bar.set)
	bar.done()
	if err != nil {
		return failed(err)
	}
	doc := &bench.Document{Schema: schema, Command: "bench", Machine: machine(), Commit: commit(), Problems: problems,
		Totals: bench.Totals(&f.spec, problems),
		Work:   f.spec.Work, Reach: bench.Summary(problems), AtS: []float64{}}
	for _, t := range f.spec.At {
		doc.AtS = append(doc.AtS, t.Seconds())
	}
	if f.markdown != "" {
		if err := os.WriteFile(f.markdown, []byte(f.tables(doc, true)), 0o644); err != nil {
			return failed(pathError(err))
		}
	}
	if f.json {
		return writeJSON(s.Out, doc)
	}
	_, err = fmt.Fprint(s.Out, f.tables(doc, false))
	return failed(err)
}

// tables is what people read.
func (f *benchFlags) tables(d *bench.Document, markdown bool) string {
	if f.totals {
		return totalTable(d, &f.spec, markdown)
	}
	return benchTables(d, markdown)
}

func (f *benchFlags) finish(s *Host) error {
	if err := f.check(); err != nil {
		return err
	}
	for _, e := range f.spec.Engines {
		switch caps, err := s.Engines.Caps(e); {
		case err != nil:
			return fmt.Errorf("--engine: %w", err)
		case len(f.spec.Work) > 0 && !caps.Deterministic:
			return fmt.Errorf("--work: engine %s counts no work, expected one that is deterministic (hedge solve --engines)", e)
		}
	}
	if err := f.parseOracle(s); err != nil {
		return fmt.Errorf("--oracle: %w", err)
	}
	if err := outputFile("--markdown", f.markdown); err != nil {
		return err
	}
	if err := f.findProblems(); err != nil {
		return err
	}
	var err error
	f.spec.Program, err = os.Executable()
	return err
}

// check looks at every flag that needs no other file.
func (f *benchFlags) check() error {
	switch {
	case len(f.problems) == 0:
		return fmt.Errorf("--problems: found nothing, expected files or directories")
	case len(f.spec.Work) > 0 && (f.spec.Work[0] <= 0 || !slices.IsSorted(f.spec.Work)):
		return fmt.Errorf("--work: found %d, expected rising numbers above 0", f.spec.Work)
	case len(f.spec.Work) == 0 && (len(f.spec.At) == 0 || f.spec.At[0] <= 0 || !slices.IsSorted(f.spec.At)):
		return fmt.Errorf("--at: found %v, expected rising durations above 0s", f.spec.At)
	case len(f.spec.Threads) == 0 || slices.Min(f.spec.Threads) < 1:
		return fmt.Errorf("--threads: found %d, expected numbers of at least 1", f.spec.Threads)
	case len(slices.Compact(slices.Sorted(slices.Values(f.spec.Threads)))) < len(f.spec.Threads):
		return fmt.Errorf("--threads: found %d, expected each number once", f.spec.Threads)
	case f.spec.Parallel < 1:
		return fmt.Errorf("--parallel: found %d, expected at least 1", f.spec.Parallel)
	case f.most < 0:
		return fmt.Errorf("--most: found %d, expected at least 0", f.most)
	case f.spec.Reach != "" && len(f.spec.Engines) < 2:
		return fmt.Errorf("--reach: found %q and no other --engine, expected others to compare it with", f.spec.Reach)
	case f.spec.Reach != "" && !once(f.spec.Engines, f.spec.Reach):
		return fmt.Errorf("--reach: found %q, expected an engine that is named once: %s", f.spec.Reach,
			strings.Join(f.spec.Engines, ", "))
	case f.spec.Reach != "" && len(f.spec.Threads) > 1:
		return fmt.Errorf("--reach: found --threads %d, expected one number of threads", f.spec.Threads)
	case !finite(f.spec.Gap) || f.spec.Gap < 0:
		return fmt.Errorf("--gap: found %v, expected at least 0", f.spec.Gap)
	case !slices.Contains([]string{"integer", "continuous", "now"}, f.spec.Splits):
		return fmt.Errorf("--splits: found %q, expected integer, continuous or now", f.spec.Splits)
	}
	return nil
}

// parseOracle reads TIME=ENGINE and sees that the engine can be had: it would be missed late.
func (f *benchFlags) parseOracle(s *Host) error {
	if f.oracle == "" {
		return nil
	}
	limit, name, _ := strings.Cut(f.oracle, "=")
	d, err := time.ParseDuration(limit)
	switch {
	case err != nil || name == "":
		return fmt.Errorf("found %q, expected TIME=ENGINE, such as 20s=milp+highs", f.oracle)
	case d <= 0:
		return fmt.Errorf("found %q, expected a time above 0s", f.oracle)
	}
	if caps, err := s.Engines.Caps(name); err == nil && !caps.Bound {
		return fmt.Errorf("found %q, expected an engine that proves bounds (hedge solve --engines)", f.oracle)
	}
	engine, err := s.Engines.Open(name)
	if err != nil {
		return err
	}
	f.spec.Oracle, f.spec.OracleTime = name, d
	if c, ok := engine.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// findProblems turns --problems into files.
func (f *benchFlags) findProblems() error {
	var jobs bench.Range
	if f.jobs != "" {
		var err error
		if jobs, err = bench.ParseRange(f.jobs); err != nil {
			return fmt.Errorf("--jobs: %w", err)
		}
	}
	for _, path := range f.problems {
		files, err := problemFiles(path)
		if err == nil {
			files, err = bench.Choose(files, jobs, f.most)
		}
		if err != nil {
			return fmt.Errorf("--problems: %w", pathError(err))
		}
		f.spec.Problems = append(f.spec.Problems, files...)
	}
	if len(f.spec.Problems) == 0 {
		return fmt.Errorf("--jobs: found no problem with %s pending jobs among those of --problems", f.jobs)
	}
	return nil
}

// problemFiles are the file, or the problem files of a directory by name.
func problemFiles(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, pathError(err)
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, pathError(err)
	}
	var files []string
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(name, ".json") || strings.HasSuffix(name, ".json.gz") {
			files = append(files, filepath.Join(path, name))
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: found no .json or .json.gz file in it", path)
	}
	return files, nil
}

// once reports whether name stands in list exactly once.
func once(list []string, name string) bool {
	i := slices.Index(list, name)
	return i >= 0 && !slices.Contains(list[i+1:], name)
}
