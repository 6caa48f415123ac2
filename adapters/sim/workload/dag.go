package workload

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/adapters/sim/trace"
)

// The range of the number of stages, for jobs of stages that are made from jobs without stages (SLearn, section 6).
const minStages, maxStages = 2, 5

// SkippedLeftOver counts jobs left over because their user and name had too few for another job of stages.
const SkippedLeftOver = "too few of one user and name for a job of stages"

// whole is a job with its stages, in an order in which each comes after those that it waits for.
type whole struct {
	id     string
	stages []trace.Job
	// path is the runtime of its longest path, width the most tasks in a stage, and work its machine time in node-seconds.
	path  time.Duration
	width int
	work  float64
}

// dag builds a workload of whole jobs, as window does of single ones.
func (b *builder) dag() (*Workload, error) {
	wholes := gather(b.jobs)
	if !slices.ContainsFunc(b.jobs, func(j *trace.Job) bool { return j.Of != "" || len(j.After) > 0 }) {
		wholes = b.makeWholes()
	}
	for _, w := range wholes {
		b.measure(w)
	}
	if n := len(wholes); n > 0 && wholes[0].stages[0].Submit == wholes[n-1].stages[0].Submit {
		var err error
		if wholes, err = b.redraw(wholes); err != nil {
			return nil, err
		}
	}
	b.wholes = make(map[string]*whole, len(wholes))
	b.jobs, b.past = nil, nil
	for _, w := range wholes {
		b.wholes[w.id] = w
		first := &w.stages[0]
		b.jobs = append(b.jobs, &trace.Job{ID: w.id, Line: first.Line, Submit: first.Submit, Wait: trace.WaitUnknown,
			Runtime: w.path, Tasks: w.width, Outcome: trace.Finished})
		for i := range w.stages {
			b.past = append(b.past, &w.stages[i])
		}
	}
	return b.window()
}

// gather groups stages into whole jobs. All stages of a job are submitted with its first. Whole jobs are in the order
// of their first stages.
func gather(jobs []*trace.Job) []*whole {
	var out []*whole
	at := map[string]*whole{}
	for i := range jobs {
		j := *jobs[i]
		id := cmp.Or(j.Of, j.ID)
		w := at[id]
		if w == nil {
			w = &whole{id: id}
			at[id] = w
			out = append(out, w)
		}
		if len(w.stages) > 0 {
			first := w.stages[0].Submit
			if j.Wait >= 0 {
				j.Wait += j.Submit - first
			}
			j.Submit = first
		}
		j.Of = id
		w.stages = append(w.stages, j)
	}
	return out
}

// makeWholes makes whole jobs of 2 to 5 successive jobs of the same user and name.
func (b *builder) makeWholes() []*whole {
	groups := map[string][]trace.Job{}
	wanted := map[string]int{}
	var out []*whole
	for i := range b.jobs {
		j := *b.jobs[i]
		if b.refuse(&j) != "" {
			b.skipped[b.refuse(&j)]++
			continue
		}
		key := groupKey(j.Attributes)
		if wanted[key] == 0 {
			wanted[key] = minStages + b.rng.IntN(maxStages-minStages+1)
		}
		if groups[key] = append(groups[key], j); len(groups[key]) == wanted[key] {
			out = append(out, chain(groups[key]))
			delete(groups, key)
			delete(wanted, key)
		}
	}
	for _, left := range groups {
		b.skipped[SkippedLeftOver] += len(left)
	}
	slices.SortStableFunc(out, func(x, y *whole) int { return cmp.Compare(x.stages[0].Submit, y.stages[0].Submit) })
	return out
}

// chain makes a whole job in which each job is a stage that waits for the one before it.
func chain(jobs []trace.Job) *whole {
	w := &whole{id: "dag-" + jobs[0].ID, stages: slices.Clone(jobs)}
	for i := range w.stages {
		s := &w.stages[i]
		s.Of, s.Submit, s.Wait = w.id, jobs[0].Submit, trace.WaitUnknown
		if s.After = nil; i > 0 {
			s.After = []string{jobs[i-1].ID}
		}
	}
	return w
}

