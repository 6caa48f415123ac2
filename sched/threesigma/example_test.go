package threesigma_test

import (
	"context"
	"fmt"
	"time"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/threesigma"
	"github.com/hedgesched/hedge/utility"
)

// A policy is asked once, without a loop: a pure function from a snapshot to a plan.
func ExamplePolicy_Plan() {
	now := time.Unix(0, 0).UTC()
	nodes, _ := sched.NewNodeSet([]sched.Node{{Name: "n0"}})
	worth, _ := utility.Deadline(15*time.Minute, 100)
	decay, _ := utility.LinearDecay(5, time.Hour)
	runtime, _ := dist.NewUniform(150, 450)
	forecast := predict.Prediction{Dist: runtime, Point: runtime.Mean()}

	policy, err := threesigma.New(threesigma.Config{Slot: 150 * time.Second, Window: 20 * time.Minute})
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := policy.Plan(context.Background(), &sched.Snapshot{
		Now: now, Nodes: nodes, Free: []float64{1},
		Pending: []sched.Pending{
			{Job: &sched.Job{ID: "batch", Tasks: 1, Utility: decay, Submitted: now}, Prediction: forecast},
			{Job: &sched.Job{ID: "report", Tasks: 1, Utility: worth, Deadline: 15 * time.Minute, Priority: 1, Submitted: now},
				Prediction: forecast},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range plan.Decisions {
		fmt.Println(d.Job, d.Kind, d.Start.Sub(now), d.Nodes)
	}
	// Output:
	// batch start 0s [{n0 1}]
	// report defer 7m30s []
}
