package tree

import (
	"math"

	"github.com/hedgesched/hedge/solver/internal/pack"
	"github.com/hedgesched/hedge/solver/native/internal/relax"
)

// branching chooses what to divide a node by.
type branching struct {
	in         *pack.Instance
	master     *relax.Master
	subproblem *Subproblem
	costs      pseudo
}

// division is what a node branches on: whether a job takes one of its options up
// to the given one, in the order of starts, or whether a running job is preempted.
type division struct {
	job, last, running int
	first              bool // which side the program leans to
	// With an entry of in.Part, and not -1, it is about whether option last has at least
	// that many tasks there; with only, about whether the job takes option last.
	entry int
	tasks float64
	only  bool
	part  float64 // how far the program goes to the true side
}

// same tells whether d divides by the same, whichever side either leans to.
func (c division) same(d division) bool {
	d.first, d.part = c.first, c.part
	return c == d
}

// division finds what is most undecided in the program for its value.
func (b *branching) division() division {
	c := division{job: -1, running: -1, entry: -1}
	q, in := b.subproblem, b.in
	most := 0.0
	for set := range b.master.Sets() {
		j := set
		if k := j - len(in.P.Jobs); k >= 0 {
			y := b.master.Preempted(k)
			if b.subproblem.Decided.Fix[k] != 0 || min(y, 1-y) <= 1e-6 {
				continue
			}
			if s := b.costs.score(j, b.worth(j), 1-y, y); s > most {
				c, most = division{job: -1, running: k, entry: -1, first: y >= 0.5, part: y}, s
			}
			continue
		}
		for last := in.JobOpts[j]; last < in.JobOpts[j+1]; last++ {
			if z := q.weight[last]; z < 1e-6 || z > 1-1e-6 {
				continue
			}
			below := 0.0
			for o := in.JobOpts[j]; o < in.JobOpts[j+1]; o++ {
				if b.upTo(o, last) {
					below += q.weight[o]
				}
			}
			if min(below, 1-below) <= 1e-6 {
				continue
			}
			if s := b.costs.score(j, b.worth(j), 1-below, below); s > most {
				c, most = division{job: j, last: last, running: -1, entry: -1, first: below >= 0.5, part: below}, s
			}
		}
	}
	return c
}

// splitDivision finds the placed job with the most undecided split: first whether
// it takes that option at all, then how many tasks go to one of its partitions.
func (b *branching) splitDivision() division {
	q, in := b.subproblem, b.in
	c := division{job: -1, running: -1, entry: -1}
	most := 1e-6
	for set := range b.master.Sets() {
		j := set
		if j >= len(in.P.Jobs) {
			break
		}
		alive, pick := 0, -1
		for o := in.JobOpts[j]; o < in.JobOpts[j+1]; o++ {
			if !b.subproblem.Decided.Dead[o] {
				alive++
			}
			if q.weight[o] > 0.5 {
				pick = o
			}
		}
		if pick < 0 || !in.Opts[pick].Whole || !q.shares(pick) {
			continue
		}
		for i, v := range q.fraction[:in.Opts[pick].P1-in.Opts[pick].P0] {
			if part := v - math.Floor(v); min(part, 1-part) > most {
				most = min(part, 1-part)
				c = division{job: j, last: pick, running: -1, entry: in.Opts[pick].P0 + i, first: part >= 0.5}
				c.tasks = math.Floor(v) + 1
				if c.only = !b.subproblem.Decided.Must[j] || alive > 1; c.only {
					c.entry, c.first = -1, true
				}
			}
		}
	}
	return c
}

// upTo says whether option o comes not after option last in the order of starts.
func (b *branching) upTo(o, last int) bool {
	x, y := &b.in.Opts[o], &b.in.Opts[last]
	return x.Start < y.Start || (x.Start == y.Start && x.Index <= y.Index)
}

// divide decides c one way or the other.
func (b *branching) divide(c division, side bool) {
	switch {
	case c.running >= 0:
		b.subproblem.settleRun(c.running, side)
		return
	case c.entry >= 0 && side:
		b.subproblem.confine(c.last, c.entry, c.tasks, true)
		return
	case c.entry >= 0:
		b.subproblem.confine(c.last, c.entry, c.tasks-1, false)
		return
	case c.only && side:
		b.subproblem.require(c.job, c.last)
		return
	case c.only:
		b.subproblem.forbid(c.last)
		return
	}
	for o := b.in.JobOpts[c.job]; o < b.in.JobOpts[c.job+1]; o++ {
		if b.upTo(o, c.last) != side {
			b.subproblem.forbid(o)
		}
	}
	if side {
		b.subproblem.oblige(c.job)
	}
}

// worth is what a set is worth at most: a job's best value, or what preemption costs.
func (b *branching) worth(set int) float64 {
	if k := set - len(b.in.P.Jobs); k >= 0 {
		return b.in.P.Running[k].PreemptCost
	}
	return b.in.Opts[b.in.JobOpts[set]].Value
}
