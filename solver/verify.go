package solver

import (
	"fmt"
	"math"
	"slices"
)

// Tolerance is the relative tolerance of capacity rows and task counts: a row may be exceeded by Tolerance·max(1,
// capacity).
const Tolerance = 1e-6

// Integral reports whether option o's split must be in whole tasks under s.
func (s SplitRule) Integral(o *Option) bool {
	return s == SplitsInteger || (s == SplitsNow && o.Start == 0)
}

// Verify checks sol's plan against p with arithmetic of its own. Every chosen job and option must exist. Every split
// must use the option's partitions, must not be negative, must be whole where splits requires it, and must add up to
// the gang. Every preempted job must be running. No capacity row may be exceeded, nor may the jobs of any
// priority and below exceed what they may take of it. The error is [ErrInfeasible] and says
// what is wrong. Objective, bound and stop are not checked. p must be valid.
func Verify(p *Problem, sol *Solution, splits SplitRule) error {
	if sol == nil {
		return fmt.Errorf("%w: there is none", ErrInfeasible)
	}
	_, err := verify(p, sol, splits)
	return err
}

// Objective is the value of sol's plan: the values of chosen options less the costs of preempted jobs, added in problem
// order. Unknown ids count nothing.
func Objective(p *Problem, sol *Solution) float64 {
	sum := 0.0
	for j := range p.Jobs {
		c, ok := sol.Choice[p.Jobs[j].ID]
		if ok && c.Option >= 0 && c.Option < len(p.Jobs[j].Options) {
			sum += p.Jobs[j].Options[c.Option].Value
		}
	}
	if len(sol.Preempt) == 0 {
		return sum
	}
	preempted := make(map[string]bool, len(sol.Preempt))
	for _, id := range sol.Preempt {
		preempted[id] = true
	}
	for m := range p.Running {
		if preempted[p.Running[m].ID] {
			sum -= p.Running[m].PreemptCost
		}
	}
	return sum
}

// rowUse accumulates use and capacity per row (partition, resource, slot).
type rowUse struct {
	p        *Problem
	use, cap []float64
}

func newRowUse(p *Problem) *rowUse {
	n := len(p.Partitions) * len(p.Resources) * p.Slots
	buf := make([]float64, 2*n)
	u := &rowUse{p: p, use: buf[:n], cap: buf[n:]}
	i := 0
	for _, byResource := range p.Capacity {
		for _, bySlot := range byResource {
			i += copy(u.cap[i:], bySlot)
		}
	}
	return u
}

func (u *rowUse) add(to []float64, x int, demand, usage []float64, start int, count float64) {
	for r, d := range demand {
		if d == 0 {
			continue
		}
		row := (x*len(u.p.Resources)+r)*u.p.Slots + start
		for t, pr := range usage {
			to[row+t] += float64(count * d * pr)
		}
	}
}

func (u *rowUse) check() error {
	for i, use := range u.use {
		if use > u.cap[i]+float64(Tolerance*math.Max(1, u.cap[i])) {
			t := i % u.p.Slots
			r := i / u.p.Slots % len(u.p.Resources)
			x := i / u.p.Slots / len(u.p.Resources)
			return fmt.Errorf("%w: partition %d (%s), resource %s, slot %d: uses %g of %g",
				ErrInfeasible, x, u.p.Partitions[x].Name, u.p.Resources[r], t, use, u.cap[i])
		}
	}
	return nil
}

// verify checks sol and returns its preempted jobs in problem order.
func verify(p *Problem, sol *Solution, splits SplitRule) ([]string, error) {
	rows := newRowUse(p)
	found := 0
	for j := range p.Jobs {
		c, ok := sol.Choice[p.Jobs[j].ID]
		if !ok {
			continue
		}
		found++
		if err := rows.addChoice(&p.Jobs[j], c, splits); err != nil {
			return nil, err
		}
	}
	if found != len(sol.Choice) {
		return nil, fmt.Errorf("%w: choice names %d jobs that the problem has not", ErrInfeasible, len(sol.Choice)-found)
	}
	ordered, err := rows.addPreempt(sol.Preempt)
	if err != nil {
		return nil, err
	}
	if err := rows.check(); err != nil {
		return nil, err
	}
	return ordered, checkPriorities(p, sol)
}

