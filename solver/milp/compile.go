package milp

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/internal/pack"
)

// Relax says which splits of gangs over partitions a [Placement]'s model leaves continuous, though
// the plan must have whole tasks: the model is solved faster, its bound still holds, and the plan is repaired.
type Relax int

// What may be relaxed: nothing, the splits of options that start later, or all splits.
const (
	RelaxNone Relax = iota
	RelaxLater
	RelaxAll
)

// Placement is a placement problem as a model (3Sigma, section 4.3.3): a binary variable for each option and each
// running job that may be preempted, a variable for the tasks in each partition of an option that has more than one, a
// row for each job (at most one option), each such option (its tasks add up) and each partition, resource and slot
// (capacity, preemption credited). Jobs that may not take some running job's room have such rows of their own, too.
// Options that cannot fit, terms that are next to nothing and rows that cannot bind are left out.
//
// Numbers that differ by more orders of magnitude than solvers can tell apart are brought together: the objective is
// scaled, options worth next to nothing beside the best are left to [Placement.Plan], and gangs of millions are split
// in shares, which are not whole. [Placement.Bound] makes up for it.
//
// It is not safe for concurrent use.
type Placement struct {
	// Model is to be maximised; its objective is the plan's, times Scale. It must not be changed.
	Model *Model
	// Scale is a power of two, 1 unless values are very large or very small.
	Scale float64

	in     pack.Instance
	st     pack.State
	pre    pack.Preemptor
	choose []int32 // variable of in.Opts[o], -1 if it is left out
	tasks  []int32 // variable of in.Part[i], -1 where the option's own stands for it or where it cannot be used
	stop   []int32 // variable of running job m
	split  []float64
	rest   []float64
	byJob  []int
	named  bool
	least  float64 // values below it are left out
	worth  float64 // no plan is worth more
	spared float64 // the sum of those
}

// Bound is what a bound of the model proves of plans.
func (c *Placement) Bound(bound float64) float64 { return bound/c.Scale + c.spared }

// name is what and the indices, if there are to be names.
func (c *Placement) name(what string, indices ...int) string {
	if !c.named {
		return ""
	}
	for _, i := range indices {
		what += "_" + strconv.Itoa(i)
	}
	return what
}

// Compile makes p's model. Splits says which options' splits must be whole tasks in a plan, and relax which of them
// need not be in the model. An invalid p is [solver.ErrInvalid].
//
// Nothing in the model has a name, since making names takes longer than all the rest; see [CompileNamed].
func Compile(p *solver.Problem, splits solver.SplitRule, relax Relax) (*Placement, error) {
	return compile(p, splits, relax, false)
}

// CompileNamed is [Compile] with names for variables and rows, for models to be looked at: choose_JOB_OPTION,
// tasks_JOB_OPTION_PARTITION, preempt_JOB, job_JOB, gang_JOB_OPTION and room_PARTITION_RESOURCE_SLOT, all by index.
// Resources beyond the problem's are copies of them for the jobs that may not take some running job's room.
func CompileNamed(p *solver.Problem, splits solver.SplitRule, relax Relax) (*Placement, error) {
	return compile(p, splits, relax, true)
}

func compile(p *solver.Problem, splits solver.SplitRule, relax Relax, named bool) (*Placement, error) {
	if err := solver.Validate(p); err != nil {
		return nil, err
	}
	c := &Placement{Model: &Model{Maximize: true}, named: named}
	c.in.Load(p, splits)
	c.st.Reset(&c.in)
	c.pre.Reset(&c.in)
	c.weigh()
	c.addVars(relax)
	c.addJobs()
	c.addCapacity()
	return c, nil
}

// Values are left as they are if the largest is between these; others are scaled to about a thousand, since solvers'
// tolerances are absolute.
const (
	smallValue = 1
	largeValue = 1e9
)

// leastShare of the largest value is what a solver can still tell from nothing; rounding takes more of the objective.
const leastShare = 1e-12

// manyTasks is from where on a gang is split in shares: a solver's tolerance for whole numbers, times that many, is a
// task.
const manyTasks = 1e5

