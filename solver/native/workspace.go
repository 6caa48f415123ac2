package native

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/internal/pack"
)

func (w *worker) begin(ctx context.Context, p *solver.Problem, opts solver.Options, cfg Config, report func(*solver.Solution)) {
	w.report, w.cfg, w.target = report, cfg, opts.TargetGap()
	w.seed(opts.Seed, 0)
	w.setLimits(ctx, opts, cfg.defaultWork())
	w.reportAt, w.reported = 0, 0
	w.in.Look = w.readClock
	whole := w.in.Load(p, opts.Splits)
	w.in.Round()
	w.in.Look = nil
	w.cur.Ops, w.ops = 0, 0
	w.cur.Reset(&w.in)
	w.best.Copy(&w.cur)
	w.reset()
	if !whole {
		w.dual.bound = math.Inf(1) // what has not been read may be worth anything
	}
	w.memory, w.noted, w.recall.warm = opts.Memory, nil, false
	w.recall.reset(&w.in, opts.Memory)
	w.team, w.number, w.meetAt = nil, 0, math.MaxInt64
	if n := w.workers(opts.Threads); n > 1 && !cfg.Relaxation {
		w.muster(n, opts.Seed)
	}
}

// seed is where worker n's random numbers begin.
func (p *random) seed(seed int64, n uint64) {
	if seed == 0 {
		seed = 1
	}
	if p.pcg == nil {
		p.pcg = rand.NewPCG(0, 0)
		p.rng = rand.New(p.pcg)
	}
	p.pcg.Seed(uint64(seed), 0x9e3779b97f4a7c15+n)
}

// reset forgets all but the problem, the present plan and the best one.
func (w *worker) reset() {
	w.progress.reset()
	w.cores.reset()
	w.lp.ops = 0
	w.greedy.reset()
	w.dual.reset(&w.in)
	w.cuts.reset()
	if w.lp.fits(&w.in) {
		w.lp.reset(&w.in)
		w.node.reset()
		w.rounding.reset()
	}
	w.conflicts.reset()
	w.branching.costs.reset(len(w.in.P.Jobs) + len(w.in.P.Running))
	w.tree.reset()
}

// release drops what must not outlive the solve.
func (w *worker) release() {
	w.ctx, w.report = nil, nil
	w.memory, w.noted, w.recall.past, w.recall.last = nil, nil, nil, nil
	w.in.Release()
	w.team = nil
	for _, h := range w.crew {
		h.dismiss()
	}
}

func (p *progress) bound() float64 { return min(p.dual.bound, p.given) }

// solution is the best plan with the bound proven so far, which an abandoned solve keeps too.
func (p *progress) solution(stop solver.Stop) *solver.Solution {
	best := &p.best
	if p.rival > best.Value {
		best = &p.peer
	}
	sol := best.Solution(name, stop)
	sol.Work = p.spent() / opsPerUnit
	if bound := p.bound(); !math.IsInf(bound, 0) {
		if v := sol.Objective; bound < v && bound >= v-float64(inexact*math.Abs(v)) {
			bound = v
		}
		sol.Bound = &bound
	}
	return sol
}

// inexact is how far, relatively, a bound may be below a plan for rounding errors alone. One that is lower is wrong, and left as it is
// for the caller to see.
const inexact = 1e-9

func (p *progress) gap() float64 {
	b := p.bound()
	return (b - p.top()) / math.Max(math.Abs(b), 1e-9)
}

// keep makes cur the best plan if it is better. It reports whether cur still has
// all its jobs: rounding may have let in more than fits.
func (p *progress) keep() bool {
	least := p.best.Value + float64(1e-12*math.Abs(p.best.Value))
	if p.cur.Value <= least {
		return true
	}
	stood := p.cur.Settle()
	if p.cur.Value > least {
		p.best.Copy(&p.cur)
	}
	return stood
}

