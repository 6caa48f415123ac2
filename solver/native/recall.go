package native

import (
	"math"
	"slices"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/internal/pack"
)

// recall is a memory being fitted to the problem at hand.
type recall struct {
	plan  *plan   // nil if there is none
	age   int     // slots that have passed since it was made
	past  *root   // nil if there is none, or none that fits
	shift int     // slots that have passed since
	row   []int32 // of each row: its number then, -1 if it was not there
	part  []int32 // of each partition then: its number now, -1 if it is gone
	jobs  []int32 // of each job: its number in past.jobs, -1 if it is new
	known int     // how many jobs are not new
	split []float64
}

// reset takes the memory up, if it has to do with the same slots, resources and partitions.
func (q *recall) reset(in *pack.Instance, m *solver.Memory) {
	value, age := m.Note(name)
	q.plan, q.past, q.known, q.jobs = nil, nil, 0, q.jobs[:0]
	kept, ok := value.(*memory)
	if !ok {
		return
	}
	q.plan, q.age, q.shift = kept.plan, age, age+kept.age
	past, shift := kept.root, q.shift
	if past == nil || past.slots != in.T || past.slotSeconds != in.P.SlotSeconds || shift < 0 || shift >= in.T ||
		!slices.Equal(past.resources, in.P.Resources) || !q.match(in, past) {
		return
	}
	q.past = past
	q.identify(in.P)
}

// number finds the partitions that had these names. Names need be neither unique nor there: of those with the same one the first
// is the first, so that no two become one.
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

// match finds the memory's partitions, and with them the rows. It reports whether there are any.
func (q *recall) match(in *pack.Instance, past *root) bool {
	q.number(in.P, past.parts)
	q.row = pack.Resize(q.row, in.Rows)
	for row := range q.row {
		q.row[row] = -1
	}
	some := false
	for then, x := range q.part {
		if x < 0 {
			continue
		}
		some = true
		for r := range in.R {
			for t := range in.T - q.shift {
				q.row[(int(x)*in.R+r)*in.T+t] = int32((then*in.R+r)*in.T + t + q.shift)
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
func (w *workspace) remind() bool {
	q, d, in := &w.recall, &w.dual, &w.in
	if q.past == nil {
		return false
	}
	w.ops += int64(2*in.Rows + 8*len(q.past.jobs))
	before := d.bound
	for _, part := range [...]float64{1, 0.5, 0.25} {
		for row, then := range q.row {
			d.lam[row] = 0
			if then < 0 {
				continue
			}
			if l := part * q.past.prices[then] / in.Scale(row/in.T%in.R); l >= 0 && l <= math.MaxFloat64 {
				d.lam[row] = l
			}
		}
		bound := d.evaluate()
		if !(bound < d.bound) && d.bound < before {
			break
		}
		if bound < d.bound {
			d.bound = bound
			copy(d.best, d.lam)
		}
		if w.gap() < 0.1 {
			break
		}
	}
	copy(d.lam, d.best)
	d.evaluate()
	return d.bound < before
}

// resume adds the memory's columns, as far as they are splits of options still, to the master.
func (w *workspace) resume() {
	q := &w.recall
	if !q.fits() {
		return
	}
	q.number(w.in.P, q.past.parts)
	for j, then := range q.jobs {
		if then < 0 {
			continue
		}
		for _, past := range q.past.columns[q.past.jobs[then].lo:q.past.jobs[then].hi] {
			for o := w.in.JobOpts[j]; o < w.in.JobOpts[j+1]; o++ {
				if w.same(o, &past, q.shift) && w.splitAgain(&w.in.Opts[o], q.past.splits[past.lo:past.hi]) {
					w.lp.add(o, q.split)
					break
				}
			}
		}
	}
}

// same says whether option o is what the column was of, so many slots ago.
func (w *workspace) same(o int, past *pastColumn, shift int) bool {
	opt := &w.in.Opts[o]
	w.ops++
	if opt.Start != past.start-shift || opt.Dead {
		return false
	}
	option := &w.in.P.Jobs[opt.Job].Options[opt.Index]
	return option.Count == past.count && option.Set == past.set
}

// splitAgain makes the split one of option o in recall.split, if o allows that.
func (w *workspace) splitAgain(o *pack.Option, split []solver.Split) bool {
	q, in := &w.recall, &w.in
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
		w.ops += 4
	}
	return math.Abs(left) <= 1e-9*o.Count
}

// replay preempts whom the last plan did and places what the hint says where it was then, as far as it fits.
func (w *workspace) replay() {
	q, in := &w.recall, &w.in
	if q.plan == nil || len(in.P.Hint) == 0 {
		return
	}
	q.number(in.P, q.plan.parts)
	preempted := make(map[string]bool, len(q.plan.preempted))
	for _, id := range q.plan.preempted {
		preempted[id] = true
	}
	for k := range in.P.Running {
		if preempted[in.P.Running[k].ID] {
			w.cur.Preempt(k)
		}
	}
	then := make(map[string]int, len(q.plan.jobs))
	for i, id := range q.plan.jobs {
		then[id] = i
	}
	for j := range in.P.Jobs {
		i, ok := then[in.P.Jobs[j].ID]
		o := w.hinted(j)
		if !ok || o < 0 {
			continue
		}
		past := &q.plan.columns[i]
		if w.same(o, past, q.age) && w.splitAgain(&in.Opts[o], q.plan.splits[past.lo:past.hi]) && w.holds(&in.Opts[o]) {
			w.cur.Place(o, q.split)
		}
	}
}

// holds says whether option o fits as split in recall.split.
func (w *workspace) holds(o *pack.Option) bool {
	for i, v := range w.recall.split[:o.P1-o.P0] {
		if v > 0 && (w.in.Fit(o, w.in.Part[o.P0+i], w.cur.Res) < v || o.Whole && v != math.Floor(v)) {
			return false
		}
		w.ops += int64(len(o.Usage))
	}
	return true
}

// polish makes plans by the memory's prices, and searches around the best one for as long as, at the rate of the last slice, that can be
// expected to meet the target before the relaxation would.
func (w *workspace) polish() {
	w.planByPrices()
	left := w.recall.past.work
	for slice := left / polishSlices; slice > 0 && left > 0 && !w.over(); left -= slice {
		before := w.gap()
		w.improve(w.spent() + slice)
		w.phase = math.MaxInt64
		if float64(left-slice)*(before-w.gap()) < float64(slice)*(w.gap()-w.target) {
			return
		}
	}
}

// polishSlices is how many slices there are of the work that the last relaxation took.
const polishSlices = 16

// easy says that the last relaxation's value was within the target of the plan that was found, so that plans are what is to be
// looked for, not better bounds.
func (w *workspace) easy() bool { return w.warm && w.recall.past.rest <= w.target }
