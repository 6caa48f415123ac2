package experiment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/adapters/sim/trace"
	"github.com/hedgesched/hedge/adapters/sim/trace/sample"
	"github.com/hedgesched/hedge/adapters/sim/workload"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched/systems"

	"github.com/hedgesched/hedge/cmd/hedge/internal/records"
)

// SharedSpec says what to compare on machines that tasks share; the fields are the flags of hedge compare.
type SharedSpec struct {
	Spec
	// Fill are files of what the log lacks; none stands for the built-in samples.
	Fill []string
	// Sizes are the numbers of machines. The load is that of the first.
	Sizes []int
	// Assignments is how often deadlines are drawn anew, each time with the next segment of the log.
	Assignments int
	// Control deals what jobs use out among them, so that history tells nothing of it.
	Control bool
	// Blind does so with the jobs of the history alone.
	Blind bool
	// Machine is what a machine has.
	Machine trace.Amount
	// Epsilon is the risk that policies take which have a bound on it; 0 is their own.
	Epsilon float64
	// Frontier runs each policy that has a parameter of strictness with each value of it.
	Frontier bool
}

// Setting is the value of a policy's parameter of strictness.
type Setting struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// arm is a policy with a setting, or with its own where it has none.
type arm struct {
	of      *systems.System
	setting *Setting
}

// name is what the arm is called in tables and files.
func (s *Setting) name(policy, between string) string {
	if s == nil {
		return policy
	}
	return policy + between + s.Name + between + strconv.FormatFloat(s.Value, 'g', -1, 64)
}

// SharedDocument is what hedge compare --workload shared prints as JSON. Runs are in order of policies, sizes, seeds,
// then assignments.
type SharedDocument struct {
	Schema   int             `json:"schema"`
	Command  string          `json:"command"`
	Workload SharedWorkload  `json:"workload"`
	Runs     []SharedRun     `json:"runs"`
	Summary  []SharedSummary `json:"summary"`
	// Equal is nil without --frontier, or without a policy to compare with.
	Equal *AtEqual `json:"at_equal_violations,omitempty"`
}

// SharedWorkload describes the workloads.
type SharedWorkload struct {
	Trace   string       `json:"trace"`
	Fill    []string     `json:"fill"`
	Nodes   []int        `json:"nodes"`
	Machine trace.Amount `json:"machine"`
	Hours   float64      `json:"hours"`
	Load    float64      `json:"load"`
	Control bool         `json:"control"`
	Blind   bool         `json:"blind"`
	Cycle   float64      `json:"cycle_s"`
	// Groups, Rows and Shapes are what was drawn from: groups of recurring jobs, rows of use, and hours of change.
	Groups int `json:"groups"`
	Rows   int `json:"rows"`
	Shapes int `json:"shapes"`
	// Segments has a workload for each seed and assignment.
	Segments []SharedSegment `json:"segments"`
	records.Records
}

// SharedSegment is one workload.
type SharedSegment struct {
	Seed        int64   `json:"seed"`
	Assignment  int     `json:"assignment"`
	StartHour   float64 `json:"start_hour"`
	Copies      int     `json:"copies"`
	Jobs        int     `json:"jobs"`
	Tasks       int     `json:"tasks"`
	SLOJobs     int     `json:"slo_jobs"`
	Filled      int     `json:"filled"`
	Capped      int     `json:"capped"`
	Trained     int     `json:"trained"`
	OfferedLoad float64 `json:"offered_load"`
	// RequestedLoad is what the jobs request, over time, over capacity, the larger of CPU and memory.
	RequestedLoad float64        `json:"requested_load"`
	LeftOut       map[string]int `json:"left_out"`
}

// SharedRun is one simulation.
type SharedRun struct {
	Policy     string       `json:"policy"`
	Setting    *Setting     `json:"setting,omitempty"`
	Seed       int64        `json:"seed"`
	Assignment int          `json:"assignment"`
	Nodes      int          `json:"nodes"`
	SLO        sim.SLOCount `json:"slo"`
	BE         sim.BECount  `json:"be"`
	BELatency  sim.Spread   `json:"be_latency_s"`
	sim.Sharing
	Preemptions int         `json:"preemptions"`
	MakespanS   float64     `json:"makespan_s"`
	Cycles      int         `json:"cycles"`
	CycleMS     sim.CycleMS `json:"cycle_ms"`
	PhaseMS     sim.PhaseMS `json:"phase_ms"`
	// Evicted compares probabilities of evictions with what came true. It is missing for policies that tell none.
	Evicted []EvictionBin `json:"eviction_reliability,omitempty"`
	// Heat is for the report: of the first workload on the first size.
	Heat *Heat `json:"-"`
}

