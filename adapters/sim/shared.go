package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/hedgesched/hedge/adapters/sim/internal/timeshare"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/ranges"
	"github.com/hedgesched/hedge/sched/usage"
)

// shared is the physics of nodes whose CPU and memory tasks share. Requests reserve nothing, so any number of tasks can
// start on a node. They are weights if CPU is short, and affect the order of evictions if memory is short.
type shared struct {
	machines    *timeshare.Machines
	cpu, memory int // indexes in a demand
}

var _ physics = (*shared)(nil)

// newShared refuses nodes that offer anything but CPU and memory.
func newShared(nodes *sched.NodeSet, window time.Duration) (*shared, error) {
	if want := []string{usage.CPU, usage.Memory}; !slices.Equal(nodes.Resources(), want) {
		return nil, fmt.Errorf("%w: nodes that tasks share offer %q, want %q", ErrNode, nodes.Resources(), want)
	}
	capacity := make([]timeshare.Capacity, nodes.Len())
	for i := range capacity {
		of := nodes.Capacity()[2*i : 2*i+2]
		capacity[i] = timeshare.Capacity{CPU: of[0], Memory: of[1]}
		if of[0] == 0 {
			return nil, fmt.Errorf("%w: node %q that tasks share has no CPU", ErrNode, nodes.Node(i).Name)
		}
	}
	return &shared{machines: timeshare.New(capacity, window), cpu: 0, memory: 1}, nil
}

func (x *shared) start(at time.Duration, g *gang, on ranges.Set, _ float64) error {
	if on.Tasks() != int64(g.tasks) {
		return errNoRoom
	}
	g.stint = &stint{on: on, since: at, left: g.tasks, shares: make([]placed, 0, g.tasks)}
	for node, tasks := range on.All() {
		for range tasks {
			k := len(g.shares)
			g.shares = append(g.shares, placed{node: node, handle: x.machines.Start(at, node, timeshare.Task{
				Owner: g.id, Index: int32(k), Priority: g.priority, CPU: g.demand[x.cpu], Memory: g.demand[x.memory],
				Use: g.work.Use()[k],
			})})
		}
	}
	return nil
}

// stop stops all tasks. Their work is lost.
func (x *shared) stop(at time.Duration, g *gang) time.Duration {
	for k := range g.shares {
		if g.shares[k].handle >= 0 {
			x.stopTask(at, g, k)
		}
	}
	return 0
}

// stopTask stops one task, and returns what it used.
func (x *shared) stopTask(at time.Duration, g *gang, k int) timeshare.Used {
	used := x.machines.Stop(at, g.shares[k].handle)
	g.shares[k].handle = -1
	g.left--
	return used
}

func (x *shared) next() (time.Duration, bool) { return x.machines.Next() }

func (x *shared) happen(at time.Duration, out *ended) {
	out.done, out.evicted = x.machines.Happen(at, out.done, out.evicted)
}

func (x *shared) settle(at time.Duration) { x.machines.Settle(at) }

// measure appends the measurements of a gang's running tasks.
func (x *shared) measure(at time.Duration, g *gang, nodes *sched.NodeSet, out []usage.Task) []usage.Task {
	for k, s := range g.shares {
		if s.handle < 0 {
			continue
		}
		t := usage.Task{Index: k, Node: nodes.Node(int(s.node)).Name}
		used := x.machines.Used(at, s.handle)
		t.Now.CPU, t.Now.Memory, _ = x.machines.Look(s.handle)
		t.Ran, t.Throttled = used.Ran, used.Throttled
		t.Max = usage.Level{CPU: max(used.MaxCPU, t.Now.CPU), Memory: used.MaxMemory}
		if seconds := used.Ran.Seconds(); seconds > 0 {
			t.Mean = usage.Level{CPU: used.CPUTime / seconds, Memory: used.MemoryTime / seconds}
		}
		out = append(out, t)
	}
	return out
}
