package kubernetes

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
)

// TestCheckLease: starts trust for a while who leads. Stops and starts of other epochs read the lease, and so does the
// start after a refusal.
func TestCheckLease(t *testing.T) {
	objects := []apiruntime.Object{machine(), leaseAt(4)}
	for _, name := range []string{"a", "b", "c"} {
		p := podOf(name, "", corev1.PodPending, nil)
		p.OwnerReferences, p.Labels = nil, nil
		objects = append(objects, p)
	}
	for _, tt := range []struct {
		check time.Duration
		reads []int // after each action
	}{{time.Hour, []int{1, 1, 2, 3, 4}}, {0, []int{1, 2, 3, 4, 5}}} {
		c := fake.NewClientset(objects...)
		c.PrependReactor("create", "pods", func(clienttesting.Action) (bool, apiruntime.Object, error) {
			return true, nil, nil // a binding, which the fake takes for the pod
		})
		d, err := Open(t.Context(), c, Options{Lease: LeaseName{"hedge-system", "hedge"}, CheckLease: tt.check})
		require.NoError(t, err)
		defer d.Close()
		v, err := d.Observe(t.Context(), true)
		require.NoError(t, err)
		require.Len(t, v.Jobs, 3)
		start := func(job int, epoch uint64) error {
			return d.Start(t.Context(),
				&adapters.Start{Job: &v.Jobs[job], Nodes: []sched.NodeTasks{{Node: "n", Tasks: 1}}, Epoch: epoch})
		}
		var got []int
		read := func() {
			n := 0
			for _, a := range c.Actions() {
				if a.Matches("get", "leases") {
					n++
				}
			}
			got = append(got, n)
		}
		require.NoError(t, start(0, 4))
		read()
		require.NoError(t, start(1, 4))
		read()
		after, err := d.Observe(t.Context(), false)
		require.NoError(t, err)
		require.Equal(t, v.Jobs[0].Spec.ID, after.Jobs[0].Spec.ID)
		require.NoError(t, d.Stop(t.Context(), &adapters.Stop{Job: &after.Jobs[0], Epoch: 4, Cause: adapters.CausePreempted}))
		read()
		require.ErrorIs(t, start(2, 3), adapters.ErrFenced)
		read()
		require.NoError(t, start(2, 4))
		read()
		assert.Equal(t, tt.reads, got)
	}
}

// TestFirstBindFails: if the first pod of a gang was not bound, no other is tried, and none counts as bound.
func TestFirstBindFails(t *testing.T) {
	objects := []apiruntime.Object{machine()}
	for _, name := range []string{"a", "b"} {
		p := podOf(name, "", corev1.PodPending, nil)
		p.OwnerReferences, p.Labels = nil,
			map[string]string{"scheduling.x-k8s.io/pod-group": "g", "scheduling.x-k8s.io/min-available": "2"}
		objects = append(objects, p)
	}
	c := fake.NewClientset(objects...)
	binds := 0
	c.PrependReactor("create", "pods", func(clienttesting.Action) (bool, apiruntime.Object, error) {
		binds++
		return true, nil, apierrors.NewInternalError(errors.New("gone"))
	})
	d, err := Open(t.Context(), c, Options{})
	require.NoError(t, err)
	defer d.Close()
	v, err := d.Observe(t.Context(), true)
	require.NoError(t, err)
	require.Len(t, v.Jobs, 1)
	require.ErrorIs(t, d.Start(t.Context(), &adapters.Start{Job: &v.Jobs[0],
		Nodes: []sched.NodeTasks{{Node: "n", Tasks: 2}}}), adapters.ErrUnavailable)
	assert.Equal(t, 1, binds)
	v, err = d.Observe(t.Context(), true)
	require.NoError(t, err)
	assert.Empty(t, v.Jobs[0].Tasks)
}
