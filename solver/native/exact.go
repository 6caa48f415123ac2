package native

import (
	"math"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// tree is the branch and bound's memory. A node has some jobs and running jobs
// decided; its bound is the Lagrangian one of the rest, on the capacity left.
type tree struct {
	dual   prices
	levels []level
	all    []float64 // scratch: capacity with all undecided running jobs preempted
	class  []int     // partitions listed by the same options have the same class
	out    bool      // the budget ran out, so that nothing is proven
}

// level is what one depth of the tree keeps while its children are searched.
type level struct {
	lam, cost, limit []float64
	dead             []bool
	split            []float64
	opts             []int
	red              []float64
}

// Branch and bound is tried up to these sizes.
const (
	maxTreeJobs = 100
	maxTreeOpts = 1200
	nodeSteps   = 12
)

// provable says whether the problem is of a kind and size to branch on: splits
// are enumerated, so they must be whole or have only one partition to be in.
func (w *workspace) provable() bool {
	if len(w.in.P.Jobs) > maxTreeJobs || len(w.in.Opts) > maxTreeOpts {
		return false
	}
	for i := range w.in.Opts {
		if o := &w.in.Opts[i]; !o.Whole && !o.Dead && o.P1-o.P0 > 1 {
			return false
		}
	}
	return true
}

// prove searches the whole tree, pruning by the best plan, until the work spent
// reaches until. If it gets through, the best plan is optimal.
func (w *workspace) prove(until int64) {
	if w.phase = math.MaxInt64; w.over() {
		return
	}
	w.phase = until
	t := &w.tree
	ops := t.dual.ops
	t.dual.reset(&w.in)
	t.dual.ops += ops
	t.out = false
	w.classify()
	w.clear()
	w.branch(0, w.dual.best)
	w.phase = math.MaxInt64
	if !t.out {
		w.proven = true
	}
}

// classify gives partitions that all the same options list the same class.
func (w *workspace) classify() {
	t := &w.tree
	hash := make([]uint64, w.in.Parts)
	for i := range w.in.Opts {
		o := &w.in.Opts[i]
		for _, x := range w.in.Part[o.P0:o.P1] {
			hash[x] = (hash[x] ^ uint64(i+1)) * 0x100000001b3
		}
	}
	t.class = growInts(t.class, w.in.Parts)
	for x := range hash {
		t.class[x] = x
		for y := range x {
			if hash[y] == hash[x] {
				t.class[x] = t.class[y]
				break
			}
		}
	}
}

func (t *tree) level(depth int, in *pack.Instance) *level {
	for len(t.levels) <= depth {
		t.levels = append(t.levels, level{})
	}
	l := &t.levels[depth]
	l.lam = grow(l.lam, in.Rows)
	l.cost, l.limit = grow(l.cost, len(in.Part)), grow(l.limit, len(in.Part))
	l.dead = growBools(l.dead, len(in.Opts))
	l.split = grow(l.split, in.MaxParts)
	return l
}

// branch searches the node that cur and the dual's decided jobs describe, with
// its parent's prices to begin with.
func (w *workspace) branch(depth int, lam []float64) {
	t := &w.tree
	if w.over() {
		t.out = true
		return
	}
	l := t.level(depth, &w.in)
	bound := w.boundNode(l, lam)
	if bound <= w.cutoff() {
		return
	}
	if m := w.openRunning(); m >= 0 {
		w.branchRunning(depth, l, m)
		return
	}
	j, best := w.pickJob()
	if j < 0 {
		w.keep()
		return
	}
	w.branchJob(depth, l, j, best, bound)
}

// cutoff is what a node's bound must exceed to be worth searching.
func (w *workspace) cutoff() float64 {
	return w.best.Value + 1e-9*max(1, math.Abs(w.best.Value))
}

// boundNode computes what still fits, improves the prices for this node, and
// leaves prices, costs and limits in l.
func (w *workspace) boundNode(l *level, lam []float64) float64 {
	t, d, in := &w.tree, &w.tree.dual, &w.in
	t.all = append(t.all[:0], w.cur.Res...)
	for m, done := range d.runDone {
		if done {
			continue
		}
		for i := in.RunOff[m]; i < in.RunOff[m+1]; i++ {
			t.all[in.RunRow[i]] += in.RunAmt[i]
		}
	}
	for i := range in.Opts {
		o := &in.Opts[i]
		l.dead[i] = o.Dead || d.jobDone[o.Job]
		if l.dead[i] {
			continue
		}
		total := 0.0
		for k := o.P0; k < o.P1; k++ {
			l.limit[k] = in.Fit(o, in.Part[k], t.all)
			total += l.limit[k]
		}
		l.dead[i] = total < o.Count-0.5
		d.ops += int64((o.P1 - o.P0) * (len(o.Usage)*len(o.Demand) + 2))
	}
	d.cap, d.limit, d.dead, d.base = w.cur.Res, l.limit, l.dead, w.cur.Value
	copy(d.lam, lam)
	copy(d.best, lam)
	clear(d.dir)
	d.theta, d.volume, d.stale = 0.5, false, 0
	d.bound = d.evaluate()
	for range nodeSteps {
		if d.bound <= w.cutoff() || !d.step(w.best.Value) {
			break
		}
	}
	copy(l.lam, d.best)
	if d.bound > w.cutoff() {
		d.settle()
		copy(l.cost, d.cost)
	}
	return d.bound
}

// openRunning is the undecided running job whose decision matters most, or -1.
func (w *workspace) openRunning() int {
	d := &w.tree.dual
	pick, most := -1, -1.0
	for m, done := range d.runDone {
		if !done {
			if g := math.Abs(d.releaseGain(m)); g > most {
				pick, most = m, g
			}
		}
	}
	return pick
}

func (w *workspace) branchRunning(depth int, l *level, m int) {
	d := &w.tree.dual
	first := d.releaseGain(m) > 0
	d.runDone[m] = true
	for _, on := range [2]bool{first, !first} {
		if on {
			w.cur.Preempt(m)
		}
		w.branch(depth+1, l.lam)
		if on {
			w.cur.Unpreempt(m)
		}
		if w.tree.out {
			break
		}
	}
	d.runDone[m] = false
}

// pickJob is the undecided job that loses most if it does not get its best
// option, and that option's reduced value; -1 if no undecided job fits any more.
func (w *workspace) pickJob() (int, float64) {
	d, in := &w.tree.dual, &w.in
	pick, most, value := -1, -1.0, 0.0
	for j := range in.P.Jobs {
		if d.jobDone[j] {
			continue
		}
		best, second, any := 0.0, 0.0, false
		for o := in.JobOpts[j]; o < in.JobOpts[j+1]; o++ {
			if d.dead[o] {
				continue
			}
			any = true
			if r := d.red[o]; r > best {
				best, second = r, best
			} else if r > second {
				second = r
			}
		}
		if any && best-second > most {
			pick, most, value = j, best-second, best
		}
	}
	return pick, value
}

// branchJob tries every option and split of job j that the bound allows, then
// leaving it out.
func (w *workspace) branchJob(depth int, l *level, j int, best, bound float64) {
	t, d, in := &w.tree, &w.tree.dual, &w.in
	l.opts, l.red = l.opts[:0], append(l.red[:0], d.red...)
	for o := in.JobOpts[j]; o < in.JobOpts[j+1]; o++ {
		if !l.dead[o] {
			l.opts = append(l.opts, o)
		}
	}
	insertionSort(l.opts, l.red, -1)
	d.jobDone[j] = true
	none := false
	for _, o := range l.opts {
		if !none && l.red[o] < 0 {
			none = true
			w.branchNone(depth, l, best, bound)
		}
		room := bound - best + l.red[o] - w.cutoff()
		if t.out || room <= 0 {
			break
		}
		opt := &in.Opts[o]
		least := opt.Value - l.red[o]
		w.splits(depth, l, o, 0, opt.Count, least, bound-best+opt.Value)
	}
	if !none && !t.out {
		w.branchNone(depth, l, best, bound)
	}
	d.jobDone[j] = false
}

func (w *workspace) branchNone(depth int, l *level, best, bound float64) {
	if bound-best > w.cutoff() {
		w.branch(depth+1, l.lam)
	}
}

// splits enumerates option o's splits from its i-th partition on, with left
// tasks to place; least is the least price they can have all together, and top
// the bound at price 0.
func (w *workspace) splits(depth int, l *level, o, i int, left, least, top float64) {
	t, in := &w.tree, &w.in
	if t.out || top-least <= w.cutoff() {
		return
	}
	opt := &in.Opts[o]
	n := opt.P1 - opt.P0
	if left == 0 {
		clear(l.split[i:n])
		w.cur.Place(o, l.split)
		w.branch(depth+1, l.lam)
		w.cur.Remove(opt.Job)
		return
	}
	if i == n {
		return
	}
	rest := 0.0
	for k := i + 1; k < n; k++ {
		rest += l.limit[opt.P0+k]
	}
	most := min(left, l.limit[opt.P0+i], w.symmetric(l, opt, i))
	fewest := max(0, left-rest)
	w.ops += 16
	for q := most; q >= fewest && !t.out; q-- {
		l.split[i] = q
		price := w.pricePrefix(l, opt, i+1)
		w.splits(depth, l, o, i+1, left-q, price, top)
	}
}

// pricePrefix is the least price of opt with its first n partitions' tasks given.
func (w *workspace) pricePrefix(l *level, opt *pack.Option, n int) float64 {
	price, left := 0.0, opt.Count
	for i := range n {
		price += l.split[i] * l.cost[opt.P0+i]
		left -= l.split[i]
	}
	least := math.Inf(1)
	for i := opt.P0 + n; i < opt.P1; i++ {
		if l.limit[i] > 0 {
			least = min(least, l.cost[i])
		}
	}
	if left > 0 {
		price += left * least
	}
	return price
}

// symmetric is how many tasks the i-th partition may get because an earlier one
// that is alike in every way has so many.
func (w *workspace) symmetric(l *level, opt *pack.Option, i int) float64 {
	in := &w.in
	x := in.Part[opt.P0+i]
	for k := i - 1; k >= 0; k-- {
		y := in.Part[opt.P0+k]
		if w.tree.class[x] == w.tree.class[y] && w.alike(x, y) {
			return l.split[k]
		}
	}
	return math.Inf(1)
}

// alike says whether partitions x and y have the same capacity left.
func (w *workspace) alike(x, y int) bool {
	n := w.in.R * w.in.T
	for k := range n {
		if w.cur.Res[x*n+k] != w.cur.Res[y*n+k] {
			return false
		}
	}
	return true
}
