package central_test

import (
	"context"
	"fmt"
	"time"

	"github.com/hedgesched/hedge/adapters/sim/agents"
	"github.com/hedgesched/hedge/adapters/sim/central"
	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched/baseline"
)

// A job of three tasks on two nodes, in cycles of two seconds: the third task waits for the first cycle after one of
// the others has ended.
func ExampleRun() {
	guess, err := dist.NewPoint(10)
	if err != nil {
		fmt.Println(err)
		return
	}
	fixed, err := predict.NewFixed(guess)
	if err != nil {
		fmt.Println(err)
		return
	}
	work := &agents.Workload{Jobs: []agents.Job{{Mean: 9 * time.Second, Tasks: 3}},
		Runtimes: []time.Duration{7e9, 9e9, 11e9}}
	r, err := central.Run(context.Background(), work, central.Config{Nodes: 2, Cycle: 2 * time.Second,
		Policy: baseline.NewFIFO(), Predictor: fixed})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Jobs[0].End, r.Launches)
	// Output: 19s 3
}
