// Package published simulates Eagle, Hawk, Sparrow, DLWL, CLWL and IdealEagle by the rules of the simulator that the
// authors of Eagle (SoCC '16) published, so that its results can be had job by job: its seeds and draws, its order of
// equal times, its truncation of runtimes to whole seconds, and its delays.
//
// Those rules look at the state of other nodes without a message: a probe is rejected at the moment it is sent, what a
// job has left is known everywhere, and steals take no time. That flatters the systems. Events are ordered by time,
// then by kind in the alphabetical order of the kinds' names there, then by creation.
//
// Seconds are float64, as they are there. [event.Core] orders whole numbers: the bits of a float64 that is not negative
// are in the order of the number.
package published

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/hedgesched/hedge/adapters/sim/agents"
	"github.com/hedgesched/hedge/adapters/sim/event"
	"github.com/hedgesched/hedge/adapters/sim/tasklog"
	"github.com/hedgesched/hedge/sched/eagle"
	"github.com/hedgesched/hedge/sched/eagle/longset"
)

// ErrConfig is what every *ConfigError is.
var ErrConfig = errors.New("bad parameters")

// ConfigError is a field of a Config that cannot be. It is [ErrConfig] for errors.Is.
type ConfigError struct {
	// Field is the name in Config; Low stands for High too.
	Field string
	// Value is what was found, and Want what was expected.
	Value any
	Want  string
}

// Error names the field, its value and what was expected.
func (e *ConfigError) Error() string {
	return fmt.Sprintf("%v: %s is %v, expected %s", ErrConfig, e.Field, e.Value, e.Want)
}

// Unwrap returns [ErrConfig].
func (e *ConfigError) Unwrap() error { return ErrConfig }

// Config is what a run is told.
type Config struct {
	// Variant is the system; see [eagle.Named].
	Variant eagle.Switches
	// Nodes is the number of nodes, with one slot each, from 1 to 10,000,000.
	Nodes int
	// ShortShare is the percentage of nodes that take short tasks only, from 0 to below 100. It is
	// rounded down to whole nodes. Variants that share state or probe ideally need at least one such node: the others
	// may all hold long tasks.
	ShortShare float64
	// Cutoff is in seconds: a job whose mean task, truncated to seconds, takes longer is long. From 0, which makes
	// every job long whose mean is a second or more; never NaN or infinite.
	Cutoff float64
	// MinProbes is the least number of probes of a job, for variants that have one: from 0, which leaves two a
	// task, to the number of nodes, or to 20 on fewer. Nodes are drawn with replacement.
	MinProbes int
	// Heartbeat is the whole seconds between the heartbeats of variants that place by stale state, from 1 to
	// 1,000,000,000; other variants ignore it.
	Heartbeat int
	// Low and High are the range of the factor of estimates; both 0 means the mean itself. Otherwise
	// 0 < Low <= High <= 1000.
	Low, High float64
	// Seed is of the random draws. The published program has 123456798.
	Seed int64
	// Observer, if any, is told of everything that becomes of tasks, in whole nanoseconds. A task starts when its node
	// asks for it, and so has its slot for [Overhead] beside its own time; that is in whole seconds.
	Observer tasklog.Observer
}

// Overhead is what it takes a node to ask for a task.
const Overhead = time.Millisecond

// Result is what a run found.
type Result struct {
	// Jobs are in the workload's order.
	Jobs []JobResult
	// Busy is the mean share of busy nodes, sampled every 5 s from the first submission to the last.
	Busy float64
	// Makespan is the seconds from the first submission to the last end.
	Makespan float64
	// Events were taken from the queue, Messages would have crossed a network.
	Events, Messages int64
}

// JobResult is what became of a job, in seconds.
type JobResult struct {
	// Submit is the submission, moved by 0.01 s for each earlier job of the same time; End is the end of its last task.
	Submit, End float64
	// Long is the job's class by its true mean.
	Long bool
}

// The kinds of events, ranked.
const (
	arrival uint8 = iota
	noTask
	periodic
	probing
	remaining
	heartbeat
	taskEnd
)

const (
	hop           = 0.0005 // seconds
	probeRatio    = 2
	bypassFactor  = 5
	sampleSeconds = 5
	stealAttempts = 10
	stealLimit    = 10_000

	publishedProbes = 20
	maxNodes        = 10_000_000
	maxHeartbeat    = 1_000_000_000
)

// happening is an event's payload: a node, a job, or both.
type happening struct{ node, job int32 }

// job is a job's state.
type job struct {
	submit, end   float64
	estimate      int64 // of a task, seconds
	left          int64 // estimate of what has not started, as nodes know it; -1 for nothing
	first         int32
	tasks, next   int32
	long, central bool // by its class; as it is scheduled
}

func (j *job) open() bool { return j.next < j.tasks }

