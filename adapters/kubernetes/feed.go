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

// kind is a kind of watched object.
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
	timeout time.Duration // of a small call
	list    func(context.Context, metav1.ListOptions) (runtime.Object, error)
	watch   func(context.Context, metav1.ListOptions) (watch.Interface, error)

	more  chan struct{} // signals a new list
	first chan error    // nil once the first watch is open, or the reason why it is refused

	mu   sync.Mutex
	from string    // the version to watch from; "" where all must be listed first
	up   time.Time // when the current watch was opened; zero if none is open
	down time.Time // since when no watch has worked; zero if one works
	err  error     // why no watch works
}

// String is the server's name of the kind.
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

// page is the number of objects per page of a list.
const page = 1000

// listAll lists everything, as new as the call.
func (d *Driver) listAll(ctx context.Context) error {
	for _, f := range d.feeds {
		if err := d.listOne(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// listOne lists one kind. It reads page by page, so as not to hold more than one page of whole objects.
func (d *Driver) listOne(ctx context.Context, f *feed) error {
	listed := map[types.UID]bool{}
	version := ""
	before := d.model.listing(f.kind)
	for o := (metav1.ListOptions{Limit: page}); ; {
		list, err := d.listPage(ctx, f, o)
		if err != nil && o.Continue != "" && apierrors.IsResourceExpired(err) {
			version, o = "", metav1.ListOptions{} // the list took too long: read it without pages
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

// takePage applies a page of a list of that version. It fails if the page shows that the server's store went back
// behind what is known, or was known before the list.
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

// newest is the server's current version. All lists and watches that are up to date have reached it.
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

// resume lets the watch continue from that version, if it waits for one or does not work.
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

// lost reports whether the watch needs a list before it can continue.
func (f *feed) lost() (string, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.from, f.from == ""
}

// run watches until the context is done. A broken watch continues where it was. If it cannot, it waits for a list.
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

// follow runs one watch, and reports whether it brought anything.
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

// open opens the watch. From a version that the server has not reached, a watch would be silent until the server
// reaches it. So a watch that was open before checks the server's version first.
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

// cannotGoOn reports whether the watch must begin anew with a list: the server no longer keeps the next events, or has
// not reached the watch's version.
func cannotGoOn(err error) bool {
	return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) ||
		apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) || errors.Is(err, adapters.ErrRestored)
}

// take applies one event. After an error the watch cannot continue.
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

// errEnded means that the server has ended the watch, as it does now and then.
var errEnded = errors.New("kubernetes: the watch has ended")

const (
	// steady is how long a watch without events must stay open to count as working.
	steady = time.Second
	// outage is how long a watch may fail before what is known counts as out of date.
	outage = 30 * time.Second
)

// opened records that a watch is open.
func (f *feed) opened() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.up = time.Now()
	f.answered(nil)
}

// broke records that the watch has ended or could not be opened.
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

// answered passes the first conclusive answer to Open.
func (f *feed) answered(err error) {
	select {
	case f.first <- err:
	default:
	}
}

// outage is the reason why the feed is out of date, if it has been so for too long. A feed that waits for a list is not
// broken.
func (f *feed) outage(now time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.from == "" || !f.broken(now) {
		return nil
	}
	return f.err
}

// broken reports whether the watch has failed for too long. The caller holds the lock.
func (f *feed) broken(now time.Time) bool {
	return !f.down.IsZero() && (f.up.IsZero() || now.Sub(f.up) < steady) && now.Sub(f.down) >= outage
}

// opening waits until all watches are open, or one is refused.
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

// number is a resource version as a number. Versions of one cluster are numbers.
func number(version string) uint64 {
	n, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Observe reports what has changed, or everything. Its errors wrap [adapters.ErrUnavailable], even if a right was taken
// away, since somebody may restore it. It also fails while a watch has not worked for half a minute, since what is
// known is then out of date, unless everything was requested and could be listed. Once a list or watch has shown that
// the server's store went back in time, every error wraps [adapters.ErrRestored].
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
		d.writer.add(x) // without room, the job's next change or the next full view adds it
	}
	return v, nil
}

// wentBack is the error for a server that knows less than before.
func wentBack(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{adapters.ErrRestored}, args...)...)
}

// failed wraps a call's error with what it means for the action.
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

// budget reports whether a disruption budget is used up. The server also answers 429 if it is overloaded.
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
