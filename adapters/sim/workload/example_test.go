package workload_test

import (
	"fmt"
	"time"

	"github.com/hedgesched/hedge/adapters/sim/workload"
	"github.com/hedgesched/hedge/predict"
)

func ExampleBuild() {
	spec := workload.Default() // 3Sigma's set-up: load 1.4, half SLO jobs, 5 hours
	spec.Nodes, spec.Racks = 64, 4
	w, err := workload.Build(synthetic(8000, 1), spec)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("load %.2f over %v, %.0f machine-hours\n", w.Load, w.Span, w.MachineHours)
	fmt.Println("halves:", w.SLOJobs == len(w.Jobs)/2)
	// Output:
	// load 1.40 over 5h0m0s, 448 machine-hours
	// halves: true
}

func ExampleBuild_replay() {
	w, err := workload.Build(synthetic(100, 1), workload.Spec{Kind: workload.Replay, Nodes: 16})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(w.Jobs), w.Skipped)
	// Output: 67 map[wider than the cluster:33]
}

func ExampleDeadline() {
	for _, s := range workload.Deadline(workload.Default(), 20, 100, 180) {
		fmt.Println(s.Name, s.Slack)
	}
	// Output:
	// DEADLINE-20 [20]
	// DEADLINE-100 [100]
	// DEADLINE-180 [180]
}

func ExampleWorkload_TrainPredictor() {
	w, err := workload.Build(synthetic(8000, 1), workload.Default())
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := predict.NewHistory(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := w.TrainPredictor(p); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Predict(predict.Job{Attributes: map[string]string{"user": "u1", "name": "n1"}}).Samples > 0)
	// Output: true
}

func ExampleWorkload_PlanAhead() {
	w, err := workload.Build(synthetic(8000, 1), workload.Default())
	if err != nil {
		fmt.Println(err)
		return
	}
	window, slot := w.PlanAhead()
	fmt.Println(window > 10*time.Minute, window%slot)
	// Output: true 0s
}
