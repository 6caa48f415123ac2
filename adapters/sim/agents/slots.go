package agents

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/hedgesched/hedge/adapters/sim/event"
	"github.com/hedgesched/hedge/adapters/sim/tasklog"
	"github.com/hedgesched/hedge/sched/agent"
)

// node is what a worker's slots do.
type node struct {
	running    []run
	used       int32
	paused     int32  // pauses that no task has paid for
	life, told uint32 // the number of its crashes, and of those that others have been told of
	room       [1]run // of running, while that suffices: beside it in memory
}

// run is a task on a node, running or paused.
type run struct {
	task, job int32 // of the workload
	end       event.Handle
	// left is what it takes from since on; while it is paused, from when it is resumed.
	left, since time.Duration
}

// task is a task's state.
type task struct{ state state }

type state uint8

const (
	waiting state = iota
	running
	paused
	over
)

// physics does what a worker asks of its slots.
func (w *world[M]) physics(at agent.Addr, a *agent.Action[M]) {
	if int(at) >= w.workers {
		w.fail("part %d runs a task and is no worker", at)
		return
	}
	id, ok := w.number(a.Task)
	if !ok {
		w.fail("worker %d wants task %d of job %d, which is not there", at, a.Task.Index, a.Task.Job)
		return
	}
	n, was := &w.nodes[at], w.tasks[id].state
	if a.Do == agent.Launch {
		again := was == over && w.Crashes > 0
		if was != waiting && !again {
			w.fail("worker %d launches task %d of job %d, which runs or has run", at, a.Task.Index, a.Task.Job)
			return
		}
		w.result.Launches++
		r := &w.result.Jobs[a.Task.Job]
		r.Wait += (w.core.Now() - r.Submit).Seconds()
		n.running = append(n.running, run{task: id, job: a.Task.Job, left: w.work.Runtimes[id]})
		w.start(at, &n.running[len(n.running)-1])
		w.observe(tasklog.Start, at, a.Task)
		return
	}
	i := n.find(id)
	switch {
	case i < 0 || (a.Do == agent.Pause && was != running) || (a.Do == agent.Resume && was != paused):
		w.fail("worker %d cannot pause, resume or kill task %d of job %d", at, a.Task.Index, a.Task.Job)
	case a.Do == agent.Pause:
		w.stop(n, &n.running[i], paused)
		n.paused++
		w.result.Pauses++
		w.observe(tasklog.Pause, at, a.Task)
	case a.Do == agent.Resume:
		n.running[i].left += w.ResumeCost
		w.start(at, &n.running[i])
		w.observe(tasklog.Resume, at, a.Task)
	case a.Do == agent.Kill:
		if was == running {
			w.stop(n, &n.running[i], waiting)
		}
		w.tasks[id].state = waiting
		n.drop(i)
		w.observe(tasklog.Stop, at, a.Task)
	}
}

// observe tells the observer what became of a task.
func (w *world[M]) observe(kind tasklog.Kind, at agent.Addr, t agent.Task) {
	if w.Observer != nil {
		w.note = tasklog.Record{Kind: kind, At: w.core.Now(), Job: t.Job, Task: t.Index, Worker: int32(at)}
		w.Observer.Observe(&w.note)
	}
}

// number is a task's place in the workload.
func (w *world[M]) number(t agent.Task) (int32, bool) {
	if t.Job < 0 || int(t.Job) >= len(w.work.Jobs) || w.result.Jobs[t.Job].Submit > w.core.Now() {
		return 0, false
	}
	j := &w.work.Jobs[t.Job]
	return j.First + t.Index, t.Index >= 0 && t.Index < j.Tasks
}

