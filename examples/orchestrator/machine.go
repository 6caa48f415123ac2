package main

import (
	"context"
	"fmt"
	"os/exec"
	"sync"
	"time"

	"github.com/hedgesched/hedge/sched"
)

// machine is a cluster of slots on this machine: a [sched.Cluster] whose tasks are processes.
type machine struct {
	ctx     context.Context // ends every process
	slots   []string
	changed func()

	mu      sync.Mutex
	story   *story
	events  []sched.Event
	gangs   map[string]*gang
	over    int
	ended   *sync.Cond
	running sync.WaitGroup
}

// gang is a job and, while it runs, its processes.
type gang struct {
	job     *sched.Job
	seconds string
	started time.Time
	kill    context.CancelFunc
	left    int
	// killed says why, if its processes were told to stop.
	killed *sched.Reason
}

func newMachine(ctx context.Context, s *story, slots int) *machine {
	m := &machine{ctx: ctx, story: s, changed: func() {}, gangs: map[string]*gang{}}
	m.ended = sync.NewCond(&m.mu)
	for i := range slots {
		m.slots = append(m.slots, fmt.Sprintf("slot-%d", i))
		m.events = append(m.events, sched.Event{Kind: sched.NodeUp, Time: s.began, Node: &sched.Node{Name: m.slots[i]}})
	}
	return m
}

// submit hands a job to the scheduler; each of its tasks is a process that sleeps for so many seconds.
func (m *machine) submit(job *sched.Job, seconds string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gangs[job.ID] = &gang{job: job, seconds: seconds}
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

// Apply implements [sched.Cluster]: it kills and starts processes.
func (m *machine) Apply(_ context.Context, plan *sched.Plan) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range plan.Decisions {
		d := &plan.Decisions[i]
		g := m.gangs[d.Job]
		switch d.Kind {
		case sched.Preempt:
			g.killed = &d.Reason
			g.kill()
		case sched.Start:
			m.story.started(g.job, d.Nodes, d.Reason)
			m.start(g, d.Nodes)
		case sched.Defer:
			m.story.waits(d)
		}
	}
	return nil
}

// start runs the gang's processes; the last to end tells what became of it.
func (m *machine) start(g *gang, nodes []sched.NodeTasks) {
	ctx, kill := context.WithCancel(m.ctx)
	g.kill, g.left, g.killed, g.started = kill, g.job.Tasks, nil, time.Now()
	for range g.job.Tasks {
		cmd := exec.CommandContext(ctx, "sleep", g.seconds)
		if err := cmd.Start(); err != nil {
			kill()
			m.tell(sched.Event{Kind: sched.StartFailed, ID: g.job.ID})
			return
		}
		m.running.Add(1)
		go m.await(cmd, g)
	}
	m.tell(sched.Event{Kind: sched.Started, ID: g.job.ID, Nodes: nodes})
}

// await waits for one process of the gang.
func (m *machine) await(cmd *exec.Cmd, g *gang) {
	defer m.running.Done()
	_ = cmd.Wait() // a killed process is an error here, and no news
	m.mu.Lock()
	defer m.mu.Unlock()
	if g.left--; g.left > 0 {
		return
	}
	switch {
	case m.ctx.Err() != nil:
	case g.killed != nil:
		m.story.ended(g.job, true, *g.killed)
		m.tell(sched.Event{Kind: sched.Preempted, ID: g.job.ID})
	default:
		m.story.ended(g.job, false, sched.Reason{})
		m.over++
		m.ended.Broadcast()
		m.tell(sched.Event{Kind: sched.Finished, ID: g.job.ID, Runtime: time.Since(g.started).Seconds()})
	}
	g.kill()
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
func (m *machine) wait() { m.running.Wait() }
