package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/adapters/testservers"
	"github.com/hedgesched/hedge/examples/internal/demo"
	"github.com/hedgesched/hedge/sched"
)

var (
	scaleNodes  = flag.Int("scale", 0, "nodes of TestScale, which has four pods for each; 5000 takes some ten minutes")
	scaleSteady = flag.Duration("steady", time.Minute, "how long TestScale watches the scheduler work")
)

const gang = 10 // tasks of a job in TestScale

// TestScale measures the scheduler's process in a large cluster: how long it takes from its start until it has carried
// out the first plan, and what memory and processor time it needs then. 95 of 100 pods run when it starts; the others,
// whose room is free, wait.
func TestScale(t *testing.T) {
	if *scaleNodes == 0 {
		t.Skip("without the flag -scale")
	}
	ctx, dir := t.Context(), t.TempDir()
	s := settings{options: demo.Default()}
	w, err := demo.New(s.options)
	require.NoError(t, err)
	path, err := s.program(ctx, dir)
	require.NoError(t, err)
	servers, err := testservers.StartKubernetes(ctx, testservers.KubernetesConfig{Dir: dir})
	require.NoError(t, err)
	defer servers.Stop()
	begun := time.Now()
	c, err := connect(ctx, servers, room{nodes: *scaleNodes, slots: 4})
	require.NoError(t, err)
	require.NoError(t, c.namespace(ctx, "hedge"))
	n := &namespace{cluster: c, field: field{"hedge", "hedge", "hedge", false}, jobs: map[string]*job{}}
	pods := 4 * *scaleNodes
	waiting := pods / 20 / gang * gang
	n.fill(ctx, t, pods, waiting)
	t.Logf("%d nodes with %d pods, of which %d wait, made in %v", *scaleNodes, pods, waiting,
		time.Since(begun).Round(time.Second))

	for _, what := range []string{"start", "restart"} {
		begun = time.Now()
		h, err := start(ctx, w, c,
			schedulerOptions{path: path, dir: dir, kubeconfig: servers.Kubeconfig(), policy: "3sigma",
				cycle: 2 * time.Second})
		require.NoError(t, err)
		first := n.placed(ctx, t, pods-waiting)
		t.Logf("%s: the first gang had its nodes %v after the process was started", what,
			first.Sub(begun).Round(10*time.Millisecond))
		n.none(ctx, t, "all pods have nodes", "spec.nodeName=")
		t.Logf("%s: all %d pods had theirs after %v", what, waiting, time.Since(begun).Round(10*time.Millisecond))
		on := map[string]int{}
		for _, node := range n.where(ctx, t) {
			on[node]++
			require.LessOrEqual(t, on[node], 4, "node %s", node)
		}
		before := usage(t, h.ID())
		time.Sleep(*scaleSteady)
		after := usage(t, h.ID())
		t.Logf("%s: resident %d MiB, at most %d MiB; %.1f s of processor time so far, %.2f s in the %v that followed", what,
			after.resident>>20, after.most>>20,
			before.processor.Seconds(), (after.processor - before.processor).Seconds(), *scaleSteady)
		h.Stop()
		n.empty(ctx, t, pods-waiting, pods)
		n.create(ctx, t, pods-waiting, pods, waiting)
	}
}

// fill makes the pods. Those that do not wait are made with their node, and then run.
func (n *namespace) fill(ctx context.Context, t *testing.T, pods, waiting int) {
	begun := time.Now()
	n.create(ctx, t, 0, pods, waiting)
	t.Logf("%d pods created in %v", pods, time.Since(begun).Round(time.Second))
	n.none(ctx, t, "all pods run", "status.phase=Pending,spec.nodeName!=")
}

// none waits until no pod is selected by its fields. It looks the less often the longer a look takes.
func (n *namespace) none(ctx context.Context, t *testing.T, what, fields string) {
	require.NoError(t, demo.Until(ctx, 4*patience, what, func() (bool, error) {
		begun := time.Now()
		list, err := n.client.CoreV1().Pods(n.name).List(ctx, metav1.ListOptions{FieldSelector: fields, Limit: 1})
		if err == nil && len(list.Items) > 0 {
			time.Sleep(4 * time.Since(begun))
		}
		return err == nil && len(list.Items) == 0, err
	}))
}

