package why

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/whatif"
)

// Kind is what a remedy changes.
type Kind string

// The kinds, in the order of explanations.
const (
	// FewerTasks makes the gang smaller.
	FewerTasks Kind = "tasks"
	// AnotherSet lets the job run on more nodes: with further values of one label, without regard to one label, or anywhere.
	AnotherSet Kind = "set"
	// JobsEnd has running jobs end now.
	JobsEnd Kind = "ends"
	// JobsAhead withdraws jobs that get room before this one.
	JobsAhead Kind = "ahead"
	// MoreNodes adds nodes like one that there is.
	MoreNodes Kind = "nodes"
	// HigherPriority makes the job more urgent.
	HigherPriority Kind = "priority"
)

// Remedy is a change with which the job starts now.
type Remedy struct {
	Kind Kind `json:"kind"`
	// Text says it in words, as "with 3 tasks instead of 8".
	Text string `json:"text"`
	// Changes are what to apply, in the language of package whatif.
	Changes []whatif.Change `json:"changes"`
	// Size is how many tasks fewer, values or labels more, jobs, nodes, or steps of priority it takes.
	Size int `json:"size"`
	// Starts tells that the policy planned the changed snapshot and started the job.
	Starts bool `json:"starts"`
	// Smallest tells that one less was tried, too, and did not start the job: one task more, one value less, one job of
	// those named left as it is, one node less, a priority lower by 1.
	Smallest bool `json:"smallest"`
}

// remedies adds the remedies of all kinds.
func (e *Explainer) remedies(ctx context.Context, x *Explanation, j *waiting) error {
	t := &trial{Explainer: e, ctx: ctx, job: j.job.ID}
	for _, kind := range []func(*waiting, *Explanation) (*Remedy, error){
		t.fewer, t.anywhere, t.end, t.withdraw, t.grow, t.urge,
	} {
		r, err := kind(j, x)
		if r != nil {
			r.Starts = e.opt.Plan != nil
			x.Remedies = append(x.Remedies, *r)
		}
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return ctx.Err()
		case ended(err) != nil:
			return fmt.Errorf("why: job %q: %w", j.job.ID, err)
		default:
			return nil
		}
	}
	return nil
}

// fewer is a smaller gang.
func (t *trial) fewer(j *waiting, _ *Explanation) (*Remedy, error) {
	tasks := j.job.Tasks
	change := func(size int) []whatif.Change {
		return []whatif.Change{{Verb: whatif.Tasks, Name: j.job.ID, Count: tasks - size}}
	}
	guess := tasks - j.fits
	if t.opt.Plan == nil && (j.fits < 1 || guess < 1) {
		return nil, nil
	}
	size, settled, err := t.least(guess, tasks-1, change)
	if size == 0 {
		return nil, err
	}
	return &Remedy{Kind: FewerTasks, Changes: change(size), Size: size, Smallest: settled,
		Text: fmt.Sprintf("with %s instead of %d", count(tasks-size, "task"), tasks)}, err
}

// end has running jobs end: one alone if one will do, or else the first to end.
func (t *trial) end(j *waiting, _ *Explanation) (*Remedy, error) {
	lack := j.job.Tasks - j.fits
	ends := j.ends
	for _, h := range ends {
		if lack <= 0 || h.tasks < lack {
			continue
		}
		one := []string{h.run.Job.ID}
		if t.opt.Plan == nil {
			return t.ending(one, false, nil)
		}
		ok, err := t.starts(gone(one)...)
		if err != nil {
			return nil, err
		}
		if ok {
			return t.ending(one, true, nil)
		}
		break
	}
	names, guess := t.order(ends, j)
	if t.opt.Plan == nil && (lack <= 0 || guess == 0) {
		return nil, nil
	}
	guess = cmp.Or(guess, len(names))
	size, _, err := t.least(guess, len(names), func(size int) []whatif.Change { return gone(names[:size]) })
	if size == 0 && err == nil {
		all, spans := t.all(ends)
		if len(all) == len(ends) {
			return nil, nil
		}
		ends, names = spans, all
		size, _, err = t.least(len(names), len(names), func(size int) []whatif.Change { return gone(names[:size]) })
	}
	if size == 0 || t.opt.Plan == nil {
		return t.ending(names[:size], false, err)
	}
	left, settled, err := t.needed(names[:size], gone)
	return t.ending(left, settled, err)
}

// order names the holders by when they end, and how many of them must end to make room; 0 if all do not.
func (t *trial) order(ends []held, j *waiting) (names []string, guess int) {
	if j.demand == nil {
		return nil, 0
	}
	placer := sched.NewPlacer(t.left)
	for i, h := range ends {
		names = append(names, h.run.Job.ID)
		placer.Release(h.run)
		if guess == 0 && placer.FitsAtLeast(j.demand, j.nodes, j.job.Tasks) {
			guess = i + 1
		}
	}
	return names, guess
}

