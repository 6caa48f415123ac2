package nomad

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
)

func sortedKeys(set map[key]bool) []key {
	return slices.SortedFunc(maps.Keys(set), func(a, b key) int {
		return cmp.Or(strings.Compare(a.namespace, b.namespace), strings.Compare(a.id, b.id))
	})
}

// rename gives nodes their names. Nodes that had a name and are not down come first, then the oldest.
func (s *state) rename() {
	order := slices.SortedFunc(maps.Values(s.nodes), func(a, b *api.Node) int {
		return cmp.Or(s.rank(a)-s.rank(b), cmp.Compare(a.CreateIndex, b.CreateIndex), strings.Compare(a.ID, b.ID))
	})
	taken := map[string]bool{}
	for _, n := range order {
		name := n.Name
		down := n.Status == api.NodeStatusDown
		switch have := s.names[n.ID]; {
		case have != "" && (down || !taken[have]):
			name = have
		case taken[name] && !down:
			name += "@" + n.ID
		}
		if s.names[n.ID] != name {
			s.dirtyNodes[n.ID] = true
		}
		s.names[n.ID] = name
		if s.live[n.ID] = !down; !down {
			taken[name] = true
		}
	}
}

// rank orders nodes that want the same name.
func (s *state) rank(n *api.Node) int {
	switch {
	case n.Status == api.NodeStatusDown:
		return 2
	case s.live[n.ID]:
		return 0
	}
	return 1
}

// others reports whether another node that is not down has the name.
func (s *state) others(name, id string) bool {
	for other, known := range s.names {
		if known == name && other != id && s.nodes[other] != nil && s.nodes[other].Status != api.NodeStatusDown {
			return true
		}
	}
	return false
}

// appendNode reports a node. If another node has taken the name of a node that is down, nothing is reported.
func (d *Driver) appendNode(to []adapters.Node, n *api.Node) []adapters.Node {
	s := d.state
	name := s.names[n.ID]
	out := adapters.Node{Node: sched.Node{Name: name}}
	if n.Status != api.NodeStatusReady {
		if s.others(name, n.ID) {
			return to
		}
		out.Gone = true
		return append(to, out)
	}
	out.Cordoned = n.Drain || n.SchedulingEligibility == api.NodeSchedulingIneligible
	out.Capacity = capacity(n)
	out.Labels = s.labels(n)
	out.Foreign = d.foreign(n)
	return append(to, out)
}

// capacity is what the node offers to tasks.
func capacity(n *api.Node) sched.Resources {
	r := n.NodeResources
	if r == nil {
		return sched.Resources{}
	}
	out := sched.Resources{CPU: float64(r.Cpu.CpuShares), Memory: float64(r.Memory.MemoryMB), Disk: float64(r.Disk.DiskMB)}
	if own := n.ReservedResources; own != nil {
		out[CPU] -= float64(own.Cpu.CpuShares)
		out[Memory] -= float64(own.Memory.MemoryMB)
		out[Disk] -= float64(own.Disk.DiskMB)
	}
	for k, v := range out {
		out[k] = max(0, v)
	}
	return out
}

// labelsOf are the labels of the node with that name, nil if there is none.
func (s *state) labelsOf(name string) map[string]string {
	if n := s.byName(name); n != nil {
		return s.labels(n)
	}
	return nil
}

// labels are the node's labels for equivalence sets.
func (s *state) labels(n *api.Node) map[string]string {
	out := map[string]string{
		"node.unique.id": n.ID, "node.unique.name": n.Name, "node.datacenter": n.Datacenter, "node.class": n.NodeClass,
		"node.pool": n.NodePool,
	}
	if n.NodePool == "" {
		out["node.pool"] = api.NodePoolDefault
	}
	for k, v := range n.Attributes {
		out["attr."+k] = v
	}
	for k, v := range n.Meta {
		out["meta."+k] = v
	}
	for k, v := range n.Drivers {
		if v != nil && v.Detected && v.Healthy {
			out["driver."+k] = "true"
		}
	}
	met := make(map[string]string)
	for label, p := range s.preds {
		if p.meets(out) {
			met[label] = "true"
		}
	}
	maps.Copy(out, met)
	return out
}

// foreign is what work holds on the node that is not reported as a job's task.
func (d *Driver) foreign(n *api.Node) sched.Resources {
	var out sched.Resources
	s := d.state
	for _, id := range slices.Sorted(maps.Keys(s.on[n.ID])) {
		a := s.allocs[id]
		if a.ended() || a.lost() && !d.until(time.Unix(n.StatusUpdatedAt, 0).Add(d.opt.Fence)) {
			continue
		}
		if j := s.jobs[a.key()]; j != nil && j.problem == nil && d.counts(j, a) && !d.surplus(j, a) {
			continue
		}
		if out == nil {
			out = sched.Resources{}
		}
		a.hold(out)
	}
	return out
}

// until reports whether a time is in the future. If so, everything is looked at again then.
func (d *Driver) until(t time.Time) bool {
	if !d.opt.Now().Before(t) {
		return false
	}
	if d.state.wake.IsZero() || t.Before(d.state.wake) {
		d.state.wake = t
	}
	return true
}

// nameOf is the name by which a node is known.
func (s *state) nameOf(id string) string {
	if name := s.names[id]; name != "" {
		return name
	}
	return id
}

// byName finds the node known by a name. Of several, it is the one that is not down, or the newest.
func (s *state) byName(name string) *api.Node {
	var found *api.Node
	for id, known := range s.names {
		n := s.nodes[id]
		if known != name || n == nil {
			continue
		}
		if found == nil || cmp.Or(s.rank(found)-s.rank(n), cmp.Compare(n.CreateIndex, found.CreateIndex),
			strings.Compare(n.ID, found.ID)) > 0 {
			found = n
		}
	}
	return found
}
