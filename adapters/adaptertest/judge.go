package adaptertest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hedgesched/hedge/adapters"
)

// Law is what records are judged by.
type Law struct {
	// Slots is how many tasks a node holds.
	Slots int
	// Tasks is the size of each job's gang.
	Tasks map[string]int
	// Withdrawn is how often each job was taken back by its user: as many of its attempts may have finished in part, since
	// tasks may end as they are withdrawn.
	Withdrawn map[string]int
	// Exact is as in [Traits].
	Exact time.Duration
}

// Judge finds what the records show that must not be, and nothing if all is well.
func Judge(records []Record, law Law) []string {
	var faults []string
	faults = append(faults, overcommitted(records, law)...)
	faults = append(faults, doubled(records, law)...)
	return append(faults, unfinished(records, law)...)
}

// group sorts records by a key, keys in order.
func group(records []Record, key func(*Record) string) [][]Record {
	at := map[string]int{}
	var out [][]Record
	for i := range records {
		k := key(&records[i])
		n, ok := at[k]
		if !ok {
			n = len(out)
			at[k] = n
			out = append(out, nil)
		}
		out[n] = append(out[n], records[i])
	}
	slices.SortFunc(out, func(a, b []Record) int { return strings.Compare(key(&a[0]), key(&b[0])) })
	return out
}

// edge is when a number of tasks changes.
type edge struct {
	at    time.Time
	delta int
}

// most is how many of the records held a slot at once at most, and when first. Ends come before starts.
func most(records []Record, exact time.Duration) (int, time.Time) {
	edges := make([]edge, 0, 2*len(records))
	for i := range records {
		r := &records[i]
		end := r.Ended
		if !r.live() {
			if end = end.Add(-exact); end.Before(r.Placed) {
				continue
			}
			edges = append(edges, edge{end, -1})
		}
		edges = append(edges, edge{r.Placed, 1})
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.delta, b.delta)) })
	n, top, when := 0, 0, time.Time{}
	for _, e := range edges {
		if n += e.delta; n > top {
			top, when = n, e.at
		}
	}
	return top, when
}

func overcommitted(records []Record, law Law) (faults []string) {
	for _, on := range group(records, func(r *Record) string { return r.Node }) {
		if n, at := most(on, law.Exact); n > law.Slots {
			faults = append(faults,
				fmt.Sprintf("node %s holds %d tasks at %v, it has room for %d", on[0].Node, n, at, law.Slots))
		}
	}
	return faults
}

// doubled finds jobs of which more runs at once than there is of them, over all that have had the name.
func doubled(records []Record, law Law) (faults []string) {
	for _, of := range group(records, func(r *Record) string { return r.Job }) {
		tasks, known := law.Tasks[of[0].Job]
		if !known {
			faults = append(faults, fmt.Sprintf("job %s was placed, which was never handed in", of[0].Job))
			continue
		}
		for i := range of {
			if at := of[i].Lost; !at.IsZero() && (of[i].live() || of[i].Ended.After(at)) {
				of[i].Ended = at
			}
		}
		if n, at := most(of, law.Exact); n > tasks {
			faults = append(faults, fmt.Sprintf("job %s of %d tasks has %d at %v", of[0].Job, tasks, n, at))
		}
		for _, one := range group(of, func(r *Record) string { return r.Task }) {
			if n, at := most(one, law.Exact); n > 1 {
				faults = append(faults, fmt.Sprintf("task %s of job %s runs %d times at %v", one[0].Task, one[0].Job, n, at))
			}
		}
	}
	return faults
}

// unfinished finds jobs that finished in parts without having been withdrawn, or more than once.
func unfinished(records []Record, law Law) (faults []string) {
	spared := map[string]int{} // attempts that finished in part, by job
	for _, of := range group(records, func(r *Record) string { return r.Job + " " + r.UID }) {
		job, tasks := of[0].Job, law.Tasks[of[0].Job]
		whole, parts := completions(of, tasks)
		for _, try := range parts {
			done := finishedOf(try)
			if spared[job]++; spared[job] > law.Withdrawn[job] || len(done) > tasks {
				faults = append(faults,
					fmt.Sprintf("attempt %d of job %s finished with %d of its %d tasks", try[0].Attempt, job, len(done), tasks))
			}
		}
		for _, try := range attempts(of) {
			done := finishedOf(try)
			if len(done) == 0 {
				continue
			}
			last := slices.MaxFunc(done, func(a, b Record) int { return a.Started.Compare(b.Started) })
			first := slices.MinFunc(done, func(a, b Record) int { return a.Ended.Compare(b.Ended) })
			if last.Started.After(first.Ended.Add(law.Exact)) {
				faults = append(faults, fmt.Sprintf("job %s: task %s started after task %s had ended", job, last.Task, first.Task))
			}
		}
		if whole > 1 {
			faults = append(faults, fmt.Sprintf("job %s (%s) finished %d times", job, of[0].UID, whole))
		}
	}
	return faults
}

func attempts(of []Record) [][]Record {
	return group(of, func(r *Record) string { return fmt.Sprintf("%09d", r.Attempt) })
}

func finishedOf(try []Record) []Record {
	return slices.DeleteFunc(slices.Clone(try), func(r Record) bool { return r.State != adapters.Finished })
}

// completions is how often a gang finished whole, in one attempt or with what was left of it in a later one, and the
// attempts that are over and finished in part, but for those that were stopped as their tasks ended one after the
// other, all having been at work, and that were done again later, or are.
func completions(of []Record, tasks int) (whole int, parts [][]Record) {
	had := map[string]bool{} // tasks that finished since it was whole last
	forgive := func() { parts = slices.DeleteFunc(parts, func(try []Record) bool { return worked(try, tasks) }) }
	for _, try := range attempts(of) {
		done := finishedOf(try)
		fresh := !slices.ContainsFunc(done, func(r Record) bool { return had[r.Task] })
		switch {
		case len(done) == 0:
		case len(done) == tasks, fresh && len(had)+len(done) == tasks:
			whole++
			clear(had)
			forgive()
		default:
			for i := range done {
				had[done[i].Task] = true
			}
			if !slices.ContainsFunc(try, func(r Record) bool { return r.live() }) {
				parts = append(parts, try)
			}
		}
	}
	if slices.ContainsFunc(of, func(r Record) bool { return r.live() }) {
		forgive()
	}
	return whole, parts
}

// worked tells whether all tasks of the gang ran in the attempt.
func worked(try []Record, tasks int) bool {
	return len(try) == tasks && !slices.ContainsFunc(try, func(r Record) bool { return r.Started.IsZero() })
}
