// Package schedtest holds what tests of policies and loops need: builders of
// jobs and snapshots, a clock and a cluster that do as they are told, and a conformance suite
// for policies, [RunPolicy].
package schedtest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/usage"
	"github.com/hedgesched/hedge/utility"
)

// epoch is time 0 of built jobs and snapshots.
var epoch = time.Date(2018, time.April, 23, 0, 0, 0, 0, time.UTC)

// At is a time some seconds after the time 0 of built jobs and snapshots.
func At(seconds float64) time.Time {
	return epoch.Add(time.Duration(seconds * float64(time.Second)))
}

// Nodes are n whole nodes named n0 to n(n-1) in racks r0 to r(racks-1), one
// after the other: label "rack".
func Nodes(n, racks int) []sched.Node {
	out := make([]sched.Node, n)
	for i := range out {
		out[i] = sched.Node{
			Name:   fmt.Sprintf("n%d", i),
			Labels: map[string]string{"rack": fmt.Sprintf("r%d", i*max(racks, 1)/n)},
		}
	}
	return out
}

// JobBuilder makes a job and its prediction.
type JobBuilder struct {
	job     sched.Job
	runtime dist.Distribution
	point   float64
	usage   map[predict.Quantity]predict.Prediction
}

// Job is a best-effort job of some whole-node tasks, submitted at time 0 and
// predicted to run for exactly 100 s.
func Job(id string, tasks int) *JobBuilder {
	return &JobBuilder{job: sched.Job{ID: id, Tasks: tasks, Submitted: At(0)}, point: 100}
}

// Demand sets what a task holds.
func (b *JobBuilder) Demand(r sched.Resources) *JobBuilder { b.job.Demand = r; return b }

// Submitted sets the time of submission in seconds.
func (b *JobBuilder) Submitted(seconds float64) *JobBuilder {
	b.job.Submitted = At(seconds)
	return b
}

// Deadline makes it an SLO job, in seconds from submission.
func (b *JobBuilder) Deadline(seconds float64) *JobBuilder {
	b.job.Deadline = time.Duration(seconds * float64(time.Second))
	return b
}

// Priority sets the priority.
func (b *JobBuilder) Priority(p int) *JobBuilder { b.job.Priority = p; return b }

// Utility sets what completion is worth. Without it, it is 1 by the deadline, or falls
// from 1 to 0 in a day for best-effort jobs.
func (b *JobBuilder) Utility(u utility.Utility) *JobBuilder { b.job.Utility = u; return b }

// Requires sets the required set.
func (b *JobBuilder) Requires(s sched.EquivalenceSet) *JobBuilder { b.job.Required = s; return b }

// Prefers has the job run at full speed on the nodes of a set, and elsewhere for so many times as long, at least 1.
func (b *JobBuilder) Prefers(s sched.EquivalenceSet, longer float64) *JobBuilder {
	return b.Speeds(sched.Speed{On: s, Factor: 1}, sched.Speed{Factor: 1 / longer})
}

// Speeds sets how fast the job runs on which nodes.
func (b *JobBuilder) Speeds(of ...sched.Speed) *JobBuilder {
	b.job.Speeds = sched.SpeedsOf(of...)
	return b
}

// Runs predicts the runtime in seconds exactly.
func (b *JobBuilder) Runs(seconds float64) *JobBuilder {
	b.point, b.runtime = seconds, nil
	return b
}

// Predicted predicts the runtime by a distribution in seconds.
func (b *JobBuilder) Predicted(d dist.Distribution) *JobBuilder {
	b.runtime, b.point = d, d.Mean()
	return b
}

// Uses predicts what a task uses of a quantity, with the distribution's mean as the point.
func (b *JobBuilder) Uses(q predict.Quantity, d dist.Distribution) *JobBuilder {
	if b.usage == nil {
		b.usage = make(map[predict.Quantity]predict.Prediction)
	}
	b.usage[q] = predict.Prediction{Dist: d, Point: d.Mean(), Samples: 1}
	return b
}

// Job is a copy of the job as built so far.
func (b *JobBuilder) Job() *sched.Job {
	j := b.job
	if j.Utility == nil {
		j.Utility = worth(j.Deadline)
	}
	return &j
}

// worth is the utility of jobs that were given none.
func worth(deadline time.Duration) utility.Utility {
	if deadline > 0 {
		if u, err := utility.Deadline(deadline, 1); err == nil {
			return u
		}
		return nil
	}
	if u, err := utility.LinearDecay(1, 24*time.Hour); err == nil {
		return u
	}
	return nil
}

// Prediction is the forecast as built so far.
func (b *JobBuilder) Prediction() predict.Prediction {
	d := b.runtime
	if d == nil {
		d, _ = dist.NewPoint(b.point) // of a negative or NaN runtime: the point 0
	}
	p := predict.Prediction{Dist: d, Point: b.point, Expert: predict.Expert{Estimator: "schedtest"}, Samples: 1}
	if b.usage != nil {
		p.Usage = predict.NewUsage(b.usage)
	}
	return p
}

