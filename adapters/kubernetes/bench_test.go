package kubernetes

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/adaptertest"
	"github.com/hedgesched/hedge/sched"
)

// contest has the times of each way of binding: the duration, and the processor time of this process and its children,
// the servers, until all pods ran. On a busy machine, the processor time says more.
type contest [3]struct{ took, spent time.Duration }

const (
	bare      = iota // calls alone
	strict           // the driver, of which every start reads the lease
	believing        // the driver, which believes an answer for a second
)

// measure binds that number of pods of a world in one of these ways.
func (c *contest) measure(b *testing.B, w *world, who, size int, bind func()) {
	b.Helper()
	before, begun := spent(b), time.Now()
	bind()
	c[who].took += time.Since(begun)
	require.Eventually(b, func() bool {
		list, err := w.client.CoreV1().Pods(w.name).List(b.Context(),
			metav1.ListOptions{FieldSelector: "status.phase=Running"})
		return err == nil && len(list.Items) == size
	}, patience, 500*time.Millisecond)
	c[who].spent += spent(b) - before
}

// spent is the processor time of this process and its children, to a hundredth of a second.
func spent(b *testing.B) time.Duration {
	b.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(b, err)
	me, ticks := strconv.Itoa(os.Getpid()), 0
	for _, path := range all {
		data, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		pid, _, _ := strings.Cut(string(data), " ")
		f := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
		if pid != me && f[1] != me {
			continue
		}
		for _, text := range f[11:13] { // in user mode, and in the kernel's
			n, err := strconv.Atoi(text)
			require.NoError(b, err)
			ticks += n
		}
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

func (c *contest) report(b *testing.B, binds int) {
	for who, name := range [...]string{"bare", "strict", "believing"} {
		b.ReportMetric(float64(binds)/c[who].took.Seconds(), name+"-binds/s")
		b.ReportMetric(c[who].spent.Seconds()*1000/float64(binds), name+"-cpu-ms/bind")
	}
}

// BenchmarkBinds starts gangs of 200 on a real API server. In turn, it runs a loop that only binds the same number of
// pods, with the same concurrency and client.
func BenchmarkBinds(b *testing.B) {
	const size = 200
	var took contest
	n := 0
	for b.Loop() {
		for turn := range took {
			who := (turn + n) % len(took) // each is first as often
			w := newWorld(b, adaptertest.Shape{Nodes: 1, Slots: size}, false)
			i := w.Open(b, adaptertest.Session{Epoch: 1})
			d := i.Driver.(*Driver)
			if who == believing {
				d.opt.CheckLease = time.Second
			}
			id := w.Submit(b, adaptertest.Job{Spec: sched.Job{ID: "a", Tasks: size}, Runtime: 100 * unit})
			job := observed(b, d, id, func(j *adapters.Job) bool { return j.Problem == nil })
			list, err := w.client.CoreV1().Pods(w.name).List(b.Context(), metav1.ListOptions{})
			require.NoError(b, err)
			took.measure(b, w, who, size, func() {
				if who == bare {
					bindAll(b, d, list.Items, w.traits.Nodes[0])
					return
				}
				err = d.Start(b.Context(),
					&adapters.Start{Job: &job, Nodes: []sched.NodeTasks{{Node: w.traits.Nodes[0], Tasks: size}}, Epoch: 1})
				require.NoError(b, err)
			})
			i.Close() // its watches are of all pods, those of the next turn, too
		}
		n++
	}
	took.report(b, size*n)
}

// BenchmarkSinglePods starts jobs of one pod each, with the same concurrency as a loop that only binds pods.
func BenchmarkSinglePods(b *testing.B) {
	const size = 200
	var took contest
	n := 0
	for b.Loop() {
		for turn := range took {
			who := (turn + n) % len(took)
			w := newWorld(b, adaptertest.Shape{Nodes: 1, Slots: size}, false)
			i := w.Open(b, adaptertest.Session{Epoch: 1})
			d := i.Driver.(*Driver)
			if who == believing {
				d.opt.CheckLease = time.Second
			}
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
			took.measure(b, w, who, size, func() {
				if who == bare {
					bindAll(b, d, list.Items, node)
					return
				}
				errs := make([]error, size)
				some := Driver{slots: make(chan struct{}, d.opt.Parallel)}
				some.each(size, func(k int) {
					errs[k] = d.Start(b.Context(),
						&adapters.Start{Job: &v.Jobs[k], Nodes: []sched.NodeTasks{{Node: node, Tasks: 1}}, Epoch: 1})
				})
				require.NoError(b, errors.Join(errs...))
			})
			i.Close()
		}
		n++
	}
	took.report(b, size*n)
}

// bindAll binds pods to a node, and nothing else.
func bindAll(b *testing.B, d *Driver, pods []corev1.Pod, node string) {
	errs := make([]error, len(pods))
	d.each(len(pods), func(i int) {
		p := &pods[i]
		errs[i] = d.client.CoreV1().Pods(p.Namespace).Bind(b.Context(),
			&corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: p.Name, UID: p.UID},
				Target: corev1.ObjectReference{Kind: "Node", Name: node}}, metav1.CreateOptions{})
	})
	for _, err := range errs {
		require.NoError(b, err)
	}
}

// BenchmarkOutdated looks at the notes of 300 jobs that fit nowhere, of ten kinds of nodes, with 2000 nodes.
func BenchmarkOutdated(b *testing.B) {
	x := newTester(b)
	const nn, gg, cc = 2000, 300, 10
	for i := range nn {
		x.node(fmt.Sprint("n", i))
	}
	d := &Driver{model: x.model, opt: x.opt}
	x.opt.Events = 10000
	d.writer = newWriter(nil, x.opt, x.model)
	for i := range gg {
		x.pod(fmt.Sprint("p", i), asks("9", "1Gi"), notIn(fmt.Sprint("zz", i%cc)))
	}
	v := x.see(0)
	for i := range v.Jobs {
		if err := d.Explain(b.Context(),
			&adapters.Note{Job: &v.Jobs[i], Reason: sched.Reason{Code: sched.ReasonNoFeasibleSet}}); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		x.ground = nil
		if some := x.outdated(v.Jobs); len(some) > 0 {
			b.Fatal(some)
		}
	}
}
