package schedtest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/hedgesched/hedge/sched"
)

// Clock is a clock that stands still until it is moved. It is safe for concurrent use.
type Clock struct {
	mu     sync.Mutex
	now    time.Time
	timers []timer
	armed  chan struct{}
}

type timer struct {
	due time.Time
	ch  chan time.Time
}

// NewClock starts at a time.
func NewClock(now time.Time) *Clock { return &Clock{now: now, armed: make(chan struct{}, 1)} }

// Now is where the clock stands.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// After delivers when the clock has been moved by d.
func (c *Clock) After(d time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := timer{due: c.now.Add(d), ch: make(chan time.Time, 1)}
	if d <= 0 {
		t.ch <- c.now
		return t.ch
	}
	c.timers = append(c.timers, t)
	select {
	case c.armed <- struct{}{}:
	default:
	}
	return t.ch
}

// Armed delivers after somebody has begun to wait: the sign that a loop has
// finished its cycle and the clock may be moved.
func (c *Clock) Armed() <-chan struct{} { return c.armed }

// Advance moves the clock and wakes who has waited long enough.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	c.timers = slices.DeleteFunc(c.timers, func(t timer) bool {
		if t.due.After(c.now) {
			return false
		}
		t.ch <- c.now
		return true
	})
}

// Cluster is a cluster in memory whose jobs run as long as they were said to.
// It keeps account of its nodes on its own and refuses plans that
// over-commit them. It is not safe for concurrent use.
type Cluster struct {
	// Refuse tells which starts fail; nil lets all succeed.
	Refuse func(job string) bool
	// ApplyErr and EventsErr are returned by the next Apply or Events, which then does nothing else.
	ApplyErr, EventsErr error
	// HoldStops keeps back the news that a preempted job has stopped until Stop.
	HoldStops bool
	// Completed are the jobs that finished, in order.
	Completed []string
	// Lost counts the preemptions carried out.
	Lost int

	now     time.Time
	nodes   map[string]*fakeNode
	known   map[string]*fakeJob
	events  []sched.Event
	running []*fakeJob
}

type fakeNode struct {
	labels         map[string]string
	capacity, free sched.Resources
}

type fakeJob struct {
	job     *sched.Job
	runtime time.Duration
	began   time.Time
	ends    time.Time
	nodes   []sched.NodeTasks
}

// NewCluster is a cluster whose first events bring up the nodes.
func NewCluster(now time.Time, nodes []sched.Node) *Cluster {
	c := &Cluster{now: now, nodes: make(map[string]*fakeNode), known: make(map[string]*fakeJob)}
	for _, n := range nodes {
		c.NodeUp(n)
	}
	return c
}

// NodeUp adds a node.
func (c *Cluster) NodeUp(n sched.Node) {
	capacity := n.Capacity
	if capacity == nil {
		capacity = sched.Resources{sched.WholeNode: 1}
	}
	c.nodes[n.Name] = &fakeNode{labels: n.Labels, capacity: maps.Clone(capacity), free: maps.Clone(capacity)}
	c.tell(sched.Event{Kind: sched.NodeUp, Node: &n})
}

// NodeDown removes a node; jobs on it come back as preempted.
func (c *Cluster) NodeDown(name string) {
	for _, j := range slices.Clone(c.running) {
		if slices.ContainsFunc(j.nodes, func(nt sched.NodeTasks) bool { return nt.Node == name }) {
			c.stop(j)
			c.tell(sched.Event{Kind: sched.Preempted, ID: j.job.ID})
		}
	}
	delete(c.nodes, name)
	c.tell(sched.Event{Kind: sched.NodeDown, Node: &sched.Node{Name: name}})
}

// Submit hands in a job that will run for some seconds at full speed, and longer off its preferred nodes.
func (c *Cluster) Submit(job *sched.Job, seconds float64) {
	if c.known[job.ID] == nil {
		c.known[job.ID] = &fakeJob{job: job, runtime: time.Duration(seconds * float64(time.Second))}
	}
	c.tell(sched.Event{Kind: sched.Submitted, Job: job, ID: job.ID})
}

// Withdraw takes a job back.
func (c *Cluster) Withdraw(id string) {
	if j := c.known[id]; j != nil {
		c.stop(j)
		delete(c.known, id)
	}
	c.tell(sched.Event{Kind: sched.Withdrawn, ID: id})
}

// Tell adds an event as it is, true or not.
func (c *Cluster) Tell(e sched.Event) { c.events = append(c.events, e) }

