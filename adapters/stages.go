package adapters

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hedgesched/hedge/sched"
)

// errStage is the note of a job that waits for others.
var errStage = errors.New("adapters: the job waits for others")

// maxAfter is how many jobs one may wait for.
const maxAfter = 1000

// ParseAfter reads the names of the jobs that must have finished before this one starts, like "fetch, split". They are
// separated by commas, and each stands once. The error is an [Expected].
func ParseAfter(text string) ([]string, error) {
	names := strings.Split(text, ",")
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
		if names[i] == "" || slices.Contains(names[:i], names[i]) || len(names[i]) > sched.MaxName {
			return nil, Expected("names of jobs, each once, like fetch, split")
		}
	}
	if len(names) > maxAfter {
		return nil, Expected(fmt.Sprintf("at most %d names", maxAfter))
	}
	return names, nil
}

// lacking says what keeps a stage from the loop: a job that it waits for is not there, has ended without having
// finished, or is not known to the loop itself. It notes which of them have finished, since a finished job may be
// removed later.
func (c *Cluster) lacking(t *tracked) error {
	for _, id := range t.job.Spec.After {
		p := c.jobs[id]
		switch {
		case slices.Contains(t.met, id):
		case p == nil:
			return fmt.Errorf("%w: job %q is not there", errStage, id)
		case p.is == finished:
			t.met = append(t.met, id)
		case p.is == over:
			return fmt.Errorf("%w: job %q has ended without having finished", errStage, id)
		case p.told == untold || p.told == toldOver:
			return fmt.Errorf("%w: job %q is not scheduled", errStage, id)
		}
	}
	return nil
}

// staged is the job as the loop is told of it: it waits for those that have not finished. One that has tasks waits for
// nothing.
func (c *Cluster) staged(t *tracked, spec *sched.Job) *sched.Job {
	if len(spec.After) == 0 {
		return spec
	}
	told := *spec
	told.After = nil
	if t.is == waiting {
		for _, id := range spec.After {
			if !slices.Contains(t.met, id) {
				told.After = append(told.After, id)
				c.children[id] = append(c.children[id], spec.ID)
			}
		}
	}
	return &told
}

// orphan is called before the loop is told that a job is withdrawn. The loop would drop the jobs that it holds back for
// that one. They are withdrawn first, and submitted again once there is another of its name.
func (c *Cluster) orphan(id string, at time.Time) {
	children := c.children[id]
	delete(c.children, id)
	for _, child := range children {
		if t := c.jobs[child]; t != nil && t.told == toldPending && !slices.Contains(t.met, id) {
			t.told = untold
			c.watch(t)
			c.tell(sched.Event{Kind: sched.Withdrawn, ID: child, Time: at})
		}
	}
}

// released is called when a job has finished.
func (c *Cluster) released(id string) {
	for _, child := range c.children[id] {
		if t := c.jobs[child]; t != nil && !slices.Contains(t.met, id) {
			t.met = append(t.met, id)
		}
	}
	delete(c.children, id)
}

// heldBack names the jobs for which the loop holds a job back.
func (t *tracked) heldBack() error {
	if t.told != toldPending || len(t.met) >= len(t.job.Spec.After) {
		return nil
	}
	var left []string
	for _, id := range t.job.Spec.After {
		if !slices.Contains(t.met, id) {
			left = append(left, id)
		}
	}
	return fmt.Errorf("%w to finish: %s", errStage, strings.Join(left, ", "))
}
