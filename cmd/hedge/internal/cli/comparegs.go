package cli

import (
	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/hedgesched/hedge/cmd/hedge/internal/figures"
	"github.com/hedgesched/hedge/cmd/hedge/internal/stats"
)

// GSSummary is what GS's policies have over the seeds beside what all have. The errors are null where there are none.
type GSSummary struct {
	WideMean    stats.Interval  `json:"wide_mean_s"`
	WideOver    overFirst       `json:"wide_over_first"`
	MedianError *stats.Interval `json:"median_error"`
	P90Error    *stats.Interval `json:"p90_error"`
	RightQueue  *stats.Interval `json:"right_queue"`
	// Bins are thin and small, wide and small, thin and large, wide and large jobs; large ones have 1000 s of tasks
	// (Table 8).
	Bins []gsBin `json:"bins"`
}

// gsBin is the jobs of a bin: their shares of all jobs and of their tasks' time, and their completion times over those
// of the first policy.
type gsBin struct {
	Jobs stats.Interval `json:"jobs"`
	Work stats.Interval `json:"work"`
	Over overFirst      `json:"over_first"`
}

// summariseGS is nil for a policy that is none of GS's.
func summariseGS(runs []tasksRun, policy string, of func(func(*tasksRun) float64) stats.Interval) *GSSummary {
	thin, sized := int32(-1), false
	for i := range runs {
		if r := &runs[i]; r.Policy == policy && r.GSFigures != nil {
			thin, sized = r.thin, r.MedianError != nil
		}
	}
	if thin < 0 {
		return nil
	}
	s := &GSSummary{WideMean: of(func(r *tasksRun) float64 { return r.Wide.JCT.Mean }),
		WideOver: over(runs, policy, func(r *tasksRun, job int) bool { return r.tasks[job] >= thin })}
	for bin := range 4 {
		in := func(r *tasksRun, job int) bool { return binOf(r, job, thin) == bin }
		s.Bins = append(s.Bins, gsBin{Jobs: of(func(r *tasksRun) float64 { return share(r, in, false) }),
			Work: of(func(r *tasksRun) float64 { return share(r, in, true) }), Over: over(runs, policy, in)})
	}
	if sized {
		value := func(figure func(*GSFigures) *float64) *stats.Interval {
			v := of(func(r *tasksRun) float64 { return *figure(r.GSFigures) })
			return &v
		}
		s.MedianError = value(func(f *GSFigures) *float64 { return f.MedianError })
		s.P90Error = value(func(f *GSFigures) *float64 { return f.P90Error })
		s.RightQueue = value(func(f *GSFigures) *float64 { return f.RightQueue })
	}
	return s
}

// binOf is the number of a job's bin.
func binOf(r *tasksRun, job int, thin int32) (bin int) {
	if r.tasks[job] >= thin {
		bin++
	}
	if r.sizes[job] >= 1000 {
		bin += 2
	}
	return bin
}

// share is that of some jobs of all jobs, or of their tasks' time.
func share(r *tasksRun, in func(*tasksRun, int) bool, byWork bool) float64 {
	some, all := 0.0, 0.0
	for job, work := range r.sizes {
		if !byWork {
			work = 1
		}
		all += work
		if in(r, job) {
			some += work
		}
	}
	return some / max(all, 1e-9)
}

// hasGS tells whether any policy is one of GS's.
func (d *tasksComparison) hasGS() bool {
	for i := range d.Summary {
		if d.Summary[i].GSSummary != nil {
			return true
		}
	}
	return false
}

func gsHead() table.Row {
	return table.Row{"policy", "mean", "over first", "median", "wide mean", "over first", "median", "error % p50", "p90",
		"right queue %"}
}

func gsRows(d *tasksComparison) []table.Row {
	var rows []table.Row
	for i := range d.Summary {
		s := &d.Summary[i]
		row := table.Row{s.Policy, figures.Interval(s.All.Mean, 1), figures.Interval(s.Over.Mean, 1),
			figures.Interval(s.Over.Median, 1)}
		if g := s.GSSummary; g != nil {
			row = append(row, figures.Interval(g.WideMean, 1), figures.Interval(g.WideOver.Mean, 1),
				figures.Interval(g.WideOver.Median, 1))
			for _, share := range []*stats.Interval{g.MedianError, g.P90Error, g.RightQueue} {
				if share != nil {
					row = append(row, figures.Interval(*share, 100))
				}
			}
		}
		rows = append(rows, row)
	}
	return rows
}