// Advance moves time to now; jobs that end by then finish in order.
func (c *Cluster) Advance(now time.Time) {
	ended := slices.DeleteFunc(slices.Clone(c.running), func(j *fakeJob) bool { return j.ends.After(now) })
	slices.SortStableFunc(ended, func(a, b *fakeJob) int {
		return cmp.Or(a.ends.Compare(b.ends), cmp.Compare(a.job.ID, b.job.ID))
	})
	for _, j := range ended {
		c.now = j.ends
		c.stop(j)
		delete(c.known, j.job.ID)
		c.Completed = append(c.Completed, j.job.ID)
		c.tell(sched.Event{Kind: sched.Finished, ID: j.job.ID, Runtime: j.ends.Sub(j.began)})
	}
	c.now = now
}

// Running is the number of jobs that run.
func (c *Cluster) Running() int { return len(c.running) }

// Events hands over what has happened.
func (c *Cluster) Events(context.Context) ([]sched.Event, error) {
	if err := c.EventsErr; err != nil {
		c.EventsErr = nil
		return nil, err
	}
	out := c.events
	c.events = nil
	return out, nil
}

// Apply carries out the plan. A plan that no loop may hand over, as one that over-commits a node, is an error,
// after which the cluster is of no more use.
func (c *Cluster) Apply(_ context.Context, plan *sched.Plan) error {
	if err := c.ApplyErr; err != nil {
		c.ApplyErr = nil
		return err
	}
	for _, d := range plan.Decisions {
		if d.Kind == sched.Preempt {
			if err := c.preempt(d.Job); err != nil {
				return err
			}
		}
	}
	for _, d := range plan.Decisions {
		if d.Kind == sched.Start {
			if err := c.start(d, plan.Overpacks); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *Cluster) preempt(id string) error {
	j := c.known[id]
	if j == nil || !slices.Contains(c.running, j) {
		return fmt.Errorf("job %q is preempted but does not run", id)
	}
	c.stop(j)
	c.Lost++
	if !c.HoldStops {
		c.Stop(id)
	}
	return nil
}

// Stop tells that a preempted job has stopped.
func (c *Cluster) Stop(id string) { c.tell(sched.Event{Kind: sched.Preempted, ID: id}) }

func (c *Cluster) start(d sched.Decision, overpacks []string) error {
	j := c.known[d.Job]
	if j == nil || slices.Contains(c.running, j) {
		return fmt.Errorf("job %q starts but is unknown or runs", d.Job)
	}
	if c.Refuse != nil && c.Refuse(d.Job) {
		c.tell(sched.Event{Kind: sched.StartFailed, ID: d.Job})
		return nil
	}
	tasks := 0
	for _, nt := range d.Nodes {
		tasks += nt.Tasks
		node := c.nodes[nt.Node]
		if node == nil {
			return fmt.Errorf("job %q starts on unknown node %q", d.Job, nt.Node)
		}
		for r, need := range j.job.DemandOrNode() {
			node.free[r] -= float64(need * float64(nt.Tasks))
			if sched.Overcommits(node.free[r], node.capacity[r]) && !slices.Contains(overpacks, r) {
				return fmt.Errorf("job %q over-commits %s of node %q", d.Job, r, nt.Node)
			}
		}
	}
	if tasks != j.job.Tasks {
		return fmt.Errorf("job %q starts %d of %d tasks", d.Job, tasks, j.job.Tasks)
	}
	runtime := j.runtime
	speed := 1.0
	for _, nt := range d.Nodes {
		speed = min(speed, j.job.Speeds.On(c.nodes[nt.Node].labels))
	}
	if speed < 1 {
		runtime = time.Duration(math.Round(float64(runtime) * sched.Stretch(speed)))
	}
	j.nodes, j.began, j.ends = d.Nodes, c.now, c.now.Add(runtime)
	c.running = append(c.running, j)
	c.tell(sched.Event{Kind: sched.Started, ID: d.Job, Nodes: d.Nodes})
	return nil
}

func (c *Cluster) stop(j *fakeJob) {
	i := slices.Index(c.running, j)
	if i < 0 {
		return
	}
	c.running = slices.Delete(c.running, i, i+1)
	for _, nt := range j.nodes {
		for r, need := range j.job.DemandOrNode() {
			c.nodes[nt.Node].free[r] += float64(need * float64(nt.Tasks))
		}
	}
	j.nodes = nil
}

func (c *Cluster) tell(e sched.Event) {
	e.Time = c.now
	c.events = append(c.events, e)
}