// run is the whole search.
func (w *worker) run() {
	w.greedy.starts()
	if !w.proceed() {
		return
	}
	if w.recall.warm = w.recall.remind(); w.recall.warm {
		w.polish()
		if !w.proceed() {
			return
		}
	}
	w.ascend()
	w.greedy.planByPrices()
	if !w.proceed() {
		return
	}
	if w.cfg.Relaxation {
		w.node.whole()
		if w.lp.fits(&w.in) {
			w.relaxation.solve(math.MaxInt64)
		}
		return
	}
	if !w.relaxation.affordable() || !w.relaxed() {
		w.local.improve(math.MaxInt64)
		return
	}
	left := (w.share(1) - w.spent()) / max(w.lp.ops, 1)
	if w.recall.easy() {
		left = 0
	}
	if left > forCuts {
		w.cutRoot()
	}
	if left > forProof {
		w.growFor(10)
	}
	part := int64(3)
	if left > forCuts {
		part = 2
	}
	w.within(w.share(part), func() { w.dive.run(-1) })
	w.local.improve(w.share(5))
	if left <= forCuts {
		w.cutRoot()
	}
	if left <= forProof {
		w.growFor(10)
	}
	w.dives()
	w.rounds()
}

// How many times over what the relaxation took must be left for cuts and the search for a proof to come before plans.
const (
	forCuts  = 4
	forProof = 4
)

// cutRoot adds cuts to the relaxation, if what it took to solve leaves the time.
func (w *worker) cutRoot() {
	end := w.share(6)
	if w.cfg.NoExact || w.lp.ops >= 2*(end-w.spent()) {
		return
	}
	w.dual.cuts = &w.cuts
	w.within(end, func() { w.separator.tighten(end) })
}

// growFor searches for a proof for one n-th of what is left.
func (w *worker) growFor(n int64) { w.within(w.share(n), w.tree.grow) }

// rounds search wider and wider around what is known until the limits are reached. A round
// that finds nothing to spend work on, or only a remainder too small to share out, is the last.
func (w *worker) rounds() {
	for before := int64(-1); w.proceed() && w.spent() > before; {
		before = w.spent()
		w.adopt()
		w.growFor(w.proofs())
		w.local.improve(w.share(4))
		w.cores.improve(w.share(4))
	}
}

// dives makes plans by following the relaxation's advice all the way down,
// then with one early piece of advice turned around.
func (w *worker) dives() {
	more, misses := true, 0
	for against := -1; more && misses < 3 && against < maxDives; against++ {
		before := w.best.Value
		part := int64(4)
		if against < 0 {
			part = 2
		}
		w.within(w.share(part), func() { more = w.dive.run(against) })
		if misses++; w.best.Value > before {
			misses = 0
		}
		if against < 0 {
			w.local.improve(w.share(4))
		}
	}
}

// maxDives is how many pieces of advice are turned around; the first matter most.
const maxDives = 12

// affordable says whether the linear relaxation can be expected to be solved in a part of the work, by what it took
// on problems of many sizes: too early a start leaves no time for anything else.
func (rel *relaxation) affordable() bool {
	need := int64(rel.in.Rows) * max(10*int64(len(rel.in.Part)), 730*int64(len(rel.in.P.Jobs)))
	return rel.lp.fits(&rel.in) && need < rel.horizon
}

// relaxed solves the linear relaxation, or most of it, and makes plans from its
// prices. It reports whether there is something to follow.
func (w *worker) relaxed() bool {
	w.node.whole()
	spent := w.spent()
	ok := w.relaxation.solve(spent + 3*(w.share(1)-spent)/5)
	if w.relaxation.large() {
		w.lp.drop(unlikely)
	}
	if w.memory != nil || w.team != nil {
		w.noted = w.relaxation.note()
	}
	w.greedy.planByPrices()
	w.node.whole()
	return w.proceed() && (ok || w.lp.objective() > w.top())
}

// unlikely is how much of its value a column is short of paying that is not kept for the search, whose programs take the longer the more there are.
const unlikely = 0.2

