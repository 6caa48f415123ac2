// Package timeshare simulates machines that many tasks share. CPU is shared in time, in proportion to the tasks'
// requests. Memory has a hard limit: a machine that runs short of it evicts tasks.
//
// The simulation is event-driven, without ticks. A task's use is a series of segments. A segment ends on time if its
// task gets all the CPU that it wants, and takes proportionally longer otherwise. At each instant, apply all changes,
// and then call [Machines.Settle] once, which shares out the CPU and memory of the changed machines again. A change
// costs time in proportion to the tasks on its machine, and touches no other machine.
//
// The package knows no jobs, no gangs and no scheduler.
package timeshare

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/hedgesched/hedge/adapters/sim/event"
	"github.com/hedgesched/hedge/adapters/sim/taskuse"
	"github.com/hedgesched/hedge/sched/usage"
)

// Capacity is what a machine has, in the units of requests and use.
type Capacity struct{ CPU, Memory float64 }

// Task is a task to start.
type Task struct {
	// Owner and Index identify the task to the host. [End] has them too.
	Owner, Index int32
	// Priority orders evictions, the lowest first.
	Priority int
	// CPU and Memory are its requests, not negative.
	CPU, Memory float64
	// Use is what it uses. It must be valid.
	Use taskuse.Series
}

// EvictAt is the share of a machine's memory above which it evicts tasks. As in Kubernetes and the thesis, it is less
// than 1, so that the operating system does not kill tasks first.
const EvictAt = 0.95

// never is the end of a segment that gets no CPU, or so little that a time.Duration cannot hold the end.
const never = time.Duration(math.MaxInt64)

// End is the end of a task, by completion or eviction.
type End struct {
	// Task is its handle, which is no longer valid.
	Task int32
	// Owner and Index are as at its start.
	Owner, Index int32
	Used         Used
}

// Used is what a task has used.
type Used struct {
	// Ran is how long it was on its machine.
	Ran time.Duration
	// CPUTime is the CPU that it got, integrated over seconds. MemoryTime is the same for its memory.
	CPUTime, MemoryTime float64
	// MaxCPU and MaxMemory are the peaks of what it got.
	MaxCPU, MaxMemory float64
	// Throttled tells that it got less CPU than it wanted at some time. Then average and peak CPU are lower bounds of what
	// it wants.
	Throttled bool
}

// Totals are sums over all machines. CPUTime, Over and Throttles end with the window, if there is one.
type Totals struct {
	// CPUTime is the CPU that tasks got, integrated over seconds.
	CPUTime float64
	// Over is the machine time in which tasks wanted more CPU than the machine has, in seconds.
	Over float64
	// Throttles is how often a task began to get less CPU than it wanted.
	Throttles int
	// Evictions is the number of tasks evicted.
	Evictions int
	// Events is the number of starts, stops, ends of segments and evictions.
	Events int64
}

// load is what a task does now. Every change of a machine reads those of all its tasks.
type load struct {
	end  time.Duration // when the segment ends at the task's current speed
	want float64       // the CPU that it wants
	mem  float64       // the memory that it uses
}

// pace is how fast a task goes. A change of a machine whose CPU is short reads those of all its tasks. 64 bytes are a
// line of most caches.
type pace struct {
	left    float64       // what was left of the segment at since, in nanoseconds at full speed
	since   time.Duration // when left and rate were last set
	rate    float64       // speed, 0 to 1
	share   float64       // weight
	ratio   float64       // the CPU that it wants over share, infinite without a share
	top     float64       // peak CPU before since
	begun   time.Duration // when the segment began
	segment int32
	short   bool // it gets less than it wants
	ever    bool // it got less at some time
}

// slot is what else there is of a task on its machine.
type slot struct {
	use     taskuse.Series
	memTime float64 // memory integrated over seconds, in earlier segments
	task    int32
}

// machine is one machine. Its slices have an entry per task, in order of start. They are apart by how often they are
// read, so that a change touches little memory.
type machine struct {
	Capacity
	loads []load
	paces []pace
	slots []slot
	next  event.Handle
	due   time.Duration // the time of next; never if there is none
	since time.Duration // used and over are valid from then on
	used  float64       // the CPU that tasks get
	over  bool          // tasks want more CPU than there is
	dirty bool
}

// task has the fields of a task that are rarely needed.
type task struct {
	owner, index int32
	machine      int32
	priority     int
	memory       float64 // request
	started      time.Duration
}

// Machines are machines with their tasks. The times of successive calls must not decrease. It is not safe for
// concurrent use.
type Machines struct {
	machines []machine
	tasks    []task
	free     []int32
	dirty    []int32 // machines to settle, in the order in which they changed
	queue    event.Queue[int32]
	evicted  []End
	settled  time.Duration // the time of the evictions in evicted
	window   time.Duration
	totals   Totals
	hungry   []int32 // scratch of ration
}

