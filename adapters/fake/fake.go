// Package fake is a cluster in memory, with virtual time and random faults. Use it to try out a policy, a host program
// or a change of package adapters. It is deterministic: the same calls in the same order have the same effect.
//
// A [Cluster] has servers and nodes. Its methods are actions of users and operators, and faults. [Cluster.Connect]
// makes a [Driver], through which a scheduler sees and uses the cluster like a real one. Its watch may lag, lose,
// duplicate and reorder events. Its calls may fail, with and without effect. Tasks are placed by one call per node, so
// a gang is short whenever a call in between fails. The servers check versions and epochs. Like many real ones, they do
// not check that a node has room; [Cluster.Records] shows whether it had.
//
// Time passes only in [Cluster.Advance] and in slow calls. Nothing here is safe for concurrent use.
package fake

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/sim/event"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/usage"
)

// The errors of users' and operators' actions.
var (
	// ErrUnknown is a job or node that does not exist.
	ErrUnknown = errors.New("fake: unknown")
	// ErrExists is a job or node that already exists.
	ErrExists = errors.New("fake: exists")
)

// Options are the options of a cluster. The zero value starts and stops tasks at once and without faults.
type Options struct {
	// Seed determines the faults.
	Seed uint64
	// Begin is the initial time; the zero time is 1 January 2020 UTC.
	Begin time.Time
	// StartDelay and StopDelay are the longest times that a task takes to start and to stop. Each task draws its own.
	StartDelay, StopDelay time.Duration
	// Expiry is how long a node may be silent before it counts as lost.
	Expiry time.Duration
	// Keep is how long jobs that are over are still reported; default one hour.
	Keep time.Duration
	// Faults are the random faults.
	Faults Faults
}

// Faults are probabilities, from 0 to 1.
type Faults struct {
	// Lose, Double and Delay apply to an event of a watch: it is lost silently, comes twice, or comes late, so that others
	// overtake it.
	Lose, Double, Delay float64
	// Break applies to each event: the watch breaks, and the driver notices and lists everything again.
	Break float64
	// Fail applies to a call that fails without effect, Mute to one that takes effect without an answer, Late to one that
	// has no answer and takes effect some time later, and Slow to one that takes some time.
	Fail, Mute, Late, Slow float64
	// BadStart applies to a task that does not start.
	BadStart float64
}

// Job is a job to submit.
type Job struct {
	// Spec is what the scheduler may know of the job. Its ID must be new; Submitted is set by Submit.
	Spec sched.Job
	// Runtime is how long the job runs once all its tasks run.
	Runtime time.Duration
	// BadStarts is the number of its starts that fail. BadRuns is the number of runs after that which fail, each halfway.
	BadStarts, BadRuns int
	// Hangs is the number of its first starts in which a task neither starts nor fails.
	Hangs int
	// SlowStop is how long its tasks take to stop, if longer than StopDelay.
	SlowStop time.Duration
	// Problem is what is wrong with its hints.
	Problem error
	// Use is what each of its tasks is measured to use; nothing is measured if it is zero.
	Use usage.Level
	// Resize is what its tasks may be resized to; nil if they may not.
	Resize *adapters.Bounds
}

// Record is what the cluster knows of one placed task.
type Record struct {
	// Job, UID and Attempt identify the task's job and attempt. Task is its number in the gang.
	Job, UID      string
	Attempt, Task int
	// Node is the task's node. Held is what the task held there.
	Node string
	Held sched.Resources
	// Placed, Started and Ended are when the task was placed, began to run, and released its room; zero if that did not
	// happen.
	Placed, Started, Ended time.Time
	// State is how the task ended, or its current state.
	State adapters.TaskState
}

// Cluster is the servers and nodes.
type Cluster struct {
	opt     Options
	rng     *rand.Rand
	core    event.Core[func()]
	version uint64
	uids    int
	epoch   uint64 // the highest epoch seen
	down    bool
	nodes   map[string]*node
	names   []string
	jobs    map[string]*job
	ids     []string
	records []*Record
	notes   map[string][]string
	watches []*Driver
	lease   lease
	hung    bool // calls of the lease get no answer
}