// greedy makes plans from nothing, options taking what room there is in some order: of their values, or of what is left of those at
// the best prices.
type greedy struct {
	*progress
	recall  *recall
	pre     pack.Preemptor
	byValue []int // options by falling value per area
	byRed   []int // options of each job by falling reduced value
	merged  []int // scratch: options being sorted
	jobs    []int // jobs in insertion order
	key     []float64
	guides  int64  // how often guide has been called
	advice  advice // prices of the team's leader
}

// reset forgets all orders.
func (g *greedy) reset() {
	g.guides = 0
	g.byRed = g.byRed[:0]
	for range g.in.Opts {
		g.byRed = append(g.byRed, -1)
	}
	g.pre.Reset(&g.in)
}

// starts makes the plans that need no prices: density greedy, value greedy, and
// last cycle's choices.
func (g *greedy) starts() {
	g.early = g.spent() + earlyOps
	g.byValue, g.key, g.smallest = g.byValue[:0], g.key[:0], math.Inf(1)
	for i := range g.in.Opts {
		o := &g.in.Opts[i]
		g.byValue = append(g.byValue, i)
		if !o.Dead {
			g.smallest = min(g.smallest, o.Value)
		}
		g.key = append(g.key, o.Value/(o.Area+1e-12))
	}
	g.hint()
	if len(g.in.P.Hint) > 0 {
		g.fillByValue()
		g.keep()
		if !g.proceed() && g.best.Value > 0 {
			return
		}
		g.clear()
	}
	g.jobsByValue()
	g.keep()
	if !g.proceed() {
		return
	}
	g.clear()
	g.fillByValue()
	g.keep()
}

// earlyOps is what the first plan gets however late it is, about two milliseconds: reading a big problem may have taken all the time,
// and the most valuable jobs are worth more than being in time.
const earlyOps = 2000 * opsPerUnit

// byKey compares options by falling key, and by number if they have the same.
func (g *greedy) byKey(a, b int) int { return cmp.Or(cmp.Compare(g.key[b], g.key[a]), a-b) }

// sortRun is how many options are sorted at a time.
const sortRun = 4096

// sortByValue brings byValue into order, and reports whether there was the time to: runs of it are sorted, and merged.
func (g *greedy) sortByValue() bool {
	n := len(g.byValue)
	for lo := 0; lo < n; lo += sortRun {
		if lo > 0 && g.readClock() {
			return false
		}
		slices.SortFunc(g.byValue[lo:min(lo+sortRun, n)], g.byKey)
	}
	for width := sortRun; width < n; width *= 2 {
		g.merged = g.merged[:0]
		for lo := 0; lo < n; lo += 2 * width {
			if g.readClock() {
				return false
			}
			mid := min(lo+width, n)
			g.merge(g.byValue[lo:mid], g.byValue[mid:min(mid+width, n)])
		}
		g.byValue, g.merged = g.merged, g.byValue
	}
	return true
}

// merge appends two lists that are in order to merged.
func (g *greedy) merge(a, b []int) {
	for len(a) > 0 && len(b) > 0 {
		if g.byKey(a[0], b[0]) < 0 {
			g.merged, a = append(g.merged, a[0]), a[1:]
		} else {
			g.merged, b = append(g.merged, b[0]), b[1:]
		}
	}
	g.merged = append(append(g.merged, a...), b...)
}

// clear empties the current plan.
func (p *progress) clear() {
	for j, o := range p.cur.Choice {
		if o >= 0 {
			p.cur.Choice[j] = -1
		}
	}
	clear(p.cur.Preempted)
	p.cur.Rebuild()
}

// hint places what is left of last cycle's plan.
func (g *greedy) hint() {
	if len(g.in.P.Hint) == 0 {
		return
	}
	g.recall.replay()
	for j := range g.in.P.Jobs {
		if o := g.recall.hinted(j); o >= 0 && g.cur.Choice[j] < 0 && !g.late() {
			g.cur.TryPlace(o)
		}
	}
	g.cur.Spare(g.pre.ByCost)
}

