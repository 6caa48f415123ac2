package forward

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/place"
)

// errHorizon ends a run at the horizon.
var errHorizon = errors.New("forward: the horizon is reached")

// translator stands between the simulator and the policy. In the simulator no job runs at time 0; the policy sees the
// jobs as the snapshot has them. In the first cycle the translator starts those that run already.
type translator struct {
	*world
	policy  sched.Policy
	horizon time.Duration
	future  *future
	began   time.Time    // time 0 of the simulation
	again   map[int]bool // running jobs that were preempted and begin anew, by index
	ran     bool         // the first cycle is over
}

// Name is the policy's.
func (t *translator) Name() string { return t.policy.Name() }

// Plan shows the policy the snapshot in its own terms, and translates the plan back.
func (t *translator) Plan(ctx context.Context, s *sched.Snapshot) (*sched.Plan, error) {
	first := !t.ran
	if t.ran = true; first {
		t.began = s.Now
		for _, p := range slices.Concat(s.Pending, s.Held) { // the simulator skips idle time
			i, _ := t.find(p.Job.ID)
			t.began = p.Job.Submitted.Add(-t.jobs[i].comes)
			break
		}
	}
	passed := s.Now.Sub(t.began)
	for _, c := range s.Completed {
		t.end(c.Job, c.At.Sub(t.began).Seconds())
	}
	if t.horizon > 0 && passed > t.horizon {
		return nil, errHorizon
	}
	shown := t.show(s, passed, first)
	plan, err := t.policy.Plan(ctx, shown)
	if err != nil {
		return nil, err
	}
	return t.back(s, plan, passed, first), nil
}

// end notes the end of a job of the simulator, unless it is past the horizon.
func (t *translator) end(id string, at float64) {
	late := t.horizon > 0 && at > t.horizon.Seconds()
	if i, ok := t.at[strings.TrimSuffix(id, again)]; ok && !late {
		t.future.end[i] = min(t.future.end[i], at)
	}
}

// find returns the index of the job that a job of the simulator stands for, and whether the policy sees it now.
func (t *translator) find(id string) (i int, seen bool) {
	if i, ok := t.at[id]; ok {
		return i, !t.again[i] || t.jobs[i].Checkpoint
	}
	i = t.at[strings.TrimSuffix(id, again)]
	return i, t.again[i]
}

// show translates a snapshot for the policy.
func (t *translator) show(s *sched.Snapshot, passed time.Duration, first bool) *sched.Snapshot {
	real := func(at time.Time) time.Time { return t.snap.Now.Add(at.Sub(t.began)) }
	out := &sched.Snapshot{Now: t.snap.Now.Add(passed), Cycle: t.snap.Cycle, Nodes: s.Nodes, Free: s.Free}
	if first {
		placer := place.NewPlacer(s)
		for i := range t.jobs {
			if j := &t.jobs[i]; j.run != nil && !j.off {
				out.Running = append(out.Running, *j.run)
				if demand, err := s.Nodes.Demand(j.Demand); err == nil {
					placer.Take(j.run.Nodes, demand)
				}
			}
		}
		out.Free = placer.Free()
	}
	for k := range s.Pending {
		if i, seen := t.find(s.Pending[k].Job.ID); seen && (t.jobs[i].run == nil || t.again[i]) {
			out.Pending = append(out.Pending, sched.Pending{Job: t.jobs[i].Job, Prediction: t.jobs[i].prediction})
		}
	}
	slices.SortFunc(out.Pending, arrival)
	for k := range s.Held {
		i, _ := t.find(s.Held[k].Job.ID)
		out.Held = append(out.Held, sched.Pending{Job: t.jobs[i].Job, Prediction: t.jobs[i].prediction})
	}
	slices.SortFunc(out.Held, arrival)
	for k := range s.Running {
		r := s.Running[k]
		i, _ := t.find(r.Job.ID)
		r.Job, r.Prediction, r.Started = t.jobs[i].Job, t.jobs[i].prediction, real(r.Started)
		if run := t.jobs[i].run; run != nil && !t.again[i] {
			r.Started = run.Started
		}
		out.Running = append(out.Running, r)
	}
	slices.SortFunc(out.Running, func(a, b sched.Running) int {
		if c := a.Started.Compare(b.Started); c != 0 {
			return c
		}
		return strings.Compare(a.Job.ID, b.Job.ID)
	})
	for _, c := range s.Completed {
		out.Completed = append(out.Completed, sched.Completion{Job: strings.TrimSuffix(c.Job, again), At: real(c.At)})
	}
	return out
}

// back translates a plan for the simulator. In the first cycle it also starts the jobs that run in the snapshot, unless
// the policy preempts them.
func (t *translator) back(s *sched.Snapshot, plan *sched.Plan, passed time.Duration, first bool) *sched.Plan {
	out := *plan
	out.Decisions = nil
	for _, d := range plan.Decisions {
		i := t.at[d.Job]
		name := d.Job
		if t.again[i] && !t.jobs[i].Checkpoint {
			name += again
		}
		switch d.Kind {
		case sched.Start:
			t.future.start[i] = min(t.future.start[i], passed.Seconds())
		case sched.Preempt:
			if t.jobs[i].run != nil {
				t.again[i] = true
			}
			if first {
				continue // the simulator has not started it, so it just does not
			}
		}
		d.Job = name
		out.Decisions = append(out.Decisions, d)
	}
	if first {
		for i := range t.jobs {
			if j := &t.jobs[i]; j.run != nil && !j.off && !t.again[i] {
				out.Decisions = append(out.Decisions, sched.Decision{Job: j.ID, Kind: sched.Start, Nodes: j.run.Nodes,
					Reason: sched.Reason{Code: sched.ReasonPlaced, Probability: sched.UnknownProbability}})
			}
		}
	}
	if out.Rest.Code == "" && len(s.Pending) > len(out.Decisions) {
		out.Rest = sched.Reason{Code: sched.ReasonWaiting, Probability: sched.UnknownProbability}
	}
	return &out
}
