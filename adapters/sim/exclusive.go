package sim

import (
	"fmt"
	"math"
	"time"

	"github.com/hedgesched/hedge/adapters/sim/event"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/ranges"
)

// exclusive is the physics of whole reservations: a task holds what it asks for, whether it uses it or not, so tasks do
// not slow each other down. A gang holds all its nodes until its longest task ends.
type exclusive struct {
	ledger sched.Ledger
	ends   event.Queue[*gang]
}

var _ physics = (*exclusive)(nil)

func newExclusive(nodes *sched.NodeSet) *exclusive {
	x := &exclusive{}
	x.ledger.Open(nodes)
	return x
}

func (x *exclusive) start(at time.Duration, g *gang, on ranges.Set, stretch float64) error {
	if !x.reserve(g, on) {
		return errNoRoom
	}
	left := scale(g.work.Runtime()-g.done, stretch)
	if left > math.MaxInt64-at {
		return fmt.Errorf("%w: start at %v for %v", ErrTimeOverflow, at, left)
	}
	g.stint = &stint{on: on, since: at, stretch: stretch, end: x.ends.Push(at+left, 0, g)}
	return nil
}

func (x *exclusive) stop(at time.Duration, g *gang) time.Duration {
	x.ends.Cancel(g.end)
	x.ledger.GiveAll(g.on, g.demand)
	ran := at - g.since
	if g.stretch == 1 {
		return ran
	}
	return time.Duration(math.Round(float64(ran) / g.stretch))
}

func (x *exclusive) next() (time.Duration, bool) {
	at, _, ok := x.ends.Peek()
	return at, ok
}

func (x *exclusive) happen(at time.Duration, out *ended) {
	for due, ok := x.next(); ok && due <= at; due, ok = x.next() {
		e, _ := x.ends.Pop()
		x.ledger.GiveAll(e.Payload.on, e.Payload.demand)
		out.completed = append(out.completed, e.Payload.id)
	}
}

// settle has nothing to do: tasks do not affect each other.
func (x *exclusive) settle(time.Duration) {}

// reserve takes what the gang needs, all of it or nothing.
func (x *exclusive) reserve(g *gang, on ranges.Set) bool {
	if on.Tasks() != int64(g.tasks) {
		return false
	}
	for i := range on {
		if _, _, over := x.ledger.OvercommitsOn(&on[i], g.demand); over > 0 {
			x.ledger.GiveAll(on[:i], g.demand)
			return false
		}
		x.ledger.TakeAll(on[i:i+1], g.demand)
	}
	return true
}

// scale is d times stretch, rounded to the nanosecond.
func scale(d time.Duration, stretch float64) time.Duration {
	if stretch == 1 {
		return d
	}
	return time.Duration(math.Round(float64(d) * stretch))
}
