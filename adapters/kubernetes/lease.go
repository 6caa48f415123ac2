package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/hedgesched/hedge/adapters"
)

// Lease is an [adapters.Lease] for one instance, stored in a Kubernetes Lease. Its epoch is the number of transitions.
// That number starts at the second in which the Lease was created, by the server's clock. So a recreated Lease has
// higher epochs than the deleted one, unless the deleted one had more than one transition per second on average, or the
// server's clock was set back. Then an epoch may occur twice. A [Driver] therefore also checks the Lease's UID and
// holder. Once it has read the Lease, it stops acting when another Lease takes its place, whatever the epoch.
//
// Whether another holder's time is over is judged by this machine's clock alone: the Lease must not have changed for
// the time for which it was granted.
type Lease struct {
	client kubernetes.Interface
	name   LeaseName
	me     string
	length time.Duration
	now    func() time.Time

	seen  string // the last version seen
	since time.Time
}

var _ adapters.Lease = (*Lease)(nil)

// LeaseFor is the default time for which [NewLease] grants the lease.
const LeaseFor = 15 * time.Second

// NewLease makes a [Lease] with an identity of its own. The length is the time for which the lease is granted, in whole
// seconds; 0 is [LeaseFor].
func NewLease(client kubernetes.Interface, name LeaseName, length time.Duration) (*Lease, error) {
	if client == nil || name.Name == "" || name.Namespace == "" {
		return nil, fmt.Errorf("%w: a lease needs a client, a namespace and a name, found %q, %q", ErrOptions, name.Namespace,
			name.Name)
	}
	if length == 0 {
		length = LeaseFor
	}
	if length < time.Second || length%time.Second != 0 {
		return nil, fmt.Errorf("%w: a lease of %v, expected whole seconds", ErrOptions, length)
	}
	return &Lease{client: client, name: name, me: adapters.NewHolder(), length: length, now: time.Now}, nil
}

// transitions is the lease's epoch.
func transitions(l *coordinationv1.Lease) uint64 {
	if l.Spec.LeaseTransitions == nil || *l.Spec.LeaseTransitions < 0 {
		return 0
	}
	return uint64(*l.Spec.LeaseTransitions)
}

// firstEpoch is the first epoch of a Lease created at that time: the number of seconds since 2020, and at most half of
// the largest transition count. That limit is reached in 2054. From then on, a recreated Lease starts with the same
// epoch as the one before, and only its UID differs.
func firstEpoch(made time.Time) uint64 {
	s := made.Unix() - time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	return uint64(min(max(s, 1), math.MaxInt32/2))
}

// Acquire takes the lease if it is free, if this instance holds it, or if it has not changed for as long as it was
// granted.
func (l *Lease) Acquire(ctx context.Context) (adapters.Term, error) {
	leases := l.client.CoordinationV1().Leases(l.name.Namespace)
	held, err := leases.Get(ctx, l.name.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		held, err = leases.Create(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: l.name.Namespace,
			Name: l.name.Name}}, metav1.CreateOptions{})
		switch {
		case apierrors.IsAlreadyExists(err):
			return l.term(held, err)
		case apierrors.IsNotFound(err):
			return adapters.Term{},
				fmt.Errorf("%w: lease: there is no namespace %q: %w", adapters.ErrRefused, l.name.Namespace, err)
		}
	}
	if err != nil {
		return adapters.Term{}, failed("lease", err)
	}
	if l.seen != held.ResourceVersion {
		l.seen, l.since = held.ResourceVersion, l.now()
	}
	if h := held.Spec.HolderIdentity; h != nil && *h != "" && *h != l.me {
		length := l.length
		if s := held.Spec.LeaseDurationSeconds; s != nil {
			length = time.Duration(*s) * time.Second
		}
		if l.now().Sub(l.since) < length {
			return adapters.Term{}, &adapters.HeldError{Holder: *h}
		}
	}
	return l.term(leases.Update(ctx, l.take(held), metav1.UpdateOptions{}))
}

// take makes this instance the holder.
func (l *Lease) take(held *coordinationv1.Lease) *coordinationv1.Lease {
	now, seconds := metav1.NowMicro(), int32(l.length/time.Second)
	next := int32(max(transitions(held)+1, firstEpoch(held.CreationTimestamp.Time)))
	held.Spec.HolderIdentity, held.Spec.LeaseDurationSeconds = &l.me, &seconds
	held.Spec.AcquireTime, held.Spec.RenewTime, held.Spec.LeaseTransitions = &now, &now, &next
	return held
}

// overtaken reports whether the lease was written or deleted by others after it was read.
func overtaken(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err)
}

// term is the result of a write of the lease.
func (l *Lease) term(held *coordinationv1.Lease, err error) (adapters.Term, error) {
	if overtaken(err) {
		return adapters.Term{}, &adapters.HeldError{}
	}
	if err != nil {
		return adapters.Term{}, failed("lease", err)
	}
	return adapters.Term{Epoch: transitions(held), For: l.length}, nil
}

// Renew extends the lease.
func (l *Lease) Renew(ctx context.Context, t adapters.Term) (adapters.Term, error) {
	held, err := l.mine(ctx, t)
	if err != nil {
		return t, err
	}
	now := metav1.NowMicro()
	held.Spec.RenewTime = &now
	_, err = l.client.CoordinationV1().Leases(l.name.Namespace).Update(ctx, held, metav1.UpdateOptions{})
	if overtaken(err) { // the next renewal reads by whom
		return t, fmt.Errorf("%w: the lease changed while it was renewed: %w", adapters.ErrUnavailable, err)
	}
	if err != nil {
		return t, failed("lease", err)
	}
	return adapters.Term{Epoch: t.Epoch, For: l.length}, nil
}

// mine reads the lease, and fails unless this instance holds it in that term.
func (l *Lease) mine(ctx context.Context, t adapters.Term) (*coordinationv1.Lease, error) {
	held, err := l.client.CoordinationV1().Leases(l.name.Namespace).Get(ctx, l.name.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("%w: the lease no longer exists", adapters.ErrFenced)
	}
	if err != nil {
		return nil, failed("lease", err)
	}
	if h := held.Spec.HolderIdentity; h == nil || *h != l.me || transitions(held) != t.Epoch {
		return nil, fmt.Errorf("%w: the lease is at epoch %d", adapters.ErrFenced, transitions(held))
	}
	return held, nil
}

// Release gives the lease back.
func (l *Lease) Release(ctx context.Context, t adapters.Term) error {
	held, err := l.mine(ctx, t)
	if err != nil {
		if errors.Is(err, adapters.ErrFenced) {
			return nil
		}
		return err
	}
	nobody := ""
	held.Spec.HolderIdentity = &nobody
	if _, err = l.client.CoordinationV1().Leases(l.name.Namespace).Update(ctx, held, metav1.UpdateOptions{}); err != nil &&
		!overtaken(err) {
		return failed("lease", err)
	}
	return nil
}
