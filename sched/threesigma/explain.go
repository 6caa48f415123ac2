package threesigma

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/internal/odds"
	"github.com/hedgesched/hedge/sched/place"
	"github.com/hedgesched/hedge/solver"
)

// plan is the preemptions, then a decision for every pending job.
func (x *extraction) plan(stats sched.Stats) *sched.Plan {
	plan := &sched.Plan{Stats: stats}
	plan.Decisions = slices.Grow(x.preemptions, len(x.m.jobs))
	for i := range x.preemptions {
		delete(x.m.policy.told, x.preemptions[i].Job) // it does not finish
	}
	e := &explanation{extraction: x, of: map[*sched.Site]ahead{}}
	for i := range x.m.jobs {
		plan.Decisions = append(plan.Decisions, e.decide(i))
	}
	return plan
}

// explanation says why jobs do not start.
type explanation struct {
	*extraction
	began   bool
	of      map[*sched.Site]ahead // who holds what sites lack now
	later   []int                 // the pending jobs that are planned to start later, by start
	users   [][]user              // who of these uses which resource of which partition, by partition and resource
	rowOf   map[int]int           // of the problem, by pending job
	lacking []uint64              // scratch, by partition and resource
	found   []int                 // scratch
}

// ahead are those that hold the room that others wait for, and how many tasks fit beside them.
type ahead struct {
	names     []string
	more, fit int
}

// user is an index of later, and the slots in which that job uses a resource of a partition.
type user struct {
	later int
	slots uint64
}

// decide is the decision for pending job i, with its reason. A planned start is remembered for the next cycle.
func (e *explanation) decide(i int) sched.Decision {
	m, k, p := e.m, e.m.jobs[i], &e.picks[i]
	d := sched.Decision{Job: k.job.ID, Reason: sched.Reason{Probability: sched.UnknownProbability, Obstacle: k.obstacle}}
	if err := cmp.Or(k.fault, k.misbehaved); err != nil {
		d.Reason.Fault = err.Error()
	}
	k.planned = planned{}
	if e.starts[i] != nil {
		d.Kind, d.Nodes, d.Start = sched.Start, e.starts[i], m.snap.Now
		d.Reason.Code, d.Reason.Set, d.Reason.Value = sched.ReasonPlaced, p.option.Set, p.option.Value
		if f, known := e.chance(k, p); known {
			d.Reason.Probability = m.policy.calibrator.Tell(f)
			if k.rest == nil { // what becomes of a stage says little of the whole job
				m.policy.tell(k.job, f)
			}
		}
		k.release()
		return d
	}
	d.Reason.Code = e.why(k)
	later := p.option != nil && p.origin.start > 0
	if later {
		d.Start = m.snap.Now.Add(time.Duration(p.origin.start) * m.policy.cfg.Slot)
		d.Reason.Set, d.Reason.Slot, d.Reason.Value = p.option.Set, p.origin.start, p.option.Value
		if f, known := e.chance(k, p); known {
			d.Reason.Probability = m.policy.calibrator.Tell(f)
		}
		k.planned = planned{start: d.Start, level: p.origin.level}
	}
	switch d.Reason.Code {
	case sched.ReasonDeferred, sched.ReasonSpent, sched.ReasonSolverStopped, ReasonFragmented:
		switch room := e.behind(i, &d.Reason); {
		case !later:
		case !room:
			d.Reason.Partition = e.tightest(p.option)
		case d.Reason.Code == sched.ReasonDeferred && len(d.Reason.Ahead) == 0 && e.gains(p):
			d.Reason.Code = sched.ReasonLater
		}
	}
	return d
}

// gains tells whether the start picked is worth more than each start now.
func (x *extraction) gains(p *pick) bool {
	options := x.m.problem.Jobs[p.row].Options
	return !slices.ContainsFunc(options, func(o solver.Option) bool { return o.Start == 0 && o.Value >= p.option.Value })
}

// chance is what the forecast says of meeting the deadline with the start picked, if it is known.
func (x *extraction) chance(k *known, p *pick) (f odds.Foretold, known bool) {
	if k.job.Deadline <= 0 {
		return f, false
	}
	passed := x.m.snap.Now.Sub(k.job.Submitted).Seconds() + float64(float64(p.origin.start)*x.m.problem.SlotSeconds)
	chance := k.whole[p.origin.level].CDF(k.value.deadline - passed)
	f = odds.Foretold{Chance: odds.Doubtful(chance, k.prediction.Samples), Passed: passed / k.value.deadline}
	return f, !math.IsNaN(chance)
}

// why is the reason for which a job does not start.
func (x *extraction) why(k *known) sched.ReasonCode {
	switch {
	case k.absent != "":
		return k.absent
	case k.misbehaved != nil:
		return ReasonInvalid
	case k.worth != worthSome && x.expired(k):
		return sched.ReasonSpent
	case k.worth != worthSome && !x.m.spent(k):
		return sched.ReasonNoUtility
	case k.stuck:
		return ReasonFragmented
	case len(x.sol.Choice) > 0 || k.worth != worthSome || !x.cutShort():
		return sched.ReasonDeferred
	}
	return sched.ReasonSolverStopped
}

