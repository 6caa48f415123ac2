package agenttest

import "github.com/hedgesched/hedge/sched/agent"

// slots does what a worker asks of its slots, if it may.
func (w *world[M]) slots(at agent.Addr, a *agent.Action[M]) {
	t := w.task(a.Task)
	switch {
	case !w.isWorker(at) || t == nil:
		w.fail("part %d wants to run task %v", at, a.Task)
	case a.Do == agent.Launch:
		lost := t.state == over && t.life != w.nodes[t.at].life // and its end may have been with it
		if t.state != waiting && !lost {
			w.fail("worker %d launches task %v, which runs or has run", at, a.Task)
			return
		}
		w.launches++
		t.at, t.life, t.left = at, w.nodes[at].life, t.takes
		w.start(a.Task, t)
	case t.at != at || t.life != w.nodes[at].life:
		w.fail("worker %d has no task %v", at, a.Task)
	case a.Do == agent.Resume && t.state == paused:
		w.start(a.Task, t)
	case a.Do == agent.Pause && t.state == running:
		w.stop(t, paused)
	case a.Do == agent.Kill && t.state == running:
		w.stop(t, waiting)
	case a.Do == agent.Kill && t.state == paused:
		t.state = waiting
	default:
		w.fail("worker %d cannot pause, resume or kill task %v", at, a.Task)
	}
}

func (w *world[M]) task(t agent.Task) *task {
	if t.Job < 0 || int(t.Job) >= len(w.jobs) || !w.jobs[t.Job].submitted {
		return nil
	}
	if j := &w.jobs[t.Job]; t.Index >= 0 && int(t.Index) < len(j.tasks) {
		return &j.tasks[t.Index]
	}
	return nil
}

func (w *world[M]) start(name agent.Task, t *task) {
	n := &w.nodes[t.at]
	if n.used >= max(w.Slots, 1) {
		w.fail("worker %d runs more tasks than it has slots", t.at)
		return
	}
	n.used++
	w.order++
	t.state, t.since, t.run = running, w.now, w.order
	run := t.run
	w.after(t.left, 1, func() {
		if t.state != running || t.run != run {
			return
		}
		w.stop(t, over)
		if t.left != 0 {
			w.fail("task %v has ended with %v left", name, t.left)
		}
		w.step(t.at, &agent.Input[M]{Kind: agent.Ended, Task: name})
	})
}

func (w *world[M]) stop(t *task, to state) {
	w.nodes[t.at].used--
	t.left -= w.now - t.since
	t.state = to
}