// untilSpans is how many times the arrivals a simulation takes: no deadline with a slack of up to 2 is later. By then
// all that is not evicted again and again is done.
const untilSpans = 3

// SharedExperiment is a prepared comparison on shared machines.
type SharedExperiment struct {
	spec    SharedSpec
	log     *trace.Log
	fill    workload.Fill
	names   []string
	arms    []arm
	history []trace.Job
	records records.Records
	built   []*sharedWork // by seed, then assignment
}

// sharedWork is a workload and what only the simulation knows of it.
type sharedWork struct {
	*workload.Shared
	seed       int64
	assignment int
	runtimes   map[string]float64
	used       map[string][]predict.Used
}

// ReadShared reads the log that --trace names: one of jobs or, where use is not nil, one of what tasks use.
func (s *SharedSpec) ReadShared(stdin io.Reader) (jobs *trace.Log, use *trace.UsageLog, err error) {
	if s.Trace != "" && s.Trace != "-" && s.Format == "" {
		use, err = trace.ReadUsage(s.Trace, s.Reading())
		if !errors.Is(err, trace.ErrUnknownFormat) {
			return nil, use, err
		}
	}
	jobs, err = ReadLog(s.Trace, stdin, s.Reading())
	return jobs, nil, err
}

// PrepareShared builds the workloads and refuses what cannot be run. The log is one of jobs, or of use.
func PrepareShared(ctx context.Context, log *trace.Log, use *trace.UsageLog, spec *SharedSpec,
	set *systems.Set) (*SharedExperiment, error) {
	e := &SharedExperiment{spec: *spec}
	if use != nil {
		log = &trace.Log{Name: use.Name, Format: use.Format, Jobs: e.fill.Jobs(use), Skipped: use.Skipped, Bad: use.Bad}
	}
	e.log, e.records = log, records.Of(log)
	for _, name := range spec.Policies {
		system, err := set.Find(name)
		if err != nil {
			return nil, err
		}
		e.arms = append(e.arms, arms(&system, spec.Frontier)...)
	}
	if err := e.refuse(); err != nil {
		return nil, err
	}
	if err := e.readFill(); err != nil {
		return nil, err
	}
	if spec.Train != "" {
		history, err := trace.ReadAll(spec.Train, &trace.Options{Strict: spec.Strict, MaxBad: spec.MaxBad})
		if err != nil {
			return nil, fmt.Errorf("--train: %w", err)
		}
		e.history = history.Jobs
		e.records.AddBad(history)
	}
	e.built = make([]*sharedWork, len(spec.Seeds)*spec.Assignments)
	err := parallel(len(e.built), func(i int) (err error) {
		e.built[i], err = e.build(ctx, spec.Seeds[i/spec.Assignments], i%spec.Assignments)
		return err
	})
	return e, err
}

// refuse returns an error for a flag that has no effect on any of the policies.
func (e *SharedExperiment) refuse() error {
	bounds, parameters := false, false
	for i := range e.arms {
		of := &e.arms[i].of.Strictness
		bounds = bounds || of.Name == systems.Risk
		parameters = parameters || len(of.Values) > 0
	}
	names := strings.Join(e.spec.Policies, ",")
	switch {
	case e.spec.Epsilon > 0 && !bounds:
		return fmt.Errorf("--epsilon: found with --policies %s, expected one that bounds the risk, such as dist", names)
	case e.spec.Frontier && !parameters:
		return fmt.Errorf(
			"--frontier: found with --policies %s, expected one with a parameter of strictness, such as dist", names)
	}
	return nil
}

// arms are the ways in which a system runs.
func arms(of *systems.System, frontier bool) []arm {
	if !frontier || len(of.Strictness.Values) == 0 {
		return []arm{{of: of}}
	}
	var out []arm
	for _, v := range of.Strictness.Values {
		out = append(out, arm{of, &Setting{of.Strictness.Name, v}})
	}
	return out
}

