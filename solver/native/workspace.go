package native

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/internal/pack"
)

// workspace is one solve's state; engines pool them.
type workspace struct {
	in   pack.Instance
	cur  pack.State
	best pack.State
	dual prices
	pre  pack.Preemptor
	cfg  Config

	ctx    context.Context
	report func(*solver.Solution)
	ctxErr error
	rng    *rand.Rand
	pcg    *rand.PCG

	deadline time.Time
	timed    bool
	target   float64
	limit    int64 // in ops; 0 is none
	horizon  int64 // in ops; about how many there will be time for
	phase    int64 // in ops; where the present phase ends
	ops      int64 // by searches other than cur's and dual's
	pollAt   int64
	early    int64 // in ops; until here the first plan is made however late it is
	reportAt int64
	reported float64
	proven   bool
	smallest float64 // the least value of an option that can fit

	byValue []int // options by falling value per area
	merged  []int // scratch: options being sorted
	byRed   []int // options of each job by falling reduced value
	jobs    []int // scratch: jobs in insertion order
	key     []float64
	ls      local
	lp      master
	node    node
	tree    tree
	cuts    cuts
	sep     separator
	coreLP  master
	inCore  bool

	splits    splits
	conflicts conflicts

	team   *team        // nil for a worker that works alone
	crew   []*workspace // the helpers of the last team, kept for the next
	number int          // in the team; the leader is 0
	meetAt int64        // in ops; where the team meets next
	given  float64      // the bound that the leader has proven, for helpers
	peer   pack.State   // the best plan of others, if that is better than best,
	rival  float64      // and its value
	advice advice       // what a helper has been told
	guides int64        // how often guide has been called

	memory *solver.Memory // what the caller has handed on; nil asks for none
	recall recall
	warm   bool  // the memory's prices prove something
	noted  *root // what this solve leaves to the next of its relaxation
}

const (
	pollOps   = 64 * opsPerUnit
	reportOps = 20_000 * opsPerUnit
)

func (w *workspace) begin(ctx context.Context, p *solver.Problem, opts solver.Options, cfg Config, report func(*solver.Solution)) {
	w.ctx, w.report, w.cfg, w.ctxErr = ctx, report, cfg, nil
	w.target = opts.TargetGap()
	w.seed(opts.Seed, 0)
	work := opts.Work
	if work == 0 && opts.Time == 0 {
		work = DefaultWork
		if cfg.DefaultWork > 0 {
			work = cfg.DefaultWork
		}
	}
	w.limit = 0
	if work > 0 {
		w.limit = min(work, math.MaxInt64/opsPerUnit/8) * opsPerUnit
	}
	w.horizon = w.limit
	if w.limit == 0 {
		w.horizon = opts.Time.Microseconds() * opsPerUnit
	}
	if w.deadline, w.timed = ctx.Deadline(); w.timed && (opts.Time > 0 || work == 0) {
		w.horizon = time.Until(w.deadline).Microseconds() * opsPerUnit
		if w.limit > 0 {
			w.horizon = min(w.horizon, w.limit)
		}
	}
	w.horizon = min(w.horizon, longest)
	w.reportAt, w.reported = 0, 0
	w.in.Look = w.look
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
	w.memory, w.noted, w.warm = opts.Memory, nil, false
	w.recall.reset(&w.in, opts.Memory)
	w.team, w.number, w.meetAt = nil, 0, math.MaxInt64
	if n := w.workers(opts.Threads); n > 1 && !cfg.Relaxation {
		w.muster(n, opts.Seed)
	}
}

// longest is the horizon of all limits beyond it, nineteen hours, of which shares can be worked out without overflowing.
const longest = 1 << 45

// seed is where worker n's random numbers begin.
func (w *workspace) seed(seed int64, n uint64) {
	if seed == 0 {
		seed = 1
	}
	if w.pcg == nil {
		w.pcg = rand.NewPCG(0, 0)
		w.rng = rand.New(w.pcg)
	}
	w.pcg.Seed(uint64(seed), 0x9e3779b97f4a7c15+n)
}

