package place

import (
	"iter"
	"slices"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/ranges"
)

// Placer packs gangs on the free resources of a snapshot's nodes, and keeps account of them while a plan is made. It is
// deterministic and not safe for concurrent use.
type Placer struct {
	nodes  *sched.NodeSet
	ledger sched.Ledger
	keys   []uint64          // scratch: tasks that fit << 32 | node
	block  []sched.NodeTasks // what placements are cut from
	short  int               // tasks that would have fitted when Place last failed
	first  int               // nodes before this index have nothing free
}

// NewPlacer starts with what is free in the snapshot.
func NewPlacer(s *sched.Snapshot) *Placer {
	p := &Placer{}
	p.Reset(s)
	return p
}

// Reset starts again with what is free in the snapshot. It does not allocate unless the cluster has grown.
func (p *Placer) Reset(s *sched.Snapshot) {
	p.ledger.ResetTo(s)
	p.nodes, p.first = s.Nodes, 0
}

// Free is what is free now, in the layout of [sched.Ledger.Free].
func (p *Placer) Free() []float64 { return p.ledger.Free() }

// Fits is the number of tasks of the demand that fit on these nodes now; see [sched.Ledger.Fits].
func (p *Placer) Fits(demand []float64, nodes []int32) int {
	if p.whole(demand, nodes) {
		return p.ledger.Vacant()
	}
	return p.ledger.Fits(demand, nodes)
}

// FitsAtLeast reports whether k tasks of the demand fit on these nodes. It looks at no more nodes than it needs.
func (p *Placer) FitsAtLeast(demand []float64, nodes []int32, k int) bool {
	return p.ledger.FitsAtLeast(demand, nodes, k)
}

// Place puts k tasks of the demand on these nodes, all or none, and takes the resources. It is a best fit: nodes on
// which the fewest tasks fit are filled first, so that roomy nodes stay whole. Ties are in the order of nodes. Tasks
// that need whole nodes get the first k free ones.
func (p *Placer) Place(demand []float64, nodes []int32, k int) ([]sched.NodeTasks, bool) {
	if p.whole(demand, nodes) {
		on, ok := p.placeWhole(demand, k)
		if !ok {
			return nil, false
		}
		out := p.room(k)
		for n := range on.All() {
			out = append(out, sched.NodeTasks{Node: p.nodes.Node(int(n)).Name, Tasks: 1})
		}
		return out, true
	}
	if !p.pick(demand, nodes, k) {
		return nil, false
	}
	out := p.room(min(k, len(p.keys)))
	for n, tasks := range p.picked(demand, nodes, k) {
		out = append(out, sched.NodeTasks{Node: p.nodes.Node(int(n)).Name, Tasks: int(tasks)})
	}
	return out, true
}

// PlaceRanges is Place with the nodes as ranges.
func (p *Placer) PlaceRanges(demand []float64, nodes []int32, k int) (ranges.Set, bool) {
	if p.whole(demand, nodes) {
		return p.placeWhole(demand, k)
	}
	if !p.pick(demand, nodes, k) {
		return nil, false
	}
	var out ranges.Set
	for n, tasks := range p.picked(demand, nodes, k) {
		out = out.Append(n, tasks)
	}
	return out, true
}

// whole tells that the tasks need whole nodes, all of which are alike and may be used.
func (p *Placer) whole(demand []float64, nodes []int32) bool {
	return p.nodes.IsAll(nodes) && p.ledger.Whole(demand)
}

// placeWhole takes the first k nodes that are wholly free.
func (p *Placer) placeWhole(demand []float64, k int) (ranges.Set, bool) {
	if free := p.ledger.Vacant(); k < 1 || free < k {
		p.short = free
		return nil, false
	}
	on := p.ledger.FirstVacant(k)
	p.ledger.TakeAll(on, demand)
	return on, true
}

