package kubernetes

import (
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
)

// store is a server's store at a version. Its nodes and pods can be listed, and the source makes watches of pods.
type store struct {
	source
	mu      sync.Mutex
	version int
	nodes   []corev1.Node
	pods    []corev1.Pod
}

// restore replaces the store's contents.
func (s *store) restore(version int, n corev1.Node, some ...corev1.Pod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version, s.nodes, s.pods = version, []corev1.Node{n}, some
}

func (s *store) client() *fake.Clientset {
	c := s.source.client()
	list := func(kind string, all func(metav1.ListMeta) runtime.Object) {
		c.PrependReactor("list", kind, func(clienttesting.Action) (bool, runtime.Object, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			return true, all(metav1.ListMeta{ResourceVersion: strconv.Itoa(s.version)}), nil
		})
	}
	list("nodes", func(m metav1.ListMeta) runtime.Object { return &corev1.NodeList{ListMeta: m, Items: s.nodes} })
	list("pods", func(m metav1.ListMeta) runtime.Object { return &corev1.PodList{ListMeta: m, Items: s.pods} })
	return c
}

// machineAt is node n at a version.
func machineAt(version int, cordoned bool) corev1.Node {
	n := *machine()
	n.ResourceVersion, n.Spec.Unschedulable = strconv.Itoa(version), cordoned
	return n
}

// waiting is a waiting pod at a version.
func waiting(version int) corev1.Pod {
	p := *podOf("a", "", corev1.PodPending, nil)
	p.OwnerReferences, p.Labels, p.ResourceVersion = nil, nil, strconv.Itoa(version)
	return p
}

// TestRestored: a store that was reset to an earlier state ends the term, whatever its version is, and every later
// observation fails. A list that is merely older than the watch does not.
func TestRestored(t *testing.T) {
	for name, tt := range map[string]struct {
		restore func(*store, *Driver)
		back    bool
	}{
		"to a lower version":   {func(s *store, _ *Driver) { s.restore(600, machineAt(600, true)) }, true},
		"with versions raised": {func(s *store, _ *Driver) { s.restore(1_000_001_000, machineAt(600, true)) }, true},
		"a job's start is lost": {func(s *store, d *Driver) {
			v, err := d.Observe(t.Context(), true)
			require.NoError(t, err)
			require.Len(t, v.Jobs, 1)
			require.NoError(t,
				d.Start(t.Context(), &adapters.Start{Job: &v.Jobs[0], Nodes: []sched.NodeTasks{{Node: "n", Tasks: 1}}}))
		}, true},
		"nothing has changed": {func(*store, *Driver) {}, false},
		"the node has":        {func(s *store, _ *Driver) { s.restore(1100, machineAt(1100, true), waiting(700)) }, false},
		"the watch is ahead": {func(_ *store, d *Driver) {
			n := machineAt(1200, false)
			d.model.change(nodes, &n, false)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := &store{}
			s.restore(1000, machineAt(900, false), waiting(700))
			c := s.client()
			c.PrependReactor("create", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
				return true, nil, nil
			})
			d, err := Open(t.Context(), c, Options{})
			require.NoError(t, err)
			defer d.Close()
			tt.restore(s, d)
			_, err = d.Observe(t.Context(), true)
			if !tt.back {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, adapters.ErrRestored)
			require.ErrorContains(t, err, "went back in time")
			s.restore(2_000_000_000, machineAt(1_900_000_000, false))
			for _, relist := range []bool{false, true} {
				_, err = d.Observe(t.Context(), relist)
				require.ErrorIs(t, err, adapters.ErrRestored, "what it knows stays wrong")
			}
		})
	}
}

// TestRestoredUnseen: a watch from a version that a restored server has not reached would be silent. The driver detects
// that when it opens the watch again, and lists everything unasked.
func TestRestoredUnseen(t *testing.T) {
	s := &store{}
	s.restore(1000, machineAt(900, false), waiting(700))
	d, err := Open(t.Context(), s.client(), Options{})
	require.NoError(t, err)
	defer d.Close()
	cluster, err := adapters.New(d, adapters.Options{})
	require.NoError(t, err)
	_, err = cluster.Events(t.Context())
	require.NoError(t, err)
	s.restore(600, machineAt(600, true))
	s.last().Stop()
	require.Eventually(t, func() bool {
		_, err := cluster.Events(t.Context())
		return errors.Is(err, adapters.ErrRestored)
	}, time.Minute, 10*time.Millisecond)
}

// TestVersionTooLarge: if the server refuses a watch because it has not reached the watch's version, everything is
// listed again, and the watch continues from there.
func TestVersionTooLarge(t *testing.T) {
	s := &store{}
	s.restore(1000, machineAt(900, false))
	d, err := Open(t.Context(), s.client(), Options{})
	require.NoError(t, err)
	defer d.Close()
	tooLarge := apierrors.NewTimeoutError("Too large resource version: 1000, current: 999", 1)
	tooLarge.ErrStatus.Details.Causes = []metav1.StatusCause{
		{Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version"}}
	s.set(tooLarge)
	s.last().Stop()
	f := d.feeds[pods]
	require.Eventually(t, func() bool { _, lost := f.lost(); return lost }, time.Minute, 10*time.Millisecond)
	s.set(nil)
	s.restore(1100, machineAt(1100, true))
	v, err := d.Observe(t.Context(), false)
	require.NoError(t, err)
	assert.True(t, v.Full)
	assert.True(t, v.Nodes[0].Cordoned)
	from, lost := f.lost()
	assert.False(t, lost)
	assert.Equal(t, "1100", from)
}
