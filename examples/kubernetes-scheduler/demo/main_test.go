package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/hedgesched/hedge/adapters/kubernetes"
	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/examples/internal/demo"
	"github.com/hedgesched/hedge/sched"
)

// TestPods: a gang's times are those of its last task, a task that is evicted starts anew with another pod, and what
// has done its work has.
func TestPods(t *testing.T) {
	n := &namespace{cluster: &cluster{client: fake.NewSimpleClientset()},
		field: field{"kube-scheduler", "kube", "default-scheduler", true}, jobs: map[string]*job{}}
	j := &sim.Job{Job: sched.Job{ID: "app-b-1", Tasks: 2, Deadline: time.Minute,
		Attributes: map[string]string{"user": "u"}}, Work: sim.Runtime(1500 * time.Millisecond)}
	require.NoError(t, n.Submit(t.Context(), j))
	pods := func() []corev1.Pod {
		list, err := n.client.CoreV1().Pods("kube").List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		return list.Items
	}
	look := func() demo.Outcome {
		all, err := n.Look(t.Context())
		require.NoError(t, err)
		return all[j.ID]
	}
	two := pods()
	require.Len(t, two, 2)
	assert.Equal(t, "1.5s", two[0].Annotations["hedge.test/duration"])
	assert.Equal(t, "1m0s", two[0].Annotations[kubernetes.DeadlineAnnotation])
	assert.Equal(t, urgent, two[0].Spec.PriorityClassName)
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	tell := func(p *corev1.Pod, node string, phase corev1.PodPhase, s int) {
		p.Spec.NodeName, p.Status.Phase = node, phase
		n.see(p, false, at(s))
	}
	tell(&two[0], "a", corev1.PodPending, 1)
	assert.Zero(t, look(), "one task has no place")
	tell(&two[1], "b", corev1.PodPending, 2)
	assert.Equal(t, demo.Outcome{Placed: at(2)}, look())
	tell(&two[0], "a", corev1.PodRunning, 3)
	tell(&two[1], "b", corev1.PodFailed, 4)
	assert.Equal(t, demo.Outcome{Stops: 1}, look(), "it was evicted")
	three := pods()
	require.Len(t, three, 3, "and has another pod")
	tell(&two[1], "b", corev1.PodRunning, 5)
	assert.Equal(t, demo.Outcome{Stops: 1}, look(), "its old pod is of no account")
	again := &three[2]
	for i := range three {
		if three[i].Name != two[0].Name && three[i].Name != two[1].Name {
			again = &three[i]
		}
	}
	tell(again, "b", corev1.PodRunning, 6)
	tell(&two[0], "a", corev1.PodSucceeded, 7)
	tell(again, "b", corev1.PodSucceeded, 8)
	n.see(again, true, at(9))
	assert.Equal(t, demo.Outcome{Placed: at(6), Started: at(6), Finished: at(8), Stops: 1}, look())
}

// TestRun: a small run on the real servers prints all six lines, and what is interrupted leaves nothing behind.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it runs a control plane for a minute")
	}
	s := settings{options: demo.Default(), compare: demo.DefaultComparison(), priority: true}
	s.compare.Policies, s.compare.Cycle = []string{"3sigma", "keep"}, time.Second
	s.options.Nodes, s.options.Hours = 4, 0.1
	t.Setenv("TMPDIR", t.TempDir())
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), s, &out))
	for _, name := range []string{"kube-scheduler", "simulated: prio", "hedge, 3sigma", "simulated: 3sigma",
		"hedge, keep", "simulated: keep"} {
		assert.Contains(t, out.String(), fmt.Sprintf("%s  ", name))
	}
	empty(t)

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := run(ctx, s, writer(func(text string) {
		if strings.HasPrefix(text, "hedge, 3sigma:") && strings.Contains(text, "handed in") {
			cancel() // as an interrupt does
		}
	}))
	require.ErrorIs(t, err, context.Canceled)
	empty(t)
}

// empty checks that the folder of temporary files is.
func empty(t *testing.T) {
	t.Helper()
	left, err := os.ReadDir(os.TempDir())
	require.NoError(t, err)
	for _, e := range left {
		assert.False(t, strings.HasPrefix(e.Name(), "hedge-demo"), e.Name())
	}
}

type writer func(string)

func (w writer) Write(p []byte) (int, error) {
	w(string(p))
	return len(p), nil
}
