package cli

import (
	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/hedgesched/hedge/cmd/hedge/internal/figures"
	"github.com/hedgesched/hedge/cmd/hedge/internal/stats"
)

// gsSummary is what GS's policies have over the seeds beside what all have. The errors are null where there are none.
type gsSummary struct {
	WideMean    stats.Interval  `json:"wide_mean_s"`
	WideOver    overFirst       `json:"wide_over_first"`
	MedianError *stats.Interval `json:"median_error"`
	P90Error    *stats.Interval `json:"p90_error"`
	RightQueue  *stats.Interval `json:"right_queue"`
}

// summariseGS is nil for a policy that is none of GS's.
func summariseGS(runs []tasksRun, policy string, of func(func(*tasksRun) float64) stats.Interval) *gsSummary {
	thin, sized := int32(-1), false
	for i := range runs {
		if r := &runs[i]; r.Policy == policy && r.gsFigures != nil {
			thin, sized = r.thin, r.MedianError != nil
		}
	}
	if thin < 0 {
		return nil
	}
	s := &gsSummary{WideMean: of(func(r *tasksRun) float64 { return r.Wide.JCT.Mean }),
		WideOver: over(runs, policy, func(r *tasksRun, job int) bool { return r.tasks[job] >= thin })}
	if sized {
		value := func(figure func(*gsFigures) *float64) *stats.Interval {
			v := of(func(r *tasksRun) float64 { return *figure(r.gsFigures) })
			return &v
		}
		s.MedianError = value(func(f *gsFigures) *float64 { return f.MedianError })
		s.P90Error = value(func(f *gsFigures) *float64 { return f.P90Error })
		s.RightQueue = value(func(f *gsFigures) *float64 { return f.RightQueue })
	}
	return s
}

// hasGS tells whether any policy is one of GS's.
func (d *tasksComparison) hasGS() bool {
	for i := range d.Summary {
		if d.Summary[i].gsSummary != nil {
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
		if g := s.gsSummary; g != nil {
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
