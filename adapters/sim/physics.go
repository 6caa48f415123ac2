package sim

import (
	"errors"
	"time"

	"github.com/hedgesched/hedge/adapters/sim/event"
	"github.com/hedgesched/hedge/adapters/sim/internal/timeshare"
	"github.com/hedgesched/hedge/sched/ranges"
)

// physics is what nodes do to the gangs on them. Its caller is life, which owns the clock: times never fall from one
// call to the next, and nothing that is due is skipped. At each instant all changes come first, and settle last:
//
//	happen, start and stop in any number, settle
//
// There are two implementations: exclusive, in which a task holds what it asks for, and shared, in which tasks share
// the CPU of a node and are evicted where memory is short. A start, a stop or a step in a task's use only marks the
// node there; settle then shares out the node's CPU and memory again. What it evicts is in ended at the same instant.
type physics interface {
	// start puts the whole gang on the nodes, from its work done onwards. Work there takes stretch times as long. The
	// gang keeps on until it stops. The error wraps errNoRoom, and nothing has changed, if the nodes do not hold it;
	// else ErrTimeOverflow, and the simulation cannot go on.
	start(at time.Duration, g *gang, on ranges.Set, stretch float64) error
	// stop takes a running gang off its nodes. It returns the work that was done since the start, at full speed.
	stop(at time.Duration, g *gang) (work time.Duration)
	// next is the time of the next event of the nodes' own, and whether there is one. With Config.Cycle 0 the policy is
	// asked then.
	next() (at time.Duration, ok bool)
	// happen lets everything happen that falls due by an instant, and adds to out the gangs that are off their nodes.
	happen(at time.Duration, out *ended)
	// settle shares out CPU and memory again on the nodes that have changed at this instant.
	settle(at time.Duration)
}

// ended is what has been completed or evicted at an instant.
type ended struct {
	// completed are the ids of the gangs whose work is done, in order of their ends, then of their starts.
	completed []int32
	// done and evicted are single tasks of gangs on shared nodes, in order of gangs, then of tasks.
	done, evicted []timeshare.End
}

func (e *ended) reset() {
	e.completed, e.done, e.evicted = e.completed[:0], e.done[:0], e.evicted[:0]
}

// gang is what physics knows of a job.
type gang struct {
	id     int32     // the job's index
	tasks  int       // number of tasks
	demand []float64 // of one task, by resource of the node set
	work   *Work
	// priority orders evictions, least first.
	priority int
	// done is the work, at full speed, that need not be done again.
	done   time.Duration
	*stint // of a gang that runs; few do at a time
}

// stint is a run of a gang.
type stint struct {
	on      ranges.Set
	since   time.Duration
	stretch float64
	end     event.Handle
	shares  []placed // by task, on shared nodes
	left    int      // tasks of it that run
}

// placed is a task on a shared node.
type placed struct {
	handle int32 // -1 if it does not run
	node   int32
}

// errNoRoom is a start on nodes that cannot hold the gang. Hosts read it in the cycle's failed events.
var errNoRoom = errors.New("sim: the nodes cannot hold the gang")
