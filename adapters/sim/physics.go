package sim

import (
	"errors"
	"time"

	"github.com/hedgesched/hedge/adapters/sim/event"
)

// physics is what nodes do to the gangs on them. Its caller is life, which owns the clock: times never fall from one
// call to the next, and nothing that falls due is passed over. All changes of one instant come before the settle of
// that instant:
//
//	happen, start and stop in any number, settle
//
// There is one implementation, exclusive. Two more are to come.
//
//   - shared: tasks share the CPU of a node by their requests, and the memory limit is hard. A start or stop, or a
//     step in a task's use (an event that happen takes), only marks the node. Settle computes the speeds on marked
//     nodes once and moves each end with event.Queue.Retime. A node out of memory gets an eviction at the same
//     instant in the same queue, which the next happen returns in a list of its own in ended.
//   - slots: cores of workers, for schedulers that place each task by itself. A task is launched, paused, resumed and
//     killed by verbs of its own. Next, happen and settle are the same, so that a loop of messages takes its events
//     between those of its own queue.
type physics interface {
	// start puts the whole gang on the nodes, from its work done onwards. Work there takes stretch times as long. The
	// gang keeps on until it stops. The error wraps errNoRoom, and nothing has changed, if the nodes do not hold it;
	// else ErrTimeOverflow, and the simulation cannot go on.
	start(at time.Duration, g *gang, on []placement, stretch float64) error
	// stop takes a running gang off its nodes. It returns the work that was done since the start, at full speed.
	stop(at time.Duration, g *gang) (work time.Duration)
	// next is the next instant at which something happens by itself. With Config.Cycle 0 the policy is asked then.
	next() (at time.Duration, ok bool)
	// happen lets everything happen that falls due by an instant, and adds to out the gangs that are off their nodes.
	happen(at time.Duration, out *ended)
	// settle shares out anew what the changes of an instant have left.
	settle(at time.Duration)
}

// ended is what has ended by itself at an instant.
type ended struct {
	// completed are the ids of the gangs whose work is done, in order of their ends, then of their starts.
	completed []int32
}

// gang is what physics knows of a job.
type gang struct {
	id     int32     // the job's index
	tasks  int       // number of tasks
	demand []float64 // of one task, by resource of the node set
	work   Work
	// done is the work, at full speed, that need not be done again.
	done time.Duration

	// Of a gang that runs:
	on      []placement
	since   time.Duration
	stretch float64
	end     event.Handle
}

// placement is a number of tasks on the node of an index.
type placement struct {
	node, tasks int32
}

// errNoRoom is a start on nodes that cannot hold the gang. Hosts read it in the cycle's failed events.
var errNoRoom = errors.New("sim: the nodes cannot hold the gang")
