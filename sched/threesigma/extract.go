package threesigma

import (
	"cmp"
	"math"
	"slices"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/solver"
)

// pick is the option that the solver chose for one job. Its option is nil if the solver chose none.
type pick struct {
	row    int // in model.rows
	option *solver.Option
	origin origin
	split  []solver.Split
}

// extraction turns a solution into decisions on concrete nodes.
type extraction struct {
	m   *model
	sol *solver.Solution
	// victims are indexes into problem.Running that the solver preempts, cheapest first.
	victims   []int
	preempted []bool
	// preemptions are the decisions to preempt so far. Starts and picks are indexed by pending job.
	preemptions []sched.Decision
	starts      [][]sched.NodeTasks
	picks       []pick
	// failed is the value of the starts for which nodes had no room.
	failed float64
}

// extract finds nodes for the jobs that the solver starts now, in order of priority. Of the jobs that the solver
// preempts it preempts only those whose nodes a start of higher priority needs.
func (m *model) extract(sol *solver.Solution) *extraction {
	x := &extraction{
		m: m, sol: sol, preempted: make([]bool, len(m.problem.Running)),
		starts: make([][]sched.NodeTasks, len(m.jobs)), picks: make([]pick, len(m.jobs)),
	}
	m.policy.placer.Reset(m.snap)
	var now []*pick
	for j := range m.rows {
		c, ok := sol.Choice[m.problem.Jobs[j].ID]
		if !ok {
			continue
		}
		from := m.origins[m.rows[j].from+c.Option]
		if from.void {
			continue
		}
		p := &x.picks[m.rows[j].pending]
		*p = pick{row: j, option: &m.problem.Jobs[j].Options[c.Option], origin: from, split: c.Split}
		if from.start == 0 {
			now = append(now, p)
		}
	}
	x.candidates()
	slices.SortStableFunc(now, func(a, b *pick) int {
		return cmp.Or(cmp.Compare(x.job(b).job.Priority, x.job(a).job.Priority), cmp.Compare(b.option.Value, a.option.Value))
	})
	for _, p := range now {
		nodes, ok := x.start(p)
		if !ok {
			x.job(p).stuck, x.failed = x.fragmented(p), x.failed+p.option.Value
			*p = pick{}
			continue
		}
		x.starts[m.rows[p.row].pending] = nodes
	}
	return x
}

// job is the job of a pick.
func (x *extraction) job(p *pick) *known { return x.m.jobs[x.m.rows[p.row].pending] }

// site is the set of nodes of a pick.
func (x *extraction) site(p *pick) *sched.Site {
	return x.job(p).choice(p.origin.level).Site
}

// candidates lists what the solver preempts, cheapest first.
func (x *extraction) candidates() {
	for v := range x.m.problem.Running {
		if slices.Contains(x.sol.Preempt, x.m.problem.Running[v].ID) {
			x.victims = append(x.victims, v)
		}
	}
	slices.SortStableFunc(x.victims, func(a, b int) int {
		return cmp.Compare(x.m.problem.Running[a].PreemptCost, x.m.problem.Running[b].PreemptCost)
	})
}

// start finds nodes for the gang. It tries the partitions to which the solver assigned its tasks, then the whole set,
// then preempts victims one by one until the gang fits.
func (x *extraction) start(p *pick) ([]sched.NodeTasks, bool) {
	if nodes, ok := x.split(p); ok {
		return nodes, true
	}
	placer, at, tasks := &x.m.policy.placer, x.site(p), p.option.Count
	if nodes, ok := placer.Place(at.Demand, at.Nodes, tasks); ok {
		return nodes, true
	}
	return x.clear(p, at)
}

