package agents_test

import (
	"fmt"
	"time"

	"github.com/hedgesched/hedge/adapters/sim/agents"
	"github.com/hedgesched/hedge/sched/eagle"
)

// A job of two tasks on ten idle workers: a probe, the question and the answer take half a millisecond each.
func ExampleRun() {
	v, err := eagle.Named("eagle")
	if err != nil {
		fmt.Println(err)
		return
	}
	system, err := eagle.New(eagle.Config{Switches: v, Workers: 10, ShortShare: 10, MinProbes: 20, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	work := &agents.Workload{Jobs: []agents.Job{{Mean: 10 * time.Second, Tasks: 2}}, Runtimes: []time.Duration{8e9, 12e9}}
	r, err := agents.Run(work, system, agents.Config{Delay: 500 * time.Microsecond, Cutoff: 90 * time.Second})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Jobs[0].End-r.Jobs[0].Submit, r.Launches)
	// Output: 12.0015s 2
}