// pick fills keys with the nodes to look at, in the order in which they are filled. It is false if k tasks do not fit.
func (p *Placer) pick(demand []float64, nodes []int32, k int) bool {
	if k < 1 {
		return false
	}
	p.keys = p.keys[:0]
	total, single := int64(0), 0 // the total may overflow an int of 32 bits
	for i := p.begin(demand, nodes); i < len(nodes); i++ {
		fit := p.ledger.Fit(demand, int(nodes[i]))
		if fit == 0 {
			continue
		}
		p.keys = append(p.keys, uint64(fit)<<32|uint64(uint32(i)))
		total += int64(fit)
		if fit == 1 {
			if single++; single == k {
				break
			}
		}
	}
	if total < int64(k) {
		p.short = int(total)
		return false
	}
	if single < len(p.keys) {
		slices.Sort(p.keys)
	}
	return true
}

// picked takes k tasks from the nodes that pick has found, and yields each node with its tasks.
func (p *Placer) picked(demand []float64, nodes []int32, k int) iter.Seq2[int32, int32] {
	return func(yield func(node, tasks int32) bool) {
		for _, key := range p.keys {
			n := nodes[uint32(key)]
			tasks := min(k, int(key>>32))
			p.ledger.Take(int(n), demand, tasks)
			if k -= tasks; !yield(n, int32(tasks)) || k == 0 {
				return
			}
		}
	}
}

// begin is the first index of nodes to look at. If nodes are all nodes of the cluster, it skips those before the first
// with something free; in a full cluster these are many.
func (p *Placer) begin(demand []float64, nodes []int32) int {
	all := p.nodes.All()
	if !p.nodes.IsAll(nodes) || !anyPositive(demand) {
		return 0
	}
	for p.first < len(all) && !anyPositive(p.ledger.Row(p.first)) {
		p.first++
	}
	return p.first
}

func anyPositive(row []float64) bool {
	for _, x := range row {
		if x > 0 {
			return true
		}
	}
	return false
}

// Short is the number of tasks that would have fitted when Place last failed. It is less than the number asked for.
func (p *Placer) Short() int { return p.short }

// placeBlock is the number of placements allocated at once.
const placeBlock = 64

// room returns an empty slice with capacity n. Small ones are cut from a shared block, each part of which is used once.
func (p *Placer) room(n int) []sched.NodeTasks {
	if n > placeBlock/4 {
		return make([]sched.NodeTasks, 0, n)
	}
	if n > len(p.block) {
		p.block = make([]sched.NodeTasks, placeBlock)
	}
	out := p.block[:0:n]
	p.block = p.block[n:]
	return out
}

// Release frees what a running job holds, as its preemption does. Nodes that no longer exist are skipped.
func (p *Placer) Release(r *sched.Running) {
	if len(r.Ranges) > 0 {
		demand, on := p.nodes.Holding(r)
		p.ledger.GiveAll(on, demand)
		for i := range on {
			p.first = min(p.first, int(on[i].From))
		}
		return
	}
	demand, on := p.nodes.Held(r)
	for i, n := range on {
		if n >= 0 {
			p.give(int(n), demand, r.Nodes[i].Tasks)
		}
	}
}

// Keep undoes Release.
func (p *Placer) Keep(r *sched.Running) {
	if len(r.Ranges) > 0 {
		demand, on := p.nodes.Holding(r)
		p.ledger.TakeAll(on, demand)
		return
	}
	demand, on := p.nodes.Held(r)
	for i, n := range on {
		if n >= 0 {
			p.ledger.Take(int(n), demand, r.Nodes[i].Tasks)
		}
	}
}

// Take takes the resources of tasks that were placed elsewhere, for instance by an earlier plan. It does not check that
// they are free.
func (p *Placer) Take(nodes []sched.NodeTasks, demand []float64) {
	for _, nt := range nodes {
		if n, ok := p.nodes.Index(nt.Node); ok {
			p.ledger.Take(n, demand, nt.Tasks)
		}
	}
}

// Give undoes Take and Place.
func (p *Placer) Give(nodes []sched.NodeTasks, demand []float64) {
	for _, nt := range nodes {
		if n, ok := p.nodes.Index(nt.Node); ok {
			p.give(n, demand, nt.Tasks)
		}
	}
}

func (p *Placer) give(n int, demand []float64, tasks int) {
	p.first = min(p.first, n)
	p.ledger.Give(n, demand, tasks)
}
