package record_test

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/record"
	"github.com/hedgesched/hedge/sched/schedtest"
	"github.com/hedgesched/hedge/sched/threesigma"
)

// A cycle is recorded, read back and planned again: the plan is the same.
func ExampleRecorder() {
	now := time.Unix(0, 0).UTC()
	policy, _ := threesigma.New(threesigma.Config{})
	plans := &keeper{Policy: policy} // notes the plans, for comparison
	var file bytes.Buffer            // a file, buffered and perhaps compressed
	recorder := record.NewRecorder(plans, &file)

	cluster := schedtest.NewCluster(now, schedtest.Nodes(4, 2))
	report := schedtest.Job("report", 3).Deadline(400).Priority(1).Runs(300)
	batch := schedtest.Job("batch", 2).Runs(600)
	loop, _ := sched.NewLoop(cluster, recorder, schedtest.Forecasts(report, batch))
	cluster.Submit(report.Job(), 300)
	cluster.Submit(batch.Job(), 600)
	if _, err := loop.Step(context.Background(), now); err != nil {
		fmt.Println(err)
	}
	if err := recorder.Err(); err != nil {
		fmt.Println(err)
	}

	snapshot, err := record.NewReader(&file).Read()
	if err != nil {
		fmt.Println(err)
		return
	}
	again, _ := threesigma.New(threesigma.Config{})
	plan, err := again.Plan(context.Background(), snapshot)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range plan.Decisions {
		fmt.Println(d.Job, d.Kind)
	}
	fmt.Println("the same plan:", reflect.DeepEqual(plan, plans.plans[0]))
	// Output:
	// batch defer
	// report start
	// the same plan: true
}
