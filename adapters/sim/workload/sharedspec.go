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
	// Nodes in the cluster, at least 1, each with Machine.
	Nodes   int
	Machine trace.Amount
	// Fit is the number of machines on which every job must fit by its requests, as where the same jobs run on clusters of
	// several sizes; 0 is Nodes.
	Fit int
	// Load is the CPU-time that tasks use, at full speed, over the capacity in Hours, the time in which jobs arrive.
	Load, Hours float64
	// Slack is the set a deadline is drawn from: per cent of the job's runtime beyond it. SLOShare is the share of jobs
	// with a deadline.
	Slack    []float64
	SLOShare float64
	// SLOValue and BEValue are as in [Spec].
	SLOValue, BEValue float64
	// MaxShare is the largest part of the offered CPU-time that one job may be.
	MaxShare float64
	// Light is the share of CPU-time that may be left out with light jobs: the lightest of a stretch of the log that
	// hold no more than it together. Most jobs of Google's log are so light that they use next to nothing.
	Light float64
	// Stretch is the part of the log, by time, that a segment is. Its arrivals are mapped onto Hours.
	Stretch float64
	// Segment is which of Segments stretches of the log is taken, from 0. They begin at equal distances, the first after
	// a fifth of the log and the last where it ends with the log.
	Segment, Segments int
	// Seed makes what jobs use, and Assignment which of them get deadlines, and with which slack.
	Seed, Assignment int64
	// NoGroups deals the rows of use that jobs draw out among them at random. What is used in all stays as it is, but
	// recurring jobs are no more alike than others.
	NoGroups bool
	// NoTrain leaves the predictor without history. Train is the history; the log before the segment when empty.
	NoTrain bool
	Train   []trace.Job
}

// DefaultShared is DistSched's set-up: 700 machines, 2 hours, load 0.8, half of the jobs with a slack of 1.2 to 1.8.
// The log's amounts are shares of the largest machine. A machine here is one of Google's common ones, which have half
// of its CPU and a quarter of its memory. The public log has little work for 700 of them, most of it in few jobs:
// hence copies, and without the light jobs that hold a fifth of the work together.
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

// Machines are n machines of the workload's spec, m0000 and up, that tasks share.
func (s *SharedSpec) Machines(n int) []sched.Node {
	nodes := make([]sched.Node, max(n, 0))
	capacity := sched.Resources{usage.CPU: s.Machine.CPU, usage.Memory: s.Machine.Memory}
	for i := range nodes {
		nodes[i] = sched.Node{Name: fmt.Sprintf("m%04d", i), Capacity: capacity}
	}
	return nodes
}
