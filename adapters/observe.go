package adapters

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hedgesched/hedge/sched"
)

// takeIn applies what the cluster reports.
func (c *Cluster) takeIn(v *View) {
	c.version = max(c.version, v.Version)
	if v.Full {
		c.round++
	}
	for i := range v.Nodes {
		c.takeNode(&v.Nodes[i], v.Full)
	}
	for i := range v.Jobs {
		if v.Jobs[i].Spec != nil {
			c.takeJob(&v.Jobs[i], v.Full)
		}
	}
	if v.Full {
		c.bury(v)
	}
	for _, id := range v.Unsaid {
		if t := c.jobs[id]; t != nil {
			t.noted = ""
			c.watch(t)
		}
	}
}

// restored returns an error if a view that was requested contains something older than what was known before.
func (c *Cluster) restored(v *View) error {
	older := func(now, before uint64) bool { return now != 0 && now < before }
	if older(v.Version, c.version) {
		return fmt.Errorf("%w: it is at version %d, and was at %d", ErrRestored, v.Version, c.version)
	}
	for i := range v.Nodes {
		now := &v.Nodes[i]
		if n := c.nodes[now.Name]; n != nil && older(now.Version, n.Version) {
			return fmt.Errorf("%w: node %q is of version %d, and was of %d", ErrRestored, now.Name, now.Version, n.Version)
		}
	}
	for i := range v.Jobs {
		now := &v.Jobs[i]
		if now.Spec == nil {
			continue
		}
		if t := c.jobs[now.Spec.ID]; t != nil && t.job.UID == now.UID && older(now.Version, t.job.Version) {
			return fmt.Errorf("%w: job %q is of version %d, and was of %d", ErrRestored, now.Spec.ID, now.Version, t.job.Version)
		}
	}
	return nil
}

// bury removes what a full view does not contain.
func (c *Cluster) bury(v *View) {
	for _, name := range c.names {
		if n := c.nodes[name]; n.round != c.round && !n.Gone {
			n.Gone = true
			c.tell(sched.Event{Kind: sched.NodeDown, Node: &sched.Node{Name: name}})
		}
	}
	c.names = slices.DeleteFunc(c.names, func(name string) bool {
		gone := c.nodes[name].round != c.round
		if gone {
			delete(c.nodes, name)
		}
		return gone
	})
	for _, t := range c.order {
		if !t.gone && t.round != c.round {
			c.leave(t)
		}
	}
	c.order = slices.DeleteFunc(c.order, func(t *tracked) bool { return t.gone })
	clear(c.graves)
	c.floor = v.Floor
}

// takeNode tells the loop about a node that has changed.
func (c *Cluster) takeNode(now *Node, full bool) {
	n := c.nodes[now.Name]
	switch {
	case n == nil && now.Gone, n == nil && !full && c.buried(now.Version):
		return
	case n == nil:
		n = &node{Node: Node{Node: sched.Node{Name: now.Name}, Gone: true}}
		c.nodes[now.Name] = n
		c.names = append(c.names, now.Name)
	}
	n.round = c.round
	if now.Version != 0 && now.Version < n.Version {
		return
	}
	before := n.Node
	n.Node = *now
	switch {
	case now.Gone && !before.Gone:
		c.tell(sched.Event{Kind: sched.NodeDown, Node: &sched.Node{Name: now.Name}})
	case !now.Gone && (before.Gone || !before.same(now)):
		c.tell(sched.Event{Kind: sched.NodeUp, Node: &sched.Node{Name: now.Name, Labels: now.Labels, Capacity: now.room()}})
	}
}

// buried reports whether an unknown object of that version was already missing from the last full view, and so no
// longer exists.
func (c *Cluster) buried(version uint64) bool { return version != 0 && version <= c.floor }

// same reports whether everything that the loop sees of the node is unchanged.
func (n *Node) same(o *Node) bool {
	return n.Cordoned == o.Cordoned && maps.Equal(n.Labels, o.Labels) && (n.Capacity == nil) == (o.Capacity == nil) &&
		maps.Equal(n.Capacity, o.Capacity) && maps.Equal(n.Foreign, o.Foreign)
}

