package adapters_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/fake"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
)

// Before each action, a driver checks that its instance still leads. Here the lease is a number.
func ExampleFence() {
	lease := uint64(7)
	fence := adapters.NewFence(func(context.Context) (adapters.Leader, error) {
		return adapters.Leader{Epoch: lease}, nil
	}, 0, nil)
	fmt.Println(fence.Check(context.Background(), 7))
	lease++ // another instance has taken it
	fmt.Println(fence.Check(context.Background(), 7))
	// Output:
	// <nil>
	// adapters: another instance leads: an action of epoch 7, the lease is at 8
}

// A loop drives a cluster through the cluster's driver. Here the cluster is a fake one in virtual time. For a real one,
// the driver and the clock differ.
func ExampleNew() {
	servers := fake.New(fake.Options{StartDelay: time.Second})
	for _, name := range []string{"n0", "n1"} {
		if err := servers.AddNode(sched.Node{Name: name, Capacity: sched.Resources{"cpu": 4}}); err != nil {
			log.Fatal(err)
		}
	}
	cluster, err := adapters.New(servers.Connect(nil), adapters.Options{Epoch: 1, Now: servers.Now})
	if err != nil {
		log.Fatal(err)
	}
	history, err := predict.NewHistory(nil)
	if err != nil {
		log.Fatal(err)
	}
	loop, err := sched.NewLoop(cluster, baseline.NewFIFO(), history, sched.WithErrorHandler(adapters.Unavailable))
	if err != nil {
		log.Fatal(err)
	}
	for _, id := range []string{"a", "b"} {
		spec := sched.Job{ID: id, Tasks: 3, Demand: sched.Resources{"cpu": 2}}
		if err := servers.Submit(fake.Job{Spec: spec, Runtime: 10 * time.Second}); err != nil {
			log.Fatal(err)
		}
	}
	for begin := servers.Now(); servers.Finished("b").IsZero(); servers.Advance(2 * time.Second) {
		cycle, err := loop.Step(context.Background(), servers.Now())
		if err != nil {
			log.Fatal(err)
		}
		for _, d := range cycle.Plan.Decisions {
			fmt.Println(servers.Now().Sub(begin), d.Kind, d.Job, d.Nodes, d.Reason)
		}
	}
	fmt.Println(servers.Notes("b"))
	// Output:
	// 0s start a [{n0 2} {n1 1}] starts now on any
	// 0s defer b [] waits on any, behind a
	// 2s defer b [] waits on any, behind a
	// 4s defer b [] waits on any, behind a
	// 6s defer b [] waits on any, behind a
	// 8s defer b [] waits on any, behind a
	// 10s defer b [] waits on any, behind a
	// 12s start b [{n0 2} {n1 1}] starts now on any
	// [waits on any, behind a]
}

// One instance at a time works. As soon as the lease is free, another begins anew, with what was learnt.
func ExampleLead() {
	servers := fake.New(fake.Options{})
	file := adapters.HistoryFile(filepath.Join(os.TempDir(), fmt.Sprint("hedge-example-", os.Getpid())))
	work := func(ctx context.Context, t adapters.Term) error {
		history, err := predict.NewHistory(nil)
		if err != nil {
			return err
		}
		until, err := file.Load(history) // if the file is damaged: a new history, and an error to report
		if err != nil {
			return err
		}
		cluster, err := adapters.New(servers.Connect(nil), adapters.Options{Epoch: t.Epoch, LearntUntil: until})
		if err != nil {
			return err
		}
		loop, err := sched.NewLoop(cluster, baseline.NewFIFO(), history, sched.WithErrorHandler(adapters.Unavailable))
		if err != nil {
			return err
		}
		fmt.Println("leading, epoch", t.Epoch)
		ctx, cancel := context.WithTimeout(ctx, 10*time.Millisecond) // a real instance works until it is told to stop
		defer cancel()
		if err := loop.Run(ctx); err != nil {
			return err
		}
		return file.Save(history, cluster.LearntUntil())
	}
	for range 2 {
		if err := adapters.Lead(context.Background(), servers.Lease(), work, adapters.LeadOptions{}); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(os.Remove(string(file)))
	// Output:
	// leading, epoch 1
	// leading, epoch 2
	// <nil>
}
