package sim_test

import (
	"context"
	"fmt"
	"time"

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
)

func ExampleRun() {
	minute, _ := dist.NewPoint(60)
	predictor, _ := predict.NewFixed(minute)
	result, err := sim.Run(context.Background(), sim.Config{
		Nodes: sim.Nodes(4, 2, 1),
		Jobs: []sim.Job{
			{Job: sched.Job{ID: "wide", Tasks: 4}, Work: sim.Runtime(time.Minute)},
			{
				Job:    sched.Job{ID: "urgent", Tasks: 1, Deadline: 90 * time.Second},
				Arrive: time.Second, Work: sim.Runtime(time.Minute),
			},
		},
		Policy:    baseline.NewFIFO(),
		Predictor: predictor,
		Cycle:     10 * time.Second,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, j := range result.Jobs {
		fmt.Println(j.ID, "starts", j.Start, "finishes", j.Finish, "missed", j.Missed())
	}
	fmt.Printf("miss rate %.2f, utilisation %.2f\n", result.Metrics.SLO.MissRate, result.Metrics.Utilisation)
	// Output:
	// wide starts 0s finishes 1m0s missed false
	// urgent starts 1m0s finishes 2m0s missed true
	// miss rate 1.00, utilisation 0.62
}
