package demo

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/sched"
)

// Cluster is where a workload is run, under one scheduler. It is used by one goroutine.
type Cluster interface {
	// Submit hands in a job whose tasks each run for the time of its Work. It does not wait for anything to run.
	Submit(ctx context.Context, j *sim.Job) error
	// Look tells what has become so far of the jobs that were handed in, by their id. Those of which there is nothing to
	// tell may be missing.
	Look(ctx context.Context) (map[string]Outcome, error)
}

// Outcome is what became of a job, by this machine's clock. Times are zero of what has not come about.
type Outcome struct {
	// Placed is when all of its tasks had a node, Started when all ran, both of the last attempt; Finished when all had
	// done their work.
	Placed, Started, Finished time.Time
	// Stops is how often it was stopped before its end.
	Stops int
}

// Result is what came of a run.
type Result struct {
	// Name is the scheduler's.
	Name string
	// Jobs are in the order of the workload, their times since the run's begin. Finish is -1 of those that had not
	// finished by its end.
	Jobs []sim.JobRecord
	// Delays are the cluster's own.
	Delays Delays
}

// Delays are by how much a cluster stretches what it runs, on average.
type Delays struct {
	// Start is from when a job has its nodes until it runs, Stop by how much it runs longer than its work takes.
	Start, Stop time.Duration
}

// RunOptions say how a workload is run.
type RunOptions struct {
	// Name is the scheduler's, for the table.
	Name string
	// Patience is how long after the last job was handed in the run ends, though not all have finished; 0 means 10 min.
	Patience time.Duration
	// Poll is how often the cluster is looked at; 0 means 250 ms.
	Poll time.Duration
	// OnProgress, if not nil, is called with the number of jobs that were submitted, that have finished, and in all.
	OnProgress func(submitted, finished, all int)
}

// Run hands in every job at its time and waits for the end of the last. It ends early with the context's error, and
// with what the cluster fails with.
func Run(ctx context.Context, w *Workload, c Cluster, o RunOptions) (*Result, error) {
	if o.Patience == 0 {
		o.Patience = 10 * time.Minute
	}
	if o.Poll == 0 {
		o.Poll = 250 * time.Millisecond
	}
	begin := time.Now()
	tick := time.NewTicker(o.Poll)
	defer tick.Stop()
	submitted := make([]time.Time, 0, len(w.Jobs))
	for last := begin; ; {
		for len(submitted) < len(w.Jobs) && time.Since(begin) >= w.Jobs[len(submitted)].Arrive {
			j := &w.Jobs[len(submitted)]
			last = time.Now()
			if err := c.Submit(ctx, j); err != nil {
				return nil, fmt.Errorf("%s: submit job %s: %w", o.Name, j.ID, err)
			}
			submitted = append(submitted, last)
		}
		seen, err := c.Look(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: look: %w", o.Name, err)
		}
		finished := 0
		for _, s := range seen {
			if !s.Finished.IsZero() {
				finished++
			}
		}
		if o.OnProgress != nil {
			o.OnProgress(len(submitted), finished, len(w.Jobs))
		}
		if len(submitted) == len(w.Jobs) && (finished == len(w.Jobs) || time.Since(last) > o.Patience) {
			return w.result(o.Name, begin, submitted, seen), nil
		}
		if err := wait(ctx, tick, w.next(len(submitted), begin)); err != nil {
			return nil, err
		}
	}
}

// Progress is a [RunOptions].OnProgress that writes a line every 15 s and one when all has finished.
func Progress(out io.Writer, name string) func(submitted, finished, all int) {
	var last time.Time
	return func(submitted, finished, all int) {
		if time.Since(last) >= 15*time.Second || finished == all {
			last = time.Now()
			fmt.Fprintf(out, "%s: %d of %d jobs handed in, %d finished\n", name, submitted, all, finished)
		}
	}
}

// Until waits for what servers need time for: it asks every 100 ms whether it is so. Its errors are is's, and the
// context's or its deadline's, which name what.
func Until(ctx context.Context, patience time.Duration, what string, is func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		if ok, err := is(); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("it did not come about that %s: %w", what, ctx.Err())
		case <-tick.C:
		}
	}
}

// next is when the next job is to be handed in, or never.
func (w *Workload) next(n int, begin time.Time) time.Duration {
	if n == len(w.Jobs) {
		return time.Hour
	}
	return max(0, time.Until(begin.Add(w.Jobs[n].Arrive)))
}

// wait waits for the next look or the next job.
func wait(ctx context.Context, tick *time.Ticker, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-tick.C:
	case <-timer.C:
	}
	return nil
}

// result puts together what was seen.
func (w *Workload) result(name string, begin time.Time, submitted []time.Time, seen map[string]Outcome) *Result {
	r := &Result{Name: name, Jobs: make([]sim.JobRecord, len(w.Jobs))}
	var start, stop time.Duration
	n := 0
	for i := range w.Jobs {
		j, at := &w.Jobs[i], submitted[i].Sub(begin)
		k := &r.Jobs[i]
		*k = sim.JobRecord{ID: j.ID, Class: sim.BestEffort, Tasks: j.Tasks, Submit: at, FirstStart: -1, Start: -1, Finish: -1}
		if j.Deadline > 0 {
			k.Class, k.Deadline = sim.SLO, at+j.Deadline
		}
		o := seen[j.ID]
		if k.Preemptions = o.Stops; !o.Started.IsZero() {
			k.Start = o.Started.Sub(begin)
		}
		if o.Finished.IsZero() {
			continue
		}
		k.Finish = o.Finished.Sub(begin)
		if !o.Placed.IsZero() && !o.Started.IsZero() {
			n++
			start += o.Started.Sub(o.Placed)
			stop += o.Finished.Sub(o.Started) - j.Work.Runtime()
		}
	}
	if n > 0 {
		r.Delays = Delays{Start: max(0, start/time.Duration(n)), Stop: max(0, stop/time.Duration(n))}
	}
	return r
}

// Predict simulates the run under a policy that decides every cycle, or at every event if that is 0, with the history
// before it, on a cluster with such delays.
func (w *Workload) Predict(ctx context.Context, p sched.Policy, cycle time.Duration, d Delays) (*Result, error) {
	name := "simulated: " + p.Name()
	h, err := w.History()
	if err != nil {
		return nil, err
	}
	jobs := make([]sim.Job, len(w.Jobs))
	for i := range w.Jobs {
		jobs[i] = w.Jobs[i]
		jobs[i].Work = sim.Runtime(jobs[i].Work.Runtime() + d.Start + d.Stop)
	}
	done, err := sim.Run(ctx,
		sim.Config{Nodes: sim.Nodes(w.Options.Nodes, 1, 1), Jobs: jobs, Policy: p, Predictor: h, Cycle: cycle, Span: w.Span})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &Result{Name: name, Jobs: done.Jobs, Delays: d}, nil
}
