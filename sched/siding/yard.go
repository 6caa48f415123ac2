package siding

import (
	"time"

	"github.com/hedgesched/hedge/sched/agent"
)

// yard is the state of the yard: what waits, and the room of all groups.
type yard struct {
	*Config
	jobs   agent.Slab[job] // the long ones
	queues [2]order        // short, long
	groups []group
	// most are the groups by idle slots for long tasks, by those for short ones, and by tasks that may be paused.
	most   [3]ranking
	shorts int // handed out since a long task that waits
}

// job is a long job: how many of its tasks have not ended.
type job struct{ id, left int32 }

// group is what is known of a group.
type group struct {
	room        Room
	number      int32
	long, short int32 // tasks sent to it
}

func newYard(c *Config, masters []master) yard {
	y := yard{Config: c, groups: make([]group, len(masters))}
	for k := range y.most {
		y.most[k] = newRanking(len(masters))
	}
	for i := range masters {
		y.groups[i].room = masters[i].now
		y.rank(i)
	}
	return y
}

func (y *yard) held() int { return y.jobs.Len() + len(y.queues[0]) + len(y.queues[1]) }

func (y *yard) step(now time.Duration, in *agent.Input[Message], out *agent.Output[Message]) {
	switch in.Kind {
	case agent.Submitted:
		ref, own := y.jobs.Add()
		*own = job{in.Job.ID, in.Job.Tasks}
		y.wait(now, waiting{Batch: agent.Batch{Job: in.Job.ID, Of: in.Job.Of, Ref: ref, Step: 1, Count: in.Job.Tasks, Long: true},
			owner: y.atYard(), estimate: in.Job.Estimate})
	case agent.Received:
		y.told(now, in.From, &in.Msg, out)
	}
	y.dispatch(out)
}

func (y *yard) told(now time.Duration, from agent.Addr, m *Message, out *agent.Output[Message]) {
	switch m.Kind {
	case Overflow:
		y.wait(now, waiting{Batch: agent.Batch{Job: m.Job, Of: m.Job, Task: m.Task, Step: m.Step, Count: m.Count},
			owner: m.Owner, estimate: m.Estimate})
	case Over:
		j := y.jobs.At(m.Ref)
		if j.left -= m.Count; j.left == 0 {
			out.Done(j.id)
			y.jobs.Remove(m.Ref)
		}
	case Tell:
		i := int(from) - y.Workers
		if g := &y.groups[i]; m.Number > g.number {
			g.number, g.room = m.Number, m.Room
			y.rank(i)
		}
	}
}

// rank ranks a group by the room that it has when what was sent has come.
func (y *yard) rank(i int) {
	g := &y.groups[i]
	r := g.room.after(g.long-g.room.Long, g.short-g.room.Short)
	y.most[0].set(i, r.Free)
	y.most[1].set(i, r.Free+r.Reserved)
	y.most[2].set(i, r.Pausable)
}

func (y *yard) wait(now time.Duration, w waiting) {
	work := float64(w.estimate.Seconds() * float64(w.Count))
	w.key = now.Seconds() + float64(y.Lean*work)/float64(y.Workers*y.Slots)
	if w.Long {
		y.queues[1].push(w)
	} else {
		y.queues[0].push(w)
	}
}

// dispatch hands out what there is room for: short tasks to idle slots, else to where long ones may be paused; long
// ones to the idle slots that are left.
func (y *yard) dispatch(out *agent.Output[Message]) {
	for len(y.queues[0]) > 0 {
		i, room := y.most[1].top()
		if room > 0 && len(y.queues[1]) > 0 && y.shorts >= y.Weight {
			if at, free := y.most[0].top(); free > 0 {
				y.shorts = 0
				y.hand(at, 1, &y.queues[1], out)
				continue
			}
		}
		if room <= 0 {
			i, room = y.most[2].top()
		}
		if room <= 0 {
			break
		}
		y.shorts += int(y.hand(i, room, &y.queues[0], out))
	}
	for len(y.queues[1]) > 0 {
		i, room := y.most[0].top()
		if room <= 0 {
			return
		}
		y.shorts = 0
		y.hand(i, room, &y.queues[1], out)
	}
}

// hand hands a master a part of what is first in a queue, and tells how many tasks.
func (y *yard) hand(i int, room int32, q *order, out *agent.Output[Message]) int32 {
	w := &(*q)[0]
	n := min(room, (w.Count-1)/int32(len(y.groups))+1)
	out.Send(y.atMaster(i), &Message{Kind: Grant, Long: w.Long, Job: w.Job, Ref: w.Ref, Task: w.Task, Step: w.Step,
		Count: n, Owner: w.owner, Estimate: w.estimate})
	if w.Long {
		y.groups[i].long += n
	} else {
		y.groups[i].short += n
	}
	y.rank(i)
	w.Task += n * w.Step
	if w.Count -= n; w.Count == 0 {
		q.pop()
	}
	return n
}
