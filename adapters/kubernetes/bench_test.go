package kubernetes

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/adaptertest"
	"github.com/hedgesched/hedge/sched"
)

// BenchmarkBinds starts gangs of 200 on a real API server, in turn with a loop that does nothing but bind as many, as many at a time, with the same client.
func BenchmarkBinds(b *testing.B) {
	const size = 200
	var took [2]time.Duration // by bare calls, by the driver
	n := 0
	for b.Loop() {
		for turn := range took {
			who := (turn + n) % 2 // each is first as often
			w := newWorld(b, adaptertest.Shape{Nodes: 1, Slots: size}, false)
			i := w.Open(b, adaptertest.Session{Epoch: 1})
			d := i.Driver.(*Driver)
			id := w.Submit(b, adaptertest.Job{Spec: sched.Job{ID: "a", Tasks: size}, Runtime: 100 * unit})
			job := observed(b, d, id, func(j *adapters.Job) bool { return j.Problem == nil })
			list, err := w.client.CoreV1().Pods(w.name).List(b.Context(), metav1.ListOptions{})
			require.NoError(b, err)
			begun := time.Now()
			if who == 0 {
				bindAll(b, d, list.Items, w.traits.Nodes[0])
			} else {
				err = d.Start(b.Context(), &adapters.Start{Job: &job, Nodes: []sched.NodeTasks{{Node: w.traits.Nodes[0], Tasks: size}}, Epoch: 1})
				require.NoError(b, err)
			}
			took[who] += time.Since(begun)
			i.Close() // its watches are of all pods, those of the next turn, too
		}
		n++
	}
	bare, driver := float64(size*n)/took[0].Seconds(), float64(size*n)/took[1].Seconds()
	b.ReportMetric(bare, "bare-binds/s")
	b.ReportMetric(driver, "driver-binds/s")
	b.ReportMetric(100*driver/bare, "%-of-bare")
}

// BenchmarkSinglePods starts jobs of one pod each, as many at a time as a loop that does nothing but bind as many.
func BenchmarkSinglePods(b *testing.B) {
	const size = 200
	var took [2]time.Duration // by bare calls, by the driver
	n := 0
	for b.Loop() {
		for turn := range took {
			who := (turn + n) % 2
			w := newWorld(b, adaptertest.Shape{Nodes: 1, Slots: size}, false)
			i := w.Open(b, adaptertest.Session{Epoch: 1})
			d := i.Driver.(*Driver)
			node := w.traits.Nodes[0]
			template := w.template(&submitted{Job: adaptertest.Job{Runtime: 100 * unit}}, endless)
			for k := range size {
				p := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
				p.Name = fmt.Sprint("p", k)
				_, err := w.client.CoreV1().Pods(w.name).Create(b.Context(), p, metav1.CreateOptions{})
				require.NoError(b, err)
			}
			list, err := w.client.CoreV1().Pods(w.name).List(b.Context(), metav1.ListOptions{})
			require.NoError(b, err)
			v, err := d.Observe(b.Context(), true)
			require.NoError(b, err)
			require.Len(b, v.Jobs, size)
			begun := time.Now()
			if who == 0 {
				bindAll(b, d, list.Items, node)
			} else {
				errs := make([]error, size)
				some := Driver{slots: make(chan struct{}, d.opt.Parallel)}
				some.each(size, func(k int) {
					errs[k] = d.Start(b.Context(), &adapters.Start{Job: &v.Jobs[k], Nodes: []sched.NodeTasks{{Node: node, Tasks: 1}}, Epoch: 1})
				})
				require.NoError(b, errors.Join(errs...))
			}
			took[who] += time.Since(begun)
			i.Close()
		}
		n++
	}
	bare, driver := float64(size*n)/took[0].Seconds(), float64(size*n)/took[1].Seconds()
	b.ReportMetric(bare, "bare-binds/s")
	b.ReportMetric(driver, "driver-binds/s")
	b.ReportMetric(100*driver/bare, "%-of-bare")
}

// bindAll binds pods to a node, and nothing else.
func bindAll(b *testing.B, d *Driver, pods []corev1.Pod, node string) {
	errs := make([]error, len(pods))
	d.each(len(pods), func(i int) {
		p := &pods[i]
		errs[i] = d.client.CoreV1().Pods(p.Namespace).Bind(b.Context(), &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: p.Name, UID: p.UID},
			Target: corev1.ObjectReference{Kind: "Node", Name: node}}, metav1.CreateOptions{})
	})
	for _, err := range errs {
		require.NoError(b, err)
	}
}
