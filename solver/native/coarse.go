package native

import "github.com/hedgesched/hedge/solver"

// coarse is the search for a proof in the coarse problem, which has cells in place of partitions. There are fewer rows, and hardly more columns than options, so that
// far more nodes can be gone through for the same work; and cuts of what a gang takes of all its partitions say more where it is wider than each of them. All plans of the problem are plans
// of the coarse one, so that its bounds hold. Whether a plan of the coarse problem is one is asked where it is worth more than the best plan. What has no splits is a conflict
// that both problems avoid (logic-based Benders decomposition; Hooker and Ottosson, 2003).
//
// The coarse problem has a worker of its own, which knows options, jobs and running jobs by the same numbers. Its budget is kept level with the problem's.
type coarse struct {
	*progress
	node        *node
	enumeration *enumeration
	conflicts   *conflicts
	cells       cells
	rule        solver.SplitRule
	problem     solver.Problem
	worker      *worker // nil as long as there has been no coarse problem
	state       coarseState
}

// coarseState says how far the search of the coarse problem has come.
type coarseState int8

const (
	unseen  coarseState = iota
	planted             // its tree can grow
	useless             // it has nothing to say
)

func (c *coarse) reset() { c.state = unseen }

// release drops what must not outlive the solve.
func (c *coarse) release() {
	if c.problem = (solver.Problem{}); c.worker != nil {
		c.worker.release()
	}
}

// leads says whether the coarse problem's tree can still grow and is not behind what is known.
func (c *coarse) leads() bool { return c.state == planted && c.worker.bound() <= c.bound() }

// grow searches the coarse problem on, for one n-th of what is left. It is for small problems, as the trees of others get nowhere, and not for coarse ones.
func (c *coarse) grow(n int64) {
	small := c.node.relaxation.exists() && !c.node.relaxation.large()
	if c.outer != nil || !small || c.cfg.NoExact || c.cfg.Relaxation || c.state == useless || !c.proceed() {
		return
	}
	c.node.wholeProblem()
	c.within(c.share(n), func() {
		if c.state == unseen {
			if c.state = useless; c.load() && c.plant() {
				c.state = planted
			}
		}
		if c.state == planted {
			c.resume()
			c.worker.tree.grow()
			c.level()
		}
	})
	if c.state == planted && c.hopeless() {
		c.state = useless
	}
}

// load makes the coarse problem and loads it; false if that is no use.
func (c *coarse) load() bool {
	c.cells.find(&c.in)
	c.spend(int64(len(c.in.Part)))
	if float64(c.cells.n) > float64(mostCells*float64(c.in.Parts)) {
		return false
	}
	c.problem = c.cells.join(&c.in)
	c.spend(int64(len(c.in.Cap) + 16*len(c.in.Opts)))
	if c.worker == nil {
		c.worker = newWorker()
	}
	w := c.worker
	w.begin(c.ctx, &c.problem, solver.Options{Work: 1, Gap: -1, Splits: c.rule}, c.cfg, nil)
	if len(w.in.Opts) != len(c.in.Opts) {
		return false // there was no time to load it all
	}
	for o := range c.in.Opts {
		if w.in.Opts[o].Index != c.in.Opts[o].Index {
			return false // both are ordered by value alike
		}
	}
	c.cells.confine(&w.in, &c.in)
	w.reset()
	w.outer = c
	w.meet, w.meetAt = func(int64) { c.level() }, 0
	for i := range c.conflicts.list {
		w.conflicts.copy(c.conflicts, i)
	}
	return true
}

// resume gives the coarse problem's worker what budget there is.
func (c *coarse) resume() {
	w := c.worker
	w.spend(c.spent() - w.spent())
	w.follow(c.ctx, &c.budget, w.ops)
	w.phase, w.horizon = c.phase, min(c.phase, c.horizon)
	c.level()
}

// plant searches up to the tree, where that can be afforded, and reports whether that says as much as is known.
func (c *coarse) plant() bool {
	w := c.worker
	c.resume()
	defer c.level()
	if !w.begun() || !w.relaxation.affordable() || !w.relaxed() {
		return false
	}
	w.cutRoot()
	return w.bound() <= c.bound()
}

// hopeless says whether the coarse problem's bound cannot fall below what is known, as choices are worth as much of which it could not be told whether they have splits.
func (c *coarse) hopeless() bool { return c.worker.tree.stuck >= c.bound() }

// level has both spend the same, and tells each what the other knows. It ends the coarse search with its phase, or where that is hopeless.
func (c *coarse) level() {
	w := c.worker
	if d := w.spent() - c.spent(); d > 0 {
		c.spend(d)
	} else {
		w.spend(-d)
	}
	w.toBeat = c.top()
	c.shown = min(c.shown, w.bound())
	c.proven = c.proven || w.proven
	if !c.proceed() || c.hopeless() {
		w.endPhase()
	}
}

// take tries to make a plan of the one that the coarse problem's worker has in hand.
func (c *coarse) take() {
	k := c.conflicts
	k.pick, k.off = append(k.pick[:0], c.worker.cur.Choice[:len(c.in.P.Jobs)]...), append(k.off[:0], c.worker.cur.Preempted...)
	if k.broken() < 0 {
		c.enumeration.plan()
	}
	c.level()
}

// ask answers whether choices of the coarse problem have splits over partitions, and tells it of the conflict if they have none.
func (c *coarse) ask(h uint64, until int64) verdict {
	k, w := c.conflicts, c.worker
	c.level()
	k.pick, k.off = append(k.pick[:0], w.conflicts.pick...), append(k.off[:0], w.conflicts.off...)
	if i := k.broken(); i >= 0 { // learnt by the problem's own tree
		w.conflicts.copy(k, i)
		return impossible
	}
	v := unknown
	if !k.tried[h] {
		v = k.ask(h, until)
	}
	switch {
	case v == impossible:
		w.conflicts.copy(k, len(k.list)-1)
	case k.tried[h]:
		w.conflicts.tried[h] = true
	}
	c.level()
	return v
}
