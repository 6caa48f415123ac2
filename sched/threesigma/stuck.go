package threesigma

import (
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

// rehearse works out the first slot in which each choice of a stuck job is expected to have room. A job that
// has room now is no longer stuck.
func (m *model) rehearse(k *known) {
	for i := range k.choices {
		c := &k.choices[i]
		c.earliest = sort.Search(m.problem.Slots, func(s int) bool { return m.roomAt(k, c, s) })
		if c.earliest == 0 {
			k.release()
			return
		}
	}
}

// release forgets that a job was stuck.
func (k *known) release() {
	k.stuck = stuck{}
	for i := range k.choices {
		k.choices[i].earliest = 0
	}
}

// roomAt tells whether the nodes hold the gang once all those have left them that have more likely than not
// ended by that slot, or that the job may preempt.
func (m *model) roomAt(k *known, c *choice, slot int) bool {
	m.rehearsal.Reset(m.snap)
	preempts := m.policy.cfg.Without&Preemption == 0
	for i, h := range m.runs {
		r := &m.snap.Running[i]
		if h.usage[slot] < 0.5 || preempts && r.Job.Priority < k.job.Priority {
			m.rehearsal.Give(r.Nodes, h.demand)
		}
	}
	return m.rehearsal.FitsAtLeast(c.demand, c.nodes, k.job.Tasks)
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
	for _, j := range x.failed {
		k := m.jobs[m.rows[j].pending]
		if withdrawn && !k.stuck.fragmented {
			k.release()
			continue
		}
		m.rehearse(k)
		m.postpone(j, k)
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