// measure computes a whole job's path, width and work.
func (b *builder) measure(w *whole) {
	ends := make(map[string]time.Duration, len(w.stages))
	for i := range w.stages {
		s := &w.stages[i]
		end := time.Duration(0)
		for _, parent := range s.After {
			end = max(end, ends[parent])
		}
		ends[s.ID] = end + s.Runtime
		w.path, w.width = max(w.path, end+s.Runtime), max(w.width, s.Tasks)
		w.work += float64(float64(b.nodesOf(s.Tasks)) * s.Runtime.Seconds())
	}
}

// refuseWhole says why a job cannot be in the workload; empty if it can.
func (b *builder) refuseWhole(w *whole) string {
	for i := range w.stages {
		switch s := &w.stages[i]; {
		case s.Outcome == trace.Failed:
			return SkippedFailed
		case s.Outcome == trace.Killed:
			return SkippedKilled
		case s.Runtime <= 0:
			return SkippedNoRuntime
		case b.nodesOf(s.Tasks) > b.spec.Nodes:
			return SkippedTooWide
		}
	}
	switch {
	case w.path > b.span:
		return SkippedTooLong
	case w.work > b.spec.MaxShare*b.target():
		return SkippedTooBig
	}
	return ""
}

// redraw draws jobs with replacement up to the load, and as much history before them. Arrivals are uniform in time, as
// those of a Poisson process are, given their number.
func (b *builder) redraw(pool []*whole) ([]*whole, error) {
	usable := slices.DeleteFunc(slices.Clone(pool), func(w *whole) bool {
		why := b.refuseWhole(w)
		if why != "" {
			b.skipped[why]++
		}
		return why != ""
	})
	if len(usable) == 0 {
		return nil, fmt.Errorf("workload: none of %d jobs: %w", len(pool), ErrEmpty)
	}
	var out []*whole
	for part := range 2 { // history, then what is simulated
		var drawn []*whole
		for work := 0.0; work < b.target(); {
			w := usable[b.rng.IntN(len(usable))]
			work += w.work
			if len(out)+len(drawn) >= maxDrawn {
				return nil, &SpecError{Field: "Load", Value: b.spec.Load, Want: "less, for jobs so small"}
			}
			drawn = append(drawn, w)
		}
		for i, at := range uniform(b.rng, len(drawn), b.span) {
			out = append(out, drawn[i].again(len(out), b.span*time.Duration(part)+at))
		}
	}
	b.spec.StartHour = b.span.Hours()
	return out, nil
}

// maxDrawn bounds the memory of a workload.
const maxDrawn = 1_000_000

// uniform draws n times in [0, span), in order.
func uniform(rng *rand.Rand, n int, span time.Duration) []time.Duration {
	out := make([]time.Duration, n)
	for i := range out {
		out[i] = time.Duration(rng.Int64N(int64(span)))
	}
	slices.Sort(out)
	return out
}

// again copies a whole job under new IDs.
func (w *whole) again(number int, submit time.Duration) *whole {
	suffix := "#" + strconv.Itoa(number)
	c := *w
	c.id += suffix
	c.stages = slices.Clone(w.stages)
	for i := range c.stages {
		s := &c.stages[i]
		s.ID, s.Of, s.Submit = s.ID+suffix, c.id, submit
		s.After = slices.Clone(s.After)
		for k := range s.After {
			s.After[k] += suffix
		}
	}
	return &c
}

// simJobs appends the jobs of a draft: the job itself, or its stages. Stages share a deadline, a utility and preferred
// racks.
func (b *builder) simJobs(to []sim.Job, d *draft) ([]sim.Job, error) {
	if d.whole == nil {
		j, err := b.simJob(d)
		return append(to, j), err
	}
	shared, err := b.simJob(d)
	if err != nil {
		return nil, err
	}
	for i := range d.whole.stages {
		s := &d.whole.stages[i]
		j := shared
		j.ID, j.Tasks, j.Attributes, j.After, j.Of = s.ID, b.nodesOf(s.Tasks), attributes(s), s.After, s.Of
		j.Work = sim.Runtime(s.Runtime)
		to = append(to, j)
	}
	return to, nil
}
