package native

import (
	"slices"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// Limits of the search for splits, in steps: for one answer, and for each choice that it may not depend on, by what the answer took. With four to ten
// times as much for choices, conflicts took most of the work on some problems; with a quarter they were too large to be of much use on others.
// And what a step takes, in ops.
const (
	splitSteps  = 100_000
	otherLines  = 3
	leastShrink = 200
	shrinkSteps = 2000
	stepOps     = 16
)

// What may be spent in vain: one part in so many of what has been spent, beyond so many units.
const (
	hopePart  = 12
	hopeUnits = 50_000
)

// unsplit looks whether the choices of the node's program, which are whole, can be made together. If so it has kept
// the plan; if not it returns what to divide the node by to exclude them, which is nothing if all of them are decided.
func (k *conflicts) unsplit() (c division, v verdict) {
	c = division{job: -1, running: -1, entry: -1}
	if !k.chosen() {
		return c, unknown
	}
	if known := k.broken(); known >= 0 {
		return k.against(&k.list[known]), impossible
	}
	h := k.hash()
	if k.tried[h] {
		return c, unknown
	}
	if v = k.ask(h, k.phase); v == impossible {
		c = k.against(&k.list[len(k.list)-1])
	}
	return c, v
}

// ask answers whether the choices, of which h is the hash, have splits, and keeps a plan of them or learns a conflict. It ends when the ops spent reach until, or
// what may be spent in vain is used up.
func (k *conflicts) ask(h uint64, until int64) (v verdict) {
	before := k.spent()
	left := (before+hopeUnits*opsPerUnit)/hopePart - k.vain
	if left < 0 {
		return unknown
	}
	k.question()
	k.within(min(k.phase, until, before+left), func() { v = k.canSplit() })
	switch v {
	case impossible:
		k.learn()
	case unknown:
		if len(k.tried) >= maxTried {
			clear(k.tried)
		}
		k.tried[h] = k.proceed() && k.spent() < until // or it is asked again in the next phase
		k.vain += k.spent() - before
	}
	return v
}

// chosen notes the program's choices; false if they are not such as can be asked about.
func (k *conflicts) chosen() bool {
	in, some := &k.in, false
	k.pick, k.off = pack.Resize(k.pick, len(in.P.Jobs)), pack.Resize(k.off, len(in.P.Running))
	for j := range in.P.Jobs {
		k.pick[j] = -1
		for o := in.JobOpts[j]; o < in.JobOpts[j+1]; o++ {
			if k.node.weight[o] < 0.5 {
				continue
			}
			if k.node.decided.dead[o] || !in.Opts[o].Whole || in.Opts[o].Count > maxTasks {
				return false
			}
			k.pick[j], some = o, true
		}
	}
	for m := range in.P.Running {
		k.off[m] = k.lp.preempted(m) > 0.5
		if fix := k.node.decided.fix[m]; fix != 0 && k.off[m] != (fix > 0) {
			return false // the program leans on what has been decided against
		}
	}
	return some
}

// question makes the choices what splits are looked for.
func (k *conflicts) question() {
	s, in := &k.splits, &k.in
	s.in, s.jobs = in, s.jobs[:0]
	s.rows = append(s.rows[:0], in.Cap...)
	for _, o := range k.pick {
		if o >= 0 {
			s.jobs = append(s.jobs, chosen{option: o})
		}
	}
	for m, off := range k.off {
		if off {
			k.free(m, 1)
		}
	}
}

// maxTasks bounds the tasks of a gang whose splits are asked about.
const maxTasks = 1e5

// free adds what running job m holds to the capacity that splits are looked for in, or takes it off.
func (k *conflicts) free(m int, sign float64) {
	for i := k.in.RunOff[m]; i < k.in.RunOff[m+1]; i++ {
		k.splits.rows[k.in.RunRow[i]] += float64(sign * k.in.RunAmt[i])
	}
}

// canSplit looks for splits of the choices, and keeps the plan if it finds some: looking at more and more lines, first
// as if jobs could go to each other's partitions.
func (k *conflicts) canSplit() verdict {
	s := &k.splits
	for _, s.apart = range [...]bool{false, true} {
		s.rank()
		for s.used = 1; s.used <= len(s.lines); s.used++ {
			v := k.canSplitLines()
			if v == impossible || (v == possible && k.assign()) {
				return v
			}
			if v == unknown {
				break
			}
		}
	}
	return unknown
}

// canSplitLines answers for the lines looked at. If that takes too long, the last of them gives way to the next ones.
func (k *conflicts) canSplitLines() verdict {
	s := &k.splits
	for range otherLines {
		if v := k.solveSplits(splitSteps); v != unknown {
			return v
		}
		if len(s.lines) == s.used || !k.proceed() {
			break
		}
		last := s.lines[s.used-1]
		copy(s.lines[s.used-1:], s.lines[s.used:])
		s.lines[len(s.lines)-1] = last
	}
	return unknown
}

// solveSplits answers for the jobs and lines looked at, in so many steps at most.
func (k *conflicts) solveSplits(steps int64) verdict {
	s := &k.splits
	if k.late() {
		return unknown
	}
	from := s.steps
	s.until = from + min(steps, max(0, k.phaseEnd()-k.spent())/stepOps)
	v := s.solve()
	s.took = s.steps - from
	k.spend((s.steps - from) * stepOps)
	return v
}

// assign makes a plan of the splits found, which look at some lines only.
func (k *conflicts) assign() bool {
	s := &k.splits
	k.cur.Copy(&k.node.base)
	for m, off := range k.off {
		if off {
			k.cur.Preempt(m)
		}
	}
	for _, c := range s.jobs {
		if c.kind >= 0 && (k.late() || !k.assignJob(c)) {
			return false
		}
	}
	for _, c := range s.jobs {
		if c.kind < 0 && !k.cur.TryPlace(c.option) {
			return false
		}
	}
	k.rounding.complete()
	return true
}

// assignJob gives one job its tasks out of those of its kind.
func (k *conflicts) assignJob(c chosen) bool {
	s, opt, K := &k.splits, &k.in.Opts[c.option], len(k.splits.kinds)
	split := k.rounding.split[:opt.P1-opt.P0]
	clear(split)
	left := opt.Count
	for p, x := range s.order {
		n := min(left, s.fill[p*K+c.kind])
		if n == 0 {
			continue
		}
		i := slices.Index(k.in.Part[opt.P0:opt.P1], x)
		if i < 0 {
			continue
		}
		if k.in.Fit(opt, x, k.cur.Res) < n {
			return false
		}
		split[i] = n
		s.fill[p*K+c.kind] -= n
		left -= n
	}
	if left > 0 {
		return false
	}
	k.cur.Place(c.option, split)
	return true
}
