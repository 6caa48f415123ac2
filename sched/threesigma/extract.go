package threesigma

import (
	"cmp"
	"slices"
	"time"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/solver"
)

// pick is the solver's answer for one of the problem's jobs.
type pick struct {
	row    int // in builder.rows
	chosen solver.Choice
	option *solver.Option
	origin origin
}

// extraction turns a solution into a plan on concrete nodes.
type extraction struct {
	*builder
	plan *sched.Plan
	// victims are indexes into problem.Running that the solver preempts, cheapest first.
	victims   []int
	preempted []bool
	starts    map[int][]sched.NodeTasks // by pending index
	picks     map[int]pick              // by pending index
}

// extract fills the plan's decisions: preemptions first, then every pending job.
func (b *builder) extract(plan *sched.Plan, sol *solver.Solution) {
	e := &extraction{builder: b, plan: plan, starts: map[int][]sched.NodeTasks{}, picks: map[int]pick{}}
	if sol != nil {
		e.place(sol)
	}
	plan.Decisions = slices.Grow(plan.Decisions, len(b.snap.Pending))
	ahead := e.ahead()
	for i := range b.snap.Pending {
		plan.Decisions = append(plan.Decisions, e.decide(i, ahead))
	}
}

// place starts what the solver starts now, in order of priority, and preempts only what a
// start of higher priority turns out to need.
func (e *extraction) place(sol *solver.Solution) {
	if e.placer == nil {
		e.placer = sched.NewPlacer(e.snap)
	} else {
		e.placer.Reset(e.snap)
	}
	var now []pick
	for j := range e.problem.Jobs {
		c, ok := sol.Choice[e.problem.Jobs[j].ID]
		if !ok {
			continue
		}
		p := pick{row: j, chosen: c, option: &e.problem.Jobs[j].Options[c.Option], origin: e.origins[j][c.Option]}
		e.picks[e.rows[j]] = p
		if p.origin.start == 0 {
			now = append(now, p)
		}
	}
	e.candidates(sol)
	slices.SortStableFunc(now, func(a, b pick) int {
		return cmp.Or(cmp.Compare(e.priority(b), e.priority(a)), cmp.Compare(b.option.Value, a.option.Value))
	})
	for _, p := range now {
		if nodes, ok := e.start(p); ok {
			e.starts[e.rows[p.row]] = nodes
		}
	}
}

func (e *extraction) priority(p pick) int { return e.snap.Pending[e.rows[p.row]].Job.Priority }

// candidates lists what the solver preempts, cheapest first.
func (e *extraction) candidates(sol *solver.Solution) {
	e.preempted = make([]bool, len(e.problem.Running))
	for v := range e.problem.Running {
		if slices.Contains(sol.Preempt, e.problem.Running[v].ID) {
			e.victims = append(e.victims, v)
		}
	}
	slices.SortStableFunc(e.victims, func(a, b int) int {
		return cmp.Compare(e.problem.Running[a].PreemptCost, e.problem.Running[b].PreemptCost)
	})
}

// start finds nodes for the gang, as the solver split it, else anywhere in its set; if that
// is not enough, it preempts one victim after the other until the gang fits.
func (e *extraction) start(p pick) ([]sched.NodeTasks, bool) {
	demand, members := p.option.Demand, e.members(p)
	if nodes, ok := e.split(p, demand); ok {
		return nodes, true
	}
	if nodes, ok := e.placer.Place(demand, members, p.option.Count); ok {
		return nodes, true
	}
	useful := e.useful(e.priority(p), p.option.Partitions)
	if e.placer.Fits(demand, members)+e.gain(useful, demand) < p.option.Count {
		return nil, false
	}
	for n, v := range useful {
		e.placer.Release(e.victim(v))
		nodes, ok := e.placer.Place(demand, members, p.option.Count)
		if !ok {
			continue
		}
		for _, v := range useful[:n+1] {
			e.preempt(v, p)
		}
		return nodes, true
	}
	// All of them together are not enough on any node: nobody is preempted for nothing.
	for _, v := range useful {
		e.placer.Take(e.victim(v).Nodes, e.problem.Running[v].Demand)
	}
	return nil, false
}

// victim is the running job behind the problem's v-th.
func (e *extraction) victim(v int) *sched.Running {
	return &e.snap.Running[e.builder.victims[v]]
}

// useful are the victims, cheapest first, whose preemption could help a start of that
// priority on those partitions.
func (e *extraction) useful(prio int, parts []int) []int {
	var vs []int
	for _, v := range e.victims {
		if e.preempted[v] || e.victim(v).Job.Priority >= prio {
			continue
		}
		if slices.ContainsFunc(e.problem.Running[v].Alloc, func(a solver.Split) bool { return slices.Contains(parts, a.Partition) }) {
			vs = append(vs, v)
		}
	}
	return vs
}

