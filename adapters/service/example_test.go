package service_test

import (
	"context"
	"fmt"
	"log"
	"net"
	"time"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/fake"
	"github.com/hedgesched/hedge/adapters/service"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
)

// watched is a fake cluster's driver: a real one is observed as it is. The cluster's time passes with every look, and
// the program ends with its job.
type watched struct {
	adapters.Driver
	cluster *fake.Cluster
	stop    func()
}

func (w *watched) Observe(ctx context.Context, relist bool) (*adapters.View, error) {
	w.cluster.Advance(time.Second)
	if !w.cluster.Finished("a").IsZero() {
		w.stop()
	}
	return w.Driver.Observe(ctx, relist)
}

// A program that leads and answers health checks until it is told to end. Its lease here is one that is granted at
// once.
func Example() {
	cluster := fake.New(fake.Options{})
	if err := cluster.AddNode(sched.Node{Name: "n0", Capacity: sched.Resources{"cpu": 4}}); err != nil {
		log.Fatal(err)
	}
	spec := sched.Job{ID: "a", Tasks: 2, Demand: sched.Resources{"cpu": 2}}
	if err := cluster.Submit(fake.Job{Spec: spec, Runtime: 10 * time.Second}); err != nil {
		log.Fatal(err)
	}
	instance, err := service.New(service.Options{
		Policy:   func() (sched.Policy, error) { return baseline.NewFIFO(), nil },
		LeaseFor: leaseFor,
		Cycle:    time.Millisecond,
	})
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background()) // a program's has signal.NotifyContext
	defer stop()
	err = instance.Serve(ctx, listener, instance.Handler(nil), func(ctx context.Context) error {
		return instance.Lead(ctx, new(lease), func(ctx context.Context, t adapters.Term) error {
			fmt.Println("leading with epoch", t.Epoch)
			return instance.Schedule(ctx, t, &watched{cluster.Connect(nil), cluster, stop})
		})
	})
	fmt.Println(cluster.Records()[0].Node, err)
	// Output:
	// leading with epoch 1
	// n0 <nil>
}
