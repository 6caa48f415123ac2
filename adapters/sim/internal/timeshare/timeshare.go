// Package timeshare simulates machines that many tasks share. CPU is shared in time by the tasks' requests. Memory is
// hard: a machine that runs short of it evicts tasks.
//
// The simulation is exact and goes from event to event. A task's use is a series of segments. A segment of a task that
// gets all the CPU it wants ends on time; one that gets less takes longer, in proportion. The changes of one instant
// come first, then one [Machines.Settle] shares out anew what the changed machines have. The work of a change is
// proportional to the tasks on its machine, and no other machine is looked at.
//
// The package knows no jobs, no gangs and no scheduler.
package timeshare

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/hedgesched/hedge/adapters/sim/event"
	"github.com/hedgesched/hedge/adapters/sim/usage"
)

// Capacity is what a machine has.
type Capacity struct{ CPU, Memory float64 }

// Task is what a task asks for and does.
type Task struct {
	// Owner and Index are the host's names for the task, which its end carries.
	Owner, Index int32
	// Priority orders evictions, lowest first.
	Priority int
	// CPU and Memory are its requests, not negative.
	CPU, Memory float64
	// Use is valid.
	Use usage.Series
}

// EvictAt is the share of its memory up to which a machine keeps all its tasks. Kubernetes and the thesis set such a
// threshold below the capacity, so that the operating system's own killer never gets to choose.
const EvictAt = 0.95

// leastShare is the least weight of a task, as part of the machine's CPU: Linux has shares of 2 to 262,144.
const leastShare = 2.0 / 262144

// never is the end of a segment that gets no CPU, or so little that a time.Duration cannot hold the end.
const never = time.Duration(math.MaxInt64)

// End is a task that is off its machine.
type End struct {
	// Task is its handle, which names it no more.
	Task int32
	// Owner and Index are as at its start.
	Owner, Index int32
	Used         Used
}

// Used is what a task was seen to use.
type Used struct {
	// Ran is how long it was on its machine.
	Ran time.Duration
	// CPUTime is CPU times seconds that it got. MemoryTime is memory times seconds.
	CPUTime, MemoryTime float64
	// MaxCPU and MaxMemory are the most of each that it had at any time.
	MaxCPU, MaxMemory float64
	// Throttled tells that it got less CPU than it wanted at some time, so that what is told of CPU is a lower bound.
	Throttled bool
}

// Totals are sums over all machines, up to the window's end where there is a window.
type Totals struct {
	// CPUTime is CPU times seconds that tasks got.
	CPUTime float64
	// Over is machine time, in seconds, in which tasks wanted more CPU than the machine has.
	Over float64
	// Throttles is how often a task began to get less CPU than it wanted.
	Throttles int
	// Evictions is how many tasks were evicted.
	Evictions int
	// Events is how many starts, stops, ends of segments and evictions there were.
	Events int64
}

// slot is a task on its machine, with what is needed to share CPU.
type slot struct {
	end   time.Duration // when the segment ends if nothing changes
	since time.Duration // when left and rate were last set
	left  float64       // of the segment, in nanoseconds at full speed
	rate  float64       // work done per time, 0 to 1
	want  float64       // CPU
	share float64       // weight
	ratio float64       // want over share
	mem   float64
	top   float64 // the most CPU that it had
	task  int32
	short bool // it gets less than it wants
	ever  bool // it did so at some time
}

// machine is one machine.
type machine struct {
	Capacity
	slots []slot // in order of start
	next  event.Handle
	due   time.Duration // of next; never if there is none
	dirty bool
	since time.Duration // from when used and over hold
	used  float64       // CPU that tasks get
	over  bool
}

// task is what is rarely needed of a task.
type task struct {
	Task
	machine int32
	segment int
	started time.Duration
	begun   time.Duration // when the segment began
	used    Used          // in the segments before
}

