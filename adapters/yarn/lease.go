package yarn

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/hedgesched/hedge/adapters"
)

// lease is the spool's record of who leads.
type lease struct {
	Epoch  uint64 `json:"epoch"`
	Holder string `json:"holder"`
	// Renewed changes with every renewal.
	Renewed uint64 `json:"renewed"`
}

// lease reads the record. In a new spool it is zero. If somebody has deleted the record, nobody holds the lease, and
// its epoch is the last one.
func (s *spool) lease() (lease, error) {
	var l lease
	there, err := s.read(leaseDoc, &l)
	if err == nil && !there {
		_, err = s.read(epochDoc, &l.Epoch)
	}
	return l, err
}

// read reads a document of the spool, if it exists.
func (s *spool) read(doc string, into any) (there bool, err error) {
	path := filepath.Join(s.dir, doc)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, s.fail(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		return true, fmt.Errorf("%w: yarn: %s makes no sense: %w", adapters.ErrRefused, path, err)
	}
	return true, nil
}

// grant records a new epoch, and then the holder.
func (s *spool) grant(l lease) error {
	if err := replace(filepath.Join(s.dir, epochDoc), fmt.Append(nil, l.Epoch)); err != nil {
		return s.fail(err)
	}
	return s.setLease(l)
}

func (s *spool) setLease(l lease) error {
	data, err := json.Marshal(l)
	if err != nil {
		return err
	}
	return s.fail(replace(filepath.Join(s.dir, leaseDoc), data))
}

// LeaseFor is the default time for which [NewLease] grants the lease.
const LeaseFor = 15 * time.Second

// Lease is one instance's access to the lease of a spool. The instances' clocks need not agree: a standby measures, by
// its own clock, for how long the lease has not been renewed. It is for one goroutine at a time.
type Lease struct {
	spool   *spool
	holder  string
	granted time.Duration
	now     func() time.Time
	seen    lease
	since   time.Time
}

var _ adapters.Lease = (*Lease)(nil)

// NewLease makes one instance's access to the lease of the options' spool. Granted is the time for which the lease is
// granted, the same for all instances; 0 is [LeaseFor]. The error is [ErrOptions], or the file system's.
func NewLease(o Options, granted time.Duration) (*Lease, error) {
	if err := o.withDefaults(); err != nil {
		return nil, err
	}
	if granted < 0 {
		return nil, fmt.Errorf("%w: a lease of %v, expected none below 0", ErrOptions, granted)
	}
	granted = cmp.Or(granted, LeaseFor)
	s, err := openSpool(o.Spool, min(o.Timeout, granted/4))
	if err != nil {
		return nil, err
	}
	return &Lease{spool: s, holder: adapters.NewHolder(), granted: granted, now: o.Now}, nil
}

// Acquire takes the lease if it is free, or if it was not renewed for the time for which it is granted.
func (l *Lease) Acquire(ctx context.Context) (adapters.Term, error) {
	var term adapters.Term
	err := l.spool.locked(ctx, func() error {
		is, err := l.spool.lease()
		if err != nil {
			return err
		}
		if is.Holder != "" && is.Holder != l.holder {
			if now := l.now(); is != l.seen {
				l.seen, l.since = is, now
				return &adapters.HeldError{Holder: is.Holder}
			} else if now.Sub(l.since) < l.granted {
				return &adapters.HeldError{Holder: is.Holder}
			}
		}
		term = adapters.Term{Epoch: is.Epoch + 1, For: l.granted}
		return l.spool.grant(lease{Epoch: term.Epoch, Holder: l.holder})
	})
	return term, err
}

// Renew extends the lease.
func (l *Lease) Renew(ctx context.Context, t adapters.Term) (adapters.Term, error) {
	return t, l.own(ctx, t, func(is lease) error {
		is.Renewed++
		return l.spool.setLease(is)
	}, fmt.Errorf("%w: epoch %d", adapters.ErrFenced, t.Epoch))
}

// Release gives the lease back.
func (l *Lease) Release(ctx context.Context, t adapters.Term) error {
	return l.own(ctx, t, func(is lease) error { return l.spool.setLease(lease{Epoch: is.Epoch}) }, nil)
}

// own calls do if the lease still has the term.
func (l *Lease) own(ctx context.Context, t adapters.Term, do func(lease) error, otherwise error) error {
	return l.spool.locked(ctx, func() error {
		is, err := l.spool.lease()
		if err != nil {
			return err
		}
		if is.Epoch != t.Epoch || is.Holder != l.holder {
			return otherwise
		}
		return do(is)
	})
}
