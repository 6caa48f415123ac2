package fake_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/fake"
	"github.com/hedgesched/hedge/sched"
)

// A driver sees the cluster by a watch, acts by calls, and can be refused; what really ran where is in the records.
func ExampleCluster() {
	c := fake.New(fake.Options{Seed: 1, StartDelay: 2 * time.Second})
	if err := c.AddNode(sched.Node{Name: "n0", Capacity: sched.Resources{"cpu": 4}}); err != nil {
		log.Fatal(err)
	}
	spec := sched.Job{ID: "a", Tasks: 2, Demand: sched.Resources{"cpu": 2}}
	if err := c.Submit(fake.Job{Spec: spec, Runtime: time.Minute}); err != nil {
		log.Fatal(err)
	}
	ctx, d := context.Background(), c.Connect(nil)
	view, err := d.Observe(ctx, true)
	if err != nil {
		log.Fatal(err)
	}
	start := &adapters.Start{Job: &view.Jobs[0], Nodes: []sched.NodeTasks{{Node: "n0", Tasks: 2}}, Epoch: 1}
	fmt.Println(d.Start(ctx, start))
	fmt.Println(d.Start(ctx, start))
	c.Advance(2 * time.Minute)
	for _, r := range c.Records() {
		fmt.Println(r.Job, "task", r.Task, "on", r.Node, r.State)
	}
	// Output:
	// <nil>
	// adapters: the decision is out of date: job "a" is at version 3, not 2
	// a task 0 on n0 finished
	// a task 1 on n0 finished
}
