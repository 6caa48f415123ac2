package backfill_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/backfill"
	"github.com/hedgesched/hedge/sched/schedtest"
)

// queue is four nodes, two of which are held for 100 s more, and three pending jobs.
func queue() *sched.Snapshot {
	s, err := schedtest.Snapshot(schedtest.Nodes(4, 1)).
		Running(schedtest.Job("simulation", 2).Runs(100), 0, "n0", "n1").
		Pending(schedtest.Job("wide", 4).Submitted(1).Runs(50), schedtest.Job("long", 2).Submitted(2).Runs(300),
			schedtest.Job("short", 2).Submitted(3).Runs(80)).Build()
	if err != nil {
		log.Fatal(err)
	}
	return s
}

// EASY reserves for the first job that has to wait. A later job starts at once if it is over by then.
func ExampleNewEasy() {
	s := queue()
	plan, err := backfill.NewEasy(backfill.Forecast()).Plan(context.Background(), s)
	if err != nil {
		log.Fatal(err)
	}
	for d := range plan.All(s) {
		if d.Start.IsZero() {
			fmt.Printf("%s: %s: %s\n", d.Job, d.Kind, d.Reason)
			continue
		}
		fmt.Printf("%s: reserved in %v: %s\n", d.Job, d.Start.Sub(s.Now), d.Reason)
	}
	// Output:
	// wide: reserved in 1m40s: waits on any, behind simulation, short
	// short: start: starts now on any
	// long: defer: waits, behind wide, simulation, short
}

// Conservative backfill reserves for every job.
func ExampleNewConservative() {
	s := queue()
	plan, err := backfill.NewConservative(backfill.Forecast()).Plan(context.Background(), s)
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range plan.Decisions {
		if d.Kind == sched.Defer {
			fmt.Printf("%s in %v\n", d.Job, d.Start.Sub(s.Now))
		}
	}
	// Output:
	// wide in 1m40s
	// long in 2m30s
}

// Starts answers as a batch system does that is asked when jobs start. Each user has asked for two hours.
func ExampleStarts() {
	s := queue()
	s.Running[0].Job.Requested = 2 * time.Hour
	for i := range s.Pending {
		s.Pending[i].Job.Requested = 2 * time.Hour
	}
	starts, err := backfill.Starts(s, backfill.Requested())
	if err != nil {
		log.Fatal(err)
	}
	for i := range starts {
		fmt.Printf("%s in %v\n", s.Pending[i].Job.ID, starts[i].Sub(s.Now))
	}
	// Output:
	// wide in 2h0m0s
	// long in 0s
	// short in 4h0m0s
}
