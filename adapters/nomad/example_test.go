package nomad_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/hashicorp/nomad/api"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/nomad"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
)

// A user can check what hedge will make of a job.
func ExampleDescribe() {
	job := api.NewBatchJob("report", "report", "global", 50)
	job.Datacenters = []string{"*"}
	job.Meta = map[string]string{nomad.KeyMark: "true", nomad.KeyTasks: "8", nomad.KeyDeadline: "45m",
		nomad.KeySpeeds: "node.class=fast 1; other 0.5"}
	cpu, memory := 500, 256
	work := api.NewTask("work", "exec").Require(&api.Resources{CPU: &cpu, MemoryMB: &memory})
	job.AddTaskGroup(api.NewTaskGroup("work", 0).AddTask(work))

	spec, err := nomad.Describe(job)
	fmt.Println(spec.Tasks, "tasks of", spec.Demand, "within", spec.Deadline, err)
	fmt.Println("on", spec.Required, "at speed", spec.Speeds)

	job.Meta[nomad.KeyDeadline] = "tomorrow"
	_, err = nomad.Describe(job)
	before, after, _ := strings.Cut(err.Error(), ", expected ")
	fmt.Println(before)
	fmt.Println("expected", after)
	// Output:
	// 8 tasks of map[cpu:500 memory:256] within 45m0s <nil>
	// on driver.exec=true&node.pool=default at speed node.class=fast 1; other 0.5
	// nomad: job cannot be scheduled: "report": meta hedge_deadline = "tomorrow"
	// expected a duration of at least 1s, like 2h30m, or a time, like 2026-01-02T15:04:05Z
}

// A scheduler for Nomad: one of several instances leads, and runs a loop.
func Example() {
	config := api.DefaultConfig() // NOMAD_ADDR, NOMAD_TOKEN, NOMAD_CACERT, ...
	lease, err := nomad.NewLease(config, nomad.Options{}, 0)
	if err != nil {
		log.Fatal(err)
	}
	work := func(ctx context.Context, t adapters.Term) error {
		driver, err := nomad.New(config, nomad.Options{})
		if err != nil {
			return err
		}
		defer driver.Close()
		cluster, err := adapters.New(driver, adapters.Options{Epoch: t.Epoch})
		if err != nil {
			return err
		}
		history, err := predict.NewHistory(nil)
		if err != nil {
			return err
		}
		loop, err := sched.NewLoop(cluster, baseline.NewPrio(), history, sched.WithErrorHandler(adapters.Unavailable))
		if err != nil {
			return err
		}
		return loop.Run(ctx)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // a real one runs until it is told to stop
	fmt.Println(adapters.Lead(ctx, lease, work, adapters.LeadOptions{}))
	// Output: <nil>
}
