package threesigma

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/utility"
)

// plan is the preemptions, then a decision for every pending job.
func (x *extraction) plan(stats sched.Stats) *sched.Plan {
	plan := &sched.Plan{Stats: stats}
	plan.Decisions = slices.Grow(x.preemptions, len(x.m.jobs))
	for i := range x.preemptions {
		delete(x.m.policy.told, x.preemptions[i].Job) // it does not finish
	}
	e := &explanation{extraction: x, of: map[*place]ahead{}}
	for i := range x.m.jobs {
		plan.Decisions = append(plan.Decisions, e.decide(i))
	}
	return plan
}

// explanation says why jobs do not start.
type explanation struct {
	*extraction
	began   bool
	of      map[*place]ahead // who holds what places lack now
	later   []later          // what is planned, by start
	rowOf   map[int]int      // of the problem, by pending job
	lacking []uint64         // scratch, by partition and resource
}

// ahead are those that hold the room that others wait for, and how many tasks fit beside them.
type ahead struct {
	names     []string
	more, fit int
}

// later is a start that is planned, and the slots in which it uses each resource of each partition.
type later struct {
	pending, start int
	uses           []uses
}

type uses struct {
	row   int // partition*resources + resource
	slots uint64
}

// decide is the decision for pending job i, with its reason. A planned start is remembered for the next cycle.
func (e *explanation) decide(i int) sched.Decision {
	m, k, p := e.m, e.m.jobs[i], &e.picks[i]
	d := sched.Decision{Job: k.job.ID, Reason: sched.Reason{Probability: sched.UnknownProbability, Obstacle: k.obstacle}}
	k.planned = planned{}
	if e.starts[i] != nil {
		d.Kind, d.Nodes, d.Start = sched.Start, e.starts[i], m.snap.Now
		d.Reason.Code, d.Reason.Set, d.Reason.Value = sched.ReasonPlaced, p.option.Set, p.option.Value
		if f, known := e.chance(k, p); known {
			d.Reason.Probability = m.policy.calibrator.tell(f)
			m.policy.tell(k.job, f)
		}
		k.release()
		return d
	}
	d.Reason.Code = e.why(k)
	if p.option != nil && p.origin.start > 0 {
		d.Start = m.snap.Now.Add(time.Duration(p.origin.start) * m.policy.cfg.Slot)
		d.Reason.Set, d.Reason.Slot, d.Reason.Value = p.option.Set, p.origin.start, p.option.Value
		d.Reason.Partition = e.tightest(p.option)
		if f, known := e.chance(k, p); known {
			d.Reason.Probability = m.policy.calibrator.tell(f)
		}
		k.planned = planned{start: d.Start, slowed: p.origin.slowed}
	}
	switch d.Reason.Code {
	case sched.ReasonDeferred, sched.ReasonSpent, sched.ReasonSolverStopped, ReasonFragmented:
		e.behind(i, &d.Reason)
	}
	return d
}

// chance is what the forecast says of meeting the deadline with the start picked, if it is known.
func (x *extraction) chance(k *known, p *pick) (f foretold, known bool) {
	if k.job.Deadline <= 0 || k.fault != nil {
		return f, false
	}
	passed := x.m.snap.Now.Sub(k.job.Submitted).Seconds() + float64(float64(p.origin.start)*x.m.problem.SlotSeconds)
	f = foretold{k.runtimes.on(p.origin.slowed).CDF(k.value.deadline - passed), passed / k.value.deadline}
	return f, !math.IsNaN(f.chance)
}

// why is the reason for which a job does not start.
func (x *extraction) why(k *known) sched.ReasonCode {
	switch {
	case k.absent != "":
		return k.absent
	case k.misbehaved:
		return ReasonInvalid
	case k.worthless && x.expired(k):
		return sched.ReasonSpent
	case k.worthless && !k.spent():
		return sched.ReasonNoUtility
	case k.stuck:
		return ReasonFragmented
	case len(x.sol.Choice) > 0 || k.worthless:
		return sched.ReasonDeferred
	}
	switch x.sol.Stop {
	case solver.StopOptimal, solver.StopGap:
		return sched.ReasonDeferred
	}
	return sched.ReasonSolverStopped
}

// expired tells whether the job would be worth nothing even if it completed now.
func (x *extraction) expired(k *known) bool {
	worth, err := utility.At(k.job.Worth(), x.m.snap.Now.Sub(k.job.Submitted).Seconds())
	return err == nil && worth <= 0
}