// checkPriorities checks that no job takes room of preempted jobs that is not for its priority: that the jobs up to
// each priority fit into what is free and what these jobs may take. sol is feasible but for that.
func checkPriorities(p *Problem, sol *Solution) error {
	highest := math.MinInt // of the preempted jobs' least
	for m := range p.Running {
		if at := p.Running[m].MinPriority; at > highest && slices.Contains(sol.Preempt, p.Running[m].ID) {
			highest = at
		}
	}
	checked := map[int]bool{}
	for j := range p.Jobs {
		at := p.Jobs[j].Priority
		if _, ok := sol.Choice[p.Jobs[j].ID]; !ok || at >= highest || checked[at] {
			continue
		}
		checked[at] = true
		if err := checkPriority(p, sol, at); err != nil {
			return fmt.Errorf("%w (jobs of priority %d and below)", err, at)
		}
	}
	return nil
}

// checkPriority checks the rows for the jobs up to one priority.
func checkPriority(p *Problem, sol *Solution, priority int) error {
	rows := newRowUse(p)
	for j := range p.Jobs {
		c, ok := sol.Choice[p.Jobs[j].ID]
		if !ok || p.Jobs[j].Priority > priority {
			continue
		}
		o := &p.Jobs[j].Options[c.Option]
		for _, a := range c.Split {
			rows.add(rows.use, a.Partition, o.Demand, o.Usage, o.Start, a.Count)
		}
	}
	for m := range p.Running {
		run := &p.Running[m]
		if run.MinPriority > priority || !slices.Contains(sol.Preempt, run.ID) {
			continue
		}
		for _, a := range run.Alloc {
			rows.add(rows.cap, a.Partition, run.Demand, run.Usage, 0, float64(a.Count))
		}
	}
	return rows.check()
}

func (u *rowUse) addChoice(job *Job, c Choice, splits SplitRule) error {
	if c.Option < 0 || c.Option >= len(job.Options) {
		return fmt.Errorf("%w: job %q: option %d is not in [0, %d)", ErrInfeasible, job.ID, c.Option, len(job.Options))
	}
	o := &job.Options[c.Option]
	integral := splits.Integral(o)
	sum := 0.0
	for i, a := range c.Split {
		switch {
		case !slices.Contains(o.Partitions, a.Partition):
			return fmt.Errorf("%w: job %q: split[%d].partition %d is not one of option %d's", ErrInfeasible, job.ID, i,
				a.Partition, c.Option)
		case !(a.Count >= 0) || math.IsInf(a.Count, 0):
			return fmt.Errorf("%w: job %q: split[%d].count %v is not a number >= 0", ErrInfeasible, job.ID, i, a.Count)
		case integral && math.Abs(a.Count-math.Round(a.Count)) > Tolerance:
			return fmt.Errorf("%w: job %q: split[%d].count %v is not whole", ErrInfeasible, job.ID, i, a.Count)
		}
		for _, b := range c.Split[:i] {
			if b.Partition == a.Partition {
				return fmt.Errorf("%w: job %q: split lists partition %d twice", ErrInfeasible, job.ID, a.Partition)
			}
		}
		sum += a.Count
		u.add(u.use, a.Partition, o.Demand, o.Usage, o.Start, a.Count)
	}
	if math.Abs(sum-float64(o.Count)) > Tolerance*math.Max(1, float64(o.Count)) {
		return fmt.Errorf("%w: job %q: split adds up to %g tasks, the gang has %d", ErrInfeasible, job.ID, sum, o.Count)
	}
	return nil
}

func (u *rowUse) addPreempt(ids []string) ([]string, error) {
	if len(ids) == 0 {
		return []string{}, nil
	}
	listed := make(map[string]bool, len(ids))
	for _, id := range ids {
		if listed[id] {
			return nil, fmt.Errorf("%w: preempt lists %q twice", ErrInfeasible, id)
		}
		listed[id] = true
	}
	ordered := make([]string, 0, len(ids))
	for m := range u.p.Running {
		run := &u.p.Running[m]
		if !listed[run.ID] {
			continue
		}
		ordered = append(ordered, run.ID)
		for _, a := range run.Alloc {
			u.add(u.cap, a.Partition, run.Demand, run.Usage, 0, float64(a.Count))
		}
	}
	if len(ordered) != len(ids) {
		return nil, fmt.Errorf("%w: preempt names %d jobs that are not running", ErrInfeasible, len(ids)-len(ordered))
	}
	return ordered, nil
}
