// Package paths forecasts what is left of jobs that have stages: the time from the end of a stage to the end of the
// last stage that waits for it, as a distribution. It never decides anything, and never looks at how long stages will
// wait for room.
//
// The time is that of the longest path (the critical path) through the stages that are held back. The forecast of
// a path is the distribution of the sum of its stages' runtimes, and that of several paths is the distribution of the
// longest ([dist.Sum], [dist.Largest]). Both take the runtimes of stages to be independent of each other, and so do
// they with paths that have stages in common. Stages of one job are in truth often long together; the forecast is then
// too narrow. Stages run at full speed, on preferred nodes.
package paths

import (
	"fmt"
	"slices"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
)

// cells is how finely distributions are cut that are not piecewise linear.
const cells = 128

// Rests has what is left after each job of a snapshot. It keeps its work from snapshot to snapshot: a distribution is
// the same value until a forecast or the stages have changed. The zero value is ready. It is for one goroutine.
type Rests struct {
	// Point has every runtime be the forecast's Point.
	Point bool

	round   uint64
	held    map[string]*stage
	waiting map[string][]*stage // by the id of a job that is not held, the stages that wait for it
	after   map[string]*longest // the same, what is left of them
}

// stage is a job that is held back.
type stage struct {
	job        *sched.Job
	prediction predict.Prediction
	children   []*stage
	// seen is the round in which it was last held, looked that in which its tail was last looked at.
	seen, looked uint64
	rest         longest
	// tail is the time from the start of the stage to the end of the last one behind it, worked out of rest.
	tail   *dist.Histogram
	tailOf *dist.Histogram
	err    error
}

// longest is the longest of several times.
type longest struct {
	of  []*dist.Histogram
	d   *dist.Histogram // nil of none
	err error
}

// Update takes a new snapshot.
func (r *Rests) Update(s *sched.Snapshot) {
	if len(s.Held) == 0 {
		r.held, r.waiting, r.after = nil, nil, nil
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
	r.forget()
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

// same tells whether two forecasts are equal. Distributions that Go cannot compare count as different.
func same(a, b *predict.Prediction) (equal bool) {
	defer func() {
		if recover() != nil {
			equal = false
		}
	}()
	return a.Point == b.Point && a.Dist == b.Dist
}

// After is the time from the end of the job of that id, which is not held back, to the end of the last stage that waits
// for it. It is nil if none does. The error is of a stage whose forecast is none.
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

// tail works out the tail of a stage once a round.
func (r *Rests) tail(g *stage) error {
	if g.looked == r.round {
		return g.err // a circle, which no loop makes, ends here as well
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
