package adapters

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/usage"
)

// Meter is a Driver that can measure what tasks use.
type Meter interface {
	// Measure reads what the tasks of running jobs use. [Cluster] calls it after Observe, alone as Observe is, and at most
	// once per [Options].Measure. It returns what it could read, with an error about the rest. It must return soon: the
	// cycle waits for it. Samples may be missing, late, repeated or wrong.
	Measure(ctx context.Context) ([]Sample, error)
}

// Sample is what one task used at some time.
type Sample struct {
	// Job, UID and Attempt are those of the task's [Job].
	Job, UID string
	Attempt  int
	// Task distinguishes the tasks of an attempt. Node is the name of the task's node.
	Task, Node string
	// Started is when the task began to run. At is when it was measured, by the same clock.
	Started, At time.Time
	// Use is the CPU that the task used when it was measured, and its memory, in the units of the node's capacity.
	Use usage.Level
	// Throttled tells that the task has got less CPU than it wanted at some time since it started.
	Throttled bool
}

// Measured counts samples since a Cluster was made.
type Measured struct {
	// Taken samples were told to the loop. Wrong ones made no sense ([ErrSample]). Others were about tasks that no longer
	// run, or repeated; they are not counted.
	Taken, Wrong uint64
	// Failed counts calls of [Meter].Measure with an error, for which samples may be missing.
	Failed uint64
	// Err is the last error of a sample or a call; nil if there was none.
	Err error
}

// Measured tells what has become of the measurements.
func (c *Cluster) Measured() Measured { return c.measured }

// metered is what was measured of a task.
type metered struct {
	usage.Task
	since, last time.Time
	cpu, memory float64 // amount times the seconds that were measured
	seconds     float64
}

// meters are what was measured of the tasks of an attempt.
type meters struct {
	of    []metered      // in the order in which they were first measured
	index map[string]int // of a task's name in of
}

// stretch is how many intervals a sample may stand for if no other comes.
const stretch = 3

// measure tells the loop what tasks use, if it is time to.
func (c *Cluster) measure(ctx context.Context, now time.Time) {
	if c.meter == nil || c.opt.Measure <= 0 || !c.metered.IsZero() && now.Sub(c.metered) < c.opt.Measure {
		return
	}
	c.metered = now
	samples, err := c.meter.Measure(ctx)
	if err != nil {
		c.measured.Failed++
		c.measured.Err = err
	}
	var of []*tracked
	for i := range samples {
		s := &samples[i]
		t := c.jobs[s.Job]
		if t == nil || t.told != toldRunning || t.job.UID != s.UID || t.job.Attempt != s.Attempt {
			continue
		}
		fresh, err := c.take(t, s)
		if err != nil {
			c.measured.Wrong++
			c.measured.Err = err
		}
		if fresh {
			c.measured.Taken++
			of = append(of, t)
		}
	}
	c.tellUse(of)
}

// tellUse tells the loop what all tasks of these jobs use. A job may be in the list several times, one after another or
// not.
func (c *Cluster) tellUse(of []*tracked) {
	batch := &usage.Batch{}
	told := make(map[*tracked]struct{}, len(of))
	for _, t := range of {
		if _, twice := told[t]; twice {
			continue
		}
		told[t] = struct{}{}
		tasks := make([]usage.Task, len(t.use.of))
		for i := range t.use.of {
			tasks[i] = t.use.of[i].Task
		}
		batch.Jobs = append(batch.Jobs, usage.Job{ID: t.job.Spec.ID, Tasks: tasks})
	}
	if len(batch.Jobs) > 0 {
		c.tell(sched.Event{Kind: sched.Measured, Usage: batch})
	}
}

