package threesigma

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/place"
	"github.com/hedgesched/hedge/solver"
)

// model is one cycle's problem, with what is needed to read its solution.
type model struct {
	policy  *Policy
	snap    *sched.Snapshot
	parts   *place.Partitioning
	problem solver.Problem

	jobs []*known // by pending job
	runs []*held  // by running job
	// rows tell from which pending job and options each of the problem's jobs was made.
	rows []row
	// victims are the problem's running jobs as indexes into snap.Running.
	victims []int
	// valued is the number of placement options valued.
	valued int
	// faults are the errors of this cycle that did not prevent a plan, unsaid is how many more there are.
	faults []string
	unsaid int

	// The rest is memory that is used again in the next cycle. Options and origins have the same indexes.
	options   []solver.Option
	origins   []origin
	total     []float64 // capacity by partition and resource, of the partitioning totalOf
	totalOf   *place.Partitioning
	free      []float64 // by partition and resource
	capacity  []float64
	left      []float64 // of capacity
	usage     []float64
	room      []float64
	starts    []float64
	worth     []float64
	sets      []sched.EquivalenceSet
	rehearsal place.Placer
	leaves    []leave
	stuck     []*known
}

// row tells where a job of the problem comes from.
type row struct {
	pending int // index into snap.Pending
	from    int // its first option in model.origins
}

// origin says which placement option an option of the problem is.
type origin struct {
	level int
	// void tells that the option has no value.
	void  bool
	start int
}

// build makes the cycle's problem: partitions, capacity, options, preemptible jobs and hint.
func (p *Policy) build(s *sched.Snapshot) *model {
	if p.model == nil {
		p.model = &model{policy: p}
	}
	m := p.model
	m.snap, m.valued, m.faults, m.unsaid = s, 0, m.faults[:0], 0
	m.recall()
	if len(m.jobs) == 0 { // nothing to decide
		m.rows, m.problem.Jobs, m.problem.Running = m.rows[:0], m.problem.Jobs[:0], m.problem.Running[:0]
		return m
	}
	m.partition()
	m.use()
	m.fill()
	m.offers()
	m.preemptible()
	m.hint()
	return m
}

// recall looks up what is kept about every job. It skips the running jobs if there is nothing to decide.
func (m *model) recall() {
	m.jobs, m.runs = m.jobs[:0], m.runs[:0]
	for i := range m.snap.Pending {
		k := m.policy.known(&m.snap.Pending[i], m.snap.Nodes)
		m.jobs = append(m.jobs, k)
		m.blame(k.fault)
	}
	if len(m.jobs) == 0 {
		return
	}
	for i := range m.snap.Running {
		h := m.policy.holding(&m.snap.Running[i])
		m.runs = append(m.runs, h)
		m.blame(h.fault)
	}
}

// maxFaults is how many errors are told of a cycle.
const maxFaults = 5

// blame notes an error, unless it is nil or has been noted before. Those beyond [maxFaults] are only counted.
func (m *model) blame(err error) {
	switch {
	case err == nil || slices.Contains(m.faults, err.Error()):
	case len(m.faults) < maxFaults:
		m.faults = append(m.faults, err.Error())
	default:
		m.unsaid++
	}
}

// fault is what [sched.Stats] tells of the errors noted.
func (m *model) fault() string {
	text := strings.Join(m.faults, "; ")
	if m.unsaid > 0 {
		text += fmt.Sprintf("; and %d more", m.unsaid)
	}
	return text
}

// partition divides the nodes so that every set of a pending job is a union of partitions.
func (m *model) partition() {
	m.sets = m.sets[:0]
	for _, k := range m.jobs {
		for i := range k.choices {
			if set := k.choices[i].Set; !set.IsAny() {
				m.sets = append(m.sets, set)
			}
		}
	}
	parts := m.policy.refiner.Refine(m.snap.Nodes, m.sets)
	cfg, pr := &m.policy.cfg, &m.problem
	pr.SlotSeconds, pr.Slots, pr.Resources = cfg.Slot.Seconds(), cfg.slots(), m.snap.Nodes.Resources()
	if m.parts == parts {
		return
	}
	m.parts = parts
	pr.Partitions = make([]solver.Partition, parts.Len())
	for x := range pr.Partitions {
		pr.Partitions[x] = solver.Partition{Name: parts.Name(x), Nodes: len(parts.Nodes(x))}
	}
}

