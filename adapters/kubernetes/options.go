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

// ErrOptions is an option that cannot be used.
var ErrOptions = errors.New("kubernetes: invalid option")

// Options are the options of a driver. The zero value schedules pods with the scheduler name hedge, in all namespaces
// and on all nodes.
type Options struct {
	// SchedulerName is the schedulerName of the pods to schedule; default hedge.
	SchedulerName string
	// Namespace is the only namespace whose pods are scheduled; empty means all. Other work is counted in every namespace.
	Namespace string
	// NodeSelector is a label selector for the nodes to use; empty means all.
	NodeSelector string
	// Lease is the leader's lease. Every action must have the lease's epoch, which is its number of transitions. If Name
	// is empty, the epoch is not checked.
	Lease LeaseName
	// CheckLease is for how long starts trust an earlier read of the lease. By default every start reads it, or shares the
	// answer with starts that ask at the same time. Stops always read it. It must be much shorter than the margin within
	// which a leader that cannot renew its lease gives up; see [adapters.LeadOptions].
	CheckLease time.Duration
	// Patience is how long a node may be silent before its pods count as lost; default 5 min. Pods with a toleration of
	// node.kubernetes.io/unreachable use that toleration's time instead. While more than half of the nodes are silent, no
	// pod counts as lost.
	Patience time.Duration
	// Parallel is the number of concurrent calls, for all gangs together and beside the first call of each; default 16.
	// Timeout limits each call; default 10 s.
	Parallel int
	Timeout  time.Duration
	// Events is the number of notes that may wait to be written; default 1000. Further notes are refused, and offered
	// again later.
	Events int
}

// LeaseName names a Lease object.
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

// Client makes a client that suits a scheduler: without client-side rate limits, with the compact encoding, and without
// log output.
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

// Driver is a connection to a cluster. It is an [adapters.Driver] and an [adapters.Explainer]. Start, Stop and Explain
// are safe for concurrent use for different jobs, and Close may be called from any goroutine. Otherwise a Driver is for
// one goroutine at a time.
type Driver struct {
	client  kubernetes.Interface
	opt     Options
	model   *model
	feeds   []*feed
	writer  *writer
	leads   *adapters.Fence // nil if no lease is checked
	slots   chan struct{}   // one for each concurrent call
	back    error           // set once the server's store went back in time; used by Observe alone
	cancel  context.CancelFunc
	running sync.WaitGroup
}

var (
	_ adapters.Driver    = (*Driver)(nil)
	_ adapters.Explainer = (*Driver)(nil)
)

// Open connects to the cluster. It waits until everything is listed and all watches are open, so a missing right is an
// error of Open, which wraps [adapters.ErrRefused]. The context is for Open alone; the driver works until Close.
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

// Close disconnects. When it returns, every goroutine has ended. Notes that were not written yet are lost.
func (d *Driver) Close() {
	d.cancel()
	d.running.Wait()
}

// Dropped is the number of lost events and conditions: those that the server refused, and events of stops while too
// many notes waited to be written.
func (d *Driver) Dropped() uint64 { return d.writer.dropped.Load() }
