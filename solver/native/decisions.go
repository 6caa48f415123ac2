package native

import "github.com/hedgesched/hedge/solver/internal/pack"

// decisions are what has been decided on the way to a node: what is left of the problem there. The node changes them, and pricing goes by them.
type decisions struct {
	in   *pack.Instance
	dead []bool // options that are taken out, or never could be placed
	must []bool // jobs that have to be placed
	fix  []int8 // running jobs that have to be preempted (1) or kept (-1)
	// How many tasks an option has at least, and at most, at each of its entries of in.Part.
	lower, upper []float64
	raised       int // how many decisions there are about the former
	// The room, and the value, of the plan without what the program is about.
	cap   []float64
	base  float64
	trail []decision // what has been decided, newest last
}

// decision is one thing decided, for taking it back.
type decision struct {
	kind  int8
	index int32
	entry int32   // of in.Part
	was   float64 // its bound before
}

// Kinds of decisions.
const (
	forbade = iota
	required
	fixed
	lowered // an upper bound on an option's tasks in a partition
	raised  // a lower one
)

// reset decides nothing, about the whole problem.
func (d *decisions) reset(in *pack.Instance) {
	d.in, d.cap, d.base, d.raised = in, in.Cap, 0, 0
	d.dead = d.dead[:0]
	for i := range in.Opts {
		d.dead = append(d.dead, in.Opts[i].Dead)
	}
	d.must, d.fix = pack.Resize(d.must, len(in.P.Jobs)), pack.Resize(d.fix, len(in.P.Running))
	clear(d.must)
	clear(d.fix)
	d.upper, d.lower = append(d.upper[:0], in.Limit...), pack.Resize(d.lower, len(in.Limit))
	clear(d.lower)
	d.trail = d.trail[:0]
}

// forbid takes option o out, and reports whether it was not yet.
func (d *decisions) forbid(o int) bool {
	if d.dead[o] {
		return false
	}
	d.dead[o] = true
	d.trail = append(d.trail, decision{kind: forbade, index: int32(o)})
	return true
}

// oblige makes job j take one of the options left to it, and reports whether it did not have to yet.
func (d *decisions) oblige(j int) bool {
	if d.must[j] {
		return false
	}
	d.must[j] = true
	d.trail = append(d.trail, decision{kind: required, index: int32(j)})
	return true
}

// settleRun has running job k preempted or not, and reports whether that was not decided yet.
func (d *decisions) settleRun(k int, on bool) bool {
	if d.fix[k] != 0 {
		return false
	}
	if d.fix[k] = -1; on {
		d.fix[k] = 1
	}
	d.trail = append(d.trail, decision{kind: fixed, index: int32(k)})
	return true
}

// bound makes option o have at least, or at most, that many tasks at an entry of in.Part. It reports whether the bound was not as tight before.
func (d *decisions) bound(o, entry int, v float64, atLeast bool) bool {
	t := decision{kind: lowered, index: int32(o), entry: int32(entry), was: d.upper[entry]}
	switch {
	case atLeast && v <= d.lower[entry] || !atLeast && v >= d.upper[entry]:
		return false
	case atLeast:
		t.kind, t.was = raised, d.lower[entry]
		d.lower[entry] = v
		d.raised++
	default:
		d.upper[entry] = v
	}
	d.trail = append(d.trail, t)
	return true
}

// takeBack takes the newest decision back, and returns it.
func (d *decisions) takeBack() decision {
	t := d.trail[len(d.trail)-1]
	d.trail = d.trail[:len(d.trail)-1]
	switch t.kind {
	case forbade:
		d.dead[t.index] = false
	case required:
		d.must[t.index] = false
	case fixed:
		d.fix[t.index] = 0
	case lowered:
		d.upper[t.entry] = t.was
	case raised:
		d.lower[t.entry] = t.was
		d.raised--
	}
	return t
}

// allows says whether option o may be split like that.
func (d *decisions) allows(o int, split []float64) bool {
	if d.dead[o] {
		return false
	}
	at := d.in.Opts[o].P0
	for i, v := range split {
		if v > d.upper[at+i]+1e-9 || v < d.lower[at+i]-1e-9 {
			return false
		}
	}
	return true
}

// atLeast is how many of o's tasks have their partition prescribed.
func (d *decisions) atLeast(o *pack.Option) float64 {
	sum := 0.0
	for _, v := range d.lower[o.P0:o.P1] {
		sum += v
	}
	return sum
}

// settled says whether option o is all that is left to its job, which has to run.
func (d *decisions) settled(o int) bool {
	j := d.in.Opts[o].Job
	for i := d.in.JobOpts[j]; i < d.in.JobOpts[j+1]; i++ {
		if i != o && !d.dead[i] {
			return false
		}
	}
	return d.must[j]
}
