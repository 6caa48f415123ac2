package threesigma

import (
	"cmp"
	"slices"
	"sort"

	"github.com/hedgesched/hedge/sched"
)

// ReasonFragmented says that the resources that the job needs are free in sum, but not on single nodes.
const ReasonFragmented sched.ReasonCode = "fragmented"

// stuck is a job's state after a start that the solver chose, reckoning with sums over partitions, had no room
// on single nodes. To plan it for the next slot again and again would hold capacity for nothing, so
// from then on its options begin where single nodes are expected to have room.
type stuck struct {
	is bool
	// fragmented tells that there was room in sum; else it would have taken a preemption that
	// the job is not entitled to.
	fragmented bool
}

// rehearse works out the first slot in which each choice of these stuck jobs is expected to have room. A job that
// has room now is no longer stuck. The jobs are sorted: those of one priority see the same nodes become free.
func (m *model) rehearse(jobs []*known) {
	slices.SortStableFunc(jobs, func(a, b *known) int { return cmp.Compare(a.job.Priority, b.job.Priority) })
	for len(jobs) > 0 {
		n := len(jobs)
		if m.policy.cfg.Without&Preemption == 0 {
			n = 1
			for n < len(jobs) && jobs[n].job.Priority == jobs[0].job.Priority {
				n++
			}
		}
		m.sweep(jobs[:n])
		jobs = jobs[n:]
	}
}

// sweep is rehearse for jobs of one priority. It begins with the nodes as they are in the last slot and goes back to
// now, slot by slot: what has room in a slot has room in all later ones. So each choice costs but one look at
// nodes that lack room.
func (m *model) sweep(jobs []*known) {
	leaving := m.leaving(jobs[0].job.Priority)
	m.rehearsal.Reset(m.snap)
	for _, l := range leaving {
		m.rehearsal.Give(m.snap.Running[l.run].Nodes, m.runs[l.run].demand)
	}
	for _, k := range jobs {
		for i := range k.choices {
			k.choices[i].earliest = m.problem.Slots
		}
	}
	for s, moved := m.problem.Slots-1, true; s >= 0; s-- {
		if !m.fitting(jobs, s, moved) {
			break
		}
		moved = false
		for ; len(leaving) > 0 && leaving[0].slot == s; leaving = leaving[1:] {
			m.rehearsal.Take(m.snap.Running[leaving[0].run].Nodes, m.runs[leaving[0].run].demand)
			moved = true
		}
	}
	for _, k := range jobs {
		if slices.ContainsFunc(k.choices, func(c choice) bool { return c.earliest == 0 }) {
			k.release()
		}
	}
}

// fitting tells whether any choice that has room in the slot after s also has room in s, and notes which have. The
// nodes are as in s; where they are not moved since the slot after, nothing has to be looked at.
func (m *model) fitting(jobs []*known, s int, moved bool) bool {
	some := false
	for _, k := range jobs {
		for i := range k.choices {
			c := &k.choices[i]
			if c.earliest == s+1 && (!moved || m.rehearsal.FitsAtLeast(c.demand, c.nodes, k.job.Tasks)) {
				c.earliest, some = s, true
			}
		}
	}
	return some
}

// leave is the first slot in which a running job has more likely than not left its nodes.
type leave struct{ run, slot int }

// leaving are the running jobs that leave within the window, the last first. Those that a job of that priority may
// preempt leave at once.
func (m *model) leaving(priority int) []leave {
	m.leaves = m.leaves[:0]
	preempts := m.policy.cfg.Without&Preemption == 0
	for i, h := range m.runs {
		slot := 0
		if !preempts || m.snap.Running[i].Job.Priority >= priority {
			slot = sort.Search(len(h.usage), func(s int) bool { return h.usage[s] < 0.5 })
		}
		if slot < len(h.usage) {
			m.leaves = append(m.leaves, leave{run: i, slot: slot})
		}
	}
	slices.SortStableFunc(m.leaves, func(a, b leave) int { return cmp.Compare(b.slot, a.slot) })
	return m.leaves
}

// release forgets that a job was stuck.
func (k *known) release() {
	k.stuck = stuck{}
	for i := range k.choices {
		k.choices[i].earliest = 0
	}
}

// retract takes what could not be realised out of the problem, to be solved again from where it was left: the
// preemptions that no start is entitled to or, where there is none, the starts that had no room.
func (m *model) retract(x *extraction) {
	clear(m.problem.Hint)
	if m.policy.cfg.Without&WarmStart == 0 {
		for i := range x.picks {
			if p := &x.picks[i]; p.option != nil {
				m.suggest(p.row, p.origin.start, p.origin.slowed)
			}
		}
	}
	withdrawn := m.withdraw(x)
	var postponed []int
	m.stuck = m.stuck[:0]
	for _, j := range x.failed {
		k := m.jobs[m.rows[j].pending]
		if withdrawn && !k.stuck.fragmented {
			k.release()
			continue
		}
		postponed, m.stuck = append(postponed, j), append(m.stuck, k)
	}
	m.rehearse(m.stuck)
	for _, j := range postponed {
		m.postpone(j, m.jobs[m.rows[j].pending])
	}
}

// withdraw takes out the victims that the solver chose and no start of higher priority needed, and tells
// whether there are any.
func (m *model) withdraw(x *extraction) bool {
	kept, run := 0, m.problem.Running
	for v := range run {
		if !x.preempted[v] && slices.Contains(x.victims, v) {
			continue
		}
		run[kept], m.victims[kept] = run[v], m.victims[v]
		kept++
	}
	m.problem.Running, m.victims = run[:kept], m.victims[:kept]
	return kept < len(run)
}

// postpone leaves out the options of row j that start now or where no room is expected.
func (m *model) postpone(j int, k *known) {
	job := &m.problem.Jobs[j]
	from := m.origins[m.rows[j].from:][:len(job.Options)]
	kept := 0
	for o := range from {
		if from[o].start < max(1, k.earliest(from[o].slowed)) {
			continue
		}
		job.Options[kept], from[kept] = job.Options[o], from[o]
		kept++
	}
	job.Options = job.Options[:kept]
	delete(m.problem.Hint, job.ID)
}

// earliest is that of the choice of that kind.
func (k *known) earliest(slowed bool) int {
	for i := range k.choices {
		if k.choices[i].slowed == slowed {
			return k.choices[i].earliest
		}
	}
	return 0
}
