package tasklog

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/hedgesched/hedge/adapters/sim/decisionlog"
)

// Report is what [Check] has found, from the records alone.
type Report struct {
	Header Header
	// Records is their number; Jobs and Tasks were submitted.
	Records, Jobs, Tasks int
	// Starts, Pauses, Stops and Losses count records.
	Starts, Pauses, Stops, Losses int
	// Busy is the mean share of slots in use from the first submission to the last, 0 if they are at one moment.
	Busy float64
	// Figures are derived from the records; for a part of a log, of the jobs that have ended.
	Figures Figures
}

// Check reads a log and checks that it could have happened: jobs come before their tasks start, no worker runs more
// tasks than it has slots, every task runs once to its end and takes its time, a pause apart, only a crash has it run
// again, and the figures are those of the records. The first error is a [*RecordError] that wraps an error of package
// decisionlog: ErrSyntax for bytes that are no log, ErrState, ErrOvercommit, ErrRuntime, ErrMismatch for figures, or
// ErrIncomplete. Of the options it knows Partial and AnyRuntime; nil means none.
func Check(r io.Reader, o *decisionlog.Options) (*Report, error) {
	in, err := NewReader(r)
	if err != nil {
		return nil, err
	}
	if o == nil {
		o = new(decisionlog.Options)
	}
	c := &checker{o: o, report: Report{Header: in.Header()}, first: -1}
	var rec Record
	for {
		err := in.Read(&rec)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		c.report.Records++
		if err := c.record(&rec); err != nil {
			return nil, &RecordError{in.Records(), err}
		}
	}
	if err := c.finish(); err != nil {
		return nil, &RecordError{0, err}
	}
	return &c.report, nil
}

// checker is the state of the cluster as the records tell it.
type checker struct {
	o       *decisionlog.Options
	report  Report
	jobs    pages[job]
	workers pages[worker]
	tasks   []task
	order   []int32 // jobs as they came
	ended   *Figures
	// first and last submission, and the slots in use since then.
	first, last, since time.Duration
	used               int
	seconds, sum       float64 // of use: until the last submission, and until now
}

type job struct {
	first, tasks, open int32
	here, long         bool
	submit, end        time.Duration
}

type worker struct {
	held []int32 // tasks, running or paused
	used int
	lost int // the record of its last loss
	// unpaid are pauses whose cost no task has had.
	unpaid int
}

// task is a task's state; left is of since on while it runs.
type task struct {
	duration, left, since time.Duration
	worker                int32
	state                 state
	ended                 int // the record of its end
}

type state uint8

const (
	waiting state = iota
	running
	paused
	over
)

// pages is a table that takes room only for the neighbours of what is used.
type pages[T any] struct{ pages []*[pageSize]T }

const pageSize = 256

func (p *pages[T]) at(i int32) *T {
	page := int(i) / pageSize
	for page >= len(p.pages) {
		p.pages = append(p.pages, nil)
	}
	if p.pages[page] == nil {
		p.pages[page] = new([pageSize]T)
	}
	return &p.pages[page][int(i)%pageSize]
}

func stateError(r *Record, format string, args ...any) error {
	return fmt.Errorf("%w: task %d of job %d at %v on worker %d: "+format,
		append([]any{decisionlog.ErrState, r.Task, r.Job, r.At, r.Worker}, args...)...)
}

func (c *checker) record(r *Record) error {
	switch r.Kind {
	case Submit:
		return c.submit(r)
	case Loss:
		return c.loss(r)
	case End:
		c.ended = r.Figures
		return nil
	}
	j := c.jobs.at(r.Job)
	if !j.here || r.Task >= j.tasks {
		return stateError(r, "it was not submitted")
	}
	id := j.first + r.Task
	t, w := &c.tasks[id], c.workers.at(r.Worker)
	if r.Kind == Start {
		return c.start(r, j, t, w, id)
	}
	if (t.state != running && t.state != paused) || t.worker != r.Worker {
		return stateError(r, "it is not there")
	}
	if (r.Kind == Resume) != (t.state == paused) && r.Kind != Stop {
		return stateError(r, "it runs and should not, or should and does not")
	}
	switch r.Kind {
	case Pause:
		c.report.Pauses++
		w.unpaid++
		return c.halt(r, t, w, paused)
	case Resume:
		t.left += c.report.Header.ResumeCost
		return c.run(r, t, w)
	case Stop:
		c.report.Stops++
		if t.state == running {
			c.use(r.At, -1)
			w.used--
		}
		t.state = waiting
		w.drop(id)
		return nil
	}
	return c.end(r, j, t, w, id)
}

func (c *checker) submit(r *Record) error {
	j := c.jobs.at(r.Job)
	if j.here {
		return fmt.Errorf("%w: job %d is submitted again", decisionlog.ErrState, r.Job)
	}
	if len(c.tasks)+len(r.Durations) > math.MaxInt32 {
		return syntax("more than %d tasks", math.MaxInt32)
	}
	n := int32(len(r.Durations))
	*j = job{first: int32(len(c.tasks)), tasks: n, open: n, here: true, long: r.Long, submit: r.At}
	for _, d := range r.Durations {
		c.tasks = append(c.tasks, task{duration: d})
	}
	c.order = append(c.order, r.Job)
	c.use(r.At, 0)
	if c.first < 0 {
		c.first, c.sum = r.At, 0
	}
	c.last, c.seconds = r.At, c.sum
	c.report.Jobs++
	c.report.Tasks += int(n)
	return nil
}

// use counts slots that are taken or given back.
func (c *checker) use(now time.Duration, by int) {
	c.sum += float64(float64(c.used) * (now - c.since).Seconds())
	c.since = now
	c.used += by
}

