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

// read is the variable and its epoch. Where there is none, it is one without items, whose ModifyIndex is 0, and the
// epoch is the index of Nomad's last change of any variable: no epoch of a lease that was there before is higher, since
// each was written by a change of its own, and was one more than the last one's.
func (o *office) read(ctx context.Context) (*api.Variable, uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	v, meta, err := o.client.Variables().Read(o.path, query(ctx, o.namespace))
	if errors.Is(err, api.ErrVariablePathNotFound) {
		if meta.LastIndex <= 1 { // the client says so of a variable that may not be read, too
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

// errConflict is a variable that has changed.
var errConflict = errors.New("nomad: the variable has changed")

// write puts the items in the place of what was read, with errConflict if it has changed since.
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

// fence refuses actions of every epoch but the variable's. Instances without a lease have epoch 0 and are not looked
// at.
func (d *Driver) fence(ctx context.Context, epoch uint64) error {
	if epoch == 0 {
		return nil
	}
	return d.leads.Check(ctx, epoch)
}

// leader only reads: where the variable was deleted, whoever takes the lease next makes it anew. One that was made anew
// has another CreateIndex, and one that was given back no holder.
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

// Lease is an [adapters.Lease] in a Nomad variable with check-and-set: Nomad 1.6 knows no locks that run out by
// themselves. A standby takes the lease when it has seen no change of it for as long as it is granted, by its own
// clock. It is for one goroutine at a time.
type Lease struct {
	*office
	holder  string
	granted time.Duration
	now     func() time.Time

	index uint64    // of the variable as it was seen last
	since time.Time // and since when it was so
}

var _ adapters.Lease = (*Lease)(nil)

// LeaseFor is how long leases are granted unless [NewLease] is told otherwise.
const LeaseFor = 15 * time.Second

// NewLease makes one instance's way to the lease that the driver's options name. Granted is how long it is granted for,
// the same for all instances; 0 is [LeaseFor]. The error is [ErrConfig] or [ErrOptions].
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

// Acquire takes the lease if it is free or has not been renewed for as long as it is granted.
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

// own puts items in the place of those of the term, and tells whether that is still the lease's. What is renewed gets
// another count than it had.
func (l *Lease) own(ctx context.Context, t adapters.Term, next func(count uint64) api.VariableItems) (bool, error) {
	for range 3 {
		v, epoch, err := l.read(ctx)
		if err != nil {
			return false, err
		}
		if v.ModifyIndex == 0 || epoch != t.Epoch || v.Items[itemHolder] != l.holder {
			return false, nil
		}
		count, _ := strconv.ParseUint(v.Items[itemCount], 10, 64) // it need only change
		// Where it has changed, a renewal of this instance's that had no answer may have arrived meanwhile.
		if err = l.write(ctx, v, next(count)); !errors.Is(err, errConflict) {
			return true, err
		}
	}
	return true, fmt.Errorf("%w: nomad: variable %s changes all the time", adapters.ErrUnavailable, l.path)
}

// Renew holds on to the lease.
func (l *Lease) Renew(ctx context.Context, t adapters.Term) (adapters.Term, error) {
	own, err := l.own(ctx, t, func(count uint64) api.VariableItems {
		return l.items(t.Epoch, strconv.FormatUint(count+1, 10))
	})
	if err == nil && !own {
		err = fmt.Errorf("%w: epoch %d", adapters.ErrFenced, t.Epoch)
	}
	return t, err
}

// Release gives it back.
func (l *Lease) Release(ctx context.Context, t adapters.Term) error {
	_, err := l.own(ctx, t, func(uint64) api.VariableItems {
		items := l.items(t.Epoch, "0")
		items[itemHolder] = ""
		return items
	})
	return err
}
