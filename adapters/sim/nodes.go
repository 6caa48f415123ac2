package sim

import (
	"fmt"
	"time"

	"github.com/hedgesched/hedge/sched"
)

// epoch is the simulated world's time 0.
var epoch = time.Unix(0, 0).UTC()

// Epoch returns the time at which every simulation starts, 1 January 1970 UTC.
func Epoch() time.Time { return epoch }

// RackLabel is the label under which [Nodes] gives a node's rack.
const RackLabel = "rack"

// Nodes makes n alike nodes, n0000 and up, spread in runs over racks, r00 and
// up, each for tasksPerNode tasks of the default demand. Counts below one
// count as one, except n, which then gives no nodes; there are never more
// racks than nodes.
func Nodes(n, racks, tasksPerNode int) []sched.Node {
	if n <= 0 {
		return nil
	}
	racks = min(max(racks, 1), n)
	capacity := sched.Resources{"node": float64(max(tasksPerNode, 1))}
	nodes := make([]sched.Node, n)
	for i := range nodes {
		nodes[i] = sched.Node{
			Name:     fmt.Sprintf("n%04d", i),
			Labels:   map[string]string{RackLabel: fmt.Sprintf("r%02d", i*racks/n)},
			Capacity: capacity,
		}
	}
	return nodes
}
