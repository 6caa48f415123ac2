// Package forward simulates a snapshot onwards: who starts and ends when, if no further job comes and the policy goes
// on to decide in every cycle. Each run draws a runtime of each job from its forecast, that of a running job given
// how long it has run. Several runs tell how sure it is.
//
// It reuses package sim, and has the policy see the jobs, forecasts and times of the snapshot. It knows nothing of
// what is not in a snapshot: jobs to come, nodes that will fail, and jobs that were told to stop and hold resources
// still. Those it takes for stopped. Of what tasks use it knows nothing either. It draws no randomness but from the
// seed.
package forward

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/place"
)

// Options of [Run]. The zero value is ten runs until all jobs are done.
type Options struct {
	// Runs is how many times the future is drawn; 0 means 10.
	Runs int
	// Horizon is how far the runs look ahead; 0 means until all is done.
	Horizon time.Duration
	// Arrivals are jobs to come, in any order: each one when its Submitted says, or now if that has passed.
	Arrivals []sched.Pending
	// Runtime is a job's true runtime in seconds, on the nodes where it runs or else at full speed, and whether it is
	// known. Nothing is drawn of what is known. It may be nil.
	Runtime func(job string) (seconds float64, ok bool)
	// Seed makes other draws. With the same seed a job has the same runtimes whatever else is in the snapshot, so that
	// snapshots can be compared.
	Seed uint64
}

// Outcome is what becomes of a job.
type Outcome struct {
	Job string
	// Running tells that it runs in the snapshot. Its Start is then its last one, in the past.
	Running bool
	// Start and End are when it starts, first, and is done. One that is not within the horizon is +Inf.
	Start, End Span
	// Started and Done are the shares of runs in which it starts and is done within the horizon.
	Started, Done float64
	// Meets is the share of runs in which it is done by its deadline; [sched.UnknownProbability] if it has none.
	Meets float64
}

// Span has the quantiles over the runs, in seconds from the snapshot's Now: the least value that so many runs are at
// or below.
type Span struct{ P10, P50, P90 float64 }

// Run simulates a snapshot onwards under a policy, which is made anew for each run. Outcomes are of the running jobs,
// in the order of the snapshot, then of the pending ones. Errors are those of the policy, of [sched.CheckSnapshot]
// and of [sim.Run].
func Run(
	ctx context.Context, s *sched.Snapshot, policy func() (sched.Policy, error), o Options,
) ([]Outcome, error) {
	if err := sched.CheckSnapshot(s); err != nil {
		return nil, err
	}
	if o.Runs <= 0 {
		o.Runs = 10
	}
	w := newWorld(s)
	for i := range o.Arrivals {
		p := &o.Arrivals[i]
		if _, twice := w.at[p.Job.ID]; !twice && p.Job.Validate() == nil {
			w.wait(p)
		}
	}
	futures := make([]future, o.Runs)
	for i := range futures {
		p, err := policy()
		if err != nil {
			return nil, err
		}
		if futures[i], err = w.run(ctx, p, &o, uint64(i)); err != nil {
			return nil, fmt.Errorf("forward: run %d: %w", i, err)
		}
	}
	return w.outcomes(futures), nil
}

// world is what all runs have in common.
type world struct {
	snap  *sched.Snapshot
	nodes []sched.Node
	jobs  []job // running, then pending
	at    map[string]int
}

// job is a job of the snapshot.
type job struct {
	*sched.Job
	prediction predict.Prediction
	run        *sched.Running // nil if it waits
	// off tells that it cannot be simulated: it runs where there is no room for it any more, or no nodes can hold it.
	off bool
	// comes is when a job arrives that is not there yet, from now.
	comes time.Duration
}

// again ends the ids of jobs that stand for running ones once they are preempted and begin anew.
const again = "\x00again"

func newWorld(s *sched.Snapshot) *world {
	w := &world{snap: s, at: make(map[string]int)}
	for i := range s.Nodes.Len() {
		w.nodes = append(w.nodes, *s.Nodes.Node(i))
	}
	room := place.NewPlacer(&sched.Snapshot{Nodes: s.Nodes, Free: s.Nodes.Capacity()})
	for i := range s.Running {
		r := &s.Running[i]
		w.add(job{Job: r.Job, prediction: r.Prediction, run: r, off: !take(s.Nodes, room, r)})
	}
	for i := range s.Pending {
		w.wait(&s.Pending[i])
	}
	for i := range s.Held {
		w.wait(&s.Held[i])
	}
	return w
}

