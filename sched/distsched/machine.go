package distsched

import (
	"slices"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/usage"
)

// machine holds the distributions of what the tasks on a node use together.
type machine struct {
	memory, cpu *dist.Total // nil if the node offers none
	weight      float64     // the sum of the tasks' weights
	held        []entry     // the summands of the totals, in order
	next        []entry     // what held should be; collected by takeUp
	others      usage.Level // what other work uses
	risk        float64     // the smallest of its tasks' bounds of the memory risk
	changes     int32       // starts in this cycle
}

// entry is the tasks of a job on a machine. They share one draw, so they are one summand: count times one quantity.
type entry struct {
	of      *known
	count   int
	version uint64 // as known.versionOn
}

// machines are the machines of a cluster. Updating them costs, per cycle, time in proportion to the running tasks. Sums
// are computed again only on machines where something has changed.
type machines struct {
	set         *sched.NodeSet
	cpu, memory int // index of the resource, -1 where no node offers it
	of          []machine
	limits      usage.Level // the sums of the machines' limits
	hard        []float64   // what is free, as in sched.Snapshot; used for reserved resources only
	touched     []int32     // the machine of each start in this cycle, in order
	scratch     dist.Summand
	combined    int // counts machines that were summed again, for tests
}

// renew starts a cycle with the nodes of its snapshot.
func (ms *machines) renew(c *Config, s *sched.Snapshot) error {
	ms.touched = ms.touched[:0]
	ms.hard = append(ms.hard[:0], s.Free...)
	if ms.set == s.Nodes {
		return nil
	}
	ms.set = s.Nodes
	ms.cpu, ms.memory = index(s.Nodes, usage.CPU), index(s.Nodes, usage.Memory)
	ms.of, ms.limits = make([]machine, s.Nodes.Len()), usage.Level{}
	for i := range ms.of {
		m := &ms.of[i]
		m.risk = 1
		var err error
		if m.cpu, err = ms.total(c, i, ms.cpu, 1); err != nil {
			return err
		}
		if m.memory, err = ms.total(c, i, ms.memory, c.EvictAt); err != nil {
			return err
		}
		if m.cpu != nil {
			ms.limits.CPU += m.cpu.Limit()
		}
		if m.memory != nil {
			ms.limits.Memory += m.memory.Limit()
		}
	}
	return nil
}

// index is the index of a resource, -1 if no node offers it.
func index(set *sched.NodeSet, resource string) int {
	if r, ok := slices.BinarySearch(set.Resources(), resource); ok {
		return r
	}
	return -1
}

// total is an empty sum whose limit is a share of a node's capacity. It is nil if the node offers none.
func (ms *machines) total(c *Config, node, resource int, share float64) (*dist.Total, error) {
	if resource < 0 {
		return nil, nil
	}
	limit := share * ms.set.Capacity()[node*len(ms.set.Resources())+resource]
	if limit <= 0 {
		return nil, nil
	}
	return dist.NewTotal(limit, c.Cells)
}

// settle makes each machine hold what was collected in next. If that only extends what it holds, the rest is added;
// otherwise the machine is summed again.
func (ms *machines) settle(s *sched.Snapshot) {
	for i := range ms.of {
		m := &ms.of[i]
		m.changes = 0
		others := usage.Level{}
		if s.Others != nil {
			others = s.Others[i]
		}
		kept := len(m.held) <= len(m.next) && others == m.others && slices.Equal(m.held, m.next[:len(m.held)])
		if !kept {
			m.clear()
			ms.combined++
			ms.addOthers(m, others)
		}
		for _, e := range m.next[len(m.held):] {
			ms.add(int32(i), e)
		}
		m.next = m.next[:0]
	}
}

func (m *machine) clear() {
	m.held, m.weight, m.others, m.risk = m.held[:0], 0, usage.Level{}, 1
	if m.cpu != nil {
		m.cpu.Reset()
	}
	if m.memory != nil {
		m.memory.Reset()
	}
}

// addOthers adds other work as a constant: what it is measured to use now.
func (ms *machines) addOthers(m *machine, others usage.Level) {
	m.others = others
	addPoint(m.cpu, others.CPU, &ms.scratch)
	addPoint(m.memory, others.Memory, &ms.scratch)
}

func addPoint(t *dist.Total, amount float64, scratch *dist.Summand) {
	if t == nil || amount <= 0 {
		return
	}
	p, err := dist.NewPoint(amount)
	if err != nil {
		return // cannot happen: measurements are checked
	}
	a, err := dist.NewAtoms(p, minAtoms)
	if err != nil {
		return // cannot happen: a point is one atom
	}
	scratch.Set(a, 1, t.Step())
	t.Add(scratch)
}

// minAtoms is the least that [Config].Atoms may be.
const minAtoms = 8

// add adds tasks of a job to a machine.
func (ms *machines) add(at int32, e entry) {
	m := &ms.of[at]
	if w := e.of.watchOn(at); w == nil {
		ms.addTo(m.cpu, &e.of.cpuOn, e.of.profile.cpu, e.count)
		ms.addTo(m.memory, &e.of.memoryOn, e.of.profile.memory, e.count)
	} else {
		ms.addTo(m.cpu, nil, w.cpu.or(e.of.profile.cpu), e.count)
		ms.addTo(m.memory, nil, w.memory.or(e.of.profile.memory), e.count)
	}
	if m.cpu != nil {
		m.weight += float64(float64(e.count) * e.of.profile.weight(m.cpu))
	}
	m.risk = min(m.risk, e.of.risk)
	m.held = append(m.held, e)
}

// addTo adds count tasks to a total. On, if not nil, caches the summand of a single task.
func (ms *machines) addTo(t *dist.Total, on *[]sized, a *dist.Atoms, count int) {
	switch {
	case t == nil:
	case count == 1 && on != nil:
		t.Add(one(on, a, t.Step()))
	default:
		ms.scratch.Set(a, float64(count), t.Step())
		t.Add(&ms.scratch)
	}
}

// start adds tasks that start in this cycle, and subtracts the resources that they reserve.
func (ms *machines) start(at int32, k *known, count int) {
	ms.add(at, entry{of: k, count: count, version: k.versionOn(at)})
	width := len(k.demand)
	row := ms.hard[int(at)*width : int(at+1)*width]
	for r, d := range k.demand {
		row[r] -= float64(float64(count) * d)
	}
	ms.of[at].changes++
	ms.touched = append(ms.touched, at)
}

// fits tells whether there is enough of the reserved resources for count+1 tasks.
func (ms *machines) fits(at int32, demand []float64, count int) bool {
	width := len(demand)
	row, capacity := ms.hard[int(at)*width:int(at+1)*width], ms.set.Capacity()[int(at)*width:int(at+1)*width]
	for r, d := range demand {
		if d <= 0 || r == ms.cpu || r == ms.memory {
			continue
		}
		if sched.Overcommits(row[r]-float64(d*float64(count+1)), capacity[r]) {
			return false
		}
	}
	return true
}
