package kairos

import (
	"time"

	"github.com/hedgesched/hedge/sched/agent"
)

// worker is the state of a node scheduler: least attained service first, by time slices (Algorithm 1).
type worker struct {
	tasks   []entry
	ended   []done // since the last heartbeat
	running int
	// starts counts those of tasks, as names of their timers; got the tasks it ever got, beats the heartbeats.
	starts     uint32
	got, beats int32
	armed      bool // a heartbeat is to come
}

// entry is a task on a node, running or suspended.
type entry struct {
	done
	attained, since time.Duration // service until since; of one that does not run, since when it does not
	guarded         time.Duration // until when it is not preempted
	quantum         time.Duration // when its quantum began
	start           uint32        // the timer of its quantum
	preempted       int32         // since it was last guarded
	running, begun  bool
	// armed is that the timer is set: it is not where nothing waits, as then the quantum's end would change nothing.
	armed bool
}

// done is a task, and its job's number at the central scheduler.
type done struct {
	task agent.Task
	ref  int32
}

// timerBeat is the heartbeat's timer; quanta have others.
const timerBeat = 0

// stepped is a worker during a step.
type stepped struct {
	*Config
	*worker
	now time.Duration
	out *agent.Output[Message]
}

func (w *stepped) step(in *agent.Input[Message]) {
	switch in.Kind {
	case agent.Received:
		w.arrive(&in.Msg)
		if len(w.tasks) > w.running {
			w.wait()
		}
		w.change()
	case agent.Ended:
		w.end(in.Task)
		w.change()
	case agent.Fired:
		if in.Timer == timerBeat {
			w.beat()
		} else {
			w.quantum(in.Timer)
		}
	case agent.Restarted:
		*w.worker = worker{tasks: w.tasks[:0], ended: w.ended[:0]}
	}
}

// arrive runs a new task at once: on a free core or in place of the task that has attained the most. It waits only
// where every core is guarded.
func (w *stepped) arrive(m *Message) {
	w.got++
	w.tasks = append(w.tasks, entry{done: done{agent.Task{Job: m.Job, Index: m.Task}, m.Ref}, since: w.now})
	if w.running == w.Slots {
		oldest := -1
		for i := range w.tasks {
			e := &w.tasks[i]
			if e.running && w.now >= e.guarded && (oldest < 0 || w.attained(e) > w.attained(&w.tasks[oldest])) {
				oldest = i
			}
		}
		if oldest < 0 {
			return
		}
		w.preempt(&w.tasks[oldest])
	}
	w.run(&w.tasks[len(w.tasks)-1])
}

// wait sets the timers of the quanta that run, once something waits for their ends.
func (w *stepped) wait() {
	for i := range w.tasks {
		e := &w.tasks[i]
		if !e.running || e.armed {
			continue
		}
		e.armed = true
		passed := w.now - e.quantum
		quanta := max(1, (passed+w.Quantum-1)/w.Quantum)
		w.out.Wake(quanta*w.Quantum-passed, e.start)
	}
}

// attained is the service of a task until now, that of the running quantum included.
func (w *stepped) attained(e *entry) time.Duration {
	if e.running {
		return e.attained + w.now - e.since
	}
	return e.attained
}

func (w *stepped) preempt(e *entry) {
	e.attained = w.attained(e)
	e.running, e.since = false, w.now
	e.preempted++
	w.running--
	w.out.Pause(e.task)
}

// run gives a task a core and arms its quantum. One that was preempted often is guarded.
func (w *stepped) run(e *entry) {
	if e.begun {
		w.out.Resume(e.task)
	} else {
		w.out.Launch(e.task)
	}
	if w.due(e) {
		e.preempted = 0
		e.guarded = w.now + time.Duration(w.GuardQuanta)*w.Quantum
	}
	e.running, e.begun = true, true
	e.since = w.now
	w.running++
	w.arm(e)
}

func (w *stepped) arm(e *entry) {
	if w.starts++; w.starts == timerBeat {
		w.starts++
	}
	e.start, e.quantum = w.starts, w.now
	if e.armed = len(w.tasks) > w.running; e.armed {
		w.out.Wake(w.Quantum, e.start)
	}
}

// due tells whether a task is guarded when it runs next.
func (w *stepped) due(e *entry) bool {
	switch {
	case w.Guard == 0 || w.GuardQuanta == 0:
		return false
	case w.GuardWaits:
		return w.now-e.since >= time.Duration(w.Guard)*w.Quantum
	}
	return int(e.preempted) >= w.Guard
}

// youngest is the suspended task that runs next: one that is due, then the one that has attained the least; nil for
// none.
func (w *stepped) youngest() *entry {
	var best *entry
	for i := range w.tasks {
		e := &w.tasks[i]
		if e.running {
			continue
		}
		if best == nil || w.due(e) && !w.due(best) || w.due(e) == w.due(best) && e.attained < best.attained {
			best = e
		}
	}
	return best
}

func (w *stepped) end(t agent.Task) {
	for i := range w.tasks {
		if e := &w.tasks[i]; e.task == t {
			w.ended = append(w.ended, e.done)
			w.running--
			w.tasks = append(w.tasks[:i], w.tasks[i+1:]...)
			break
		}
	}
	if e := w.youngest(); e != nil {
		w.run(e)
	}
}

// quantum is the end of a time slice: a suspended task that has attained no more takes the core.
func (w *stepped) quantum(timer uint32) {
	for i := range w.tasks {
		e := &w.tasks[i]
		if !e.running || e.start != timer {
			continue
		}
		next := w.youngest()
		if next == nil || w.now < e.guarded || !w.due(next) && next.attained > w.attained(e) {
			w.arm(e)
			return
		}
		w.preempt(e)
		w.run(next)
		w.change()
		return
	}
}

// change has the next heartbeat tell of the tasks.
func (w *stepped) change() {
	if !w.armed {
		w.armed = true
		w.out.Wake(w.Interval-w.now%w.Interval, timerBeat)
	}
}

func (w *stepped) beat() {
	w.armed = false
	for _, d := range w.ended {
		w.out.Send(w.atCentral(), &Message{Kind: Finished, Job: d.task.Job, Ref: d.ref, Task: d.task.Index})
	}
	w.ended = w.ended[:0]
	w.beats++
	m := Message{Kind: Beat, Number: w.beats, Got: w.got, Load: Load{At: w.now}}
	for i := range w.tasks {
		e := &w.tasks[i]
		m.Load.add(w.attained(e), e.running)
	}
	w.out.Send(w.atCentral(), &m)
}

// atCentral is the address of the central scheduler.
func (c *Config) atCentral() agent.Addr { return agent.Addr(c.Workers) }
