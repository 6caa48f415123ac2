package cli

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/hedgesched/hedge/cmd/hedge/internal/bench"
	"github.com/hedgesched/hedge/cmd/hedge/internal/figures"
)

// benchTables is a table for each problem, and one of what --reach asks for before them.
func benchTables(d *bench.Document, markdown bool) string {
	p := benchPage{markdown: markdown}
	p.machine(d)
	if d.Reach != nil {
		p.reach(d)
	}
	for i := range d.Problems {
		p.problem(d, &d.Problems[i])
	}
	if !markdown {
		p.legend(d)
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

// machine is the line that says what the figures were made on, and with what.
func (p *benchPage) machine(d *bench.Document) {
	commit := d.Commit
	if commit == unknownCommit {
		commit += " (the program was built without -buildvcs, or not in a checkout)"
	}
	p.line("%s; commit %s", d.Machine, commit)
}

// problem is one problem's table.
func (p *benchPage) problem(d *bench.Document, one *bench.Problem) {
	best := amount(&one.BestObjective)
	if one.BestObjective == 0 {
		best = "none" // a plan of no job is none
	}
	p.line("")
	p.line("%s: %s; model of %d variables (%d integer), %d rows and %d entries, built in %.1f ms; best plan %s, best "+
		"bound %s",
		one.Name, figures.Count(one.Jobs, "job"), one.Model.Vars, one.Model.Integers, one.Model.Rows, one.Model.Entries,
		one.BuildMS, best, amount(one.BestBound))
	p.line("")
	threads := map[int]bool{}
	for j := range one.Runs {
		threads[one.Runs[j].Threads] = true
	}
	var rows []table.Row
	for j := range one.Runs {
		rows = append(rows, benchRow(d, &one.Runs[j], len(threads) > 1))
	}
	p.rows(benchHead(d), rows)
	if o := one.Oracle; o != nil {
		p.line("Oracle %s, %.3g s: plan %s, bound %s (%s)", o.Engine, o.WallMS/1000, amount(o.Objective[0]), amount(o.Bound),
			o.Stop)
	}
	for _, r := range one.All() {
		if r.Error != "" {
			p.line("%s: %s", r.Engine, said(r))
		}
	}
	if len(one.Wrong) > 0 {
		p.line("Contradiction: a checked plan is worth %s, more than the bound of %s allows.", amount(&one.BestObjective),
			strings.Join(one.Wrong, ", "))
	}
}

// said is a run's error on one line, without the name of the program.
func said(r *bench.Run) string {
	return strings.TrimPrefix(strings.Join(
		strings.FieldsFunc(r.Error, func(c rune) bool { return c == '\n' || c == '\r' }), "; "), "hedge: ")
}

// legend explains the columns.
func (p *benchPage) legend(d *bench.Document) {
	p.line("")
	if len(d.Work) > 0 {
		p.line("within N        what the plan in hand is worth after N work units, about a microsecond each; spent " +
			"is how many were used up")
	} else {
		p.line("at              what the plan in hand is worth at that moment; – is no plan yet")
	}
	p.line("gap %%           how far the engine's bound is above its plan, in %% of the bound; – is no bound yet")
	p.line("bound           no plan can be worth more than this, the engine has proven")
	p.line("stop            optimal: proven; gap: proven to be within --gap; iterations: work used up or method at its " +
		"end; time: time used up")
	p.line("ms, peak MB     the last solve's time, and the largest memory of the engine's process")
}

// totalTable is what --totals prints.
func totalTable(d *bench.Document, spec *bench.Spec, markdown bool) string {
	p := benchPage{markdown: markdown}
	p.machine(d)
	p.line("")
	several := len(spec.Threads) > 1
	var rows []table.Row
	for i := range d.Totals {
		t := &d.Totals[i]
		name := label(t.Engine, t.Threads, several)
		if d.Totals[len(d.Totals)-1].Folder == "" { // there are several, and all
			name = cmp.Or(t.Folder, "all") + ": " + name
		}
		for k := range t.Near {
			var limit any
			if len(d.Work) > 0 {
				limit = d.Work[k]
			} else {
				limit = fmt.Sprintf("%g s", d.AtS[k])
			}
			rows = append(rows, table.Row{name, limit, t.Problems, t.Near[k], t.Proven[k], t.Optimal[k],
				fmt.Sprintf("%.2f", 100*t.Worst[k]), fmt.Sprintf("%.3f", 100*t.MeanGap[k])})
		}
	}
	p.rows(table.Row{"engine", "within", "problems", "near best", "proven", "optimal", "worst %", "mean gap %"}, rows)
	p.line("")
	p.line("near best: plans worth at least %g %% of the best known; proven: within %g %% of the engine's own bound; "+
		"optimal: of these, within a millionth;", 100*bench.Near, 100*spec.Gap)
	p.line("worst: what the poorest plan is worth of the best known; mean gap: to the engine's own bound, 100 where it " +
		"has none. Problems that nobody had a plan for are left out.")
	if left := bench.Unproven(spec, d.Problems); len(left) > 0 {
		p.line("Proven by none (%d): %s", len(left), strings.Join(left, ", "))
	}
	p.failures(d)
	return p.String()
}

// failures are the runs that ended with an error.
func (p *benchPage) failures(d *bench.Document) {
	for i := range d.Problems {
		for _, r := range d.Problems[i].All() {
			if r.Error != "" {
				p.line("Failed on %s: %s: %s", d.Problems[i].Name, r.Engine, said(r))
			}
		}
	}
}

// label is an engine's name in a table, with its threads where they differ.
func label(engine string, threads int, several bool) string {
	switch {
	case !several:
		return engine
	case threads == 1:
		return engine + ", 1 thread"
	}
	return fmt.Sprintf("%s, %d threads", engine, threads)
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
		rows = append(rows, table.Row{d.Problems[i].Name, amount(r.Target), rival, number(r.RivalMS, "%.0f"),
			number(r.MS, "%.1f"),
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
	rows = append(rows, table.Row{fmt.Sprintf("geometric mean of %d", s.Problems), "", "", "", "",
		quotient(sign, s.Speedup), quotient(sign, s.SpeedupGiven)})
	p.rows(table.Row{"problem", "objective", "first of the others", "after ms", s.Engine + " after ms", "×",
		fmt.Sprintf("× of %g s", limit)}, rows)
	p.line("")
	p.line("× is the time of the first of the others that had it, over %s's. × of %g s counts their whole time instead, "+
		"unless that one ended before.", s.Engine, limit)
	p.line("Where no other had a plan (%d), their whole time stands for theirs (≥); where %s never was as good (%d), "+
		"its whole time stands for its own (≤).",
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

func benchRow(d *bench.Document, r *bench.Run, several bool) table.Row {
	row := table.Row{label(r.Engine, r.Threads, several)}
	if len(d.Work) == 0 {
		row = append(row, number(r.FirstMS, "%.0f"))
	}
	for i, o := range r.Objective {
		var percent *float64
		if r.Gap[i] != nil {
			v := 100 * *r.Gap[i]
			percent = &v
		}
		row = append(row, amount(o), number(percent, "%.3g"))
		if len(d.Work) > 0 {
			row = append(row, r.Spent[i])
		}
	}
	stop := string(r.Stop)
	if r.Error != "" {
		stop = "error" // which is told below the table
	}
	return append(row, amount(r.Bound), stop, fmt.Sprintf("%.0f", r.WallMS), fmt.Sprintf("%.0f", r.PeakMB))
}

// number is *v in a format, or a dash.
func number(v *float64, format string) string {
	if v == nil {
		return "–"
	}
	return fmt.Sprintf(format, *v)
}

// amount is a plan's or bound's value with at least seven digits, never with an exponent that hides what differs; or a
// dash.
func amount(v *float64) string {
	if v != nil && math.Abs(*v) >= 1e6 && math.Abs(*v) < 1e15 {
		return fmt.Sprintf("%.0f", *v)
	}
	return number(v, "%.7g")
}