// readFill reads the files of --fill: logs of usage, and logs of jobs for their requests.
func (e *SharedExperiment) readFill() error {
	if len(e.spec.Fill) == 0 {
		logs, err := sample.Usage()
		if err != nil {
			return err
		}
		for _, log := range logs {
			e.fill.AddUsage(log)
			e.names = append(e.names, log.Name)
		}
		return nil
	}
	opts := &trace.Options{Strict: e.spec.Strict, MaxBad: e.spec.MaxBad}
	for _, path := range e.spec.Fill {
		log, err := trace.ReadUsage(path, opts)
		if errors.Is(err, trace.ErrUnknownFormat) {
			jobs, err := trace.ReadAll(path, opts)
			if err != nil {
				return fmt.Errorf("--fill: %w", err)
			}
			e.fill.AddJobs(jobs.Jobs)
			e.records.AddBad(jobs)
			e.names = append(e.names, path)
			continue
		}
		if err != nil {
			return fmt.Errorf("--fill: %w", err)
		}
		e.fill.AddUsage(log)
		e.records.AddBad(&trace.Log{Bad: log.Bad})
		e.names = append(e.names, path)
	}
	return e.fillShapes()
}

// fillShapes takes the built-in samples for what no file of --fill has.
func (e *SharedExperiment) fillShapes() error {
	groups, _, shapes := e.fill.Groups()
	if groups > 0 && shapes > 0 {
		return nil
	}
	logs, err := sample.Usage()
	if err != nil {
		return err
	}
	for _, log := range logs {
		if isShape := log.Format == trace.Google5Min; isShape && shapes == 0 || !isShape && groups == 0 {
			e.fill.AddUsage(log)
			e.names = append(e.names, log.Name)
		}
	}
	return nil
}

// workloadSpec turns flags into the specification of a workload.
func (s *SharedSpec) workloadSpec() workload.SharedSpec {
	w := workload.DefaultShared()
	w.Nodes, w.Fit, w.Load, w.Hours, w.SLOShare = s.Sizes[0], slices.Min(s.Sizes), s.Load, s.Hours, s.SLOShare
	w.Machine, w.NoGroups, w.Blind = s.Machine, s.Control, s.Blind
	w.Slack = nil
	for _, share := range s.Slack {
		w.Slack = append(w.Slack, 100*share)
	}
	return w
}

func (e *SharedExperiment) build(ctx context.Context, seed int64, assignment int) (*sharedWork, error) {
	spec := e.spec.workloadSpec()
	spec.Seed, spec.Assignment, spec.Segment, spec.Train = seed, int64(assignment), assignment%spec.Segments, e.history
	w, err := workload.BuildShared(ctx, e.log.Jobs, &e.fill, &spec)
	if err != nil {
		return nil, e.spec.inFlags(e.log, err)
	}
	x := &sharedWork{Shared: w, seed: seed, assignment: assignment, runtimes: map[string]float64{},
		used: map[string][]predict.Used{}}
	for i := range w.Jobs {
		j := &w.Jobs[i]
		x.runtimes[j.ID], x.used[j.ID] = j.Work.Runtime().Seconds(), j.Work.Used()
	}
	return x, nil
}

// knowledge is what a system may be told.
func (x *sharedWork) knowledge() *systems.Knowledge {
	return &systems.Knowledge{
		History: func() (predict.Predictor, error) {
			h, err := predict.NewHistory(&predict.HistoryOptions{Quantities: []predict.Quantity{predict.CPU, predict.CPUMax,
				predict.Memory, predict.MemoryMax, predict.CPUTime}})
			if err != nil {
				return nil, err
			}
			return h, x.TrainPredictor(h)
		},
		Truth: func(j predict.Job) (float64, bool) { r, ok := x.runtimes[j.ID]; return r, ok },
		Used:  func(j predict.Job) []predict.Used { return x.used[j.ID] },
	}
}

// Steps is the number of steps that Run reports.
func (e *SharedExperiment) Steps() int {
	return len(e.built) * len(e.arms) * len(e.spec.Sizes) * stepsPerRun
}