// Machines are machines and what runs on them. Times never fall from one call to the next. It is not safe for
// concurrent use.
type Machines struct {
	machines []machine
	tasks    []task
	free     []int32
	dirty    []int32 // machines to settle, in the order in which they changed
	queue    event.Queue[int32]
	evicted  []End
	settled  time.Duration // when evicted were evicted
	window   time.Duration
	totals   Totals
	hungry   []int32 // scratch of ration
}

// New makes idle machines. Capacities are finite and not negative. A window above 0 ends what is counted of CPUTime and
// Over in [Totals].
func New(capacity []Capacity, window time.Duration) *Machines {
	m := &Machines{machines: make([]machine, len(capacity)), window: window}
	if window <= 0 {
		m.window = never
	}
	for i := range capacity {
		m.machines[i] = machine{Capacity: capacity[i], due: never}
	}
	return m
}

// Start puts a task on a machine and returns its handle, which names it until it ends. The task begins with its first
// segment. Nobody's share changes before the next Settle.
func (m *Machines) Start(at time.Duration, on int32, t Task) int32 {
	id := int32(len(m.tasks))
	if n := len(m.free); n > 0 {
		id, m.free = m.free[n-1], m.free[:n-1]
	} else {
		m.tasks = append(m.tasks, task{})
	}
	m.tasks[id] = task{Task: t, machine: on, started: at}
	x := &m.machines[on]
	x.slots = append(x.slots, slot{task: id, share: max(t.CPU, leastShare*x.CPU)})
	m.load(&x.slots[len(x.slots)-1], at)
	m.mark(on)
	m.totals.Events++
	return id
}

// load begins the task's current segment, at full speed until the machine is settled.
func (m *Machines) load(s *slot, at time.Duration) {
	t := &m.tasks[s.task]
	t.begun = at
	g := &t.Use[t.segment]
	s.want, s.mem, s.left, s.since, s.rate, s.ratio = g.CPU, g.Memory, float64(g.Duration), at, 1, 0
	if s.share > 0 {
		s.ratio = s.want / s.share
	}
	s.end = later(at, s.left)
}

// later is a time and a number of nanoseconds, rounded to the nearest; never if no time.Duration holds it.
func later(at time.Duration, nanoseconds float64) time.Duration {
	if !(nanoseconds < float64(never-at)) {
		return never
	}
	return at + time.Duration(math.Round(nanoseconds))
}

func (m *Machines) mark(on int32) {
	if x := &m.machines[on]; !x.dirty {
		x.dirty = true
		m.dirty = append(m.dirty, on)
	}
}

// Stop takes a task off its machine and tells what it used.
func (m *Machines) Stop(at time.Duration, id int32) Used {
	on := m.tasks[id].machine
	x := &m.machines[on]
	k := x.find(id)
	used := m.usedBy(&x.slots[k], at, x.slots[k].remaining(at))
	x.slots = slices.Delete(x.slots, k, k+1)
	m.release(id)
	m.mark(on)
	m.totals.Events++
	return used
}

// find is the place of a task in its machine.
func (x *machine) find(id int32) int {
	return slices.IndexFunc(x.slots, func(s slot) bool { return s.task == id })
}

func (m *Machines) release(id int32) {
	m.tasks[id] = task{}
	m.free = append(m.free, id)
}

// usedBy is what a task has used up to a time at which so much is left of its segment, in nanoseconds at full speed.
func (m *Machines) usedBy(s *slot, at time.Duration, left float64) Used {
	t := &m.tasks[s.task]
	used := t.used
	used.Ran = at - t.started
	done := float64(t.Use[t.segment].Duration) - left
	used.CPUTime += float64(s.want * done / 1e9)
	used.MemoryTime += float64(s.mem * (at - t.begun).Seconds())
	used.MaxCPU, used.MaxMemory = max(s.top, float64(s.want*s.rate)), max(used.MaxMemory, s.mem)
	used.Throttled = s.ever
	return used
}

// remaining is what is left of the segment, in nanoseconds at full speed.
func (s *slot) remaining(at time.Duration) float64 {
	return max(0, s.left-float64(float64(at-s.since)*s.rate))
}