// hinted is the option that the hint gives job j; -1 if it gives none.
func (q *recall) hinted(j int) int {
	index, ok := q.in.P.Hint[q.in.P.Jobs[j].ID]
	if !ok {
		return -1
	}
	for o := q.in.JobOpts[j]; o < q.in.JobOpts[j+1]; o++ {
		if q.in.Opts[o].Index == index {
			return o
		}
	}
	return -1
}

// fillByValue places options where they fit, densest first.
func (g *greedy) fillByValue() {
	if !g.sortByValue() {
		return
	}
	for _, o := range g.byValue {
		if g.late() {
			return
		}
		if g.cur.Choice[g.in.Opts[o].Job] < 0 {
			g.cur.TryPlace(o)
		}
	}
}

// jobsByValue places each job's most valuable option that fits, densest job first.
func (g *greedy) jobsByValue() {
	first := g.merged[:0]
	for j := range g.in.P.Jobs {
		if g.in.JobOpts[j] < g.in.JobOpts[j+1] {
			first = append(first, g.in.JobOpts[j])
		}
	}
	g.merged = first
	slices.SortFunc(first, g.byKey)
	for _, o := range first {
		if g.late() {
			return
		}
		g.insertByValue(g.in.Opts[o].Job)
	}
}

// ascend improves the prices, making a greedy plan from them now and then.
func (w *worker) ascend() {
	share, most, restarts := w.share(1)*45/100, 1000, 0
	if w.relaxation.affordable() {
		share, most = w.share(1)*8/100, 30
	}
	if w.recall.warm && w.relaxation.affordable() && w.steady() {
		return
	}
	if w.relaxation.affordable() && w.relaxation.large() {
		w.approach()
		return
	}
	for i := 1; i <= most && w.dual.ops < share && w.proceed(); i++ {
		if !w.dual.step(w.top()) {
			if restarts++; restarts > 3 {
				break
			}
			w.dual.again()
		}
		if i == 4 || i%10 == 0 && i <= 60 || i%40 == 0 {
			w.greedy.planByPrices()
			w.dual.evaluate()
		}
	}
}

// approach is ascend before a large relaxation, to which it leaves the columns of the last steps.
func (w *worker) approach() {
	d, share := &w.dual, w.share(1)*12/100
	copy(d.lam, d.best)
	d.evaluate()
	copy(d.dir, d.grad)
	d.stale = 0
	level := 0.5 * (d.bound - w.top())
	for i := 1; i <= 40 && level > 0 && d.ops < share && w.proceed(); i++ {
		if i > 10 {
			d.columns = &w.lp
		}
		if level = d.approach(level); i == 10 || i == 25 {
			w.greedy.guide()
			w.greedy.fillByRed()
		}
	}
	d.columns = nil
}

// steady says that the memory's prices are good ones, which the first steps of ascent do not better by much.
func (w *worker) steady() bool {
	before := w.dual.bound
	for range 2 * patience { // shorter steps, too, before it is believed
		if !w.proceed() || !w.dual.step(w.top()) {
			break
		}
	}
	return before-w.dual.bound <= 0.1*(before-w.top())
}

// guide takes the best prices over into the orders that greedy plans and local
// search go by: options by reduced value, partitions by cost, running jobs by gain.
func (g *greedy) guide() {
	d := &g.dual
	d.settle()
	for m := range g.in.P.Running {
		gain := d.releaseGain(m)
		cost := g.in.P.Running[m].PreemptCost
		g.pre.Rank[m] = cost / (gain + cost + 1e-9)
	}
	g.arrange()
	copy(d.lam, d.best)
	g.guides++
}

