package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/hedgesched/hedge/cmd/hedge/internal/bench"
	"github.com/hedgesched/hedge/cmd/hedge/internal/figures"
)

// benchFlags are the flags of hedge bench.
type benchFlags struct {
	spec     bench.Spec
	problems []string
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

Generic solvers tell of their bound with each better plan and at the end, so that a gap in between may be older than its moment.`,
		Example: `  hedge bench --problems solver/testdata --engine native --engine milp+highs
  hedge bench --problems cycle.json.gz --engine native --engine 'milp+cbc?splits=now' --at 0.1s,1s,10s,60s --markdown out.md
  hedge bench --problems solver/testdata --engine native --engine milp+highs --engine milp+process:cbc --at 1s,60s --reach native
  hedge bench --problems solver/testdata --engine native --work 20000,200000 --seed 3`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch limited := cmd.Flags().Changed("work"); {
			case limited && (cmd.Flags().Changed("at") || f.spec.Reach != ""):
				return fmt.Errorf("--work: found --at or --reach as well, expected limits of work or moments")
			case limited:
				f.spec.At = nil
			}
			return f.run(cmd.Context(), s)
		},
	}
	fs := cmd.Flags()
	fs.StringSliceVar(&f.problems, "problems", nil, "problem files, or directories of them")
	fs.StringArrayVar(&f.spec.Engines, "engine", []string{"native", "greedy"}, "engine, or ladder of engines; may be repeated")
	fs.DurationSliceVar(&f.spec.At, "at", []time.Duration{100 * time.Millisecond, time.Second}, "moments to look at, rising; the last is the time limit")
	fs.Int64SliceVar(&f.spec.Work, "work", nil, "limits in work units, rising, instead of --at")
	fs.Int64Var(&f.spec.Seed, "seed", 1, "seed of randomised search")
	fs.IntVar(&f.spec.Threads, "threads", 1, "threads an engine may use")
	fs.StringVar(&f.spec.Splits, "splits", "integer", "gangs' splits over partitions in the plan: integer, continuous or now")
	fs.Float64Var(&f.spec.Gap, "gap", 1e-4, "stop at this relative gap to the bound")
	fs.StringVar(&f.spec.Reach, "reach", "", "one of the engines: tell how long it takes to what the others have in the end")
	fs.IntVar(&f.spec.Parallel, "parallel", 1, "engines that run at the same time, but for that of --reach")
	fs.StringVar(&f.markdown, "markdown", "", "write the tables to this file too, as Markdown")
	fs.BoolVar(&f.json, "json", false, "print one JSON document")
	return cmd
}

func (f *benchFlags) run(ctx context.Context, s *Host) error {
	if err := f.finish(s); err != nil {
		return err
	}
	bar := newProgress(s.Err, len(f.spec.Problems)*len(f.spec.Engines), "solving")
	problems, err := bench.Do(ctx, &f.spec, bar.set)
	bar.done()
	if err != nil {
		return failed(err)
	}
	doc := &bench.Document{Schema: schema, Command: "bench", Machine: machine(), Commit: commit(), Problems: problems, Work: f.spec.Work, Reach: bench.Summary(problems), AtS: []float64{}}
	for _, t := range f.spec.At {
		doc.AtS = append(doc.AtS, t.Seconds())
	}
	if f.markdown != "" {
		if err := os.WriteFile(f.markdown, []byte(benchTables(doc, true)), 0o644); err != nil {
			return failed(pathError(err))
		}
	}
	if f.json {
		return writeJSON(s.Out, doc)
	}
	_, err = fmt.Fprint(s.Out, benchTables(doc, false))
	return failed(err)
}

func (f *benchFlags) finish(s *Host) error {
	switch {
	case len(f.problems) == 0:
		return fmt.Errorf("--problems: found nothing, expected files or directories")
	case len(f.spec.Work) > 0 && (f.spec.Work[0] <= 0 || !slices.IsSorted(f.spec.Work)):
		return fmt.Errorf("--work: found %d, expected rising numbers above 0", f.spec.Work)
	case len(f.spec.Work) == 0 && (len(f.spec.At) == 0 || f.spec.At[0] <= 0 || !slices.IsSorted(f.spec.At)):
		return fmt.Errorf("--at: found %v, expected rising durations above 0s", f.spec.At)
	case f.spec.Threads < 1:
		return fmt.Errorf("--threads: found %d, expected at least 1", f.spec.Threads)
	case f.spec.Parallel < 1:
		return fmt.Errorf("--parallel: found %d, expected at least 1", f.spec.Parallel)
	case f.spec.Reach != "" && (!once(f.spec.Engines, f.spec.Reach) || len(f.spec.Engines) < 2):
		return fmt.Errorf("--reach: found %q, expected one of at least two engines, which is named once: %s", f.spec.Reach, strings.Join(f.spec.Engines, ", "))
	case !finite(f.spec.Gap) || f.spec.Gap < 0:
		return fmt.Errorf("--gap: found %v, expected at least 0", f.spec.Gap)
	case !slices.Contains([]string{"integer", "continuous", "now"}, f.spec.Splits):
		return fmt.Errorf("--splits: found %q, expected integer, continuous or now", f.spec.Splits)
	}
	for _, e := range f.spec.Engines {
		switch caps, err := s.Engines.Caps(e); {
		case err != nil:
			return fmt.Errorf("--engine: %w", err)
		case len(f.spec.Work) > 0 && !caps.Deterministic:
			return fmt.Errorf("--work: engine %s counts no work, expected one that is deterministic (hedge solve --engines)", e)
		}
	}
	if err := outputFile("--markdown", f.markdown); err != nil {
		return err
	}
	for _, path := range f.problems {
		if err := f.addProblems(path); err != nil {
			return fmt.Errorf("--problems: %w", err)
		}
	}
	var err error
	f.spec.Program, err = os.Executable()
	return err
}

// addProblems adds a file, or the problem files of a directory by name.
func (f *benchFlags) addProblems(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return pathError(err)
	}
	if !info.IsDir() {
		f.spec.Problems = append(f.spec.Problems, path)
		return nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return pathError(err)
	}
	before := len(f.spec.Problems)
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(name, ".json") || strings.HasSuffix(name, ".json.gz") {
			f.spec.Problems = append(f.spec.Problems, filepath.Join(path, name))
		}
	}
	if len(f.spec.Problems) == before {
		return fmt.Errorf("%s: found no .json or .json.gz file in it", path)
	}
	return nil
}

// benchTables is a table for each problem, and one of what --reach asks for before them.
func benchTables(d *bench.Document, markdown bool) string {
	p := benchPage{markdown: markdown}
	p.line("%s; commit %s", d.Machine, d.Commit)
	if d.Reach != nil {
		p.reach(d)
	}
	for i := range d.Problems {
		one := &d.Problems[i]
		p.line("")
		p.line("%s: %d jobs; model of %d variables (%d integer), %d rows and %d entries, built in %.1f ms; best plan %.7g, best bound %s",
			one.Name, one.Jobs, one.Model.Vars, one.Model.Integers, one.Model.Rows, one.Model.Entries, one.BuildMS, one.BestObjective, number(one.BestBound, "%.7g"))
		p.line("")
		var rows []table.Row
		for j := range one.Runs {
			rows = append(rows, benchRow(d, &one.Runs[j]))
		}
		p.rows(benchHead(d), rows)
		if len(one.Wrong) > 0 {
			p.line("Contradiction: a checked plan is worth %.7g, more than the bound of %s allows.", one.BestObjective, strings.Join(one.Wrong, ", "))
		}
	}
	return p.String()
}

// benchPage is a page of tables for the terminal or as Markdown.
type benchPage struct {
	page
	markdown bool
}

func (p *benchPage) rows(head table.Row, rows []table.Row) {
	if !p.markdown {
		p.table(head, rows...)
		return
	}
	t := table.NewWriter()
	t.AppendHeader(head)
	t.AppendRows(rows)
	p.line("%s", t.RenderMarkdown())
}

// reach is the table of --reach.
func (p *benchPage) reach(d *bench.Document) {
	limit := d.AtS[len(d.AtS)-1]
	p.line("")
	p.line("How long %s took to a plan as good as the best that the others had after %g s", d.Reach.Engine, limit)
	p.line("")
	var rows []table.Row
	for i := range d.Problems {
		r := d.Problems[i].Reach
		sign := map[string]string{bench.NoRival: "≥ ", bench.NotReached: "≤ "}[r.Censored]
		rival := r.Rival
		if rival == "" {
			rival = "none had a plan"
		}
		rows = append(rows, table.Row{d.Problems[i].Name, number(r.Target, "%.7g"), rival, number(r.RivalMS, "%.0f"), number(r.MS, "%.1f"),
			quotient(sign, r.Speedup), quotient(sign, r.SpeedupGiven)})
	}
	s := d.Reach
	sign := ""
	switch {
	case s.NoRival > 0 && s.NotReached == 0:
		sign = "≥ "
	case s.NotReached > 0 && s.NoRival == 0:
		sign = "≤ "
	case s.NoRival > 0:
		sign = "about "
	}
	rows = append(rows, table.Row{fmt.Sprintf("geometric mean of %d", s.Problems), "", "", "", "", quotient(sign, s.Speedup), quotient(sign, s.SpeedupGiven)})
	p.rows(table.Row{"problem", "objective", "first of the others", "after ms", s.Engine + " after ms", "×", fmt.Sprintf("× of %g s", limit)}, rows)
	p.line("")
	p.line("× is the time of the first of the others that had it, over %s's. × of %g s counts their whole time instead, unless that one ended before.", s.Engine, limit)
	p.line("Where no other had a plan (%d), their whole time stands for theirs (≥); where %s never was as good (%d), its whole time stands for its own (≤).",
		s.NoRival, s.Engine, s.NotReached)
	for i := range d.Problems {
		if one := &d.Problems[i]; len(one.Reach.Failed) > 0 {
			p.line("Failed on %s, which is no finding about them: %s.", one.Name, strings.Join(one.Reach.Failed, ", "))
		}
	}
}

// quotient is *v with its sign, or a dash.
func quotient(sign string, v *float64) string {
	if v == nil {
		return "–"
	}
	return sign + figures.Number(*v)
}

func benchHead(d *bench.Document) table.Row {
	head := table.Row{"engine"}
	if len(d.Work) == 0 {
		head = append(head, "first plan ms")
	}
	for _, t := range d.AtS {
		head = append(head, fmt.Sprintf("at %gs", t), "gap %")
	}
	for _, w := range d.Work {
		head = append(head, fmt.Sprintf("within %d", w), "gap %", "spent")
	}
	return append(head, "bound", "stop", "ms", "peak MB")
}

func benchRow(d *bench.Document, r *bench.Run) table.Row {
	row := table.Row{r.Engine}
	if len(d.Work) == 0 {
		row = append(row, number(r.FirstMS, "%.0f"))
	}
	for i, o := range r.Objective {
		var percent *float64
		if r.Gap[i] != nil {
			v := 100 * *r.Gap[i]
			percent = &v
		}
		row = append(row, number(o, "%.7g"), number(percent, "%.3g"))
		if len(d.Work) > 0 {
			row = append(row, r.Spent[i])
		}
	}
	stop := string(r.Stop)
	if r.Error != "" {
		stop = "error: " + r.Error
		if len(stop) > 80 {
			stop = stop[:80] + "…"
		}
	}
	return append(row, number(r.Bound, "%.7g"), stop, fmt.Sprintf("%.0f", r.WallMS), fmt.Sprintf("%.0f", r.PeakMB))
}

// number is *v in a format, or a dash.
func number(v *float64, format string) string {
	if v == nil {
		return "–"
	}
	return fmt.Sprintf(format, *v)
}

// once reports whether name stands in list exactly once.
func once(list []string, name string) bool {
	i := slices.Index(list, name)
	return i >= 0 && !slices.Contains(list[i+1:], name)
}
