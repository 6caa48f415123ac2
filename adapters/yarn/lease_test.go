package yarn

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/adaptertest"
)

// TestLease uses a clock of its own, so that no lease expires because the machine is slow.
func TestLease(t *testing.T) {
	adaptertest.RunLease(t, func(t testing.TB) adaptertest.Office {
		now := time.Unix(1e9, 0)
		o := Options{URLs: []string{"http://127.0.0.1:1"}, Spool: t.TempDir(), Now: func() time.Time {
			return now
		}, Timeout: time.Minute}
		return adaptertest.Office{
			Open: func(t testing.TB) adapters.Lease {
				l, err := NewLease(o, 10*time.Minute)
				require.NoError(t, err)
				return l
			},
			Pass:     func(testing.TB) { now = now.Add(time.Minute) },
			Patience: 30,
			Hang:     func(t testing.TB) func() { return holdLock(t, o) },
			Delete:   func(t testing.TB) { require.NoError(t, os.Remove(filepath.Join(o.Spool, leaseDoc))) },
		}
	})
}

// holdLock makes another process hold the spool's lock.
func holdLock(t testing.TB, o Options) (release func()) {
	s, err := openSpool(o.Spool, time.Minute)
	require.NoError(t, err)
	held, over, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- s.locked(context.Background(), func() error {
			close(held)
			<-over
			return nil
		})
	}()
	<-held
	return func() {
		close(over)
		require.NoError(t, <-ended)
	}
}

// TestLeaseDeleted: without the spool's lease nobody leads, until an instance has taken it. Epochs go on. An epoch that
// makes no sense is an error.
func TestLeaseDeleted(t *testing.T) {
	o := Options{URLs: []string{"http://127.0.0.1:1"}, Spool: t.TempDir(), Timeout: time.Minute}
	l, err := NewLease(o, 0)
	require.NoError(t, err)
	for epoch := range uint64(2) {
		term, err := l.Acquire(t.Context())
		require.NoError(t, err)
		require.Equal(t, epoch+1, term.Epoch)
	}
	other, err := NewLease(o, 0)
	require.NoError(t, err)
	_, err = other.Acquire(t.Context())
	require.Equal(t, &adapters.HeldError{Holder: l.holder}, err)
	write := func(epoch uint64) error { return l.spool.note(t.Context(), "a", "it waits", epoch) }
	only := func(leads uint64) {
		for epoch := uint64(1); epoch < 5; epoch++ {
			if epoch == leads {
				require.NoError(t, write(epoch))
			} else {
				require.ErrorIs(t, write(epoch), adapters.ErrFenced, "%d", epoch)
			}
		}
	}
	only(2)
	require.NoError(t, os.Remove(filepath.Join(o.Spool, leaseDoc)))
	only(0)
	term, err := other.Acquire(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 3, term.Epoch)
	only(3)
	require.NoError(t, os.Remove(filepath.Join(o.Spool, leaseDoc)))
	require.NoError(t, os.WriteFile(filepath.Join(o.Spool, epochDoc), []byte("two"), 0o600))
	_, err = l.Acquire(t.Context())
	require.ErrorIs(t, err, adapters.ErrRefused)
}

// TestLeaseUnavailable: if the lease's file system does not answer, or another process holds the lock, the lease is
// neither granted nor lost. A lease that makes no sense is an error.
func TestLeaseUnavailable(t *testing.T) {
	o := Options{URLs: []string{"http://127.0.0.1:1"}, Spool: t.TempDir(), Timeout: time.Millisecond}
	l, err := NewLease(o, 0)
	require.NoError(t, err)
	other, err := openSpool(o.Spool, time.Minute)
	require.NoError(t, err)
	require.NoError(t, other.locked(context.Background(), func() error {
		_, err := l.Acquire(context.Background())
		require.ErrorIs(t, err, adapters.ErrUnavailable)
		_, err = l.Renew(context.Background(), adapters.Term{Epoch: 1})
		require.ErrorIs(t, err, adapters.ErrUnavailable)
		return nil
	}))
	o.Timeout = time.Minute
	l, err = NewLease(o, 0)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(o.Spool, leaseDoc), []byte("{"), 0o600))
	_, err = l.Acquire(context.Background())
	require.ErrorIs(t, err, adapters.ErrRefused)
}