// New makes idle machines. Capacities must be finite and not negative. If window is above 0, CPUTime, Over and
// Throttles of [Totals] are counted only up to that time.
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

// Start puts a task on a machine and returns its handle, which is valid until the task ends. Shares do not change
// before the next Settle.
func (m *Machines) Start(at time.Duration, on int32, t Task) int32 {
	id := int32(len(m.tasks))
	if n := len(m.free); n > 0 {
		id, m.free = m.free[n-1], m.free[:n-1]
	} else {
		m.tasks = append(m.tasks, task{})
	}
	m.tasks[id] = task{owner: t.Owner, index: t.Index, machine: on, priority: t.Priority, memory: t.Memory, started: at}
	x := &m.machines[on]
	x.slots = append(x.slots, slot{task: id, use: t.Use})
	x.paces = append(x.paces, pace{share: max(t.CPU, usage.LeastShare*x.CPU)})
	x.loads = append(x.loads, load{})
	x.begin(len(x.slots)-1, at)
	m.mark(on)
	m.totals.Events++
	return id
}

// begin starts a task's current segment, at full speed until the machine is settled.
func (x *machine) begin(k int, at time.Duration) {
	p := &x.paces[k]
	g := &x.slots[k].use[p.segment]
	p.left, p.since, p.rate, p.begun, p.ratio = float64(g.Duration), at, 1, at, 0
	if g.CPU > 0 {
		p.ratio = g.CPU / p.share
	}
	x.loads[k] = load{end: later(at, p.left), want: g.CPU, mem: g.Memory}
}

// later adds nanoseconds to a time, rounded half up. It is never if the sum overflows.
func later(at time.Duration, nanoseconds float64) time.Duration {
	if !(nanoseconds < float64(never-at)) {
		return never
	}
	whole := time.Duration(nanoseconds)
	if nanoseconds-float64(whole) >= 0.5 {
		whole++
	}
	return at + whole
}

func (m *Machines) mark(on int32) {
	if x := &m.machines[on]; !x.dirty {
		x.dirty = true
		m.dirty = append(m.dirty, on)
	}
}

// Stop removes a task from its machine and returns what it used.
func (m *Machines) Stop(at time.Duration, id int32) Used {
	on := m.tasks[id].machine
	x := &m.machines[on]
	k := x.find(id)
	used := m.usedBy(x, k, at)
	m.release(x, k)
	m.mark(on)
	m.totals.Events++
	return used
}

// Clear removes all tasks from a machine, and returns their ends in order of owner and index.
func (m *Machines) Clear(at time.Duration, on int32) (ends []End) {
	x := &m.machines[on]
	for k := len(x.slots) - 1; k >= 0; k-- {
		ends = append(ends, m.end(x, k, at))
		m.release(x, k)
		m.totals.Events++
	}
	m.mark(on)
	slices.SortFunc(ends, byTask)
	return ends
}

// find is the index of a task on its machine.
func (x *machine) find(id int32) int {
	return slices.IndexFunc(x.slots, func(s slot) bool { return s.task == id })
}

// release removes a task from its machine.
func (m *Machines) release(x *machine, k int) {
	m.free = append(m.free, x.slots[k].task)
	x.slots = slices.Delete(x.slots, k, k+1)
	x.loads, x.paces = slices.Delete(x.loads, k, k+1), slices.Delete(x.paces, k, k+1)
}

// usedBy is what a task has used up to a time.
func (m *Machines) usedBy(x *machine, k int, at time.Duration) Used {
	s, p, l := &x.slots[k], &x.paces[k], &x.loads[k]
	done := s.use[:p.segment]
	used := Used{Ran: at - m.tasks[s.task].started, MemoryTime: s.memTime, MaxCPU: p.top, Throttled: p.ever,
		CPUTime: done.CPUTime()}
	_, used.MaxMemory = done.Max()
	if int(p.segment) == len(s.use) {
		return used
	}
	part := float64(s.use[p.segment].Duration) - p.remaining(at)
	used.CPUTime += float64(l.want * part / 1e9)
	used.MemoryTime += float64(l.mem * (at - p.begun).Seconds())
	used.MaxCPU, used.MaxMemory = max(p.top, float64(l.want*p.rate)), max(used.MaxMemory, l.mem)
	return used
}

// remaining is what is left of the segment, in nanoseconds at full speed.
func (p *pace) remaining(at time.Duration) float64 {
	return max(0, p.left-float64(float64(at-p.since)*p.rate))
}

// Look returns what a task gets now, and whether that is less CPU than it wants.
func (m *Machines) Look(id int32) (cpu, memory float64, throttled bool) {
	x := &m.machines[m.tasks[id].machine]
	k := x.find(id)
	return float64(x.loads[k].want * x.paces[k].rate), x.loads[k].mem, x.paces[k].rate < 1
}

// Load returns the CPU that a machine's tasks get now, and the memory that they use.
func (m *Machines) Load(on int32) (cpu, memory float64) {
	return m.machines[on].used, m.machines[on].survey().memory
}

