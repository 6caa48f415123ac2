package kubernetes

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hedgesched/hedge/adapters"
)

// newFence makes the fence against actions of an instance that no longer leads. It is nil if the options name no lease.
func (d *Driver) newFence() *adapters.Fence {
	if d.opt.Lease.Name == "" {
		return nil
	}
	return adapters.NewFence(d.leader, d.opt.CheckLease, nil)
}

// fence refuses the action if the epoch no longer leads. It always reads the lease.
func (d *Driver) fence(ctx context.Context, epoch uint64) error {
	if d.leads == nil {
		return nil
	}
	return d.leads.Ask(ctx, epoch)
}

// fenceStart is like fence, but trusts an earlier answer for as long as the options say.
func (d *Driver) fenceStart(ctx context.Context, epoch uint64) error {
	if d.leads == nil {
		return nil
	}
	return d.leads.Check(ctx, epoch)
}

// leader reads the lease. A Lease that was deleted and recreated has another UID. A Lease that was given back has no
// holder.
func (d *Driver) leader(ctx context.Context) (adapters.Leader, error) {
	ctx, cancel := context.WithTimeout(ctx, d.opt.Timeout)
	defer cancel()
	l, err := d.client.CoordinationV1().Leases(d.opt.Lease.Namespace).Get(ctx, d.opt.Lease.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return adapters.Leader{}, fmt.Errorf("%w: lease %s no longer exists", adapters.ErrFenced, d.opt.Lease.Name)
	}
	if err != nil {
		return adapters.Leader{}, failed("lease "+d.opt.Lease.Name, err)
	}
	holder := ""
	if l.Spec.HolderIdentity != nil {
		holder = *l.Spec.HolderIdentity
	}
	return adapters.Leader{Epoch: transitions(l), ID: fmt.Sprintf("%s held by %q", l.UID, holder)}, nil
}
