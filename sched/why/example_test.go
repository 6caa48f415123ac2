package why_test

import (
	"context"
	"fmt"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
	"github.com/hedgesched/hedge/sched/schedtest"
	"github.com/hedgesched/hedge/sched/whatif"
	"github.com/hedgesched/hedge/sched/why"
)

// A job waits on a cluster of four nodes. In a program the snapshot and the plan come from a loop's observer or from a
// recording.
func ExampleExplainer_Explain() {
	snapshot, err := schedtest.Snapshot(schedtest.Nodes(4, 2)).Now(60).
		Running(schedtest.Job("batch", 2).Runs(300), 0, "n0", "n1").
		Pending(schedtest.Job("train", 3).Submitted(30)).Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	policy := func() (sched.Policy, error) { return baseline.NewEDF(), nil }
	plan, err := whatif.Fresh(policy)(ctx, snapshot)
	if err != nil {
		fmt.Println(err)
		return
	}
	explainer, err := why.New(snapshot, plan, why.Options{Plan: whatif.Fresh(policy)})
	if err != nil {
		fmt.Println(err)
		return
	}
	explanation, err := explainer.Explain(ctx, "train")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(explanation)
	for _, remedy := range explanation.Remedies {
		fmt.Println(remedy.Kind, remedy.Changes)
	}
	// Output:
	// train waits: waits on any, behind batch
	// there is room for 2 of its 3 tasks now, on any
	// short: needs 3 node, 1 too little
	// held: by batch on 2 nodes, room for 2 tasks; ends in 4m0s
	// it would start now: with 2 tasks instead of 3
	// it would start now: if batch ended, as is expected in 4m0s
	// it would start now: with 1 more node like n0
	// tasks [tasks train 2]
	// ends [drop batch]
	// nodes [add 1 node like n0]
}
