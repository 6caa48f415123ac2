package nomad

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/hedgesched/hedge/adapters"
)

// The items of the lease's variable.
const (
	itemEpoch  = "epoch"
	itemHolder = "holder"
	itemCount  = "renewed" // changes with every renewal
)

// office reads and writes the variable.
type office struct {
	client          *api.Client
	namespace, path string
	timeout         time.Duration
}

// read returns the variable and its epoch. If there is no variable, it returns one without items and with ModifyIndex
// 0, and the epoch is the index of Nomad's last change of any variable. No earlier epoch was higher: each was written
// by a change of its own, and was one higher than the one before.
func (o *office) read(ctx context.Context) (*api.Variable, uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	v, meta, err := o.client.Variables().Read(o.path, query(ctx, o.namespace))
	if errors.Is(err, api.ErrVariablePathNotFound) {
		if meta.LastIndex <= 1 { // the client also returns this for a variable that may not be read
			if _, err := o.client.Raw().Query("/v1/var/"+o.path, nil, query(ctx, o.namespace)); err != nil && !missing(err) {
				return nil, 0, fail("variable "+o.path, err)
			}
		}
		v = api.NewVariable(o.path)
		v.Namespace = o.namespace
		return v, meta.LastIndex, nil
	}
	if err != nil {
		return nil, 0, fail("variable "+o.path, err)
	}
	epoch, err := strconv.ParseUint(v.Items[itemEpoch], 10, 64)
	if err != nil {
		return nil, 0, fmt.Errorf("%w: nomad: variable %s: item %s is %q, expected a number", adapters.ErrRefused, o.path,
			itemEpoch, v.Items[itemEpoch])
	}
	return v, epoch, nil
}

// errConflict means that the variable has changed.
var errConflict = errors.New("nomad: the variable has changed")

// write replaces the items that were read. It returns errConflict if the variable has changed since.
func (o *office) write(ctx context.Context, v *api.Variable, items api.VariableItems) error {
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	next := api.NewVariable(o.path)
	next.Namespace, next.ModifyIndex, next.Items = o.namespace, v.ModifyIndex, items
	_, _, err := o.client.Variables().CheckedUpdate(next, write(ctx, o.namespace))
	var conflict api.ErrCASConflict
	if errors.As(err, &conflict) {
		return errConflict
	}
	return fail("variable "+o.path, err)
}

// fence refuses actions of every epoch but the variable's. Epoch 0 is of instances without a lease, which are not
// checked.
func (d *Driver) fence(ctx context.Context, epoch uint64) error {
	if epoch == 0 {
		return nil
	}
	return d.leads.Check(ctx, epoch)
}

// leader only reads: if the variable was deleted, whoever takes the lease next recreates it. A recreated variable has
// another CreateIndex. A lease that was given back has no holder.
func (o *office) leader(ctx context.Context) (adapters.Leader, error) {
	v, epoch, err := o.read(ctx)
	if err == nil && v.ModifyIndex == 0 {
		err = fmt.Errorf("%w: there is no variable %s with the lease", adapters.ErrFenced, v.Path)
	}
	if err != nil {
		return adapters.Leader{}, err
	}
	return adapters.Leader{Epoch: epoch, ID: fmt.Sprintf("%d held by %q", v.CreateIndex, v.Items[itemHolder])}, nil
}

// Lease is an [adapters.Lease] in a Nomad variable with check-and-set, since Nomad 1.6 has no locks that expire. A
// standby takes the lease if it has seen no change of it for the time for which it is granted, by the standby's own
// clock. It is for one goroutine at a time.
type Lease struct {
	*office
	holder  string
	granted time.Duration
	now     func() time.Time

	index uint64    // of the variable, as last seen
	since time.Time // since when it has had that index
}

var _ adapters.Lease = (*Lease)(nil)

// LeaseFor is the default time for which [NewLease] grants the lease.
const LeaseFor = 15 * time.Second

// NewLease makes one instance's access to the lease that the driver's options name. Granted is the time for which the
// lease is granted, the same for all instances; 0 is [LeaseFor]. The error is [ErrConfig] or [ErrOptions].
func NewLease(config *api.Config, o Options, granted time.Duration) (*Lease, error) {
	if err := o.withDefaults(); err != nil {
		return nil, err
	}
	if granted < 0 {
		return nil, fmt.Errorf("%w: a lease of %v, expected none below 0", ErrOptions, granted)
	}
	granted = cmp.Or(granted, LeaseFor)
	client, err := newClient(config)
	if err != nil {
		return nil, err
	}
	timeout := min(o.Timeout, granted/4)
	return &Lease{office: &office{client, o.LeaseNamespace, o.LeasePath, timeout}, holder: adapters.NewHolder(),
		granted: granted, now: o.Now}, nil
}

// Acquire takes the lease if it is free, or if it was not renewed for the time for which it is granted.
func (l *Lease) Acquire(ctx context.Context) (adapters.Term, error) {
	v, epoch, err := l.read(ctx)
	if err != nil {
		return adapters.Term{}, err
	}
	holder := v.Items[itemHolder]
	if holder != "" && holder != l.holder {
		if now := l.now(); v.ModifyIndex != l.index {
			l.index, l.since = v.ModifyIndex, now
			return adapters.Term{}, &adapters.HeldError{Holder: holder}
		} else if now.Sub(l.since) < l.granted {
			return adapters.Term{}, &adapters.HeldError{Holder: holder}
		}
	}
	term := adapters.Term{Epoch: epoch + 1, For: l.granted}
	err = l.write(ctx, v, l.items(term.Epoch, "0"))
	if errors.Is(err, errConflict) {
		return adapters.Term{}, &adapters.HeldError{}
	}
	return term, err
}

func (l *Lease) items(epoch uint64, count string) api.VariableItems {
	return api.VariableItems{itemEpoch: strconv.FormatUint(epoch, 10), itemHolder: l.holder, itemCount: count}
}

// own replaces the items of the term, and reports whether the lease still has that term. A renewal changes the count.
func (l *Lease) own(ctx context.Context, t adapters.Term, next func(count uint64) api.VariableItems) (bool, error) {
	for range 3 {
		v, epoch, err := l.read(ctx)
		if err != nil {
			return false, err
		}
		if v.ModifyIndex == 0 || epoch != t.Epoch || v.Items[itemHolder] != l.holder {
			return false, nil
		}
		count, _ := strconv.ParseUint(v.Items[itemCount], 10, 64) // it only has to change
		// After a conflict, an earlier renewal of this instance that got no answer may have arrived.
		if err = l.write(ctx, v, next(count)); !errors.Is(err, errConflict) {
			return true, err
		}
	}
	return true, fmt.Errorf("%w: nomad: variable %s changes all the time", adapters.ErrUnavailable, l.path)
}

// Renew extends the lease.
func (l *Lease) Renew(ctx context.Context, t adapters.Term) (adapters.Term, error) {
	own, err := l.own(ctx, t, func(count uint64) api.VariableItems {
		return l.items(t.Epoch, strconv.FormatUint(count+1, 10))
	})
	if err == nil && !own {
		err = fmt.Errorf("%w: epoch %d", adapters.ErrFenced, t.Epoch)
	}
	return t, err
}

// Release gives the lease back.
func (l *Lease) Release(ctx context.Context, t adapters.Term) error {
	_, err := l.own(ctx, t, func(uint64) api.VariableItems {
		items := l.items(t.Epoch, "0")
		items[itemHolder] = ""
		return items
	})
	return err
}
