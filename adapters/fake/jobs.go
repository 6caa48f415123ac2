package fake

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
)

// Why tasks of a fake cluster fail.
var (
	errBadStart = errors.New("fake: the task does not start")
	errBadRun   = errors.New("fake: the task has crashed")
	errNoRoom   = errors.New("fake: the node has no room beside the work of others")
	errNode     = errors.New("fake: the node is not there")
)

// Submit submits a job now.
func (c *Cluster) Submit(j Job) error {
	id := j.Spec.ID
	if c.jobs[id] != nil {
		return fmt.Errorf("%w: job %q", ErrExists, id)
	}
	spec := j.Spec
	spec.Submitted = c.Now()
	c.uids++
	n := &job{Job: j, spec: &spec, told: adapters.Job{UID: fmt.Sprintf("uid-%d", c.uids), Revision: 1}}
	c.jobs[id] = n
	c.ids = append(c.ids, id)
	c.jobChanged(n)
	return nil
}

// Has reports whether the servers know the job, and whether it has finished or failed for good.
func (c *Cluster) Has(id string) (known, over bool) {
	j := c.jobs[id]
	return j != nil, j != nil && j.over
}

// Withdraw withdraws a job: it is gone once its tasks have stopped.
func (c *Cluster) Withdraw(id string) error {
	j := c.jobs[id]
	if j == nil {
		return fmt.Errorf("%w: job %q", ErrUnknown, id)
	}
	j.over, j.leaves = true, true
	c.stopTasks(j, func(*task) bool { return true })
	c.jobChanged(j)
	c.reap(j)
	return nil
}

// jobChanged gives the job a new version and tells the watches.
func (c *Cluster) jobChanged(j *job) {
	if c.jobs[j.spec.ID] != j {
		return
	}
	c.version++
	t := &j.told
	t.Version, t.Spec, t.Over, t.Err, t.Problem = c.version, j.spec, j.over, j.err, j.Problem
	t.Tasks = make([]adapters.Task, len(j.tasks)) // views keep the slice that they got
	for i, k := range j.tasks {
		t.Tasks[i] = k.Task
	}
	if t.Resize, t.Reserved = j.Resize, nil; j.size != nil && len(j.tasks) > 0 {
		t.Reserved = j.reserves()
	}
	t.Short = len(j.tasks) > 0 && len(j.tasks) < j.spec.Tasks
	for _, w := range c.watches {
		w.push(change{job: *t})
	}
}

// place puts tasks of a job on a node.
func (c *Cluster) place(j *job, name string, n int) {
	for range n {
		r := &Record{Job: j.spec.ID, UID: j.told.UID, Attempt: j.told.Attempt, Task: len(j.tasks), Node: name,
			Held: j.reserves(), Placed: c.Now()}
		t := &task{Task: adapters.Task{Node: name}, record: r}
		j.tasks = append(j.tasks, t)
		c.records = append(c.records, r)
		if n := c.nodes[name]; n != nil && n.dead {
			r.Ended, r.State = c.Now(), adapters.Lost
		}
		err := c.admit(j, t)
		c.core.After(c.upTo(c.opt.StartDelay), 0, func() { c.run(j, t, err) })
	}
	c.jobChanged(j)
}

// admit is the node's check of a task: it refuses one that does not fit beside other work.
func (c *Cluster) admit(j *job, t *task) error {
	n, err := c.node(t.Node)
	switch {
	case err != nil:
		return errNode
	case c.chance(c.opt.Faults.BadStart), j.BadStarts >= j.told.Attempt:
		return errBadStart
	}
	for r, f := range n.told.Foreign {
		left := n.told.Capacity[r] - f - c.held(t.Node, r)
		if j.reserves()[r] > 0 && f > 0 && sched.Overcommits(left, n.told.Capacity[r]) {
			return errNoRoom
		}
	}
	return nil
}

// held is the amount of a resource that our tasks hold on a node.
func (c *Cluster) held(name, resource string) float64 {
	total := 0.0
	for _, id := range c.ids {
		j := c.jobs[id]
		for _, t := range j.tasks {
			if t.Node == name && t.State.Holds() {
				total += j.reserves()[resource]
			}
		}
	}
	return total
}

