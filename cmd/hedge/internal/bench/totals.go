package bench

import "slices"

// Near is the share of the best plan's value that a plan is worth, at least, to be counted as near it.
const Near = 0.999

// Total is what an engine reached on the problems of a folder, or on all: a number for each moment, or for each limit
// of work.
type Total struct {
	// Folder is "" for all, where there are several.
	Folder  string `json:"folder"`
	Engine  string `json:"engine"`
	Threads int    `json:"threads"`
	// Problems are those that any engine had a plan for.
	Problems int `json:"problems"`
	// Of them, Near are plans worth at least 99.9 % of the best one known, Proven those that the engine itself proved to
	// be within the gap that was asked for, and Optimal those that it proved but for [solver.Tolerance].
	Near    []int `json:"near"`
	Proven  []int `json:"proven"`
	Optimal []int `json:"optimal"`
	// Worst is the poorest plan's share of the best known value: 1 if all are as good, 0 if there is none.
	Worst []float64 `json:"worst"`
	// MeanGap is the mean of the gaps to the engine's own bound; one without a bound counts as 1.
	MeanGap []float64 `json:"mean_gap"`
}

// Totals counts by folder, in the order of the problems, and then of all.
func Totals(spec *Spec, problems []Problem) []Total {
	var folders []string
	for i := range problems {
		if !slices.Contains(folders, problems[i].Folder) {
			folders = append(folders, problems[i].Folder)
		}
	}
	if len(folders) != 1 {
		folders = append(folders, "")
	}
	totals := []Total{}
	for _, folder := range folders {
		for k, r := range spec.racers() {
			t := newTotal(folder, r, max(len(spec.At), len(spec.Work)))
			for i := range problems {
				if p := &problems[i]; p.BestObjective > 0 && (folder == "" || p.Folder == folder) {
					t.add(p, &p.Runs[k], spec.Gap)
				}
			}
			for i := range t.MeanGap {
				t.MeanGap[i] /= float64(max(1, t.Problems))
			}
			totals = append(totals, t)
		}
	}
	return totals
}

func newTotal(folder string, r racer, n int) Total {
	t := Total{Folder: folder, Engine: r.engine, Threads: r.threads, Near: make([]int, n), Proven: make([]int, n),
		Optimal: make([]int, n), Worst: make([]float64, n), MeanGap: make([]float64, n)}
	for i := range t.Worst {
		t.Worst[i] = 1
	}
	return t
}

// add counts a run.
func (t *Total) add(p *Problem, r *Run, gap float64) {
	t.Problems++
	for i, o := range r.Objective {
		share := 0.0
		if o != nil {
			share = *o / p.BestObjective
		}
		t.Worst[i] = min(t.Worst[i], share)
		if share >= Near {
			t.Near[i]++
		}
		own := 1.0
		if r.Gap[i] != nil {
			own = *r.Gap[i]
		}
		t.MeanGap[i] += own
		if within(own, gap) {
			t.Proven[i]++
		}
		if within(own, 0) {
			t.Optimal[i]++
		}
	}
}

// Unproven are the names of the problems that no engine has proven within the gap, the oracle included.
func Unproven(spec *Spec, problems []Problem) []string {
	var list []string
	for i := range problems {
		if p := &problems[i]; p.BestObjective > 0 && !p.proven(spec.Gap) {
			list = append(list, p.Name)
		}
	}
	return list
}
