package threesigma

import (
	"cmp"
	"slices"

	"github.com/hedgesched/hedge/solver"
)

// advance starts jobs that the solver has put off or left out, though they could start now at nobody's cost. Such a job
// is worth as much if it starts now. It fits on nodes that are free, and into what the plan leaves over in all slots.
//
// An engine without a bound leaves such jobs behind. An engine with a bound puts off such a start only within the gap
// that it proves. Its plan stands, unless nothing runs or a start failed. Others may then take what that would have
// held. The result is the value that the starts add to the plan.
func (x *extraction) advance() (gain float64) {
	m := x.m
	jobs := x.idle()
	if x.sol.Gap != nil && len(m.runs) > 0 && x.failed == 0 {
		jobs = slices.DeleteFunc(jobs, func(c idler) bool { return c.row >= 0 })
	}
	if len(jobs) == 0 {
		return 0
	}
	m.left = x.leftOver()
	for i := range jobs {
		c := &jobs[i]
		if x.starts[c.pending] != nil {
			continue // on the better of its choices
		}
		planned := x.picks[c.pending]
		x.use(m.left, &planned, -1)
		if x.startIdle(c) {
			gain += c.option.Value - planned.value()
			continue
		}
		x.use(m.left, &planned, 1)
	}
	return gain
}

// startIdle starts the job if there is room.
func (x *extraction) startIdle(c *idler) bool {
	m := x.m
	split, ok := m.spread(m.left, &c.option)
	if !ok {
		return false
	}
	nodes, ok := m.policy.placer.Place(c.option.Demand, c.choice.Nodes, c.option.Count)
	if !ok {
		return false
	}
	m.hold(m.left, &c.option, split, 1)
	x.starts[c.pending] = nodes
	x.picks[c.pending] = pick{row: c.row, option: &c.option, origin: origin{level: c.choice.level}, split: split}
	return true
}

// idler is a job that does not start though it has an option to start now that is worth as much as what is planned.
type idler struct {
	pending int
	row     int // of the problem; -1 if the job is worth nothing
	option  solver.Option
	choice  *choice
}

// idle are the jobs that might start now, in the order in which starts are made, and after them those that are worth
// nothing. A job is there once for each choice.
func (x *extraction) idle() []idler {
	m := x.m
	var jobs []idler
	for j := range m.rows {
		i := m.rows[j].pending
		if x.starts[i] != nil || m.jobs[i].stuck {
			continue
		}
		options := m.problem.Jobs[j].Options
		for o := range options {
			from := m.origins[m.rows[j].from+o]
			if from.start == 0 && !from.void && options[o].Value >= x.picks[i].value() {
				jobs = append(jobs, idler{i, j, options[o], m.jobs[i].choice(from.level)})
			}
		}
	}
	for i, k := range m.jobs {
		if m.spent(k) {
			for c := range k.choices {
				jobs = append(jobs, idler{i, -1, m.startNow(k, &k.choices[c]), &k.choices[c]})
			}
		}
	}
	spent := func(c idler) int { return max(0, -c.row) }
	slices.SortStableFunc(jobs, func(a, b idler) int {
		return cmp.Or(cmp.Compare(spent(a), spent(b)),
			cmp.Compare(m.jobs[b.pending].job.Priority, m.jobs[a.pending].job.Priority),
			cmp.Compare(b.option.Value, a.option.Value))
	})
	return jobs
}

// spent tells whether the job is worth nothing however early it starts, but still runs where there is room.
func (m *model) spent(k *known) bool {
	return k.worth == worthNothing && k.misbehaved == nil && (k.job.Deadline <= 0 || m.policy.cfg.RunLate)
}

// startNow is an option to start now, without value.
func (m *model) startNow(k *known, c *choice) solver.Option {
	return solver.Option{
		Set: c.Set.String(), Count: k.job.Tasks, Demand: c.Demand, Partitions: m.parts.Members(c.Set),
		Usage: c.usage[:min(len(c.usage), m.problem.Slots)],
	}
}

// value is that of the option picked, 0 if there is none.
func (p *pick) value() float64 {
	if p.option == nil {
		return 0
	}
	return p.option.Value
}

// choice is the job's choice at the level of one of its options. There is one, since options are made from choices.
func (k *known) choice(level int) *choice {
	i := 0
	for k.choices[i].level != level {
		i++
	}
	return &k.choices[i]
}

// leftOver is what the plan leaves of the capacity, by partition, resource and slot. Running jobs that the solver
// preempts for nothing go on.
func (x *extraction) leftOver() []float64 {
	m := x.m
	left := append(m.left[:0], m.capacity...)
	for v := range m.problem.Running {
		r := &m.problem.Running[v]
		if !x.preempted[v] {
			continue
		}
		for _, a := range r.Alloc {
			m.add(left, a.Partition, r.Demand, r.Usage, 0, float64(a.Count))
		}
	}
	for i := range x.picks {
		x.use(left, &x.picks[i], 1)
	}
	return left
}

// use takes what a pick uses off the amounts left, or gives it back if sign is -1.
func (x *extraction) use(left []float64, p *pick, sign float64) {
	if p != nil && p.option != nil {
		x.m.hold(left, p.option, p.split, sign)
	}
}

// hold takes what an option uses with that split off the amounts left, or gives it back if sign is -1.
func (m *model) hold(left []float64, o *solver.Option, split []solver.Split, sign float64) {
	for _, s := range split {
		m.add(left, s.Partition, o.Demand, o.Usage, o.Start, -sign*s.Count)
	}
}

// add adds to the amounts of one partition what a number of tasks use.
func (m *model) add(left []float64, partition int, demand, usage []float64, start int, tasks float64) {
	T := m.problem.Slots
	for r, d := range demand {
		if d == 0 {
			continue
		}
		row := left[(partition*len(demand)+r)*T+start:]
		for t, u := range usage {
			row[t] += float64(float64(tasks*d) * u)
		}
	}
}

// spread divides the gang of an option that starts now over its partitions, as far as amounts are left in all slots.
func (m *model) spread(left []float64, o *solver.Option) ([]solver.Split, bool) {
	var split []solver.Split
	T, rest := m.problem.Slots, o.Count
	for _, x := range o.Partitions {
		fit := rest
		for r, d := range o.Demand {
			if d == 0 {
				continue
			}
			row := left[(x*len(o.Demand)+r)*T:]
			for t, u := range o.Usage {
				if need := float64(d * u); need > 0 && fit > 0 {
					fit = min(fit, tasksIn(row[t]+float64(solver.Tolerance/2*need), need))
				}
			}
		}
		if fit > 0 {
			split = append(split, solver.Split{Partition: x, Count: float64(fit)})
		}
		if rest -= fit; rest == 0 {
			return split, true
		}
	}
	return nil, false
}