// create makes pods from one number to another, several at a time. The last ones, a number of them, have no node.
func (n *namespace) create(ctx context.Context, t *testing.T, from, to, waiting int) {
	require.NoError(t, each(from, to, func(i int) error {
		j := &sim.Job{Job: sched.Job{ID: fmt.Sprint("app-b-", i/gang), Tasks: gang,
			Attributes: map[string]string{"user": "u"}}, Work: sim.Runtime(24 * time.Hour)}
		p := n.pod(j, i%gang, fmt.Sprint("p", i))
		p.OwnerReferences = nil
		if i < to-waiting {
			p.Spec.NodeName = nodeName(i / 4)
		}
		_, err := n.client.CoreV1().Pods(n.name).Create(ctx, p, metav1.CreateOptions{})
		return err
	}))
}

// empty takes the pods from one number to another away.
func (n *namespace) empty(ctx context.Context, t *testing.T, from, to int) {
	zero := int64(0)
	require.NoError(t, each(from, to, func(i int) error {
		return n.client.CoreV1().Pods(n.name).Delete(ctx, fmt.Sprint("p", i), metav1.DeleteOptions{GracePeriodSeconds: &zero})
	}))
	require.NoError(t, demo.Until(ctx, patience, "they are gone", func() (bool, error) {
		return len(n.where(ctx, t)) == from, nil
	}))
}

// each lists all pods.
func (n *namespace) each(ctx context.Context, t *testing.T, do func(*corev1.Pod)) {
	for o := (metav1.ListOptions{Limit: 2000}); ; {
		list, err := n.client.CoreV1().Pods(n.name).List(ctx, o)
		require.NoError(t, err)
		for i := range list.Items {
			do(&list.Items[i])
		}
		if o.Continue = list.Continue; o.Continue == "" {
			return
		}
	}
}

// where are the nodes of the pods that have one.
func (n *namespace) where(ctx context.Context, t *testing.T) map[string]string {
	out := map[string]string{}
	n.each(ctx, t, func(p *corev1.Pod) {
		if p.Spec.NodeName != "" {
			out[p.Name] = p.Spec.NodeName
		}
	})
	return out
}

// placed is when the first gang of those that wait has its nodes. Its pods are read by their names, since a list would
// have the server look through all.
func (n *namespace) placed(ctx context.Context, t *testing.T, from int) (at time.Time) {
	require.NoError(t, demo.Until(ctx, patience, "a gang is placed", func() (bool, error) {
		for i := from; i < from+gang; i++ {
			p, err := n.client.CoreV1().Pods(n.name).Get(ctx, fmt.Sprint("p", i), metav1.GetOptions{})
			if err != nil || p.Spec.NodeName == "" {
				return false, err
			}
		}
		at = time.Now()
		return true, nil
	}))
	return at
}

// used is what a process has used.
type used struct {
	resident, most int64 // bytes
	processor      time.Duration
}

// usage reads it from /proc.
func usage(t *testing.T, pid int) (u used) {
	t.Helper()
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	status, err := os.ReadFile(filepath.Join(dir, "status"))
	require.NoError(t, err)
	for line := range strings.Lines(string(status)) {
		key, value, _ := strings.Cut(line, ":")
		kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		switch {
		case err != nil:
		case key == "VmRSS":
			u.resident = kib << 10
		case key == "VmHWM":
			u.most = kib << 10
		}
	}
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	require.NoError(t, err)
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	require.Greater(t, len(fields), 12)
	for _, f := range fields[11:13] { // utime and stime, in hundredths of a second
		ticks, err := strconv.ParseInt(f, 10, 64)
		require.NoError(t, err)
		u.processor += time.Duration(ticks) * 10 * time.Millisecond
	}
	assert.Positive(t, u.resident)
	return u
}
