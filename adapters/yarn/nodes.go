package yarn

import (
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
)

// forgiven is how long the ResourceManager may not mention a node before it counts as lost. After its restart, nodes
// come back one after another.
const forgiven = time.Minute

// takeNodes updates the nodes. If the answer about a node makes no sense, the node stays as it was and takes no new
// tasks.
func (d *Driver) takeNodes(list []node, odd map[string]error) {
	s := d.state
	s.odd = odd
	now := d.opt.Now()
	there := make(map[string]bool, len(list)+len(odd))
	for i := range list {
		n := &list[i]
		if n.ID == "" || there[n.ID] && !n.up() { // a node that came back may also be listed as lost
			continue
		}
		there[n.ID] = true
		s.nodes[n.ID] = n
		delete(s.absent, n.ID)
	}
	maps.DeleteFunc(odd, func(id string, _ error) bool { return there[id] })
	for id := range odd {
		there[id] = true
	}
	d.takeAbsent(there, now)
}

// takeAbsent records since when the ResourceManager has not mentioned a node that existed, or that a plan names. This
// instance may never have seen the latter.
func (d *Driver) takeAbsent(there map[string]bool, now time.Time) {
	s := d.state
	missed := map[string]bool{}
	for id := range s.nodes {
		missed[id] = !there[id]
	}
	for _, e := range s.active {
		if e.open() && e.rec.Gang {
			for _, nt := range e.rec.Plan {
				missed[nt.Node] = !there[nt.Node]
			}
		}
	}
	for id, is := range missed {
		if _, known := s.absent[id]; is && !known {
			s.absent[id] = now
		}
	}
	for id, since := range s.absent {
		if now.Sub(since) >= forgiven {
			delete(s.nodes, id)
		}
		if !missed[id] {
			delete(s.absent, id)
		}
	}
}

// present reports whether a node is not known to be lost.
func (d *Driver) present(id string) bool {
	s := d.state
	if n := s.nodes[id]; n != nil {
		return n.up()
	}
	if s.odd[id] != nil {
		return true
	}
	since, known := s.absent[id]
	return known && d.opt.Now().Sub(since) < forgiven
}

// up reports whether tasks on the node go on.
func (n *node) up() bool {
	return n.State == "RUNNING" || n.State == "DECOMMISSIONING" || n.State == "NEW"
}

// partition is the node's node label.
func (n *node) partition() string {
	if len(n.Labels) == 0 {
		return ""
	}
	return string(n.Labels[0])
}

// labels are the node's labels for equivalence sets.
func (d *Driver) labels(n *node) map[string]string {
	out := map[string]string{}
	for _, a := range n.AttrInfo.value.All {
		if a.Name != "" {
			out[strings.TrimPrefix(string(a.Prefix+"/"+a.Name), "/")] = string(a.Value)
		}
	}
	maps.Copy(out, map[string]string{
		LabelNode: n.ID, LabelHost: string(n.Host), LabelRack: string(n.Rack), LabelPartition: n.partition(),
		LabelKind: KindNode,
	})
	return out
}

// labelsOf are the labels of a node or pool by its name, nil if there is none.
func (d *Driver) labelsOf(name string) map[string]string {
	if n := d.state.nodes[name]; n != nil {
		return d.labels(n)
	}
	for _, label := range d.opt.Pools {
		if poolNode(label) == name {
			return poolLabels(label)
		}
	}
	return nil
}

// capacity is everything that the node has.
func (n *node) capacity() sched.Resources {
	if all := n.Total.value; n.Total.there {
		return sched.Resources{Memory: max(0, float64(all.Memory)), VCores: max(0, float64(all.VCores))}
	}
	return sched.Resources{Memory: max(0, float64(n.UsedMB+n.AvailMB)), VCores: max(0, float64(n.UsedVC+n.AvailVC))}
}

// planned is what the open attempts hold on each node of their plans.
func (d *Driver) planned() map[string]sched.Resources {
	out := map[string]sched.Resources{}
	for _, name := range sortedKeys(d.state.active) {
		e := d.state.active[name]
		if e.toldJob == nil {
			continue
		}
		demand := e.toldJob.Spec.Demand
		if e.open() {
			demand = e.rec.Demand
		}
		for i := range e.toldJob.Tasks {
			t := &e.toldJob.Tasks[i]
			if !t.State.Holds() {
				continue
			}
			if out[t.Node] == nil {
				out[t.Node] = sched.Resources{}
			}
			for r, v := range demand {
				out[t.Node][r] += v
			}
		}
	}
	return out
}