func (c *Cluster) takeJob(now *Job, full bool) {
	id := now.Spec.ID
	t := c.jobs[id]
	if t != nil && t.job.UID != now.UID {
		if now.Gone || now.Version != 0 && now.Version < t.job.Version {
			return // about a job that was withdrawn before this one came
		}
		c.leave(t)
		t = nil
	}
	if t == nil {
		// A job that was reported as gone stays gone until the next full view, whatever its version. Versions order the
		// reports of a job that exists; without versions (0) the last report is believed. So a late report would submit the
		// job again. Each full view empties the graves.
		_, buried := c.graves[now.UID]
		if buried || now.Gone || !full && c.buried(now.Version) {
			if now.Gone && !full {
				c.graves[now.UID] = struct{}{}
			}
			return
		}
		t = &tracked{}
		c.jobs[id] = t
		c.order = append(c.order, t)
	}
	t.round = c.round
	if now.Version != 0 && now.Version < t.job.Version {
		return
	}
	if now.Attempt != t.job.Attempt {
		t.use = meters{}
	}
	t.job = *now
	c.sizable.set(id, !now.Gone && now.Resize != nil)
	if now.Gone {
		c.leave(t)
		return
	}
	t.is, t.cause = t.job.phase()
	c.watch(t)
}

// leave forgets a job that no longer exists.
func (c *Cluster) leave(t *tracked) {
	if t.told != untold && t.told != toldOver {
		c.tell(sched.Event{Kind: sched.Withdrawn, ID: t.job.Spec.ID, Time: c.opt.Now()})
	}
	t.gone, t.asked, t.told = true, nil, toldOver
	c.graves[t.job.UID] = struct{}{}
	delete(c.jobs, t.job.Spec.ID)
	c.sizable.set(t.job.Spec.ID, false)
}

// settle tells the loop the current state of all jobs that have changed or have something under way.
func (c *Cluster) settle(ctx context.Context, now time.Time) {
	for _, t := range c.open {
		if !t.gone {
			c.sync(t, now)
		}
	}
	c.flush(ctx)
	c.runQueue(now)
	c.flush(ctx)
	for _, t := range c.open {
		if !t.gone {
			c.explainSelf(t)
		}
	}
	c.flush(ctx)
	c.open = slices.DeleteFunc(c.open, func(t *tracked) bool {
		keep := !t.gone && t.underWay()
		t.listed = keep
		return !keep
	})
}

// underWay reports whether the job may need an action although nothing is observed.
func (t *tracked) underWay() bool {
	return t.asked != nil || t.stop != nil || t.told == toldStopping || t.is == starting || t.is == broken ||
		t.is == stopping ||
		t.say != nil || t.lacks != nil || t.job.Problem != nil && t.noted != t.job.Problem.Error()
}

func (c *Cluster) sync(t *tracked, now time.Time) {
	if t.is != waiting && t.is != over {
		t.seen, t.stale = true, 0
		t.ran = t.ran || !t.job.started().IsZero() && len(t.job.Tasks) == t.job.Spec.Tasks
		t.asked = nil // whoever started it
		if t.begun.IsZero() {
			t.begun = now
		}
	}
	switch t.is {
	case waiting:
		c.syncWaiting(t, now)
	case starting, running:
		c.syncActive(t, now)
	case broken:
		c.syncStopping(t, now)
		if c.orderDue(t, now) {
			c.halt(t, t.cause, sched.Reason{}, now, nil)
		}
	case stopping:
		c.syncStopping(t, now)
	case finished, over:
		c.syncOver(t, now)
	}
}

// orderDue reports whether a job that must stop has to be told, or told again.
func (c *Cluster) orderDue(t *tracked, now time.Time) bool {
	switch {
	case t.stop == nil:
		return c.mayStop(t, now)
	case t.stop.is == accepted:
		return now.Sub(t.stop.when) >= c.opt.StopRetry
	}
	return c.mayStop(t, now) && (c.conclusive(t.stop.at) || errors.Is(t.stop.err, ErrRefused))
}

