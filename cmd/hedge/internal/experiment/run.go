package experiment

import (
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/adapters/sim/trace"
	"github.com/hedgesched/hedge/adapters/sim/workload"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/record"
	"github.com/hedgesched/hedge/sched/slearn"
	"github.com/hedgesched/hedge/sched/systems"
	"github.com/hedgesched/hedge/sched/threesigma"
	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/engines"
)

// DefaultWork is the default of Spec.Work. Plans hardly gain from more at 256 nodes, and a
// comparison stays a matter of seconds.
const DefaultWork = threesigma.DefaultWork

// workPerSecond is how many work units an engine uses in a second, about.
const workPerSecond = 1e6

// workPerCycle is Work, or what the budget share of a cycle is worth if that is less.
func (s *Spec) workPerCycle() int64 {
	if s.Cycle == 0 || s.Work == 0 {
		return s.Work
	}
	return max(1, min(s.Work, int64(s.Budget*s.Cycle.Seconds()*workPerSecond)))
}

// timePerCycle is the budget share of a cycle, for engines that no work limits; 0 for the others.
func (s *Spec) timePerCycle() time.Duration {
	if s.Work > 0 {
		return 0
	}
	return max(1, time.Duration(s.Budget*float64(cmp.Or(s.Cycle, threesigma.UnknownCycle))))
}

// Experiment is a prepared comparison.
type Experiment struct {
	spec Spec
	log  *trace.Log // without its jobs, which are in the workloads
	// demands are the names of the resources that the log's jobs ask for.
	demands []string
	// unmatched are the labels of the log's speeds that no node has.
	unmatched []string
	// history is the log that --train names, or nil.
	history *trace.Log
	seeds   []*trained
	known   *engines.Set
	systems []systems.System // as Spec.Policies names them
	shown   *part            // the first seed's job whose stages the report draws, or nil
}

