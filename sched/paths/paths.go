// Package paths forecasts the remaining time of jobs with stages: the time from the end of a stage to the end of the
// last stage that waits for it, as a distribution. It also forecasts the machine time of these stages. It decides
// nothing, and its forecasts do not include time spent waiting for room.
//
// The remaining time is the length of the critical path through the held stages. The forecast of one path is the
// distribution of the sum of its stages' runtimes ([dist.Sum]); the forecast of several paths is the distribution of
// the longest ([dist.Largest]). Both treat runtimes as independent, even those of paths that share stages. In truth the
// stages of one job tend to be long together, so the forecast is too narrow. Stages are taken to run at full speed, on
// preferred nodes.
package paths

import (
	"fmt"
	"slices"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
)

// cells is the number of cells that a distribution which is not piecewise linear is tabulated with.
const cells = 128

// Rests forecasts what is left after each job of a snapshot. It keeps results between snapshots: After returns the same
// pointer until a forecast or the stages change. The zero value is ready for use. It is for one goroutine at a time.
type Rests struct {
	// Point replaces each distribution by the forecast's Point.
	Point bool

	round   uint64
	held    map[string]*stage
	waiting map[string][]*stage // stages that wait, by the ID of the job, not held, that they wait for
	after   map[string]*longest // what is left, by the same ID
	open    map[string]bool     // the jobs that have not finished, if stages wait
}

// stage is a held job.
type stage struct {
	job        *sched.Job
	prediction predict.Prediction
	children   []*stage
	// seen is the round in which the stage was last held, looked the round in which its tail was last computed.
	seen, looked uint64
	rest         longest
	// work is the expected machine time from the start of the stage on, in task-seconds. It was computed in the round
	// weighed.
	work    float64
	weighed uint64
	// tail is the time from the start of the stage to the end of the last one behind it. It was computed from tailOf.
	tail   *dist.Histogram
	tailOf *dist.Histogram
	err    error
}

// longest is the maximum of several times.
type longest struct {
	of  []*dist.Histogram
	d   *dist.Histogram // nil if there are none
	err error
}

// Update takes in a new snapshot, whose Held jobs are the stages. Call it before [Rests.After].
func (r *Rests) Update(s *sched.Snapshot) {
	if len(s.Held) == 0 {
		r.held, r.waiting, r.after, r.open = nil, nil, nil, nil
		return
	}
	r.round++
	if r.held == nil {
		r.held, r.after = make(map[string]*stage, len(s.Held)), make(map[string]*longest)
	}
	for i := range s.Held {
		p := &s.Held[i]
		g := r.held[p.Job.ID]
		if g == nil || g.job != p.Job || !same(&g.prediction, &p.Prediction) {
			g = &stage{job: p.Job, prediction: p.Prediction}
			r.held[p.Job.ID] = g
		}
		g.seen, g.children = r.round, g.children[:0]
	}
	r.waiting = make(map[string][]*stage, len(r.waiting))
	for i := range s.Held {
		g := r.held[s.Held[i].Job.ID]
		for _, parent := range g.job.After {
			if p := r.held[parent]; p != nil && p.seen == r.round {
				p.children = append(p.children, g)
			} else {
				r.waiting[parent] = append(r.waiting[parent], g)
			}
		}
	}
	r.list(s)
	r.forget()
}

// list notes the jobs of the snapshot, which have not finished.
func (r *Rests) list(s *sched.Snapshot) {
	r.open = make(map[string]bool, len(s.Held)+len(s.Pending)+len(s.Running))
	for _, waiting := range [][]sched.Pending{s.Held, s.Pending} {
		for i := range waiting {
			r.open[waiting[i].Job.ID] = true
		}
	}
	for i := range s.Running {
		r.open[s.Running[i].Job.ID] = true
	}
}

// forget drops what is kept of jobs that are gone.
func (r *Rests) forget() {
	for id, g := range r.held {
		if g.seen != r.round {
			delete(r.held, id)
		}
	}
	for id := range r.after {
		if r.waiting[id] == nil {
			delete(r.after, id)
		}
	}
}