// weigh looks for the scale of values.
func (c *Placement) weigh() {
	largest := 0.0
	for k := range c.in.Opts {
		if !c.in.Opts[k].Dead {
			largest = max(largest, c.in.Opts[k].Value)
		}
	}
	c.Scale, c.least = 1, leastShare*largest
	for j := range c.in.P.Jobs {
		if c.in.JobOpts[j] < c.in.JobOpts[j+1] {
			c.worth += c.in.Opts[c.in.JobOpts[j]].Value
		}
	}
	if largest > 0 && (largest < smallValue || largest > largeValue) {
		_, exponent := math.Frexp(largest)
		c.Scale = math.Ldexp(1, max(-1000, min(1000, 10-exponent)))
	}
}

// usable is which of option o's partitions can hold a task of it.
func (c *Placement) usable(o *pack.Option) (n int) {
	for i := o.P0; i < o.P1; i++ {
		if c.in.Limit[i] > 0 {
			n++
		}
	}
	return n
}

func (c *Placement) addVars(relax Relax) {
	in, m := &c.in, c.Model
	c.choose, c.tasks = make([]int32, len(in.Opts)), make([]int32, len(in.Part))
	c.stop = make([]int32, len(in.P.Running))
	m.Grow(len(in.Opts)+len(in.Part)+len(in.P.Running), len(in.P.Jobs)+len(in.Opts)+in.Rows, 0)
	for i := range c.tasks {
		c.tasks[i] = -1
	}
	for k := range in.Opts {
		o := &in.Opts[k]
		c.choose[k] = -1
		if o.Dead {
			continue
		}
		if o.Value < c.least {
			c.spared += o.Value
			continue
		}
		c.choose[k] = int32(m.AddVar(Var{Name: c.name("choose", o.Job, o.Index), Upper: 1, Cost: o.Value * c.Scale, Integer: true}))
		if c.usable(o) < 2 {
			continue
		}
		size := c.size(o)
		whole := size == 1 && o.Whole && (relax == RelaxNone || relax == RelaxLater && o.Start == 0)
		for i := o.P0; i < o.P1; i++ {
			if in.Limit[i] > 0 {
				c.tasks[i] = int32(m.AddVar(Var{Name: c.name("tasks", o.Job, o.Index, in.Part[i]), Upper: in.Limit[i] / size, Integer: whole}))
			}
		}
	}
	for r := range c.stop {
		c.stop[r] = c.addStop(r)
	}
}

// size is how many tasks the unit of o's variables for tasks is: 1, or the gang where those are shares.
func (c *Placement) size(o *pack.Option) float64 {
	if o.Count > manyTasks {
		return o.Count
	}
	return 1
}

// addStop adds the variable of a running job, -1 where it costs more than all that can be won.
func (c *Placement) addStop(r int) int32 {
	cost := c.in.P.Running[r].PreemptCost
	switch {
	case cost < c.least:
		cost = 0 // which proves less, and is still a proof
	case cost > c.worth:
		return -1
	}
	return int32(c.Model.AddVar(Var{Name: c.name("preempt", r), Upper: 1, Cost: -cost * c.Scale, Integer: true}))
}

// addJobs adds a row for each job, and one for each option that is split.
func (c *Placement) addJobs() {
	in, m := &c.in, c.Model
	m.Grow(0, 0, 2*len(in.Opts)+len(in.Part))
	var index []int32
	var value []float64
	for j := range in.P.Jobs {
		index, value = index[:0], value[:0]
		for k := in.JobOpts[j]; k < in.JobOpts[j+1]; k++ {
			if c.choose[k] >= 0 {
				index, value = append(index, c.choose[k]), append(value, 1)
			}
		}
		if len(index) > 1 {
			m.AddRow(Row{Name: c.name("job", j), Lower: math.Inf(-1), Upper: 1, Index: index, Value: value})
		}
	}
	for k := range in.Opts {
		o := &in.Opts[k]
		index, value = index[:0], value[:0]
		for i := o.P0; i < o.P1; i++ {
			if c.tasks[i] >= 0 {
				index, value = append(index, c.tasks[i]), append(value, 1)
			}
		}
		if len(index) > 0 {
			index, value = append(index, c.choose[k]), append(value, -o.Count/c.size(o))
			m.AddRow(Row{Name: c.name("gang", o.Job, o.Index), Index: index, Value: value})
		}
	}
}

// entry is one variable's use of a capacity row; most is the largest it can take there.
type entry struct {
	v      int32
	amount float64
	most   float64
}

// negligible is the use, relative to a row's capacity, that is left out of it: a thousand of such stay within
// what a plan may exceed a row by.
const negligible = 1e-10

