// Package forward simulates a snapshot onwards: when each job starts and ends if the policy goes on deciding in every
// cycle and no job comes but those that the caller adds. Each run draws a runtime for each job from its forecast; that
// of a running job is conditioned on how long it has run. Several runs show the spread.
//
// It reuses package sim. The policy sees the jobs, forecasts and times of the snapshot. The simulation does not know
// what a snapshot does not have: further jobs, failures of nodes, and jobs that were told to stop but still hold
// resources, which it takes for stopped. It does not know how much of their demand tasks really use either. All
// randomness comes from the seed.
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

// Options configure [Run]. The zero value means ten runs until all jobs are done.
type Options struct {
	// Runs is the number of futures drawn; 0 or less means 10.
	Runs int
	// Horizon is how far the runs look ahead; 0 means until all jobs are done.
	Horizon time.Duration
	// Arrivals are jobs to come, in any order. Each arrives at its Submitted, or now if that has passed. An invalid job,
	// and one whose ID is in use, is skipped.
	Arrivals []sched.Pending
	// Runtime returns a job's true runtime in seconds: for a running job on its present nodes, for others at full speed. A
	// known runtime is not drawn. Runtime may be nil.
	Runtime func(job string) (seconds float64, ok bool)
	// Seed is the seed of the draws: run i uses Seed+i, so the draws of two seeds are independent only if the seeds differ
	// by at least Runs. With one seed, a job has the same runtimes whatever else is in the snapshot, so that snapshots can
	// be compared.
	Seed uint64
}

// Outcome is what becomes of a job.
type Outcome struct {
	Job string
	// Running reports that the job runs in the snapshot. Its Start is then in the past.
	Running bool
	// Start is the job's first start, End its end; +Inf if not within the horizon.
	Start, End Span
	// Started and Done are the shares of runs, 0 to 1, in which the job starts and ends within the horizon.
	Started, Done float64
	// Meets is the share of runs in which the job ends by its deadline; [sched.UnknownProbability] if it has none.
	Meets float64
}

// Span has quantiles over the runs, in seconds from the snapshot's Now. P10 is the least value that at least 10 % of
// the runs do not exceed; P50 and P90 likewise.
type Span struct{ P10, P50, P90 float64 }

// Run simulates a snapshot onwards. It makes a new policy for each run. The outcomes are of the running jobs, the
// pending jobs, the held jobs, each in the snapshot's order, and then of the arrivals. Errors are those of the policy,
// of [sched.CheckSnapshot] and of [sim.Run].
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

// world is what all runs share.
type world struct {
	snap  *sched.Snapshot
	nodes []sched.Node
	jobs  []job // running, pending, held, arrivals
	at    map[string]int
}

// job is a job of the snapshot, or an arrival.
type job struct {
	*sched.Job
	prediction predict.Prediction
	run        *sched.Running // nil if it waits
	// off marks a job that cannot be simulated: it runs where there is no room for it any more, or no nodes can hold it.
	off bool
	// comes is the time from now at which the job arrives; 0 if it is there.
	comes time.Duration
}

// again is appended to the IDs of running jobs. The resulting jobs stand for them when they are preempted and begin
// anew.
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

// wait adds a job that waits now or later.
func (w *world) wait(p *sched.Pending) {
	off := w.snap.Nodes.Obstacle(p.Job, p.Job.Required) != nil
	w.add(job{Job: p.Job, prediction: p.Prediction, off: off, comes: max(0, p.Job.Submitted.Sub(w.snap.Now))})
}

func (w *world) add(j job) {
	w.at[j.ID] = len(w.jobs)
	w.jobs = append(w.jobs, j)
}

// take holds the nodes of a running job. It reports whether they have room for it and it may run there.
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

// tasksOf is the number of tasks of a running job that run.
func tasksOf(r *sched.Running) int {
	tasks := 0
	for _, nt := range r.Nodes {
		tasks += nt.Tasks
	}
	return tasks
}

// future has each job's start and end in one run, in seconds from now; +Inf is later than the horizon, or never.
type future struct{ start, end []float64 }

// run simulates one future.
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
			stretch := sched.Stretch(w.snap.Nodes.Speed(j.Job, j.run.Nodes))
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

// parents are the simulated jobs that a job waits for. A running job that is preempted and begins anew is another job
// to the simulator, and the jobs that wait for the first one then never start.
func (w *world) parents(j *job) []string {
	return slices.DeleteFunc(slices.Clone(j.After), func(id string) bool {
		i, known := w.at[id]
		return !known || w.jobs[i].off || w.jobs[i].comes > j.comes
	})
}

// simJob is a job for the simulator. It has no deadline: the policy sees the job's own.
func simJob(j *sched.Job, id string, work time.Duration, after []string) sim.Job {
	plain := *j
	plain.ID, plain.Utility, plain.Deadline, plain.Of, plain.After = id, nil, 0, "", after
	return sim.Job{Job: plain, Work: sim.Runtime(work)}
}

// maxWork limits a simulated runtime to 10 years.
const maxWork = 10 * 365 * 24 * time.Hour

func duration(seconds float64) time.Duration {
	return time.Duration(max(0, min(seconds, maxWork.Seconds())) * float64(time.Second))
}

// work returns the runtime of a job at full speed and, for a running job, the remaining time on its present nodes.
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
	return duration(seconds / sched.Stretch(j.run.Speed)), rest
}

// draw draws what work returns.
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
	if s := sched.Stretch(j.run.Speed); s > 1 {
		if slow, err := dist.Scale(d, s); err == nil {
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

// outcomes summarises the futures.
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

// arrival compares pending jobs in the order of a snapshot.
func arrival(a, b sched.Pending) int {
	return cmp.Or(a.Job.Submitted.Compare(b.Job.Submitted), strings.Compare(a.Job.ID, b.Job.ID))
}
