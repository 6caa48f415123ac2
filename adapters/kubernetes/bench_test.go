package kubernetes

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/adaptertest"
	"github.com/hedgesched/hedge/sched"
)

// BenchmarkBinds starts gangs of 200 on a real API server, beside a loop that only binds as many at a time.
func BenchmarkBinds(b *testing.B) {
	const size = 200
	for _, name := range []string{"bare", "driver"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				w := newWorld(b, adaptertest.Shape{Nodes: 1, Slots: size}, false)
				d := w.Open(b, adaptertest.Session{Epoch: 1}).Driver.(*Driver)
				id := w.Submit(b, adaptertest.Job{Spec: sched.Job{ID: "a", Tasks: size}, Runtime: 100 * unit})
				job := observed(b, d, id, func(j *adapters.Job) bool { return j.Problem == nil })
				list, err := w.client.CoreV1().Pods(w.name).List(b.Context(), metav1.ListOptions{})
				require.NoError(b, err)
				b.StartTimer()
				if name == "driver" {
					err = d.Start(b.Context(), &adapters.Start{Job: &job, Nodes: []sched.NodeTasks{{Node: w.traits.Nodes[0], Tasks: size}}, Epoch: 1})
					require.NoError(b, err)
					continue
				}
				errs := make([]error, size)
				d.each(size, func(i int) {
					p := &list.Items[i]
					errs[i] = d.client.CoreV1().Pods(w.name).Bind(b.Context(), &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: p.Name, UID: p.UID},
						Target: corev1.ObjectReference{Kind: "Node", Name: w.traits.Nodes[0]}}, metav1.CreateOptions{})
				})
				for _, err := range errs {
					require.NoError(b, err)
				}
			}
			b.ReportMetric(float64(size*b.N)/b.Elapsed().Seconds(), "binds/s")
		})
	}
}
