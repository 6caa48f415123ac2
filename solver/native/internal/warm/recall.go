package warm

import (
	"math"
	"slices"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/internal/pack"
	"github.com/hedgesched/hedge/solver/native/internal/relax"
	"github.com/hedgesched/hedge/solver/native/internal/search"
)

// Recall is a memory being fitted to the problem at hand. It is not safe for concurrent use.
type Recall struct {
	Warm bool // the memory's prices prove something, as Remind has found

	in     *pack.Instance
	budget *search.Budget
	known  *search.Incumbent
	dual   *relax.Dual
	last   *plan   // nil if there is none
	age    int     // slots that have passed since it was made
	past   *Root   // nil if there is none, or none that fits
	shift  int     // slots that have passed since
	row    []int32 // of each row: its number then, -1 if it was not there
	part   []int32 // of each partition then: its number now, -1 if it is gone
	jobs   []int32 // of each job: its number in past.jobs, -1 if it is new
	seen   int     // how many jobs are not new
	split  []float64
}

// NewRecall fits memories to the problem in, whatever it holds when it is asked. Prices are taken over into d.
func NewRecall(in *pack.Instance, budget *search.Budget, known *search.Incumbent, d *relax.Dual) Recall {
	return Recall{in: in, budget: budget, known: known, dual: d}
}

// Release drops the memory.
func (q *Recall) Release() { q.past, q.last = nil, nil }

// Forget drops the memory's relaxation.
func (q *Recall) Forget() { q.Warm, q.past = false, nil }

// Fitted says whether the memory has a relaxation that has to do with the problem.
func (q *Recall) Fitted() bool { return q.past != nil }

// Work is the ops that this relaxation took.
func (q *Recall) Work() int64 { return q.past.work }

// Reset takes a memory up that is a number of slots old, if it has to do with the same slots and with some of the
// resources and partitions. A nil one is none.
func (q *Recall) Reset(kept *Memory, age int) {
	q.Warm, q.last, q.past, q.seen, q.jobs = false, nil, nil, 0, q.jobs[:0]
	if kept == nil {
		return
	}
	q.last, q.age, q.shift = kept.plan, age, age+kept.age
	in, past, shift := q.in, kept.root, q.shift
	if past == nil || past.slots != in.T || past.slotSeconds != in.P.SlotSeconds || shift < 0 || shift >= in.T ||
		!q.match(in, past) {
		return
	}
	q.past = past
	q.identify(in.P)
}

// number finds the partitions that had these names. Names need be neither unique nor there: of those with the same
// one the first is the first, so that no two become one.
func (q *Recall) number(p *solver.Problem, parts []string) {
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
func (q *Recall) match(in *pack.Instance, past *Root) bool {
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
func (q *Recall) identify(p *solver.Problem) {
	then := make(map[string]int32, len(q.past.jobs))
	for j := range q.past.jobs {
		then[q.past.jobs[j].id] = int32(j)
	}
	for j := range p.Jobs {
		at, ok := then[p.Jobs[j].ID]
		if !ok {
			at = -1
		} else {
			q.seen++
		}
		q.jobs = append(q.jobs, at)
	}
}

// fits says whether the memory has columns and knows most of the jobs.
func (q *Recall) fits() bool {
	return q.past != nil && len(q.past.columns) > 0 && 2*q.seen > len(q.jobs)
}

// Remind takes the prices over from the memory, or a part of them: they may be too high where much has come free. It
// reports whether they prove anything, as Warm says from then on.
func (q *Recall) Remind() bool {
	d, in := q.dual, q.in
	if q.past == nil {
		return false
	}
	q.budget.Spend(int64(2*in.Rows + 8*len(q.past.jobs)))
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
		if q.known.Gap() < 0.1 {
			break
		}
	}
	copy(d.Lam, d.Best)
	d.Evaluate()
	q.Warm = d.Bound < before
	return q.Warm
}

// Resume adds the memory's columns, as far as they are splits of options still, to the program m.
func (q *Recall) Resume(m *relax.Master) {
	if !q.fits() {
		return
	}
	in := q.in
	q.number(in.P, q.past.parts)
	for j, then := range q.jobs {
		if then < 0 {
			continue
		}
		for _, past := range q.past.columns[q.past.jobs[then].lo:q.past.jobs[then].hi] {
			for o := in.JobOpts[j]; o < in.JobOpts[j+1]; o++ {
				if q.same(o, &past, q.shift) && q.splitAgain(&in.Opts[o], q.past.splits[past.lo:past.hi]) {
					m.Add(o, q.split)
					break
				}
			}
		}
	}
}

// same says whether option o, a number of slots ago, is what the column was made of.
func (q *Recall) same(o int, past *pastColumn, shift int) bool {
	opt := &q.in.Opts[o]
	q.budget.Spend(1)
	if opt.Start != past.start-shift || opt.Dead {
		return false
	}
	option := &q.in.P.Jobs[opt.Job].Options[opt.Index]
	return option.Count == past.count && option.Set == past.set
}

// splitAgain makes the split one of option o in q.split, if o allows that.
func (q *Recall) splitAgain(o *pack.Option, split []solver.Split) bool {
	in := q.in
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
		q.budget.Spend(4)
	}
	return math.Abs(left) <= 1e-9*o.Count
}

// Replay preempts in cur whom the last plan did, and places what the hint says where it was then, as far as it fits.
func (q *Recall) Replay(cur *pack.State) {
	in := q.in
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
			cur.Preempt(k)
		}
	}
	then := make(map[string]int, len(q.last.jobs))
	for i, id := range q.last.jobs {
		then[id] = i
	}
	for j := range in.P.Jobs {
		i, ok := then[in.P.Jobs[j].ID]
		o := in.Hinted(j)
		if !ok || o < 0 {
			continue
		}
		past := &q.last.columns[i]
		if q.same(o, past, q.age) && q.splitAgain(&in.Opts[o], q.last.splits[past.lo:past.hi]) && q.holds(&in.Opts[o], cur) {
			cur.Place(o, q.split)
		}
	}
}

// holds says whether option o fits into cur as split in q.split.
func (q *Recall) holds(o *pack.Option, cur *pack.State) bool {
	for i, v := range q.split[:o.P1-o.P0] {
		if v > 0 && (q.in.Fit(o, q.in.Part[o.P0+i], cur.Res) < v || o.Whole && v != math.Floor(v)) {
			return false
		}
		q.budget.Spend(int64(len(o.Usage)))
	}
	return true
}

// Easy says that the last relaxation's value was within the target of the plan that was found, so that plans are what
// is to be looked for, not better bounds.
func (q *Recall) Easy() bool { return q.Warm && q.past.rest <= q.known.Target }
