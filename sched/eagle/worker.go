package eagle

import (
	"math"
	"time"

	"github.com/hedgesched/hedge/sched/agent"
	"github.com/hedgesched/hedge/sched/eagle/longset"
)

// worker is the state of a node: a queue of probes and tasks, and what runs.
type worker struct {
	queue   []entry
	running []held
	asking  int32 // slots that wait for an answer
	long    int32 // long tasks that it holds, waiting or running
	// seen is the newest snapshot of the nodes with long tasks, and its number.
	seen   *longset.Snapshot
	number int32
	// beats counts heartbeats; armed is that one is to come.
	beats int32
	armed bool
	// attempt numbers the times it became idle and stole, left the attempts that remain.
	attempt, left int32
	random        agent.Random
}

// entry is a probe in a queue, or a task if task is not negative. What has gone before it is in bypassed.
type entry struct {
	estimate, bypassed time.Duration
	owner              agent.Addr
	job, ref, task     int32
	left, version      int32
	long, sticks       bool
}

// held is a task that runs, and when it should end.
type held struct {
	ends           time.Duration
	owner          agent.Addr
	job, ref, task int32
	long           bool
}

// stepped is a worker during a step.
type stepped struct {
	*System
	*worker
	at  agent.Addr
	now time.Duration
	out *agent.Output[Message]
}

func (w *stepped) step(in *agent.Input[Message]) {
	switch in.Kind {
	case agent.Received:
		w.receive(in.From, &in.Msg)
	case agent.Ended:
		w.ended(in.Task)
	case agent.Fired:
		w.beat()
	case agent.Restarted:
		*w.worker = worker{queue: w.queue[:0], running: w.running[:0], attempt: w.attempt, random: w.random}
	}
}

func (w *stepped) receive(from agent.Addr, m *Message) {
	switch m.Kind {
	case Probe:
		w.probed(m)
	case Loot:
		w.enqueue(m, -1)
		w.next()
	case Place:
		w.placed(m)
	case Give:
		w.asking--
		w.launch(m)
	case None:
		w.asking--
		w.forget(m, false)
		w.freed()
	case Left:
		w.told(m)
	case Steal:
		w.robbed(from, m)
	case Empty:
		if m.Version == w.attempt && w.idle() {
			w.steal()
		}
	}
}

// probed takes a probe or, with Share, sends it back if a long task is here (section 3.3).
func (w *stepped) probed(m *Message) {
	if w.Switches.Share && w.long > 0 {
		back := Message{Kind: Reject, Round: m.Round, Job: m.Job, Ref: m.Ref, Task: m.Task, Version: w.number, Seen: w.seen}
		w.out.Send(m.Owner, &back)
		return
	}
	w.enqueue(m, -1)
	w.next()
}

// placed takes a task that is bound to this worker.
func (w *stepped) placed(m *Message) {
	if m.Long {
		w.long++
	}
	if m.Seen != nil && m.Version > w.number {
		w.seen, w.number = m.Seen, m.Version
	}
	w.enqueue(m, m.Task)
	w.next()
	w.change()
}

func (w *stepped) enqueue(m *Message, task int32) {
	w.queue = append(w.queue, entry{estimate: m.Estimate, owner: m.Owner, job: m.Job, ref: m.Ref, task: task,
		left: m.Left, version: m.Version, long: m.Long, sticks: w.Switches.Sticky || m.Round == lifeline})
}

// free tells whether a slot has nothing to do.
func (w *stepped) free() bool { return len(w.running)+int(w.asking) < w.Slots }

func (w *stepped) idle() bool { return w.free() && len(w.queue) == 0 }

// next fills free slots from the queue.
func (w *stepped) next() {
	for w.free() && len(w.queue) > 0 {
		i := w.choose()
		e := w.queue[i]
		if w.Switches.Shortest && (!e.long || w.Switches.CentralShort) {
			for j := range w.queue[:i] {
				w.queue[j].bypassed += e.estimate
			}
		}
		if e.task >= 0 || !e.sticks {
			w.queue = append(w.queue[:i], w.queue[i+1:]...)
		}
		m := Message{Kind: Ask, Job: e.job, Ref: e.ref, Owner: e.owner, Task: e.task, Long: e.long, Estimate: e.estimate}
		if e.task < 0 {
			w.asking++
			w.out.Send(e.owner, &m)
			continue
		}
		w.launch(&m)
		m.Kind = Began
		w.out.Send(e.owner, &m)
	}
}

