package adapters

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hedgesched/hedge/sched"
)

// errNoRoom is the error of a start whose room did not become free.
var errNoRoom = errors.New("adapters: its room was taken")

// errChanged is the error of a start whose job has changed since the decision.
var errChanged = fmt.Errorf("%w: the job has changed while it waited for its room", ErrStale)

// runQueue makes the queued starts that have room, in order. Other starts wait while jobs are stopping on their nodes.
// If a job has changed meanwhile, its start fails, as the decision was about the old job.
func (c *Cluster) runQueue(now time.Time) {
	if len(c.queue) == 0 {
		return
	}
	stops := c.stoppingOn()
	c.used = nil
	c.queue = slices.DeleteFunc(c.queue, func(t *tracked) bool {
		if t.gone || t.asked == nil || t.asked.is != queued {
			return true
		}
		if t.job.Problem != nil || t.job.Revision != t.asked.revision {
			c.comeBack(t, now, errChanged, false)
			c.syncWaiting(t, now)
			return true
		}
		awaits := slices.ContainsFunc(t.asked.decision.Nodes, func(n sched.NodeTasks) bool { return stops[n.Node] })
		fits := c.fits(t)
		switch {
		case fits:
			c.send(t, now)
			c.occupy(t)
			return true
		case awaits && now.Sub(t.begun) < c.opt.StartTimeout:
			return false
		}
		c.comeBack(t, now, fmt.Errorf("%w: job %q", errNoRoom, t.job.Spec.ID), false)
		return true
	})
	c.used = nil
}

// stoppingOn are the nodes on which jobs are being stopped.
func (c *Cluster) stoppingOn() map[string]bool {
	var out map[string]bool
	for _, t := range c.open {
		if t.gone || t.told != toldStopping && t.is != stopping && t.is != broken {
			continue
		}
		for _, n := range t.holds() {
			if out == nil {
				out = make(map[string]bool)
			}
			out[n.Node] = true
		}
	}
	return out
}

// fits reports whether the nodes have room for the start beside everything that holds room on them, or may.
func (c *Cluster) fits(t *tracked) bool {
	demand := t.reserved()
	for _, nt := range t.asked.decision.Nodes {
		n := c.nodes[nt.Node]
		if n == nil || n.Gone || n.Cordoned {
			return false
		}
		capacity := n.room()
		for r, d := range demand {
			if d <= 0 {
				continue
			}
			left := capacity[r] - c.usage()[nt.Node][r] - float64(d*float64(nt.Tasks))
			if sched.Overcommits(left, capacity[r]) {
				return false
			}
		}
	}
	return true
}

// usage is what our jobs hold on each node. It is computed once per run of the queue.
func (c *Cluster) usage() map[string]sched.Resources {
	if c.used != nil {
		return c.used
	}
	c.used = make(map[string]sched.Resources)
	for _, t := range c.order {
		if t.gone {
			continue
		}
		if t.asked == nil || t.asked.is != queued {
			c.occupy(t)
		}
	}
	return c.used
}

// occupy counts what a job holds, or may.
func (c *Cluster) occupy(t *tracked) {
	for _, nt := range t.holds() {
		c.use(nt.Node, t.reserved(), float64(nt.Tasks))
	}
}

func (c *Cluster) use(node string, demand sched.Resources, tasks float64) {
	row := c.used[node]
	if row == nil {
		row = make(sched.Resources, len(demand))
		c.used[node] = row
	}
	for r, d := range demand {
		row[r] += float64(d * tasks)
	}
}

// room is what the node offers to our jobs: nothing while it is cordoned, and less by what others hold.
func (n *Node) room() sched.Resources {
	if !n.Cordoned && len(n.Foreign) == 0 {
		if n.Capacity == nil {
			return sched.Resources{sched.WholeNode: 1}
		}
		return n.Capacity
	}
	out := sched.Resources{sched.WholeNode: 1}
	if n.Capacity != nil {
		out = maps.Clone(n.Capacity)
	}
	for r := range out {
		if out[r] = max(0, out[r]-n.Foreign[r]); n.Cordoned {
			out[r] = 0
		}
	}
	return out
}