// SnapshotBuilder makes a snapshot.
type SnapshotBuilder struct {
	nodes []sched.Node
	set   *sched.NodeSet
	snap  sched.Snapshot
	twice []string
}

// Snapshot starts with a cluster, all of it free, at time 0.
func Snapshot(nodes []sched.Node) *SnapshotBuilder {
	return &SnapshotBuilder{nodes: nodes, snap: sched.Snapshot{Now: At(0)}}
}

// SnapshotOf is Snapshot for a cluster that other snapshots share.
func SnapshotOf(set *sched.NodeSet) *SnapshotBuilder {
	return &SnapshotBuilder{set: set, snap: sched.Snapshot{Now: At(0)}}
}

// Now sets the time in seconds.
func (b *SnapshotBuilder) Now(seconds float64) *SnapshotBuilder {
	b.snap.Now = At(seconds)
	return b
}

// Pending adds waiting jobs.
func (b *SnapshotBuilder) Pending(jobs ...*JobBuilder) *SnapshotBuilder {
	for _, j := range jobs {
		b.snap.Pending = append(b.snap.Pending, sched.Pending{Job: j.Job(), Prediction: j.Prediction()})
	}
	return b
}

// Running adds a job that runs since a time in seconds, a task on each of
// the nodes named; a node named twice has two.
func (b *SnapshotBuilder) Running(j *JobBuilder, since float64, nodes ...string) *SnapshotBuilder {
	r := sched.Running{Job: j.Job(), Prediction: j.Prediction(), Started: At(since)}
	for _, n := range nodes {
		i := slices.IndexFunc(r.Nodes, func(nt sched.NodeTasks) bool { return nt.Node == n })
		if i < 0 {
			r.Nodes = append(r.Nodes, sched.NodeTasks{Node: n})
			i = len(r.Nodes) - 1
		}
		r.Nodes[i].Tasks++
	}
	b.snap.Running = append(b.snap.Running, r)
	return b
}

// Overpacks lets running jobs hold more of these resources than nodes have.
func (b *SnapshotBuilder) Overpacks(resources ...string) *SnapshotBuilder {
	b.twice = resources
	return b
}

// Measured tells what the tasks of the job use that was added last.
func (b *SnapshotBuilder) Measured(tasks ...usage.Task) *SnapshotBuilder {
	b.snap.Running[len(b.snap.Running)-1].Use = tasks
	return b
}

// Others tells what other work uses of each node.
func (b *SnapshotBuilder) Others(levels ...usage.Level) *SnapshotBuilder {
	b.snap.Others = levels
	return b
}

// Build sorts the jobs, takes what runs from what is free, and refuses
// clusters and jobs that make no sense.
func (b *SnapshotBuilder) Build() (*sched.Snapshot, error) {
	s := b.snap
	s.Nodes = b.set
	if s.Nodes == nil {
		var err error
		if s.Nodes, err = sched.NewNodeSet(b.nodes); err != nil {
			return nil, err
		}
	}
	s.Pending = slices.Clone(s.Pending)
	slices.SortFunc(s.Pending, func(x, y sched.Pending) int {
		if c := x.Job.Submitted.Compare(y.Job.Submitted); c != 0 {
			return c
		}
		return strings.Compare(x.Job.ID, y.Job.ID)
	})
	s.Running = slices.Clone(s.Running)
	slices.SortFunc(s.Running, func(x, y sched.Running) int {
		if c := x.Started.Compare(y.Started); c != 0 {
			return c
		}
		return strings.Compare(x.Job.ID, y.Job.ID)
	})
	s.Free = slices.Clone(s.Nodes.Capacity())
	for _, p := range s.Pending {
		if err := p.Job.Validate(); err != nil {
			return nil, err
		}
	}
	for i := range s.Running {
		if err := hold(&s, &s.Running[i], b.twice); err != nil {
			return nil, err
		}
	}
	return &s, nil
}

func hold(s *sched.Snapshot, r *sched.Running, twice []string) error {
	if err := r.Job.Validate(); err != nil {
		return err
	}
	r.Speed = s.Nodes.Speed(r.Job, r.Nodes)
	demand, err := s.Nodes.Demand(r.Job.Demand)
	if err != nil {
		return fmt.Errorf("job %q: %w", r.Job.ID, err)
	}
	for _, nt := range r.Nodes {
		n, ok := s.Nodes.Index(nt.Node)
		if !ok {
			return fmt.Errorf("job %q runs on unknown node %q", r.Job.ID, nt.Node)
		}
		for k, d := range demand {
			at := n*len(demand) + k
			s.Free[at] -= float64(d * float64(nt.Tasks))
			if sched.Overcommits(s.Free[at], s.Nodes.Capacity()[at]) &&
				!slices.Contains(twice, s.Nodes.Resources()[k]) {
				return fmt.Errorf("job %q over-commits node %q", r.Job.ID, nt.Node)
			}
		}
	}
	return nil
}