// syncWaiting handles a job without tasks.
func (c *Cluster) syncWaiting(t *tracked, now time.Time) {
	if (t.told == toldRunning || t.told == toldStopping) && !t.seen && !c.settled(t, now) {
		return
	}
	switch t.told {
	case untold, toldOver:
		c.submit(t)
	case toldPending:
		if t.job.Problem != nil || t.revision != t.job.Revision {
			if t.revision != t.job.Revision {
				t.noted = "" // the user must see what holds for the job as it is now, even if the reason is the same
			}
			e := sched.Event{Kind: sched.Withdrawn, ID: t.job.Spec.ID, Time: now}
			if t.job.Problem != nil {
				e.Err = fmt.Errorf("%w: %w", ErrProblem, t.job.Problem)
			}
			c.tell(e)
			c.submit(t)
		}
	case toldRunning, toldStopping:
		var cause Cause
		if t.stop != nil {
			cause = t.stop.cause
		}
		asked := t.asked != nil // requested, accepted, and vanished
		punish := asked || cause == CauseShort || cause == CauseTimeout || cause == CauseFailed
		err := t.err
		if err == nil {
			err = t.job.why(cause)
		}
		if cause == CausePreempted || cause == CauseUnknown || cause == "" && t.ran {
			punish, err = false, nil
		}
		c.comeBack(t, now, err, punish)
	}
}

// settled reports whether it is known what became of a start of which nothing was observed.
func (c *Cluster) settled(t *tracked, now time.Time) bool {
	a := t.asked
	if a == nil {
		return true
	}
	if a.is == queued {
		return false
	}
	if t.job.Attempt > a.attempt {
		return true // it started and ended unobserved
	}
	last := a.at
	if t.stop != nil {
		last = max(last, t.stop.at)
	}
	if !c.conclusive(last) {
		if a.is == unknown || t.stop != nil || now.Sub(a.when) >= c.opt.Answer {
			c.relist = true
		}
		return false
	}
	if a.is == unknown && (t.stop == nil || t.stop.is != accepted) {
		if !c.mayStop(t, now) {
			return false
		}
		c.halt(t, CauseUnknown, sched.Reason{}, now, func() {
			t.asked = nil
			c.syncWaiting(t, now)
		})
		return false
	}
	return true
}

// syncActive handles a job that starts or runs.
func (c *Cluster) syncActive(t *tracked, now time.Time) {
	switch t.told {
	case untold, toldPending, toldOver:
		if !c.known(t) {
			return
		}
		c.started(t, now)
	case toldRunning:
		c.started(t, now)
	case toldStopping:
		c.stillRuns(t, now)
	}
	if t.is == running {
		t.err, t.say = nil, nil
	}
	if t.is == starting && t.told == toldRunning && now.Sub(t.begun) >= c.opt.StartTimeout && c.mayStop(t, now) {
		t.err = t.job.why(CauseTimeout)
		c.halt(t, CauseTimeout, sched.Reason{}, now, nil)
		c.stopping(t, now)
	}
}

// stillRuns handles a job that was told to stop and shows no sign of it.
func (c *Cluster) stillRuns(t *tracked, now time.Time) {
	switch o := t.stop; {
	case o != nil && o.is == accepted:
		if now.Sub(o.when) >= c.opt.StopRetry {
			c.halt(t, o.cause, sched.Reason{}, now, nil)
		}
		return
	case o != nil && !c.conclusive(o.at) && !errors.Is(o.err, ErrRefused):
		c.relist = true
		return
	}
	e := sched.Event{Kind: sched.PreemptFailed, ID: t.job.Spec.ID, Time: now}
	if t.stop != nil {
		e.Err = t.stop.err
	}
	c.tell(e)
	t.told, t.stop = toldRunning, nil
	c.started(t, now)
}

// syncStopping handles a job that is being stopped, or must be.
func (c *Cluster) syncStopping(t *tracked, now time.Time) {
	if t.is == broken && t.err == nil && (t.cause == CauseFailed || t.cause == CauseShort) {
		t.err = t.job.why(t.cause)
	}
	nodes := t.holds()
	switch {
	case t.told == toldStopping:
	case t.told == untold, t.told == toldOver:
		if len(nodes) > 0 && c.known(t) {
			c.stopping(t, now)
		}
	case len(nodes) == 0 && t.told == toldPending:
		c.tell(sched.Event{Kind: sched.Withdrawn, ID: t.job.Spec.ID, Time: now})
		t.told = untold // until what is left of it is cleared away
	default:
		c.stopping(t, now)
	}
}

// stopping tells the loop that the job is being stopped.
func (c *Cluster) stopping(t *tracked, now time.Time) {
	e := sched.Event{Kind: sched.Stopping, ID: t.job.Spec.ID, Time: t.job.started(), Nodes: t.holds()}
	if e.Time.IsZero() {
		e.Time = now
	}
	c.tell(e)
	t.told, t.nodes = toldStopping, e.Nodes
}

