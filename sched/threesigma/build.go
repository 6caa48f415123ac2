package threesigma

import (
	"sort"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/solver"
)

// builder makes one cycle's solver.Problem from a snapshot.
type builder struct {
	*Policy
	snap    *sched.Snapshot
	parts   *sched.Partitioning
	problem solver.Problem
	running []runningUse
	// victims are indexes into snap.Running of the problem's Running jobs.
	victims []int
	// options[j][o] tells what problem.Jobs[j].Options[o] was made from; rows[j] is the
	// pending job of problem.Jobs[j].
	rows    []int
	origins [][]origin
	// offered[i] tells why pending job i has no option, where it has none.
	absent []sched.ReasonCode
	values int
	starts []float64
	worth  []float64
}

// origin is the placement option behind a solver option.
type origin struct {
	slowed bool
	start  int
}

// runningUse is a running job in the solver's terms.
type runningUse struct {
	dist   runtimes
	demand []float64
	usage  []float64
	alloc  []solver.Split
}

// build makes the problem: partitions, capacity, options, victims and hint.
func (p *Policy) build(s *sched.Snapshot) (*builder, error) {
	b := &builder{Policy: p, snap: s}
	T := int(p.cfg.Window / p.cfg.Slot)
	b.problem = solver.Problem{SlotSeconds: p.cfg.Slot.Seconds(), Slots: T, Resources: s.Nodes.Resources()}
	b.starts, b.worth = make([]float64, T), make([]float64, T)
	b.parts = p.refiner.Refine(s.Nodes, b.sets())
	b.problem.Partitions = make([]solver.Partition, b.parts.Len())
	for x := range b.problem.Partitions {
		b.problem.Partitions[x] = solver.Partition{Name: b.parts.Name(x), Nodes: len(b.parts.Nodes(x))}
	}
	if err := b.use(); err != nil {
		return nil, err
	}
	b.capacity()
	if err := b.offers(); err != nil {
		return nil, err
	}
	b.preemptible()
	b.hint()
	return b, nil
}

// sets are the equivalence sets that the pending jobs tell apart.
func (b *builder) sets() []sched.EquivalenceSet {
	seen := map[string]bool{}
	var sets []sched.EquivalenceSet
	add := func(e sched.EquivalenceSet) {
		if e.IsAny() {
			return
		}
		if k := e.String(); !seen[k] {
			seen[k] = true
			sets = append(sets, e)
		}
	}
	for i := range b.snap.Pending {
		j := b.snap.Pending[i].Job
		add(j.Required)
		if !j.Preferred.IsAny() {
			add(j.Required.And(j.Preferred))
		}
	}
	return sets
}

// use works out what each running job is expected to hold.
func (b *builder) use() error {
	b.running = make([]runningUse, len(b.snap.Running))
	T := b.problem.Slots
	flat := make([]float64, T*len(b.running))
	count := make([]int, b.parts.Len())
	for i := range b.snap.Running {
		r, u := &b.snap.Running[i], &b.running[i]
		rt, err := b.cfg.forecast(r.Job, r.Prediction)
		if err != nil {
			return err
		}
		u.dist = rt
		// A resource that left with its nodes is no longer held.
		if u.demand, err = b.snap.Nodes.Demand(r.Job.Demand); err != nil {
			continue
		}
		u.usage = flat[i*T : (i+1)*T : (i+1)*T]
		b.survival(u.usage, r, rt.on(r.Slowed), b.snap.Now)
		for _, n := range r.Nodes {
			if at, ok := b.snap.Nodes.Index(n.Node); ok {
				count[b.parts.Of(at)] += n.Tasks
			}
		}
		for x, c := range count {
			if c > 0 {
				u.alloc = append(u.alloc, solver.Split{Partition: x, Count: c})
				count[x] = 0
			}
		}
	}
	return nil
}

