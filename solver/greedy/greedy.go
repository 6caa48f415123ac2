// Package greedy is the quickest engine: it takes options in the order of their
// value per capacity taken, each where it still fits, then preempts running jobs
// for what is left if that pays. What a start takes after the window counts, too: the last
// slots are not cheaper than the first. It has no bound and knows no optimum, but needs
// only a millisecond or two for hundreds of jobs; it is the last rung of a ladder.
package greedy

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/internal/pack"
)

// Engine is the greedy engine; it implements [solver.Solver]. Its result depends
// on nothing but the problem and Options.Splits. It is safe for concurrent use.
type Engine struct{ pool sync.Pool }

// New returns a greedy engine.
func New() *Engine { return &Engine{} }

// Name is "greedy".
func (e *Engine) Name() string { return "greedy" }

type workspace struct {
	in      pack.Instance
	st      pack.State
	pre     pack.Preemptor
	density []float64
	order   []int
	limit   int64 // in ops
}

// Solve implements [solver.Solver]. It stops with [solver.StopWork], be it for Options.Work, or
// earlier if ctx ends, with what it has by then.
func (e *Engine) Solve(ctx context.Context, p *solver.Problem, opts solver.Options,
	report func(*solver.Solution)) (*solver.Solution, error) {
	w, ok := e.pool.Get().(*workspace)
	if !ok {
		w = &workspace{}
	}
	defer func() {
		w.in.Release()
		e.pool.Put(w)
	}()
	w.in.Load(p, opts.Splits)
	w.st.Ops = 0
	w.st.Reset(&w.in)
	w.pre.Reset(&w.in)
	w.sortOptions()
	w.limit = math.MaxInt64
	if opts.Work > 0 && opts.Work < math.MaxInt64/pack.OpsPerUnit {
		w.limit = opts.Work * pack.OpsPerUnit
	}
	done := w.fill(ctx) && w.preempt(ctx)
	if !w.st.Settle() {
		w.st.Spare(w.pre.ByCost)
	}
	stop := solver.StopWork
	if !done {
		stop = solver.StopOf(ctx.Err())
	}
	sol := w.st.Solution(e.Name(), stop)
	sol.Work = 1 + w.st.Ops/pack.OpsPerUnit
	return sol, nil
}

// sortOptions orders options by falling value per area.
func (w *workspace) sortOptions() {
	w.density, w.order = w.density[:0], w.order[:0]
	for i := range w.in.Opts {
		o := &w.in.Opts[i]
		w.density = append(w.density, o.Value/(w.area(o)+1e-12))
		w.order = append(w.order, i)
	}
	slices.SortFunc(w.order, func(a, b int) int {
		if d := cmp.Compare(w.density[b], w.density[a]); d != 0 {
			return d
		}
		return a - b
	})
}

// area is what the option takes of the cluster. The window cuts off the use of late starts. A cut option is taken to
// use as much as the job's most on the same set of nodes, or the last slot would look like the best for every job.
func (w *workspace) area(o *pack.Option) float64 {
	options, most := w.in.P.Jobs[o.Job].Options, o.Area
	at := &options[o.Index]
	if at.Start+len(at.Usage) < w.in.T {
		return most
	}
	for i := w.in.JobOpts[o.Job]; i < w.in.JobOpts[o.Job+1]; i++ {
		if other := &w.in.Opts[i]; other.Area > most && options[other.Index].Set == at.Set {
			most = other.Area
		}
	}
	return most
}

// pollEvery is how many options are tried between looks at the context.
const pollEvery = 256

func (w *workspace) fill(ctx context.Context) bool {
	for i, o := range w.order {
		if i%pollEvery == pollEvery-1 && ctx.Err() != nil {
			return false
		}
		if w.st.Ops >= w.limit {
			break
		}
		if w.st.Choice[w.in.Opts[o].Job] < 0 {
			w.st.TryPlace(o)
		}
	}
	return true
}

// preempt tries the jobs left over, each with its best option only, so that the
// effort stays in proportion.
func (w *workspace) preempt(ctx context.Context) bool {
	if len(w.in.P.Running) == 0 {
		return true
	}
	for i, o := range w.order {
		if i%pollEvery == pollEvery-1 && ctx.Err() != nil {
			return false
		}
		if w.st.Ops >= w.limit {
			break
		}
		opt := &w.in.Opts[o]
		if w.st.Choice[opt.Job] < 0 && w.in.JobOpts[opt.Job] == o {
			w.pre.TryPlace(&w.st, o, opt.Value)
		}
	}
	w.st.Spare(w.pre.ByCost)
	return true
}
