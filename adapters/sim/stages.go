package sim

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// errHeld is the error of starting a job that waits for others to finish. Hosts find it in the cycle's failed events.
var errHeld = errors.New("sim: the job waits for others to finish")

// link finds the jobs that others wait for.
func (l *life) link() error {
	for i := range l.jobs {
		j := &l.jobs[i]
		for _, parent := range j.After {
			p, ok := l.index.find(l.jobs, parent)
			switch {
			case !ok:
				return fmt.Errorf("%w: job %q waits for job %q, which is unknown", ErrJob, j.ID, parent)
			case l.jobs[p].arrive > j.arrive:
				return fmt.Errorf("%w: job %q arrives at %v and waits for job %q, which arrives later, at %v", ErrJob, j.ID,
					j.arrive, parent, l.jobs[p].arrive)
			}
			if l.children == nil {
				l.children = make([][]int32, len(l.jobs))
			}
			l.children[p] = append(l.children[p], int32(i))
			j.waits++
		}
	}
	return l.measure()
}

// measure computes each job's longest remaining path. It refuses jobs that wait for each other in a circle.
func (l *life) measure() error {
	open := make([]int32, len(l.jobs))
	l.paths = make([]time.Duration, len(l.jobs))
	var ready []int32
	for i := range l.jobs {
		if open[i] = l.jobs[i].waits; open[i] == 0 {
			ready = append(ready, int32(i))
		}
	}
	seen := 0
	for ; seen < len(ready); seen++ {
		j := &l.jobs[ready[seen]]
		l.paths[ready[seen]] += j.gang.work.Runtime()
		for _, c := range l.waitingFor(ready[seen]) {
			l.paths[c] = max(l.paths[c], l.paths[ready[seen]])
			if open[c]--; open[c] == 0 {
				ready = append(ready, c)
			}
		}
	}
	if seen == len(l.jobs) {
		return nil
	}
	at := slices.IndexFunc(open, func(n int32) bool { return n > 0 })
	return fmt.Errorf("%w: job %q waits for itself, or for jobs that do", ErrJob, l.jobs[at].ID)
}

// waitsFor are the jobs of After that have not finished when the job is submitted.
func (l *life) waitsFor(j *job) []string {
	if int(j.waits) == len(j.After) {
		return j.After
	}
	var left []string
	for _, parent := range j.After {
		if p, _ := l.index.find(l.jobs, parent); l.jobs[p].state != finished {
			left = append(left, parent)
		}
	}
	return left
}

// wholes merges the records of stages into one per whole job, in the order of first stages. Other records stay as they
// are. A whole job has finished when all of its stages have. Its runtime is that of its longest path. Paths are the
// longest remaining paths of the stages.
func wholes(stages []JobRecord, paths []time.Duration) []JobRecord {
	if !slices.ContainsFunc(stages, func(r JobRecord) bool { return r.Of != "" }) {
		return stages
	}
	out := make([]JobRecord, 0, len(stages))
	at := make(map[string]int, len(stages))
	for i := range stages {
		r := stages[i]
		r.Runtime = paths[i]
		if r.Of != "" {
			r.ID = r.Of
		}
		w, known := at[r.ID]
		if !known {
			at[r.ID] = len(out)
			out = append(out, r)
			continue
		}
		out[w].join(&r)
	}
	return out
}

// join adds a stage to the record of a whole job.
func (r *JobRecord) join(stage *JobRecord) {
	if stage.Class == SLO {
		r.Class = SLO
	}
	if r.Finish < 0 || stage.Finish < 0 {
		r.Finish = -1
	} else {
		r.Finish = max(r.Finish, stage.Finish)
	}
	r.Submit = min(r.Submit, stage.Submit)
	r.Deadline = max(r.Deadline, stage.Deadline)
	r.Runtime = max(r.Runtime, stage.Runtime)
}
