package yarn_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/yarn"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
)

// A user can check what hedge will make of a job file.
func ExampleDescribe() {
	file := `
tasks: 8
resources: {memory-mb: 512, vcores: 2}
command: ./train --rank $HEDGE_RANK
environment: {DATA: "it's here"}
deadline: 45m
speeds: rack=/r1|/r2 1; other 0.5
`
	spec, err := yarn.Describe("train", []byte(file), time.Now())
	fmt.Println(spec.Tasks, "tasks of", spec.Demand, "within", spec.Deadline, err)
	fmt.Println("on", spec.Required, "at speed", spec.Speeds)

	_, err = yarn.Describe("train", []byte(file+"dedline: 1h\n"), time.Now())
	fmt.Println(err)
	// Output:
	// 8 tasks of map[memory-mb:512 vcores:2] within 45m0s <nil>
	// on kind=node&label="" at speed rack=/r1|/r2 1; other 0.5
	// yarn: job cannot be scheduled: "train": field "dedline" is unknown
}

// To submit and withdraw jobs, put files into a folder and delete them.
func ExampleSubmit() {
	spool, err := os.MkdirTemp("", "hedge-example")
	if err != nil {
		log.Fatal(err)
	}
	// New creates the folders; a running hedge has done so.
	_, err = yarn.New(yarn.Options{URLs: []string{"http://rm1:8088", "http://rm2:8088"}, Spool: spool})
	fmt.Println(err)
	job := []byte("resources: {memory-mb: 64}\ncommand: sleep 10\n")
	fmt.Println(yarn.Submit(spool, "nap", job))
	fmt.Println(yarn.Withdraw(spool, "nap"))
	fmt.Println(os.RemoveAll(spool))
	// Output:
	// <nil>
	// <nil>
	// <nil>
	// <nil>
}

// A scheduler for YARN: one of several instances leads, and runs a loop.
func Example() {
	spool, err := os.MkdirTemp("", "hedge-example") // a real one is on a file system that all instances share
	if err != nil {
		log.Fatal(err)
	}
	o := yarn.Options{
		URLs: []string{"http://rm1:8088", "http://rm2:8088"}, Spool: spool, User: "hedge", HeadroomMB: 1024,
		HeadroomVCores: 4,
		AM: yarn.AM{
			Classpath: "/opt/hedge/hedge-am.jar:/opt/hadoop/share/hadoop/yarn/*:" +
				"/opt/hadoop/share/hadoop/common/*:/etc/hadoop/conf"},
	}
	lease, err := yarn.NewLease(o, 0)
	if err != nil {
		log.Fatal(err)
	}
	work := func(ctx context.Context, t adapters.Term) error {
		driver, err := yarn.New(o)
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
	fmt.Println(adapters.Lead(ctx, lease, work, adapters.LeadOptions{}), os.RemoveAll(spool))
	// Output: <nil> <nil>
}