// same reports whether two forecasts are equal. Distributions that Go cannot compare count as different.
func same(a, b *predict.Prediction) (equal bool) {
	defer func() {
		if recover() != nil {
			equal = false
		}
	}()
	return a.Point == b.Point && a.Dist == b.Dist
}

// After is the time in seconds from the end of a job that is not held to the end of the last stage that waits for it,
// directly or through other stages. It is nil if no stage waits for the job. The error names the stage whose forecast
// is invalid.
func (r *Rests) After(id string) (*dist.Histogram, error) {
	waiting := r.waiting[id]
	if len(waiting) == 0 {
		return nil, nil
	}
	l := r.after[id]
	if l == nil {
		l = new(longest)
		r.after[id] = l
	}
	if err := r.tails(l, waiting); err != nil {
		return nil, err
	}
	return l.d, nil
}

// Work is the expected machine time of the stages that wait for a job that is not held, directly or through other
// stages. It is in task-seconds: the mean runtime of each stage times its tasks. Of a stage that waits for several jobs
// each has an equal share, so that the work of all jobs adds up to that of all held stages. It is 0 if no stage waits.
func (r *Rests) Work(id string) float64 {
	sum := 0.0
	for _, g := range r.waiting[id] {
		sum += r.work(g) / r.parents(g)
	}
	return sum
}

// work is the machine time of a stage and its share of what is behind it.
func (r *Rests) work(g *stage) float64 {
	if g.weighed == r.round {
		return g.work // a cycle, which a loop never makes, ends here too
	}
	g.weighed = r.round
	mean := g.prediction.Point
	if !r.Point && g.prediction.Dist != nil {
		mean = g.prediction.Dist.Mean()
	}
	g.work = mean * float64(g.job.Tasks)
	for _, c := range g.children {
		g.work += r.work(c) / r.parents(c)
	}
	return g.work
}

// parents is how many jobs a stage still waits for, at least 1.
func (r *Rests) parents(g *stage) float64 {
	n := 0
	for _, parent := range g.job.After {
		if r.open[parent] {
			n++
		}
	}
	return float64(max(1, n))
}

// tails makes l the longest of the stages' tails.
func (r *Rests) tails(l *longest, of []*stage) error {
	tails := make([]*dist.Histogram, len(of))
	for i, g := range of {
		if err := r.tail(g); err != nil {
			return err
		}
		tails[i] = g.tail
	}
	if !slices.Equal(l.of, tails) {
		l.of, l.d, l.err = tails, nil, nil
		for _, t := range tails {
			if l.d == nil {
				l.d = t
				continue
			}
			if l.d, l.err = tabulated(dist.Largest(l.d, t)); l.err != nil {
				break
			}
		}
	}
	return l.err
}

// tail computes the tail of a stage, once a round.
func (r *Rests) tail(g *stage) error {
	if g.looked == r.round {
		return g.err // a cycle, which a loop never makes, ends here too
	}
	g.looked = r.round
	if g.err = r.tails(&g.rest, g.children); g.err != nil {
		return g.err
	}
	if g.tail != nil && g.tailOf == g.rest.d {
		return nil
	}
	own, err := r.runtime(&g.prediction)
	if err == nil && g.rest.d != nil {
		own, err = tabulated(dist.Sum(own, g.rest.d))
	}
	if err != nil {
		g.err = fmt.Errorf("stage %s: %w", g.job.ID, err)
		return g.err
	}
	g.tail, g.tailOf = own, g.rest.d
	return nil
}

// runtime is the forecast of a stage's own runtime.
func (r *Rests) runtime(p *predict.Prediction) (*dist.Histogram, error) {
	d := p.Dist
	if r.Point || d == nil {
		point, err := dist.NewPoint(p.Point)
		if err != nil {
			return nil, err
		}
		d = point
	}
	return tabulated(d, nil)
}

func tabulated(d dist.Distribution, err error) (*dist.Histogram, error) {
	if err != nil {
		return nil, err
	}
	return dist.Tabulate(d, cells)
}
