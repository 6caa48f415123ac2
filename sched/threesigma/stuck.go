package threesigma

import (
	"cmp"
	"slices"
	"sort"

	"github.com/hedgesched/hedge/sched"
)

// ReasonFragmented says that the nodes together have the resources that the job needs, but no single nodes have room
// for its tasks.
const ReasonFragmented sched.ReasonCode = "fragmented"

// rehearse works out the first slot in which each choice of these stuck jobs is expected to have room. A job that has
// room now is no longer stuck. It sorts the jobs by priority, since jobs of one priority may preempt the same jobs.
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

// sweep is rehearse for jobs of one priority. It begins with the nodes as they are expected to be in the last slot, and
// goes back to now slot by slot. A choice that has room in a slot also has room in all later slots. So each choice is
// followed back only until it has no room.
func (m *model) sweep(jobs []*known) {
	leaving := m.leaving(jobs[0].job.Priority)
	m.rehearsal.Reset(m.snap)
	for _, l := range leaving {
		m.rehearsal.Release(&m.snap.Running[l.run])
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
			m.rehearsal.Keep(&m.snap.Running[leaving[0].run])
			moved = true
		}
	}
	for _, k := range jobs {
		if slices.ContainsFunc(k.choices, func(c choice) bool { return c.earliest == 0 }) {
			k.release()
		}
	}
}

// fitting notes which of the choices that have room in the slot after s also have room in s, and tells whether there
// are any. The rehearsal is at slot s. It has moved if it differs from the slot after; if not, there is nothing to
// check.
func (m *model) fitting(jobs []*known, s int, moved bool) bool {
	some := false
	for _, k := range jobs {
		for i := range k.choices {
			c := &k.choices[i]
			if c.earliest == s+1 && (!moved || m.rehearsal.FitsAtLeast(c.Demand, c.Nodes, k.job.Tasks)) {
				c.earliest, some = s, true
			}
		}
	}
	return some
}

// leave is the first slot in which a running job has probably left its nodes.
type leave struct{ run, slot int }

// leaving are the running jobs that leave within the window, the last to leave first. Those that a job of that priority
// may preempt leave in slot 0.
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

// release ends the state of being stuck.
func (k *known) release() {
	k.stuck = false
	for i := range k.choices {
		k.choices[i].earliest = 0
	}
}