// Prepare builds the workload of every seed and refuses what cannot be run.
func Prepare(log *trace.Log, spec *Spec, known *engines.Set, set *systems.Set) (*Experiment, error) {
	defer saveMemory(len(log.Jobs))()
	kept := *log
	kept.Jobs = nil
	e := &Experiment{spec: *spec, log: &kept, demands: demands(log), unmatched: spec.unmatched(log), known: known}
	if err := e.find(set); err != nil {
		return nil, err
	}
	if err := e.tryEngine(); err != nil {
		return nil, fmt.Errorf("--engine: %w", err)
	}
	template, history, err := spec.workloadSpec()
	if err != nil {
		return nil, err
	}
	e.history = history
	built := make([]*workload.Workload, len(spec.Seeds))
	err = parallel(len(spec.Seeds), func(i int) error {
		one := template
		one.Seed = spec.Seeds[i]
		w, err := workload.Build(log.Jobs, one)
		if err != nil {
			return spec.inFlags(log, err)
		}
		built[i] = w
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, w := range built {
		e.seeds = append(e.seeds, newTrained(w))
	}
	if e.shown, err = spec.show(built[0]); err != nil {
		return nil, err
	}
	window, slot := e.planAhead()
	if err := checkWindow(window, slot); err != nil {
		return nil, err
	}
	for i := range e.systems {
		if e.systems[i].Policy == nil {
			continue
		}
		_, done, err := e.policy(&e.systems[i], 0, window, slot)
		if err != nil {
			return nil, err
		}
		done()
	}
	return e, nil
}

// find looks up the policies.
func (e *Experiment) find(set *systems.Set) error {
	for _, name := range e.spec.Policies {
		system, err := set.Find(name)
		if err != nil {
			return err
		}
		if _, staged := system.Agents.(slearn.Staged); system.Policy == nil && !staged {
			return fmt.Errorf("%s has no policy: it places tasks one by one", name)
		}
		e.systems = append(e.systems, system)
	}
	return nil
}

// workloadSpec turns flags into a workload's specification, and returns the log that --train names, if it names one.
func (s *Spec) workloadSpec() (workload.Spec, *trace.Log, error) {
	w := workload.Default()
	w.Kind, w.Nodes, w.Racks, w.TasksPerNode = workload.Kind(s.Workload), s.Nodes, s.Racks, s.TasksPerNode
	w.Load, w.Hours, w.StartHour = s.Load, s.Hours, s.StartHour
	w.SLOShare, w.PreferShare, w.PreferSlowdown, w.JobsPerHour = s.SLOShare, s.PreferShare, s.PreferSlowdown, s.JobsPerHour
	w.MaxTrainSamples = s.MaxSamples
	if len(s.Slack) > 0 {
		w.Slack = nil
		for _, share := range s.Slack {
			w.Slack = append(w.Slack, 100*share)
		}
	}
	if s.Train == "" {
		return w, nil, nil
	}
	if share, ok := s.trainShare(); ok {
		if !(share >= 0 && share <= 1) {
			return w, nil, fmt.Errorf("--train: found %v, expected a share from 0 to 1 or a file", share)
		}
		w.TrainShare, w.NoTrain = share, share == 0
		return w, nil, nil
	}
	history, err := trace.ReadAll(s.Train, &trace.Options{Strict: s.Strict, MaxBad: s.MaxBad})
	if err != nil {
		return w, nil, fmt.Errorf("--train: %w", err)
	}
	w.Train = history.Jobs
	return w, history, nil
}

// planAhead is the window and slot asked for, the missing ones from the first seed's runtimes, so
// that every run plans alike.
func (e *Experiment) planAhead() (window, slot time.Duration) {
	window, slot = e.seeds[0].work.PlanAhead()
	switch s := &e.spec; {
	case s.Window > 0 && s.Slot > 0:
		return s.Window, s.Slot
	case s.Window > 0:
		slot = max(time.Second, s.Window/(window/slot)) // a product of durations would overflow
		return s.Window, min(slot, s.Window)
	case s.Slot > 0:
		if window/s.Slot > maxSlots {
			window = maxSlots * s.Slot
		}
		return max(window, s.Slot), s.Slot
	case slot < s.Cycle: // starts are decided once a cycle: finer slots would only make the problem larger
		return (window + s.Cycle - 1) / s.Cycle * s.Cycle, s.Cycle
	}
	return window, slot
}

// tryEngine says whether the engine can be had, and sets how solving is limited: by work where that alone fixes the
// plan, else by time.
func (e *Experiment) tryEngine() error {
	can, err := e.known.Caps(e.spec.Engine)
	if err != nil {
		return err
	}
	if !can.Deterministic {
		e.spec.Work = 0
	}
	engine, err := e.known.Open(e.spec.Engine)
	if err != nil {
		return err
	}
	if c, ok := engine.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// policy makes a fresh policy of a system. What it holds on to is let go of by done.
func (e *Experiment) policy(
	of *systems.System, seed int64, window, slot time.Duration,
) (p sched.Policy, done func(), err error) {
	done = func() {}
	var opened solver.Solver
	began := time.Now()
	p, err = of.Policy(&systems.Planning{
		Solver: func() (solver.Solver, error) {
			engine, err := e.known.Open(e.spec.Engine)
			if err != nil {
				return nil, err
			}
			if c, ok := engine.(io.Closer); ok {
				done = func() { _ = c.Close() } // nothing hangs on how a solver's connection ends
			}
			opened = e.captured(engine, of.Name, seed)
			return opened, nil
		},
		Options: solver.Options{Work: e.spec.workPerCycle(), Time: e.spec.timePerCycle()},
		Window:  window, Slot: slot, Reserve: e.spec.Reserve, MachineHours: e.spec.MachineHours,
		Estimate:  e.spec.Estimate,
		Stopwatch: func() time.Duration { return time.Since(began) },
	})
	if err != nil {
		done()
		return nil, nil, err
	}
	if opened != nil && e.spec.timePerCycle() > 0 {
		p = &patient{Policy: p, engine: opened}
	}
	return p, done, nil
}

// stepsPerRun is the resolution of progress.
const stepsPerRun = 100

// Steps is the number of steps that Run reports.
func (e *Experiment) Steps() int { return len(e.seeds) * len(e.spec.Policies) * stepsPerRun }

// Run simulates every (policy, seed) pair on all cores. Runs are in order of policies, then
// seeds. Step is told how many steps are done and what is being done.
func (e *Experiment) Run(ctx context.Context, step func(done int, what string)) (*Document, error) {
	window, slot := e.planAhead()
	if e.spec.LogDir != "" {
		if err := os.MkdirAll(e.spec.LogDir, 0o755); err != nil {
			return nil, err
		}
	}
	defer saveMemory(len(e.seeds[0].work.Jobs))()
	policies, seeds := e.spec.Policies, e.spec.Seeds
	runs := make([]Run, len(policies)*len(seeds))
	meter := newMeter(len(runs), step)
	err := parallel(len(runs), func(i int) error {
		// Seed by seed, so that a seed's training is needed by runs close together.
		policy, seed := i%len(policies), i/len(policies)
		at := policy*len(seeds) + seed
		run, err := e.run(ctx, &e.systems[policy], seed, window, slot, meter.of(at, policies[policy]))
		if err != nil {
			return fmt.Errorf("%s, seed %d: %w", policies[policy], seeds[seed], err)
		}
		runs[at] = *run
		return nil
	})
	if err != nil {
		return nil, err
	}
	built := make([]*workload.Workload, len(e.seeds))
	for i, t := range e.seeds {
		built[i] = t.work
	}
	d := &Document{Schema: 1, Command: "compare", Workload: e.spec.workloadDocument(e, built),
		Planning: e.spec.planningDocument(window, slot), Runs: runs, Summary: Summarise(policies, runs)}
	if len(seeds) == 1 {
		d.CI95Null = noInterval
	}
	return d, nil
}

// Of many jobs, most memory is that of the jobs and stays: collecting garbage sooner costs little and saves much.
const (
	manyJobs     = 100_000
	tightGarbage = 20 // percent of what stays
)

// saveMemory has garbage collected sooner where there are many jobs, until its result is called. GOGC overrides it.
func saveMemory(jobs int) (done func()) {
	if jobs < manyJobs || os.Getenv("GOGC") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(tightGarbage)
	return func() { debug.SetGCPercent(before) }
}

// run simulates one policy on one seed's workload.
func (e *Experiment) run(
	ctx context.Context, of *systems.System, at int, window, slot time.Duration, step func(done, total int),
) (run *Run, err error) {
	s, t := &e.spec, e.seeds[at]
	if scheme, staged := of.Agents.(slearn.Staged); staged {
		return e.runStages(of.Name, scheme, at, step)
	}
	policy, done, err := e.policy(of, s.Seeds[at], window, slot)
	if err != nil {
		return nil, err
	}
	defer done()
	predictor, err := of.Predictor(s.knowledge(t, s.Seeds[at]))
	if err != nil {
		return nil, err
	}
	_, fresh := predictor.(*predict.Posterior) // what is learnt from one stage is about those that wait
	c := sim.Config{
		Nodes: s.nodes(), Jobs: t.work.Jobs, Policy: policy, Predictor: predictor, Fresh: fresh,
		Cycle: s.Cycle, Span: t.work.Span, TasksPerNode: 1, Seed: s.Seeds[at],
		ChargeSolverTime: s.ChargeSolverTime, Progress: step, LogRanges: s.LogRanges, Ranges: !s.Estimates,
	}
	var camera *camera
	if s.Observe && at == 0 {
		camera = newCamera(policy, slot, int(window/slot), s.ReportCycle)
		c.Policy = camera
	}
	if s.SnapshotDir != "" {
		if err := os.MkdirAll(s.SnapshotDir, 0o755); err != nil {
			return nil, err
		}
		recorder := record.NewRecorder(c.Policy, &snapshotFiles{
			prefix: filepath.Join(s.SnapshotDir, fmt.Sprintf("%s-%d", of.Name, s.Seeds[at]))})
		c.Policy = recorder
		defer func() { err = errors.Join(err, recorder.Err()) }()
	}
	var watch *estimateWatch
	if s.Estimates {
		if watch, err = newEstimates(uint64(s.Seeds[at])); err != nil {
			return nil, err
		}
		c.CycleObserver = watch.see
	}
	result, err := simulate(ctx, &c, nil, s.LogDir, fmt.Sprintf("%s-%d", of.Name, s.Seeds[at]))
	if err != nil {
		return nil, err
	}
	run = &Run{Metrics: result.Metrics}
	run.Policy, run.RealisedUtility = of.Name, realised(t.work.Jobs, result.Jobs)
	run.BestEffort = bestEffort(result.Jobs, s.Nodes, t.work.Span)
	if s.Workload == string(workload.DAG) {
		run.All = &All{Jobs: result.Metrics.SLO.Completed + result.Metrics.BE.Completed, JCT: result.Metrics.JCT}
	}
	if watch != nil {
		if watch.err != nil {
			return nil, watch.err
		}
		run.StartEstimates = watch.compare(result.Jobs)
	}
	if s.Observe {
		run.Jobs, run.Series = result.Jobs, result.Series
		if camera != nil {
			run.Picture = camera.best
		}
		if e.shown != nil && at == 0 {
			run.Gantt = gangs(t.work.Jobs[e.shown.from:e.shown.to], result.Jobs)
		}
	}
	return run, nil
}

// realised is the sum of what jobs are worth at their completion. The stages of a job all have its utility: it counts
// once, when the last of them has completed.
func realised(jobs []sim.Job, records []sim.JobRecord) float64 {
	finish := make(map[string]time.Duration, len(records))
	for i := range records {
		r := &records[i]
		id := cmp.Or(r.Of, r.ID)
		if at, known := finish[id]; r.Finish < 0 || known && at < 0 {
			finish[id] = -1
		} else {
			finish[id] = max(at, r.Finish)
		}
	}
	sum := 0.0
	for i := range jobs {
		id := cmp.Or(jobs[i].Of, jobs[i].ID)
		if at, left := finish[id]; left && at >= 0 {
			sum += jobs[i].Worth().At((at - jobs[i].Arrive).Seconds())
		}
		delete(finish, id)
	}
	return sum
}

// simulate runs a simulation, with its decision log as a file of that name in a folder, or without if there is none.
// Heat, unless nil, sees the run.
func simulate(ctx context.Context, c *sim.Config, heat *heater, dir, name string) (result *sim.Result, err error) {
	if dir != "" {
		file, closeLog, err := createLog(filepath.Join(dir, name+".jsonl.gz"))
		if err != nil {
			return nil, err
		}
		c.Log = file
		defer func() { err = errors.Join(err, closeLog()) }()
	}
	if heat != nil {
		heat.attach(c)
	}
	result, err = sim.Run(ctx, *c)
	if err == nil && result.Rejections > 0 {
		err = fmt.Errorf("the cluster refused %d decisions", result.Rejections)
	}
	return result, err
}

// createLog creates a compressed file and returns how to close it.
func createLog(path string) (*gzip.Writer, func() error, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, nil, err
	}
	z := gzip.NewWriter(file)
	return z, func() error { return errors.Join(z.Close(), file.Close()) }, nil
}

// parallel calls do(0) to do(n-1), GOMAXPROCS at a time. Of several errors it returns that
// of the least index, whatever came first; after one, calls not yet begun are left out.
func parallel(n int, do func(i int) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	var mu sync.Mutex
	next, stop := 0, false
	take := func() int {
		mu.Lock()
		defer mu.Unlock()
		if stop || next == n {
			return -1
		}
		next++
		return next - 1
	}
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := take(); i >= 0; i = take() {
				if errs[i] = do(i); errs[i] != nil {
					mu.Lock()
					stop = true
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return errs[i]
	}
	return nil
}

// meter adds up the progress of runs.
type meter struct {
	mu   sync.Mutex
	done []int
	sum  int
	step func(int, string)
}

func newMeter(runs int, step func(int, string)) *meter {
	return &meter{done: make([]int, runs), step: step}
}

// of returns the progress function of run i.
func (m *meter) of(i int, what string) func(done, total int) {
	return func(done, total int) {
		steps := stepsPerRun * done / max(1, total)
		m.mu.Lock()
		defer m.mu.Unlock()
		if steps > m.done[i] {
			m.sum += steps - m.done[i]
			m.done[i] = steps
			m.step(m.sum, what)
		}
	}
}
