package siding

import "github.com/hedgesched/hedge/sched/agent"

// worker does what its master orders, in the order of the numbers. So it never runs more than the master knows of.
type worker struct {
	tasks  []own
	orders int32     // carried out
	early  []Message // orders that have overtaken others
}

// own is a task on a worker, running or paused, and its share's number at the master.
type own struct {
	task   agent.Task
	ref    int32
	paused bool
}

func (w *worker) held() int { return len(w.tasks) + len(w.early) }

func (w *worker) step(master agent.Addr, in *agent.Input[Message], out *agent.Output[Message]) {
	switch in.Kind {
	case agent.Restarted:
		*w = worker{tasks: w.tasks[:0], early: w.early[:0]}
	case agent.Ended:
		i := w.find(in.Task)
		out.Send(master, &Message{Kind: Finished, Job: in.Task.Job, Task: in.Task.Index, Ref: w.tasks[i].ref})
		w.tasks = append(w.tasks[:i], w.tasks[i+1:]...)
	case agent.Received:
		w.early = append(w.early, in.Msg)
		for i := 0; i < len(w.early); i++ {
			if w.early[i].Number == w.orders+1 {
				w.obey(&w.early[i], out)
				w.early = append(w.early[:i], w.early[i+1:]...)
				i = -1
			}
		}
	}
}

// obey carries out an order. A victim, or a task to go on with, may have ended before.
func (w *worker) obey(m *Message, out *agent.Output[Message]) {
	w.orders++
	t := agent.Task{Job: m.Job, Index: m.Task}
	if m.Kind == Resume {
		if i := w.find(t); i >= 0 {
			w.tasks[i].paused = false
			out.Resume(t)
		}
		return
	}
	if i := w.find(m.Victim); i >= 0 {
		w.tasks[i].paused = true
		out.Pause(m.Victim)
	}
	w.tasks = append(w.tasks, own{task: t, ref: m.Ref})
	out.Launch(t)
}

func (w *worker) find(t agent.Task) int {
	for i := range w.tasks {
		if w.tasks[i].task == t {
			return i
		}
	}
	return -1
}