// wait adds a job that waits, or will.
func (w *world) wait(p *sched.Pending) {
	off := w.snap.Nodes.Obstacle(p.Job, p.Job.Required) != nil
	w.add(job{Job: p.Job, prediction: p.Prediction, off: off, comes: max(0, p.Job.Submitted.Sub(w.snap.Now))})
}

func (w *world) add(j job) {
	w.at[j.ID] = len(w.jobs)
	w.jobs = append(w.jobs, j)
}

// take holds the nodes of a running job, if they have room for it and it may run there.
func take(nodes *sched.NodeSet, room *place.Placer, r *sched.Running) bool {
	demand, err := nodes.Demand(r.Job.Demand)
	if err != nil {
		return false
	}
	for _, nt := range r.Nodes {
		n, ok := nodes.Index(nt.Node)
		if !ok || !r.Job.Required.Matches(nodes.Node(n).Labels) || room.Fits(demand, []int32{int32(n)}) < nt.Tasks {
			return false
		}
	}
	if tasks := tasksOf(r); tasks < 1 || tasks > r.Job.Tasks || r.Job.Validate() != nil {
		return false
	}
	room.Take(r.Nodes, demand)
	return true
}

// tasksOf is how many tasks of a running job run.
func tasksOf(r *sched.Running) int {
	tasks := 0
	for _, nt := range r.Nodes {
		tasks += nt.Tasks
	}
	return tasks
}

// future is what became of the jobs in one run, in seconds from now; +Inf is later than the horizon, or never.
type future struct{ start, end []float64 }

// run is one future.
func (w *world) run(ctx context.Context, policy sched.Policy, o *Options, run uint64) (future, error) {
	f := future{make([]float64, len(w.jobs)), make([]float64, len(w.jobs))}
	t := &translator{world: w, policy: policy, horizon: o.Horizon, future: &f, again: map[int]bool{}}
	var jobs []sim.Job
	for i := range w.jobs {
		j := &w.jobs[i]
		f.start[i], f.end[i] = math.Inf(1), math.Inf(1)
		whole, rest := w.work(j, o, run)
		if j.run != nil {
			f.start[i] = j.run.Started.Sub(w.snap.Now).Seconds()
		}
		switch {
		case j.off && j.run != nil:
			f.end[i] = rest.Seconds()
		case j.off:
		case j.run != nil:
			stretch := 1.0
			if w.snap.Nodes.Slowed(j.Job, j.run.Nodes) {
				stretch = j.SlowdownOrOne()
			}
			there := simJob(j.Job, j.ID, duration(rest.Seconds()/stretch), nil)
			there.Tasks = tasksOf(j.run) // some may have been lost
			jobs = append(jobs, there)
			if !j.Checkpoint && len(j.ID)+len(again) <= sched.MaxName {
				jobs = append(jobs, simJob(j.Job, j.ID+again, whole, nil))
			}
		default:
			next := simJob(j.Job, j.ID, whole, w.parents(j))
			next.Arrive = j.comes
			jobs = append(jobs, next)
		}
	}
	zero, err := dist.NewPoint(0)
	if err != nil {
		return f, err
	}
	blind, err := predict.NewFixed(zero)
	if err != nil || len(jobs) == 0 {
		return f, err
	}
	result, err := sim.Run(ctx, sim.Config{Nodes: w.nodes, Jobs: jobs, Policy: t, Predictor: blind, Cycle: w.snap.Cycle,
		Stopwatch: func() time.Duration { return 0 }})
	switch {
	case errors.Is(err, errHorizon):
		return f, nil
	case err != nil:
		return f, err
	}
	for i := range result.Jobs {
		if r := &result.Jobs[i]; r.Finish >= 0 {
			t.end(r.ID, r.Finish.Seconds())
		}
	}
	return f, nil
}