// Look is what a task gets at present, and whether that is less CPU than it wants.
func (m *Machines) Look(id int32) (cpu, memory float64, throttled bool) {
	x := &m.machines[m.tasks[id].machine]
	s := &x.slots[x.find(id)]
	return float64(s.want * s.rate), s.mem, s.rate < 1
}

// Used is what a running task has used up to a time.
func (m *Machines) Used(at time.Duration, id int32) Used {
	x := &m.machines[m.tasks[id].machine]
	s := &x.slots[x.find(id)]
	return m.usedBy(s, at, s.remaining(at))
}

// Next is the next instant at which something happens by itself.
func (m *Machines) Next() (at time.Duration, ok bool) {
	if len(m.evicted) > 0 {
		return m.settled, true
	}
	at, _, ok = m.queue.Peek()
	return at, ok
}

// Happen lets everything happen that is due at an instant, which is that of [Machines.Next] or earlier. It adds the
// tasks that have done all their work to completed, and those that the last Settle evicted to evicted, both in the
// order of their owners, then indices.
func (m *Machines) Happen(at time.Duration, completed, evicted []End) (c, e []End) {
	if len(m.evicted) > 0 {
		evicted = append(evicted, m.evicted...)
		m.evicted = m.evicted[:0]
	}
	from := len(completed)
	for due, _, ok := m.queue.Peek(); ok && due <= at; due, _, ok = m.queue.Peek() {
		e, _ := m.queue.Pop()
		m.machines[e.Payload].due = never
		completed = m.expire(e.Payload, at, completed)
		m.mark(e.Payload)
	}
	slices.SortFunc(completed[from:], byTask)
	return completed, evicted
}

func byTask(a, b End) int {
	return cmp.Or(cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.Index, b.Index))
}

// expire ends the segments of a machine that are over.
func (m *Machines) expire(on int32, at time.Duration, completed []End) []End {
	x := &m.machines[on]
	kept := x.slots[:0]
	for k := range x.slots {
		s := &x.slots[k]
		if s.end > at {
			kept = append(kept, *s)
			continue
		}
		m.totals.Events++
		t := &m.tasks[s.task]
		used := m.usedBy(s, at, 0)
		s.top = used.MaxCPU
		if t.segment++; t.segment == len(t.Use) {
			completed = append(completed, End{Task: s.task, Owner: t.Owner, Index: t.Index, Used: used})
			m.release(s.task)
			continue
		}
		t.used = used
		m.load(s, at)
		kept = append(kept, *s)
	}
	clear(x.slots[len(kept):])
	x.slots = kept
	return completed
}

// Settle shares out anew what the machines have that changed since the last Settle. Where memory is short, it evicts
// tasks; the next Happen, at the same instant, tells which.
func (m *Machines) Settle(at time.Duration) {
	from := len(m.evicted)
	for _, on := range m.dirty {
		x := &m.machines[on]
		x.dirty = false
		m.account(x, at)
		m.relieve(x, at)
		m.ration(x, at)
		m.schedule(x, on)
	}
	m.dirty = m.dirty[:0]
	if len(m.evicted) > from {
		m.settled = at
		slices.SortFunc(m.evicted[from:], byTask)
	}
}

// account counts how the machine was used since the last time.
func (m *Machines) account(x *machine, at time.Duration) {
	passed := min(at, m.window) - min(x.since, m.window)
	x.since = at
	m.totals.CPUTime += float64(x.used * passed.Seconds())
	if x.over {
		m.totals.Over += passed.Seconds()
	}
}

// tolerance is the part of a capacity by which rounded sums may exceed it.
const tolerance = 1e-9

// relieve evicts tasks until the machine's memory is enough.
func (m *Machines) relieve(x *machine, at time.Duration) {
	limit := EvictAt * x.Memory * (1 + tolerance)
	for x.memory() > limit {
		k := m.victim(x)
		s := &x.slots[k]
		t := &m.tasks[s.task]
		used := m.usedBy(s, at, s.remaining(at))
		m.evicted = append(m.evicted, End{Task: s.task, Owner: t.Owner, Index: t.Index, Used: used})
		m.release(s.task)
		x.slots = slices.Delete(x.slots, k, k+1)
		m.totals.Evictions++
		m.totals.Events++
	}
}

