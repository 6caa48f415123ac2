package eagle

import (
	"math"
	"time"

	"github.com/hedgesched/hedge/sched/agent"
	"github.com/hedgesched/hedge/sched/eagle/longset"
)

// scheduler is the state of a distributed scheduler: the jobs that were submitted to it.
type scheduler struct {
	*System
	at     agent.Addr
	now    time.Duration // of the step
	random agent.Random
	jobs   jobs
	// seen is the newest snapshot of the nodes with long tasks, and its number.
	seen   *longset.Snapshot
	number int32
	// armed is that what has changed will be told of, all together.
	armed    bool
	dirty    []int32
	rejected []rejection
	// marks has the last update that each worker was sent: several probes of a job may be at one.
	marks   []int32
	updates int32
	waits   waits
}

// rejection is a probe that came back.
type rejection struct {
	job, ref, probe int32
	round           uint8
}

func newScheduler(s *System, at agent.Addr) scheduler {
	p := scheduler{System: s, at: at, random: agent.NewRandom(s.Seed, at)}
	if s.Switches.Shortest {
		p.marks = make([]int32, s.Config.Workers)
	}
	if s.Switches.Stale {
		p.waits = newWaits(s.Config.Workers)
	}
	return p
}

func (p *scheduler) step(now time.Duration, in *agent.Input[Message], out *agent.Output[Message]) {
	p.now = now
	switch in.Kind {
	case agent.Submitted:
		p.submit(in.Job, out)
	case agent.Received:
		p.receive(in.From, &in.Msg, out)
	case agent.Fired:
		p.armed = false
		p.reschedule(out)
		p.update(out)
	case agent.Lost:
		p.lost(in.From, out)
	}
}

func (p *scheduler) submit(job *agent.Job, out *agent.Output[Message]) {
	j := p.jobs.add(job)
	if p.Switches.CentralShort {
		p.placeStale(j, int(j.tasks), out)
		return
	}
	n := probesPerTask * int(j.tasks)
	if p.Switches.MinProbes {
		n = max(n, p.MinProbes)
	}
	for range n {
		p.probeAnew(j, 1, out)
	}
}

// probeAnew sends one more probe: to any worker or, ideally, to one of those without long tasks.
func (p *scheduler) probeAnew(j *owned, round uint8, out *agent.Output[Message]) {
	to := p.random.Below(p.System.Config.Workers)
	if p.Switches.Ideal && p.seen != nil && p.seen.Free() > 0 {
		to = p.seen.Node(p.random.Below(p.seen.Free()))
	}
	j.nodes = append(j.nodes, agent.Addr(to))
	p.probe(j, len(j.nodes)-1, round, out)
}

// probe sends probe number k of a job to the worker that it is for.
func (p *scheduler) probe(j *owned, k int, round uint8, out *agent.Output[Message]) {
	out.Send(j.nodes[k], &Message{Kind: Probe, Round: round, Long: j.long, Job: j.id, Ref: j.ref, Owner: p.at,
		Task: int32(k), Left: j.left(), Version: j.version, Estimate: j.estimate})
}

func (p *scheduler) receive(from agent.Addr, m *Message, out *agent.Output[Message]) {
	switch m.Kind {
	case Beat:
		p.waits.told(from, m)
		return
	case State:
		p.learn(m)
		return
	case Reject:
		p.learn(m)
	}
	j := p.jobs.find(m)
	switch {
	case m.Kind == Ask:
		p.give(from, j, m, out)
	case j == nil:
	case m.Kind == Reject:
		j.nodes[m.Task] = nowhere
		p.rejected = append(p.rejected, rejection{j.id, j.ref, m.Task, m.Round})
		p.arm(out)
	case m.Kind == Began:
		if j.nodes[m.Task] == from {
			j.nodes[m.Task] = nowhere
			j.begun++
			p.changed(j, out)
		}
	case m.Kind == Finished:
		if j.finish(m.Task) {
			p.flush(j, out)
			p.jobs.remove(j)
			out.Done(j.id)
		}
	}
}