// Used is what a running task has used up to a time.
func (m *Machines) Used(at time.Duration, id int32) Used {
	x := &m.machines[m.tasks[id].machine]
	return m.usedBy(x, x.find(id), at)
}

// Next returns the time of the next end of a segment or pending eviction, and whether there is one.
func (m *Machines) Next() (at time.Duration, ok bool) {
	if len(m.evicted) > 0 {
		return m.settled, true
	}
	at, _, ok = m.queue.Peek()
	return at, ok
}

// Happen processes everything that is due at a time, which is at most that of [Machines.Next]. It appends tasks that
// are done to completed, and those that the last Settle evicted to evicted, each in order of owner and index.
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
	for k := 0; k < len(x.loads); k++ {
		l := &x.loads[k]
		if l.end > at {
			continue
		}
		m.totals.Events++
		s, p := &x.slots[k], &x.paces[k]
		p.top = max(p.top, float64(l.want*p.rate))
		s.memTime += float64(l.mem * (at - p.begun).Seconds())
		if p.segment++; int(p.segment) < len(s.use) {
			x.begin(k, at)
			continue
		}
		completed = append(completed, m.end(x, k, at))
		m.release(x, k)
		k--
	}
	return completed
}

// end is the End of a task.
func (m *Machines) end(x *machine, k int, at time.Duration) End {
	id := x.slots[k].task
	t := &m.tasks[id]
	return End{Task: id, Owner: t.owner, Index: t.index, Used: m.usedBy(x, k, at)}
}

// Settle shares out the CPU of all machines that have changed since the last Settle. If memory is short, it evicts
// tasks. The next Happen, at the same time, returns them.
func (m *Machines) Settle(at time.Duration) {
	from := len(m.evicted)
	for _, on := range m.dirty {
		x := &m.machines[on]
		x.dirty = false
		m.account(x, at)
		f := m.relieve(x, at)
		if m.ration(x, f.cpu, at) {
			f = x.survey()
		}
		m.schedule(x, on, f.due)
	}
	m.dirty = m.dirty[:0]
	if len(m.evicted) > from {
		m.settled = at
		slices.SortFunc(m.evicted[from:], byTask)
	}
}

// account adds the time since its last call to the totals.
func (m *Machines) account(x *machine, at time.Duration) {
	passed := min(at, m.window) - min(x.since, m.window)
	x.since = at
	m.totals.CPUTime += float64(x.used * passed.Seconds())
	if x.over {
		m.totals.Over += passed.Seconds()
	}
}

// tolerance is the share of a capacity by which rounded sums may exceed it.
const tolerance = 1e-9

// figures are of a machine's tasks together: the CPU that they want, the memory that they use, and when the first of
// their segments ends.
type figures struct {
	cpu, memory float64
	due         time.Duration
}

// survey takes the figures in one pass, since reading the tasks costs more than the sums.
func (x *machine) survey() figures {
	f := figures{due: never}
	for k := range x.loads {
		l := &x.loads[k]
		f.cpu += l.want
		f.memory += l.mem
		f.due = min(f.due, l.end)
	}
	return f
}

// relieve evicts tasks until the machine's memory suffices. It returns the figures of those that stay.
func (m *Machines) relieve(x *machine, at time.Duration) figures {
	limit := EvictAt * x.Memory * (1 + tolerance)
	f := x.survey()
	for ; f.memory > limit; f = x.survey() {
		k := m.victim(x)
		m.evicted = append(m.evicted, m.end(x, k, at))
		m.release(x, k)
		m.totals.Evictions++
		m.totals.Events++
	}
	return f
}

// victim is the task to evict first: of the lowest priority, then farthest above its memory request, then of the most
// memory, then the latest. Tasks that use no memory are never evicted.
func (m *Machines) victim(x *machine) int {
	best := -1
	for k := range x.loads {
		if x.loads[k].mem > 0 && (best < 0 || m.sooner(x, k, best)) {
			best = k
		}
	}
	return best
}

// sooner tells whether to evict task late before task early, which started earlier.
func (m *Machines) sooner(x *machine, late, early int) bool {
	s, t := &m.tasks[x.slots[late].task], &m.tasks[x.slots[early].task]
	switch a, b := max(0, x.loads[late].mem-s.memory), max(0, x.loads[early].mem-t.memory); {
	case s.priority != t.priority:
		return s.priority < t.priority
	case a != b:
		return a > b
	}
	return x.loads[late].mem >= x.loads[early].mem
}

// schedule puts the machine's next end of a segment into the queue.
func (m *Machines) schedule(x *machine, on int32, due time.Duration) {
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

// Totals returns the sums up to a time.
func (m *Machines) Totals(at time.Duration) Totals {
	for i := range m.machines {
		m.account(&m.machines[i], at)
	}
	return m.totals
}
