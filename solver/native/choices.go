package native

import "github.com/hedgesched/hedge/solver/internal/pack"

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
	for j := range k.pick {
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
	s := &k.splits
	s.jobs = s.jobs[:0]
	for _, o := range k.pick {
		if o >= 0 {
			s.jobs = append(s.jobs, o)
		}
	}
	k.clearRows()
}

// maxTasks bounds the tasks of a gang whose splits are asked about.
const maxTasks = 1e5

// clearRows makes the capacity that splits are looked for in what there is without the running jobs that are preempted. It is added up anew each time: what is
// added and taken off again leaves rounding errors in full rows.
func (k *conflicts) clearRows() {
	rows := append(k.splits.rows[:0], k.in.Cap...)
	for m, off := range k.off {
		if !off {
			continue
		}
		for i := k.in.RunOff[m]; i < k.in.RunOff[m+1]; i++ {
			rows[k.in.RunRow[i]] += k.in.RunAmt[i]
		}
	}
	k.splits.rows = rows
	k.spend(int64(len(rows)) / 4)
}

// canSplit looks for splits of the choices, and keeps the plan if it finds some.
func (k *conflicts) canSplit() verdict {
	v := k.splits.solve(min(k.phaseEnd(), k.spent()+splitUnits*opsPerUnit))
	if v == possible && !k.assign() {
		return unknown
	}
	return v
}

// assign makes a plan of the splits found.
func (k *conflicts) assign() bool {
	s := &k.splits
	k.cur.Copy(&k.node.base)
	for m, off := range k.off {
		if off {
			k.cur.Preempt(m)
		}
	}
	for j, o := range s.jobs {
		if k.late() || !k.assignJob(j, o) {
			return false
		}
	}
	k.rounding.complete()
	return true
}

// assignJob places the j-th of the chosen options.
func (k *conflicts) assignJob(j, o int) bool {
	opt := &k.in.Opts[o]
	split := k.rounding.split[:opt.P1-opt.P0]
	for i, x := range k.in.Part[opt.P0:opt.P1] {
		if split[i] = k.splits.tasks[x*len(k.splits.jobs)+j]; split[i] > 0 && k.in.Fit(opt, x, k.cur.Res) < split[i] {
			return false
		}
	}
	k.cur.Place(o, split)
	return true
}
