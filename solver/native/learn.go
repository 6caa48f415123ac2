package native

import (
	"cmp"
	"slices"
)

// learn notes the conflict that has been found, without the choices that it does not depend on.
func (k *conflicts) learn() {
	s := &k.splits
	k.forget()
	s.until = k.spent() + max(leastLearn*opsPerUnit, learnPart*s.took)
	lo, keptLo := len(k.members), len(k.kept)
	s.ungroup()
	k.learnKept()
	if s.simple {
		k.leaveOut()
		k.widen()
	}
	for i, o := range s.jobs {
		if s.blamed[i] {
			k.join(i, o)
		}
	}
	k.list = append(k.list, conflict{lo, len(k.members), keptLo, len(k.kept)})
}

// still says whether the choices that are left are impossible, by the weights that have proven it; it says no if there is no work left for that.
func (k *conflicts) still() bool { return k.proceed() && k.splits.holds() }

// learnKept notes the running jobs that cannot be preempted instead.
func (k *conflicts) learnKept() {
	s := &k.splits
	k.out = k.out[:0]
	for m, off := range k.off {
		if !off && k.helps(m) {
			k.out = append(k.out, int32(m))
		}
	}
	if !s.simple {
		k.kept = append(k.kept, k.out...)
		return
	}
	for _, m := range k.out {
		k.freed[m] = true
	}
	k.clearRows()
	if s.roomier(); k.still() {
		return
	}
	for _, m := range k.out {
		k.freed[m] = false
	}
	for i, m := range k.out {
		if !k.proceed() || s.over() {
			k.kept = append(k.kept, k.out[i:]...)
			break
		}
		k.freed[m] = true
		k.clearRows()
		if s.roomier(); !k.still() {
			k.freed[m] = false
			k.kept = append(k.kept, m)
		}
	}
	k.clearRows()
	s.roomier()
}

// leaveOut leaves out jobs without which it is impossible, those with the least weight first.
func (k *conflicts) leaveOut() {
	s := &k.splits
	k.order = k.order[:0]
	for i, blamed := range s.blamed {
		if blamed {
			k.order = append(k.order, i)
		} else {
			s.worth[i] = 0
		}
	}
	slices.SortStableFunc(k.order, func(a, b int) int {
		return cmp.Compare(float64(s.worth[a]*s.need[a]), float64(s.worth[b]*s.need[b]))
	})
	for _, i := range k.order {
		w := s.worth[i]
		if s.worth[i] = 0; k.still() {
			s.blamed[i] = false
		} else {
			s.worth[i] = w
		}
	}
}

// helps says whether running job m holds anything in the lines that the choices use: in all of them, as what a partition has room for of one job depends on all.
func (k *conflicts) helps(m int) bool {
	for i := k.in.RunOff[m]; i < k.in.RunOff[m+1]; i++ {
		if slices.Contains(k.splits.lines, k.in.RunRow[i]%(k.in.R*k.in.T)) {
			return true
		}
	}
	return false
}

// widen finds out which other starts of the jobs the proof holds for, too: it does for all together as long as it does for the least that they use of each line. Nearer starts
// come first.
func (k *conflicts) widen() {
	for d := 1; d < k.in.T; d++ {
		for i, blamed := range k.splits.blamed {
			if blamed && !k.widenBy(i, d) {
				return
			}
		}
	}
}

// widenBy tries the options of the i-th job that start so many slots earlier or later. It reports whether there is work left for more.
func (k *conflicts) widenBy(i, slots int) bool {
	in, o := &k.in, k.splits.jobs[i]
	j := in.Opts[o].Job
	for a := in.JobOpts[j]; a < in.JobOpts[j+1]; a++ {
		if d := in.Opts[a].Start - in.Opts[o].Start; (d == slots || d == -slots) && k.stricter(a, o) {
			k.splits.widen(i, a, k.still)
		}
	}
	return !k.splits.over()
}

// stricter says whether option a has as many tasks as option b, in whole, and goes to no other partitions.
func (k *conflicts) stricter(a, b int) bool {
	p, q := &k.in.Opts[a], &k.in.Opts[b]
	if p.Count < q.Count || !p.Whole {
		return false
	}
	here, there := k.in.Part[p.P0:p.P1], k.in.Part[q.P0:q.P1]
	for i, x := range here {
		if (i >= len(there) || x != there[i]) && !slices.Contains(there, x) {
			return false
		}
	}
	return true
}

// join makes option o's job, the i-th of those chosen, a member of the newest conflict, with all its options that the proof holds for.
func (k *conflicts) join(i, o int) {
	in := &k.in
	m := member{job: in.Opts[o].Job, lo: len(k.options)}
	for a := in.JobOpts[m.job]; a < in.JobOpts[m.job+1]; a++ {
		if a == o || k.stricter(a, o) && k.splits.usesNoLess(i, a) {
			k.options = append(k.options, int32(a))
		}
	}
	m.hi = len(k.options)
	k.members = append(k.members, m)
}