// simulation is a run.
type simulation struct {
	Config
	work    *agents.Workload
	core    event.Core[happening]
	probes  [2]*event.Lane[happening] // one hop and two
	noTasks *event.Lane[happening]
	updates *event.Lane[happening]
	random  *mt19937
	now     float64
	general int // the first node of the general partition

	jobs    []job
	nodes   []node
	placed  []placed // of each node
	status  status
	starts  map[float64]float64
	idle    int
	started int // jobs whose tasks have all started
	scratch scratch
	samples int
	busy    float64
	note    tasklog.Record // for the observer, used again
	result  Result
}

// Run simulates a workload. It returns a [*ConfigError] or an error about the workload.
func Run(work *agents.Workload, c Config) (*Result, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if err := check(work); err != nil {
		return nil, err
	}
	s := newSimulation(work, c)
	s.read()
	s.at(s.jobs[0].submit, arrival, happening{})
	s.at(s.jobs[0].submit, periodic, happening{})
	for e, ok := s.core.Next(); ok; e, ok = s.core.Next() {
		s.now = math.Float64frombits(uint64(e.At))
		s.result.Events++
		s.happen(e.Class, e.Payload)
	}
	return s.finish()
}

// Check returns a [*ConfigError] where a field is out of its range, as Run does.
func (c *Config) Check() error {
	v := &c.Variant
	wrong := func(field string, found any, want string) error { return &ConfigError{field, found, want} }
	short := c.shortNodes()
	switch {
	case c.Nodes < 1 || c.Nodes > maxNodes:
		return wrong("Nodes", c.Nodes, "1 to 10000000")
	case (v.Share || v.Ideal) && c.Nodes < 2:
		return wrong("Nodes", c.Nodes, "at least 2: one for short tasks alone, and one for long ones")
	case !(c.ShortShare >= 0 && c.ShortShare < 100):
		return wrong("ShortShare", c.ShortShare, "0 to below 100")
	case short >= c.Nodes:
		return wrong("ShortShare", c.ShortShare,
			fmt.Sprintf("a share that leaves one of %d nodes to long tasks", c.Nodes))
	case (v.Share || v.Ideal) && short == 0:
		return wrong("ShortShare", c.ShortShare,
			fmt.Sprintf("a partition and a share of at least one of %d nodes", c.Nodes))
	case !(c.Cutoff >= 0) || math.IsInf(c.Cutoff, 0):
		return wrong("Cutoff", c.Cutoff, "at least 0")
	case c.MinProbes < 0 || c.MinProbes > max(c.Nodes, publishedProbes):
		return wrong("MinProbes", c.MinProbes, "0 to the number of nodes, or to 20 on fewer")
	case v.Stale && (c.Heartbeat < 1 || c.Heartbeat > maxHeartbeat):
		return wrong("Heartbeat", c.Heartbeat, "1 to 1000000000 seconds")
	case !(c.Low >= 0 && c.High >= c.Low && c.High <= 1000) || c.Low == 0 && c.High > 0:
		return wrong("Low", fmt.Sprintf("%g to %g", c.Low, c.High), "above 0 and in order, at most 1000")
	}
	return nil
}

// check refuses a workload that cannot be.
func check(work *agents.Workload) error {
	if len(work.Jobs) == 0 {
		return fmt.Errorf("%w: no jobs", agents.ErrWorkload)
	}
	for i := range work.Jobs {
		if work.Jobs[i].Phase != 0 {
			return fmt.Errorf("%w: job %d is a later phase, which these rules do not know", agents.ErrWorkload, i)
		}
	}
	for i, r := range work.Runtimes {
		if r < 0 {
			return fmt.Errorf("%w: task %d takes %v", agents.ErrWorkload, i, r)
		}
	}
	return nil
}

// shortNodes is the size of the short partition, rounded as the published program does.
func (c *Config) shortNodes() int {
	if !c.Variant.Partition {
		return 0
	}
	big := 100 - c.ShortShare
	return int((100 - big) * float64(c.Nodes) / 100)
}

func newSimulation(work *agents.Workload, c Config) *simulation {
	s := &simulation{Config: c, work: work, random: newMT19937(c.Seed), idle: c.Nodes}
	s.general = c.shortNodes()
	s.probes = [2]*event.Lane[happening]{s.core.Lane(probing), s.core.Lane(probing)}
	s.noTasks, s.updates = s.core.Lane(noTask), s.core.Lane(remaining)
	s.jobs = make([]job, 0, len(work.Jobs))
	s.starts = make(map[float64]float64, len(work.Jobs))
	s.nodes = make([]node, c.Nodes)
	s.placed = make([]placed, c.Nodes)
	for i := range s.nodes {
		s.nodes[i], s.placed[i].since = node{idle: true, stamp: -1}, -1
	}
	s.status = status{queued: make([]int64, c.Nodes), long: longset.New(c.Nodes)}
	if c.Variant.Stale {
		s.status.stale = s.status.queued
		s.at(0, heartbeat, happening{})
	}
	return s
}

