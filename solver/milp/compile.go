package milp

import (
	"math"
	"strconv"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/internal/pack"
)

// Relax says which splits of gangs over partitions may be continuous in a [Placement]'s model, although the plan needs
// whole tasks. A relaxed model is solved faster and its bound still holds, but the plan must be repaired.
type Relax int

// The values of Relax: nothing, the splits of options that start later, or all splits.
const (
	RelaxNone Relax = iota
	RelaxLater
	RelaxAll
)

// Placement is a placement problem as a model (3Sigma, section 4.3.3). It has
//
//   - a binary variable per option, and per running job that may be preempted,
//   - a variable for the number of tasks in each partition of an option with more than one,
//   - a row per job (at most one option), per option that is split (its tasks add up), and per partition, resource and
//     slot (capacity, plus what preemption releases),
//   - more rows of the latter kind for jobs that may not take the room of some running job.
//
// Options that cannot fit, negligible terms and rows that cannot bind are left out.
//
// Solvers cannot handle numbers of too many different magnitudes. So the objective is scaled, options worth almost
// nothing compared with the best are left to [Placement.Plan], and the variables of gangs of very many tasks are
// shares, which are not whole. [Placement.Bound] compensates for this.
//
// It is not safe for concurrent use.
type Placement struct {
	// Model is to be maximised. Its objective is the plan's, times Scale. It must not be modified.
	Model *Model
	// Scale is a power of two, 1 unless values are very large or very small.
	Scale float64

	in     pack.Instance
	st     pack.State
	pre    pack.Preemptor
	choose []int32 // the variable of in.Opts[o], -1 if left out
	tasks  []int32 // the variable of in.Part[i], -1 if the option's variable stands for it or the partition is unusable
	stop   []int32 // the variable of running job m
	split  []float64
	rest   []float64
	byJob  []int
	named  bool
	least  float64 // values below it are left out
	worth  float64 // no plan is worth more than this
	spared float64 // the sum of the values left out
}

// Bound converts a bound of the model to one of plans.
func (c *Placement) Bound(bound float64) float64 { return bound/c.Scale + c.spared }

// name builds a name from what and the indices, or "" if there are to be no names.
func (c *Placement) name(what string, indices ...int) string {
	if !c.named {
		return ""
	}
	for _, i := range indices {
		what += "_" + strconv.Itoa(i)
	}
	return what
}

// Compile makes p's model. Splits says which options' splits must be whole tasks in a plan, and relax which of these
// may be continuous in the model. An invalid p is [solver.ErrInvalid].
//
// Nothing in the model has a name, since names take longer than everything else; see [CompileNamed].
func Compile(p *solver.Problem, splits solver.SplitRule, relax Relax) (*Placement, error) {
	return compile(p, splits, relax, false)
}

// CompileNamed is [Compile] with names of variables and rows, for people who look at the model: choose_JOB_OPTION,
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

// Values are not scaled if the largest is between these. Otherwise they are scaled to about a thousand, since solvers'
// tolerances are absolute.
const (
	smallValue = 1
	largeValue = 1e9
)

// leastShare is the share of the largest value that a solver can still tell from nothing. Rounding changes the
// objective by more than that.
const leastShare = 1e-12

// manyTasks is the size from which a gang's variables are shares. A solver's tolerance for whole numbers, times this
// size, is about a task.
const manyTasks = 1e5

// weigh computes the scale of the values.
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

// usable finds which of option o's partitions can hold a task of it, and how many there are.
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
		c.choose[k] = int32(
			m.AddVar(Var{Name: c.name("choose", o.Job, o.Index), Upper: 1, Cost: o.Value * c.Scale, Integer: true}))
		if c.usable(o) < 2 {
			continue
		}
		size := c.size(o)
		whole := size == 1 && o.Whole && (relax == RelaxNone || relax == RelaxLater && o.Start == 0)
		for i := o.P0; i < o.P1; i++ {
			if in.Limit[i] > 0 {
				c.tasks[i] = int32(
					m.AddVar(Var{Name: c.name("tasks", o.Job, o.Index, in.Part[i]), Upper: in.Limit[i] / size, Integer: whole}))
			}
		}
	}
	for r := range c.stop {
		c.stop[r] = c.addStop(r)
	}
}

// size is the number of tasks per unit of o's variables: 1, or the gang's size if they are shares.
func (c *Placement) size(o *pack.Option) float64 {
	if o.Count > manyTasks {
		return o.Count
	}
	return 1
}

// addStop adds the variable of a running job. It is -1 if preempting the job costs more than everything that can be
// gained.
func (c *Placement) addStop(r int) int32 {
	cost := c.in.P.Running[r].PreemptCost
	switch {
	case cost < c.least:
		cost = 0 // proves less, and is still valid
	case cost > c.worth:
		return -1
	}
	return int32(c.Model.AddVar(Var{Name: c.name("preempt", r), Upper: 1, Cost: -cost * c.Scale, Integer: true}))
}

// addJobs adds a row per job, and a row per option that is split.
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

// entry is one variable's use of a capacity row. most is its largest use.
type entry struct {
	v      int32
	amount float64
	most   float64
}

// negligible is the use, relative to a row's capacity, below which an entry is left out. A thousand of these stay
// within the tolerance of a row.
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
		// Capacity released beyond what could be missing is useless. Leaving it out tightens the relaxation.
		missing := most - in.Cap[row]
		// The largest use becomes 1 to 2, so that a solver's absolute tolerance is small compared with a task.
		_, exponent := math.Frexp(largest)
		scale := math.Ldexp(1, 1-exponent)
		index, value = index[:0], value[:0]
		for _, e := range mine {
			if e.amount < 0 || e.most > negligible*in.Cap[row] {
				index, value = append(index, e.v), append(value, max(e.amount, -missing)*scale)
			}
		}
		t, r, x := row%in.T, row/in.T%in.R, row/in.T/in.R
		c.Model.AddRow(
			Row{Name: c.name("room", x, r, t), Lower: math.Inf(-1), Upper: in.Cap[row] * scale, Index: index, Value: value})
	}
}

// entries are the entries of all rows. Those of row are entries[begin[row]:begin[row+1]].
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

// each calls add for every entry of every row.
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

// StartFrom converts a plan of the problem to a point to begin from.
func (c *Placement) StartFrom(plan *solver.Solution) []float64 {
	c.st.Load(plan)
	for _, k := range c.st.Choice {
		if k >= 0 && c.choose[k] < 0 {
			return nil // the model leaves it out
		}
	}
	return c.point()
}

// Start converts the problem's hint to a point to begin from. What does not fit is left out. It is nil if nothing fits.
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