func (c *Placement) addCapacity() {
	in := &c.in
	begin, entries := c.entries()
	c.Model.Grow(0, 0, len(entries))
	var index []int32
	var value []float64
	for row := range in.Rows {
		mine := entries[begin[row]:begin[row+1]]
		largest, most := 0.0, 0.0
		for _, e := range mine {
			if e.amount > 0 {
				largest, most = max(largest, e.amount), most+e.most
			}
		}
		if most <= in.Cap[row] {
			continue
		}
		// What a preemption frees beyond what could be missing is of no use; without it the relaxation is tighter.
		missing := most - in.Cap[row]
		// The largest use becomes 1 to 2, so that a solver's absolute tolerance is small beside a task.
		_, exponent := math.Frexp(largest)
		scale := math.Ldexp(1, 1-exponent)
		index, value = index[:0], value[:0]
		for _, e := range mine {
			if e.amount < 0 || e.most > negligible*in.Cap[row] {
				index, value = append(index, e.v), append(value, max(e.amount, -missing)*scale)
			}
		}
		t, r, x := row%in.T, row/in.T%in.R, row/in.T/in.R
		c.Model.AddRow(Row{Name: c.name("room", x, r, t), Lower: math.Inf(-1), Upper: in.Cap[row] * scale, Index: index, Value: value})
	}
}

// entries is what all variables take of all rows: row's are entries[begin[row]:begin[row+1]].
func (c *Placement) entries() (begin []int, entries []entry) {
	in := &c.in
	begin = make([]int, in.Rows+1)
	c.each(func(row int, _ entry) { begin[row+1]++ })
	for row := range in.Rows {
		begin[row+1] += begin[row]
	}
	entries = make([]entry, begin[in.Rows])
	fill := append([]int(nil), begin...)
	c.each(func(row int, e entry) {
		entries[fill[row]] = e
		fill[row]++
	})
	return begin, entries
}

// each calls add with every row's every entry.
func (c *Placement) each(add func(row int, e entry)) {
	in := &c.in
	for k := range in.Opts {
		o := &in.Opts[k]
		if c.choose[k] < 0 {
			continue
		}
		size := c.size(o)
		for i := o.P0; i < o.P1; i++ {
			v, times, most := c.tasks[i], size, in.Limit[i]/size
			if v < 0 && in.Limit[i] > 0 {
				v, times, most = c.choose[k], o.Count, 1
			}
			if v < 0 {
				continue
			}
			for _, d := range o.Demand {
				lo := (in.Part[i]*in.R+d.R)*in.T + o.Start
				for t, u := range o.Usage {
					if amount := times * d.D * u; amount > 0 {
						add(lo+t, entry{v: v, amount: amount, most: amount * most})
					}
				}
			}
		}
	}
	for m, v := range c.stop {
		for i := in.RunOff[m]; v >= 0 && i < in.RunOff[m+1]; i++ {
			add(in.RunRow[i], entry{v: v, amount: -in.RunAmt[i]})
		}
	}
}

// StartFrom is a plan of the problem as a point to begin from.
func (c *Placement) StartFrom(plan *solver.Solution) []float64 {
	c.st.Load(plan)
	for _, k := range c.st.Choice {
		if k >= 0 && c.choose[k] < 0 {
			return nil // the model leaves it out
		}
	}
	return c.point()
}

// Start is the problem's hint as a point to begin from, nil if nothing of it fits. What does not fit of it is left out.
func (c *Placement) Start() []float64 {
	hint := c.in.P.Hint
	if len(hint) == 0 {
		return nil
	}
	c.st.Reset(&c.in)
	placed := false
	for j := range c.in.P.Jobs {
		index, ok := hint[c.in.P.Jobs[j].ID]
		for k := c.in.JobOpts[j]; ok && k < c.in.JobOpts[j+1]; k++ {
			if c.in.Opts[k].Index == index && c.choose[k] >= 0 && c.st.TryPlace(k) {
				placed = true
				break
			}
		}
	}
	if !placed {
		return nil
	}
	return c.point()
}

// point is the plan in st as a point of the model.
func (c *Placement) point() []float64 {
	x := make([]float64, c.Model.Vars())
	for j, k := range c.st.Choice {
		if k < 0 {
			continue
		}
		o := &c.in.Opts[k]
		x[c.choose[k]] = 1
		for i := o.P0; i < o.P1; i++ {
			if c.tasks[i] >= 0 {
				x[c.tasks[i]] = c.st.Split[j*c.in.MaxParts+i-o.P0] / c.size(o)
			}
		}
	}
	for m, on := range c.st.Preempted {
		if on && c.stop[m] >= 0 {
			x[c.stop[m]] = 1
		}
	}
	return x
}

