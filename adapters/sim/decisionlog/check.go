package decisionlog

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"time"
)

// Options loosen a check; the zero value is the strictest.
type Options struct {
	// AnyRuntime accepts runs of any length and any number of cycles, for logs of clusters that are not simulated.
	AnyRuntime bool
	// Partial accepts a log that ends before its jobs do.
	Partial bool
}

// Job is what a log says became of a job.
type Job struct {
	ID, Class   string
	Of          string // the whole job that it is a stage of; empty if none
	Tasks       int
	Submit      time.Duration
	Deadline    time.Duration // absolute, 0 for none
	FirstStart  time.Duration // -1 if it never started
	Start       time.Duration // the last, -1 if it never started
	Finish      time.Duration // -1 if it never finished
	Preemptions int
	Evictions   int           // of its tasks, from shared nodes
	Lost        time.Duration // run time thrown away
	Speed       float64       // of the last start; 0 if it never started
	Nodes       []Node        // of the last start
	Ranges      []Range       // in place of Nodes, in a log of schema 2
}

// Report is the result for a log that has passed the check, with the metrics derived from it.
type Report struct {
	Header  Header
	Lines   int
	Nodes   int
	Metrics Metrics
	// Jobs are in order of submission.
	Jobs []Job
}

// Check reads a log and verifies that
//   - times do not decrease;
//   - each job is submitted once, starts only while it waits and after the jobs in its "after" have finished, finishes
//     and is preempted only while it runs, and ends with a finish or a drop;
//   - gangs start whole, on known nodes that the job may use, and no node ever holds more than it offers;
//   - runs take exactly the job's runtime, divided by the speed of the slowest node;
//   - the nodes' capacities are consistent, and the number of cycles agrees with the events.
//
// For shared nodes it verifies that every task is completed once, in its gang or in a part, in no less than its runtime
// and where it runs; that nodes without tasks are unused; and that no node exceeds its CPU or the memory that its tasks
// may use. Cycles are not counted there.
//
// Check stops at the first fault, which is a [*LineError]. It derives all metrics of the report from the events, except
// those of cycles and of the solver, which it takes from the end line.
func Check(r io.Reader, opts *Options) (*Report, error) {
	if opts == nil {
		opts = &Options{}
	}
	c := &checker{opts: *opts, byID: map[string]*life{}}
	for e, err := range Read(r) {
		if err != nil {
			return nil, err
		}
		if err := c.line(e); err != nil {
			return nil, lineError(e.Line, e.Job, err)
		}
	}
	if err := c.complete(); err != nil {
		return nil, err
	}
	return c.report(), nil
}

// The stages of a job's life.
const (
	waits = iota
	runs
	done
	gone
)

// life is a job with the state that the check needs.
type life struct {
	Job
	stage    int
	after    []string
	runtime  time.Duration
	speeds   []Speed
	demand   []amount
	required []Term
	on       []Range // of the run
	// keeps tells that preemptions cost it no work. behind is the work done in earlier runs, at full speed, and kept is
	// how long those runs took.
	keeps        bool
	behind, kept time.Duration
	// For a job on shared nodes: the total time of its tasks, the part of it that was lost, and the number of tasks that
	// are not complete.
	held, lostTasks time.Duration
	open            int
}

type checker struct {
	opts    Options
	header  *Header
	trailer *Trailer
	lines   int
	now     time.Duration
	cluster cluster
	byID    map[string]*life
	order   []*life
	sums    sums
	cycles  cycles
	shared  *shared // of a log of shared nodes
}

func (c *checker) line(e *Event) error {
	c.lines++
	switch {
	case c.lines == 1 && e.Kind != Cluster:
		return fmt.Errorf("%w: the first line is %q, want %q", ErrOrder, e.Kind, Cluster)
	case c.lines > 1 && e.Kind == Cluster:
		return fmt.Errorf("%w: a second cluster line", ErrOrder)
	case c.trailer != nil:
		return fmt.Errorf("%w: %s after the end", ErrOrder, e.Kind)
	case e.Time < c.now:
		return fmt.Errorf("%w: time %v after %v", ErrOrder, e.Time, c.now)
	}
	c.sums.until(e.Time)
	c.now = e.Time
	if c.shared != nil && e.Kind != End {
		return c.shared.line(c, e)
	}
	switch e.Kind {
	case Cluster:
		return c.begin(e)
	case End:
		return c.end(e)
	case Submit:
		return c.submit(e)
	case Start, Finish, Preempt, Drop:
		return c.event(e)
	}
	return nil
}

