package live

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hedgesched/hedge/adapters/live/internal/pb"
	"github.com/hedgesched/hedge/sched/agent"
)

// Command is what a task runs.
type Command struct {
	// Args are the program and its arguments, at least the program.
	Args []string
	// Env are NAME=VALUE, in addition to the agent's own environment.
	Env []string
	// Dir is the working folder; "" means the agent's.
	Dir string
}

// Attempt is one run of a task.
type Attempt struct {
	// Job is the job's name, Task the task's index in the job, from 0, and Worker the address of the worker.
	Job    string
	Task   int
	Worker agent.Addr
	Command
}

// Executor starts commands. It must be safe for concurrent use.
type Executor interface {
	// Start starts an attempt. An error means that nothing runs.
	Start(Attempt) (Running, error)
}

// Running is a started attempt. Its methods must be safe for concurrent use, and may be called after the attempt has
// ended.
type Running interface {
	// Pause stops all processes of the attempt, Resume lets them go on, and Kill ends them.
	Pause() error
	Resume() error
	Kill() error
	// Wait returns when the attempt has ended: nil if it succeeded.
	Wait() error
}

// want is the state that a worker wants for a task.
type want uint8

const (
	wantRun want = iota
	wantPause
	wantKill
)

// run is a task that a worker has launched.
type run struct {
	task   agent.Task
	cancel context.CancelFunc
	mu     sync.Mutex
	want   want
	runs   Running // nil unless an attempt runs
	err    error   // the result of the last attempt
	over   bool    // it has ended; if paused, the worker is told when it resumes it
}

// deed is an order to the executor.
type deed struct {
	do agent.ActionKind
	r  *run
}

// deed notes what a worker orders for a task. It fails the part if the order is against the rules.
func (p *part) deed(do agent.ActionKind, t agent.Task) {
	r := p.tasks[t]
	switch {
	case !p.isWorker(p.at):
		p.fail("it is no worker and wants to run task %v", t)
		return
	case do == agent.Launch && r == nil:
		r = &run{task: t}
		p.tasks[t] = r
	case do == agent.Launch || r == nil:
		p.fail("it cannot launch, pause, resume or kill task %v", t)
		return
	case do == agent.Kill:
		delete(p.tasks, t)
	}
	p.deeds = append(p.deeds, deed{do, r})
}

// execute carries out a deed.
func (p *part) execute(d deed) {
	r := d.r
	if d.do == agent.Launch {
		ctx, cancel := context.WithCancel(context.Background())
		r.cancel = cancel
		p.host.wg.Add(1)
		go func() {
			defer p.host.wg.Done()
			defer cancel()
			r.err = p.host.attempt(ctx, p.at, r)
			p.box.put(item{ended: r})
		}()
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch d.do {
	case agent.Pause:
		r.want = wantPause
	case agent.Resume:
		r.want = wantRun
		if r.over {
			p.box.put(item{ended: r})
		}
	case agent.Kill:
		r.want = wantKill
		if r.cancel != nil { // it was launched
			r.cancel()
		}
	}
	if r.runs != nil {
		p.host.warn(r.apply(), "task", r.task, "worker", p.at)
	}
}

// apply has the executor bring about the wanted state.
func (r *run) apply() error {
	switch r.want {
	case wantPause:
		return r.runs.Pause()
	case wantKill:
		return r.runs.Kill()
	}
	return r.runs.Resume()
}

func (h *host) warn(err error, args ...any) {
	if err != nil {
		h.log.Warn(err.Error(), args...)
	}
}

// attempt runs a task until it succeeds or has failed as often as it may. A kill ends ctx.
func (h *host) attempt(ctx context.Context, at agent.Addr, r *run) error {
	job, err := h.command(ctx, r.task.Job)
	if err != nil {
		return err
	}
	a := Attempt{Job: job.Name, Task: int(r.task.Index), Worker: at, Command: Command{Args: job.Command.GetArgs(),
		Env: job.Command.GetEnv(), Dir: job.Command.GetDir()}}
	for try := 1; ; try++ {
		if err = h.once(a, r); err == nil || ctx.Err() != nil || try >= h.attempts {
			return err
		}
		h.warn(err, "job", a.Job, "task", a.Task, "try", try)
		select {
		case <-ctx.Done():
			return err
		case <-h.clock.After(retryAfter(try)):
		}
	}
}

// once starts one attempt, unless the task was killed before, and waits for it.
func (h *host) once(a Attempt, r *run) error {
	r.mu.Lock()
	if r.want == wantKill {
		r.mu.Unlock()
		return context.Canceled
	}
	runs, err := h.executor.Start(a)
	if err == nil {
		r.runs = runs
		if r.want == wantPause {
			h.warn(r.apply(), "task", r.task)
		}
	}
	r.mu.Unlock()
	if err != nil {
		return err
	}
	err = runs.Wait()
	r.mu.Lock()
	r.runs = nil
	r.mu.Unlock()
	return err
}

// command fetches a job's command, again and again until it has it.
func (h *host) command(ctx context.Context, job int32) (*pb.Job, error) {
	for try := 1; ; try++ {
		j, err := h.fetch(ctx, job)
		if err == nil {
			return j, nil
		}
		h.warn(err, "job", job)
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-h.clock.After(retryAfter(try)):
		}
	}
}

// retryAfter is the delay after a number of failures: from 50 ms, doubled each time, to 5 s.
func retryAfter(failures int) time.Duration {
	return min(5*time.Second, 50*time.Millisecond<<min(failures-1, 10))
}

// taskEnded tells the worker that a task has ended, unless the worker killed it. If the worker has paused the task, it
// is told only when it resumes the task: the task ended just before it could be stopped.
func (p *part) taskEnded(r *run) {
	if p.tasks[r.task] != r {
		return
	}
	r.mu.Lock()
	r.over = true
	wait := r.want == wantPause
	r.mu.Unlock()
	if wait {
		return
	}
	delete(p.tasks, r.task)
	p.clock(p.host.now())
	if r.err != nil {
		p.order(&pb.Order{Of: &pb.Order_Failed{Failed: &pb.Failure{Job: r.task.Job, Task: r.task.Index,
			Why: fmt.Sprint(r.err)}}})
	}
	p.step(agent.Input[[]byte]{Kind: agent.Ended, Task: r.task})
}

// halt kills all tasks of a worker whose goroutine has ended.
func (p *part) halt() {
	for _, r := range p.tasks {
		p.execute(deed{agent.Kill, r})
	}
}