// reset forgets all but the problem, the present plan and the best one.
func (w *workspace) reset() {
	w.pollAt, w.early, w.phase, w.proven = 0, 0, math.MaxInt64, false
	w.coreLP.ops, w.lp.ops = 0, 0
	w.given, w.rival, w.guides = math.Inf(1), math.Inf(-1), 0
	w.best.Order = append(w.best.Order[:0], w.cur.Order...)
	w.byRed = w.byRed[:0]
	for range w.in.Opts {
		w.byRed = append(w.byRed, -1)
	}
	w.pre.Reset(&w.in)
	if w.dual.late == nil {
		w.dual.late, w.pre.Late = w.late, w.late
	}
	w.dual.reset(&w.in)
	w.cuts.reset()
	w.coreLP.in, w.inCore = nil, false
	if w.lp.fits(&w.in) {
		w.lp.reset(&w.in)
		w.resetNode()
	}
	w.splits.steps = 0
	w.conflicts.reset()
	w.tree.reset(len(w.in.P.Jobs) + len(w.in.P.Running))
}

// release drops what must not outlive the solve.
func (w *workspace) release() {
	w.ctx, w.report = nil, nil
	w.memory, w.noted, w.recall.past, w.recall.plan = nil, nil, nil, nil
	w.in.Release()
	w.team = nil
	for _, h := range w.crew {
		h.dismiss()
	}
}

func (w *workspace) spent() int64 { return w.cur.Ops + w.dual.ops + w.lp.ops + w.coreLP.ops + w.ops }

// over reports whether the limits are reached, or the gap.
func (w *workspace) over() bool {
	if w.ctxErr != nil || w.proven {
		return true
	}
	spent := w.spent()
	if w.limit > 0 && spent >= w.limit {
		return true
	}
	if spent >= w.meetAt {
		w.meet(spent)
	}
	w.poll(spent)
	return w.ctxErr != nil || w.gap() <= w.target || spent >= w.phase
}

// late reports whether the time is over, or more than the work is used up: what is under way when the work ends is let to come to
// an end if that takes little. What is left undone then is so for good, as over is true from then on.
func (w *workspace) late() bool {
	spent := w.spent()
	w.poll(spent)
	return spent >= w.early && (w.ctxErr != nil || w.limit > 0 && spent >= w.limit+w.limit/20)
}

// look reports whether the time is over by the context and the clock.
func (w *workspace) look() bool {
	if w.ctxErr = w.ctx.Err(); w.ctxErr == nil && w.timed && !time.Now().Before(w.deadline) {
		w.ctxErr = context.DeadlineExceeded // the timer may be late on a loaded machine
	}
	return w.ctxErr != nil
}

// poll looks at the context and the clock, and reports the best plan, every now and then.
func (w *workspace) poll(spent int64) {
	if spent < w.pollAt {
		return
	}
	w.pollAt = spent + pollOps
	w.look()
	if w.reportAt <= spent && w.top() > w.reported {
		w.reportAt, w.reported = spent+reportOps, w.top()
		w.report(w.solution(solver.StopNone))
	}
}

func (w *workspace) bound() float64 { return min(w.dual.bound, w.given) }