func (c *checker) begin(e *Event) error {
	h := e.Header
	if h.TasksPerNode < 1 {
		return fmt.Errorf("%w: %d tasks per node", ErrSyntax, h.TasksPerNode)
	}
	if len(e.Nodes) == 0 {
		return fmt.Errorf("%w: a cluster without nodes", ErrSyntax)
	}
	c.header = h
	c.sums.window = h.Span
	c.cycles = newCycles(h.Cycle)
	if err := c.cluster.fill(e.Nodes); err != nil {
		return err
	}
	if h.Shared {
		c.shared = newShared(e.Nodes)
	}
	return nil
}

// end checks the last line's statements about cycles.
func (c *checker) end(e *Event) error {
	c.trailer = e.Trailer
	stops := 0
	for _, name := range slices.Sorted(maps.Keys(e.Trailer.Solver.Stops)) {
		n := e.Trailer.Solver.Stops[name]
		if n < 0 {
			return fmt.Errorf("%w: the solver stopped %d times for %q", ErrSyntax, n, name)
		}
		stops += min(n, math.MaxInt32)
	}
	switch {
	case e.Trailer.Cycles < 0:
		return fmt.Errorf("%w: %d cycles", ErrSyntax, e.Trailer.Cycles)
	case stops > e.Trailer.Cycles:
		return fmt.Errorf("%w: the solver stopped %d times in %d cycles", ErrMismatch, stops, e.Trailer.Cycles)
	case c.opts.AnyRuntime || c.shared != nil:
		return nil
	}
	return c.cycles.check(e.Trailer.Cycles, e.Time)
}

func (c *checker) submit(e *Event) error {
	if c.byID[e.Job] != nil {
		return fmt.Errorf("%w: submitted twice", ErrState)
	}
	if (e.Class == SLO) != (e.Deadline > 0) {
		return fmt.Errorf("%w: class %q with deadline %v", ErrMismatch, e.Class, e.Deadline)
	}
	if e.Class == SLO && e.Deadline <= e.Time {
		return fmt.Errorf("%w: deadline %v, submitted at %v", ErrMismatch, e.Deadline, e.Time)
	}
	j := &life{
		Job: Job{
			ID: e.Job, Of: e.Of, Class: e.Class, Tasks: e.Tasks, Submit: e.Time, Deadline: e.Deadline,
			FirstStart: -1, Start: -1, Finish: -1,
		},
		after: e.After, runtime: e.Runtime, speeds: e.Speeds, keeps: e.Checkpoint,
		demand: c.cluster.amounts(e.Demand), required: e.Required,
	}
	c.byID[e.Job] = j
	c.order = append(c.order, j)
	c.cycles.arrive(e.Time)
	return nil
}

// event checks a start, finish, preemption or drop.
func (c *checker) event(e *Event) error {
	j := c.byID[e.Job]
	switch {
	case j == nil:
		return fmt.Errorf("%w: %s before submit", ErrState, e.Kind)
	case e.Class != j.Class || e.Tasks != j.Tasks || e.Deadline != j.Deadline:
		return fmt.Errorf("%w: class, tasks or deadline", ErrMismatch)
	}
	needs := waits
	if e.Kind == Finish || e.Kind == Preempt {
		needs = runs
	}
	if j.stage != needs {
		return fmt.Errorf("%w: %s of a job that %s", ErrState, e.Kind,
			[]string{"waits", "runs", "has finished", "was dropped"}[j.stage])
	}
	if e.Kind == Finish {
		c.cycles.leave(e.Time)
	} else {
		c.cycles.decide(e.Kind, e.Time)
	}
	switch e.Kind {
	case Start:
		return c.start(j, e)
	case Drop:
		j.stage = gone
		return nil
	}
	return c.stop(j, e)
}

