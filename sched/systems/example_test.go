package systems_test

import (
	"context"
	"fmt"
	"time"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/schedtest"
	"github.com/hedgesched/hedge/sched/systems"
)

// widest is a policy of one's own: of the jobs that fit the free nodes it starts the widest.
type widest struct{}

func (widest) Name() string { return "widest" }

func (widest) Plan(_ context.Context, s *sched.Snapshot) (*sched.Plan, error) {
	if err := sched.CheckSnapshot(s); err != nil {
		return nil, err
	}
	var free []sched.NodeTasks
	for i, amount := range s.Free { // of whole nodes: one resource
		if amount >= 1 {
			free = append(free, sched.NodeTasks{Node: s.Nodes.Node(i).Name, Tasks: 1})
		}
	}
	var best *sched.Pending
	for i := range s.Pending {
		p := &s.Pending[i]
		if p.Job.Tasks <= len(free) && (best == nil || p.Job.Tasks > best.Job.Tasks) {
			best = p
		}
	}
	if best == nil {
		return &sched.Plan{}, nil
	}
	why := sched.Reason{Code: "widest", Value: best.Prediction.Point}
	return &sched.Plan{Decisions: []sched.Decision{
		{Job: best.Job.ID, Kind: sched.Start, Nodes: free[:best.Job.Tasks], Reason: why},
	}}, nil
}

// A system of one's own, with a policy and a predictor that hedge does not know, is registered beside those that it has
// and run by its name.
func ExampleSet_Register() {
	set := systems.Builtin()
	mine := systems.System{
		Name: "widest", Summary: "starts the widest job that fits", Paper: "none yet",
		Policy: func(*systems.Planning) (sched.Policy, error) { return widest{}, nil },
		Predictor: func(*systems.Knowledge) (predict.Predictor, error) {
			minute, err := dist.NewPoint(60)
			if err != nil {
				return nil, err
			}
			return predict.NewFixed(minute) // every job is believed to take a minute
		},
	}
	fmt.Println(set.Register(mine))
	fmt.Println(set.Register(mine))

	system, err := set.Find("widest")
	if err != nil {
		fmt.Println(err)
		return
	}
	policy, err := system.Policy(&systems.Planning{})
	if err != nil {
		fmt.Println(err)
		return
	}
	predictor, err := system.Predictor(&systems.Knowledge{})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Unix(0, 0).UTC()
	cluster := schedtest.NewCluster(now, schedtest.Nodes(4, 1))
	loop, err := sched.NewLoop(cluster, policy, predictor)
	if err != nil {
		fmt.Println(err)
		return
	}
	cluster.Submit(schedtest.Job("narrow", 1).Job(), 60)
	cluster.Submit(schedtest.Job("wide", 3).Job(), 60)
	for range 2 {
		cycle, err := loop.Step(context.Background(), now)
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, d := range cycle.Plan.Decisions {
			fmt.Println(d.Job, d.Kind, d.Nodes, d.Reason.Value)
		}
	}
	// Output:
	// <nil>
	// systems: name is taken: "widest"
	// wide start [{n0 1} {n1 1} {n2 1}] 60
	// narrow start [{n3 1}] 60
}
