package sim

import (
	"fmt"
	"math"
	"time"

	"github.com/hedgesched/hedge/adapters/sim/event"
	"github.com/hedgesched/hedge/sched"
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

func (x *exclusive) start(at time.Duration, g *gang, on []placement, stretch float64) error {
	if !x.reserve(g, on) {
		return errNoRoom
	}
	left := scale(g.work.Runtime()-g.done, stretch)
	if left > math.MaxInt64-at {
		return fmt.Errorf("%w: start at %v for %v", ErrTimeOverflow, at, left)
	}
	g.on, g.since, g.stretch = on, at, stretch
	g.end = x.ends.Push(at+left, 0, g)
	return nil
}

func (x *exclusive) stop(at time.Duration, g *gang) time.Duration {
	x.ends.Cancel(g.end)
	x.giveBack(g, g.on)
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
		x.giveBack(e.Payload, e.Payload.on)
		out.completed = append(out.completed, e.Payload.id)
	}
}

// settle has nothing to do: tasks do not affect each other.
func (x *exclusive) settle(time.Duration) {}

// reserve takes what the gang needs, all of it or nothing.
func (x *exclusive) reserve(g *gang, on []placement) bool {
	total := int64(0)
	for i, p := range on {
		if !x.take(g, p) {
			x.giveBack(g, on[:i])
			return false
		}
		total += int64(p.tasks)
	}
	if total != int64(g.tasks) {
		x.giveBack(g, on)
		return false
	}
	return true
}

// take takes what the tasks need of a node if it is there.
func (x *exclusive) take(g *gang, p placement) bool {
	if _, over := x.ledger.Overcommits(int(p.node), g.demand, int(p.tasks)); over > 0 {
		return false
	}
	x.ledger.Take(int(p.node), g.demand, int(p.tasks))
	return true
}

func (x *exclusive) giveBack(g *gang, on []placement) {
	for _, p := range on {
		x.ledger.Give(int(p.node), g.demand, int(p.tasks))
	}
}

// scale is d times stretch, rounded to the nanosecond.
func scale(d time.Duration, stretch float64) time.Duration {
	if stretch == 1 {
		return d
	}
	return time.Duration(math.Round(float64(d) * stretch))
}