// gain estimates how many tasks of the demand fit where the victims run.
func (e *extraction) gain(victims []int, demand []float64) int {
	n := 0
	for _, v := range victims {
		r := &e.problem.Running[v]
		held := make([]float64, len(r.Demand))
		for _, a := range r.Alloc {
			for i, d := range r.Demand {
				held[i] += d * float64(a.Count)
			}
		}
		n += tasksOn(held, demand)
	}
	return n
}

// split places the gang as the solver split it, if all of it fits.
func (e *extraction) split(p pick, demand []float64) ([]sched.NodeTasks, bool) {
	for _, s := range p.chosen.Split {
		if e.placer.Fits(demand, e.parts.Nodes(s.Partition)) < int(s.Count) {
			return nil, false
		}
	}
	var nodes []sched.NodeTasks
	for _, s := range p.chosen.Split {
		if s.Count < 1 {
			continue
		}
		// Partitions are disjoint, so what fitted above fits still.
		got, _ := e.placer.Place(demand, e.parts.Nodes(s.Partition), int(s.Count))
		nodes = append(nodes, got...)
	}
	return nodes, len(nodes) > 0
}

// members are the nodes of all the option's partitions.
func (e *extraction) members(p pick) []int32 {
	var all []int32
	for _, x := range p.option.Partitions {
		all = append(all, e.parts.Nodes(x)...)
	}
	return all
}

// preempt decides the preemption of a victim whose nodes the placer already has.
func (e *extraction) preempt(v int, p pick) {
	e.preempted[v] = true
	e.plan.Decisions = append(e.plan.Decisions, sched.Decision{
		Job: e.problem.Running[v].ID, Kind: sched.Preempt,
		Reason: sched.Reason{
			Code: sched.ReasonPreempted, For: e.problem.Jobs[p.row].ID,
			Value: e.problem.Running[v].PreemptCost, Probability: -1,
		},
	})
}

// maxAhead bounds the jobs ahead that a reason names.
const maxAhead = 5

// ahead names the first jobs that start now, which a deferred job has to wait for.
func (e *extraction) ahead() []string {
	var ids []string
	for i := range e.snap.Pending {
		if _, ok := e.starts[i]; ok && len(ids) < maxAhead {
			ids = append(ids, e.snap.Pending[i].Job.ID)
		}
	}
	return ids
}

// decide writes what happens to pending job i and why.
func (e *extraction) decide(i int, ahead []string) sched.Decision {
	w := &e.snap.Pending[i]
	d := sched.Decision{Job: w.Job.ID, Reason: sched.Reason{Probability: -1}}
	k := e.jobs[w.Job.ID]
	p, chosen := e.picks[i]
	if w.Job.Deadline > 0 {
		waited := e.snap.Now.Sub(w.Job.Submitted).Seconds()
		at := p.origin.start
		left := k.value.deadline - waited - float64(at)*e.problem.SlotSeconds
		d.Reason.Probability = k.runtimes.on(p.origin.slowed).CDF(left)
	}
	if nodes, ok := e.starts[i]; ok {
		d.Kind, d.Nodes, d.Start = sched.Start, nodes, e.snap.Now
		d.Reason.Code, d.Reason.Set, d.Reason.Value = sched.ReasonPlaced, p.option.Set, p.option.Value
		delete(e.planned, w.Job.ID)
		return d
	}
	delete(e.planned, w.Job.ID)
	if e.absent[i] != "" {
		d.Reason.Code = e.absent[i]
		return d
	}
	d.Reason.Code, d.Reason.Ahead = sched.ReasonDeferred, ahead
	if chosen {
		d.Start = e.snap.Now.Add(time.Duration(p.origin.start) * e.cfg.Slot)
		d.Reason.Set, d.Reason.Slot, d.Reason.Value = p.option.Set, p.origin.start, p.option.Value
		d.Reason.Partition = e.tightest(p.option.Partitions)
		e.planned[w.Job.ID] = planned{start: d.Start, slowed: p.origin.slowed}
	}
	return d
}

// tightest is the partition with the least capacity now, the one that binds.
func (e *extraction) tightest(parts []int) string {
	best, at := -1.0, ""
	for _, x := range parts {
		free := 0.0
		for r := range e.problem.Capacity[x] {
			free += e.problem.Capacity[x][r][0]
		}
		if best < 0 || free < best {
			best, at = free, e.problem.Partitions[x].Name
		}
	}
	return at
}
