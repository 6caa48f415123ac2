package why

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/place"
	"github.com/hedgesched/hedge/sched/whatif"
)

// Kind says what a remedy changes.
type Kind string

// The kinds, in the order of explanations.
const (
	// FewerTasks makes the gang smaller.
	FewerTasks Kind = "tasks"
	// AnotherSet widens the equivalence set of the job: by further values of one label, by dropping one label, or to all
	// nodes.
	AnotherSet Kind = "set"
	// JobsEnd ends running jobs now.
	JobsEnd Kind = "ends"
	// JobsAhead withdraws jobs that would get room before this one.
	JobsAhead Kind = "ahead"
	// MoreNodes adds nodes like an existing one.
	MoreNodes Kind = "nodes"
	// HigherPriority raises the job's priority.
	HigherPriority Kind = "priority"
)

// Remedy is a change with which the job starts now.
type Remedy struct {
	Kind Kind `json:"kind"`
	// Text is the remedy in words, such as "with 3 tasks instead of 8".
	Text string `json:"text"`
	// Changes are the changes to apply, in the language of package whatif.
	Changes []whatif.Change `json:"changes"`
	// Size is the number of tasks removed, label values or labels added, jobs dropped, nodes added, or steps of priority.
	Size int `json:"size"`
	// Starts reports that the policy planned the changed snapshot and started the job.
	Starts bool `json:"starts"`
	// Smallest reports that the next smaller change was tried and did not start the job: one task more, one value less,
	// one of the dropped jobs kept, one node less, or a priority lower by 1.
	Smallest bool `json:"smallest"`
}

// search looks for a remedy of one kind.
type search func(*trial, *waiting, *Explanation) (*Remedy, error)

// searches are those of all kinds, in the order of explanations.
func searches() []search {
	return []search{
		(*trial).fewer, (*trial).anywhere, (*trial).end, (*trial).withdraw, (*trial).grow, (*trial).urge,
	}
}

// remedies searches for a remedy of each kind.
func (e *Explainer) remedies(ctx context.Context, x *Explanation, j *waiting) error {
	all := searches()
	found := e.together(ctx, x, j, all)
	left := e.opt.Tries
	for i, kind := range all {
		var f finding
		if found != nil {
			f = found[i]
		}
		if found == nil || f.tries > left && left < e.opt.Tries { // it had more tries than are left to it
			f = e.find(ctx, x, j, kind, left)
		}
		left = max(0, left-f.tries)
		if f.remedy != nil {
			f.remedy.Starts = e.opt.Plan != nil
			x.Remedies = append(x.Remedies, *f.remedy)
		}
		switch {
		case f.err == nil:
		case ctx.Err() != nil:
			return ctx.Err()
		case ended(f.err) != nil:
			return fmt.Errorf("why: job %q: %w", j.job.ID, f.err)
		default:
			return nil
		}
	}
	return nil
}

// finding is what a search has found, and the tries that it took.
type finding struct {
	remedy *Remedy
	err    error
	tries  int
}

// find searches for a remedy of one kind with a limited number of tries.
func (e *Explainer) find(ctx context.Context, x *Explanation, j *waiting, kind search, limit int) finding {
	t := &trial{Explainer: e, ctx: ctx, job: j.job.ID, limit: limit}
	r, err := kind(t, j, x)
	return finding{r, err, t.tries}
}

// together makes all searches, each with all tries, on as many goroutines as [Options].Threads allows. It returns nil
// if only one is allowed or nothing is planned. When it returns, the goroutines have ended.
func (e *Explainer) together(ctx context.Context, x *Explanation, j *waiting, all []search) []finding {
	threads := min(e.opt.Threads, len(all))
	if threads < 2 || e.opt.Plan == nil {
		return nil
	}
	found := make([]finding, len(all))
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1)) - 1; i < len(all); i = int(next.Add(1)) - 1 {
			found[i] = e.find(ctx, x, j, all[i], e.opt.Tries)
		}
	}
	var others sync.WaitGroup
	for range threads - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
	return found
}

// fewer makes the gang smaller.
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

