package relax

import "github.com/hedgesched/hedge/solver/internal/pack"

// Decisions are what has been decided on the way to a node: what is left of the problem there. The node changes them,
// and pricing goes by them.
type Decisions struct {
	in   *pack.Instance
	Dead []bool // options that are taken out, or never could be placed
	Must []bool // jobs that have to be placed
	Fix  []int8 // running jobs that have to be preempted (1) or kept (-1)
	// How many tasks an option has at least, and at most, at each of its entries of in.Part.
	Lower, Upper []float64
	raised       int        // how many decisions there are about the former
	Trail        []Decision // what has been decided, newest last
}

// Decision is one thing decided, for taking it back.
type Decision struct {
	Kind  int8
	Index int32
	Entry int32   // of in.Part
	Was   float64 // its bound before
}

// Kinds of decisions.
const (
	Forbade = iota
	Required
	Fixed
	Lowered // an upper bound on an option's tasks in a partition
	Raised  // a lower one
)

// Reset decides nothing, about the whole problem.
func (d *Decisions) Reset(in *pack.Instance) {
	d.in, d.raised = in, 0
	d.Dead = d.Dead[:0]
	for i := range in.Opts {
		d.Dead = append(d.Dead, in.Opts[i].Dead)
	}
	d.Must, d.Fix = pack.Resize(d.Must, len(in.P.Jobs)), pack.Resize(d.Fix, len(in.P.Running))
	clear(d.Must)
	clear(d.Fix)
	d.Upper, d.Lower = append(d.Upper[:0], in.Limit...), pack.Resize(d.Lower, len(in.Limit))
	clear(d.Lower)
	d.Trail = d.Trail[:0]
}

// Forbid takes option o out, and reports whether it was not yet.
func (d *Decisions) Forbid(o int) bool {
	if d.Dead[o] {
		return false
	}
	d.Dead[o] = true
	d.Trail = append(d.Trail, Decision{Kind: Forbade, Index: int32(o)})
	return true
}

// Oblige makes job j take one of the options left to it, and reports whether it did not have to yet.
func (d *Decisions) Oblige(j int) bool {
	if d.Must[j] {
		return false
	}
	d.Must[j] = true
	d.Trail = append(d.Trail, Decision{Kind: Required, Index: int32(j)})
	return true
}

// SettleRun has running job k preempted or not, and reports whether that was not decided yet.
func (d *Decisions) SettleRun(k int, on bool) bool {
	if d.Fix[k] != 0 {
		return false
	}
	if d.Fix[k] = -1; on {
		d.Fix[k] = 1
	}
	d.Trail = append(d.Trail, Decision{Kind: Fixed, Index: int32(k)})
	return true
}

// Bound makes option o have at least, or at most, that many tasks at an entry of in.Part. It reports whether the
// bound was not as tight before.
func (d *Decisions) Bound(o, entry int, v float64, atLeast bool) bool {
	t := Decision{Kind: Lowered, Index: int32(o), Entry: int32(entry), Was: d.Upper[entry]}
	switch {
	case atLeast && v <= d.Lower[entry] || !atLeast && v >= d.Upper[entry]:
		return false
	case atLeast:
		t.Kind, t.Was = Raised, d.Lower[entry]
		d.Lower[entry] = v
		d.raised++
	default:
		d.Upper[entry] = v
	}
	d.Trail = append(d.Trail, t)
	return true
}

// TakeBack takes the newest decision back, and returns it.
func (d *Decisions) TakeBack() Decision {
	t := d.Trail[len(d.Trail)-1]
	d.Trail = d.Trail[:len(d.Trail)-1]
	switch t.Kind {
	case Forbade:
		d.Dead[t.Index] = false
	case Required:
		d.Must[t.Index] = false
	case Fixed:
		d.Fix[t.Index] = 0
	case Lowered:
		d.Upper[t.Entry] = t.Was
	case Raised:
		d.Lower[t.Entry] = t.Was
		d.raised--
	}
	return t
}

// Allows says whether option o may be split like that.
func (d *Decisions) Allows(o int, split []float64) bool {
	if d.Dead[o] {
		return false
	}
	at := d.in.Opts[o].P0
	for i, v := range split {
		if v > d.Upper[at+i]+1e-9 || v < d.Lower[at+i]-1e-9 {
			return false
		}
	}
	return true
}

// atLeast is how many of o's tasks have their partition prescribed.
func (d *Decisions) atLeast(o *pack.Option) float64 {
	sum := 0.0
	for _, v := range d.Lower[o.P0:o.P1] {
		sum += v
	}
	return sum
}

// Settled says whether option o is all that is left to its job, which has to run.
func (d *Decisions) Settled(o int) bool {
	j := d.in.Opts[o].Job
	for i := d.in.JobOpts[j]; i < d.in.JobOpts[j+1]; i++ {
		if i != o && !d.Dead[i] {
			return false
		}
	}
	return d.Must[j]
}
