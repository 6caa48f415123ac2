package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/hedgesched/hedge/cmd/hedge/internal/chart"
	"github.com/hedgesched/hedge/cmd/hedge/internal/figures"
	"github.com/hedgesched/hedge/cmd/hedge/internal/stats"
)

// MostPilots is the most pilots of a job after which its estimate is kept.
const MostPilots = 100

// pilotSteps are the numbers of pilots that are shown.
func pilotSteps() []int { return []int{1, 2, 3, 5, 10, 20, 30, 50, MostPilots} }

// fewestJobs is the least number of jobs that a median is drawn of.
const fewestJobs = 5

// taskPilots adds how far estimates are off by the number of pilots, of the policies that estimate sizes. After each
// number of pilots all policies are judged by the same jobs: those of which the first policy that samples ran as
// many.
func taskPilots(p *page, d *Tasks) error {
	by := d.sampler()
	if by == "" {
		return nil
	}
	var lines []chart.Series
	var steps []int
	g := &grid{Head: []string{"pilots", "jobs"}}
	for _, k := range pilotSteps() {
		if n := len(d.errorsAfter(by, by, k)); n >= fewestJobs {
			steps = append(steps, k)
			g.Rows = append(g.Rows, []string{fmt.Sprint(k), fmt.Sprint(n)})
		}
	}
	if len(steps) == 0 {
		return nil
	}
	for i, policy := range d.policies() {
		if !d.estimates(policy) {
			continue
		}
		one := line(policy, i)
		g.Head = append(g.Head, policy)
		for row, k := range steps {
			cell := ""
			if errs := stats.Sorted(d.errorsAfter(policy, by, k)); len(errs) > 0 {
				median := 100 * stats.Between(errs, 0.5)
				one.X, one.Y = append(one.X, float64(k)), append(one.Y, median)
				cell = figures.Number(median)
			}
			g.Rows[row] = append(g.Rows[row], cell)
		}
		lines = append(lines, one)
	}
	const title = "Prediction error by pilots seen"
	text := fmt.Sprintf("Median error of the estimated size of wide jobs, in %% of the true one, by the number of the "+
		"job's pilots that have ended: lower is better. At each number the jobs are those of which %s ran as many, so they "+
		"are wider further right. A policy that runs fewer pilots of a job, or none, counts with its last estimate.", by)
	s := section{Title: title, Text: text, Legend: legendOf(lines), Table: g}
	if len(steps) > 1 {
		var err error
		s.Chart, err = chart.Lines(title+". "+text, chart.Axis{Label: "pilots that have ended", Log: true},
			chart.Axis{Label: "median error, %"}, lines)
		if err != nil {
			return err
		}
	}
	p.Sections = append(p.Sections, s)
	return nil
}

// sampler is the first policy that ran pilots, or none.
func (d *Tasks) sampler() string {
	for i := range d.Runs {
		r := &d.Runs[i]
		if slices.ContainsFunc(r.Estimates, func(job []float64) bool { return len(job) > 1 }) {
			return r.Policy
		}
	}
	return ""
}

// estimates tells whether the policy estimates sizes.
func (d *Tasks) estimates(policy string) bool {
	return slices.ContainsFunc(d.Runs, func(r TaskRun) bool { return r.Policy == policy && r.Estimates != nil })
}

// errorsAfter are the relative errors of a policy's estimates by the number of pilots, over all seeds and over the
// jobs of which another policy ran as many with the same seed.
func (d *Tasks) errorsAfter(policy, by string, pilots int) []float64 {
	var out []float64
	for i := range d.Runs {
		r := &d.Runs[i]
		at := slices.IndexFunc(d.Runs, func(o TaskRun) bool { return o.Policy == by && o.Seed == r.Seed })
		if r.Policy != policy || at < 0 {
			continue
		}
		for job, estimates := range r.Estimates {
			if len(d.Runs[at].Estimates[job]) <= pilots || len(estimates) == 0 {
				continue
			}
			if e := estimates[min(pilots, len(estimates)-1)]; !math.IsNaN(e) {
				out = append(out, math.Abs(e-1))
			}
		}
	}
	return out
}