func (c *checker) start(j *life, e *Event) error {
	for _, parent := range j.after {
		if p := c.byID[parent]; p == nil || p.stage != done {
			return fmt.Errorf("%w: it starts before job %q has finished", ErrState, parent)
		}
	}
	on, err := c.cluster.places(e)
	if err != nil {
		return err
	}
	total, speed := int64(0), 1.0
	for _, r := range on {
		if r.Tasks < 1 || r.Tasks > j.Tasks {
			return fmt.Errorf("%w: %d tasks on %q", ErrGang, r.Tasks, c.cluster.names[r.From])
		}
		slowest, err := c.cluster.allowed(j, &r)
		if err != nil {
			return err
		}
		speed = min(speed, slowest)
		total += int64(r.Tasks) * int64(r.To-r.From)
		if err := c.cluster.hold(j.demand, &r); err != nil {
			return err
		}
	}
	if total != int64(j.Tasks) {
		return fmt.Errorf("%w: %d of %d tasks start", ErrGang, total, j.Tasks)
	}
	said := e.Speed
	switch {
	case e.slowed:
		said = min(speed, math.Nextafter(1, 0)) // an older log, which does not say how slow
	case said == 0:
		said = 1
	}
	if speed != said {
		return fmt.Errorf("%w: the speed is %v, by its nodes %v", ErrMismatch, said, speed)
	}
	j.stage, j.Start, j.Speed, j.Nodes, j.Ranges, j.on = runs, e.Time, speed, e.Nodes, e.Ranges, on
	if j.FirstStart < 0 {
		j.FirstStart = e.Time
	}
	c.sums.running += j.Tasks
	return nil
}

// stop checks a finish or a preemption.
func (c *checker) stop(j *life, e *Event) error {
	ran, full := e.Time-j.Start, j.runtime-j.behind
	if j.Speed < 1 {
		full = time.Duration(math.Round(float64(full) * (1 / j.Speed)))
	}
	switch {
	case c.opts.AnyRuntime:
	case e.Kind == Finish && ran != full:
		return fmt.Errorf("%w: ran %v, want %v", ErrRuntime, ran, full)
	case e.Kind == Preempt && ran > full:
		return fmt.Errorf("%w: preempted after %v, complete after %v", ErrRuntime, ran, full)
	}
	for _, r := range j.on {
		c.cluster.drop(j.demand, &r)
	}
	c.sums.running -= j.Tasks
	c.sums.lastStop = e.Time
	if e.Kind == Finish {
		j.stage, j.Finish = done, e.Time
		return nil
	}
	j.stage = waits
	j.Preemptions++
	if !j.keeps {
		j.Lost += ran
		return nil
	}
	j.kept += ran
	if j.Speed < 1 {
		ran = time.Duration(math.Round(float64(ran) / (1 / j.Speed)))
	}
	if j.behind += ran; j.behind > j.runtime && j.runtime > 0 {
		j.behind = j.runtime
	}
	return nil
}

// speedOn is how fast the job runs on a node with these labels.
func (j *life) speedOn(labels map[string]string) float64 {
	if len(j.speeds) == 0 {
		return 1
	}
	best, least := 0.0, 1.0
	for i := range j.speeds {
		s := &j.speeds[i]
		least = min(least, s.Speed)
		if matches(s.On, labels) {
			best = max(best, s.Speed)
		}
	}
	if best == 0 {
		return least
	}
	return best
}

func matches(set []Term, labels map[string]string) bool {
	for _, t := range set {
		value, ok := labels[t.Key]
		if !ok || (!t.Has && !slices.Contains(t.Values, value)) {
			return false
		}
	}
	return true
}

func (c *checker) complete() error {
	switch {
	case c.lines == 0:
		return lineError(0, "", fmt.Errorf("%w: empty", ErrIncomplete))
	case c.opts.Partial:
		return nil
	}
	if err := c.shared.complete(); err != nil {
		return err
	}
	for _, j := range c.order {
		if j.stage == waits || j.stage == runs {
			return lineError(0, j.ID, fmt.Errorf("%w: neither finished nor dropped", ErrIncomplete))
		}
	}
	if c.trailer == nil {
		return lineError(0, "", fmt.Errorf("%w: no end line", ErrIncomplete))
	}
	return nil
}
