package kubernetes

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
)

// TestAsking: an answer is never older than the question, and those who wait for one share the next.
func TestAsking(t *testing.T) {
	var a asking
	var now, reads atomic.Uint64
	begun, goOn := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		got, err := a.ask(t.Context(), func(context.Context) (leader, error) {
			close(begun)
			<-goOn
			return leader{}, nil
		})
		assert.NoError(t, err)
		assert.Zero(t, got.leader)
	})
	<-begun
	now.Store(7) // what that question may not know
	const many = 20
	for range many {
		all.Go(func() {
			got, err := a.ask(t.Context(), func(context.Context) (leader, error) {
				reads.Add(1)
				return leader{epoch: now.Load()}, nil
			})
			assert.NoError(t, err)
			assert.EqualValues(t, 7, got.epoch)
		})
	}
	close(goOn)
	all.Wait()
	assert.LessOrEqual(t, reads.Load(), uint64(many))
	assert.Positive(t, reads.Load())
}

// TestAskingTogether: those who ask while a question is under way have one answer together, errors too.
func TestAskingTogether(t *testing.T) {
	var a asking
	a.turn.Lock() // a question is under way
	wrong := errors.New("wrong")
	var all sync.WaitGroup
	var reads atomic.Uint64
	ask := func() {
		_, err := a.ask(t.Context(), func(context.Context) (leader, error) {
			reads.Add(1)
			return leader{}, wrong
		})
		assert.ErrorIs(t, err, wrong)
	}
	all.Go(ask)
	for a.waits() == nil { // until it waits for its turn
		runtime.Gosched()
	}
	next := a.waits()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := a.ask(gone, nil)
	require.ErrorIs(t, err, adapters.ErrUnavailable)
	assert.Same(t, next, a.waits(), "it would have had the same")
	a.turn.Unlock()
	all.Wait()
	assert.EqualValues(t, 1, reads.Load())
}

func (a *asking) waits() *answer {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.next
}

// TestBelief: an answer is believed for a while, of its epoch, until a refusal.
func TestBelief(t *testing.T) {
	c := fake.NewClientset(machine(), leaseAt(4))
	d := &Driver{client: c, opt: Options{Lease: LeaseName{"hedge-system", "hedge"}, Timeout: time.Minute}}
	now := time.Now()
	d.opt.CheckLease = time.Hour
	believes := func(epoch uint64, after time.Duration) bool {
		return d.asking.believed(epoch, d.opt.CheckLease, now.Add(after))
	}
	assert.False(t, believes(4, 0), "nothing is known")
	require.NoError(t, d.fence(t.Context(), 4))
	now = time.Now()
	assert.True(t, believes(4, time.Minute))
	assert.False(t, believes(5, time.Minute))
	assert.False(t, believes(4, 2*time.Hour))
	assert.False(t, believes(4, -time.Hour), "the clock was set back")
	d.opt.CheckLease = 0
	assert.False(t, believes(4, 0))
	d.opt.CheckLease = time.Hour
	early, err := d.asking.ask(t.Context(), d.leader) // whose answer is taken in late
	require.NoError(t, err)
	require.NoError(t, d.client.CoordinationV1().Leases("hedge-system").Delete(t.Context(), "hedge", metav1.DeleteOptions{}))
	require.ErrorIs(t, d.fence(t.Context(), 4), adapters.ErrFenced, "what is asked is asked anew")
	assert.False(t, believes(4, 0), "a lease that is no more is a refusal")
	d.asking.believe(early, nil)
	assert.False(t, believes(4, 0), "it is older than the refusal")
	_, err = c.CoordinationV1().Leases("hedge-system").Create(t.Context(), leaseAt(5), metav1.CreateOptions{})
	require.NoError(t, err)
	require.ErrorIs(t, d.fence(t.Context(), 4), adapters.ErrFenced)
	assert.False(t, believes(4, 0))
	assert.False(t, believes(5, 0))
	require.NoError(t, d.fence(t.Context(), 5))
	assert.True(t, believes(5, time.Minute), "it is newer than the refusal")
}

// TestCheckLease: starts believe for a while who leads; stops and starts of other epochs read the lease, and so does the start after a refusal.
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
			return d.Start(t.Context(), &adapters.Start{Job: &v.Jobs[job], Nodes: []sched.NodeTasks{{Node: "n", Tasks: 1}}, Epoch: epoch})
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
