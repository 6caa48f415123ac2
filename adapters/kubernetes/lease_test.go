package kubernetes

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/hedgesched/hedge/adapters"
)

// TestLeaseDeleted: whoever takes a recreated Lease has a higher epoch than all before. The earlier leader stops
// acting, even if the clock stood still.
func TestLeaseDeleted(t *testing.T) {
	for _, elapsed := range []time.Duration{0, 5 * time.Second} {
		t.Run(elapsed.String(), func(t *testing.T) {
			made := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
			c := fake.NewClientset()
			uid := types.UID("1")
			c.PrependReactor("create", "leases", func(a clienttesting.Action) (bool, runtime.Object, error) {
				l := a.(clienttesting.CreateAction).GetObject().(*coordinationv1.Lease)
				l.CreationTimestamp, l.UID = metav1.NewTime(made), uid
				return false, nil, nil
			})
			name := LeaseName{"hedge-system", "hedge"}
			open := func(epoch uint64) *Driver {
				d, err := Open(t.Context(), c, Options{Lease: name})
				require.NoError(t, err)
				t.Cleanup(d.Close)
				require.NoError(t, d.fence(t.Context(), epoch))
				return d
			}
			a, err := NewLease(c, name, 0)
			require.NoError(t, err)
			b, err := NewLease(c, name, 0)
			require.NoError(t, err)
			first, err := a.Acquire(t.Context())
			require.NoError(t, err)
			old := open(first.Epoch)
			require.NoError(t, c.CoordinationV1().Leases(name.Namespace).Delete(t.Context(), name.Name, metav1.DeleteOptions{}))
			require.ErrorIs(t, old.fence(t.Context(), first.Epoch), adapters.ErrFenced)
			made, uid = made.Add(elapsed), "2"
			second, err := b.Acquire(t.Context())
			require.NoError(t, err)
			if elapsed > 0 {
				assert.Greater(t, second.Epoch, first.Epoch)
			}
			require.ErrorIs(t, old.fence(t.Context(), first.Epoch), adapters.ErrFenced)
			open(second.Epoch)
			_, err = a.Renew(t.Context(), first)
			require.ErrorIs(t, err, adapters.ErrFenced)
			require.NoError(t, b.Release(t.Context(), second))
			third, err := a.Acquire(t.Context())
			require.NoError(t, err)
			assert.Equal(t, second.Epoch+1, third.Epoch)
		})
	}
}

// TestLeaseOvertaken: if the Lease is deleted or written by others between a method's read and its write, nothing ends
// for good. A missing namespace is a refusal.
func TestLeaseOvertaken(t *testing.T) {
	leases := coordinationv1.Resource("leases")
	for what, between := range map[string]error{"deleted": apierrors.NewNotFound(leases, "hedge"),
		"written": apierrors.NewConflict(leases, "hedge", errors.New("it has changed"))} {
		t.Run(what, func(t *testing.T) {
			c := fake.NewClientset()
			var wrong error
			c.PrependReactor("update", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
				return wrong != nil, nil, wrong
			})
			l, err := NewLease(c, LeaseName{"hedge-system", "hedge"}, 0)
			require.NoError(t, err)
			wrong = between
			_, err = l.Acquire(t.Context())
			var held *adapters.HeldError
			require.ErrorAs(t, err, &held)
			assert.Empty(t, held.Holder)
			wrong = nil
			term, err := l.Acquire(t.Context())
			require.NoError(t, err)
			wrong = between
			_, err = l.Renew(t.Context(), term)
			require.ErrorIs(t, err, adapters.ErrUnavailable)
			require.NotErrorIs(t, err, adapters.ErrFenced)
			require.NoError(t, l.Release(t.Context(), term))
		})
	}
	c := fake.NewClientset()
	c.PrependReactor("create", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewNotFound(corev1.Resource("namespaces"), "hedge-system")
	})
	l, err := NewLease(c, LeaseName{"hedge-system", "hedge"}, 0)
	require.NoError(t, err)
	_, err = l.Acquire(t.Context())
	require.ErrorIs(t, err, adapters.ErrRefused)
	require.NotErrorIs(t, err, adapters.ErrStale)
}

// TestLeaseFor: the lease is granted for the given time, and for LeaseFor if that is 0. Negative times and times that
// are not whole seconds are refused.
func TestLeaseFor(t *testing.T) {
	c, name := fake.NewClientset(), LeaseName{"hedge-system", "hedge"}
	for length, want := range map[time.Duration]time.Duration{0: LeaseFor, 20 * time.Second: 20 * time.Second} {
		l, err := NewLease(c, name, length)
		require.NoError(t, err)
		term, err := l.Acquire(t.Context())
		require.NoError(t, err)
		assert.Equal(t, want, term.For)
		require.NoError(t, l.Release(t.Context(), term))
	}
	for _, length := range []time.Duration{-time.Second, time.Millisecond, 1500 * time.Millisecond} {
		_, err := NewLease(c, name, length)
		require.ErrorIs(t, err, ErrOptions)
	}
}

func TestFirstEpoch(t *testing.T) {
	for _, tt := range []struct {
		made time.Time
		want uint64
	}{
		{time.Time{}, 1},
		{time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), 1},
		{time.Date(2020, 1, 2, 0, 0, 0, 0, time.UTC), 86400},
		{time.Date(2200, 1, 2, 0, 0, 0, 0, time.UTC), math.MaxInt32 / 2},
	} {
		assert.Equal(t, tt.want, firstEpoch(tt.made), "%v", tt.made)
	}
}
