package sim

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/hedgesched/hedge/adapters/sim/internal/timeshare"
	"github.com/hedgesched/hedge/sched"
)

// Outage is a time in which a shared node is lost. The tasks that run there lose their work and wait again, as evicted
// tasks do. Outages of a node may overlap.
type Outage struct {
	// Node names the node.
	Node string
	// At is when the node is lost, since the start of the simulation. For is how long it is gone, above 0.
	At, For time.Duration
}

// turn is a node's loss or return.
type turn struct {
	at   time.Duration
	node int32
	down bool
}

// outages are the turns to come, and how many outages each node has now.
type outages struct {
	turns []turn
	next  int
	down  []int
}

// newOutages checks the outages and orders their turns. Returns come before losses of the same instant.
func newOutages(of []Outage, nodes *sched.NodeSet, shared bool) (*outages, error) {
	o := &outages{down: make([]int, nodes.Len())}
	for i := range of {
		x := &of[i]
		n, ok := nodes.Index(x.Node)
		switch {
		case !shared:
			return nil, fmt.Errorf("%w: outage %d: nodes are not shared", ErrConfig, i)
		case !ok:
			return nil, fmt.Errorf("%w: outage %d: unknown node %q", ErrConfig, i, x.Node)
		case x.At < 0 || x.At > maxTime || x.For <= 0 || x.For > maxTime:
			return nil, fmt.Errorf("%w: outage %d: at %v for %v, expected 0 to 50 years", ErrConfig, i, x.At, x.For)
		}
		o.turns = append(o.turns, turn{x.At, int32(n), true}, turn{x.At + x.For, int32(n), false})
	}
	slices.SortStableFunc(o.turns, func(a, b turn) int {
		return cmp.Or(cmp.Compare(a.at, b.at), sooner(!a.down, !b.down), cmp.Compare(a.node, b.node))
	})
	return o, nil
}

// sooner orders true before false.
func sooner(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// due is when the next node is lost or comes back, and whether there is such a time.
func (o *outages) due() (at time.Duration, ok bool) {
	if o.next == len(o.turns) {
		return 0, false
	}
	return o.turns[o.next].at, true
}

// turnNodes loses the nodes that are lost at an instant, and brings back those that come back.
func (l *life) turnNodes(at time.Duration) {
	for o := l.outages; o.next < len(o.turns) && o.turns[o.next].at <= at; o.next++ {
		t := &o.turns[o.next]
		if !t.down {
			if o.down[t.node]--; o.down[t.node] == 0 {
				l.told = append(l.told, sched.Event{Kind: sched.NodeUp, Time: l.time(), Node: l.nodes.Node(int(t.node))})
				l.log.node(upEvent, at, l.nodes.Node(int(t.node)).Name)
			}
			continue
		}
		if o.down[t.node]++; o.down[t.node] > 1 {
			continue
		}
		l.loseAll(l.shared.machines.Clear(at, t.node), sched.CauseNodeLost)
		l.told = append(l.told, sched.Event{Kind: sched.NodeDown, Time: l.time(), Node: l.nodes.Node(int(t.node))})
		l.log.node(downEvent, at, l.nodes.Node(int(t.node)).Name)
	}
}

// loseAll makes lost tasks pending again. They are in order of their gangs.
func (l *life) loseAll(lost []timeshare.End, why sched.Cause) {
	for len(lost) > 0 {
		n := 1
		for n < len(lost) && lost[n].Owner == lost[0].Owner {
			n++
		}
		l.lose(l.at(lost[0].Owner), lost[:n], why)
		lost = lost[n:]
	}
}
