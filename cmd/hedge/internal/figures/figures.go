// Package figures writes numbers for people, in the same way in tables on the terminal,
// in reports and on the page of results.
package figures

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/hedgesched/hedge/cmd/hedge/internal/stats"
)

// Number writes x with about three digits.
func Number(x float64) string {
	switch a := math.Abs(x); {
	case x == 0:
		return "0"
	case a >= 100:
		return fmt.Sprintf("%.0f", x)
	case a >= 10:
		return fmt.Sprintf("%.1f", x)
	case a >= .01:
		return fmt.Sprintf("%.2f", x)
	}
	return fmt.Sprintf("%.2g", x)
}

// Percent writes a share as a percentage.
func Percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// Span writes seconds in the unit that suits their size.
func Span(seconds float64) string {
	switch {
	case seconds < 120:
		return Number(seconds) + " s"
	case seconds < 2*3600:
		return Number(seconds/60) + " min"
	case seconds < 48*3600:
		return Number(seconds/3600) + " h"
	}
	return Number(seconds/86400) + " days"
}

// Interval writes a mean, scaled, and half of its 95 % interval where there is one. A whole number that stands alone
// and as it is, as counts do, has nothing behind the point; an unknown one, not a number, is a dash.
func Interval(iv stats.Interval, scale float64) string {
	switch {
	case math.IsNaN(iv.Mean):
		return "–"
	case iv.CI95 == nil && scale == 1 && iv.Mean == math.Trunc(iv.Mean):
		return fmt.Sprintf("%.0f", iv.Mean)
	case iv.CI95 == nil:
		return Number(scale * iv.Mean)
	}
	return Number(scale*iv.Mean) + " ± " + Number(scale*(iv.CI95[1]-iv.Mean))
}

// JobsOf writes how many jobs a log has, and of how many users where it names them.
func JobsOf(jobs, users int) string {
	if users == 0 {
		return fmt.Sprintf("%d jobs", jobs)
	}
	return fmt.Sprintf("%d jobs of %d users", jobs, users)
}

// Count writes how many there are of what: 1 job, 2 jobs.
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Counts writes what was counted by reason, in order of the reasons; "" for nothing.
func Counts(counts map[string]int) string {
	var parts []string
	for _, reason := range slices.Sorted(maps.Keys(counts)) {
		if n := counts[reason]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, reason))
		}
	}
	return strings.Join(parts, ", ")
}

// Ignored writes which demands of a log are not simulated; "" for none.
func Ignored(demands []string) string {
	if len(demands) == 0 {
		return ""
	}
	return "not simulated: the tasks' demands of " + strings.Join(demands, ", ") +
		"; a task takes a node, or its share by tasks per node"
}

// Unmatched writes which labels of a log's speeds no node has; "" for none.
func Unmatched(labels []string) string {
	const most = 5
	if len(labels) == 0 {
		return ""
	}
	named := strings.Join(labels[:min(len(labels), most)], ", ")
	if len(labels) > most {
		named += ", …"
	}
	return "no node has labels by which the log says how fast jobs run: " + named + "; --node-labels gives nodes labels"
}

// Largest returns the names of the n largest shares, those of equal share in order of their names.
func Largest(shares map[string]float64, n int) []string {
	names := slices.Sorted(maps.Keys(shares))
	slices.SortStableFunc(names, func(a, b string) int {
		switch {
		case shares[a] > shares[b]:
			return -1
		case shares[a] < shares[b]:
			return 1
		}
		return 0
	})
	return names[:min(n, len(names))]
}