// parents are the jobs that one waits for, of those that are simulated. A running one that is preempted and begins anew
// is another job to the simulator; those that wait for it then never start.
func (w *world) parents(j *job) []string {
	return slices.DeleteFunc(slices.Clone(j.After), func(id string) bool {
		i, known := w.at[id]
		return !known || w.jobs[i].off || w.jobs[i].comes > j.comes
	})
}

// simJob is a job as the simulator has it: all come at once, and none has a deadline, which the policy sees of its own.
func simJob(j *sched.Job, id string, work time.Duration, after []string) sim.Job {
	plain := *j
	plain.ID, plain.Utility, plain.Deadline, plain.Of, plain.After = id, nil, 0, "", after
	return sim.Job{Job: plain, Work: sim.Runtime(work)}
}

// maxWork is the longest work that is simulated: 10 years.
const maxWork = 10 * 365 * 24 * time.Hour

func duration(seconds float64) time.Duration {
	return time.Duration(max(0, min(seconds, maxWork.Seconds())) * float64(time.Second))
}

// work is how long a job runs at full speed and, of a running one, how long it goes on where it is.
func (w *world) work(j *job, o *Options, run uint64) (whole, rest time.Duration) {
	if o.Runtime == nil {
		return w.draw(j, o.Seed, run)
	}
	seconds, known := o.Runtime(j.ID)
	switch {
	case !known:
		return w.draw(j, o.Seed, run)
	case j.run == nil:
		return duration(seconds), 0
	}
	rest = duration(seconds - w.snap.Now.Sub(j.run.Started).Seconds())
	if j.run.Slowed {
		seconds /= j.SlowdownOrOne()
	}
	return duration(seconds), rest
}

// draw draws how long a job runs at full speed and, of a running one, how long it goes on where it is.
func (w *world) draw(j *job, seed, run uint64) (whole, rest time.Duration) {
	h := fnv.New64a()
	_, _ = h.Write([]byte(j.ID)) // it does not fail
	rng := rand.New(rand.NewPCG(seed+run, h.Sum64()))
	d := j.prediction.Dist
	if d == nil {
		point, err := dist.NewPoint(max(0, j.prediction.Point))
		if err != nil {
			return 0, 0
		}
		d = point
	}
	whole = duration(dist.Sample(d, rng))
	if j.run == nil {
		return whole, 0
	}
	if j.run.Slowed && j.Slowdown > 1 {
		if slow, err := dist.Scale(d, j.Slowdown); err == nil {
			d = slow
		}
	}
	elapsed := max(0, w.snap.Now.Sub(j.run.Started).Seconds())
	given, err := dist.Condition(d, elapsed)
	if err != nil {
		return whole, 0
	}
	return whole, duration(dist.Sample(given, rng) - elapsed)
}

// outcomes sums up the futures.
func (w *world) outcomes(futures []future) []Outcome {
	out := make([]Outcome, len(w.jobs))
	start, end := make([]float64, len(futures)), make([]float64, len(futures))
	for i := range w.jobs {
		j := &w.jobs[i]
		due := j.Submitted.Add(j.Deadline).Sub(w.snap.Now).Seconds()
		started, done, meets := 0, 0, 0
		for k := range futures {
			start[k], end[k] = futures[k].start[i], futures[k].end[i]
			started += count(!math.IsInf(start[k], 1))
			done += count(!math.IsInf(end[k], 1))
			meets += count(end[k] <= due)
		}
		n := float64(len(futures))
		out[i] = Outcome{Job: j.ID, Running: j.run != nil, Start: span(start), End: span(end),
			Started: float64(started) / n, Done: float64(done) / n, Meets: sched.UnknownProbability}
		if j.Deadline > 0 {
			out[i].Meets = float64(meets) / n
		}
	}
	return out
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

// span sorts the values and takes their quantiles.
func span(v []float64) Span {
	slices.Sort(v)
	at := func(p float64) float64 { return v[max(0, int(math.Ceil(p*float64(len(v))))-1)] }
	return Span{at(0.1), at(0.5), at(0.9)}
}

// arrival is the order of pending jobs.
func arrival(a, b sched.Pending) int {
	return cmp.Or(a.Job.Submitted.Compare(b.Job.Submitted), strings.Compare(a.Job.ID, b.Job.ID))
}
