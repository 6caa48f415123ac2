package native

import (
	"cmp"
	"math"
	"slices"

	"github.com/hedgesched/hedge/solver/internal/pack"
	"github.com/hedgesched/hedge/solver/native/internal/relax"
)

// cores betters the best plan by searching small parts of it through their linear programs.
type cores struct {
	*progress
	greedy     *greedy
	relaxation *relaxation
	node       *node
	rounding   *rounding
	branching  *branching
	lp         *relax.Master
	cuts       *relax.Cuts
	coreLP     relax.Master // the cores' program, or while they are searched the whole problem's
	inside     bool         // cores are being searched
	path       []division   // that lead to the node
	sets       []int32      // scratch for choosing a core
	score      []float64
}

// reset forgets the cores' program.
func (c *cores) reset() { c.coreLP.Ops, c.coreLP.In, c.inside = 0, nil, false }

// core makes the program about the given sets only, all else staying as in the
// best plan, whose columns are its first basis.
func (c *cores) core(sets []int32) {
	m, q := c.lp, c.node
	m.At = 0
	c.cur.Copy(&c.best)
	n := len(c.in.P.Jobs)
	q.order, m.Active = q.order[:0], m.Active[:0]
	slices.Sort(sets)
	for _, s := range sets {
		if k := int(s) - n; k < 0 {
			if c.cur.Choice[s] >= 0 {
				c.cur.Remove(int(s))
			}
			q.order = append(q.order, int(s))
		} else if c.cur.Preempted[k] {
			if c.cur.Needed(k) {
				continue // by jobs that stay
			}
			c.cur.Unpreempt(k)
		}
		m.Active = append(m.Active, s)
	}
	slices.SortFunc(q.order, func(a, b int) int {
		return cmp.Or(cmp.Compare(c.greedy.bestRed(b), c.greedy.bestRed(a)), a-b)
	})
	q.base.Copy(&c.cur)
	q.decided.Cap, q.decided.Base = q.base.Res, q.base.Value
	c.relaxation.crash()
}

// improve betters the best plan by searching small parts of it through their
// linear programs, until the work spent reaches until.
func (c *cores) improve(until int64) {
	size := firstCore
	c.swap()
	c.Within(math.MaxInt64, func() {
		for c.proceed() && c.Spent() < until {
			if c.Within(min(until, c.Spent()+coreUnits*opsPerUnit), func() { c.searchOne(int(size)) }) {
				size = max(leastCore, size*coreShrinks)
			} else {
				size = min(size*coreGrows, float64(len(c.lp.Key)))
			}
		}
	})
	c.swap()
	c.node.wholeProblem()
}

// searchOne searches a core of about n sets.
func (c *cores) searchOne(n int) {
	c.node.reset()
	c.core(c.neighbours(n))
	c.search(coreDeviations)
	c.node.revert(0)
}

// swap exchanges the program of the whole problem with that of the cores, which has no cuts: what is decided outside
// a core would change them.
func (c *cores) swap() {
	*c.lp, c.coreLP = c.coreLP, *c.lp
	c.inside = !c.inside
	c.dual.Cuts = c.cuts
	if c.inside {
		c.dual.Cuts = nil
		if c.lp.In == nil {
			c.lp.Reset(&c.in)
		}
	}
}

// neighbours picks about n sets that have to do with one another: placed jobs
// near a random slot, jobs left out that nearly pay, and running jobs.
func (c *cores) neighbours(n int) []int32 {
	jobs := len(c.in.P.Jobs)
	c.sets, c.score = c.sets[:0], pack.Resize(c.score, len(c.lp.Key))
	at := float64(c.IntN(c.in.T))
	for j := range jobs {
		if c.in.JobOpts[j] == c.in.JobOpts[j+1] || c.greedy.byRed[c.in.JobOpts[j]] < 0 {
			continue
		}
		c.score[j] = (baseNoise + c.Exponential()) * c.distance(j, at)
		c.sets = append(c.sets, int32(j))
	}
	for k := range c.in.P.Running {
		c.score[jobs+k] = baseNoise + c.Exponential()
		c.sets = append(c.sets, int32(jobs+k))
	}
	slices.SortFunc(c.sets, func(a, b int32) int { return cmp.Or(cmp.Compare(c.score[a], c.score[b]), cmp.Compare(a, b)) })
	c.sets = c.sets[:min(n, len(c.sets))]
	c.Spend(int64(len(c.lp.Key) * 16))
	return c.sets
}

// distance is how little job j has to do with slot at: how far from it the job
// runs, and how content it is with its place, or how far from paying it is.
func (c *cores) distance(j int, at float64) float64 {
	o := c.best.Choice[j]
	if o < 0 {
		best := &c.in.Opts[c.greedy.byRed[c.in.JobOpts[j]]]
		return baseDistance + unpaidDistance*max(0, -c.greedy.bestRed(j))/best.Value
	}
	opt := &c.in.Opts[o]
	from, to := float64(opt.Start), float64(opt.Start+len(opt.Usage))
	away := max(0, from-at, at-to)
	regret := (c.greedy.bestRed(j) - c.greedy.red[o] + float64(placedRegret*max(0, c.greedy.red[o]))) / opt.Value
	return baseDistance + away + regretDistance*regret
}

// search explores the node with at most that many decisions against the
// program's advice, each about a job's options up to a start or about a running job. Where the program leans on what has been decided against, as it may if that
// is not dear enough, it would have the same decided again and again.
func (c *cores) search(discrepancies int) {
	bound := c.node.solve(maxRounds)
	if !c.proceed() || bound <= c.enough() {
		return
	}
	c.node.weigh()
	c.rounding.round()
	by := c.branching.division()
	if by.job < 0 && by.running < 0 {
		by = c.branching.splitDivision()
	}
	if by.job < 0 && by.running < 0 || slices.ContainsFunc(c.path, by.same) {
		return
	}
	c.path = append(c.path, by)
	at := len(c.node.decided.Trail)
	for turn := 0; turn <= min(1, discrepancies) && bound > c.enough(); turn++ {
		c.branching.divide(by, (turn == 0) == by.first)
		c.search(discrepancies - turn)
		c.node.revert(at)
	}
	c.path = c.path[:len(c.path)-1]
}
