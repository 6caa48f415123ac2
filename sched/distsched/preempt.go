package distsched

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/usage"
)

// victim is a task that preemption may stop.
type victim struct {
	k           *known
	running     int // index in the snapshot
	node        string
	at          int32
	want        float64 // the CPU that it wants, in cores
	overRequest bool    // uses more CPU than it requested
	overRange   bool    // uses more CPU than was forecast
	contended   int     // how many contended machines its job runs on
}

// preempt relieves machines whose tasks want more CPU than there is (section 5.3.2). Until the rest fit, it stops tasks
// of lower priority than a throttled task there. It first stops tasks that use more than they requested, then tasks
// that use more than was forecast, then tasks of the jobs that run on the most contended machines, then those that want
// most.
func (p *Policy) preempt(s *sched.Snapshot, plan *sched.Plan) {
	if p.machines.cpu < 0 {
		return
	}
	want := p.demands(s)
	contended := make(map[int32]bool)
	for at := range want {
		m := &p.machines.of[at]
		if m.cpu != nil && want[at].sum > p.cfg.PreemptTo*m.cpu.Limit()*(1+tiny) {
			contended[int32(at)] = true
		}
	}
	if len(contended) == 0 {
		return
	}
	victims := p.victims(s, want, contended)
	stopped := make(map[int][]sched.NodeTasks)
	for i := range victims {
		v := &victims[i]
		w := &want[v.at]
		if w.sum <= p.cfg.PreemptTo*p.machines.of[v.at].cpu.Limit()*(1+tiny) {
			continue
		}
		w.sum -= v.want
		stopped[v.running] = addTask(stopped[v.running], v.node)
	}
	for i := range s.Running {
		nodes := stopped[i]
		if len(nodes) == 0 {
			continue
		}
		if tasksOn(nodes) == tasksOn(s.Running[i].Nodes) {
			nodes = nil // the whole job
		}
		p.jobs[s.Running[i].Job.ID].follow.open = false
		plan.Decisions = append(plan.Decisions, sched.Decision{Job: s.Running[i].Job.ID, Kind: sched.Preempt, Nodes: nodes,
			Reason: sched.Reason{Code: sched.ReasonPreempted, Probability: sched.UnknownProbability}})
	}
}

// demand is the CPU that the tasks of a machine want.
type demand struct {
	sum     float64 // in cores
	highest int     // the highest priority of a throttled task
	any     bool    // a task is throttled
}

// demands sums the CPU that tasks want on each machine, as far as it was measured.
func (p *Policy) demands(s *sched.Snapshot) []demand {
	want := make([]demand, len(p.machines.of))
	for i := range s.Others {
		want[i].sum = s.Others[i].CPU
	}
	for i := range s.Running {
		r := &s.Running[i]
		k := p.jobs[r.Job.ID]
		for t := range r.Use {
			at, ok := p.machines.set.Index(r.Use[t].Node)
			if !ok || k == nil || k.err != nil {
				continue
			}
			w := &want[at]
			w.sum += wants(k, &r.Use[t])
			if r.Use[t].Throttled && (!w.any || r.Job.Priority > w.highest) {
				w.highest, w.any = r.Job.Priority, true
			}
		}
	}
	return want
}

// wants is the CPU that a task wants: what it gets or, if it was throttled, the forecast's mean if that is more.
func wants(k *known, u *usage.Task) float64 {
	if u.Throttled {
		return max(u.Now.CPU, k.profile.cpu.Mean())
	}
	return u.Now.CPU
}

// victims are the tasks that may be stopped, in the order in which preempt stops them.
func (p *Policy) victims(s *sched.Snapshot, want []demand, contended map[int32]bool) []victim {
	var out []victim
	for i := range s.Running {
		r := &s.Running[i]
		k := p.jobs[r.Job.ID]
		if k == nil || k.err != nil || len(r.Use) == 0 {
			continue
		}
		on := 0
		for _, nt := range r.Nodes {
			if at, ok := p.machines.set.Index(nt.Node); ok && contended[int32(at)] {
				on++
			}
		}
		for t := range r.Use {
			u := &r.Use[t]
			at, ok := p.machines.set.Index(u.Node)
			if !ok || !contended[int32(at)] || !want[at].any || r.Job.Priority >= want[at].highest {
				continue
			}
			out = append(out, victim{
				k: k, running: i, node: u.Node, at: int32(at), want: wants(k, u), contended: on,
				overRequest: u.Now.CPU > r.Job.Demand[usage.CPU], overRange: u.Now.CPU > k.profile.cpu.Max(),
			})
		}
	}
	slices.SortStableFunc(out, func(a, b victim) int {
		return cmp.Or(sooner(a.overRequest, b.overRequest), sooner(a.overRange, b.overRange), b.contended-a.contended,
			cmp.Compare(b.want, a.want), strings.Compare(a.k.job.ID, b.k.job.ID))
	})
	return out
}

// sooner orders true before false.
func sooner(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

func addTask(nodes []sched.NodeTasks, node string) []sched.NodeTasks {
	for i := range nodes {
		if nodes[i].Node == node {
			nodes[i].Tasks++
			return nodes
		}
	}
	return append(nodes, sched.NodeTasks{Node: node, Tasks: 1})
}

func tasksOn(nodes []sched.NodeTasks) (sum int) {
	for _, nt := range nodes {
		sum += nt.Tasks
	}
	return sum
}
