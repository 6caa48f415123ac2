package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/hedgesched/hedge/adapters"
)

// kind is a kind of object that is watched.
type kind uint8

const (
	pods kind = iota
	batchJobs
	claims
	volumes
	nodes // after the pods, so that a pod's node is known to be gone if it is not listed
	kinds = iota
)

// feed lists and watches one kind of object.
type feed struct {
	kind    kind
	timeout time.Duration // of a call that asks for little
	list    func(context.Context, metav1.ListOptions) (runtime.Object, error)
	watch   func(context.Context, metav1.ListOptions) (watch.Interface, error)

	more  chan struct{} // a list is there
	first chan error    // nil once the first watch is open, or why none is allowed

	mu   sync.Mutex
	from string    // the version to watch from; "" where all must be listed first
	up   time.Time // since when the watch that is open is; zero while none is
	down time.Time // since when none has worked, while none does
	err  error     // why not
}

// String is the kind as the server calls it.
func (k kind) String() string {
	return [...]string{"pods", "jobs", "persistentvolumeclaims", "persistentvolumes", "nodes"}[k]
}

func (d *Driver) newFeeds() []*feed {
	p, n, j := d.client.CoreV1().Pods(""), d.client.CoreV1().Nodes(), d.client.BatchV1().Jobs(d.opt.Namespace)
	c, v := d.client.CoreV1().PersistentVolumeClaims(d.opt.Namespace), d.client.CoreV1().PersistentVolumes()
	feeds := []*feed{
		{kind: pods, watch: p.Watch, list: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return p.List(ctx, o)
		}},
		{kind: batchJobs, watch: j.Watch, list: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return j.List(ctx, o)
		}},
		{kind: claims, watch: c.Watch, list: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return c.List(ctx, o)
		}},
		{kind: volumes, watch: v.Watch, list: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return v.List(ctx, o)
		}},
		{kind: nodes, watch: n.Watch, list: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return n.List(ctx, o)
		}},
	}
	for _, f := range feeds {
		f.more, f.first, f.timeout = make(chan struct{}, 1), make(chan error, 1), d.opt.Timeout
	}
	return feeds
}

// page is how many objects are asked for at a time.
const page = 1000

