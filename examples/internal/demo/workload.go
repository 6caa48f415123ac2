package demo

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/service/settings"
	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/adapters/sim/trace"
	"github.com/hedgesched/hedge/adapters/sim/trace/sample"
	"github.com/hedgesched/hedge/adapters/sim/workload"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/utility"
)

// ErrOptions is the sentinel of options out of range.
var ErrOptions = errors.New("invalid option")

// Options say what workload is made of the log. Times are the log's, before they are compressed.
type Options struct {
	// Nodes are how many there are; each runs one task at a time.
	Nodes int
	// Load is the offered machine time over what there is, and Hours over how long jobs are handed in.
	Load, Hours float64
	// Compress is by what all times are divided, at least 1.
	Compress float64
	// Shortest and Longest are the runtimes of the jobs that are taken.
	Shortest, Longest time.Duration
	// Seed chooses the stretch of the log, and which jobs have deadlines.
	Seed int64
	// Log is where the jobs come from; nil is the built-in log of Google's 2011 trace.
	Log []trace.Job
}

// Default is a run of some three minutes: 40 min of submissions at the load of 3Sigma's section 5 on 32 nodes, 20 times
// as fast as in the log, of jobs of 3 to 30 min. Half of them have deadlines, with the slacks of that section.
func Default() Options {
	return Options{Nodes: 32, Load: 1.4, Hours: 2.0 / 3, Compress: 20, Shortest: 3 * time.Minute,
		Longest: 30 * time.Minute, Seed: 1}
}

// Workload is a run's jobs, in compressed time. It is not changed once it is made.
type Workload struct {
	Options Options
	// Jobs are in order of arrival. Their ids are an application's name and a number, as app-bc-17, of lower-case letters,
	// digits and hyphens; the attributes name (app-bc), user and tasks are what a cluster must be told of them, beside
	// deadline and Priority, which is 1 of jobs with a deadline and 0 of others. Each is worth 100 by its deadline and 1
	// after it, or else 5 that fall to 1 within a day.
	Jobs []sim.Job
	// Span is how long jobs are handed in.
	Span time.Duration
	// Window and Slot are what policies that plan ahead should plan with.
	Window, Slot time.Duration

	train []workload.Sample
}

// New makes the workload. The same options give the same one. Errors wrap [ErrOptions] or are those of
// [workload.Build].
func New(o Options) (*Workload, error) {
	switch {
	case !(o.Compress >= 1):
		return nil, fmt.Errorf("%w: Compress of %v, want at least 1", ErrOptions, o.Compress)
	case o.Shortest < 0:
		return nil, fmt.Errorf("%w: Shortest of %v, want at least 0", ErrOptions, o.Shortest)
	case o.Longest <= o.Shortest:
		return nil, fmt.Errorf("%w: Longest of %v, want more than Shortest, %v", ErrOptions, o.Longest, o.Shortest)
	}
	log := o.Log
	if log == nil {
		var err error
		if log, err = builtIn(); err != nil {
			return nil, err
		}
	}
	log = slices.DeleteFunc(slices.Clone(log), func(j trace.Job) bool {
		return j.Runtime < o.Shortest || j.Runtime > o.Longest
	})
	spec := workload.Default()
	spec.Nodes, spec.Load, spec.Hours, spec.Seed = o.Nodes, o.Load, o.Hours, o.Seed
	spec.Racks, spec.PreferShare, spec.PreferSlowdown = 1, 0, 1 // the nodes are alike
	built, err := workload.Build(log, spec)
	if err != nil {
		return nil, err
	}
	w := &Workload{Options: o, Span: o.compress(built.Span)}
	w.Window, w.Slot = built.PlanAhead()
	w.Window, w.Slot = o.compress(w.Window), o.compress(w.Slot)
	names := apps{}
	for i := range built.Train {
		s := built.Train[i]
		s.Job.Attributes = names.attributes(s.Job.Attributes)
		s.Runtime /= o.Compress
		w.train = append(w.train, s)
	}
	for i := range built.Jobs {
		j, err := o.job(&built.Jobs[i], names, i)
		if err != nil {
			return nil, err
		}
		w.Jobs = append(w.Jobs, j)
	}
	return w, nil
}