// start takes a slot for a task.
func (w *world[M]) start(at agent.Addr, r *run) {
	n := &w.nodes[at]
	if int(n.used) >= w.Slots {
		w.fail("worker %d runs more tasks than its %d slots", at, w.Slots)
		return
	}
	if r.left > math.MaxInt64-w.core.Now() {
		w.err = cmp.Or(w.err, fmt.Errorf("%w: a task of job %d that starts at %v would end after %v", ErrWorkload, r.job,
			w.core.Now(), time.Duration(math.MaxInt64)))
		return
	}
	n.used++
	if n.paused > 0 {
		n.paused--
		r.left += w.PauseCost
	}
	w.load.change(w.core.Now(), 1)
	r.since = w.core.Now()
	w.tasks[r.task].state = running
	r.end = w.core.After(r.left, ended, happening[M]{to: at, number: r.task, job: r.job})
}

// stop gives a slot back; what the task still takes is kept.
func (w *world[M]) stop(n *node, r *run, to state) {
	n.used--
	w.load.change(w.core.Now(), -1)
	r.left -= w.core.Now() - r.since
	w.core.Cancel(r.end)
	w.tasks[r.task].state = to
}

// end is the end of a task.
func (w *world[M]) end(at agent.Addr, job, id int32) {
	n := &w.nodes[at]
	n.drop(n.find(id))
	n.used--
	w.load.change(w.core.Now(), -1)
	w.tasks[id].state = over
	w.result.Jobs[job].End = w.core.Now()
	w.in.Kind, w.in.Task = agent.Ended, agent.Task{Job: job, Index: id - w.work.Jobs[job].First}
	w.observe(tasklog.Finish, at, w.in.Task)
	w.step(at)
}

func (n *node) find(id int32) int {
	for i := range n.running {
		if n.running[i].task == id {
			return i
		}
	}
	return -1
}

func (n *node) drop(i int) {
	last := len(n.running) - 1
	n.running[i] = n.running[last]
	n.running = n.running[:last]
}

// crashLater draws the next crash.
func (w *world[M]) crashLater() {
	if w.Crashes == 0 || w.open == 0 {
		return
	}
	hours := -math.Log(1-w.random.Unit()) / w.Crashes
	w.core.After(time.Duration(float64(min(hours, 1e6)*float64(time.Hour))), crashed, happening[M]{})
}

// crash takes a random worker away. Its tasks have to run again. It comes back empty, and then others are told.
func (w *world[M]) crash() {
	if w.open == 0 {
		return
	}
	at := w.random.Below(w.workers)
	if n := &w.nodes[at]; n.life == n.told {
		n.life++
		w.result.Crashed++
		for i := range n.running {
			r := &n.running[i]
			if w.tasks[r.task].state == running {
				w.stop(n, r, waiting)
			}
			w.tasks[r.task].state = waiting
			w.observe(tasklog.Stop, agent.Addr(at), agent.Task{Job: r.job, Index: r.task - w.work.Jobs[r.job].First})
		}
		n.running, n.paused = n.running[:0], 0
		w.observe(tasklog.Loss, agent.Addr(at), agent.Task{})
		w.core.After(w.Repair, restarted, happening[M]{to: agent.Addr(at)})
	}
	w.crashLater()
}

// restart brings a crashed worker back, and tells those that are no workers.
func (w *world[M]) restart(at agent.Addr) {
	w.nodes[at].told = w.nodes[at].life
	w.in.Kind = agent.Restarted
	w.step(at)
	for to := w.workers; to < w.system.Parts(); to++ {
		w.in.Kind, w.in.From = agent.Lost, at
		w.step(agent.Addr(to))
	}
}

// load adds up the slots in use between two times.
type load struct {
	from, to, at time.Duration
	used         int
	seconds      float64
}

// change counts slots that are taken, or given back where by is negative.
func (l *load) change(now time.Duration, by int) {
	a, b := min(max(l.at, l.from), l.to), min(max(now, l.from), l.to)
	l.seconds += float64(float64(l.used) * (b - a).Seconds())
	l.at = now
	l.used += by
}

func (l *load) mean(slots int) float64 {
	l.change(max(l.to, l.at), 0)
	if span := (l.to - l.from).Seconds(); span > 0 {
		return l.seconds / (span * float64(slots))
	}
	return 0
}
