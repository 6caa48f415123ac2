package shadow_test

import (
	"context"
	"fmt"
	"time"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/fake"
	"github.com/hedgesched/hedge/adapters/shadow"
	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
)

// A policy watches a cluster whose own scheduler makes a job wait.
func ExampleCluster() {
	cluster := fake.New(fake.Options{})
	if err := cluster.AddNode(sched.Node{Name: "n0"}); err != nil {
		fmt.Println(err)
		return
	}
	if err := cluster.Submit(fake.Job{Spec: sched.Job{ID: "train", Tasks: 1}, Runtime: time.Minute}); err != nil {
		fmt.Println(err)
		return
	}
	real, err := adapters.New(shadow.ReadOnly(cluster.Connect(nil)), adapters.Options{Now: cluster.Now})
	if err != nil {
		fmt.Println(err)
		return
	}
	minute, _ := dist.NewPoint(60)
	predictor, _ := predict.NewFixed(minute)
	watched := shadow.New(real)
	loop, err := sched.NewLoop(watched, baseline.NewFIFO(), predictor, sched.WithObserver(watched.Observe),
		sched.WithCycle(10*time.Second))
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 4 {
		if _, err := loop.Step(context.Background(), cluster.Now()); err != nil {
			fmt.Println(err)
			return
		}
		cluster.Advance(10 * time.Second)
	}
	report, err := watched.Report(context.Background(), func() (sched.Policy, error) { return baseline.NewFIFO(), nil })
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report)
	fmt.Println("records:", len(cluster.Records()))
	// Output:
	// watched: 30s, cycles: 4, jobs: 1
	// mean wait: 30 s, with this policy 0 s
	// deadlines missed: 0 of 0, with this policy 0
	// jobs that it would have started sooner: 1, later: 0
	//   train 30s sooner
	// records: 0
}
