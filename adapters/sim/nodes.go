package sim

import (
	"fmt"
	"time"

	"github.com/hedgesched/hedge/sched"
)

// epoch is time 0 of every simulation.
var epoch = time.Unix(0, 0).UTC()

// Epoch returns the time at which every simulation starts, 1 January 1970 UTC.
func Epoch() time.Time { return epoch }

// RackLabel is the label under which [Nodes] gives a node's rack.
const RackLabel = "rack"

// Nodes makes n nodes that are alike, n0000 and up, in racks r00 and up. Neighbours share a rack. Each node is for
// tasksPerNode tasks of the default demand. There are never more racks than nodes. Racks and tasksPerNode are at least
// 1, whatever is asked for. There are no nodes if n is below 1. Nodes share their maps: whoever changes the labels or
// the capacity of one gives it a map of its own.
func Nodes(n, racks, tasksPerNode int) []sched.Node {
	if n <= 0 {
		return nil
	}
	racks = min(max(racks, 1), n)
	capacity := sched.Resources{"node": float64(max(tasksPerNode, 1))}
	labels := make([]map[string]string, racks)
	for r := range labels {
		labels[r] = map[string]string{RackLabel: fmt.Sprintf("r%02d", r)}
	}
	nodes := make([]sched.Node, n)
	for i := range nodes {
		nodes[i] = sched.Node{Name: fmt.Sprintf("n%04d", i), Labels: labels[i*racks/n], Capacity: capacity}
	}
	return nodes
}