// listAll reads all there is, as new as the call.
func (d *Driver) listAll(ctx context.Context) error {
	for _, f := range d.feeds {
		if err := d.listOne(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// listOne lists one kind, page by page, so that never more than a page of whole objects is held.
func (d *Driver) listOne(ctx context.Context, f *feed) error {
	listed := map[types.UID]bool{}
	version := ""
	before := d.model.listing(f.kind)
	for o := (metav1.ListOptions{Limit: page}); ; {
		list, err := d.listPage(ctx, f, o)
		if err != nil && o.Continue != "" && apierrors.IsResourceExpired(err) {
			version, o = "", metav1.ListOptions{} // it took too long: all at once
			clear(listed)
			before = d.model.listing(f.kind)
			continue
		}
		if err != nil {
			return fmt.Errorf("list of %s: %w", f.kind, err)
		}
		m, err := meta.ListAccessor(list)
		if err != nil {
			return fmt.Errorf("list of %s: %w", f.kind, err)
		}
		if version == "" {
			version = m.GetResourceVersion()
		}
		if err = d.takePage(f.kind, list, number(version), before, listed); err != nil {
			return fmt.Errorf("list of %s: %w", f.kind, err)
		}
		if o.Continue = m.GetContinue(); o.Continue == "" {
			break
		}
	}
	d.model.listed(f.kind, listed, number(version))
	f.resume(version)
	return nil
}

// takePage takes in a part of a list of that version, unless it shows that the server's store has gone back behind what
// is known, or was known before the list.
func (d *Driver) takePage(k kind, list runtime.Object, version, before uint64, listed map[types.UID]bool) error {
	if version != 0 && version < before {
		return wentBack("the list is of version %d, and version %d was known before", version, before)
	}
	items, err := meta.ExtractList(list)
	if err != nil {
		return err
	}
	return d.model.page(k, items, listed, version)
}

func (d *Driver) listPage(ctx context.Context, f *feed, o metav1.ListOptions) (runtime.Object, error) {
	ctx, cancel := context.WithTimeout(ctx, 6*d.opt.Timeout)
	defer cancel()
	return f.list(ctx, o)
}

// newest is the version that the server is at, as new as the call: what all lists and watches that are up to date have
// reached.
func (f *feed) newest(ctx context.Context) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	list, err := f.list(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return 0, err
	}
	m, err := meta.ListAccessor(list)
	if err != nil {
		return 0, err
	}
	return number(m.GetResourceVersion()), nil
}

// resume has the watch go on from a version, if it waits for one, or does not work from where it was.
func (f *feed) resume(version string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.from == "" || f.broken(time.Now()) {
		f.from = version
		select {
		case f.more <- struct{}{}:
		default:
		}
	}
}

func (f *feed) at(version string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.from = version
}

// lost tells whether all must be listed before the watch can go on.
func (f *feed) lost() (string, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.from, f.from == ""
}

// run watches until the context is done. A watch that breaks goes on where it was; if it cannot, it waits for a list.
func (f *feed) run(ctx context.Context, m *model) {
	const first, most = 50 * time.Millisecond, 2 * time.Second
	wait := first
	for ctx.Err() == nil {
		from, lost := f.lost()
		if lost {
			select {
			case <-ctx.Done():
			case <-f.more:
			}
			continue
		}
		if f.follow(ctx, m, from) {
			wait = first
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
		wait = min(2*wait, most)
	}
}

// follow watches once, and tells whether anything came.
func (f *feed) follow(ctx context.Context, m *model, from string) (any bool) {
	w, err := f.open(ctx, from)
	if err != nil {
		if cannotGoOn(err) || apierrors.IsInvalid(err) {
			f.at("")
		}
		f.broke(false, err)
		return false
	}
	defer w.Stop()
	f.opened()
	for {
		select {
		case <-ctx.Done():
			return any
		case e, open := <-w.ResultChan():
			if err = errEnded; open {
				err = f.take(m, e)
			}
			if err != nil {
				f.broke(any, err)
				return any
			}
			any = true
		}
	}
}

// open opens the watch. A watch from a version that the server has not reached tells nothing until it has, so one that
// was open before asks first.
func (f *feed) open(ctx context.Context, from string) (watch.Interface, error) {
	f.mu.Lock()
	again := !f.down.IsZero()
	f.mu.Unlock()
	if again {
		switch newest, err := f.newest(ctx); {
		case err != nil:
			return nil, err
		case newest != 0 && newest < number(from):
			return nil, wentBack("the server is at version %d, the watch at %s", newest, from)
		}
	}
	return f.watch(ctx, metav1.ListOptions{ResourceVersion: from, AllowWatchBookmarks: true})
}

// cannotGoOn tells whether a watch has to begin anew with a list: what comes next is not kept any more, or is of a
// version that the server has not reached.
func cannotGoOn(err error) bool {
	return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) ||
		apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) || errors.Is(err, adapters.ErrRestored)
}

// take takes in one event. After an error the watch does not go on.
func (f *feed) take(m *model, e watch.Event) error {
	if e.Type == watch.Error {
		err := apierrors.FromObject(e.Object)
		if cannotGoOn(err) {
			f.at("")
		}
		return err
	}
	o, err := meta.Accessor(e.Object)
	if err != nil {
		return err
	}
	if e.Type != watch.Bookmark {
		m.change(f.kind, e.Object, e.Type == watch.Deleted)
	}
	m.progress(f.kind, number(o.GetResourceVersion()))
	f.at(o.GetResourceVersion())
	return nil
}

// errEnded is a watch that the server has ended, as it does now and then.
var errEnded = errors.New("kubernetes: the watch has ended")

const (
	// steady is how long a watch that brings nothing must be open to count as one that works.
	steady = time.Second
	// outage is how long a watch may not work until what is known counts as out of date.
	outage = 30 * time.Second
)

// opened notes that a watch is open.
func (f *feed) opened() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.up = time.Now()
	f.answered(nil)
}