// offers values the placement options of every pending job.
func (b *builder) offers() error {
	b.absent = make([]sched.ReasonCode, len(b.snap.Pending))
	for i := range b.snap.Pending {
		k, err := b.known(&b.snap.Pending[i])
		if err != nil {
			return err
		}
		opts, from := b.offer(&b.snap.Pending[i], k)
		if len(opts) == 0 {
			b.absent[i] = k.absent
			if k.absent == "" {
				b.absent[i] = sched.ReasonNoUtility
			}
			continue
		}
		b.problem.Jobs = append(b.problem.Jobs, solver.Job{ID: b.snap.Pending[i].Job.ID, Options: opts})
		b.rows = append(b.rows, i)
		b.origins = append(b.origins, from)
	}
	return nil
}

// offer values one job's options: every slot on its preferred nodes at full speed, and
// on all the nodes it may use at the slowed runtime.
func (b *builder) offer(w *sched.Pending, k *known) ([]solver.Option, []origin) {
	waited := b.snap.Now.Sub(w.Job.Submitted).Seconds()
	for s := range b.starts {
		b.starts[s] = waited + float64(s)*b.problem.SlotSeconds
	}
	var opts []solver.Option
	var from []origin
	for i := range k.choices {
		c := &k.choices[i]
		d := k.runtimes.on(c.slowed)
		k.value.expected(b.worth, d, b.starts, b.cfg.LateWeight)
		b.values += len(b.worth)
		for s, v := range b.worth {
			if !(v > 0) {
				continue
			}
			u := c.usage
			if left := b.problem.Slots - s; len(u) > left {
				u = u[:left]
			}
			opts = append(opts, solver.Option{
				Set: c.name, Start: s, Count: w.Job.Tasks, Demand: k.demand,
				Partitions: c.partitions, Usage: u, Value: v,
			})
			from = append(from, origin{slowed: c.slowed, start: s})
		}
	}
	return opts, from
}

// preemptible offers the running jobs of lower priority than some pending job that has options, at the
// utility they are expected to earn if left alone.
func (b *builder) preemptible() {
	if b.cfg.Without&Preemption != 0 || len(b.rows) == 0 {
		return
	}
	top := b.snap.Pending[b.rows[0]].Job.Priority
	for _, i := range b.rows {
		top = max(top, b.snap.Pending[i].Job.Priority)
	}
	for i := range b.snap.Running {
		r, u := &b.snap.Running[i], &b.running[i]
		if r.Job.Priority >= top || len(u.alloc) == 0 {
			continue
		}
		b.victims = append(b.victims, i)
		b.problem.Running = append(b.problem.Running, solver.Running{
			ID: r.Job.ID, PreemptCost: b.price(r, u), Demand: u.demand, Usage: trim(u.usage), Alloc: u.alloc,
		})
	}
}

// hint gives the solver the last cycle's plan, shifted to this cycle's slots.
func (b *builder) hint() {
	if b.cfg.Without&WarmStart != 0 {
		return
	}
	for j, i := range b.rows {
		last, ok := b.planned[b.snap.Pending[i].Job.ID]
		if !ok {
			continue
		}
		// The slot that begins no earlier than planned, when capacity was due; what was due is due now.
		at := max(0, int((last.start.Sub(b.snap.Now)+b.cfg.Slot-1)/b.cfg.Slot))
		from := b.origins[j]
		o := sort.Search(len(from), func(o int) bool {
			if from[o].slowed != last.slowed {
				return from[o].slowed
			}
			return from[o].start >= at
		})
		if o < len(from) && from[o].slowed == last.slowed {
			if b.problem.Hint == nil {
				b.problem.Hint = make(map[string]int, len(b.rows))
			}
			b.problem.Hint[b.problem.Jobs[j].ID] = o
		}
	}
}

// trim cuts the slots at the end in which nothing is used any more.
func trim(usage []float64) []float64 {
	n := len(usage)
	for n > 0 && !(usage[n-1] > 0) {
		n--
	}
	return usage[:n]
}
