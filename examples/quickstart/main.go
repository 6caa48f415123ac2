// Command quickstart asks 3Sigma once: two jobs, one node, a plan with its reasons.
package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/threesigma"
	"github.com/hedgesched/hedge/utility"
)

func main() {
	plan, err := run(time.Now())
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range plan.Decisions {
		fmt.Printf("%-7s %-6s %s\n", d.Job, d.Kind, d.Reason)
	}
}

// run asks for one plan: a report is due in 15 minutes, a batch job is worth half as much
// in an hour, and both have taken anything from 1 to 10 minutes before.
func run(now time.Time) (*sched.Plan, error) {
	runtime, err := dist.FromSamples([]float64{60, 120, 240, 420, 600})
	if err != nil {
		return nil, err
	}
	report, err := utility.Deadline(15*time.Minute, 100)
	if err != nil {
		return nil, err
	}
	batch, err := utility.BestEffort(5, time.Hour)
	if err != nil {
		return nil, err
	}
	nodes, err := sched.NewNodeSet([]sched.Node{{Name: "laptop"}})
	if err != nil {
		return nil, err
	}
	policy, err := threesigma.New(threesigma.Config{})
	if err != nil {
		return nil, err
	}
	forecast := predict.Prediction{Dist: runtime, Point: runtime.Mean()}
	return policy.Plan(context.Background(), &sched.Snapshot{
		Now: now, Nodes: nodes, Free: nodes.Capacity(),
		Pending: []sched.Pending{
			{Prediction: forecast, Job: &sched.Job{ID: "batch", Tasks: 1, Utility: batch, Submitted: now}},
			{Prediction: forecast, Job: &sched.Job{ID: "report", Tasks: 1, Utility: report, Submitted: now,
				Deadline: 15 * time.Minute, Priority: 1}},
		},
	})
}