// behind names those that hold the room that pending job i needs: now and, if they are not many already, in the plan.
func (e *explanation) behind(i int, r *sched.Reason) {
	e.begin()
	k, p := e.m.jobs[i], &e.picks[i]
	if len(k.choices) == 0 {
		return
	}
	at := k.choices[len(k.choices)-1].place // the widest
	if p.option != nil {
		at = e.place(p)
	}
	now, known := e.of[at]
	if !known {
		now.fit = e.m.policy.placer.Fits(at.demand, at.nodes)
		now.names, now.more = e.m.policy.holders.Of(at.demand, at.nodes)
		e.of[at] = now
	}
	room := now.fit >= k.job.Tasks
	if !room {
		r.Behind(now.names, now.more)
	}
	if left := sched.MaxAhead - len(r.Ahead); left > 0 {
		r.Behind(e.before(i, room, left), 0)
	}
}

// begin gathers who holds what, when the first job asks.
func (e *explanation) begin() {
	if e.began {
		return
	}
	e.began = true
	m, holders := e.m, &e.m.policy.holders
	holders.Reset(m.snap, m.policy.placer.Free(), e.preemptions)
	for i, nodes := range e.starts {
		if nodes != nil {
			holders.Start(m.jobs[i].job, nodes)
		} else if p := &e.picks[i]; p.option != nil && p.origin.start > 0 {
			e.later = append(e.later, e.usesOf(i, p))
		}
	}
	slices.SortStableFunc(e.later, func(a, b later) int { return cmp.Compare(a.start, b.start) })
	m.left = e.leftOver()
	e.lacking = make([]uint64, m.parts.Len()*len(m.problem.Resources))
	e.rowOf = make(map[int]int, len(m.rows))
	for j := range m.rows {
		e.rowOf[m.rows[j].pending] = j
	}
}

// bit stands for a slot. Long windows share bits among slots.
func (m *model) bit(slot int) uint64 { return 1 << (uint(slot) * 64 / uint(max(64, m.problem.Slots))) }

// usesOf are the slots in which a planned start uses what.
func (e *explanation) usesOf(i int, p *pick) later {
	l := later{pending: i, start: p.origin.start}
	var slots uint64
	for t := range p.option.Usage {
		slots |= e.m.bit(p.origin.start + t)
	}
	for _, s := range p.split {
		for r, d := range p.option.Demand {
			if d > 0 && s.Count > 0 {
				l.uses = append(l.uses, uses{s.Partition*len(p.option.Demand) + r, slots})
			}
		}
	}
	return l
}

// before names at most most jobs whose planned starts use what job i would need to start sooner. Sooner is now if there is
// room now. Otherwise it is the slot before the one that is planned or, if none is, the last in which a start has a value.
func (e *explanation) before(i int, room bool, most int) []string {
	m, k, p := e.m, e.m.jobs[i], &e.picks[i]
	c, start := &k.choices[len(k.choices)-1], 0
	if p.option != nil {
		c = k.choice(p.origin.slowed)
	}
	switch {
	case room:
	case p.option != nil:
		start = max(0, p.origin.start-1)
	default:
		start = e.latest(i)
	}
	e.use(m.left, p, -1)
	e.lack(c, k.job.Tasks, start)
	e.use(m.left, p, 1)
	var names []string
	for _, l := range e.later {
		if l.pending != i && slices.ContainsFunc(l.uses, func(u uses) bool { return e.lacking[u.row]&u.slots != 0 }) {
			names = append(names, m.jobs[l.pending].job.ID)
			if len(names) == most {
				break
			}
		}
	}
	return names
}

// latest is the last slot in which a start of job i is an option.
func (e *explanation) latest(i int) int {
	last := 0
	if j, ok := e.rowOf[i]; ok {
		for o := range e.m.problem.Jobs[j].Options {
			last = max(last, e.m.problem.Jobs[j].Options[o].Start)
		}
	}
	return last
}

// lack marks the slots in which partitions have too little left for one more task than fits in all slots.
func (e *explanation) lack(c *choice, tasks, start int) {
	m, T := e.m, e.m.problem.Slots
	clear(e.lacking)
	for _, x := range c.partitions(m.parts) {
		fit := tasks
		e.rows(c, x, start, func(row, t int, need float64) { fit = min(fit, tasksIn(m.left[row*T+t], need)) })
		e.rows(c, x, start, func(row, t int, need float64) {
			if fit < tasks && tasksIn(m.left[row*T+t], need) <= fit {
				e.lacking[row] |= m.bit(t)
			}
		})
	}
}

// rows tells of what one task of a choice needs of a partition from a slot on.
func (e *explanation) rows(c *choice, partition, start int, tell func(row, slot int, need float64)) {
	for r, d := range c.demand {
		for t, u := range c.usage[:min(len(c.usage), e.m.problem.Slots-start)] {
			if need := float64(d * u); need > 0 {
				tell(partition*len(c.demand)+r, start+t, need)
			}
		}
	}
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