func (x *machine) memory() float64 {
	sum := 0.0
	for k := range x.slots {
		sum += x.slots[k].mem
	}
	return sum
}

// victim is the task to be evicted first: of least priority, then the one that uses most memory above its request, then
// the one that uses most memory, then the one that started last. A task that uses no memory is none.
func (m *Machines) victim(x *machine) int {
	best := -1
	for k := range x.slots {
		if x.slots[k].mem > 0 && (best < 0 || m.sooner(&x.slots[k], &x.slots[best])) {
			best = k
		}
	}
	return best
}

func (m *Machines) sooner(a, b *slot) bool {
	s, t := &m.tasks[a.task], &m.tasks[b.task]
	switch over, least := max(0, a.mem-s.Memory), max(0, b.mem-t.Memory); {
	case s.Priority != t.Priority:
		return s.Priority < t.Priority
	case over != least:
		return over > least
	}
	return a.mem >= b.mem
}

// ration shares out the machine's CPU. A task gets what it wants, or its share of what the others leave, whichever is
// less: those that want less than their share get it all, and what is left is shared among the others by their weights,
// until nobody wants less than that.
func (m *Machines) ration(x *machine, at time.Duration) {
	total := 0.0
	for k := range x.slots {
		total += x.slots[k].want
	}
	x.over = total > x.CPU*(1+tolerance)
	if !x.over {
		x.used = total
		for k := range x.slots {
			m.pace(&x.slots[k], 1, at)
		}
		return
	}
	x.used = x.CPU
	hungry, weight, rest := m.hungry[:0], 0.0, x.CPU
	for k := range x.slots {
		if x.slots[k].want == 0 { // it is waiting for something else
			m.pace(&x.slots[k], 1, at)
			continue
		}
		hungry = append(hungry, int32(k))
		weight += x.slots[k].share
	}
	level := rest / weight
	for fed := true; fed; {
		fed, weight = false, 0
		kept := hungry[:0]
		for _, k := range hungry {
			s := &x.slots[k]
			if s.ratio <= level {
				rest -= s.want
				m.pace(s, 1, at)
				fed = true
				continue
			}
			weight += s.share
			kept = append(kept, k)
		}
		hungry = kept
		if len(hungry) == 0 {
			break
		}
		level = max(0, rest) / weight
	}
	for _, k := range hungry {
		m.pace(&x.slots[k], level/x.slots[k].ratio, at)
	}
	m.hungry = hungry
}

// pace sets the speed of a task.
func (m *Machines) pace(s *slot, rate float64, at time.Duration) {
	if rate < 1 && !s.short {
		m.totals.Throttles++
	}
	s.short = rate < 1
	s.ever = s.ever || s.short
	if rate == s.rate {
		return
	}
	s.left = s.remaining(at)
	if at > s.since {
		s.top = max(s.top, float64(s.want*s.rate))
	}
	s.since, s.rate = at, rate
	s.end = never
	if rate > 0 {
		s.end = later(at, s.left/rate)
	}
}

// schedule has the machine's next end of a segment in the queue.
func (m *Machines) schedule(x *machine, on int32) {
	due := never
	for k := range x.slots {
		due = min(due, x.slots[k].end)
	}
	switch {
	case due == x.due:
	case x.due == never:
		x.next = m.queue.Push(due, 0, on)
	case due == never:
		m.queue.Cancel(x.next)
	default:
		x.next, _ = m.queue.Retime(x.next, due)
	}
	x.due = due
}

// Totals are the sums up to a time.
func (m *Machines) Totals(at time.Duration) Totals {
	for i := range m.machines {
		m.account(&m.machines[i], at)
	}
	return m.totals
}