// end ends running jobs: a single one if that is enough, otherwise those with the earliest expected ends.
func (t *trial) end(j *waiting, _ *Explanation) (*Remedy, error) {
	room := t.enough(j)
	if t.opt.Plan == nil {
		return t.ending(room, false, nil)
	}
	if len(room) > 0 {
		ok, err := t.starts(gone(room)...)
		if err != nil {
			return nil, err
		}
		if ok {
			left, settled, err := t.needed(room, gone)
			return t.ending(left, settled, err)
		}
	}
	names := t.all(j.ends)
	first := func(size int) []whatif.Change { return gone(names[:size]) }
	size, _, err := t.least(len(j.ends), len(names), first)
	if size == 0 {
		return nil, err
	}
	left, settled, err := t.needed(names[:size], gone)
	return t.ending(left, settled, err)
}

// enough returns holders whose ends make room for the job: the earliest to end whose room is enough alone, or else the
// earliest to end together, without those that are not needed.
func (t *trial) enough(j *waiting) []string {
	lack := j.job.Tasks - j.fits
	if j.demand == nil || lack <= 0 {
		return nil
	}
	for _, h := range j.ends {
		if h.tasks >= lack {
			return []string{h.run.Job.ID}
		}
	}
	placer := place.NewPlacer(t.left)
	fits := func() bool { return placer.FitsAtLeast(j.demand, j.nodes, j.job.Tasks) }
	var chosen []held
	for _, h := range j.ends {
		chosen = append(chosen, h)
		placer.Release(h.run)
		if fits() {
			break
		}
	}
	if !fits() {
		return nil
	}
	var names []string
	for i, h := range chosen {
		demand, err := t.snap.Nodes.Demand(h.run.Job.Demand)
		if err == nil && i < len(chosen)-1 {
			if placer.Take(h.run.Nodes, demand); fits() {
				continue
			}
			placer.Give(h.run.Nodes, demand)
		}
		names = append(names, h.run.Job.ID)
	}
	return names
}

// all returns the holders, followed by all other running jobs by expected end.
func (t *trial) all(first []held) (names []string) {
	known := make(map[string]struct{}, len(first))
	for _, h := range first {
		known[h.run.Job.ID] = struct{}{}
		names = append(names, h.run.Job.ID)
	}
	var rest []held
	for i := range t.snap.Running {
		r := &t.snap.Running[i]
		if _, ok := known[r.Job.ID]; !ok && t.decision(r.Job.ID).Kind != sched.Preempt {
			span, _ := ending(r, t.snap.Now)
			rest = append(rest, held{run: r, span: span})
		}
	}
	slices.SortStableFunc(rest, sooner)
	for i := range rest {
		names = append(names, rest[i].run.Job.ID)
	}
	return names
}

// ending is the remedy that ends these running jobs.
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

// withdraw drops jobs that get room before this one.
func (t *trial) withdraw(_ *waiting, x *Explanation) (*Remedy, error) {
	if t.opt.Plan == nil {
		return nil, nil // only the policy knows what it would use the room for
	}
	size, _, err := t.least(1, len(x.Ahead), func(size int) []whatif.Change { return gone(x.Ahead[:size]) })
	if size == 0 {
		return nil, err
	}
	left, settled, err := t.needed(x.Ahead[:size], gone)
	return &Remedy{Kind: JobsAhead, Changes: gone(left), Size: len(left), Smallest: settled,
		Text: fmt.Sprintf("if %s were withdrawn", list(left))}, err
}

// urge raises the priority. It tries only priorities equal to another job's, or one above: in between nothing changes.
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

// priorities returns, in ascending order, the priorities above a job's own at which its rank among all jobs changes.
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

// list names the first three jobs and counts the rest.
func list(jobs []string) string {
	const most = 3
	switch n := len(jobs); {
	case n == 0:
		return "others"
	case n == 1:
		return jobs[0]
	case n <= most:
		return strings.Join(jobs[:n-1], ", ") + " and " + jobs[n-1]
	default:
		return fmt.Sprintf("%s and %d more", strings.Join(jobs[:most], ", "), n-most)
	}
}
