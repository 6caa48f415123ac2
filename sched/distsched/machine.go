package distsched

import (
	"slices"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/usage"
)

// machine is what the tasks on a node are believed to use together.
type machine struct {
	memory, cpu *dist.Total // nil where the node offers none
	weight      float64     // of all tasks: the sum of their shares
	held        []entry     // what has been added, in order
	next        []entry     // what should be there, in the making
	others      usage.Level // what other work uses
	risk        float64     // the smallest memory risk of its tasks
	changes     int32       // starts in this cycle
}

// entry is the tasks of a job on a machine: count times one quantity, as they share one draw. They count as one summand
// of the machine's sums.
type entry struct {
	of      *known
	count   int
	version uint64 // of what is believed of the job here
}

// machines are those of a cluster. What is known of each is brought up to date once a cycle, at a cost that is
// proportional to the tasks that run, and to the cells only where something has changed.
type machines struct {
	set         *sched.NodeSet
	cpu, memory int // index of the resource, -1 where no node offers it
	of          []machine
	hard        []float64 // free of the resources that are reserved; as in sched.Snapshot
	touched     []int32   // machines that this cycle has added tasks to, in order
	scratch     dist.Summand
	combined    int // machines that were summed anew, for tests
}

// renew takes up the cluster of a snapshot.
func (ms *machines) renew(c *Config, s *sched.Snapshot) error {
	ms.touched = ms.touched[:0]
	ms.hard = append(ms.hard[:0], s.Free...)
	if ms.set == s.Nodes {
		return nil
	}
	ms.set = s.Nodes
	ms.cpu, ms.memory = index(s.Nodes, usage.CPU), index(s.Nodes, usage.Memory)
	ms.of = make([]machine, s.Nodes.Len())
	for i := range ms.of {
		ms.of[i].risk = 1
		var err error
		if ms.of[i].cpu, err = ms.total(c, i, ms.cpu, 1); err != nil {
			return err
		}
		if ms.of[i].memory, err = ms.total(c, i, ms.memory, c.EvictAt); err != nil {
			return err
		}
	}
	return nil
}

// index is that of a resource, -1 where no node offers it.
func index(set *sched.NodeSet, resource string) int {
	if r, ok := slices.BinarySearch(set.Resources(), resource); ok {
		return r
	}
	return -1
}

// total is an empty sum up to a share of a node's capacity; nil where the node offers none.
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

// settle brings the machines up to date with what should run on them, which was collected in next.
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

// addOthers adds work that is not ours: what it is measured to use now, for certain.
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
		return // it was checked when it was measured
	}
	a, err := dist.NewAtoms(p, minAtoms)
	if err != nil {
		return
	}
	scratch.Set(a, 1, t.Step())
	t.Add(scratch)
}

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
	m.weight += float64(float64(e.count) * e.of.profile.weight)
	m.risk = min(m.risk, e.of.risk)
	m.held = append(m.held, e)
}

// addTo adds so many tasks to a total; on, if it is not nil, keeps what one of them is.
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

// start adds tasks that this cycle starts, and takes what they reserve.
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

// fits tells whether one more task, of count so far, has what it reserves.
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
