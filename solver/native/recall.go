package native

import (
	"math"
	"slices"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/internal/pack"
)

// recall is a memory being fitted to the problem at hand.
type recall struct {
	*progress
	warm  bool    // the memory's prices prove something
	last  *plan   // nil if there is none
	age   int     // slots that have passed since it was made
	past  *root   // nil if there is none, or none that fits
	shift int     // slots that have passed since
	row   []int32 // of each row: its number then, -1 if it was not there
	part  []int32 // of each partition then: its number now, -1 if it is gone
	jobs  []int32 // of each job: its number in past.jobs, -1 if it is new
	known int     // how many jobs are not new
	split []float64
}

// reset takes the memory up, if it has to do with the same slots and with some of the resources and partitions.
func (q *recall) reset(in *pack.Instance, m *solver.Memory) {
	value, age := m.Note(name)
	q.last, q.past, q.known, q.jobs = nil, nil, 0, q.jobs[:0]
	kept, ok := value.(*memory)
	if !ok {
		return
	}
	q.last, q.age, q.shift = kept.plan, age, age+kept.age
	past, shift := kept.root, q.shift
	if past == nil || past.slots != in.T || past.slotSeconds != in.P.SlotSeconds || shift < 0 || shift >= in.T ||
		!q.match(in, past) {
		return
	}
	q.past = past
	q.identify(in.P)
}

// number finds the partitions that had these names. Names need be neither unique nor there: of those with the same
// one the first is the first, so that no two become one.
func (q *recall) number(p *solver.Problem, parts []string) {
	now := make(map[string][]int32, len(p.Partitions))
	for x := range p.Partitions {
		n := p.Partitions[x].Name
		now[n] = append(now[n], int32(x))
	}
	q.part = q.part[:0]
	for _, n := range parts {
		x := int32(-1)
		if left := now[n]; len(left) > 0 {
			x, now[n] = left[0], left[1:]
		}
		q.part = append(q.part, x)
	}
}

// match finds the memory's partitions and resources, and with them the rows. It reports whether there are any.
func (q *recall) match(in *pack.Instance, past *root) bool {
	q.number(in.P, past.parts)
	names := in.Names()
	q.row = pack.Resize(q.row, in.Rows)
	for row := range q.row {
		q.row[row] = -1
	}
	some := false
	for then, x := range q.part {
		if x < 0 {
			continue
		}
		for r, name := range names {
			was := slices.Index(past.resources, name)
			for t := 0; was >= 0 && t < in.T-q.shift; t++ {
				q.row[(int(x)*in.R+r)*in.T+t] = int32((then*len(past.resources)+was)*in.T + t + q.shift)
				some = true
			}
		}
	}
	return some
}

// identify finds the memory's jobs among the problem's, by id.
func (q *recall) identify(p *solver.Problem) {
	then := make(map[string]int32, len(q.past.jobs))
	for j := range q.past.jobs {
		then[q.past.jobs[j].id] = int32(j)
	}
	for j := range p.Jobs {
		at, ok := then[p.Jobs[j].ID]
		if !ok {
			at = -1
		} else {
			q.known++
		}
		q.jobs = append(q.jobs, at)
	}
}

// fits says whether the memory has columns and knows most of the jobs.
func (q *recall) fits() bool {
	return q.past != nil && len(q.past.columns) > 0 && 2*q.known > len(q.jobs)
}

// remind takes the prices over from the memory, or a part of them: they may be too high where much has come free. It
// reports whether they prove anything.
func (q *recall) remind() bool {
	d, in := &q.dual, &q.in
	if q.past == nil {
		return false
	}
	q.Spend(int64(2*in.Rows + 8*len(q.past.jobs)))
	before := d.Bound
	for _, part := range [...]float64{1, 0.5, 0.25} {
		for row, then := range q.row {
			d.Lam[row] = 0
			if then < 0 {
				continue
			}
			if l := part * q.past.prices[then] / in.Scale(row/in.T%in.R); l >= 0 && l <= math.MaxFloat64 {
				d.Lam[row] = l
			}
		}
		bound := d.Evaluate()
		if !(bound < d.Bound) && d.Bound < before {
			break
		}
		d.Improve(bound)
		if q.gap() < 0.1 {
			break
		}
	}
	copy(d.Lam, d.Best)
	d.Evaluate()
	return d.Bound < before
}