// all are the holders and then all other jobs that run, by when they end.
func (t *trial) all(first []held) (names []string, ends []held) {
	known := make(map[string]struct{}, len(first))
	ends = slices.Clone(first)
	for _, h := range first {
		known[h.run.Job.ID] = struct{}{}
	}
	for i := range t.snap.Running {
		r := &t.snap.Running[i]
		if _, ok := known[r.Job.ID]; !ok && t.decision(r.Job.ID).Kind != sched.Preempt {
			span, _ := ending(r, t.snap.Now)
			ends = append(ends, held{run: r, span: span})
		}
	}
	slices.SortStableFunc(ends[len(first):], func(a, b held) int {
		return cmp.Or(cmp.Compare(a.span.P50, b.span.P50), strings.Compare(a.run.Job.ID, b.run.Job.ID))
	})
	for i := range ends {
		names = append(names, ends[i].run.Job.ID)
	}
	return names, ends
}

// ending is the remedy that these running jobs end.
func (t *trial) ending(jobs []string, settled bool, err error) (*Remedy, error) {
	if len(jobs) == 0 {
		return nil, err
	}
	last := 0.0
	for i := range t.snap.Running {
		if r := &t.snap.Running[i]; slices.Contains(jobs, r.Job.ID) {
			span, _ := ending(r, t.snap.Now)
			last = max(last, span.P50)
		}
	}
	text := fmt.Sprintf("if %s ended, as is expected %s", list(jobs), in(last))
	return &Remedy{Kind: JobsEnd, Text: text, Changes: gone(jobs), Size: len(jobs), Smallest: settled}, err
}

// in is a time from now in words.
func in(seconds float64) string {
	if seconds < 1 {
		return "at any moment"
	}
	const most = 1e9 // seconds; a duration holds some more
	d := time.Duration(min(seconds, most)) * time.Second
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("in %.0f days", d.Hours()/24)
	case d >= 10*time.Minute:
		d = d.Round(time.Minute)
		return "in " + strings.TrimSuffix(d.String(), "0s")
	}
	return "in " + d.String()
}

// withdraw takes jobs away that get room first.
func (t *trial) withdraw(_ *waiting, x *Explanation) (*Remedy, error) {
	if t.opt.Plan == nil {
		return nil, nil // what the room would be used for only the policy knows
	}
	size, _, err := t.least(1, len(x.Ahead), func(size int) []whatif.Change { return gone(x.Ahead[:size]) })
	if size == 0 {
		return nil, err
	}
	left, settled, err := t.needed(x.Ahead[:size], gone)
	return &Remedy{Kind: JobsAhead, Changes: gone(left), Size: len(left), Smallest: settled,
		Text: fmt.Sprintf("if %s were withdrawn", list(left))}, err
}

// urge raises the priority. Of priorities only those tell that are at or just above another job's.
func (t *trial) urge(j *waiting, _ *Explanation) (*Remedy, error) {
	if t.opt.Plan == nil || t.most < j.job.Priority || t.most == math.MaxInt {
		return nil, nil
	}
	steps := t.priorities(j.job.Priority)
	change := func(size int) []whatif.Change {
		return []whatif.Change{{Verb: whatif.Priority, Name: j.job.ID, Count: steps[size-1]}}
	}
	size, settled, err := t.least(len(steps), len(steps), change)
	if size == 0 {
		return nil, err
	}
	at := steps[size-1]
	if below := at - 1; settled && below > j.job.Priority && (size == 1 || below != steps[size-2]) {
		ok, err := t.starts(whatif.Change{Verb: whatif.Priority, Name: j.job.ID, Count: below})
		settled = err == nil && !ok
	}
	return &Remedy{Kind: HigherPriority, Changes: change(size), Size: at - j.job.Priority, Smallest: settled,
		Text: fmt.Sprintf("with priority %d instead of %d", at, j.job.Priority)}, err
}

// priorities are those above a job's own that order it otherwise among all jobs, ascending.
func (t *trial) priorities(own int) []int {
	found := map[int]struct{}{}
	note := func(p int) {
		for _, p := range []int{p, p + 1} {
			if p > own {
				found[p] = struct{}{}
			}
		}
	}
	for i := range t.snap.Pending {
		note(t.snap.Pending[i].Job.Priority)
	}
	for i := range t.snap.Running {
		note(t.snap.Running[i].Job.Priority)
	}
	return slices.Sorted(maps.Keys(found))
}

// count is a number of things in words.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// list names the first few jobs.
func list(jobs []string) string {
	const most = 3
	switch n := len(jobs); {
	case n == 1:
		return jobs[0]
	case n <= most:
		return strings.Join(jobs[:n-1], ", ") + " and " + jobs[n-1]
	default:
		return fmt.Sprintf("%s and %d more", strings.Join(jobs[:most], ", "), n-most)
	}
}