// clear makes room for the gang by preempting useful victims, the cheapest first, until the gang fits. If the gang
// would not fit even without all of them, none is preempted.
func (x *extraction) clear(p *pick, at *sched.Site) ([]sched.NodeTasks, bool) {
	placer, useful := &x.m.policy.placer, x.useful(p)
	for _, v := range useful {
		placer.Release(x.victim(v))
	}
	enough := len(useful) > 0 && placer.FitsAtLeast(at.Demand, at.Nodes, p.option.Count)
	for _, v := range useful {
		placer.Keep(x.victim(v))
	}
	if !enough {
		return nil, false
	}
	for _, v := range useful {
		placer.Release(x.victim(v))
		x.preempt(v, p)
		if nodes, ok := placer.Place(at.Demand, at.Nodes, p.option.Count); ok {
			return nodes, true
		}
	}
	return nil, false // not reached: the last release made room
}

// split places the gang in the partitions to which the solver assigned its tasks, if all tasks fit there.
func (x *extraction) split(p *pick) ([]sched.NodeTasks, bool) {
	if !whole(p) {
		return nil, false
	}
	placer, demand := &x.m.policy.placer, x.site(p).Demand
	var nodes []sched.NodeTasks
	for _, s := range p.split {
		tasks := int(math.Round(s.Count))
		if tasks == 0 {
			continue
		}
		got, ok := placer.Place(demand, x.m.parts.Nodes(s.Partition), tasks)
		if !ok {
			placer.Give(nodes, demand)
			return nil, false
		}
		if nodes == nil {
			nodes = got
		} else {
			nodes = append(nodes, got...)
		}
	}
	return nodes, len(nodes) > 0
}

// whole tells whether the counts of the split, rounded, add up to the gang. They may be fractions if [solver.SplitRule]
// allows it. Even whole counts may be off by [solver.Tolerance].
func whole(p *pick) bool {
	tasks := 0.0
	for _, s := range p.split {
		tasks += math.Round(s.Count)
	}
	return tasks == float64(p.option.Count)
}

// victim is the running job behind the problem's v-th.
func (x *extraction) victim(v int) *sched.Running { return &x.m.snap.Running[x.m.victims[v]] }

// useful are the victims whose preemption could help this start, the cheapest first. They have lower priority and run
// in its partitions.
func (x *extraction) useful(p *pick) []int {
	var vs []int
	for _, v := range x.victims {
		if x.preempted[v] || x.victim(v).Job.Priority >= x.job(p).job.Priority {
			continue
		}
		if slices.ContainsFunc(x.m.problem.Running[v].Alloc, func(a solver.Alloc) bool {
			return slices.Contains(p.option.Partitions, a.Partition)
		}) {
			vs = append(vs, v)
		}
	}
	return vs
}

// fragmented tells whether the nodes together have enough free resources for the gang. If not, a start of
// higher priority has taken free nodes where the plan has it take those of a running job.
func (x *extraction) fragmented(p *pick) bool {
	at, free := x.site(p), x.m.policy.placer.Free()
	sum := make([]float64, len(at.Demand))
	for _, n := range at.Nodes {
		for r := range sum {
			sum[r] += free[int(n)*len(sum)+r]
		}
	}
	return tasksOn(sum, at.Demand) >= p.option.Count
}

// tasksOn is for how many tasks of that demand an amount of each resource is enough, at most [maxTasks].
func tasksOn(amount, demand []float64) int {
	n := maxTasks
	for r, d := range demand {
		if d > 0 {
			n = min(n, tasksIn(amount[r], d))
		}
	}
	return n
}

// tasksIn is tasksOn for one resource, of which each task needs more than 0.
func tasksIn(amount, each float64) int {
	// The limits come before the conversion, as the ratio may be larger than any int.
	return int(max(0, min(amount/each+1e-9, maxTasks)))
}

const maxTasks = 1 << 30

// preempt adds the decision to preempt a victim. Its nodes must have been released to the placer.
func (x *extraction) preempt(v int, p *pick) {
	x.preempted[v] = true
	x.preemptions = append(x.preemptions, sched.Decision{
		Job: x.m.problem.Running[v].ID, Kind: sched.Preempt,
		Reason: sched.Reason{
			Code: sched.ReasonPreempted, For: x.job(p).job.ID,
			Value: x.m.problem.Running[v].PreemptCost, Probability: sched.UnknownProbability,
		},
	})
}