// holds is what the job may hold: where its tasks are observed, and where the loop was told or has planned them.
// Observation may lag behind a request. So the rest is free only once the attempt has ended or the whole gang is
// observed.
func (t *tracked) holds() []sched.NodeTasks {
	out := t.job.nodes(true)
	if t.told != toldRunning && t.told != toldStopping {
		return out
	}
	for _, nt := range t.nodes {
		i := slices.IndexFunc(out, func(o sched.NodeTasks) bool { return o.Node == nt.Node })
		if i < 0 {
			out = append(out, nt)
			continue
		}
		out[i].Tasks = max(out[i].Tasks, nt.Tasks)
	}
	return out
}

// syncOver handles a job that has finished or will not be started again.
func (c *Cluster) syncOver(t *tracked, now time.Time) {
	defer func() { t.asked, t.stop, t.told = nil, nil, toldOver }()
	if t.is == over {
		if t.told != untold && t.told != toldOver {
			c.tell(sched.Event{Kind: sched.Withdrawn, ID: t.job.Spec.ID, Time: now, Err: t.job.Err})
		}
		return
	}
	ended := t.job.ended()
	switch t.told {
	case toldOver:
		return
	case untold:
		if !ended.After(c.opt.LearntUntil) || !c.known(t) {
			return
		}
	}
	if t.told != toldStopping {
		c.started(t, now)
	}
	c.tell(sched.Event{Kind: sched.Finished, ID: t.job.Spec.ID, Time: ended, Runtime: t.job.ran(), Used: t.used()})
	if ended.After(c.until) {
		c.until = ended
	}
}

// submit tells the loop about a job that waits, if the job is valid.
func (c *Cluster) submit(t *tracked) {
	t.told, t.asked, t.stop, t.seen, t.ran, t.begun = untold, nil, nil, false, false, time.Time{}
	if t.job.Problem == nil {
		t.job.Problem = t.job.valid()
	}
	if t.lacks = nil; t.job.Problem == nil {
		if t.lacks = c.lacking(t); t.lacks == nil {
			c.known(t)
		}
	}
}

// known tells the loop about a job, unless it knows the job or the job cannot be described. If a job with tasks has
// wrong hints, the loop gets the job without those hints, so that the job keeps its room. Once the job waits again, it
// is submitted as another job, or not at all.
func (c *Cluster) known(t *tracked) bool {
	if t.told == toldPending || t.told == toldRunning || t.told == toldStopping {
		return true
	}
	spec, revision := t.job.Spec, t.job.Revision
	if t.job.valid() != nil {
		if spec, revision = t.job.bare(), ^revision; spec == nil {
			return false
		}
	}
	spec = c.staged(t, spec)
	c.tell(sched.Event{Kind: sched.Submitted, Time: spec.Submitted, ID: spec.ID, Job: spec, Done: t.job.Done})
	t.told, t.revision = toldPending, revision
	return true
}

// started tells the loop where the job runs and since when, if the loop believes otherwise. While not all tasks run,
// the time is when they were first observed.
func (c *Cluster) started(t *tracked, now time.Time) {
	since := t.job.started()
	if since.IsZero() || t.is == starting {
		if since = t.begun; since.IsZero() {
			since = now
		}
	}
	nodes := t.job.nodes(false)
	if len(t.job.Tasks) < t.job.Spec.Tasks && t.told == toldRunning {
		return // it is not all there yet; the loop knows the plan
	}
	same := sameNodes(nodes, t.nodes)
	if t.told == toldRunning && same && (t.is == starting || since.Equal(t.since)) {
		return
	}
	c.tell(sched.Event{Kind: sched.Started, ID: t.job.Spec.ID, Time: since, Nodes: nodes})
	t.told, t.since, t.nodes = toldRunning, since, nodes
}

// sameNodes reports whether both have the same number of tasks on each node, in any order.
func sameNodes(a, b []sched.NodeTasks) bool {
	if len(a) != len(b) {
		return false
	}
	if slices.Equal(a, b) {
		return true
	}
	by := func(x, y sched.NodeTasks) int { return strings.Compare(x.Node, y.Node) }
	return slices.Equal(slices.SortedFunc(slices.Values(a), by), slices.SortedFunc(slices.Values(b), by))
}