type node struct {
	told    adapters.Node
	dead    bool
	expires event.Handle
}

type job struct {
	Job
	spec   *sched.Job
	told   adapters.Job
	tasks  []*task
	size   *adapters.Size // of the tasks, if they were resized
	finish event.Handle
	ends   bool      // finish will come
	began  time.Time // the beginning of this attempt's work
	over   bool
	err    error
	leaves bool // its user has withdrawn it
}

type task struct {
	adapters.Task
	record *Record
	gone   bool
}

// New makes a cluster without nodes.
func New(o Options) *Cluster {
	if o.Begin.IsZero() {
		o.Begin = time.Date(2020, time.January, 1, 0, 0, 0, 0, time.UTC)
	}
	if o.Keep == 0 {
		o.Keep = time.Hour
	}
	return &Cluster{opt: o, rng: rand.New(rand.NewPCG(o.Seed, 0x68656467)), nodes: map[string]*node{},
		jobs: map[string]*job{}, notes: map[string][]string{}}
}

// Elect tells the servers a leader's epoch, as when its [Lease] is granted: from then on, actions of lower epochs are
// refused.
func (c *Cluster) Elect(epoch uint64) { c.epoch = max(c.epoch, epoch) }

// SetFaults changes the random faults from now on.
func (c *Cluster) SetFaults(f Faults) { c.opt.Faults = f }

// Now is the cluster's time.
func (c *Cluster) Now() time.Time { return c.opt.Begin.Add(c.core.Now()) }

// Advance lets time pass. Everything that is due by then happens.
func (c *Cluster) Advance(d time.Duration) {
	to := c.core.Now() + d
	for {
		at, ok := c.core.Peek()
		if !ok || at > to {
			c.core.Advance(to)
			return
		}
		if e, ok := c.core.Next(); ok {
			e.Payload()
		}
	}
}

// Next is the time until something happens by itself. It reports false if nothing will.
func (c *Cluster) Next() (time.Duration, bool) {
	at, ok := c.core.Peek()
	return at - c.core.Now(), ok
}

// chance is true with that probability.
func (c *Cluster) chance(p float64) bool { return p > 0 && c.rng.Float64() < p }

// upTo draws a duration.
func (c *Cluster) upTo(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return time.Duration(c.rng.Int64N(int64(d) + 1))
}

// AddNode adds a node, or brings back a lost one, with nothing on it.
func (c *Cluster) AddNode(n sched.Node) error {
	if have := c.nodes[n.Name]; have != nil && !have.told.Gone {
		return fmt.Errorf("%w: node %q", ErrExists, n.Name)
	} else if have == nil {
		c.names = append(c.names, n.Name)
	}
	if n.Capacity == nil {
		n.Capacity = sched.Resources{sched.WholeNode: 1}
	}
	c.nodes[n.Name] = &node{told: adapters.Node{Node: n}}
	c.nodeChanged(c.nodes[n.Name])
	return nil
}

// node finds a node that is not gone.
func (c *Cluster) node(name string) (*node, error) {
	n := c.nodes[name]
	if n == nil || n.told.Gone {
		return nil, fmt.Errorf("%w: node %q", ErrUnknown, name)
	}
	return n, nil
}

func (c *Cluster) nodeChanged(n *node) {
	c.version++
	n.told.Version = c.version
	for _, w := range c.watches {
		w.push(change{node: n.told, isNode: true})
	}
}

// Cordon makes a node take no new tasks, or take them again.
func (c *Cluster) Cordon(name string, cordoned bool) error {
	n, err := c.node(name)
	if err != nil {
		return err
	}
	n.told.Cordoned = cordoned
	c.nodeChanged(n)
	return nil
}

// Drain cordons a node and stops its tasks.
func (c *Cluster) Drain(name string) error {
	if err := c.Cordon(name, true); err != nil {
		return err
	}
	for _, j := range c.living() {
		c.stopTasks(j, func(t *task) bool { return t.Node == name })
	}
	return nil
}

