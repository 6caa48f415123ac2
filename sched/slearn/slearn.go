// Package slearn is the generic scheduler GS of SLearn (Jajoo et al., NSDI 2022, section 5.1), and the predictors that
// can be plugged into it. Its parts exchange messages, as in package agent.
//
// GS is a central scheduler for jobs of many tasks. It serves small jobs first without starving large ones. A job's
// size is the summed execution time of its tasks, in seconds. The size decides which of ten queues the job enters. A
// queue serves its jobs in order of arrival. The queues share the slots by weight, and each weighs more than the next.
//
// The size is not known in advance. A [Predictor] estimates it from history, from the job's first tasks, or from both:
//
//   - [Sampling] is SLearn: it runs some tasks of a job first, the pilots, and takes their mean.
//   - [History] uses the runtimes of earlier jobs: 3Sigma's predictor, or the median of Point-Est.
//   - [Joint] is ours: it starts from history and corrects it with every task that ends.
//   - [Known] is given the true sizes, as only a simulation can.
//
// Without a predictor every job enters the first queue; with a single queue that is FIFO. With [Config.Attained] a job
// moves down the queues as its tasks run, which is LAS (least attained service).
//
// The package never stops a running task, and never reads a task's true duration.
package slearn

import (
	"errors"
	"fmt"
	"time"

	"github.com/hedgesched/hedge/sched/agent"
)

// ErrConfig is wrapped by errors about parameters.
var ErrConfig = errors.New("bad parameters")

// Config configures a [System]. A zero field means the default.
type Config struct {
	// Workers is the number of workers, from 1 to 10,000,000. Slots is the number of slots of each, from 1 to 1,000,000; 0
	// means 1.
	Workers, Slots int
	// Queues are the number of queues, their limits and weights.
	Queues Queues
	// Predictor estimates the sizes of jobs. If it is nil, every job enters the first queue. A predictor must not be
	// shared by two systems.
	Predictor Predictor
	// Attained chooses a job's queue by its attained service instead. It excludes a Predictor.
	Attained bool
	// PilotTimeout is how long a job's other tasks wait for its pilots, from the start of the last pilot; 0 means 24
	// hours. The paper has no such limit.
	PilotTimeout time.Duration
	// Seed decides which tasks are pilots.
	Seed uint64
}

const (
	maxWorkers = 10_000_000
	maxSlots   = 1_000_000
)

// System implements [agent.System]. Its last address is that of the central scheduler, after those of the workers.
type System struct {
	workers []worker
	central central
}

// New returns a system in its initial state. Its error wraps [ErrConfig].
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
	s := &System{workers: make([]worker, c.Workers), central: newCentral(&c, &limits)}
	for i := range s.workers {
		w := &s.workers[i]
		w.tasks = w.room[:0]
	}
	return s, nil
}

// Workers implements [agent.System].
func (s *System) Workers() int { return len(s.workers) }

// Parts implements [agent.System].
func (s *System) Parts() int { return len(s.workers) + 1 }

// Entry implements [agent.System].
func (s *System) Entry(*agent.Job) agent.Addr { return agent.Addr(len(s.workers)) }

// Step implements [agent.System].
func (s *System) Step(at agent.Addr, now time.Duration, in *agent.Input[Message], out *agent.Output[Message]) {
	if central := agent.Addr(len(s.workers)); at < central {
		s.workers[at].step(central, now, in, out)
	} else {
		s.central.step(now, in, out)
	}
}

// Held implements [agent.System].
func (s *System) Held(at agent.Addr) int {
	if int(at) == len(s.workers) {
		return s.central.held()
	}
	return len(s.workers[at].tasks)
}

// worker runs the tasks that it is sent, and reports how long each took.
type worker struct {
	tasks []own
	room  [1]own // of tasks, while that suffices: beside it in memory
}

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
