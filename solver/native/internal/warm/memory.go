// Package warm hands on what a solve has learned to the next one (warm starts): Memory is what is kept, Recall fits it
// to the problem at hand. All of it is advice, and none of it is trusted.
package warm

import (
	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/internal/gap"
	"github.com/hedgesched/hedge/solver/internal/pack"
	"github.com/hedgesched/hedge/solver/native/internal/relax"
)

// Memory is what a solve leaves to the next one, in the problem's own terms, as rows, jobs and options are numbered
// anew every time. It is not changed once it is made, and shares nothing with the problem, which callers make anew in
// the same place. All of it is advice: prices prove a bound by being evaluated, columns are taken as splits of
// options that are there, and a plan as far as it fits.
//
// Jobs are known again by their ids, options by set, start (moved by the slots that have passed) and count,
// partitions by name, in their order where names are the same. The last relaxation's prices take the place of the
// ascent's, unless its first steps better them by much. Plans are made and bettered by them before the relaxation,
// for as long as that promises to reach the gap asked for sooner; and if the last relaxation's bound was within that
// gap of the plan found then, plans come before cuts.
type Memory struct {
	root *Root // nil if there was no relaxation
	age  int   // how many slots older than the plan the root is
	plan *plan
}

// Root is what is left of a root relaxation: prices and columns. The basis is no part of it: capacities move a little
// from cycle to cycle, which leaves it infeasible in half of the rows, and to mend it takes longer than to go from a
// plan.
type Root struct {
	parts, resources []string
	slots            int
	slotSeconds      float64
	prices           []float64 // of each row, per unit of the resource
	jobs             []pastJob
	columns          []pastColumn
	splits           []solver.Split // partitions by their numbers then
	work             int64          // ops that it took
	value, rest      float64        // its bound, and how far that is from the best plan found, relatively
}

// plan is how the gangs of the best plan were split, and who was preempted for it. Which options jobs take is the
// hint's to say.
type plan struct {
	parts     []string
	jobs      []string
	columns   []pastColumn // one a job
	splits    []solver.Split
	preempted []string
}

// pastJob is a job whose columns are columns[lo:hi].
type pastJob struct {
	id     string
	lo, hi int32
}

// pastColumn is an option, as the next problem can know it again, with a split, splits[lo:hi].
type pastColumn struct {
	set          string
	start, count int
	lo, hi       int32
}

// NewMemory hands on the best plan, and the relaxation r. Where r is nil, as none was begun, that is the relaxation of
// the last memory, if it still fits: the rough prices of an ascent lead the next one astray as often as they help.
func (q *Recall) NewMemory(r *Root) *Memory {
	m := &Memory{root: r, plan: planned(q.in, &q.known.Best)}
	if r != nil {
		r.rest = gap.Of(r.value, q.known.Top())
	} else if q.fits() {
		m.root, m.age = q.past, q.shift
	}
	return m
}

// Of is the memory of a relaxation alone.
func Of(r *Root) *Memory { return &Memory{root: r} }

// Note takes down the prices that have proven the least bound and the columns of the program m, which took that many
// ops to solve.
func (q *Recall) Note(m *relax.Master, took int64) *Root {
	in, p := q.in, q.in.P
	past := &Root{
		parts: names(p), resources: in.Names(), slots: in.T, slotSeconds: p.SlotSeconds,
		prices: make([]float64, in.Rows),
	}
	for row, l := range q.dual.Best[:in.Rows] {
		past.prices[row] = l * in.Scale(row/in.T%in.R)
	}
	past.take(m)
	past.work, past.value = took, q.dual.Bound
	q.budget.Spend(int64(in.Rows + 8*len(past.columns)))
	return past
}

// names are the partitions' names.
func names(p *solver.Problem) []string {
	list := make([]string, len(p.Partitions))
	for x := range list {
		list[x] = p.Partitions[x].Name
	}
	return list
}

// planned takes down the plan best.
func planned(in *pack.Instance, best *pack.State) *plan {
	problem := in.P
	past := &plan{parts: names(problem)}
	for j, o := range best.Choice {
		if o < 0 {
			continue
		}
		past.jobs = append(past.jobs, problem.Jobs[j].ID)
		var c pastColumn
		c, past.splits = column(in, o, best.Split[j*in.MaxParts:], past.splits)
		past.columns = append(past.columns, c)
	}
	for k, on := range best.Preempted {
		if on {
			past.preempted = append(past.preempted, problem.Running[k].ID)
		}
	}
	return past
}

// take takes down the program's columns.
func (past *Root) take(m *relax.Master) {
	n := len(m.Set) - m.Stay
	past.columns, past.splits = make([]pastColumn, 0, n), make([]solver.Split, 0, 2*n)
	past.jobs = make([]pastJob, len(m.In.P.Jobs))
	for j := range past.jobs {
		lo := int32(len(past.columns))
		for c := m.Head[j]; c >= 0; c = m.Next[c] {
			if m.Opt[c] >= 0 && m.Price(c) > m.Dual(j)-float64(keepWithin*m.Worth[c]) {
				var kept pastColumn
				kept, past.splits = column(m.In, int(m.Opt[c]), m.SplitOf(c), past.splits)
				past.columns = append(past.columns, kept)
			}
		}
		past.jobs[j] = pastJob{id: m.In.P.Jobs[j].ID, lo: lo, hi: int32(len(past.columns))}
	}
}

// keepWithin is how much of its value a column may be short of paying to be kept.
const keepWithin = 0.02

// column takes down option o with a split, which is appended to splits.
func column(in *pack.Instance, o int, split []float64, splits []solver.Split) (pastColumn, []solver.Split) {
	opt := &in.Opts[o]
	lo := int32(len(splits))
	for i, x := range in.Part[opt.P0:opt.P1] {
		if split[i] > 0 {
			splits = append(splits, solver.Split{Partition: x, Count: split[i]})
		}
	}
	option := &in.P.Jobs[opt.Job].Options[opt.Index]
	return pastColumn{set: option.Set, start: option.Start, count: option.Count, lo: lo, hi: int32(len(splits))}, splits
}
