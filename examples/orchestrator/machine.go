package main

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"

	"github.com/hedgesched/hedge/sched"
)

// machine is a cluster of slots on this machine: a [sched.Cluster] whose tasks are processes.
type machine struct {
	ctx     context.Context // ends every process
	out     io.Writer
	began   time.Time
	changed func()

	mu      sync.Mutex
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
	killed  bool
}

func newMachine(ctx context.Context, out io.Writer, slots int) *machine {
	m := &machine{ctx: ctx, out: out, began: time.Now(), changed: func() {}, gangs: map[string]*gang{}}
	m.ended = sync.NewCond(&m.mu)
	for i := range slots {
		m.events = append(m.events, sched.Event{Kind: sched.NodeUp, Time: m.began, Node: &sched.Node{Name: fmt.Sprintf("slot-%d", i)}})
	}
	return m
}

// submit hands a job of tasks processes to the scheduler; each sleeps for seconds.
func (m *machine) submit(id string, tasks int, deadline time.Duration, seconds string) error {
	u, err := worth(deadline)
	if err != nil {
		return err
	}
	job := &sched.Job{ID: id, Tasks: tasks, Attributes: attributes(id), Utility: u, Deadline: deadline, Submitted: time.Now()}
	if deadline > 0 {
		job.Priority = 1
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gangs[id] = &gang{job: job, seconds: seconds}
	m.tell(sched.Event{Kind: sched.Submitted, ID: id, Job: job})
	return nil
}

// tell records an event and asks for a cycle. The lock is held.
func (m *machine) tell(e sched.Event) {
	e.Time = time.Now()
	m.events = append(m.events, e)
	if e.ID != "" {
		fmt.Fprintf(m.out, "%5.1fs  %-9s %s\n", time.Since(m.began).Seconds(), e.ID, e.Kind)
	}
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
	for _, d := range plan.Decisions {
		g := m.gangs[d.Job]
		switch d.Kind {
		case sched.Preempt:
			g.killed = true
			g.kill()
		case sched.Start:
			fmt.Fprintf(m.out, "        %-9s %s\n", d.Job, d.Reason)
			m.start(g, d.Nodes)
		}
	}
	return nil
}

// start runs the gang's processes; the last to end tells what became of it.
func (m *machine) start(g *gang, nodes []sched.NodeTasks) {
	ctx, kill := context.WithCancel(m.ctx)
	g.kill, g.left, g.killed, g.started = kill, g.job.Tasks, false, time.Now()
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
	case g.killed:
		m.tell(sched.Event{Kind: sched.Preempted, ID: g.job.ID})
	default:
		m.over++
		m.ended.Broadcast()
		m.tell(sched.Event{Kind: sched.Finished, ID: g.job.ID, Runtime: time.Since(g.started).Seconds()})
	}
	g.kill()
}

// finished waits until n jobs have, or the machine is stopped.
func (m *machine) finished(n int) {
	stop := context.AfterFunc(m.ctx, m.ended.Broadcast)
	defer stop()
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.over < n && m.ctx.Err() == nil {
		m.ended.Wait()
	}
}

// done is the number of jobs that have finished.
func (m *machine) done() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.over
}

// wait returns when no process is left.
func (m *machine) wait() { m.running.Wait() }
