package outlook_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/sched/baseline"
	"github.com/hedgesched/hedge/sched/outlook"
	"github.com/hedgesched/hedge/sched/schedtest"
)

// Two jobs wait for one that runs for 10 to 20 minutes. In a program, the snapshot and the plan are those of the cycle
// that sched.WithObserver receives.
func Example() {
	training, err := dist.NewUniform(600, 1200)
	if err != nil {
		log.Fatal(err)
	}
	s, err := schedtest.Snapshot(schedtest.Nodes(2, 1)).Now(300).
		Running(schedtest.Job("train", 2).Predicted(training), 0, "n0", "n1").
		Pending(schedtest.Job("first", 2).Submitted(60).Runs(300), schedtest.Job("second", 2).Submitted(90).Runs(900)).Build()
	if err != nil {
		log.Fatal(err)
	}
	s.Cycle = 10 * time.Second
	plan, err := baseline.NewFIFO().Plan(context.Background(), s)
	if err != nil {
		log.Fatal(err)
	}
	estimator, err := outlook.New(outlook.Config{Seed: 1, Worlds: 64})
	if err != nil {
		log.Fatal(err)
	}
	told, err := estimator.Look(s, plan)
	if err != nil {
		log.Fatal(err)
	}
	for i := range told {
		fmt.Printf("%s starts in about %.0f min\n", told[i].Job, told[i].Start.Quantile(0.5)/60)
	}
	// Output:
	// first starts in about 10 min
	// second starts in about 15 min
}