// offers makes the placement options of every pending job.
func (m *model) offers() {
	m.options, m.origins, m.rows = m.options[:0], m.origins[:0], m.rows[:0]
	m.starts, m.worth = resize(m.starts, m.problem.Slots), resize(m.worth, m.problem.Slots)
	m.problem.Jobs = m.problem.Jobs[:0]
	m.stuck = m.stuck[:0]
	for _, k := range m.jobs {
		if k.stuck {
			m.stuck = append(m.stuck, k)
		}
	}
	m.rehearse(m.stuck)
	for i, k := range m.jobs {
		from := len(m.options)
		m.offer(k)
		if k.misbehaved = k.value.guard.take(k.job); k.misbehaved != nil {
			m.blame(k.misbehaved)
			m.options, m.origins = m.options[:from], m.origins[:from]
		}
		if len(m.options) == from {
			continue
		}
		m.problem.Jobs = append(m.problem.Jobs, solver.Job{ID: k.job.ID, Priority: k.job.Priority})
		m.rows = append(m.rows, row{pending: i, from: from})
	}
	// The slices are cut only now, since appending may have moved the options.
	for j := range m.rows {
		to := len(m.options)
		if j+1 < len(m.rows) {
			to = m.rows[j+1].from
		}
		m.problem.Jobs[j].Options = m.options[m.rows[j].from:to:to]
	}
}

// offer makes one job's options: a start in every slot on each of its choices. The choices are the levels of its
// speeds, down to all nodes that it may use at the lowest of them. Each has the runtime of its speed.
func (m *model) offer(k *known) {
	cfg := &m.policy.cfg
	waited := m.snap.Now.Sub(k.job.Submitted).Seconds()
	for s := range m.starts {
		m.starts[s] = waited + float64(float64(s)*m.problem.SlotSeconds)
	}
	k.worth = worthNothing
	for i := range k.choices {
		c := &k.choices[i]
		k.value.expected(m.worth, k.whole[c.level], m.starts, cfg.LateWeight)
		m.valued += len(m.worth)
		within := m.parts.Members(c.Set)
		for s, v := range m.worth {
			// Before haste: jobs worth more than a solver accepts are better off early, too.
			v = min(v, maxValue) * (1 - cfg.Haste*float64(s)/float64(len(m.worth)))
			void := !(v > 0)
			switch {
			case !void:
				k.worth = worthSome
			case math.IsNaN(v):
				k.worth = max(k.worth, worthOdd)
			}
			if s < c.earliest {
				continue
			}
			if void {
				if cfg.Without&Pruning == 0 {
					continue
				}
				v = Negligible
			}
			m.options = append(m.options, solver.Option{
				Set: c.Set.String(), Start: s, Count: k.job.Tasks, Demand: c.Demand, Partitions: within,
				Usage: c.usage[:min(len(c.usage), m.problem.Slots-s)], Value: v,
			})
			m.origins = append(m.origins, origin{level: c.level, void: void, start: s})
		}
	}
}

// preemptible offers running jobs to the solver, each at its price. They are those of lower priority than some pending
// job that has options.
func (m *model) preemptible() {
	m.victims, m.problem.Running = m.victims[:0], m.problem.Running[:0]
	if m.policy.cfg.Without&Preemption != 0 || len(m.rows) == 0 {
		return
	}
	top := m.jobs[m.rows[0].pending].job.Priority
	for _, r := range m.rows {
		top = max(top, m.jobs[r.pending].job.Priority)
	}
	for i, h := range m.runs {
		r := &m.snap.Running[i]
		if r.Job.Priority >= top || len(h.alloc) == 0 || h.fault != nil || slices.Max(h.demand) > maxAmount {
			continue
		}
		price := m.policy.price(h, r, m.snap.Now)
		if err := h.guard.take(r.Job); err != nil { // the price is unknown
			m.blame(err)
			continue
		}
		m.victims = append(m.victims, i)
		m.problem.Running = append(m.problem.Running, solver.Running{
			ID: r.Job.ID, PreemptCost: price, MinPriority: r.Job.Priority + 1, Demand: h.demand, Usage: trim(h.room),
			Alloc: h.alloc,
		})
	}
}

// hint gives the solver the last cycle's plan, in this cycle's slots.
func (m *model) hint() {
	clear(m.problem.Hint)
	if m.policy.cfg.Without&WarmStart != 0 {
		return
	}
	for j := range m.rows {
		k := m.jobs[m.rows[j].pending]
		if k.planned.start.IsZero() {
			continue
		}
		// Not an earlier slot: the capacity may be free only from the planned time on.
		m.suggest(j, m.policy.cfg.slotAt(m.snap.Now, k.planned.start), k.planned.level)
	}
}

// suggest hints the first option of row j at a level that starts in that slot or later.
func (m *model) suggest(j, start, level int) {
	from := m.origins[m.rows[j].from:][:len(m.problem.Jobs[j].Options)]
	o := sort.Search(len(from), func(o int) bool {
		if from[o].level != level {
			return from[o].level > level
		}
		return from[o].start >= start
	})
	if o == len(from) || from[o].level != level {
		return
	}
	if m.problem.Hint == nil {
		m.problem.Hint = make(map[string]int, len(m.rows))
	}
	m.problem.Hint[m.problem.Jobs[j].ID] = o
}

func resize(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	return s[:n]
}
