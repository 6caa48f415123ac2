// Package fake is a cluster in memory, with virtual time and faults by seed: the cluster to try a policy, a
// host program or a change of package adapters on. It is deterministic: the same calls in the same order do the same.
//
// A [Cluster] is the servers and the nodes. Its methods are what users and operators do, and what goes wrong.
// [Cluster.Connect] gives a [Driver], through which a scheduler sees and uses it as it would a real one: by a watch
// that may lag, lose, double and reorder events, and by calls that may fail, with and without effect. Tasks are placed
// by one call for each node, so gangs come up short whenever a call in between fails. The servers check versions and
// epochs. They do not check that a node has room, as many real ones do not; whether it had can be seen from
// [Cluster.Records].
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
)

// The errors of what users and operators do.
var (
	// ErrUnknown is a job or node that is not there.
	ErrUnknown = errors.New("fake: unknown")
	// ErrExists is a job or node that is there already.
	ErrExists = errors.New("fake: exists")
)

// Options are how a cluster behaves. The zero value starts and stops tasks at once and without a fault.
type Options struct {
	// Seed draws the faults.
	Seed uint64
	// Begin is the time it begins at; the zero time is 1 January 2020 UTC.
	Begin time.Time
	// StartDelay is how long a task takes to start, at most, and StopDelay to stop, at most; each draws its own.
	StartDelay, StopDelay time.Duration
	// Expiry is how long a node may be silent until the servers hold it for lost.
	Expiry time.Duration
	// Keep is how long jobs that are over are still told of, default an hour.
	Keep time.Duration
	// Faults are what goes wrong by chance.
	Faults Faults
}

// Faults are probabilities, from 0 to 1.
type Faults struct {
	// Lose, Double and Delay are of an event of a watch that is lost without a word, comes twice, or comes late, so that
	// others overtake it.
	Lose, Double, Delay float64
	// Break is of a watch that breaks, by event: the driver notices, and lists all again.
	Break float64
	// Fail is of a call that fails without effect, Mute of one that takes effect without an answer, Late of one that has
	// no answer and takes effect some time later, and Slow of one that takes some time.
	Fail, Mute, Late, Slow float64
	// BadStart is of a task that does not start.
	BadStart float64
}

// Job is a job as it is handed in.
type Job struct {
	// Spec is what the scheduler may know of it. Its ID must be new; Submitted is filled in.
	Spec sched.Job
	// Runtime is how long it runs from when all its tasks run.
	Runtime time.Duration
	// BadStarts is how many of its starts fail, and BadRuns how many of its runs after that, each halfway.
	BadStarts, BadRuns int
	// Hangs is how many of its first starts have a task that comes up neither well nor badly.
	Hangs int
	// SlowStop is how long its tasks take to stop, if longer than StopDelay.
	SlowStop time.Duration
	// Problem is what is wrong with its hints.
	Problem error
}

// Record is what the cluster knows of one task that was placed.
type Record struct {
	// Job, UID and Attempt are whose it was, Task its number in the gang.
	Job, UID      string
	Attempt, Task int
	// Node is where it was, and Held what it held there.
	Node string
	Held sched.Resources
	// Placed is when it was placed, Started when it ran, and Ended when it held nothing any more; zero if it did not come
	// to that.
	Placed, Started, Ended time.Time
	// State is how it ended, or is now.
	State adapters.TaskState
}

// Cluster is the servers and nodes.
type Cluster struct {
	opt     Options
	rng     *rand.Rand
	core    event.Core[func()]
	version uint64
	uids    int
	epoch   uint64 // the highest seen
	down    bool
	nodes   map[string]*node
	names   []string
	jobs    map[string]*job
	ids     []string
	records []*Record
	notes   map[string][]string
	watches []*Driver
	lease   lease
	hung    bool // calls of the lease are not answered
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
	finish event.Handle
	ends   bool      // finish is to come
	began  time.Time // when the work of this attempt began
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

// Elect has the servers know a leader's epoch, as they do from when its [Lease] is granted: actions of lower epochs are
// refused from then on.
func (c *Cluster) Elect(epoch uint64) { c.epoch = max(c.epoch, epoch) }

// SetFaults changes what goes wrong by chance from now on.
func (c *Cluster) SetFaults(f Faults) { c.opt.Faults = f }

// Now is the cluster's time.
func (c *Cluster) Now() time.Time { return c.opt.Begin.Add(c.core.Now()) }

// Advance lets time pass and everything happen that is due by then.
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

// Next is how long it is until something happens by itself, and whether anything will.
func (c *Cluster) Next() (time.Duration, bool) {
	at, ok := c.core.Peek()
	return at - c.core.Now(), ok
}

// chance draws with a probability.
func (c *Cluster) chance(p float64) bool { return p > 0 && c.rng.Float64() < p }

// upTo draws a duration.
func (c *Cluster) upTo(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return time.Duration(c.rng.Int64N(int64(d) + 1))
}

// AddNode adds a node, or brings back one that is lost, with nothing on it.
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

// node finds one that is not gone.
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

// Cordon lets a node take no new tasks, or take them again.
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

// Relabel gives a node other labels.
func (c *Cluster) Relabel(name string, labels map[string]string) error {
	n, err := c.node(name)
	if err != nil {
		return err
	}
	n.told.Labels = maps.Clone(labels)
	c.nodeChanged(n)
	return nil
}

// Occupy says how much work that is not the scheduler's holds of a node.
func (c *Cluster) Occupy(name string, foreign sched.Resources) error {
	n, err := c.node(name)
	if err != nil {
		return err
	}
	n.told.Foreign = maps.Clone(foreign)
	c.nodeChanged(n)
	return nil
}

// Kill cuts a node's power: its tasks are dead at once, and the servers know when it was silent for the expiry.
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

// lose has the servers hold a node for lost.
func (c *Cluster) lose(n *node) {
	n.told.Gone = true
	c.nodeChanged(n)
	c.endOn(n, adapters.Lost)
}

// endOn tells of the tasks of a dead node. Those that were to stop have.
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

// Revive brings a node back that was killed. If it was not held for lost yet, its tasks have failed.
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

// SetDown takes the servers away, or brings them back. What runs goes on.
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

// Notes are what the scheduler has put on a job, oldest first.
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
