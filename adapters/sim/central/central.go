// Package central runs a policy that plans the whole cluster in cycles on a workload of tasks, so that it can be
// compared with systems of agents, which place each task by itself. Every task is a job of its own for the policy. The
// package decides nothing, and knows no messages: what a planner waits for is its next cycle.
package central

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/adapters/sim/agents"
	"github.com/hedgesched/hedge/adapters/sim/tasklog"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
)

// ErrConfig is wrapped by errors about parameters of a run.
var ErrConfig = errors.New("central: bad parameters")

// ErrLeft is wrapped by the error about a policy that leaves a task undone.
var ErrLeft = errors.New("central: the policy leaves a task undone")

// Job is the attribute by which the tasks of a job know each other: the job's index in the workload, in decimal digits.
const Job = "job"

// MaxTasks is the most tasks of a workload. A run needs 3 to 4 KiB of memory for each.
const MaxTasks = 5_000_000

// Config is one run. Policy and Predictor are required, and fresh: both may learn.
type Config struct {
	// Nodes is the number of nodes, from 1 to 10,000,000, and Slots how many tasks each runs at once, from 1 to 1,000,000;
	// 0 slots mean 1.
	Nodes, Slots int
	// Cycle is the time between plans, as in [sim.Config]; with 0 there is one whenever tasks come or end.
	Cycle  time.Duration
	Policy sched.Policy
	// Predictor forecasts the runtime of a task from its id, from which [Task] tells which it is, and its attributes.
	// What has ended teaches it.
	Predictor predict.Predictor
	// Fresh has tasks that wait forecast again in every cycle in which something was learnt.
	Fresh bool
	// Attributes, if any, are those of a job by its index, for the predictor. The attribute [Job] is added to them.
	Attributes func(job int) map[string]string
	// Cutoff makes a job long whose mean task takes longer; 0 or more.
	Cutoff time.Duration
	// Observer, if any, is told what became of tasks, after the run and in order of time.
	Observer tasklog.Observer
}

// Task is the index, in the workload's Runtimes, of the task that is a job of this id; false for other ids.
func Task(id string) (int, bool) {
	i, err := strconv.Atoi(id)
	return i, err == nil && i >= 0 && len(id) == digits
}

// digits of an id: ids are in the order of the workload's tasks.
const digits = 10

// Run simulates the policy until every task has ended. The result's Launches counts starts. Its Messages and Crashed
// are 0, and so is Pauses: a preempted task begins anew.
//
// The same workload and configuration give the same result. The errors wrap [ErrConfig], [ErrLeft],
// [agents.ErrWorkload], an error of [sim.Run], or that of the context.
func Run(ctx context.Context, work *agents.Workload, c Config) (*agents.Result, error) {
	if err := c.check(work); err != nil {
		return nil, err
	}
	jobOf := make([]int32, len(work.Runtimes))
	set := sim.Config{Nodes: sim.Nodes(c.Nodes, 1, max(c.Slots, 1)), Policy: c.Policy, Predictor: c.Predictor,
		Cycle: c.Cycle, Fresh: c.Fresh, Ranges: true, Jobs: make([]sim.Job, 0, len(work.Runtimes))}
	for i := range work.Jobs {
		j := &work.Jobs[i]
		attributes := map[string]string{}
		if c.Attributes != nil {
			maps.Copy(attributes, c.Attributes(i))
		}
		attributes[Job] = strconv.Itoa(i)
		for k, d := range work.Tasks(j) {
			task := int(j.First) + k
			jobOf[task] = int32(i)
			set.Jobs = append(set.Jobs, sim.Job{Arrive: j.Submit, Work: sim.Runtime(d), Job: sched.Job{
				ID: fmt.Sprintf("%0*d", digits, task), Tasks: 1, Attributes: attributes}})
		}
	}
	var seen *history
	if c.Observer != nil {
		seen = newHistory(set.Nodes, work, jobOf)
		set.CycleObserver = seen.cycle
	}
	found, err := sim.Run(ctx, set)
	if err != nil {
		return nil, err
	}
	r, err := c.result(work, jobOf, found)
	if err == nil && seen != nil {
		seen.tell(c.Observer, r, found)
	}
	return r, err
}

func (c *Config) check(work *agents.Workload) error {
	wrong := func(what string, found any, expected string) error {
		return fmt.Errorf("%w: %s is %v, expected %s", ErrConfig, what, found, expected)
	}
	switch {
	case c.Nodes < 1 || c.Nodes > 10_000_000:
		return wrong("the number of nodes", c.Nodes, "1 to 10000000")
	case c.Slots < 0 || c.Slots > 1_000_000:
		return wrong("the number of slots", c.Slots, "1 to 1000000")
	case c.Cutoff < 0:
		return wrong("the cutoff", c.Cutoff, "at least 0")
	case len(work.Jobs) == 0:
		return fmt.Errorf("%w: no jobs", agents.ErrWorkload)
	case len(work.Runtimes) > MaxTasks:
		return wrong("the number of tasks", len(work.Runtimes), fmt.Sprintf("at most %d", MaxTasks))
	case work.After != nil:
		return fmt.Errorf("%w: jobs wait for others", agents.ErrWorkload)
	}
	for i := range work.Jobs {
		if work.Jobs[i].Phase != 0 {
			return fmt.Errorf("%w: job %d is a phase of another", agents.ErrWorkload, i)
		}
	}
	return nil
}

// result gathers what became of tasks into what became of their jobs.
func (c *Config) result(work *agents.Workload, jobOf []int32, found *sim.Result) (*agents.Result, error) {
	r := &agents.Result{Jobs: make([]agents.JobResult, len(work.Jobs)), Events: int64(found.Events)}
	for i := range work.Jobs {
		j := &work.Jobs[i]
		r.Jobs[i] = agents.JobResult{Submit: j.Submit, Long: j.Mean > c.Cutoff}
	}
	busy := 0.0
	for i := range found.Jobs {
		record := &found.Jobs[i]
		task, _ := Task(record.ID)
		j := &r.Jobs[jobOf[task]]
		if record.Finish < 0 {
			return nil, fmt.Errorf("%w: task %d of job %d", ErrLeft, task-int(work.Jobs[jobOf[task]].First), jobOf[task])
		}
		j.End = max(j.End, record.Finish)
		j.Wait += (record.Start - record.Submit).Seconds()
		r.Launches += int64(1 + record.Preemptions)
		r.Makespan = max(r.Makespan, record.Finish-work.Jobs[0].Submit)
		busy += record.HeldInWindow.Seconds()
	}
	if span := work.Jobs[len(work.Jobs)-1].Submit - work.Jobs[0].Submit; span > 0 {
		r.Busy = busy / (span.Seconds() * float64(c.Nodes) * float64(max(c.Slots, 1)))
	}
	return r, nil
}