// solution is the best plan with the bound proven so far, which an abandoned solve keeps too.
func (w *workspace) solution(stop solver.Stop) *solver.Solution {
	best := &w.best
	if w.rival > best.Value {
		best = &w.peer
	}
	sol := best.Solution(name, stop)
	sol.Work = w.spent() / opsPerUnit
	if bound := w.bound(); !math.IsInf(bound, 0) {
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

func (w *workspace) gap() float64 {
	b := w.bound()
	return (b - w.top()) / math.Max(math.Abs(b), 1e-9)
}

// keep makes cur the best plan if it is better. It reports whether cur still has
// all its jobs: rounding may have let in more than fits.
func (w *workspace) keep() bool {
	least := w.best.Value + float64(1e-12*math.Abs(w.best.Value))
	if w.cur.Value <= least {
		return true
	}
	stood := w.cur.Settle()
	if w.cur.Value > least {
		w.best.Copy(&w.cur)
	}
	return stood
}

// run is the whole search.
func (w *workspace) run() {
	w.starts()
	if w.over() {
		return
	}
	if w.warm = w.remind(); w.warm {
		w.polish()
		if w.over() {
			return
		}
	}
	w.ascend()
	w.planByPrices()
	if w.over() {
		return
	}
	if w.cfg.Relaxation {
		w.whole()
		if w.lp.fits(&w.in) {
			w.relax(math.MaxInt64)
		}
		return
	}
	if !w.affordable() || !w.relaxed() {
		w.improve(math.MaxInt64)
		return
	}
	left := (w.share(1) - w.spent()) / max(w.lp.ops, 1)
	if w.easy() {
		left = 0
	}
	if left > forCuts {
		w.cutRoot()
	}
	if left > forProof {
		w.growFor(10)
	}
	w.phase = w.share(3)
	if left > forCuts {
		w.phase = w.share(2)
	}
	w.plunge(-1)
	w.improve(w.share(5))
	if left <= forCuts {
		w.cutRoot()
	}
	if left <= forProof {
		w.growFor(10)
	}
	w.plunges()
	w.rounds()
}

// How many times over what the relaxation took must be left for cuts and the search for a proof to come before plans.
const (
	forCuts  = 4
	forProof = 4
)

// cutRoot adds cuts to the relaxation, if what it took to solve leaves the time.
func (w *workspace) cutRoot() {
	if w.phase = w.share(6); !w.cfg.NoExact && w.lp.ops < 2*(w.phase-w.spent()) {
		w.dual.cuts = &w.cuts
		w.tighten(w.phase)
	}
	w.phase = math.MaxInt64
}

// growFor searches for a proof for one n-th of what is left.
func (w *workspace) growFor(n int64) {
	w.phase = w.share(n)
	w.grow()
	w.phase = math.MaxInt64
}

// rounds search wider and wider around what is known until the limits are reached. A round
// that finds nothing to spend work on, or only a remainder too small to share out, is the last.
func (w *workspace) rounds() {
	for before := int64(-1); !w.over() && w.spent() > before; {
		before = w.spent()
		w.adopt()
		w.growFor(w.proofs())
		w.improve(w.share(4))
		w.cores(w.share(4))
	}
}

// plunges makes plans by following the relaxation's advice all the way down,
// then with one early piece of advice turned around.
func (w *workspace) plunges() {
	more, misses := true, 0
	for against := -1; more && misses < 3 && against < maxPlunges; against++ {
		before := w.best.Value
		w.phase = w.share(4)
		if against < 0 {
			w.phase = w.share(2)
		}
		more = w.plunge(against)
		if misses++; w.best.Value > before {
			misses = 0
		}
		if against < 0 {
			w.improve(w.share(4))
		}
		w.phase = math.MaxInt64
	}
}

// maxPlunges is how many pieces of advice are turned around; the first matter most.
const maxPlunges = 12

// affordable says whether the linear relaxation can be expected to be solved in a part of the work, by what it took
// on problems of many sizes: too early a start leaves no time for anything else.
func (w *workspace) affordable() bool {
	need := int64(w.in.Rows) * max(10*int64(len(w.in.Part)), 730*int64(len(w.in.P.Jobs)))
	return w.lp.fits(&w.in) && need < w.horizon
}

// relaxed solves the linear relaxation, or most of it, and makes plans from its
// prices. It reports whether there is something to follow.
func (w *workspace) relaxed() bool {
	w.whole()
	spent := w.spent()
	ok := w.relax(spent + 3*(w.share(1)-spent)/5)
	if w.large() {
		w.lp.drop(unlikely)
	}
	if w.memory != nil || w.team != nil {
		w.noted = w.note()
	}
	w.planByPrices()
	w.whole()
	return !w.over() && (ok || w.lp.objective() > w.top())
}

// unlikely is how much of its value a column is short of paying that is not kept for the search, whose programs take the longer the more there are.
const unlikely = 0.2

// share is the spent work at which a phase of one n-th of what is left ends.
func (w *workspace) share(n int64) int64 {
	spent := w.spent()
	left := w.horizon - spent
	if left <= 0 {
		left = max(DefaultWork*opsPerUnit, spent)
	}
	return spent + left/n
}

// starts makes the plans that need no prices: density greedy, value greedy, and
// last cycle's choices.
func (w *workspace) starts() {
	w.early = w.spent() + earlyOps
	w.byValue, w.key, w.smallest = w.byValue[:0], w.key[:0], math.Inf(1)
	for i := range w.in.Opts {
		o := &w.in.Opts[i]
		w.byValue = append(w.byValue, i)
		if !o.Dead {
			w.smallest = min(w.smallest, o.Value)
		}
		w.key = append(w.key, o.Value/(o.Area+1e-12))
	}
	w.hint()
	if len(w.in.P.Hint) > 0 {
		w.fillByValue()
		w.keep()
		if w.over() && w.best.Value > 0 {
			return
		}
		w.clear()
	}
	w.jobsByValue()
	w.keep()
	if w.over() {
		return
	}
	w.clear()
	w.fillByValue()
	w.keep()
}

// earlyOps is what the first plan gets however late it is, about two milliseconds: reading a big problem may have taken all the time,
// and the most valuable jobs are worth more than being in time.
const earlyOps = 2000 * opsPerUnit

// byKey compares options by falling key, and by number if they have the same.
func (w *workspace) byKey(a, b int) int { return cmp.Or(cmp.Compare(w.key[b], w.key[a]), a-b) }

// sortRun is how many options are sorted at a time.
const sortRun = 4096

// sortByValue brings byValue into order, and reports whether there was the time to: runs of it are sorted, and merged.
func (w *workspace) sortByValue() bool {
	n := len(w.byValue)
	for lo := 0; lo < n; lo += sortRun {
		if lo > 0 && w.look() {
			return false
		}
		slices.SortFunc(w.byValue[lo:min(lo+sortRun, n)], w.byKey)
	}
	for width := sortRun; width < n; width *= 2 {
		w.merged = w.merged[:0]
		for lo := 0; lo < n; lo += 2 * width {
			if w.look() {
				return false
			}
			mid := min(lo+width, n)
			w.merge(w.byValue[lo:mid], w.byValue[mid:min(mid+width, n)])
		}
		w.byValue, w.merged = w.merged, w.byValue
	}
	return true
}

// merge appends two lists that are in order to merged.
func (w *workspace) merge(a, b []int) {
	for len(a) > 0 && len(b) > 0 {
		if w.byKey(a[0], b[0]) < 0 {
			w.merged, a = append(w.merged, a[0]), a[1:]
		} else {
			w.merged, b = append(w.merged, b[0]), b[1:]
		}
	}
	w.merged = append(append(w.merged, a...), b...)
}

// clear empties the current plan.
func (w *workspace) clear() {
	for j, o := range w.cur.Choice {
		if o >= 0 {
			w.cur.Choice[j] = -1
		}
	}
	clear(w.cur.Preempted)
	w.cur.Rebuild()
}

// hint places what is left of last cycle's plan.
func (w *workspace) hint() {
	if len(w.in.P.Hint) == 0 {
		return
	}
	w.replay()
	for j := range w.in.P.Jobs {
		if o := w.hinted(j); o >= 0 && w.cur.Choice[j] < 0 && !w.late() {
			w.cur.TryPlace(o)
		}
	}
	w.cur.Spare(w.pre.ByCost)
}

// hinted is the option that the hint gives job j; -1 if it gives none.
func (w *workspace) hinted(j int) int {
	index, ok := w.in.P.Hint[w.in.P.Jobs[j].ID]
	if !ok {
		return -1
	}
	for o := w.in.JobOpts[j]; o < w.in.JobOpts[j+1]; o++ {
		if w.in.Opts[o].Index == index {
			return o
		}
	}
	return -1
}

// fillByValue places options where they fit, densest first.
func (w *workspace) fillByValue() {
	if !w.sortByValue() {
		return
	}
	for _, o := range w.byValue {
		if w.late() {
			return
		}
		if w.cur.Choice[w.in.Opts[o].Job] < 0 {
			w.cur.TryPlace(o)
		}
	}
}

// jobsByValue places each job's most valuable option that fits, densest job first.
func (w *workspace) jobsByValue() {
	first := w.merged[:0]
	for j := range w.in.P.Jobs {
		if w.in.JobOpts[j] < w.in.JobOpts[j+1] {
			first = append(first, w.in.JobOpts[j])
		}
	}
	w.merged = first
	slices.SortFunc(first, w.byKey)
	for _, o := range first {
		if w.late() {
			return
		}
		w.insertByValue(w.in.Opts[o].Job)
	}
}

// ascend improves the prices, making a greedy plan from them now and then.
func (w *workspace) ascend() {
	share, most, restarts := w.share(1)*45/100, 1000, 0
	if w.affordable() {
		share, most = w.share(1)*8/100, 30
	}
	if w.warm && w.affordable() && w.steady() {
		return
	}
	if w.affordable() && w.large() {
		w.approach()
		return
	}
	for i := 1; i <= most && w.dual.ops < share && !w.over(); i++ {
		if !w.dual.step(w.top()) {
			if restarts++; restarts > 3 {
				break
			}
			w.dual.again()
		}
		if i == 4 || i%10 == 0 && i <= 60 || i%40 == 0 {
			w.planByPrices()
			w.dual.evaluate()
		}
	}
}

// approach is ascend before a large relaxation, to which it leaves the columns of the last steps.
func (w *workspace) approach() {
	d, share := &w.dual, w.share(1)*12/100
	copy(d.lam, d.best)
	d.evaluate()
	copy(d.dir, d.grad)
	d.stale = 0
	level := 0.5 * (d.bound - w.top())
	for i := 1; i <= 40 && level > 0 && d.ops < share && !w.over(); i++ {
		if i > 10 {
			d.columns = &w.lp
		}
		if level = d.approach(level); i == 10 || i == 25 {
			w.guide()
			w.fillByRed()
		}
	}
	d.columns = nil
}

// steady says that the memory's prices are good ones, which the first steps of ascent do not better by much.
func (w *workspace) steady() bool {
	before := w.dual.bound
	for range 2 * patience { // shorter steps, too, before it is believed
		if w.over() || !w.dual.step(w.top()) {
			break
		}
	}
	return before-w.dual.bound <= 0.1*(before-w.top())
}

// guide takes the best prices over into the orders that greedy plans and local
// search go by: options by reduced value, partitions by cost, running jobs by gain.
func (w *workspace) guide() {
	d := &w.dual
	d.settle()
	for m := range w.in.P.Running {
		gain := d.releaseGain(m)
		cost := w.in.P.Running[m].PreemptCost
		w.pre.Rank[m] = cost / (gain + cost + 1e-9)
	}
	w.arrange()
	copy(d.lam, d.best)
	w.guides++
}

// arrange sorts by reduced values, costs and ranks.
func (w *workspace) arrange() {
	d := &w.dual
	w.byRed = w.byRed[:0]
	for j := range w.in.P.Jobs {
		if w.late() {
			break
		}
		lo := len(w.byRed)
		for o := w.in.JobOpts[j]; o < w.in.JobOpts[j+1]; o++ {
			if !w.in.Opts[o].Dead {
				w.byRed = append(w.byRed, o)
			}
		}
		sortIndices(w.byRed[lo:], d.red, -1)
		for len(w.byRed) < w.in.JobOpts[j+1] {
			w.byRed = append(w.byRed, -1)
		}
		d.ops += 8 * sortOps(w.in.JobOpts[j+1]-w.in.JobOpts[j])
	}
	for len(w.byRed) < len(w.in.Opts) {
		w.byRed = append(w.byRed, -1)
	}
	for i := range w.in.Opts {
		if w.late() {
			return
		}
		o := &w.in.Opts[i]
		sortIndices(w.cur.Order[o.P0:o.P1], d.cost, 1)
		d.ops += 8 + 4*sortOps(o.P1-o.P0)
	}
	w.pre.Sort()
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
func (w *workspace) fillByRed() {
	w.fillBy(false)
	if !w.over() {
		w.fillBy(true)
	}
}

// planByPrices makes plans by the best prices, unless the limits are reached.
func (w *workspace) planByPrices() {
	if w.over() {
		return
	}
	if w.guide(); !w.over() {
		w.fillByRed()
	}
}

// fillBy is fillByRed with jobs in the order of value per price, or of reduced
// value, which favours big gangs.
func (w *workspace) fillBy(big bool) {
	w.clear()
	d := &w.dual
	for m := range w.in.P.Running {
		if d.releaseGain(m) > 0 {
			w.cur.Preempt(m)
		}
	}
	w.jobs = w.jobs[:0]
	w.key = pack.Resize(w.key, len(w.in.P.Jobs))
	for j := range w.in.P.Jobs {
		if w.in.JobOpts[j] == w.in.JobOpts[j+1] {
			continue
		}
		o := w.byRed[w.in.JobOpts[j]]
		if o < 0 {
			continue
		}
		w.jobs = append(w.jobs, j)
		w.key[j] = d.red[o] / (w.in.Opts[o].Value - d.red[o] + float64(1e-3*w.in.Opts[o].Value))
		if big {
			w.key[j] = d.red[o]
		}
	}
	slices.SortFunc(w.jobs, w.byKey)
	for _, j := range w.jobs {
		if w.late() {
			break
		}
		w.insert(j)
	}
	for _, j := range w.jobs {
		if len(w.in.P.Running) == 0 || w.late() {
			break
		}
		if w.cur.Choice[j] < 0 {
			o := w.byRed[w.in.JobOpts[j]]
			w.pre.TryPlace(&w.cur, o, w.in.Opts[o].Value)
		}
	}
	w.cur.Spare(w.pre.ByCost)
	w.keep()
}

// insert gives free job j its best option by reduced value that fits.
func (w *workspace) insert(j int) bool {
	for _, o := range w.byRed[w.in.JobOpts[j]:w.in.JobOpts[j+1]] {
		if o < 0 || w.late() {
			break
		}
		if w.cur.TryPlace(o) {
			return true
		}
	}
	return false
}

// insertByValue gives free job j its most valuable option that fits.
func (w *workspace) insertByValue(j int) bool {
	for o := w.in.JobOpts[j]; o < w.in.JobOpts[j+1] && !w.late(); o++ {
		if w.cur.TryPlace(o) {
			return true
		}
	}
	return false
}
