package central

import (
	"cmp"
	"slices"
	"time"

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/adapters/sim/agents"
	"github.com/hedgesched/hedge/adapters/sim/tasklog"
	"github.com/hedgesched/hedge/sched"
)

// history keeps what happens in a run, to be told in order of time.
type history struct {
	work    *agents.Workload
	jobOf   []int32
	numbers map[string]int32 // of nodes, by name
	node    []int32          // of each task, where it was last started
	moments []moment
}

// moment is something that happens to a task, or to a job where it is a submission.
type moment struct {
	at         time.Duration
	task, node int32
	rank       uint8 // among what happens at the same time
}

// The kinds of moments, in their order at one time. A task that takes no time ends after it has started.
const (
	submits uint8 = iota
	finishes
	stops
	starts
	finishesAtOnce
)

func newHistory(nodes []sched.Node, work *agents.Workload, jobOf []int32) *history {
	h := &history{work: work, jobOf: jobOf, numbers: make(map[string]int32, len(nodes)), node: make([]int32, len(jobOf))}
	for i := range nodes {
		h.numbers[nodes[i].Name] = int32(i)
	}
	return h
}

// cycle keeps the starts and preemptions of a cycle that was carried out.
func (h *history) cycle(c *sched.Cycle) {
	at := c.Now.Sub(sim.Epoch())
	for i := range c.Plan.Decisions {
		d := &c.Plan.Decisions[i]
		task, _ := Task(d.Job)
		switch d.Kind {
		case sched.Preempt:
			h.moments = append(h.moments, moment{at, int32(task), h.node[task], stops})
		case sched.Start:
			if len(d.Ranges) > 0 {
				h.node[task] = d.Ranges[0].From
			} else {
				h.node[task] = h.numbers[d.Nodes[0].Node]
			}
			h.moments = append(h.moments, moment{at, int32(task), h.node[task], starts})
		}
	}
}

// tell tells the observer everything.
func (h *history) tell(to tasklog.Observer, r *agents.Result, found *sim.Result) {
	for i := range h.work.Jobs {
		h.moments = append(h.moments, moment{at: h.work.Jobs[i].Submit, task: int32(i), rank: submits})
	}
	for i := range found.Jobs {
		task, _ := Task(found.Jobs[i].ID)
		m := moment{found.Jobs[i].Finish, int32(task), h.node[task], finishes}
		if found.Jobs[i].Start == m.at {
			m.rank = finishesAtOnce
		}
		h.moments = append(h.moments, m)
	}
	slices.SortStableFunc(h.moments, func(a, b moment) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.rank, b.rank))
	})
	kinds := [...]tasklog.Kind{finishes: tasklog.Finish, stops: tasklog.Stop, starts: tasklog.Start,
		finishesAtOnce: tasklog.Finish}
	var note tasklog.Record
	for _, m := range h.moments {
		if note = (tasklog.Record{Kind: tasklog.Submit, At: m.at, Job: m.task}); m.rank == submits {
			note.Long, note.Durations = r.Jobs[m.task].Long, h.work.Tasks(&h.work.Jobs[m.task])
		} else {
			job := h.jobOf[m.task]
			note = tasklog.Record{Kind: kinds[m.rank], At: m.at, Job: job, Task: m.task - h.work.Jobs[job].First,
				Worker: m.node}
		}
		to.Observe(&note)
	}
}
