package native

import (
	"math"
	"slices"
)

// conflicts are sets of choices that cannot all be made together, because their tasks cannot be split over the partitions:
// jobs that take one of certain options, and running jobs that are not preempted. They hold in the whole search.
type conflicts struct {
	*progress
	node     *node
	rounding *rounding
	lp       *basis
	splits   splits
	list     []conflict
	members  []member
	options  []int32
	kept     []int32
	tried    map[uint64]bool // hashes of choices that have been asked about without an answer
	pick     []int           // the choices: each job's option, or -1,
	off      []bool          // and which running jobs are preempted
	vain     int64           // what has been spent without an answer, in ops
}

// conflict is members from lo to hi, and running jobs from keptLo to keptHi.
type conflict struct{ lo, hi, keptLo, keptHi int }

// member is a job, and its options from lo to hi of conflicts.options.
type member struct{ job, lo, hi int }

func (k *conflicts) reset() {
	k.list, k.members, k.options, k.kept = k.list[:0], k.members[:0], k.options[:0], k.kept[:0]
	if k.tried == nil {
		k.tried = map[uint64]bool{}
	}
	clear(k.tried)
	k.vain = 0
}

// Limits of what is kept, in numbers of conflicts, of what they consist of, and of choices without an answer. Where there would be more
// conflicts the older half of them is forgotten: at worst it is found once more.
const (
	maxConflicts = 1 << 12
	maxEntries   = 1 << 20
	maxTried     = 1 << 16
)

// hash is of the choices.
func (k *conflicts) hash() uint64 {
	h := uint64(14695981039346656037)
	for _, o := range k.pick {
		h = (h ^ uint64(o+1)) * 1099511628211
	}
	for m, off := range k.off {
		if off {
			h = (h ^ uint64(m)<<32) * 1099511628211
		}
	}
	return h
}

// forget drops the older half of the conflicts if there are too many, to make room for another.
func (k *conflicts) forget() {
	if len(k.list) < maxConflicts && len(k.members)+len(k.options)+len(k.kept) < maxEntries {
		return
	}
	lo, keptLo, options := len(k.members), len(k.kept), len(k.options)
	half := (len(k.list) + 1) / 2
	if half < len(k.list) {
		lo, keptLo = k.list[half].lo, k.list[half].keptLo
	}
	if lo < len(k.members) {
		options = k.members[lo].lo
	}
	k.list, k.members = slices.Delete(k.list, 0, half), slices.Delete(k.members, 0, lo)
	k.options, k.kept = slices.Delete(k.options, 0, options), slices.Delete(k.kept, 0, keptLo)
	for i := range k.list {
		c := &k.list[i]
		*c = conflict{c.lo - lo, c.hi - lo, c.keptLo - keptLo, c.keptHi - keptLo}
	}
	for i := range k.members {
		k.members[i].lo -= options
		k.members[i].hi -= options
	}
}

// broken is a conflict that the choices are in, by its number, or -1.
func (k *conflicts) broken() int {
	for i := range k.list {
		if k.breaks(&k.list[i]) {
			return i
		}
	}
	return -1
}

// breaks says whether the choices are in conflict c.
func (k *conflicts) breaks(c *conflict) bool {
	k.spend(4)
	for _, m := range k.members[c.lo:c.hi] {
		k.spend(4)
		if o := k.pick[m.job]; o < 0 || !slices.Contains(k.options[m.lo:m.hi], int32(o)) {
			return false
		}
	}
	k.spend(int64(c.keptHi - c.keptLo))
	for _, m := range k.kept[c.keptLo:c.keptHi] {
		if k.off[m] {
			return false
		}
	}
	return true
}

// against is the division by the most valuable choice of the conflict that is not decided yet.
func (k *conflicts) against(c *conflict) division {
	in := &k.in
	d, most := division{job: -1, running: -1, entry: -1}, math.Inf(-1)
	for _, m := range k.members[c.lo:c.hi] {
		decided := k.node.decided.must[m.job]
		for o := in.JobOpts[m.job]; o < in.JobOpts[m.job+1] && decided; o++ {
			decided = k.node.decided.dead[o] || slices.Contains(k.options[m.lo:m.hi], int32(o))
		}
		o := k.pick[m.job]
		if v := in.Opts[o].Value; !decided && v > most {
			d, most = division{job: m.job, last: o, running: -1, entry: -1, only: true, first: true}, v
		}
	}
	for _, m := range k.kept[c.keptLo:c.keptHi] {
		if v := in.P.Running[m].PreemptCost; k.node.decided.fix[m] == 0 && v > most {
			d, most = division{job: -1, running: int(m), entry: -1}, v
		}
	}
	return d
}

// learn notes that the choices cannot be made together.
func (k *conflicts) learn() {
	k.forget()
	lo, keptLo := len(k.members), len(k.kept)
	for j, o := range k.pick {
		if o >= 0 {
			k.options = append(k.options, int32(o))
			k.members = append(k.members, member{j, len(k.options) - 1, len(k.options)})
		}
	}
	for m, off := range k.off {
		if !off {
			k.kept = append(k.kept, int32(m))
		}
	}
	k.list = append(k.list, conflict{lo, len(k.members), keptLo, len(k.kept)})
}
