package native

import (
	"cmp"
	"math"
	"slices"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// whole makes the program about all jobs and running jobs.
func (w *workspace) whole() {
	m := &w.lp
	m.activate()
	w.clear()
	w.node.base.Copy(&w.cur)
	w.node.order = append(w.node.order[:0], w.jobs...)
	w.dual.cap, w.dual.base = w.in.Cap, 0
}

// core makes the program about the given sets only, all else staying as in the
// best plan, whose columns are its first basis.
func (w *workspace) core(sets []int32) {
	m, q := &w.lp, &w.node
	m.at = 0
	w.cur.Copy(&w.best)
	n := len(w.in.P.Jobs)
	q.order, m.active = q.order[:0], m.active[:0]
	slices.Sort(sets)
	for _, s := range sets {
		if k := int(s) - n; k < 0 {
			if w.cur.Choice[s] >= 0 {
				w.cur.Remove(int(s))
			}
			q.order = append(q.order, int(s))
		} else if w.cur.Preempted[k] {
			if w.cur.Needed(k) {
				continue // by jobs that stay
			}
			w.cur.Unpreempt(k)
		}
		m.active = append(m.active, s)
	}
	slices.SortFunc(q.order, func(a, b int) int {
		return cmp.Or(cmp.Compare(w.bestRed(b), w.bestRed(a)), a-b)
	})
	q.base.Copy(&w.cur)
	w.dual.cap, w.dual.base = q.base.Res, q.base.Value
	w.crash()
}

// bestRed is job j's best reduced value at the relaxation's prices.
func (w *workspace) bestRed(j int) float64 {
	if w.in.JobOpts[j] == w.in.JobOpts[j+1] || w.byRed[w.in.JobOpts[j]] < 0 {
		return math.Inf(-1)
	}
	return w.dual.red[w.byRed[w.in.JobOpts[j]]]
}

// cores improves the best plan by searching small parts of it through their
// linear programs, until the work spent reaches until.
func (w *workspace) cores(until int64) {
	size := 10.0
	w.swap()
	for w.phase = math.MaxInt64; !w.over() && w.spent() < until; {
		before := w.spent()
		w.phase = min(until, before+coreUnits*opsPerUnit)
		w.resetNode()
		w.core(w.neighbours(int(size)))
		w.search(2)
		w.revert(0)
		if w.spent() >= w.phase {
			size = max(4, size*0.9)
		} else {
			size = min(size*1.05, float64(len(w.lp.key)))
		}
		w.phase = math.MaxInt64
	}
	w.swap()
	w.whole()
}

// swap exchanges the master of the whole problem with that of the cores, which has no cuts: what is decided outside
// a core would change them.
func (w *workspace) swap() {
	w.lp, w.coreLP = w.coreLP, w.lp
	w.inCore = !w.inCore
	w.dual.cuts = &w.cuts
	if w.inCore {
		w.dual.cuts = nil
		if w.lp.in == nil {
			w.lp.reset(&w.in)
		}
	}
}

// coreUnits is the most work one core gets; their size adapts to it.
const coreUnits = 4000

// neighbours picks about n sets that have to do with one another: placed jobs
// near a random slot, jobs left out that nearly pay, and running jobs.
func (w *workspace) neighbours(n int) []int32 {
	q := &w.node
	jobs := len(w.in.P.Jobs)
	q.sets, q.score = q.sets[:0], pack.Resize(q.score, len(w.lp.key))
	at := float64(w.rng.IntN(w.in.T))
	for j := range jobs {
		if w.in.JobOpts[j] == w.in.JobOpts[j+1] || w.byRed[w.in.JobOpts[j]] < 0 {
			continue
		}
		q.score[j] = (0.3 + w.exponential()) * w.distance(j, at)
		q.sets = append(q.sets, int32(j))
	}
	for k := range w.in.P.Running {
		q.score[jobs+k] = 0.3 + w.exponential()
		q.sets = append(q.sets, int32(jobs+k))
	}
	slices.SortFunc(q.sets, func(a, b int32) int { return cmp.Or(cmp.Compare(q.score[a], q.score[b]), cmp.Compare(a, b)) })
	q.sets = q.sets[:min(n, len(q.sets))]
	w.ops += int64(len(w.lp.key) * 16)
	return q.sets
}

// distance is how little job j has to do with slot at: how far from it the job
// runs, and how content it is with its place, or how far from paying it is.
func (w *workspace) distance(j int, at float64) float64 {
	o := w.best.Choice[j]
	if o < 0 {
		best := &w.in.Opts[w.byRed[w.in.JobOpts[j]]]
		return 0.2 + 8*max(0, -w.bestRed(j))/best.Value
	}
	opt := &w.in.Opts[o]
	from, to := float64(opt.Start), float64(opt.Start+len(opt.Usage))
	away := max(0, from-at, at-to)
	regret := (w.bestRed(j) - w.dual.red[o] + float64(0.2*max(0, w.dual.red[o]))) / opt.Value
	return 0.2 + away + 2*regret
}