// Run simulates every policy on every size and workload, on all cores.
func (e *SharedExperiment) Run(ctx context.Context, step func(done int, what string)) (*SharedDocument, error) {
	if e.spec.LogDir != "" {
		if err := os.MkdirAll(e.spec.LogDir, 0o755); err != nil {
			return nil, err
		}
	}
	sizes, works := len(e.spec.Sizes), len(e.built)
	runs := make([]SharedRun, len(e.arms)*sizes*works)
	meter := newMeter(len(runs), step)
	err := parallel(len(runs), func(i int) error {
		a, x, size := &e.arms[i/works/sizes], e.built[i%works], e.spec.Sizes[i/works%sizes]
		name := a.setting.name(a.of.Name, " ")
		run, err := e.run(ctx, a, x, size, meter.of(i, name))
		if err != nil {
			return fmt.Errorf("%s, seed %d, assignment %d, %d nodes: %w", name, x.seed, x.assignment, size, err)
		}
		runs[i] = *run
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &SharedDocument{Schema: 1, Command: "compare", Workload: e.document(), Runs: runs,
		Summary: summariseShared(e.arms, e.spec.Sizes, runs), Equal: atEqual(e.arms, e.spec.Sizes, runs)}, nil
}

func (e *SharedExperiment) run(ctx context.Context, a *arm, x *sharedWork, size int,
	step func(done, total int)) (*SharedRun, error) {
	began := time.Now()
	planning := systems.Planning{Risk: e.spec.Epsilon, Stopwatch: func() time.Duration { return time.Since(began) }}
	if a.setting != nil {
		planning.Strictness = a.setting.Value
	}
	policy, err := a.of.Policy(&planning)
	if err != nil {
		return nil, err
	}
	predictor, err := a.of.Predictor(x.knowledge())
	if err != nil {
		return nil, err
	}
	spec := e.spec.workloadSpec()
	c := sim.Config{Nodes: spec.Machines(size), Jobs: x.Jobs, Policy: policy, Predictor: predictor, Cycle: e.spec.Cycle,
		Span: x.Span, Until: untilSpans * x.Span, Seed: x.seed, Progress: step}
	told := watchEvictions(&c)
	var heat *heater
	if e.spec.Observe && x == e.built[0] && size == e.spec.Sizes[0] {
		heat = newHeater(x.Span)
	}
	name := fmt.Sprintf("%s-%d-%d-%d", a.setting.name(a.of.Name, "-"), size, x.seed, x.assignment)
	result, err := simulate(ctx, &c, heat, e.spec.LogDir, name)
	if err != nil {
		return nil, err
	}
	m := &result.Metrics
	run := &SharedRun{Policy: a.of.Name, Setting: a.setting, Seed: x.seed, Assignment: x.assignment, Nodes: size,
		SLO: m.SLO, BE: m.BE, BELatency: m.BELatency, Sharing: *result.Sharing, Preemptions: m.Preemptions,
		MakespanS: m.MakespanS, Cycles: m.Cycles, CycleMS: m.CycleMS, PhaseMS: m.PhaseMS,
		Evicted: told.bins(result.Jobs)}
	if heat != nil {
		run.Heat = &heat.heat
	}
	return run, nil
}

// document describes the workloads.
func (e *SharedExperiment) document() SharedWorkload {
	s := &e.spec
	d := SharedWorkload{Trace: e.log.Name, Fill: e.names, Nodes: s.Sizes, Machine: s.Machine, Hours: s.Hours, Load: s.Load,
		Control: s.Control, Blind: s.Blind, Cycle: s.Cycle.Seconds(), Records: e.records, Segments: []SharedSegment{}}
	d.Groups, d.Rows, d.Shapes = e.fill.Groups()
	for _, x := range e.built {
		d.Segments = append(d.Segments, SharedSegment{Seed: x.seed, Assignment: x.assignment, StartHour: x.Start.Hours(),
			Copies: x.Copies, Jobs: len(x.Jobs), Tasks: x.Tasks, SLOJobs: x.SLOJobs, Filled: x.Filled, Capped: x.Capped,
			Trained: len(x.Train), OfferedLoad: x.Load, RequestedLoad: x.Requested, LeftOut: x.Skipped})
	}
	return d
}