// cutShort tells whether a limit ended the solver's work. An engine that has no bound stops for [solver.StopWork] also
// when it has tried all it can.
func (x *extraction) cutShort() bool {
	switch x.sol.Stop {
	case solver.StopOptimal, solver.StopGap:
		return false
	case solver.StopWork:
		limit := x.m.policy.cfg.limits(x.m.policy.period).Work
		return limit > 0 && x.sol.Work >= limit
	}
	return true
}

// expired tells whether the job would be worth nothing even if it completed now.
func (x *extraction) expired(k *known) bool {
	worth := k.value.own.At(x.m.snap.Now.Sub(k.job.Submitted).Seconds())
	return k.value.guard.take(k.job) == nil && worth <= 0
}

// behind names those that hold the room that pending job i needs: now and, if they are not many already, in the plan.
// It tells whether there is room now.
func (e *explanation) behind(i int, r *sched.Reason) (room bool) {
	e.begin()
	k, p := e.m.jobs[i], &e.picks[i]
	if len(k.choices) == 0 {
		return false
	}
	at := k.choices[len(k.choices)-1].Site // the widest
	if p.option != nil {
		at = e.site(p)
	}
	now, known := e.of[at]
	if !known {
		now.fit = e.m.policy.placer.Fits(at.Demand, at.Nodes)
		now.names, now.more = e.m.policy.holders.Of(at.Demand, at.Nodes)
		e.of[at] = now
	}
	if room = now.fit >= k.job.Tasks; !room {
		place.Behind(r, now.names, now.more)
	}
	if left := place.MaxAhead - len(r.Ahead); left > 0 {
		place.Behind(r, e.before(i, room, left), 0)
	}
	return room
}

// begin gathers who holds what, when the first job asks.
func (e *explanation) begin() {
	if e.began {
		return
	}
	e.began = true
	m, holders := e.m, &e.m.policy.holders
	holders.Reset(m.snap, &m.policy.placer, e.preemptions)
	for i, nodes := range e.starts {
		if nodes != nil {
			holders.Start(m.jobs[i].job, nodes)
		} else if p := &e.picks[i]; p.option != nil && p.origin.start > 0 {
			e.later = append(e.later, i)
		}
	}
	slices.SortStableFunc(e.later,
		func(a, b int) int { return cmp.Compare(e.picks[a].origin.start, e.picks[b].origin.start) })
	e.users = make([][]user, m.parts.Len()*len(m.problem.Resources))
	for l, i := range e.later {
		e.note(l, &e.picks[i])
	}
	m.left = e.leftOver()
	e.lacking = make([]uint64, len(e.users))
	e.rowOf = make(map[int]int, len(m.rows))
	for j := range m.rows {
		e.rowOf[m.rows[j].pending] = j
	}
}

// bit stands for a slot. Long windows share bits among slots.
func (m *model) bit(slot int) uint64 { return 1 << (uint(slot) * 64 / uint(max(64, m.problem.Slots))) }

// note lists a planned start among the users of what it uses.
func (e *explanation) note(later int, p *pick) {
	var slots uint64
	for t := range p.option.Usage {
		slots |= e.m.bit(p.origin.start + t)
	}
	for _, s := range p.split {
		for r, d := range p.option.Demand {
			if d > 0 && s.Count > 0 {
				row := s.Partition*len(p.option.Demand) + r
				e.users[row] = append(e.users[row], user{later, slots})
			}
		}
	}
}

// before names at most most jobs whose planned starts use what job i would need to start sooner. Sooner is now if there
// is room now. Otherwise it is the slot before the one that is planned or, if none is, the last in which a start has a
// value. Of the jobs that are planned it looks only at those that use what is lacking.
func (e *explanation) before(i int, room bool, most int) []string {
	m, k, p := e.m, e.m.jobs[i], &e.picks[i]
	c, start := &k.choices[len(k.choices)-1], 0
	if p.option != nil {
		c = k.choice(p.origin.level)
	}
	switch {
	case room:
	case p.option != nil:
		start = max(0, p.origin.start-1)
	default:
		start = e.latest(i)
	}
	if len(e.later) == 0 {
		return nil
	}
	e.use(m.left, p, -1)
	e.lack(c, k.job.Tasks, start)
	e.use(m.left, p, 1)
	e.found = e.found[:0]
	for _, x := range m.parts.Members(c.Set) {
		for r := range c.Demand {
			e.find(x*len(c.Demand)+r, i, most)
		}
	}
	slices.Sort(e.found)
	e.found = slices.Compact(e.found)
	var names []string
	for _, l := range e.found[:min(most, len(e.found))] {
		names = append(names, m.jobs[e.later[l]].job.ID)
	}
	return names
}

// find adds to found the first most of those other than job i that use a row in a slot in which it is lacking.
func (e *explanation) find(row, i, most int) {
	if e.lacking[row] == 0 {
		return
	}
	for _, u := range e.users[row] {
		if u.slots&e.lacking[row] == 0 || e.later[u.later] == i {
			continue
		}
		e.found = append(e.found, u.later)
		if most--; most == 0 {
			return
		}
	}
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
	for _, x := range m.parts.Members(c.Set) {
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
	for r, d := range c.Demand {
		for t, u := range c.usage[:min(len(c.usage), e.m.problem.Slots-start)] {
			if need := float64(d * u); need > 0 {
				tell(partition*len(c.Demand)+r, start+t, need)
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