func (c *checker) start(r *Record, j *job, t *task, w *worker, id int32) error {
	switch {
	case t.state == over && c.workers.at(t.worker).lost > t.ended:
		j.open++ // it may have to run again
	case t.state == over:
		return stateError(r, "it has run already")
	case t.state != waiting:
		return stateError(r, "it runs on worker %d", t.worker)
	}
	c.report.Starts++
	t.worker, t.left = r.Worker, t.duration+c.report.Header.Overhead
	w.held = append(w.held, id)
	return c.run(r, t, w)
}

func (c *checker) run(r *Record, t *task, w *worker) error {
	if w.used++; w.used > c.report.Header.Slots {
		return fmt.Errorf("%w: worker %d runs %d tasks in %d slots at %v", decisionlog.ErrOvercommit, r.Worker, w.used,
			c.report.Header.Slots, r.At)
	}
	if w.unpaid > 0 {
		w.unpaid--
		t.left += c.report.Header.PauseCost
	}
	c.use(r.At, 1)
	t.state, t.since = running, r.At
	return nil
}

// halt has a running task give its slot back.
func (c *checker) halt(r *Record, t *task, w *worker, to state) error {
	c.use(r.At, -1)
	w.used--
	t.left -= r.At - t.since
	t.state = to
	if t.left < -c.report.Header.Tolerance && !c.o.AnyRuntime {
		return fmt.Errorf("%w: task %d of job %d has run %v too long at %v", decisionlog.ErrRuntime, r.Task, r.Job, -t.left,
			r.At)
	}
	return nil
}

func (c *checker) end(r *Record, j *job, t *task, w *worker, id int32) error {
	if err := c.halt(r, t, w, over); err != nil {
		return err
	}
	if t.left > c.report.Header.Tolerance && !c.o.AnyRuntime {
		return fmt.Errorf("%w: task %d of job %d ends %v too early, at %v", decisionlog.ErrRuntime, r.Task, r.Job, t.left,
			r.At)
	}
	w.drop(id)
	t.ended = c.report.Records
	j.open--
	j.end = r.At
	return nil
}

func (w *worker) drop(id int32) {
	i := slices.Index(w.held, id)
	last := len(w.held) - 1
	w.held[i] = w.held[last]
	w.held = w.held[:last]
}

func (c *checker) loss(r *Record) error {
	w := c.workers.at(r.Worker)
	if len(w.held) > 0 {
		return fmt.Errorf("%w: worker %d is lost at %v and keeps %d tasks", decisionlog.ErrState, r.Worker, r.At, len(w.held))
	}
	c.report.Losses++
	w.lost, w.unpaid = c.report.Records, 0
	return nil
}

func (c *checker) finish() error {
	if c.ended == nil && !c.o.Partial {
		return fmt.Errorf("%w: no figures at the end", decisionlog.ErrIncomplete)
	}
	classes := [2][]float64{}
	last := c.first
	for _, id := range c.order {
		j := c.jobs.at(id)
		if j.open > 0 {
			if c.o.Partial {
				continue
			}
			return fmt.Errorf("%w: %d tasks of job %d have not ended", decisionlog.ErrIncomplete, j.open, id)
		}
		class := 0
		if j.long {
			class = 1
		}
		classes[class] = append(classes[class], (j.end - j.submit).Seconds())
		last = max(last, j.end)
	}
	f := &c.report.Figures
	f.Short, f.Long = classOf(classes[0]), classOf(classes[1])
	f.All, f.Makespan = classOf(slices.Concat(classes[0], classes[1])), (last - c.first).Seconds()
	if span := (c.last - c.first).Seconds(); span > 0 {
		h := &c.report.Header
		c.report.Busy = c.seconds / (span * float64(h.Workers) * float64(h.Slots))
	}
	if c.ended == nil {
		return nil
	}
	return c.compare()
}

// classOf is the figures of completion times.
func classOf(seconds []float64) Class {
	slices.Sort(seconds)
	n := len(seconds)
	c := Class{Jobs: n}
	if n == 0 {
		return c
	}
	sum := 0.0
	for _, s := range seconds {
		sum += s
	}
	at := func(p float64) float64 {
		rank := float64(p * float64(n-1))
		i := min(int(rank), n-1)
		low, high := seconds[i], seconds[min(i+1, n-1)]
		return low + float64((rank-float64(i))*(high-low))
	}
	c.Mean, c.P50, c.P90, c.P99 = sum/float64(n), at(0.5), at(0.9), at(0.99)
	return c
}

// compare compares the run's figures with those of the records.
func (c *checker) compare() error {
	differs := func(what string, told, found float64) error {
		if math.Abs(told-found) <= 2*c.report.Header.Tolerance.Seconds()+float64(1e-9*max(told, 1)) {
			return nil
		}
		return fmt.Errorf("%w: %s is %v in the run's figures, and %v by its records", decisionlog.ErrMismatch, what, told,
			found)
	}
	names := [3]string{"short", "long", "all"}
	told, found := c.ended.classes(), c.report.Figures.classes()
	for i, name := range names {
		if told[i].Jobs != found[i].Jobs {
			return fmt.Errorf("%w: %d %s jobs in the run's figures, and %d by its records", decisionlog.ErrMismatch,
				told[i].Jobs, name, found[i].Jobs)
		}
		a, b := told[i].seconds(), found[i].seconds()
		for k, of := range [4]string{"mean", "p50", "p90", "p99"} {
			if err := differs("the "+of+" completion of "+name+" jobs", *a[k], *b[k]); err != nil {
				return err
			}
		}
	}
	return differs("the makespan", c.ended.Makespan, c.report.Figures.Makespan)
}
