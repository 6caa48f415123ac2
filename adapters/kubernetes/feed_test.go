package kubernetes

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/hedgesched/hedge/adapters"
)

// source makes watches of pods, or refuses them.
type source struct {
	mu     sync.Mutex
	wrong  error
	opened []*watch.FakeWatcher
}

func (s *source) set(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wrong = err
}

func (s *source) last() *watch.FakeWatcher {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened[len(s.opened)-1]
}

func (s *source) client(objects ...runtime.Object) *fake.Clientset {
	c := fake.NewClientset(objects...)
	c.PrependWatchReactor("pods", func(clienttesting.Action) (bool, watch.Interface, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.wrong != nil {
			return true, nil, s.wrong
		}
		w := watch.NewFake()
		s.opened = append(s.opened, w)
		return true, w, nil
	})
	return c
}

func forbidden() error {
	return apierrors.NewForbidden(corev1.Resource("pods"), "", errors.New("no watch"))
}

// TestOpenWithoutWatches: a missing right to watch is an error of Open. A server that refuses a watch for the moment is
// asked again for some time.
func TestOpenWithoutWatches(t *testing.T) {
	for name, tt := range map[string]struct{ wrong, want error }{
		"forbidden": {forbidden(), adapters.ErrRefused},
		"too busy":  {apierrors.NewInternalError(errors.New("too busy")), adapters.ErrUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			s := &source{wrong: tt.wrong}
			_, err := Open(t.Context(), s.client(machine()), Options{Timeout: 200 * time.Millisecond})
			require.ErrorIs(t, err, tt.want)
			require.ErrorContains(t, err, "watch of pods")
			require.ErrorContains(t, err, tt.wrong.Error())
		})
	}
}

// TestOutage: while a watch has not worked for long, what is known is out of date. Observe says so and why, unless it
// lists everything. Once the watch works again, it reports.
func TestOutage(t *testing.T) {
	s := &source{}
	d, err := Open(t.Context(), s.client(machine()), Options{})
	require.NoError(t, err)
	defer d.Close()
	f := d.feeds[pods]
	s.set(forbidden())
	first := s.last()
	first.Stop()
	broken := func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.up.IsZero() && apierrors.IsForbidden(f.err)
	}
	require.Eventually(t, broken, time.Minute, 10*time.Millisecond)
	_, err = d.Observe(t.Context(), false)
	require.NoError(t, err, "a watch may break")
	ago := func(up bool) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.down = f.down.Add(-outage); up {
			f.up = f.up.Add(-steady)
		}
	}
	ago(false)
	_, err = d.Observe(t.Context(), false)
	require.ErrorIs(t, err, adapters.ErrUnavailable)
	require.NotErrorIs(t, err, adapters.ErrRefused)
	require.ErrorContains(t, err, "no watch")
	v, err := d.Observe(t.Context(), true)
	require.NoError(t, err, "a list is as new as the call")
	require.True(t, v.Full)
	_, err = d.Observe(t.Context(), false)
	require.ErrorIs(t, err, adapters.ErrUnavailable, "and what comes after it is not known")
	s.set(nil)
	require.Eventually(t, func() bool { return !broken() }, time.Minute, 10*time.Millisecond)
	ago(true)
	late := podOf("late", "", corev1.PodPending, nil)
	late.ResourceVersion = "5"
	s.last().Add(late)
	require.Eventually(t, func() bool {
		v, err := d.Observe(t.Context(), false)
		return assert.NoError(t, err) && len(v.Jobs) == 1
	}, time.Minute, 10*time.Millisecond)
	d.Close()
	assert.True(t, first.IsStopped() && s.last().IsStopped(), "nothing is left open")
}

// TestObserveWithoutRights: a right that is taken away while the driver works does not end the loop.
func TestObserveWithoutRights(t *testing.T) {
	c := (&source{}).client(machine())
	d, err := Open(t.Context(), c, Options{})
	require.NoError(t, err)
	defer d.Close()
	for _, wrong := range []error{forbidden(), apierrors.NewUnauthorized("the token is over"),
		apierrors.NewNotFound(corev1.Resource("pods"), "")} {
		c.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, wrong })
		_, err = d.Observe(t.Context(), true)
		require.ErrorIs(t, err, adapters.ErrUnavailable)
		require.NoError(t, adapters.Unavailable(err))
		for _, other := range []error{adapters.ErrRefused, adapters.ErrStale, adapters.ErrFenced} {
			require.NotErrorIs(t, err, other)
		}
	}
}
