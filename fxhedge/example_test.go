package fxhedge_test

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/fx"

	"github.com/hedgesched/hedge/fxhedge"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/utility"
)

// toy is a cluster of one node, whose job is done as soon as it is started.
type toy struct {
	told []sched.Event
	app  fx.Shutdowner
}

func newToy(app fx.Shutdowner) (sched.Cluster, error) {
	worth, err := utility.Deadline(time.Hour, 10)
	if err != nil {
		return nil, err
	}
	return &toy{app: app, told: []sched.Event{
		{Kind: sched.NodeUp, Node: &sched.Node{Name: "n", Capacity: sched.Resources{"gpu": 8}}},
		{Kind: sched.Submitted, Job: &sched.Job{ID: "train", Tasks: 4, Demand: sched.Resources{"gpu": 2},
			Utility: worth, Deadline: time.Hour, Submitted: time.Now()}},
	}}, nil
}

func (t *toy) Events(context.Context) ([]sched.Event, error) {
	told := t.told
	t.told = nil
	return told, nil
}

func (t *toy) Apply(_ context.Context, plan *sched.Plan) error {
	for _, d := range plan.Decisions {
		fmt.Println(d.Kind, d.Job, d.Nodes)
		t.told = append(t.told, sched.Event{Kind: sched.Finished, ID: d.Job, Runtime: time.Minute})
		return t.app.Shutdown()
	}
	return nil
}

// A program with a cluster of its own: it provides the cluster, and the rest is there. The app ends by a signal, or, as
// here, by itself.
func ExampleLoop() {
	app := fx.New(
		fxhedge.Loop(fxhedge.Config{Engine: "native,greedy", Cycle: 10 * time.Millisecond}),
		fx.Provide(newToy),
		fx.NopLogger,
	)
	app.Run()
	fmt.Println(app.Err())
	// Output:
	// start train [{n 4}]
	// <nil>
}
