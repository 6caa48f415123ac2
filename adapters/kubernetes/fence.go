package kubernetes

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hedgesched/hedge/adapters"
)

// newFence makes what refuses actions of an instance that leads no more; nil where the options name no lease.
func (d *Driver) newFence() *adapters.Fence {
	if d.opt.Lease.Name == "" {
		return nil
	}
	return adapters.NewFence(d.leader, d.opt.CheckLease, nil)
}

// fence refuses what an instance wants that leads no more, by an answer to a question that is put now.
func (d *Driver) fence(ctx context.Context, epoch uint64) error {
	if d.leads == nil {
		return nil
	}
	return d.leads.Ask(ctx, epoch)
}

// fenceStart is fence, but that it believes an answer for as long as the options say.
func (d *Driver) fenceStart(ctx context.Context, epoch uint64) error {
	if d.leads == nil {
		return nil
	}
	return d.leads.Check(ctx, epoch)
}

// leader reads the lease. A Lease that was deleted and made anew has another UID, and one that was given back no
// holder.
func (d *Driver) leader(ctx context.Context) (adapters.Leader, error) {
	ctx, cancel := context.WithTimeout(ctx, d.opt.Timeout)
	defer cancel()
	l, err := d.client.CoordinationV1().Leases(d.opt.Lease.Namespace).Get(ctx, d.opt.Lease.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return adapters.Leader{}, fmt.Errorf("%w: lease %s is no more", adapters.ErrFenced, d.opt.Lease.Name)
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
