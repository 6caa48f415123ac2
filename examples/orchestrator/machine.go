package main

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"sync"
	"time"

	"github.com/hedgesched/hedge/sched"
)

// machine is a cluster of slots on this machine: a [sched.Cluster] whose tasks are processes.
type machine struct {
	ctx     context.Context // ends every process
	slots   []string
	changed func()
	command func(ctx context.Context, seconds string) *exec.Cmd

	mu     sync.Mutex
	story  *story
	events []sched.Event
	jobs   map[string]work
	runs   map[string]*attempt // by job: the attempt that was asked for and has not ended
	queue  []*attempt          // those of runs that wait for their slots
	busy   map[string]bool     // the slots in which processes are
	over   int
	ended  *sync.Cond
	alive  sync.WaitGroup // processes
}

// work is a job and for how many seconds each of its tasks sleeps.
type work struct {
	job     *sched.Job
	seconds string
}

// attempt is one run of a job. A job that is preempted and started again has another attempt then, so that
// what is left of the first can never be taken for the second.
type attempt struct {
	work
	start   sched.Decision
	started time.Time
	kill    context.CancelFunc
	left    int   // processes that have not ended
	failed  error // why not all processes could be started
	cut     bool  // a process ended other than by itself
	// killed says why, if the processes were told to stop.
	killed *sched.Reason
}

func newMachine(ctx context.Context, s *story, slots int) *machine {
	m := &machine{ctx: ctx, story: s, changed: func() {}, command: sleep,
		jobs: map[string]work{}, runs: map[string]*attempt{}, busy: map[string]bool{}}
	m.ended = sync.NewCond(&m.mu)
	for i := range slots {
		m.slots = append(m.slots, fmt.Sprintf("slot-%d", i))
		m.events = append(m.events, sched.Event{Kind: sched.NodeUp, Time: s.began, Node: &sched.Node{Name: m.slots[i]}})
	}
	return m
}

// retry is how long a start that has failed is not tried again.
const retry = time.Second

func sleep(ctx context.Context, seconds string) *exec.Cmd {
	return exec.CommandContext(ctx, "sleep", seconds)
}

// submit hands a job to the scheduler. Each of its tasks is a process that sleeps for a number of seconds.
func (m *machine) submit(job *sched.Job, seconds string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.jobs[job.ID] = work{job, seconds}
	m.story.submitted(job)
	m.tell(sched.Event{Kind: sched.Submitted, ID: job.ID, Job: job})
}

// tell records an event and asks for a cycle. The lock is held.
func (m *machine) tell(e sched.Event) {
	e.Time = time.Now()
	m.events = append(m.events, e)
	m.changed()
}

// Events implements [sched.Cluster].
func (m *machine) Events(context.Context) ([]sched.Event, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	events := m.events
	m.events = nil
	return events, nil
}

// Apply implements [sched.Cluster]. It does not wait for processes to end: a start in the place of a job
// that is preempted is kept until that job's processes have ended.
func (m *machine) Apply(_ context.Context, plan *sched.Plan) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range plan.Decisions {
		d := plan.Decisions[i]
		switch d.Kind {
		case sched.Preempt:
			m.preempt(d)
		case sched.Start:
			r := &attempt{work: m.jobs[d.Job], start: d}
			m.runs[d.Job], m.queue = r, append(m.queue, r)
		case sched.Defer:
			m.story.waits(&d)
		}
	}
	m.startQueued()
	return nil
}

// preempt kills a job's processes; the last of them to end tells. The lock is held.
func (m *machine) preempt(d sched.Decision) {
	r := m.runs[d.Job]
	if r == nil {
		return // it has finished, and the scheduler has yet to hear of it
	}
	if i := slices.Index(m.queue, r); i >= 0 { // it has no process yet
		m.queue = slices.Delete(m.queue, i, i+1)
		delete(m.runs, d.Job)
		m.tell(sched.Event{Kind: sched.Preempted, ID: d.Job})
		return
	}
	r.killed = &d.Reason
	r.kill()
}

// startQueued starts the attempts whose slots are empty. The lock is held.
func (m *machine) startQueued() {
	if m.ctx.Err() != nil {
		return
	}
	m.queue = slices.DeleteFunc(m.queue, func(r *attempt) bool {
		if slices.ContainsFunc(r.start.Nodes, func(n sched.NodeTasks) bool { return m.busy[n.Node] }) {
			return false
		}
		m.begin(r)
		return true
	})
}

// begin starts an attempt's processes, all or none: where one cannot be started the others are
// killed, and the start has failed once they have ended. The lock is held.
func (m *machine) begin(r *attempt) {
	ctx, kill := context.WithCancel(m.ctx)
	r.kill, r.started = kill, time.Now()
	for range r.job.Tasks {
		cmd := m.command(ctx, r.seconds)
		if r.failed = cmd.Start(); r.failed != nil {
			kill()
			break
		}
		r.left++
		m.alive.Add(1)
		go m.await(cmd, r)
	}
	if r.failed != nil && r.left == 0 {
		delete(m.runs, r.job.ID)
		m.tellEnd(r)
		return
	}
	for _, n := range r.start.Nodes {
		m.busy[n.Node] = true
	}
	if r.failed == nil {
		m.story.started(r.job, r.start.Nodes, r.start.Reason)
		m.tell(sched.Event{Kind: sched.Started, ID: r.job.ID, Nodes: r.start.Nodes})
	}
}

// await waits for one process of the attempt; the last to end makes room for what waits.
func (m *machine) await(cmd *exec.Cmd, r *attempt) {
	defer m.alive.Done()
	err := cmd.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	r.cut = r.cut || err != nil
	if r.left--; r.left > 0 {
		return
	}
	r.kill()
	delete(m.runs, r.job.ID)
	for _, n := range r.start.Nodes {
		delete(m.busy, n.Node)
	}
	if m.ctx.Err() == nil {
		m.tellEnd(r)
		m.startQueued()
	}
}

// tellEnd tells what became of an attempt. The lock is held.
func (m *machine) tellEnd(r *attempt) {
	switch {
	case r.failed != nil:
		m.tell(sched.Event{Kind: sched.StartFailed, ID: r.job.ID, Err: r.failed, NotBefore: time.Now().Add(retry)})
	case r.killed != nil && r.cut: // else it had ended before it could be killed
		m.story.ended(r.job, true, *r.killed)
		m.tell(sched.Event{Kind: sched.Preempted, ID: r.job.ID})
	default: // sleep does not fail by itself; of a process that has, a host would tell Withdrawn and its error
		m.story.ended(r.job, false, sched.Reason{})
		m.over++
		m.ended.Broadcast()
		m.tell(sched.Event{Kind: sched.Finished, ID: r.job.ID, Runtime: time.Since(r.started)})
	}
}

// finished waits until n jobs have, or the machine is stopped, and returns how many have.
func (m *machine) finished(n int) int {
	stop := context.AfterFunc(m.ctx, m.ended.Broadcast)
	defer stop()
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.over < n && m.ctx.Err() == nil {
		m.ended.Wait()
	}
	return m.over
}

// wait returns when no process is left.
func (m *machine) wait() { m.alive.Wait() }