// Relabel replaces a node's labels.
func (c *Cluster) Relabel(name string, labels map[string]string) error {
	n, err := c.node(name)
	if err != nil {
		return err
	}
	n.told.Labels = maps.Clone(labels)
	c.nodeChanged(n)
	return nil
}

// Occupy sets what other work holds of a node.
func (c *Cluster) Occupy(name string, foreign sched.Resources) error {
	n, err := c.node(name)
	if err != nil {
		return err
	}
	n.told.Foreign = maps.Clone(foreign)
	c.nodeChanged(n)
	return nil
}

// Kill cuts a node's power: its tasks are dead at once. The servers learn of it once the node has been silent for the
// expiry.
func (c *Cluster) Kill(name string) error {
	n, err := c.node(name)
	if err != nil {
		return err
	}
	if n.dead {
		return nil
	}
	n.dead = true
	for _, j := range c.living() {
		for _, t := range j.tasks {
			if t.Node == name && t.record.Ended.IsZero() {
				t.record.Ended, t.record.State = c.Now(), adapters.Lost
				c.cancelFinish(j)
			}
		}
	}
	n.expires = c.core.After(c.opt.Expiry, 0, func() { c.lose(n) })
	return nil
}

// lose makes the servers count a node as lost.
func (c *Cluster) lose(n *node) {
	n.told.Gone = true
	c.nodeChanged(n)
	c.endOn(n, adapters.Lost)
}

// endOn reports the tasks of a dead node. Those that were to stop have stopped.
func (c *Cluster) endOn(n *node, as adapters.TaskState) {
	for _, j := range c.living() {
		changed := false
		for _, t := range j.tasks {
			if t.Node != n.told.Name || !t.State.Holds() || t.record.State != adapters.Lost {
				continue
			}
			changed = true
			if t.State == adapters.Stopping {
				c.clear(t)
				continue
			}
			t.State, t.Ended, t.Err = as, t.record.Ended, errNode
		}
		if changed {
			j.tasks = slices.DeleteFunc(j.tasks, func(t *task) bool { return t.gone })
			c.jobChanged(j)
			c.reap(j)
		}
	}
}

// Revive brings a killed node back. If it did not count as lost yet, its tasks have failed.
func (c *Cluster) Revive(name string) error {
	n := c.nodes[name]
	if n == nil {
		return fmt.Errorf("%w: node %q", ErrUnknown, name)
	}
	if !n.dead {
		return nil
	}
	n.dead = false
	if c.core.Cancel(n.expires) {
		c.endOn(n, adapters.Failed)
	}
	n.told.Gone = false
	c.nodeChanged(n)
	return nil
}

// SetDown takes the servers down or brings them back. Running tasks go on.
func (c *Cluster) SetDown(down bool) {
	if down && !c.down {
		c.BreakWatches()
	}
	c.down = down
}

// BreakWatches cuts the watches of all drivers, which notice.
func (c *Cluster) BreakWatches() {
	for _, w := range c.watches {
		w.broken, w.box = true, nil
	}
}

// Records are all tasks that were ever placed, in order.
func (c *Cluster) Records() []Record {
	out := make([]Record, len(c.records))
	for i, r := range c.records {
		out[i] = *r
	}
	return out
}

// Notes are the scheduler's notes on a job, oldest first.
func (c *Cluster) Notes(id string) []string { return c.notes[id] }

// living are the jobs in order of submission.
func (c *Cluster) living() []*job {
	out := make([]*job, 0, len(c.ids))
	for _, id := range c.ids {
		out = append(out, c.jobs[id])
	}
	return out
}

func (c *Cluster) forget(j *job) {
	id := j.spec.ID
	if c.jobs[id] != j {
		return
	}
	c.version++
	j.told.Version, j.told.Gone = c.version, true
	for _, w := range c.watches {
		w.push(change{job: j.told})
	}
	delete(c.jobs, id)
	c.ids = slices.DeleteFunc(c.ids, func(o string) bool { return o == id })
}