// arrange sorts by reduced values, costs and ranks.
func (g *greedy) arrange() {
	d := &g.dual
	g.byRed = g.byRed[:0]
	for j := range g.in.P.Jobs {
		if g.late() {
			break
		}
		lo := len(g.byRed)
		for o := g.in.JobOpts[j]; o < g.in.JobOpts[j+1]; o++ {
			if !g.in.Opts[o].Dead {
				g.byRed = append(g.byRed, o)
			}
		}
		sortIndices(g.byRed[lo:], d.red, -1)
		for len(g.byRed) < g.in.JobOpts[j+1] {
			g.byRed = append(g.byRed, -1)
		}
		d.ops += 8 * sortOps(g.in.JobOpts[j+1]-g.in.JobOpts[j])
	}
	for len(g.byRed) < len(g.in.Opts) {
		g.byRed = append(g.byRed, -1)
	}
	for i := range g.in.Opts {
		if g.late() {
			return
		}
		o := &g.in.Opts[i]
		sortIndices(g.cur.Order[o.P0:o.P1], d.cost, 1)
		d.ops += 8 + 4*sortOps(o.P1-o.P0)
	}
	g.pre.Sort()
}

// sortOps is n, or where there are many about what it takes to sort them.
func sortOps(n int) int64 {
	if n <= few {
		return int64(n)
	}
	return int64(n * bits.Len(uint(n)))
}

// sortIndices sorts indices by key·sign, stably.
func sortIndices(list []int, key []float64, sign float64) {
	if len(list) > few {
		slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(sign*key[a], sign*key[b]) })
		return
	}
	for i := 1; i < len(list); i++ {
		for k := i; k > 0 && sign*key[list[k]] < sign*key[list[k-1]]; k-- {
			list[k], list[k-1] = list[k-1], list[k]
		}
	}
}

// fillByRed makes plans from nothing: running jobs whose room is worth more than
// they cost are preempted, jobs take the best option by reduced value that fits,
// more are preempted for those left out, and unneeded preemptions are undone.
func (g *greedy) fillByRed() {
	g.fillBy(false)
	if g.proceed() {
		g.fillBy(true)
	}
}

// planByPrices makes plans by the best prices, unless the limits are reached.
func (g *greedy) planByPrices() {
	if !g.proceed() {
		return
	}
	if g.guide(); g.proceed() {
		g.fillByRed()
	}
}

// fillBy is fillByRed with jobs in the order of value per price, or of reduced
// value, which favours big gangs.
func (g *greedy) fillBy(big bool) {
	g.clear()
	d := &g.dual
	for m := range g.in.P.Running {
		if d.releaseGain(m) > 0 {
			g.cur.Preempt(m)
		}
	}
	g.jobs = g.jobs[:0]
	g.key = pack.Resize(g.key, len(g.in.P.Jobs))
	for j := range g.in.P.Jobs {
		if g.in.JobOpts[j] == g.in.JobOpts[j+1] {
			continue
		}
		o := g.byRed[g.in.JobOpts[j]]
		if o < 0 {
			continue
		}
		g.jobs = append(g.jobs, j)
		g.key[j] = d.red[o] / (g.in.Opts[o].Value - d.red[o] + float64(1e-3*g.in.Opts[o].Value))
		if big {
			g.key[j] = d.red[o]
		}
	}
	slices.SortFunc(g.jobs, g.byKey)
	for _, j := range g.jobs {
		if g.late() {
			break
		}
		g.insert(j)
	}
	for _, j := range g.jobs {
		if len(g.in.P.Running) == 0 || g.late() {
			break
		}
		if g.cur.Choice[j] < 0 {
			o := g.byRed[g.in.JobOpts[j]]
			g.pre.TryPlace(&g.cur, o, g.in.Opts[o].Value)
		}
	}
	g.cur.Spare(g.pre.ByCost)
	g.keep()
}

// insert gives free job j its best option by reduced value that fits.
func (g *greedy) insert(j int) bool {
	for _, o := range g.byRed[g.in.JobOpts[j]:g.in.JobOpts[j+1]] {
		if o < 0 || g.late() {
			break
		}
		if g.cur.TryPlace(o) {
			return true
		}
	}
	return false
}

// insertByValue gives free job j its most valuable option that fits.
func (g *greedy) insertByValue(j int) bool {
	for o := g.in.JobOpts[j]; o < g.in.JobOpts[j+1] && !g.late(); o++ {
		if g.cur.TryPlace(o) {
			return true
		}
	}
	return false
}