// broke notes that no watch is open any more, or could be opened.
func (f *feed) broke(any bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	if f.down.IsZero() || any || !f.up.IsZero() && now.Sub(f.up) >= steady {
		f.down = now
	}
	f.up, f.err = time.Time{}, err
	if errors.Is(failed("watch", err), adapters.ErrRefused) {
		f.answered(err)
	}
}

// answered has Open know of the first answer that says something.
func (f *feed) answered(err error) {
	select {
	case f.first <- err:
	default:
	}
}

// outage is why the feed knows nothing new, if that is so for too long. One that waits for a list is not broken.
func (f *feed) outage(now time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.from == "" || !f.broken(now) {
		return nil
	}
	return f.err
}

// broken tells whether the watch has not worked for too long. The lock is held.
func (f *feed) broken(now time.Time) bool {
	return !f.down.IsZero() && (f.up.IsZero() || now.Sub(f.up) < steady) && now.Sub(f.down) >= outage
}

// opening waits until all watches are open, or it is known that one cannot be.
func (d *Driver) opening(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 6*d.opt.Timeout)
	defer cancel()
	for _, f := range d.feeds {
		select {
		case err := <-f.first:
			if err != nil {
				return failed("watch of "+f.kind.String(), err)
			}
		case <-ctx.Done():
			f.mu.Lock()
			err := errors.Join(ctx.Err(), f.err)
			f.mu.Unlock()
			return fmt.Errorf("%w: watch of %s: %w", adapters.ErrUnavailable, f.kind, err)
		}
	}
	return nil
}

// number is a resource version as a number, which versions of one cluster are.
func number(version string) uint64 {
	n, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Observe tells what has changed, or all there is. Its errors wrap [adapters.ErrUnavailable], also where a right was
// taken away, which somebody may give back. It fails, too, while a watch has not worked for half a minute, since what
// is known is out of date then, unless all there is was asked for and could be listed. Once a list or watch has shown
// that the server's store went back in time, every error wraps [adapters.ErrRestored].
func (d *Driver) Observe(ctx context.Context, relist bool) (*adapters.View, error) {
	if d.back != nil {
		return nil, d.back
	}
	for _, f := range d.feeds {
		if _, lost := f.lost(); lost {
			relist = true
		}
	}
	if relist {
		if err := d.listAll(ctx); errors.Is(err, adapters.ErrRestored) {
			d.back = err
			return nil, err
		} else if err != nil {
			return nil, fmt.Errorf("%w: %w", adapters.ErrUnavailable, err)
		}
	} else {
		now := time.Now()
		for _, f := range d.feeds {
			if err := f.outage(now); err != nil {
				return nil, fmt.Errorf("%w: watch of %s: %w", adapters.ErrUnavailable, f.kind, err)
			}
		}
	}
	v := d.model.view(relist, time.Now())
	for _, x := range d.model.unwritten(v) {
		d.writer.add(x) // where there is no room, the next change of the job, or the next full view, has it added
	}
	return v, nil
}

// wentBack is a server that knows less than it did.
func wentBack(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{adapters.ErrRestored}, args...)...)
}

// failed is what a call's error means.
func failed(what string, err error) error {
	sentinel := adapters.ErrUnavailable
	switch {
	case errors.Is(err, adapters.ErrFenced):
		return err
	case apierrors.IsConflict(err), apierrors.IsNotFound(err), apierrors.IsAlreadyExists(err), apierrors.IsGone(err):
		sentinel = adapters.ErrStale
	case apierrors.IsForbidden(err), apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsUnauthorized(err),
		budget(err):
		sentinel = adapters.ErrRefused
	}
	return fmt.Errorf("%w: %s: %w", sentinel, what, err)
}

// budget tells whether a disruption budget is spent. The server says 429 of its own load, too.
func budget(err error) bool {
	var s apierrors.APIStatus
	if !errors.As(err, &s) || !apierrors.IsTooManyRequests(err) || s.Status().Details == nil {
		return false
	}
	for _, c := range s.Status().Details.Causes {
		if c.Type == "DisruptionBudget" {
			return true
		}
	}
	return false
}
