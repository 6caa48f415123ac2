package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/hedgesched/hedge/adapters"
)

// ErrOptions is the sentinel of options that cannot be used.
var ErrOptions = errors.New("kubernetes: invalid option")

// Options are how a driver looks at a cluster. The zero value schedules pods of the scheduler name hedge in all
// namespaces and on all nodes.
type Options struct {
	// SchedulerName is what pods name to be scheduled; default hedge.
	SchedulerName string
	// Namespace is the only one whose pods are scheduled; all if it is empty. Work of others is counted in all.
	Namespace string
	// NodeSelector is a label selector of the nodes that are used; all if it is empty.
	NodeSelector string
	// Lease is the leader's, whose transitions are the epoch that every action must have; none is checked if Name is
	// empty.
	Lease LeaseName
	// CheckLease is for how long starts believe that no other instance leads, once the lease was read; by default every
	// start reads it, or shares the answer with others that ask at the same time. It must be much less than the margin
	// within which a leader that cannot renew its lease gives up, see [adapters.LeadOptions]. Stops always read it.
	CheckLease time.Duration
	// Patience is how long a node may be silent until work of pods without a toleration of node.kubernetes.io/unreachable
	// is given up; default 5 min. For others it is their toleration's. While more than half of the nodes are silent, none
	// is given up.
	Patience time.Duration
	// Parallel is how many calls are made at a time for gangs, beside the first of each, default 16, and Timeout how long
	// each may take, default 10 s.
	Parallel int
	Timeout  time.Duration
	// Events is how many notes may wait to be written, default 1000. More are refused, and handed in again later.
	Events int
}

// LeaseName is where a lease is.
type LeaseName struct{ Namespace, Name string }

func (o *Options) withDefaults() (labels.Selector, error) {
	for _, d := range []struct {
		name     string
		value    *int64
		standard int64
	}{{"Patience", (*int64)(&o.Patience), int64(5 * time.Minute)},
		{"Timeout", (*int64)(&o.Timeout), int64(10 * time.Second)}} {
		if *d.value < 0 {
			return nil, fmt.Errorf("%w: %s of %v", ErrOptions, d.name, time.Duration(*d.value))
		}
		if *d.value == 0 {
			*d.value = d.standard
		}
	}
	if o.Parallel < 0 || o.Events < 0 || o.CheckLease < 0 {
		return nil,
			fmt.Errorf("%w: Parallel of %d, Events of %d, CheckLease of %v", ErrOptions, o.Parallel, o.Events, o.CheckLease)
	}
	if o.Parallel == 0 {
		o.Parallel = 16
	}
	if o.Events == 0 {
		o.Events = 1000
	}
	if o.SchedulerName == "" {
		o.SchedulerName = "hedge"
	}
	s, err := labels.Parse(o.NodeSelector)
	if err != nil {
		return nil, fmt.Errorf("%w: NodeSelector: %w", ErrOptions, err)
	}
	return s, nil
}

// Client makes a client as a scheduler needs it: without a limit of its own on calls, with the compact encoding, and
// without words on the process's log.
func Client(config *rest.Config) (kubernetes.Interface, error) {
	c := rest.CopyConfig(config)
	c.QPS, c.Burst = -1, 0
	c.ContentType = "application/vnd.kubernetes.protobuf"
	c.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	c.WarningHandler = rest.NoWarnings{}
	client, err := kubernetes.NewForConfig(c)
	if err != nil {
		return nil, fmt.Errorf("kubernetes: client: %w", err)
	}
	return client, nil
}

// Driver is a connection to a cluster: an [adapters.Driver] and [adapters.Explainer]. Start, Stop and Explain are safe
// for concurrent use, for different jobs, and Close may be called from any goroutine; otherwise it is for one goroutine
// at a time.
type Driver struct {
	client  kubernetes.Interface
	opt     Options
	model   *model
	feeds   []*feed
	writer  *writer
	leads   *adapters.Fence // nil where no lease is checked
	slots   chan struct{}   // one for each call that may be under way
	back    error           // that the server's store went back in time, once that is known; of Observe alone
	cancel  context.CancelFunc
	running sync.WaitGroup
}

var (
	_ adapters.Driver    = (*Driver)(nil)
	_ adapters.Explainer = (*Driver)(nil)
)

// Open connects to the cluster and waits for the first lists of all that it needs and until all is watched, so that a
// missing right is an error of Open, which wraps [adapters.ErrRefused]. The context is that of Open alone; the driver
// works until Close.
func Open(ctx context.Context, client kubernetes.Interface, o Options) (*Driver, error) {
	if client == nil {
		return nil, fmt.Errorf("%w: nil client", ErrOptions)
	}
	selector, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	d := &Driver{client: client, opt: o, model: newModel(o, selector), slots: make(chan struct{}, o.Parallel)}
	d.feeds, d.leads = d.newFeeds(), d.newFence()
	if err := d.listAll(ctx); err != nil {
		return nil, failed("open", err)
	}
	work, cancel := context.WithCancel(context.Background())
	d.cancel = cancel
	d.writer = newWriter(client, o, d.model)
	for _, f := range d.feeds {
		d.running.Go(func() { f.run(work, d.model) })
	}
	d.running.Go(func() { d.writer.run(work) })
	if err := d.opening(ctx); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// Close cuts the connection. Every goroutine has ended when it returns; notes that were not written yet are lost.
func (d *Driver) Close() {
	d.cancel()
	d.running.Wait()
}

// Dropped is how many events and conditions were lost: those that the server does not take, and words of stops while
// too many notes wait to be written.
func (d *Driver) Dropped() uint64 { return d.writer.dropped.Load() }
