package siding

import (
	"math"
	"time"

	"github.com/hedgesched/hedge/sched/agent"
)

// yard is the state of the yard: what waits, and the room of all groups.
type yard struct {
	*Config
	jobs   agent.Slab[job] // the long ones
	queues [2]order        // short, long
	groups []group
	// most are the groups by the room that they have.
	most [rooms]ranking
	// shorts counts short tasks that were handed out since a long one that waits.
	shorts int
	// awake is when it wakes for a short task that waited long enough, if it is armed.
	awake time.Duration
	armed bool
}

// The kinds of room by which groups are ranked: idle slots for tasks of a class, and long tasks that may be paused.
const (
	freeLong = iota
	freeShort
	pausable

	rooms
)

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
		b := agent.Batch{Job: in.Job.ID, Ref: ref, Step: 1, Count: in.Job.Tasks, Long: true}
		y.wait(now, waiting{Batch: b, owner: y.atYard(), estimate: in.Job.Estimate})
	case agent.Received:
		y.told(now, in.From, &in.Msg, out)
	case agent.Fired:
		y.armed = y.armed && now < y.awake
	}
	y.dispatch(now, out)
}

func (y *yard) told(now time.Duration, from agent.Addr, m *Message, out *agent.Output[Message]) {
	switch m.Kind {
	case Overflow:
		b := agent.Batch{Job: m.Job, Task: m.Task, Step: m.Step, Count: m.Count}
		y.wait(now, waiting{Batch: b, owner: m.Owner, estimate: m.Estimate})
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
	y.most[freeLong].set(i, r.Free)
	y.most[freeShort].set(i, r.Free+r.Reserved)
	y.most[pausable].set(i, r.Pausable)
}

// wait has tasks wait in order of arrival, as if they had come later by their estimates or by their job's work.
func (y *yard) wait(now time.Duration, w waiting) {
	if !w.Long {
		w.key = now + seconds(y.Bypass*w.estimate.Seconds())
		w.due = now + seconds(y.Patience*w.estimate.Seconds())
		y.queues[0].push(w)
		return
	}
	work := float64(w.estimate.Seconds() * float64(w.Count))
	w.key = now + seconds(y.Lean*work/(float64(y.Workers)*float64(y.Slots)))
	y.queues[1].push(w)
}

// seconds is a time of so many of them, at most some 146 years.
func seconds(s float64) time.Duration { return time.Duration(min(s*1e9, math.MaxInt64/2)) }

// dispatch hands out what there is room for: short tasks to idle slots, else to where long ones may be paused; long
// ones to the idle slots that are left.
func (y *yard) dispatch(now time.Duration, out *agent.Output[Message]) {
	short, long := &y.queues[0], &y.queues[1]
	for len(*short) > 0 {
		if i, room := y.most[freeLong].top(); room > 0 && len(*long) > 0 && y.shorts >= y.Weight {
			y.shorts = 0
			y.hand(i, 1, long, out)
			continue
		}
		i, room := y.most[freeShort].top()
		if room == 0 && y.due(now, out) {
			i, room = y.most[pausable].top()
		}
		if room == 0 {
			break
		}
		n := y.hand(i, room, short, out)
		if len(*long) > 0 {
			y.shorts += int(n)
		}
	}
	for len(*long) > 0 {
		i, room := y.most[freeLong].top()
		if room == 0 {
			return
		}
		y.shorts = 0
		y.hand(i, room, long, out)
	}
}

// due tells whether the first short task has waited long enough to pause a long one; the yard wakes when it has.
func (y *yard) due(now time.Duration, out *agent.Output[Message]) bool {
	if y.Bound == 0 {
		return false
	}
	at := y.queues[0][0].due
	if at > now && (!y.armed || at < y.awake) {
		y.armed, y.awake = true, at
		out.Wake(at-now, 0)
	}
	return at <= now
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