// run starts a task. Once all tasks of the gang run, its work begins.
func (c *Cluster) run(j *job, t *task, err error) {
	switch {
	case t.gone || t.State != adapters.Requested:
		return
	case err == nil && !t.record.Ended.IsZero():
		return // its node is dead, and the servers do not know yet
	case err == nil && t.record.Task == 0 && j.Hangs >= t.record.Attempt:
		return
	case err != nil:
		c.end(t, adapters.Failed, err)
		c.jobChanged(j)
		return
	}
	t.State, t.Started = adapters.Running, c.Now()
	t.record.State, t.record.Started = t.State, t.Started
	c.jobChanged(j)
	if len(j.tasks) < j.spec.Tasks || slices.ContainsFunc(j.tasks, func(t *task) bool {
		return t.record.State != adapters.Running
	}) {
		return // if one task of a gang is dead, the others do no work
	}
	runtime, bad := j.Runtime-j.told.Done, j.BadStarts+j.BadRuns >= j.told.Attempt
	if bad {
		runtime /= 2
	}
	j.ends, j.began = true, c.Now()
	j.finish = c.core.After(runtime, 1, func() { c.complete(j, bad) })
}

// complete ends a run of the whole gang.
func (c *Cluster) complete(j *job, bad bool) {
	j.ends = false
	for i, t := range j.tasks {
		switch {
		case bad && i > 0: // the rest of the gang goes on
		case bad:
			c.end(t, adapters.Failed, errBadRun)
		default:
			c.end(t, adapters.Finished, nil)
		}
	}
	if !bad {
		j.over = true
		c.core.After(c.opt.Keep, 2, func() { c.forget(j) })
	}
	c.jobChanged(j)
}

// end ends a task that holds room.
func (c *Cluster) end(t *task, as adapters.TaskState, err error) {
	t.State, t.Err, t.Ended = as, err, c.Now()
	if t.record.Ended.IsZero() {
		t.record.Ended, t.record.State = t.Ended, as
	}
}

func (c *Cluster) cancelFinish(j *job) {
	if j.ends {
		c.core.Cancel(j.finish)
		j.ends = false
		if j.spec.Checkpoint {
			j.told.Done += c.Now().Sub(j.began)
		}
	}
}

// stopTasks tells some of the job's tasks to stop. It clears away those that have ended, and those of lost nodes.
func (c *Cluster) stopTasks(j *job, which func(*task) bool) {
	changed := false
	for _, t := range j.tasks {
		if !which(t) || t.State == adapters.Stopping || t.State == adapters.Finished {
			continue
		}
		changed = true
		c.cancelFinish(j)
		if t.State == adapters.Failed || t.State == adapters.Lost {
			c.clear(t)
			continue
		}
		t.State = adapters.Stopping
		if t.record.Ended.IsZero() {
			t.record.State = t.State
		}
		c.core.After(max(c.upTo(c.opt.StopDelay), j.SlowStop), 0, func() { c.stopped(j, t) })
	}
	if changed {
		j.tasks = slices.DeleteFunc(j.tasks, func(t *task) bool { return t.gone })
		c.jobChanged(j)
		c.reap(j)
	}
}

// clear forgets a task.
func (c *Cluster) clear(t *task) {
	t.gone = true
	if t.record.Ended.IsZero() {
		t.record.Ended = c.Now()
	}
}

func (c *Cluster) stopped(j *job, t *task) {
	if n := c.nodes[t.Node]; t.gone || t.State != adapters.Stopping || n != nil && n.dead && !n.told.Gone {
		return // nobody can tell the state of a dead node's task
	}
	c.clear(t)
	j.tasks = slices.DeleteFunc(j.tasks, func(o *task) bool { return o == t })
	c.jobChanged(j)
	c.reap(j)
}

// reap removes a withdrawn job of which nothing is left.
func (c *Cluster) reap(j *job) {
	if j.leaves && !slices.ContainsFunc(j.tasks, func(t *task) bool {
		return t.State.Holds() && t.State != adapters.Lost
	}) {
		c.forget(j)
	}
}

// Finished is when a job finished; zero if it has not.
func (c *Cluster) Finished(id string) time.Time {
	for i := len(c.records) - 1; i >= 0; i-- {
		if r := c.records[i]; r.Job == id && r.State == adapters.Finished {
			return r.Ended
		}
	}
	return time.Time{}
}
