package workload

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/hedgesched/hedge/adapters/sim/trace"
)

// Kind says how a workload comes from a log.
type Kind string

// The kinds. The zero value is Window.
const (
	Window Kind = "window"
	E2E    Kind = "e2e"
	Replay Kind = "replay"
	// DAG takes whole jobs of stages.
	DAG Kind = "dag"
)

// ParseKind reads a Kind's name.
func ParseKind(s string) (Kind, error) {
	switch k := Kind(s); k {
	case Window, E2E, Replay, DAG:
		return k, nil
	}
	return "", &SpecError{Field: "Kind", Value: s, Want: "window, e2e, replay or dag"}
}

// Errors that a caller may branch on.
var (
	// ErrEmpty means that no job of the log can be in the workload.
	ErrEmpty = errors.New("no usable job")
	// ErrTooLittleWork means that the log holds less machine-time after the start of
	// the window than the load asks for.
	ErrTooLittleWork = errors.New("not enough work in the trace")
)

// SpecError is a field of a Spec out of its range.
type SpecError struct {
	Field string
	Value any
	Want  string
}

// Error names the field, its value and what was expected.
func (e *SpecError) Error() string {
	return fmt.Sprintf("workload: %s: found %v, expected %s", e.Field, e.Value, e.Want)
}

// JobError is a job of a log that cannot be.
type JobError struct {
	Job     string
	Line    int
	Field   string
	Problem string
}

// Error names the job, its line in the log and the field.
func (e *JobError) Error() string {
	return fmt.Sprintf("workload: job %q (line %d): %s %s", e.Job, e.Line, e.Field, e.Problem)
}

// Spec describes a workload. Values are taken as written, so start from
// [Default]; fields that say so have a default for zero.
type Spec struct {
	// Name labels the workload, as "DEADLINE-60"; it has no effect.
	Name string
	// Kind is how the workload comes from the log; zero is Window.
	Kind Kind
	// Nodes in the cluster, at least 1.
	Nodes int
	// Racks the nodes are in, labelled "rack" = "r00", "r01", ...; zero is 1.
	Racks int
	// TasksPerNode is how many tasks of the log share a node: a job holds
	// ceil(tasks/TasksPerNode) whole nodes. Zero is 1.
	TasksPerNode int
	// Load is the machine-time offered over Nodes·Hours. Replay ignores it.
	Load float64
	// Hours is the simulated time over which jobs arrive. In Replay, where zero means
	// to the end, it is the length of the stretch of the log.
	Hours float64
	// StartHour is where in the log the window begins, in hours since its
	// origin. Negative is exactly zero, the origin. Zero chooses: the seed draws one of the usable jobs
	// between 40 and 60 per cent of the log, and where what follows holds too little work, one between half
	// of the latest possible start and that start. Replay then begins at the log's first job; E2E ignores it.
	StartHour float64
	// Slack is the set an SLO job's deadline is drawn from: per cent of its
	// actual runtime, of a job of stages that of its longest path, beyond it. Empty is 20, 40, 60, 80 (3Sigma, section 5).
	Slack []float64
	// SLOShare is the share of jobs, and of machine-time, that gets deadlines.
	SLOShare float64
	// PreferShare is the share of racks, at random, that an SLO job prefers;
	// 0 and 1 mean no preference.
	PreferShare float64
	// PreferSlowdown is how much longer it runs elsewhere, at least 1; zero is 1.
	PreferSlowdown float64
	// SLOValue and BEValue are what an SLO job in time, and a best-effort job at once, are
	// worth. Zero is 100 and 5: the paper asks for "significantly lower". In a Replay of a log that says what completions
	// are worth by when, the most that any job is worth becomes SLOValue, and all else keeps its proportion.
	SLOValue, BEValue float64
	// JobsPerHour, in E2E, fixes the arrival rate (SCALABILITY-n); runtimes, and beyond a factor of
	// 4 gangs, are scaled to keep the load. Zero is the log's own mix.
	JobsPerHour float64
	// Classes, in E2E, is the number of k-means classes; zero is 6.
	Classes int
	// MaxShare is the largest part of the offered machine-time that one job may
	// be; larger ones are skipped with a count, because one of them would decide
	// the run. Zero is 0.1.
	MaxShare float64
	// Seed makes the random choices.
	Seed int64
	// NoTrain leaves the predictor without history.
	NoTrain bool
	// Train is the history; the log before the window when empty. Its own clock is moved by
	// whole days so that it ends before the simulation starts.
	Train []trace.Job
	// TrainShare is the most recent share of the completions before the window that
	// is history (E2E: the history's length as a share of the log's); zero is all.
	TrainShare float64
	// MaxTrainSamples is the number of most recent completions kept of each recurring job: user
	// and logical name, executable or name, whichever the log has (E2E-SAMPLE-n). Zero is all.
	MaxTrainSamples int
}

