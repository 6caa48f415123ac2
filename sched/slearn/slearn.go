// Package slearn is the generic scheduler GS of SLearn (Jajoo et al., NSDI 2022, section 5.1) made of messages, as
// package agent has it, and the predictors that can be plugged into it.
//
// GS is a central scheduler of jobs of many tasks. It wants small jobs to go first, and no job to starve. A job's size
// is the summed execution time of its tasks, in seconds. By its size it enters one of ten queues. A queue serves its
// jobs in order of arrival. The queues share the slots by weights that fall from queue to queue.
//
// The size is not known. A [Predictor] tells it, from history, from the job's own first tasks, or from both:
//
//   - [Sampling] is SLearn: it runs some tasks of a job first, the pilots, and takes the mean of what they took.
//   - [History] knows what earlier jobs took: 3Sigma's predictor, and the median of Point-Est.
//   - [Joint] is ours: it starts from history and corrects it with every task that ends.
//   - [Known] is told the truth, as an oracle is in a simulation.
//
// Without a predictor every job enters the first queue. With one queue that is FIFO. With [Config.Attained] a job goes
// down from queue to queue as its tasks run, which is LAS (least attained service).
//
// The package never stops a task that runs, and never looks at what a task is going to take.
package slearn

import (
	"errors"
	"fmt"
	"time"

	"github.com/hedgesched/hedge/sched/agent"
)

// ErrConfig is wrapped by errors about parameters.
var ErrConfig = errors.New("bad parameters")

// Config is what a [System] is told. A zero field has the default.
type Config struct {
	// Workers is from 1 to 10,000,000, each with Slots slots, from 1 to 1,000,000; 0 slots mean one.
	Workers, Slots int
	// Queues is their number and their limits.
	Queues Queues
	// Predictor tells the sizes of jobs; nil puts every job into the first queue. It belongs to the system: no other one
	// may use the same value.
	Predictor Predictor
	// Attained has a job's queue follow from the time that its tasks have run, in place of the predictor.
	Attained bool
	// PilotTimeout is how long the pilots of a job may take, from the start of the last of them, before its other tasks
	// wait no longer; 0 means 24 hours. The paper has no such limit.
	PilotTimeout time.Duration
	// Seed is of the draw of pilots.
	Seed uint64
}

const (
	maxWorkers = 10_000_000
	maxSlots   = 1_000_000
)

// System is the scheduler's parts; it is an [agent.System]. The address after the workers' is the central scheduler's.
type System struct {
	workers []worker
	central central
}

// New is a system at its beginning, or an [ErrConfig].
func New(c Config) (*System, error) {
	if c.Slots == 0 {
		c.Slots = 1
	}
	if c.PilotTimeout == 0 {
		c.PilotTimeout = 24 * time.Hour
	}
	switch {
	case c.Workers < 1 || c.Workers > maxWorkers:
		return nil, fmt.Errorf("%w: the number of workers is %d, expected 1 to 10000000", ErrConfig, c.Workers)
	case c.Slots < 1 || c.Slots > maxSlots:
		return nil, fmt.Errorf("%w: the number of slots is %d, expected 1 to 1000000", ErrConfig, c.Slots)
	case c.PilotTimeout < 0:
		return nil, fmt.Errorf("%w: the time-out of pilots is %v, expected at least 0", ErrConfig, c.PilotTimeout)
	case c.Attained && c.Predictor != nil:
		return nil, fmt.Errorf("%w: a predictor and attained service, expected one of them", ErrConfig)
	}
	limits, err := c.Queues.withDefaults()
	if err != nil {
		return nil, err
	}
	return &System{workers: make([]worker, c.Workers), central: newCentral(&c, &limits)}, nil
}

// Workers is that of [agent.System].
func (s *System) Workers() int { return len(s.workers) }

// Parts is that of [agent.System].
func (s *System) Parts() int { return len(s.workers) + 1 }

// Entry is that of [agent.System].
func (s *System) Entry(*agent.Job) agent.Addr { return agent.Addr(len(s.workers)) }

// Step is that of [agent.System].
func (s *System) Step(at agent.Addr, now time.Duration, in *agent.Input[Message], out *agent.Output[Message]) {
	if central := agent.Addr(len(s.workers)); at < central {
		s.workers[at].step(central, now, in, out)
	} else {
		s.central.step(now, in, out)
	}
}

// Held is that of [agent.System].
func (s *System) Held(at agent.Addr) int {
	if int(at) == len(s.workers) {
		return s.central.held()
	}
	return len(s.workers[at].tasks)
}

// worker runs what it is told, and tells how long each task took.
type worker struct{ tasks []own }

// own is a task on a worker.
type own struct {
	task  agent.Task
	ref   int32
	since time.Duration
}

func (w *worker) step(central agent.Addr, now time.Duration, in *agent.Input[Message], out *agent.Output[Message]) {
	switch in.Kind {
	case agent.Restarted:
		w.tasks = w.tasks[:0]
	case agent.Received:
		w.tasks = append(w.tasks, own{in.Msg.Task, in.Msg.Ref, now})
		out.Launch(in.Msg.Task)
	case agent.Ended:
		for i := range w.tasks {
			t := &w.tasks[i]
			if t.task != in.Task {
				continue
			}
			out.Send(central, &Message{Kind: Finished, Ref: t.ref, Task: t.task, Ran: now - t.since})
			w.tasks[i] = w.tasks[len(w.tasks)-1]
			w.tasks = w.tasks[:len(w.tasks)-1]
			return
		}
	}
}