// resume adds the memory's columns, as far as they are splits of options still, to the program.
func (rel *relaxation) resume() {
	q := rel.recall
	if !q.fits() {
		return
	}
	q.number(rel.in.P, q.past.parts)
	for j, then := range q.jobs {
		if then < 0 {
			continue
		}
		for _, past := range q.past.columns[q.past.jobs[then].lo:q.past.jobs[then].hi] {
			for o := rel.in.JobOpts[j]; o < rel.in.JobOpts[j+1]; o++ {
				if rel.recall.same(o, &past, q.shift) && rel.recall.splitAgain(&rel.in.Opts[o], q.past.splits[past.lo:past.hi]) {
					rel.master.Add(o, q.split)
					break
				}
			}
		}
	}
}

// same says whether option o, a number of slots ago, is what the column was made of.
func (q *recall) same(o int, past *pastColumn, shift int) bool {
	opt := &q.in.Opts[o]
	q.Spend(1)
	if opt.Start != past.start-shift || opt.Dead {
		return false
	}
	option := &q.in.P.Jobs[opt.Job].Options[opt.Index]
	return option.Count == past.count && option.Set == past.set
}

// splitAgain makes the split one of option o in recall.split, if o allows that.
func (q *recall) splitAgain(o *pack.Option, split []solver.Split) bool {
	in := &q.in
	q.split = pack.Resize(q.split, in.MaxParts)
	clear(q.split)
	left := o.Count
	for _, a := range split {
		at := -1
		if a.Partition >= 0 && a.Partition < len(q.part) {
			at = slices.Index(in.Part[o.P0:o.P1], int(q.part[a.Partition]))
		}
		if at < 0 || q.split[at] != 0 || !(a.Count >= 0 && a.Count <= in.Limit[o.P0+at]+1e-9) {
			return false
		}
		q.split[at] = a.Count
		left -= a.Count
		q.Spend(4)
	}
	return math.Abs(left) <= 1e-9*o.Count
}

// replay preempts whom the last plan did and places what the hint says where it was then, as far as it fits.
func (q *recall) replay() {
	in := &q.in
	if q.last == nil || len(in.P.Hint) == 0 {
		return
	}
	q.number(in.P, q.last.parts)
	preempted := make(map[string]bool, len(q.last.preempted))
	for _, id := range q.last.preempted {
		preempted[id] = true
	}
	for k := range in.P.Running {
		if preempted[in.P.Running[k].ID] {
			q.cur.Preempt(k)
		}
	}
	then := make(map[string]int, len(q.last.jobs))
	for i, id := range q.last.jobs {
		then[id] = i
	}
	for j := range in.P.Jobs {
		i, ok := then[in.P.Jobs[j].ID]
		o := q.hinted(j)
		if !ok || o < 0 {
			continue
		}
		past := &q.last.columns[i]
		if q.same(o, past, q.age) && q.splitAgain(&in.Opts[o], q.last.splits[past.lo:past.hi]) && q.holds(&in.Opts[o]) {
			q.cur.Place(o, q.split)
		}
	}
}

// holds says whether option o fits as split in recall.split.
func (q *recall) holds(o *pack.Option) bool {
	for i, v := range q.split[:o.P1-o.P0] {
		if v > 0 && (q.in.Fit(o, q.in.Part[o.P0+i], q.cur.Res) < v || o.Whole && v != math.Floor(v)) {
			return false
		}
		q.Spend(int64(len(o.Usage)))
	}
	return true
}

// easy says that the last relaxation's value was within the target of the plan that was found, so that plans are what
// is to be looked for, not better bounds.
func (q *recall) easy() bool { return q.warm && q.past.rest <= q.target }