// Default is 3Sigma's set-up (section 5): 256 nodes in 8 racks, load 1.4
// over 5 hours, half SLO jobs that prefer 75 % of the cluster and run 1.5 times longer elsewhere.
func Default() Spec {
	return Spec{
		Kind: Window, Nodes: 256, Racks: 8, TasksPerNode: 1, Load: 1.4, Hours: 5,
		Slack: []float64{20, 40, 60, 80}, SLOShare: 0.5, PreferShare: 0.75, PreferSlowdown: 1.5,
		SLOValue: 100, BEValue: 5, Classes: 6, MaxShare: 0.1, Seed: 1,
	}
}

func (s Spec) withDefaults() Spec {
	if s.Kind == "" {
		s.Kind = Window
	}
	for _, f := range []struct {
		at *int
		to int
	}{{&s.Racks, 1}, {&s.TasksPerNode, 1}, {&s.Classes, 6}} {
		if *f.at == 0 {
			*f.at = f.to
		}
	}
	for _, f := range []struct {
		at *float64
		to float64
	}{{&s.PreferSlowdown, 1}, {&s.SLOValue, 100}, {&s.BEValue, 5}, {&s.MaxShare, 0.1}} {
		if *f.at == 0 {
			*f.at = f.to
		}
	}
	if len(s.Slack) == 0 {
		s.Slack = []float64{20, 40, 60, 80}
	}
	return s
}

// start is where StartHour says that the window begins, if it does.
func (s *Spec) start() (at time.Duration, fixed bool) {
	return hours(max(0, s.StartHour)), s.StartHour != 0
}

// maxHours keeps times far from the limits of time.Duration.
const maxHours = 200_000

// Validate reports the first field out of its range, as a [*SpecError].
func (s Spec) Validate() error {
	s = s.withDefaults()
	if _, err := ParseKind(string(s.Kind)); err != nil {
		return err
	}
	if err := s.validateCounts(); err != nil {
		return err
	}
	type real struct {
		field    string
		v        float64
		min, max float64
		want     string
	}
	reals := []real{
		{"StartHour", s.StartHour, -math.MaxFloat64, maxHours, "hours since the log's origin, negative for 0"},
		{"SLOShare", s.SLOShare, 0, 1, "a share from 0 to 1"},
		{"PreferShare", s.PreferShare, 0, 1, "a share from 0 to 1"},
		{"PreferSlowdown", s.PreferSlowdown, 1, 1000, "a factor from 1 to 1000"},
		{"SLOValue", s.SLOValue, math.SmallestNonzeroFloat64, 1e12, "a positive number"},
		{"BEValue", s.BEValue, math.SmallestNonzeroFloat64, 1e12, "a positive number"},
		{"JobsPerHour", s.JobsPerHour, 0, 1e9, "a rate, 0 for the log's own"},
		{"MaxShare", s.MaxShare, math.SmallestNonzeroFloat64, 1, "a share above 0, up to 1"},
		{"TrainShare", s.TrainShare, 0, 1, "a share from 0 to 1"},
	}
	if s.Kind == Replay {
		reals = append(reals, real{"Hours", s.Hours, 0, maxHours, "hours, 0 for all"})
	} else {
		reals = append(reals, real{"Load", s.Load, math.SmallestNonzeroFloat64, 1000, "a positive load"},
			real{"Hours", s.Hours, 1e-3, maxHours, "a positive number of hours"})
	}
	for _, p := range s.Slack {
		reals = append(reals, real{"Slack", p, 0, 1e6, "per cent of the runtime, 0 or more"})
	}
	for _, r := range reals {
		if math.IsNaN(r.v) || r.v < r.min || r.v > r.max {
			return &SpecError{Field: r.field, Value: r.v, Want: r.want}
		}
	}
	if s.JobsPerHour > 0 && s.Kind != E2E {
		return &SpecError{Field: "JobsPerHour", Value: s.JobsPerHour, Want: "0 unless Kind is e2e"}
	}
	return nil
}

func (s Spec) validateCounts() error {
	for _, c := range []struct {
		field string
		v     int
		min   int
		max   int
	}{
		{"Nodes", s.Nodes, 1, 10_000_000}, {"Racks", s.Racks, 1, s.Nodes}, {"TasksPerNode", s.TasksPerNode, 1, math.MaxInt32},
		{"Classes", s.Classes, 1, 1000}, {"MaxTrainSamples", s.MaxTrainSamples, 0, math.MaxInt},
	} {
		if c.v < c.min || c.v > c.max {
			return &SpecError{Field: c.field, Value: c.v, Want: fmt.Sprintf("%d to %d", c.min, c.max)}
		}
	}
	return nil
}

// clone lets a family vary a Spec without sharing slices.
func (s Spec) clone() Spec {
	s.Slack = slices.Clone(s.Slack)
	return s
}