// Plan is point x of the model as a plan that keeps every rule of the problem: splits that are not whole are rounded,
// what then does not fit is left out, and what still fits is put in, the most valuable first. For a point that is
// feasible and whole, the plan is worth at least its objective, but for rounding and for what the model leaves out as
// next to nothing.
func (c *Placement) Plan(x []float64) *solver.Solution {
	in, st := &c.in, &c.st
	st.Reset(in)
	for m, v := range c.stop {
		if v >= 0 && x[v] > 0.5 {
			st.Preempt(m)
		}
	}
	c.split = pack.Resize(c.split, in.MaxParts)
	for j := range in.P.Jobs {
		if k := c.chosen(j, x); k >= 0 && c.round(k, x) {
			st.Place(k, c.split)
		}
	}
	st.Settle()
	c.complete(x)
	st.Spare(c.pre.ByCost)
	if !st.Settle() {
		st.Spare(c.pre.ByCost)
	}
	return st.Solution("", solver.StopWork)
}

// chosen is the option that x gives job j, -1 if it has less than half of any.
func (c *Placement) chosen(j int, x []float64) int {
	best, most := -1, 0.5
	for k := c.in.JobOpts[j]; k < c.in.JobOpts[j+1]; k++ {
		if v := c.choose[k]; v >= 0 && x[v] >= most {
			best, most = k, x[v]
		}
	}
	return best
}

// round makes option k's split in x add up to the gang, of whole tasks if it must be, and reports whether that can be.
func (c *Placement) round(k int, x []float64) bool {
	in, o := &c.in, &c.in.Opts[k]
	split := c.split[:o.P1-o.P0]
	c.rest = pack.Resize(c.rest, len(split))
	sum, size := 0.0, c.size(o)
	for i := range split {
		switch v := c.tasks[o.P0+i]; {
		case v >= 0:
			split[i] = min(max(x[v]*size, 0), in.Limit[o.P0+i])
		case in.Limit[o.P0+i] > 0:
			split[i] = o.Count
		default:
			split[i] = 0
		}
		c.rest[i] = 0
		if o.Whole {
			down := math.Floor(split[i] + 1e-6)
			c.rest[i], split[i] = split[i]-down, down
		}
		sum += split[i]
	}
	if sum <= 0 {
		return false
	}
	if !o.Whole {
		for i := range split {
			split[i] *= o.Count / sum
		}
		return true
	}
	return c.level(o, split, o.Count-sum)
}

// level adds left tasks to split, or takes them off, where rounding has taken the most off, or the least.
func (c *Placement) level(o *pack.Option, split []float64, left float64) bool {
	step := math.Copysign(1, left)
	for ; math.Abs(left) > 0.5; left -= step {
		best := -1
		for i, rest := range c.rest {
			to := split[i] + step
			if to >= 0 && to <= c.in.Limit[o.P0+i] && (best < 0 || step*rest > step*c.rest[best]) {
				best = i
			}
		}
		if best < 0 {
			return false
		}
		split[best] += step
		c.rest[best] -= step
	}
	return true
}

// complete puts jobs that are not in the plan in where they fit: those that x has parts of first, by the size of the
// part, then the others, by value.
func (c *Placement) complete(x []float64) {
	in := &c.in
	c.byJob = c.byJob[:0]
	share := make([]float64, len(in.P.Jobs))
	for j, k := range c.st.Choice {
		if k >= 0 || in.JobOpts[j] == in.JobOpts[j+1] {
			continue
		}
		c.byJob = append(c.byJob, j)
		for k := in.JobOpts[j]; k < in.JobOpts[j+1]; k++ {
			if v := c.choose[k]; v >= 0 {
				share[j] += x[v]
			}
		}
		share[j] = math.Round(share[j] * 1e6)
	}
	slices.SortStableFunc(c.byJob, func(a, b int) int {
		if d := cmp.Compare(share[b], share[a]); d != 0 {
			return d
		}
		return cmp.Compare(in.Opts[in.JobOpts[b]].Value, in.Opts[in.JobOpts[a]].Value)
	})
	for _, j := range c.byJob {
		for k := in.JobOpts[j]; k < in.JobOpts[j+1]; k++ {
			if c.st.TryPlace(k) {
				break
			}
		}
	}
}