func builtIn() ([]trace.Job, error) {
	r, err := sample.Open()
	if err != nil {
		return nil, fmt.Errorf("built-in log: %w", err)
	}
	log, err := trace.Collect(r)
	if err != nil {
		return nil, fmt.Errorf("built-in log: %w", err)
	}
	return log.Jobs, nil
}

// compress divides a time, to the millisecond, which clusters' clocks and configurations can express.
func (o *Options) compress(d time.Duration) time.Duration {
	return max(time.Millisecond, time.Duration(float64(d)/o.Compress).Round(time.Millisecond))
}

// job is a job of the log's as it is handed in.
func (o *Options) job(from *sim.Job, names apps, n int) (sim.Job, error) {
	a := names.attributes(from.Attributes)
	j := sim.Job{
		Job:    sched.Job{ID: a["name"] + "-" + strconv.Itoa(n), Tasks: from.Tasks, Priority: from.Priority, Attributes: a},
		Arrive: o.compress(from.Arrive), Work: sim.Runtime(o.compress(from.Work.Runtime()))}
	a["tasks"] = strconv.Itoa(j.Tasks)
	points := []utility.Point{{T: 0, V: 5}, {T: (24 * time.Hour).Seconds(), V: 1}}
	if from.Deadline > 0 {
		j.Deadline = o.compress(from.Deadline)
		points = []utility.Point{{T: j.Deadline.Seconds(), V: 100}, {T: j.Deadline.Seconds(), V: 1}}
	}
	u, err := utility.Piecewise(points)
	if err != nil {
		return sim.Job{}, fmt.Errorf("job %s: %w", j.ID, err)
	}
	j.Utility = u
	return j, nil
}

// apps are names of letters for the log's own, in order of their coming: clusters take digits at a name's end for a
// number.
type apps map[string]string

// attributes are those that every cluster can be told.
func (a apps) attributes(from map[string]string) map[string]string {
	own := from["logical_name"]
	if own == "" {
		own = from["name"]
	}
	name := a[own]
	if name == "" {
		name = "app-" + letters(len(a))
		a[own] = name
	}
	out := map[string]string{"name": name, "tasks": from["tasks"]}
	if user := from["user"]; user != "" {
		out["user"] = user
	}
	return out
}

// letters is a number as a, b, ..., z, ba, bb, ...
func letters(n int) string {
	out := string(rune('a' + n%26))
	if n >= 26 {
		return letters(n/26) + out
	}
	return out
}

// History is a predictor that has learnt from the log before the run.
func (w *Workload) History() (*predict.History, error) {
	h, err := predict.NewHistory(nil)
	if err != nil {
		return nil, err
	}
	for i := range w.train {
		s := &w.train[i]
		if err := h.Observe(predict.Observation{Job: s.Job, Runtime: s.Runtime}); err != nil {
			return nil, fmt.Errorf("history of job %s: %w", s.Job.ID, err)
		}
	}
	return h, nil
}

// SaveHistory writes the history to a file, for a scheduler to begin with.
func (w *Workload) SaveHistory(file string) error {
	h, err := w.History()
	if err != nil {
		return err
	}
	return adapters.HistoryFile(file).Save(h, time.Now())
}

// Policy makes the policy of that name as a scheduler of a real cluster does, with the workload's window. Solves are
// limited by work alone, so that a simulation does not depend on the machine. Errors are those of
// [settings.Common.NewPolicy].
func (w *Workload) Policy(name string) (sched.Policy, error) {
	c := settings.Common{Policy: name, Window: w.Window, Slot: w.Slot}
	return c.NewPolicy()
}

// String says in one line what is run.
func (w *Workload) String() string {
	deadlines, tasks := 0, 0
	var work time.Duration
	for i := range w.Jobs {
		j := &w.Jobs[i]
		if tasks += j.Tasks; j.Deadline > 0 {
			deadlines++
		}
		work += time.Duration(j.Tasks) * j.Work.Runtime()
	}
	return fmt.Sprintf(
		"%d jobs (%d with a deadline, %d tasks) in %v on %d nodes, %.1f h of machine time, %g times as fast as in the log",
		len(w.Jobs), deadlines, tasks, w.Span, w.Options.Nodes, work.Hours(), w.Options.Compress)
}
