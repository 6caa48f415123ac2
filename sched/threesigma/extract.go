package threesigma

import (
	"cmp"
	"math"
	"slices"
	"time"

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
	// failed are the rows of starts that had no room on single nodes.
	failed []int
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
			x.failed = append(x.failed, p.row)
			x.job(p).stuck = stuck{is: true, fragmented: x.fragmented(p)}
			continue
		}
		x.starts[m.rows[p.row].pending] = nodes
	}
	return x
}

// job is the job of a pick.
func (x *extraction) job(p *pick) *known { return x.m.jobs[x.m.rows[p.row].pending] }

// place is the set of nodes of a pick.
func (x *extraction) place(p *pick) *place {
	k := x.job(p)
	for i := range k.choices {
		if k.choices[i].slowed == p.origin.slowed {
			return k.choices[i].place
		}
	}
	return nil // not reached: the option was made from a choice
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
	placer, at, tasks := &x.m.policy.placer, x.place(p), p.option.Count
	if nodes, ok := placer.Place(at.demand, at.nodes, tasks); ok {
		return nodes, true
	}
	return x.clear(p, at)
}

// clear makes room for the gang by preempting useful victims, the cheapest first, until the gang fits. If the gang would
// not fit even without all of them, none is preempted.
func (x *extraction) clear(p *pick, at *place) ([]sched.NodeTasks, bool) {
	placer, useful := &x.m.policy.placer, x.useful(p)
	for _, v := range useful {
		placer.Release(x.victim(v))
	}
	enough := len(useful) > 0 && placer.FitsAtLeast(at.demand, at.nodes, p.option.Count)
	for _, v := range useful {
		placer.Take(x.victim(v).Nodes, x.m.runs[x.m.victims[v]].demand)
	}
	if !enough {
		return nil, false
	}
	for _, v := range useful {
		placer.Release(x.victim(v))
		x.preempt(v, p)
		if nodes, ok := placer.Place(at.demand, at.nodes, p.option.Count); ok {
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
	placer, demand := &x.m.policy.placer, x.place(p).demand
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

// fragmented tells whether the nodes together have enough free resources for the gang.
func (x *extraction) fragmented(p *pick) bool {
	at, free := x.place(p), x.m.policy.placer.Free()
	sum := make([]float64, len(at.demand))
	for _, n := range at.nodes {
		for r := range sum {
			sum[r] += free[int(n)*len(sum)+r]
		}
	}
	return tasksOn(sum, at.demand) >= p.option.Count
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

// plan is the preemptions, then a decision for every pending job.
func (x *extraction) plan(stats sched.Stats) *sched.Plan {
	plan := &sched.Plan{Stats: stats}
	plan.Decisions = slices.Grow(x.preemptions, len(x.m.jobs))
	ahead := x.ahead()
	for i := range x.m.jobs {
		plan.Decisions = append(plan.Decisions, x.decide(i, ahead))
	}
	return plan
}

// maxAhead is how many jobs a reason names in [sched.Reason.Ahead].
const maxAhead = 5

// ahead names the first jobs that start now. Deferred jobs wait for them.
func (x *extraction) ahead() []string {
	var ids []string
	for i, nodes := range x.starts {
		if nodes != nil && len(ids) < maxAhead {
			ids = append(ids, x.m.jobs[i].job.ID)
		}
	}
	return ids
}

// decide is the decision for pending job i, with its reason. A planned start is remembered for the next cycle.
func (x *extraction) decide(i int, ahead []string) sched.Decision {
	m, k, p := x.m, x.m.jobs[i], &x.picks[i]
	d := sched.Decision{Job: k.job.ID, Reason: sched.Reason{Probability: x.chance(k, p)}}
	k.planned = planned{}
	if x.starts[i] != nil {
		d.Kind, d.Nodes, d.Start = sched.Start, x.starts[i], m.snap.Now
		d.Reason.Code, d.Reason.Set, d.Reason.Value = sched.ReasonPlaced, p.option.Set, p.option.Value
		k.release()
		return d
	}
	d.Reason.Code = x.why(k)
	if d.Reason.Code == sched.ReasonDeferred {
		d.Reason.Ahead = ahead
	}
	if p.option != nil && p.origin.start > 0 {
		d.Start = m.snap.Now.Add(time.Duration(p.origin.start) * m.policy.cfg.Slot)
		d.Reason.Set, d.Reason.Slot, d.Reason.Value = p.option.Set, p.origin.start, p.option.Value
		d.Reason.Partition = x.tightest(p.option)
		k.planned = planned{start: d.Start, slowed: p.origin.slowed}
	}
	return d
}

// chance is the probability of meeting the deadline with the start picked or, if there is none, with a start now.
func (x *extraction) chance(k *known, p *pick) float64 {
	if k.job.Deadline <= 0 || k.fault != nil {
		return sched.UnknownProbability
	}
	waited := x.m.snap.Now.Sub(k.job.Submitted).Seconds()
	left := k.value.deadline - waited - float64(float64(p.origin.start)*x.m.problem.SlotSeconds)
	chance := k.runtimes.on(p.origin.slowed).CDF(left)
	if math.IsNaN(chance) {
		return sched.UnknownProbability
	}
	return chance
}

// why is the reason for which a job does not start.
func (x *extraction) why(k *known) sched.ReasonCode {
	switch {
	case k.absent != "":
		return k.absent
	case k.misbehaved:
		return ReasonInvalid
	case k.worthless:
		return sched.ReasonNoUtility
	case k.stuck.is && k.stuck.fragmented:
		return ReasonFragmented
	case len(x.sol.Choice) > 0 || k.stuck.is:
		return sched.ReasonDeferred
	}
	switch x.sol.Stop {
	case solver.StopOptimal, solver.StopGap:
		return sched.ReasonDeferred
	}
	return sched.ReasonSolverStopped
}

// tightest names the option's partition that has room for the fewest of its tasks now.
func (x *extraction) tightest(o *solver.Option) string {
	pr := &x.m.problem
	best, at := 0, -1
	for _, part := range o.Partitions {
		fit := maxTasks
		for r, d := range o.Demand {
			if d > 0 {
				fit = min(fit, tasksIn(pr.Capacity[part][r][0], d))
			}
		}
		if at < 0 || fit < best {
			best, at = fit, part
		}
	}
	return pr.Partitions[at].Name
}
