// Package record writes down what a policy was asked and reads it back: a [sched.Snapshot] as one JSON
// document, from which the same policy makes the same plan again.
//
// A [Recorder] stands between a loop and its policy and writes each cycle's snapshot as a line; a [Reader]
// gives the snapshots back, in order. One snapshot alone goes through [Marshal] and [Unmarshal].
//
// Policies may keep state from cycle to cycle. A new one that is shown a recording from its first line makes the
// plans that were made; of a line from the middle it makes the plan that a new policy would have made then. A policy
// whose solver is bounded by time instead of work may stop elsewhere on another day.
//
// # The document
//
// It stands alone and knows nothing of the policy. Every line of a recording is one:
//
//	{"version": 4,
//	 "now": "2018-04-23T00:16:40Z", "cycle": "2s",
//	 "nodes": [{"name": "n0", "labels": {"rack": "r0"}, "capacity": {"node": 1}}, …],
//	 "free": [1, …],                             // of each node its resources, these by name
//	 "dists": [{"kind": "lognormal", …}, …],     // as dist.Marshal writes them, each once
//	 "pending": [{"job": {…}, "prediction": {"dist": 0, "point": 148.4, "feature": "user", "value": "u7",
//	                                         "estimator": "median", "samples": 12,
//	                                         "usage": {"cpu": {"dist": 1, "point": 0.7, …}, …}}, "attained": 31.5}, …],
//	 "held": [{"job": {…}, "prediction": {…}}, …],    // jobs that wait for others to finish
//	 "running": [{"job": {…}, "prediction": {…}, "started": "2018-04-23T00:10:00Z",
//	              "nodes": [{"node": "n0", "tasks": 2}], "speed": 0.66,
//	              "use": [{"index": 0, "node": "n0", "ran": "40s", "throttled": true, // cpu and memory of each level
//	                       "now": [0.5, 1e9], "mean": [0.7, 1e9], "max": [1, 2e9]}, …]}, …],
//	 "completed": [{"job": "j3", "at": "2018-04-23T00:16:31Z"}, …],
//	 "others": [[0.1, 5e8], …]}                  // of each node
//
// and a job is
//
//	{"id": "j7#1", "part_of": "j7", "tasks": 2, "demand": {"cpu": 4}, "attributes": {"user": "u7"},
//	 "utility": {"kind": "piecewise", …},        // as utility.Marshal writes it
//	 "deadline": "15m0s", "requested": "30m0s", "priority": 1,
//	 "required": [{"key": "rack", "values": ["r0", "r1"]}],
//	 "speeds": [{"on": [{"key": "gpu", "values": [], "has": true}], "speed": 1}, {"on": [], "speed": 0.66}],
//	 "checkpoint": true, "after": ["j5", "j6"], "of": "j", "submitted": "2018-04-23T00:00:00Z"}
//
// Runtimes and the times of utilities are seconds. Fields that are zero or empty are left out. Numbers are exact;
// times are UTC wall-clock times to the nanosecond. Distributions and utilities of types that packages dist
// and utility do not know cannot be written ([dist.ErrForeign]).
//
// Reading is strict: a field that is unknown, missing, double or out of range is refused with a
// [*dist.FormatError] that names it, and so is a newer version. Snapshots of version 1 tell neither their cycle nor
// what has completed. They are read with a cycle of 10 s, which policies planned by then. Those of versions 1 and 2
// know no usage, no parts of jobs, and no jobs held back for others. Those before 4 have two speeds at most: full speed
// on the nodes that a job prefers, and a slowdown elsewhere.
package record

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/hedgesched/hedge/internal/lines"
	"github.com/hedgesched/hedge/sched"
)

// version is that of the documents written. All versions from 1 on are read.
const version = 4

// ErrSnapshot marks a snapshot that contradicts itself and so is not written.
var ErrSnapshot = errors.New("inconsistent snapshot")

// Recorder is a policy that writes down every snapshot before another policy plans by it. Like
// every policy it is for one goroutine at a time.
type Recorder struct {
	policy sched.Policy
	w      io.Writer
	enc    encoder
	err    error
}

// NewRecorder returns a policy that plans as policy does and writes each snapshot to w as a line, by one call of
// Write. The caller flushes and closes w, which may well compress: a line has all nodes and forecasts, 1 MB for
// 12,583 nodes and 300 jobs.
func NewRecorder(policy sched.Policy, w io.Writer) *Recorder { return &Recorder{policy: policy, w: w} }

// Name is that of the policy recorded.
func (r *Recorder) Name() string { return r.policy.Name() }

// Plan writes the snapshot, then has the policy plan. A snapshot that cannot be written stops the recording but
// not the scheduling; see [Recorder.Err].
//
// The policy is handed the snapshot without the monotonic part of Go's times, which has no serial form, so that it
// plans by what is written.
func (r *Recorder) Plan(ctx context.Context, s *sched.Snapshot) (*sched.Plan, error) {
	if err := sched.CheckSnapshot(s); err != nil {
		return nil, err
	}
	s = byWallClock(s)
	if r.err == nil {
		r.err = r.write(s)
	}
	return r.policy.Plan(ctx, s)
}

// Err is what ended the recording, nil while it goes on. What was written before is whole.
func (r *Recorder) Err() error { return r.err }

func (r *Recorder) write(s *sched.Snapshot) error {
	line, err := r.enc.encode(s)
	if err != nil {
		return fmt.Errorf("record: snapshot of %v: %w", s.Now, err)
	}
	if _, err := r.w.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("record: snapshot of %v: %w", s.Now, err)
	}
	return nil
}

// byWallClock is s without monotonic times where one is taken from another: of two times, one without
// is enough for [time.Time.Sub] to go by the wall clock.
func byWallClock(s *sched.Snapshot) *sched.Snapshot {
	c := *s
	c.Now = s.Now.Round(0)
	c.Running = slices.Clone(s.Running)
	for i := range c.Running {
		c.Running[i].Started = c.Running[i].Started.Round(0)
	}
	return &c
}

// Reader reads a recording. It is for one goroutine.
type Reader struct {
	lines *bufio.Scanner
	line  int
	dec   decoder
}

// maxLine bounds what one snapshot may take in memory: 1 GiB.
const maxLine = 1 << 30

// NewReader reads what a [Recorder] has written to r.
func NewReader(r io.Reader) *Reader {
	return &Reader{lines: lines.NewScanner(r, maxLine)}
}

// Read returns the next snapshot, [io.EOF] after the last. Other errors name the line; reading may go on after a
// [*dist.FormatError]. An error of the reader below is returned as it is and never for a line that it has cut off.
// Nodes, jobs and distributions that are written as in the snapshot before are the same values again, as they are in
// those of a loop. Lines are of up to 1 GiB.
func (r *Reader) Read() (*sched.Snapshot, error) {
	r.line++
	if !r.lines.Scan() {
		if err := r.lines.Err(); err != nil {
			return nil, fmt.Errorf("record: line %d: %w", r.line, err)
		}
		return nil, io.EOF
	}
	s, err := r.dec.decode(r.lines.Bytes())
	if err != nil {
		return nil, fmt.Errorf("record: line %d: %w", r.line, err)
	}
	return s, nil
}
