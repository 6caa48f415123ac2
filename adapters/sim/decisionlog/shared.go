package decisionlog

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

// shared checks a log of nodes that tasks share.
type shared struct {
	nodes  []Node // the cluster's
	tasks  map[string]int
	down   map[string]bool
	pieces map[string]*piece
	order  []*piece
}

// piece is a job or a part.
type piece struct {
	id       string
	of       *life
	stage    int
	runtimes []time.Duration // by task
	on       []string        // by task, the node; "" if it does not run
	since    time.Duration
	left     int // tasks that run
	parts    *int
}

func newShared(nodes []Node) *shared {
	return &shared{nodes: nodes, tasks: map[string]int{}, down: map[string]bool{}, pieces: map[string]*piece{}}
}

// slack is how much earlier than its runtime a task may end, because speeds are rounded.
const slack = time.Microsecond

// evictAt is the share of a node's memory that its tasks may use.
const evictAt = 0.95

func (s *shared) line(c *checker, e *Event) error {
	switch e.Kind {
	case Usage:
		return s.usage(e)
	case Submit:
		if err := c.submit(e); err != nil {
			return err
		}
		if len(e.TaskRuntimes) != e.Tasks {
			return fmt.Errorf("%w: runtimes of %d tasks, want %d", ErrMismatch, len(e.TaskRuntimes), e.Tasks)
		}
		j := c.byID[e.Job]
		j.open = e.Tasks
		s.add(&piece{id: e.Job, of: j, runtimes: e.TaskRuntimes, parts: new(int)})
		return nil
	case Down, Up:
		return s.turn(c, e)
	case Start, Finish, Preempt, Drop, Task, Evict, Lost:
	default:
		return nil
	}
	p := s.pieces[e.Job]
	switch {
	case p == nil:
		return fmt.Errorf("%w: %s before submit", ErrState, e.Kind)
	case e.Class != p.of.Class || e.Tasks != len(p.runtimes) || e.Deadline != p.of.Deadline:
		return fmt.Errorf("%w: class, tasks or deadline", ErrMismatch)
	case (e.Kind == Start) != (p.stage == waits) && e.Kind != Drop, e.Kind == Drop && p.stage > runs:
		return fmt.Errorf("%w: %s of a job that %s", ErrState, e.Kind,
			[]string{"waits", "runs", "has finished", "was dropped"}[p.stage])
	}
	switch e.Kind {
	case Start:
		return s.start(c, p, e)
	case Drop:
		return s.drop(c, p, e)
	case Finish, Task:
		return s.done(c, p, e)
	}
	return s.lose(c, p, e)
}

func (s *shared) add(p *piece) {
	p.on = make([]string, len(p.runtimes))
	s.pieces[p.id] = p
	s.order = append(s.order, p)
}

func (s *shared) start(c *checker, p *piece, e *Event) error {
	if every := c.header.Cycle; every > 0 && e.Time%every != 0 && !c.opts.AnyRuntime {
		return fmt.Errorf("%w: a start between cycles", ErrOrder)
	}
	nodes, err := c.cluster.named(e)
	if err != nil {
		return err
	}
	k := 0
	for _, n := range nodes {
		switch {
		case s.down[n.Node]:
			return fmt.Errorf("%w: %q is lost", ErrNode, n.Node)
		case !matches(p.of.required, c.cluster.labels[c.cluster.byName[n.Node]]):
			return fmt.Errorf("%w: %q is not among those required", ErrNode, n.Node)
		case n.Tasks < 1 || n.Tasks > len(p.on)-k:
			return fmt.Errorf("%w: %d tasks on %q", ErrGang, n.Tasks, n.Node)
		}
		for range n.Tasks {
			p.on[k] = n.Node
			k++
		}
		s.tasks[n.Node] += n.Tasks
	}
	if k != len(p.on) {
		return fmt.Errorf("%w: %d of %d tasks start", ErrGang, k, len(p.on))
	}
	p.stage, p.since, p.left = runs, e.Time, k
	j := p.of
	j.Start, j.Nodes = e.Time, nodes
	if j.FirstStart < 0 {
		j.FirstStart = e.Time
	}
	c.sums.running += k
	return nil
}

// off removes a task from its node and returns how long it ran.
func (s *shared) off(c *checker, p *piece, k int, at time.Duration) (ran time.Duration) {
	ran = at - p.since
	s.tasks[p.on[k]]--
	p.on[k] = ""
	p.left--
	p.of.held += ran
	c.sums.running--
	c.sums.lastStop = at
	return ran
}