// key is a time as the core orders it.
func key(seconds float64) time.Duration { return time.Duration(math.Float64bits(seconds)) }

func (s *simulation) at(seconds float64, kind uint8, h happening) { s.core.At(key(seconds), kind, h) }

func (s *simulation) happen(kind uint8, h happening) {
	switch kind {
	case arrival:
		s.arrive()
	case noTask:
		s.freed(h.node)
	case periodic:
		s.sample()
	case probing:
		s.add(h.node, h.job)
	case remaining:
		s.told(&s.jobs[h.job])
	case heartbeat:
		s.beat()
	case taskEnd:
		s.ended(h)
	}
}

// read makes the next job of the workload; its estimate is drawn here.
func (s *simulation) read() {
	w := &s.work.Jobs[len(s.jobs)]
	j := job{submit: w.Submit.Seconds(), first: w.First, tasks: w.Tasks}
	if moved, ok := s.starts[j.submit]; ok {
		moved += 0.01
		s.starts[j.submit] = moved
		j.submit = moved
	} else {
		s.starts[j.submit] = j.submit
	}
	mean := int64(w.Mean / time.Second)
	j.long = float64(mean) > s.Cutoff
	j.central = j.long || s.Variant.CentralShort
	j.estimate = mean
	if s.High > 0 {
		low, high := float64(s.Low*float64(mean)), float64(s.High*float64(mean))
		j.estimate = int64(low + float64((high-low)*s.random.float64()))
	}
	j.left = j.estimate * int64(j.tasks)
	s.jobs = append(s.jobs, j)
}

// submitted tells the observer of a job.
func (s *simulation) submitted(id int32) {
	if s.Observer == nil {
		return
	}
	j, durations := &s.jobs[id], s.note.Durations[:0]
	for _, d := range s.work.Runtimes[j.first : j.first+j.tasks] {
		durations = append(durations, d.Truncate(time.Second))
	}
	s.note = tasklog.Record{Kind: tasklog.Submit, At: s.when(), Job: id, Long: j.long, Durations: durations}
	s.Observer.Observe(&s.note)
}

// observe tells the observer what became of a task.
func (s *simulation) observe(kind tasklog.Kind, job, task, node int32) {
	if s.Observer == nil {
		return
	}
	s.note = tasklog.Record{Kind: kind, At: s.when(), Job: job, Task: task, Worker: node,
		Durations: s.note.Durations[:0]}
	s.Observer.Observe(&s.note)
}

// when is the time now in whole nanoseconds.
func (s *simulation) when() time.Duration { return time.Duration(math.Round(s.now * 1e9)) }

// arrive places the job that was read last, and reads the next.
func (s *simulation) arrive() {
	id := int32(len(s.jobs) - 1)
	s.submitted(id)
	s.place(id)
	if len(s.jobs) == len(s.work.Jobs) {
		return
	}
	s.read()
	s.at(s.jobs[id+1].submit, arrival, happening{})
}

// sample measures the load. The timer goes on while anything is to come.
func (s *simulation) sample() {
	if len(s.jobs) < len(s.work.Jobs) {
		s.samples++
		s.busy += 1 - float64(s.idle)/float64(s.Nodes)
	}
	if s.core.Len() > 0 {
		s.at(s.now+sampleSeconds, periodic, happening{})
	}
}

// told is when the nodes learn that a task of a job has started.
func (s *simulation) told(j *job) {
	j.left -= j.estimate
	if !j.open() {
		j.left = -1
	}
}

func (s *simulation) ended(h happening) {
	j := &s.jobs[h.job]
	if j.central && s.Variant.Central {
		s.status.ended(h.node, j.estimate)
	}
	s.placed[h.node].since = -1
	s.observe(tasklog.Finish, h.job, s.nodes[h.node].task, h.node)
	s.freed(h.node)
}

func (s *simulation) finish() (*Result, error) {
	r := &s.result
	r.Jobs = make([]JobResult, len(s.jobs))
	last := 0.0
	for i := range s.jobs {
		j := &s.jobs[i]
		if j.open() {
			return nil, fmt.Errorf("%w: job %d has %d of %d tasks that never started", agents.ErrWorkload, i+1, j.tasks-j.next,
				j.tasks)
		}
		r.Jobs[i] = JobResult{Submit: j.submit, End: j.end, Long: j.long}
		last = max(last, j.end)
	}
	r.Makespan = last - r.Jobs[0].Submit
	if s.samples > 0 {
		r.Busy = s.busy / float64(s.samples)
	}
	return r, nil
}
