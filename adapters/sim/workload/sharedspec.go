package workload

import (
	"fmt"
	"math"

	"github.com/hedgesched/hedge/adapters/sim/trace"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/usage"
)

// SharedSpec describes a workload of machines that tasks share, as in DistSched's experiments (Park's thesis of 2019,
// section 5.4). Start from [DefaultShared].
type SharedSpec struct {
	// Nodes is the number of nodes, at least 1. Machine is the capacity of each, in the log's units.
	Nodes   int
	Machine trace.Amount
	// Fit is the number of machines on which each job must fit by its requests; 0 means Nodes. Set it to the smallest size
	// if the same jobs run on clusters of several sizes.
	Fit int
	// Hours is the time in which jobs arrive. Load is the jobs' CPU time over the capacity in that time.
	Load, Hours float64
	// Slack has the slacks of deadlines, in percent of the job's runtime. Each is equally likely. SLOShare is the share of
	// jobs with a deadline.
	Slack    []float64
	SLOShare float64
	// SLOValue and BEValue are as in [Spec].
	SLOValue, BEValue float64
	// MaxShare is the largest share of the workload's CPU time that a single job may have.
	MaxShare float64
	// Light is the largest share of a stretch's CPU time that is left out with its lightest jobs. Most jobs of Google's
	// log use almost nothing.
	Light float64
	// Stretch is the share of the log, by time, that a segment covers. Its arrivals are mapped onto Hours.
	Stretch float64
	// Segment chooses one of Segments stretches of the log, from 0. They begin at equal distances. The first begins after
	// a fifth of the log; the last ends with the log.
	Segment, Segments int
	// Seed decides what jobs use. Assignment decides which jobs get deadlines, and their slacks.
	Seed, Assignment int64
	// NoGroups shuffles the rows of use among all jobs. Total use stays similar, but recurring jobs are no more alike than
	// others.
	NoGroups bool
	// Blind does this with the jobs of the history alone. The jobs of the workload, and what they use, are as without it,
	// but the history tells little of them.
	Blind bool
	// NoTrain leaves the predictor without history. Train is the history; if it is empty, the log before the segment is.
	NoTrain bool
	Train   []trace.Job
}

// DefaultShared is DistSched's set-up: 700 machines, 2 hours, load 0.8, and a slack of 20 to 80 % for half of the jobs.
// The log's amounts are shares of Google's largest machine. A machine here has half of that CPU and a quarter of that
// memory, which is one of Google's common kinds. The public log has too little work for 700 machines, and most of it is
// in few jobs. So its stretches are copied, and light jobs with up to a fifth of the work are left out.
func DefaultShared() SharedSpec {
	return SharedSpec{Nodes: 700, Machine: trace.Amount{CPU: 0.5, Memory: 0.25}, Load: 0.8, Hours: 2,
		Slack: []float64{20, 40, 60, 80}, SLOShare: 0.5, SLOValue: 100, BEValue: 5, MaxShare: 0.1, Light: 0.2,
		Stretch: 0.5, Segments: 5, Seed: 1}
}

// Validate reports the first field out of its range, as a [*SpecError].
func (s *SharedSpec) Validate() error {
	for _, r := range []struct {
		field    string
		v        float64
		min, max float64
		want     string
	}{
		{"Nodes", float64(s.Nodes), 1, 1e7, "1 to 10000000"},
		{"Fit", float64(s.Fit), 0, 1e7, "0 to 10000000"},
		{"Machine.CPU", s.Machine.CPU, 1e-9, 1e12, "a positive amount"},
		{"Machine.Memory", s.Machine.Memory, 1e-9, 1e18, "a positive amount"},
		{"Load", s.Load, math.SmallestNonzeroFloat64, 1000, "a positive load"},
		{"Hours", s.Hours, 1e-3, maxHours, "a positive number of hours"},
		{"SLOShare", s.SLOShare, 0, 1, "a share from 0 to 1"},
		{"SLOValue", s.SLOValue, math.SmallestNonzeroFloat64, 1e12, "a positive number"},
		{"BEValue", s.BEValue, math.SmallestNonzeroFloat64, 1e12, "a positive number"},
		{"MaxShare", s.MaxShare, math.SmallestNonzeroFloat64, 1, "a share above 0, up to 1"},
		{"Light", s.Light, 0, 0.99, "a share from 0 to 0.99"},
		{"Stretch", s.Stretch, 1e-6, 0.8, "a share above 0, up to 0.8"},
		{"Segments", float64(s.Segments), 1, 1e6, "at least 1"},
		{"Segment", float64(s.Segment), 0, float64(s.Segments - 1), "from 0 to below Segments"},
	} {
		if !(r.v >= r.min && r.v <= r.max) {
			return &SpecError{Field: r.field, Value: r.v, Want: r.want}
		}
	}
	if len(s.Slack) == 0 {
		return &SpecError{Field: "Slack", Value: s.Slack, Want: "at least one"}
	}
	for _, p := range s.Slack {
		if !(p >= 0 && p <= 1e6) {
			return &SpecError{Field: "Slack", Value: p, Want: "per cent of the runtime, 0 or more"}
		}
	}
	return nil
}

// Machines returns n nodes with the capacity of s.Machine, named m0000 and up.
func (s *SharedSpec) Machines(n int) []sched.Node {
	nodes := make([]sched.Node, max(n, 0))
	capacity := sched.Resources{usage.CPU: s.Machine.CPU, usage.Memory: s.Machine.Memory}
	for i := range nodes {
		nodes[i] = sched.Node{Name: fmt.Sprintf("m%04d", i), Capacity: capacity}
	}
	return nodes
}
