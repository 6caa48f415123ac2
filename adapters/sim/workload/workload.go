// Package workload turns a cluster log into a simulation's input: the jobs with
// arrivals, deadlines, utilities and preferences, and the history the
// predictor has seen before the first of them (3Sigma, section 5).
//
// [Build] makes four kinds. [Window] takes a stretch of the log, keeps the
// runtimes and stretches or compresses the arrivals until the offered load is
// met, as 3Sigma does with HedgeFund and Mustang. [E2E] fits job classes on the log
// and draws new jobs from them, as 3Sigma does with Google. [Replay] changes nothing. [DAG] is Window for jobs of
// stages: it takes them whole, and their deadlines are those of whole jobs. Of a log without stages it makes such jobs,
// as SLearn does with Google (section 6): the next 2 to 5 jobs of one user and name are a chain of stages. Of a log
// whose jobs are all submitted at once, as where the log knows no submissions, it draws jobs with replacement and has
// them arrive at random, half of them before the simulation, as history.
//
// The same jobs and Spec give the same Workload. Seeds vary which jobs get
// deadlines, their slacks and preferred racks, the window's position where
// Spec.StartHour does not fix it, and in E2E the jobs themselves. What decides the outcome
// (class, actual runtime, SLO or best effort) never becomes an attribute.
package workload

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/adapters/sim/trace"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/utility"
)

// Why jobs of the log are not in the workload: the keys of Workload.Skipped.
const (
	SkippedNoRuntime = "no runtime"
	SkippedFailed    = "failed"
	SkippedKilled    = "killed"
	SkippedTooWide   = "wider than the cluster"
	SkippedTooLong   = "longer than the span"
	SkippedTooBig    = "larger than one job's share of the work"
	SkippedTrimmed   = "left out to meet the load"
	SkippedParent    = "waits for a job that is left out"
)

// Workload is what a simulation runs. It is not modified after Build.
type Workload struct {
	// Spec is what it was built from.
	Spec Spec
	// Jobs are in order of arrival, ties by ID. Tasks counts nodes: each task holds
	// a whole one. Each stage of a job is one.
	Jobs []sim.Job
	// From is, in a DAG workload, what each of Jobs is made of, with its tasks in the log's unit. It is nil in others.
	From []trace.Job
	// Train is the history, in order of completion, ties by ID.
	Train []Sample
	// Span is the length of time over which Load is offered.
	Span time.Duration
	// TraceSpan is the length of the stretch of the log that was used;
	// Span/TraceSpan is how much arrivals were stretched.
	TraceSpan time.Duration
	// Skipped counts, by reason, the considered jobs of the log that are not in Jobs.
	Skipped map[string]int
	// Load is the offered machine-time over Nodes·Span.
	Load float64
	// MachineHours is the offered machine-time.
	MachineHours float64
	// Tasks is the sum of the jobs' tasks in the log's unit, before TasksPerNode.
	Tasks int
	// Whole is the number of jobs, SLOJobs of those with a deadline. In a DAG workload the stages of a job count once.
	Whole   int
	SLOJobs int
}

// Sample is a completion the predictor has seen before the simulation.
type Sample struct {
	// Job's Submitted is on the simulation's clock, which starts at [sim.Epoch]: hours of
	// the day repeat as in the log, all of them shifted alike.
	Job predict.Job
	// Runtime in seconds.
	Runtime float64
	// Used is what else it has shown, of a workload of shared machines.
	Used []predict.Used
	// Done is when it completed, since the start of the simulation: at most 0.
	Done time.Duration
}

// Build makes the workload that spec describes from the jobs of a log, in any
// order. It neither keeps nor changes jobs, except that attribute maps of
// jobs that have a "tasks" attribute are shared. Errors are [*SpecError], naming field and value, [*JobError], or
// wrap [ErrEmpty] or [ErrTooLittleWork].
func Build(jobs []trace.Job, spec Spec) (*Workload, error) {
	spec = spec.withDefaults()
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	sorted, err := inOrder(jobs)
	if err != nil {
		return nil, err
	}
	train, err := inOrder(spec.Train)
	if err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	if staged := slices.IndexFunc(sorted, func(j *trace.Job) bool { return len(j.After) > 0 }); staged >= 0 &&
		(spec.Kind == Window || spec.Kind == E2E) {
		return nil, &SpecError{Field: "Kind", Value: spec.Kind,
			Want: fmt.Sprintf("dag or replay, as job %q waits for another", sorted[staged].ID)}
	}
	b := builder{
		spec:    spec,
		jobs:    sorted,
		past:    sorted,
		train:   train,
		span:    hours(spec.Hours),
		rng:     rand.New(rand.NewPCG(uint64(spec.Seed), 0x3519a)),
		skipped: map[string]int{},
	}
	switch spec.Kind {
	case E2E:
		return b.e2e()
	case Replay:
		return b.replay()
	case DAG:
		return b.dag()
	default:
		return b.window()
	}
}

// TrainPredictor shows p the history in order. It stops at the first refusal.
func (w *Workload) TrainPredictor(p predict.Predictor) error {
	for i := range w.Train {
		s := &w.Train[i]
		if err := p.Observe(predict.Observation{Job: s.Job, Runtime: s.Runtime, Used: s.Used}); err != nil {
			return fmt.Errorf("workload: train on job %q: %w", s.Job.ID, err)
		}
	}
	return nil
}