// done checks the completion of a task.
func (s *shared) done(c *checker, p *piece, e *Event) error {
	k := e.Index
	if e.Kind == Finish {
		k = slices.IndexFunc(p.on, func(node string) bool { return node != "" })
	}
	switch {
	case k < 0 || k >= len(p.on) || p.on[k] == "" || e.Kind == Task && p.on[k] != e.Node:
		return fmt.Errorf("%w: task %d does not run on %q", ErrState, k, e.Node)
	case (e.Kind == Finish) != (p.left == 1):
		return fmt.Errorf("%w: %s with %d tasks that run", ErrState, e.Kind, p.left)
	}
	if ran := s.off(c, p, k, e.Time); ran < p.runtimes[k]-slack && !c.opts.AnyRuntime {
		return fmt.Errorf("%w: task %d ran %v, want at least %v", ErrRuntime, k, ran, p.runtimes[k])
	}
	if e.Kind == Finish {
		p.stage = done
	}
	if p.of.open--; p.of.open == 0 {
		p.of.stage, p.of.Finish = done, e.Time
	}
	return nil
}

// turn checks the loss or the return of a node.
func (s *shared) turn(c *checker, e *Event) error {
	switch {
	case !c.cluster.has(e.Node):
		return fmt.Errorf("%w: %q is unknown", ErrNode, e.Node)
	case s.down[e.Node] == (e.Kind == Down):
		return fmt.Errorf("%w: %q is %s twice", ErrState, e.Node, e.Kind)
	case s.tasks[e.Node] > 0:
		return fmt.Errorf("%w: %q is %s with %d tasks", ErrState, e.Node, e.Kind, s.tasks[e.Node])
	}
	s.down[e.Node] = e.Kind == Down
	return nil
}

// lose checks an eviction, a loss with the node, or a preemption.
func (s *shared) lose(c *checker, p *piece, e *Event) error {
	j, lost := p.of, e.Indices
	switch {
	case e.Part == "":
		if p.left != len(p.on) {
			return fmt.Errorf("%w: %s of a whole gang of which %d of %d tasks run", ErrState, e.Kind, p.left, len(p.on))
		}
		lost = make([]int, len(p.on))
		for k := range lost {
			lost[k] = k
		}
	case e.Kind != Preempt:
		lost = []int{e.Index}
	}
	var runtimes []time.Duration
	for i, k := range lost {
		if k < 0 || k >= len(p.on) || p.on[k] == "" || e.Kind != Preempt && e.Part != "" && p.on[k] != e.Node ||
			e.Kind == Preempt && e.Part != "" && (i >= len(e.Nodes) || p.on[k] != e.Nodes[i].Node) {
			return fmt.Errorf("%w: task %d does not run there", ErrState, k)
		}
		runtimes = append(runtimes, p.runtimes[k])
		j.lostTasks += s.off(c, p, k, e.Time)
	}
	switch e.Kind {
	case Evict:
		j.Evictions += len(lost)
	case Preempt:
		j.Preemptions++
	}
	if e.Part == "" {
		p.stage = waits
		return nil
	}
	if *p.parts++; len(lost) == 0 || s.pieces[e.Part] != nil || e.Part != wholeOf(p)+"#"+strconv.Itoa(*p.parts) {
		return fmt.Errorf("%w: part %q", ErrMismatch, e.Part)
	}
	s.add(&piece{id: e.Part, of: j, runtimes: runtimes, parts: p.parts})
	if p.left == 0 {
		p.stage = done
	}
	return nil
}

// wholeOf is the ID of the job that a piece belongs to.
func wholeOf(p *piece) string { return p.of.ID }

func (s *shared) drop(c *checker, p *piece, e *Event) error {
	for k, node := range p.on {
		if node != "" {
			p.of.lostTasks += s.off(c, p, k, e.Time)
		}
	}
	p.stage, p.of.stage = gone, gone
	return nil
}

// usage checks the use of the nodes.
func (s *shared) usage(e *Event) error {
	if len(e.CPU) != len(s.nodes) || len(e.Memory) != len(s.nodes) {
		return fmt.Errorf("%w: usage of %d and %d nodes, want %d", ErrMismatch, len(e.CPU), len(e.Memory), len(s.nodes))
	}
	for i := range s.nodes {
		n := &s.nodes[i]
		cpu, memory := e.CPU[i], e.Memory[i]
		switch {
		case !(cpu >= 0) || !(memory >= 0):
			return fmt.Errorf("%w: %q uses %g CPU and %g memory", ErrSyntax, n.Node, cpu, memory)
		case cpu > n.Capacity["cpu"]*(1+tolerance) || memory > evictAt*n.Capacity["memory"]*(1+tolerance):
			return fmt.Errorf("%w: %q uses %g of %g CPU and %g of %g memory", ErrOvercommit, n.Node, cpu, n.Capacity["cpu"],
				memory, n.Capacity["memory"])
		case s.tasks[n.Node] == 0 && cpu+memory > 0:
			return fmt.Errorf("%w: %q uses %g CPU and %g memory without a task", ErrMismatch, n.Node, cpu, memory)
		}
	}
	return nil
}

// complete checks that no piece is left.
func (s *shared) complete() error {
	if s == nil {
		return nil
	}
	for _, p := range s.order {
		if p.stage <= runs {
			return lineError(0, p.id, fmt.Errorf("%w: neither finished nor dropped", ErrIncomplete))
		}
	}
	return nil
}