// learn keeps a snapshot that is newer than the newest.
func (p *scheduler) learn(m *Message) {
	if m.Seen != nil && m.Version > p.number {
		p.seen, p.number = m.Seen, m.Version
	}
}

// give answers a worker that asks for a task: the binding is as late as it can be.
func (p *scheduler) give(to agent.Addr, j *owned, m *Message, out *agent.Output[Message]) {
	answer := Message{Kind: None, Job: m.Job, Version: math.MaxInt32}
	switch {
	case j == nil:
	case j.left() == 0:
		answer.Version = j.version
		if j.lifeline >= 0 && j.nodes[j.lifeline] == to {
			j.nodes[j.lifeline] = nowhere
		}
	default:
		answer = Message{Kind: Give, Long: j.long, Job: j.id, Ref: j.ref, Owner: p.at, Task: j.take(), Estimate: j.estimate}
		j.where[answer.Task] = to
		j.begun++
		p.changed(j, out)
	}
	out.Send(to, &answer)
}

// changed has what a job has left told to its workers.
func (p *scheduler) changed(j *owned, out *agent.Output[Message]) {
	if !p.Switches.Shortest || j.dirty {
		return
	}
	j.dirty = true
	p.dirty = append(p.dirty, j.ref)
	p.arm(out)
}

// arm has this step's changes told at the end of the moment or, where knowledge comes by heartbeats, with the next.
func (p *scheduler) arm(out *agent.Output[Message]) {
	if p.armed {
		return
	}
	p.armed = true
	after := time.Duration(0)
	if p.Switches.Stale {
		after = p.Heartbeat - p.now%p.Heartbeat
	}
	out.Wake(after, 0)
}

// update tells what jobs have left to the workers that hold their probes, or their waiting tasks.
func (p *scheduler) update(out *agent.Output[Message]) {
	for _, ref := range p.dirty {
		p.flush(p.jobs.At(ref), out)
	}
	p.dirty = p.dirty[:0]
}

func (p *scheduler) flush(j *owned, out *agent.Output[Message]) {
	if !j.dirty {
		return
	}
	j.dirty = false
	j.version++
	p.updates++
	m := Message{Kind: Left, Job: j.id, Left: j.left(), Version: j.version}
	for _, to := range j.nodes {
		if to != nowhere && p.marks[to] != p.updates {
			p.marks[to] = p.updates
			out.Send(to, &m)
		}
	}
	if m.Left == 0 && !p.Switches.CentralShort {
		for k := range j.nodes { // their probes go
			j.nodes[k] = nowhere
		}
	}
}

// reschedule sends the rejected probes again: to workers without long tasks by the newest snapshot, and those that come
// back from there to the short partition (section 3.3).
func (p *scheduler) reschedule(out *agent.Output[Message]) {
	for _, r := range p.rejected {
		j := p.jobs.At(r.ref)
		if !j.here || j.id != r.job || j.left() == 0 {
			continue
		}
		to := p.random.Below(p.general)
		if r.round == 1 && p.seen != nil && p.seen.Free() > 0 {
			to = p.seen.Node(p.random.Below(p.seen.Free()))
		}
		j.nodes[r.probe] = agent.Addr(to)
		p.probe(j, int(r.probe), max(r.round, r.round+1), out)
	}
	p.rejected = p.rejected[:0]
}

// lost has the tasks run again that a crashed worker held. Its probes, and those on their way from or to it, are gone,
// stolen ones too: a job with tasks left has a lifeline from then on.
func (p *scheduler) lost(worker agent.Addr, out *agent.Output[Message]) {
	if p.Switches.Stale {
		p.waits.forget(worker)
	}
	for ref := range p.jobs.Refs() {
		j := p.jobs.At(ref)
		if !j.here {
			continue
		}
		again := j.lose(worker, p.Switches.CentralShort)
		if again > 0 {
			p.changed(j, out)
		}
		if p.Switches.CentralShort {
			p.placeStale(j, again, out)
			continue
		}
		for range again {
			p.probeAnew(j, 1, out)
		}
		if j.left() > 0 && !j.alive(worker) {
			j.lifeline = int32(len(j.nodes))
			p.probeAnew(j, lifeline, out)
		}
	}
}