// masters is the number of gangs' ApplicationMasters by node. Those whose node is not known yet are under "".
func (d *Driver) masters() map[string]int {
	out := map[string]int{}
	for _, e := range d.state.active {
		if e.open() && e.rec.Gang && (e.app == nil || !e.app.over()) {
			at := ""
			if e.app != nil {
				at = e.app.Master
			}
			out[at]++
		}
	}
	return out
}

// allowance is what n ApplicationMasters may hold on a node, at most the headroom.
func (d *Driver) allowance(n int) sched.Resources {
	return sched.Resources{
		Memory: float64(min(d.opt.HeadroomMB, n*d.opt.AM.MemoryMB)),
		VCores: float64(min(d.opt.HeadroomVCores, n*d.opt.AM.VCores)),
	}
}

// tellNodes reports the nodes that have changed, or all. A node's usage counts first as what hedge has planned there,
// then as ApplicationMasters within the headroom. The rest is foreign.
func (d *Driver) tellNodes(v *adapters.View) {
	s := d.state
	planned, masters := d.planned(), d.masters()
	now := map[string]adapters.Node{}
	pools := map[string]*adapters.Node{}
	for _, id := range sortedKeys(s.nodes) {
		n := s.nodes[id]
		if !n.up() {
			continue
		}
		capacity := n.capacity()
		used := sched.Resources{Memory: max(0, float64(n.UsedMB)), VCores: max(0, float64(n.UsedVC))}
		_, absent := s.absent[id]
		cordoned := absent || s.odd[id] != nil || n.State != "RUNNING"
		if slices.Contains(d.opt.Pools, n.partition()) {
			pool(pools, n.partition(), capacity, used, cordoned)
			continue
		}
		out := adapters.Node{Node: sched.Node{Name: id, Capacity: capacity, Labels: d.labels(n)}, Cordoned: cordoned}
		headroom := sched.Resources{Memory: float64(d.opt.HeadroomMB), VCores: float64(d.opt.HeadroomVCores)}
		for r := range capacity {
			capacity[r] = max(0, capacity[r]-headroom[r])
		}
		out.Foreign = beyond(used, planned[id], d.allowance(masters[id]+masters[""]))
		now[id] = out
	}
	for _, label := range sortedKeys(pools) {
		p := pools[label]
		p.Foreign = beyond(p.Foreign, planned[p.Name], nil)
		now[p.Name] = *p
	}
	for _, id := range sortedKeys(now) {
		n := now[id]
		if before, known := s.toldNodes[id]; v.Full || !known || !reflect.DeepEqual(before, n) {
			v.Nodes = append(v.Nodes, n)
		}
	}
	for _, id := range sortedKeys(s.toldNodes) {
		if _, there := now[id]; !there && !v.Full {
			v.Nodes = append(v.Nodes, adapters.Node{Node: sched.Node{Name: id}, Gone: true})
		}
	}
	s.toldNodes = now
}

// poolNode is the name of the big node that stands for a pool.
func poolNode(label string) string { return "pool:" + label }

func poolLabels(label string) map[string]string {
	return map[string]string{LabelPartition: label, LabelKind: KindPool, LabelNode: poolNode(label)}
}

// pool adds a node to its pool. Until all nodes are added, Foreign has all usage.
func pool(pools map[string]*adapters.Node, label string, capacity, used sched.Resources, cordoned bool) {
	p := pools[label]
	if p == nil {
		p = &adapters.Node{Node: sched.Node{
			Name: poolNode(label), Capacity: sched.Resources{}, Labels: poolLabels(label),
		}, Foreign: sched.Resources{}}
		pools[label] = p
	}
	for r := range capacity {
		p.Foreign[r] += used[r]
		if cordoned {
			capacity[r] = min(capacity[r], used[r]) // it takes no new tasks
		}
		p.Capacity[r] += capacity[r]
	}
}

// beyond is the usage that is neither planned nor allowed, nil if there is none.
func beyond(used, planned, allowed sched.Resources) sched.Resources {
	var out sched.Resources
	for r, u := range used {
		if rest := u - planned[r] - allowed[r]; rest > 0 && !math.IsInf(rest, 0) {
			if out == nil {
				out = sched.Resources{}
			}
			out[r] = rest
		}
	}
	return out
}
