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

// Lease is one instance's way to a Lease of the cluster's: an [adapters.Lease]. Its epoch is the number of transitions,
// which begins with the second that the Lease was made in, by the server's clock: a Lease that was deleted and made
// anew has higher epochs than before, as long as the one before had on average no more than one transition a second
// from its creation until the new one's. Where it had more, or that clock was set back, an epoch may come again. A
// [Driver] therefore goes by the Lease's UID and holder beside its epoch: one that has read the Lease acts no more once
// another is in its place, whatever the epoch of that. Whether another holder's time is over is judged by this
// machine's clock alone: the Lease must not have changed for as long as it was granted for.
type Lease struct {
	client kubernetes.Interface
	name   LeaseName
	me     string
	length time.Duration
	now    func() time.Time

	seen  string // the version that was seen last
	since time.Time
}

var _ adapters.Lease = (*Lease)(nil)

// LeaseFor is how long a lease is granted for unless [NewLease] is told otherwise.
const LeaseFor = 15 * time.Second

// NewLease makes a way to the Lease for an identity of its own. The length is how long the lease is granted for, in
// whole seconds; 0 is [LeaseFor].
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

// transitions are the epoch.
func transitions(l *coordinationv1.Lease) uint64 {
	if l.Spec.LeaseTransitions == nil || *l.Spec.LeaseTransitions < 0 {
		return 0
	}
	return uint64(*l.Spec.LeaseTransitions)
}

// firstEpoch is the lowest of a Lease that was made then: seconds since 2020, and at most half of what a Lease can
// count to, which is reached in 2054. From then on one that is made anew begins where the one before did, and its UID
// alone tells them apart.
func firstEpoch(made time.Time) uint64 {
	s := made.Unix() - time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	return uint64(min(max(s, 1), math.MaxInt32/2))
}

// Acquire takes the lease if it is free or this instance's own, or has not changed for as long as its holder has it.
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

// take makes the lease this instance's.
func (l *Lease) take(held *coordinationv1.Lease) *coordinationv1.Lease {
	now, seconds := metav1.NowMicro(), int32(l.length/time.Second)
	next := int32(max(transitions(held)+1, firstEpoch(held.CreationTimestamp.Time)))
	held.Spec.HolderIdentity, held.Spec.LeaseDurationSeconds = &l.me, &seconds
	held.Spec.AcquireTime, held.Spec.RenewTime, held.Spec.LeaseTransitions = &now, &now, &next
	return held
}

// overtaken tells whether another write of the lease came first, or it was deleted, after it was read.
func overtaken(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err)
}

// term is what a write of the lease has come to.
func (l *Lease) term(held *coordinationv1.Lease, err error) (adapters.Term, error) {
	if overtaken(err) {
		return adapters.Term{}, &adapters.HeldError{}
	}
	if err != nil {
		return adapters.Term{}, failed("lease", err)
	}
	return adapters.Term{Epoch: transitions(held), For: l.length}, nil
}

// Renew holds on to it.
func (l *Lease) Renew(ctx context.Context, t adapters.Term) (adapters.Term, error) {
	held, err := l.mine(ctx, t)
	if err != nil {
		return t, err
	}
	now := metav1.NowMicro()
	held.Spec.RenewTime = &now
	_, err = l.client.CoordinationV1().Leases(l.name.Namespace).Update(ctx, held, metav1.UpdateOptions{})
	if overtaken(err) { // by whom, the next renewal reads
		return t, fmt.Errorf("%w: the lease changed while it was renewed: %w", adapters.ErrUnavailable, err)
	}
	if err != nil {
		return t, failed("lease", err)
	}
	return adapters.Term{Epoch: t.Epoch, For: l.length}, nil
}

// mine is the lease if this instance holds it in that term.
func (l *Lease) mine(ctx context.Context, t adapters.Term) (*coordinationv1.Lease, error) {
	held, err := l.client.CoordinationV1().Leases(l.name.Namespace).Get(ctx, l.name.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("%w: the lease is no more", adapters.ErrFenced)
	}
	if err != nil {
		return nil, failed("lease", err)
	}
	if h := held.Spec.HolderIdentity; h == nil || *h != l.me || transitions(held) != t.Epoch {
		return nil, fmt.Errorf("%w: the lease is at epoch %d", adapters.ErrFenced, transitions(held))
	}
	return held, nil
}

// Release gives it back.
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