// inOrder checks jobs and returns them by submission, ties by ID. It copies none: a log may be large.
func inOrder(jobs []trace.Job) ([]*trace.Job, error) {
	seen := make(map[string]struct{}, len(jobs))
	for i := range jobs {
		j := &jobs[i]
		for _, parent := range j.After {
			if _, known := seen[parent]; !known {
				return nil, &JobError{Job: j.ID, Line: j.Line, Field: "after",
					Problem: fmt.Sprintf("names %q, which is not the id of a job before it", parent)}
			}
		}
		if _, dup := seen[j.ID]; dup {
			return nil, &JobError{Job: j.ID, Line: j.Line, Field: "id", Problem: "is used twice"}
		}
		seen[j.ID] = struct{}{}
		switch {
		case j.Tasks < 1:
			return nil, &JobError{j.ID, j.Line, "tasks", fmt.Sprintf("is %d, must be at least 1", j.Tasks)}
		case j.Submit < 0:
			return nil, &JobError{j.ID, j.Line, "submit", fmt.Sprintf("is %v, before the log's origin", j.Submit)}
		case j.Deadline < 0:
			return nil, &JobError{j.ID, j.Line, "deadline", fmt.Sprintf("is %v, before submission", j.Deadline)}
		}
	}
	out := make([]*trace.Job, len(jobs))
	for i := range jobs {
		out[i] = &jobs[i]
	}
	slices.SortStableFunc(out, func(a, b *trace.Job) int {
		return cmp.Or(cmp.Compare(a.Submit, b.Submit), cmp.Compare(a.ID, b.ID))
	})
	return out, nil
}

// draft is a job on its way into the workload.
type draft struct {
	job     *trace.Job
	nodes   int
	runtime time.Duration
	arrive  time.Duration
	slo     bool
	whole   *whole // of a job of stages; runtime is then that of its longest path
}

// work is machine-time in node-seconds.
func (d *draft) work() float64 {
	if d.whole != nil {
		return d.whole.work
	}
	return float64(float64(d.nodes) * d.runtime.Seconds())
}

// tasks is their number in the log's unit.
func (d *draft) tasks() int {
	if d.whole == nil {
		return d.job.Tasks
	}
	sum := 0
	for i := range d.whole.stages {
		sum += d.whole.stages[i].Tasks
	}
	return sum
}

// requested is the time that the log's user asked for, scaled as the runtime was; 0 if unknown.
func (d *draft) requested() time.Duration {
	if d.runtime == d.job.Runtime || d.job.Runtime <= 0 {
		return d.job.Requested
	}
	return time.Duration(float64(d.job.Requested) * (float64(d.runtime) / float64(d.job.Runtime)))
}

type builder struct {
	spec    Spec
	jobs    []*trace.Job      // by submission; they are the caller's
	past    []*trace.Job      // what history is made of
	wholes  map[string]*whole // in a DAG workload, what each of jobs stands for
	train   []*trace.Job      // Spec.Train, by submission
	span    time.Duration
	rng     *rand.Rand
	skipped map[string]int
	decay   utility.Utility // of all best-effort jobs; nil until it is needed
	most    float64         // that a job of the log is worth, by its steps; 0 until it is needed
}

// target is the machine-time to offer, in node-seconds.
func (b *builder) target() float64 {
	return float64(b.spec.Load * float64(b.spec.Nodes) * b.span.Seconds())
}

// nodesOf is the gang's size in nodes.
func (b *builder) nodesOf(tasks int) int {
	return (tasks-1)/b.spec.TasksPerNode + 1
}

// refuse says why j cannot be in a Window or E2E workload; empty if it can.
func (b *builder) refuse(j *trace.Job) string {
	if w := b.wholes[j.ID]; w != nil {
		return b.refuseWhole(w)
	}
	nodes := b.nodesOf(j.Tasks)
	switch {
	case j.Outcome == trace.Failed:
		return SkippedFailed
	case j.Outcome == trace.Killed:
		return SkippedKilled
	case j.Runtime <= 0:
		return SkippedNoRuntime
	case nodes > b.spec.Nodes:
		return SkippedTooWide
	case j.Runtime > b.span:
		return SkippedTooLong
	case float64(nodes)*j.Runtime.Seconds() > b.spec.MaxShare*b.target():
		return SkippedTooBig
	}
	return ""
}

// finish turns drafts into the workload's jobs and sums them up.
func (b *builder) finish(drafts []draft, traceSpan time.Duration) (*Workload, error) {
	slices.SortStableFunc(drafts, func(x, y draft) int {
		return cmp.Or(cmp.Compare(x.arrive, y.arrive), cmp.Compare(x.job.ID, y.job.ID))
	})
	w := &Workload{
		Spec: b.spec, Span: b.span, TraceSpan: traceSpan, Skipped: b.skipped,
		Jobs: make([]sim.Job, 0, len(drafts)),
	}
	var work float64
	for i := range drafts {
		d := &drafts[i]
		var err error
		if w.Jobs, err = b.simJobs(w.Jobs, d); err != nil {
			return nil, err
		}
		if d.whole != nil {
			w.From = append(w.From, d.whole.stages...)
		}
		w.Whole++
		w.Tasks += d.tasks()
		work += d.work()
		if d.slo {
			w.SLOJobs++
		}
	}
	w.MachineHours = work / 3600
	if b.span > 0 {
		w.Load = work / (float64(b.spec.Nodes) * b.span.Seconds())
	}
	return w, nil
}

// attributes adds "tasks" where the log does not have it.
func attributes(j *trace.Job) map[string]string {
	if _, ok := j.Attributes["tasks"]; ok {
		return j.Attributes
	}
	out := make(map[string]string, len(j.Attributes)+1)
	maps.Copy(out, j.Attributes)
	out["tasks"] = strconv.Itoa(j.Tasks)
	return out
}

func hours(h float64) time.Duration { return time.Duration(h * float64(time.Hour)) }