// take adds a sample to what is known of its task, and reports whether it is new. A sample that makes no sense is an
// error.
func (c *Cluster) take(t *tracked, s *Sample) (fresh bool, err error) {
	if err := s.check(); err != nil {
		return false, err
	}
	i, known := t.use.index[s.Task]
	if !known {
		i = len(t.use.of)
		if i >= t.job.Spec.Tasks {
			return false, fmt.Errorf("%w: job %q has %d tasks, and %q is another", ErrSample, s.Job, i, s.Task)
		}
		t.use.enter(s)
	}
	m := &t.use.of[i]
	if m.seconds > 0 && !s.At.After(m.last) {
		return false, nil // repeated, or late
	}
	m.add(s, c.within(s), stretch*c.opt.Measure)
	return true, nil
}

// enter adds a task that has not been measured before.
func (m *meters) enter(s *Sample) {
	since := s.Started
	if since.IsZero() {
		since = s.At
	}
	i := len(m.of)
	m.of = append(m.of, metered{Task: usage.Task{Index: i, Node: s.Node}, since: since, last: since})
	if m.index == nil {
		m.index = make(map[string]int)
	}
	m.index[s.Task] = i
}

// check returns what makes no sense in a sample.
func (s *Sample) check() error {
	err := s.Use.Check()
	switch {
	case err != nil:
	case s.At.IsZero():
		err = errors.New("no time")
	case s.Started.After(s.At):
		err = fmt.Errorf("it was measured %v before its start", s.Started.Sub(s.At))
	default:
		return nil
	}
	return fmt.Errorf("%w: job %q, task %q: %w", ErrSample, s.Job, s.Task, err)
}

// within is what was measured, but no more than the node has. Counters that were reset make amounts that no node has.
func (c *Cluster) within(s *Sample) usage.Level {
	use := s.Use
	n := c.nodes[s.Node]
	if n == nil {
		return use
	}
	if most, ok := n.Capacity[usage.CPU]; ok {
		use.CPU = min(use.CPU, most)
	}
	if most, ok := n.Capacity[usage.Memory]; ok {
		use.Memory = min(use.Memory, most)
	}
	return use
}

// add counts a sample for the time since the one before, but for no more than most.
func (m *metered) add(s *Sample, use usage.Level, most time.Duration) {
	const instant = 1e-9
	seconds := max(instant, min(s.At.Sub(m.last), most).Seconds())
	m.seconds += seconds
	m.cpu += float64(use.CPU * seconds)
	m.memory += float64(use.Memory * seconds)
	m.last, m.Node = s.At, s.Node
	m.Ran = s.At.Sub(m.since)
	m.Now = use
	m.Mean = usage.Level{CPU: m.cpu / m.seconds, Memory: m.memory / m.seconds}
	m.Max = usage.Level{CPU: max(m.Max.CPU, use.CPU), Memory: max(m.Max.Memory, use.Memory)}
	m.Throttled = m.Throttled || s.Throttled
}

// used is what a job that has finished has used, for the predictor: averages over its tasks, and the largest peaks. It
// is nil unless at least half of the time of all tasks was measured.
func (t *tracked) used() []predict.Used {
	ran := t.job.ran().Seconds()
	var seconds, cpu, memory float64
	var peak usage.Level
	throttled := false
	for i := range t.use.of {
		m := &t.use.of[i]
		seconds += m.seconds
		cpu += m.cpu
		memory += m.memory
		peak = usage.Level{CPU: max(peak.CPU, m.Max.CPU), Memory: max(peak.Memory, m.Max.Memory)}
		throttled = throttled || m.Throttled
	}
	if ran <= 0 || seconds <= 0 || seconds < float64(float64(t.job.Spec.Tasks)*ran)/2 {
		return nil
	}
	return []predict.Used{
		{Quantity: predict.CPU, Value: cpu / seconds, AtLeast: throttled},
		{Quantity: predict.CPUMax, Value: peak.CPU, AtLeast: throttled},
		{Quantity: predict.Memory, Value: memory / seconds},
		{Quantity: predict.MemoryMax, Value: peak.Memory},
		{Quantity: predict.CPUTime, Value: cpu / seconds * ran},
	}
}