// choose is the place in the queue of what goes next: the first or, with Shortest, that of the job with the least work
// left which may pass all in front (Algorithm 1). Eagle does not look behind a long task; rivals that put short tasks
// behind long ones do, and protect these as well.
func (w *stepped) choose() int {
	if !w.Switches.Shortest {
		return 0
	}
	chosen, least, slack := 0, time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	for i := range w.queue {
		e := &w.queue[i]
		if e.long && !w.Switches.CentralShort {
			break
		}
		if left := e.estimate * time.Duration(e.left); left < least && e.estimate <= slack {
			chosen, least = i, left
		}
		slack = min(slack, bypassFactor*e.estimate-e.bypassed)
	}
	return chosen
}

// launch runs a task.
func (w *stepped) launch(m *Message) {
	w.running = append(w.running, held{ends: w.now + m.Estimate, owner: m.Owner, job: m.Job, ref: m.Ref, task: m.Task,
		long: m.Long})
	w.out.Launch(agent.Task{Job: m.Job, Index: m.Task})
}

func (w *stepped) ended(t agent.Task) {
	for i, r := range w.running {
		if r.job != t.Job || r.task != t.Index {
			continue
		}
		w.running[i] = w.running[len(w.running)-1]
		w.running = w.running[:len(w.running)-1]
		m := Message{Kind: Finished, Job: r.job, Ref: r.ref, Task: r.task}
		if r.long && w.Switches.Central {
			w.long--
		}
		if r.long && w.Switches.Ideal {
			w.out.SendInstant(r.owner, &m)
		} else {
			w.out.Send(r.owner, &m)
		}
		break
	}
	w.freed()
	w.change()
}

// freed is when a slot has become free.
func (w *stepped) freed() {
	w.next()
	if w.Switches.Steal && w.idle() {
		w.attempt++
		w.left = stealAttempts
		w.steal()
	}
}

// told is what a job has left. The probes of one with nothing left go; they may have gone already.
func (w *stepped) told(m *Message) {
	for i := range w.queue {
		if e := &w.queue[i]; e.job == m.Job && m.Version > e.version {
			e.left, e.version = m.Left, m.Version
		}
	}
	if m.Left == 0 {
		w.forget(m, true)
	}
}

// forget drops a job's probes that are not newer than a message, all or those that stick: others ask once each.
func (w *stepped) forget(m *Message, all bool) {
	kept := w.queue[:0]
	for _, e := range w.queue {
		if e.job != m.Job || e.task >= 0 || e.version > m.Version || !all && !e.sticks {
			kept = append(kept, e)
		}
	}
	w.queue = kept
}

// change has the next heartbeat tell of the queue.
func (w *stepped) change() {
	if w.Switches.Stale && !w.armed {
		w.armed = true
		w.out.Wake(w.Heartbeat-w.now%w.Heartbeat, 0)
	}
}

// beat tells all schedulers what waits and when what runs should end: a worker with nothing new tells nothing.
func (w *stepped) beat() {
	w.armed = false
	w.beats++
	m := Message{Kind: Beat, Version: w.beats}
	for i := range w.queue {
		m.Estimate += w.queue[i].estimate
	}
	for i, r := range w.running {
		if i == 0 || r.ends < m.At {
			m.At = r.ends
		}
	}
	for i := range w.Schedulers {
		w.out.Send(w.scheduler(i), &m)
	}
}

// steal asks a random worker of the general partition for probes, another one where this worker is of it (Hawk).
func (w *stepped) steal() {
	others := w.System.Config.Workers - w.general
	inside := int(w.at) >= w.general
	if inside {
		others--
	}
	if w.left == 0 || others == 0 {
		return
	}
	w.left--
	victim := w.general + w.random.Below(others)
	if inside && victim >= int(w.at) {
		victim++
	}
	w.out.Send(agent.Addr(victim), &Message{Kind: Steal, Version: w.attempt})
}

// robbed gives a thief the first short probes that wait behind a long task.
func (w *stepped) robbed(thief agent.Addr, m *Message) {
	from, to := w.loot()
	if from == to {
		w.out.Send(thief, &Message{Kind: Empty, Version: m.Version})
		return
	}
	for i := range w.queue[from:to] {
		e := &w.queue[from+i]
		w.out.Send(thief, &Message{Kind: Loot, Job: e.job, Ref: e.ref, Owner: e.owner, Estimate: e.estimate, Left: e.left,
			Version: e.version})
	}
	w.queue = append(w.queue[:from], w.queue[to:]...)
}

// loot is the range of a queue that may be stolen.
func (w *stepped) loot() (from, to int) {
	i, behind := 0, false
	for _, r := range w.running {
		behind = behind || r.long
	}
	for i < len(w.queue) && (!behind || w.queue[i].long) {
		behind = behind || w.queue[i].long
		i++
	}
	from = i
	for i < len(w.queue) && !w.queue[i].long && !w.queue[i].sticks && i-from < lootLimit {
		i++
	}
	return from, i
}
