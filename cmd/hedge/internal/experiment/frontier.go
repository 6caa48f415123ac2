package experiment

import (
	"cmp"
	"slices"

	"github.com/hedgesched/hedge/cmd/hedge/internal/stats"
)

// AtEqual compares the work that policies admit at the violations of one of them, in each workload. Between the values
// of a policy's parameter, admitted work is taken to be linear in violations.
type AtEqual struct {
	// Reference is the policy, with Setting, whose violations are the measure.
	Reference string  `json:"reference"`
	Setting   Setting `json:"setting"`
	// Policies has the other policies with a parameter, and sizes.
	Policies []EqualAdmitted `json:"policies"`
}

// EqualAdmitted is what a policy admits at the reference's violations.
type EqualAdmitted struct {
	Policy string `json:"policy"`
	Nodes  int    `json:"nodes"`
	// Ratio is the CPU time that the policy admits over what the reference admits, over the workloads in which the
	// policy's violations reach from below to above the reference's. Workloads counts these, Of all. Completed is the
	// same for the CPU time of jobs that complete while jobs arrive.
	Ratio     stats.Interval `json:"admitted_ratio"`
	Completed stats.Interval `json:"completed_ratio"`
	Workloads int            `json:"workloads"`
	Of        int            `json:"of"`
}

// reference is the policy, and referenceAt the setting, to whose violations others are held: what Borg runs.
const (
	reference   = "borg-max"
	referenceAt = 5
)

// point is a run in the plane of violations and work.
type point struct{ violations, admitted, completed float64 }

// atEqual compares policies at the reference's violations. It is nil if the reference did not run at its setting.
func atEqual(arms []arm, sizes []int, runs []SharedRun) *AtEqual {
	at := slices.IndexFunc(arms, func(a arm) bool {
		return a.of.Name == reference && a.setting != nil && a.setting.Value == referenceAt
	})
	if at < 0 {
		return nil
	}
	out := &AtEqual{Reference: reference, Setting: *arms[at].setting, Policies: []EqualAdmitted{}}
	works := len(runs) / (len(arms) * len(sizes))
	run := func(arm, size, work int) point {
		r := &runs[(arm*len(sizes)+size)*works+work]
		return point{r.ViolationShare, r.Admitted, r.Completed}
	}
	for first := 0; first < len(arms); {
		end := first + 1
		for end < len(arms) && arms[end].of == arms[first].of {
			end++
		}
		if arms[first].setting != nil && arms[first].of != arms[at].of {
			for k, size := range sizes {
				x := EqualAdmitted{Policy: arms[first].of.Name, Nodes: size, Of: works}
				var admitted, completed []float64
				for w := range works {
					var line []point
					for i := first; i < end; i++ {
						line = append(line, run(i, k, w))
					}
					want := run(at, k, w)
					if got, ok := between(line, want.violations); ok && want.admitted > 0 && want.completed > 0 {
						admitted = append(admitted, got.admitted/want.admitted)
						completed = append(completed, got.completed/want.completed)
					}
				}
				x.Workloads, x.Ratio, x.Completed = len(admitted), stats.Of(admitted), stats.Of(completed)
				out.Policies = append(out.Policies, x)
			}
		}
		first = end
	}
	return out
}

// between is the point of a line of points at some violations, and whether the line reaches them.
func between(line []point, violations float64) (point, bool) {
	slices.SortFunc(line, func(a, b point) int {
		return cmp.Or(cmp.Compare(a.violations, b.violations), cmp.Compare(a.admitted, b.admitted))
	})
	for i, p := range line {
		switch {
		case p.violations < violations:
		case p.violations == violations:
			return p, true
		case i == 0:
			return point{}, false
		default:
			low := line[i-1]
			share := (violations - low.violations) / (p.violations - low.violations)
			return point{violations, low.admitted + float64(share*(p.admitted-low.admitted)),
				low.completed + float64(share*(p.completed-low.completed))}, true
		}
	}
	return point{}, false
}
