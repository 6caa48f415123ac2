package workload

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/hedgesched/hedge/adapters/sim/trace"
)

// window takes jobs from a point of the log on until their machine-time makes
// the load, then maps that stretch of the log onto Hours.
func (b *builder) window() (*Workload, error) {
	first, err := b.windowStart()
	if err != nil {
		return nil, err
	}
	start := b.jobs[first].Submit
	if at, fixed := b.spec.start(); fixed {
		start = at
	}
	target := b.target()
	var drafts []draft
	var work float64
	end := start
	for i := first; i < len(b.jobs) && work < target; i++ {
		j := b.jobs[i]
		if why := b.refuse(j); why != "" {
			b.skipped[why]++
			continue
		}
		d := draft{job: j, nodes: b.nodesOf(j.Tasks), runtime: j.Runtime, arrive: j.Submit - start, whole: b.wholes[j.ID]}
		drafts = append(drafts, d)
		work += d.work()
		end = j.Submit
	}
	if len(drafts) == 0 {
		return nil, fmt.Errorf("workload: window at hour %g: %w", start.Hours(), ErrEmpty)
	}
	if work < 0.99*target {
		return nil, fmt.Errorf("workload: from hour %g the trace holds %.4g machine-hours, load %g needs %.4g: %w",
			start.Hours(), work/3600, b.spec.Load, target/3600, ErrTooLittleWork)
	}
	drafts = b.trim(drafts, work-target)
	stretch(drafts, b.span)
	b.chooseSLO(drafts)
	w, err := b.finish(drafts, end-start)
	if err != nil {
		return nil, err
	}
	w.Train = b.history(start)
	return w, nil
}

// windowStart is the index of the first job of the window.
func (b *builder) windowStart() (int, error) {
	if len(b.jobs) == 0 {
		return 0, fmt.Errorf("workload: the trace: %w", ErrEmpty)
	}
	if start, fixed := b.spec.start(); fixed {
		i := sort.Search(len(b.jobs), func(i int) bool { return b.jobs[i].Submit >= start })
		if i == len(b.jobs) {
			last := b.jobs[len(b.jobs)-1].Submit.Hours()
			return 0, &SpecError{"StartHour", b.spec.StartHour, fmt.Sprintf("at most %.4g, the trace's last submission", last)}
		}
		return i, nil
	}
	var usable []int
	var total float64
	for i := range b.jobs {
		if b.refuse(b.jobs[i]) == "" {
			usable = append(usable, i)
		}
	}
	if len(usable) == 0 {
		return 0, fmt.Errorf("workload: none of %d jobs: %w", len(b.jobs), ErrEmpty)
	}
	latest := len(usable) // the last start that leaves enough work
	for latest > 0 && total < b.target() {
		latest--
		j := b.jobs[usable[latest]]
		d := draft{nodes: b.nodesOf(j.Tasks), runtime: j.Runtime, whole: b.wholes[j.ID]}
		total += d.work()
	}
	lo, hi := min(len(usable)*2/5, latest/2), min(len(usable)*3/5, latest)
	return usable[lo+b.rng.IntN(hi-lo+1)], nil
}

// trim leaves out the few jobs whose absence brings the machine-time nearest
// to the target, excess node-seconds away.
func (b *builder) trim(drafts []draft, excess float64) []draft {
	tolerance := 1e-3 * b.target()
	for len(drafts) > 1 && excess > tolerance {
		best, left := -1, excess
		for i := range drafts {
			if after := math.Abs(excess - drafts[i].work()); after < left {
				best, left = i, after
			}
		}
		if best < 0 {
			break
		}
		excess -= drafts[best].work()
		drafts = append(drafts[:best], drafts[best+1:]...)
		b.skipped[SkippedTrimmed]++
	}
	return drafts
}

// stretch maps arrivals linearly so that the last is one mean gap before the end of the span.
func stretch(drafts []draft, span time.Duration) {
	last := drafts[len(drafts)-1].arrive
	n := float64(len(drafts))
	if last <= 0 {
		return
	}
	factor := float64(span) * (n / (n + 1)) / float64(last)
	for i := range drafts {
		drafts[i].arrive = time.Duration(float64(drafts[i].arrive) * factor)
	}
}

// replay takes the log as it is.
func (b *builder) replay() (*Workload, error) {
	if len(b.jobs) == 0 {
		return nil, fmt.Errorf("workload: the trace: %w", ErrEmpty)
	}
	start := b.jobs[0].Submit
	if at, fixed := b.spec.start(); fixed {
		if _, err := b.windowStart(); err != nil {
			return nil, err
		}
		start = at
	}
	drafts := make([]draft, 0, len(b.jobs))
	out := map[string]bool{} // jobs that are left out
	for i := range b.jobs {
		j := b.jobs[i]
		if j.Submit < start || b.span > 0 && j.Submit >= start+b.span {
			out[j.ID] = true
			continue
		}
		nodes := b.nodesOf(j.Tasks)
		why := ""
		switch {
		case j.Runtime <= 0:
			why = SkippedNoRuntime
		case nodes > b.spec.Nodes:
			why = SkippedTooWide
		case slices.ContainsFunc(j.After, func(parent string) bool { return out[parent] }):
			why = SkippedParent
		}
		if why != "" {
			b.skipped[why]++
			out[j.ID] = true
			continue
		}
		drafts = append(drafts, draft{job: j, nodes: nodes, runtime: j.Runtime, arrive: j.Submit - start,
			slo: j.Deadline > 0})
	}
	if len(drafts) == 0 {
		return nil, fmt.Errorf("workload: replay from hour %g: %w", start.Hours(), ErrEmpty)
	}
	if b.span == 0 {
		b.span = drafts[len(drafts)-1].arrive
	}
	w, err := b.finish(drafts, b.span)
	if err != nil {
		return nil, err
	}
	w.Train = b.history(start)
	return w, nil
}

// finished tells whether j teaches anything.
func finished(j *trace.Job) bool {
	return j.Runtime > 0 && (j.Outcome == trace.Finished || j.Outcome == trace.Unknown)
}
