package kubernetes

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
)

// gpus makes a pod ask for that number of GPUs, besides a processor or two.
func gpus(cpu, n string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse(cpu)}
		if n != "" {
			p.Spec.Containers[0].Resources.Requests["nvidia.com/gpu"] = resource.MustParse(n)
		}
	}
}

func gpuNode(n *corev1.Node) {
	n.Status.Allocatable["nvidia.com/gpu"] = resource.MustParse("8")
	n.Labels["pool"] = "gpu"
}

func prioritized(priority int32) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.Priority = &priority }
}

func tolerates(key string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Tolerations = []corev1.Toleration{{Key: key, Operator: corev1.TolerationOpExists}}
	}
}

// TestUnlikeGangs: a gang whose pods ask for different things is refused at once, before all of it exists, with what
// each pod asks for. The cases are from public reports: a launcher and its workers (volcano #474, #1959), a Ray head, a
// PyTorchJob's master (kueue #2796).
func TestUnlikeGangs(t *testing.T) {
	type change = func(*corev1.Pod)
	tainted := func(n *corev1.Node) {
		gpuNode(n)
		n.Spec.Taints = []corev1.Taint{{Key: "nvidia.com/gpu", Effect: corev1.TaintEffectNoSchedule}}
	}
	bare := func(*corev1.Node) {}
	for _, tt := range []struct {
		name  string
		nodes []func(*corev1.Node)
		pods  map[string][]change
		size  string
		want  []string // "" of one that is started
	}{
		{"launcher and workers", []func(*corev1.Node){gpuNode, gpuNode},
			map[string][]change{"launcher": {gpus("1", "")}, "worker-0": {gpus("2", "8")}, "worker-1": {gpus("2", "8")}}, "3",
			[]string{"all pods of a gang must ask for the same",
				"pod launcher asks for 1 cpu; 2 pods as worker-0 ask for 2 cpu, 8 nvidia.com/gpu;",
				"it could wait although there is room"}},
		{"before all are there", []func(*corev1.Node){gpuNode, gpuNode},
			map[string][]change{"launcher": {gpus("1", "")}, "worker-0": {gpus("2", "8")}}, "9",
			[]string{"pod launcher asks for 1 cpu; pod worker-0 asks for 2 cpu, 8 nvidia.com/gpu;"}},
		{"without nodes", nil, map[string][]change{"launcher": {gpus("1", "")}, "worker-0": {gpus("2", "8")}}, "2",
			[]string{"pod launcher asks for 1 cpu;"}},
		{"more of everything in one", []func(*corev1.Node){bare, bare},
			map[string][]change{"head": {asks("1", "1Gi")}, "worker": {asks("2", "4Gi")}}, "2",
			[]string{"pod head asks for 1 cpu, 1Gi memory; pod worker asks for 2 cpu, 4Gi memory"}},
		{"more of another thing in each", []func(*corev1.Node){bare},
			map[string][]change{"head": {asks("1", "4Gi")}, "worker": {asks("2", "1Gi")}}, "2",
			[]string{"pod head asks for 1 cpu, 4Gi memory; pod worker asks for 2 cpu, 1Gi memory"}},
		{"a host port", []func(*corev1.Node){bare, bare}, map[string][]change{"head": {port(6379)}, "worker": {}}, "2",
			[]string{"pod head asks for 1.5 cpu, host port TCP 6379; pod worker asks for 1.5 cpu;"}},
		{"one asks for nothing", []func(*corev1.Node){bare}, map[string][]change{"a": {func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources = corev1.ResourceRequirements{}
		}}, "b": {}}, "2",
			[]string{"pod a asks for a place; pod b asks for 1.5 cpu"}},
		{"a gated pod", []func(*corev1.Node){bare}, map[string][]change{"a": {asks("1", "1Gi"), func(p *corev1.Pod) {
			p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "q"}}
		}}, "b": {}}, "2",
			[]string{"pod a asks for 1 cpu, 1Gi memory"}},
		{"contradiction", []func(*corev1.Node){bare, bare},
			map[string][]change{"a": {selects("name", "n0")}, "b": {selects("name", "n1")}}, "2",
			[]string{
				"pod a asks for 1.5 cpu on name=n0 and nodes without taints; pod b asks for 1.5 cpu on name=n1 and nodes " +
					"without taints;",
				"no node can match the selectors of all, which contradict one another in the values of name"}},
		{"contradiction without nodes", nil, map[string][]change{"a": {selects("zone", "a")}, "b": {selects("zone", "b")}},
			"2", []string{"contradict one another in the values of zone"}},
		{"contradiction and requests", []func(*corev1.Node){bare},
			map[string][]change{"a": {selects("zone", "a"), asks("1", "1Gi")}, "b": {selects("zone", "b")}}, "2",
			[]string{"pod a asks for 1 cpu, 1Gi memory on zone=a", "in the values of zone"}},
		{"one selects", []func(*corev1.Node){gpuNode, bare},
			map[string][]change{"head": {}, "worker": {selects("pool", "gpu")}}, "2",
			[]string{
				"pod head asks for 1.5 cpu on nodes without taints; pod worker asks for 1.5 cpu on pool=gpu and nodes without " +
					"taints;", "it could wait"}},
		{"one selects what there is none of", []func(*corev1.Node){bare},
			map[string][]change{"head": {}, "worker": {selects("pool", "gpu")}}, "2",
			[]string{"on pool=gpu and nodes without taints"}},
		{"one tolerates", []func(*corev1.Node){tainted, bare},
			map[string][]change{"head": {}, "worker": {tolerates("nvidia.com/gpu")}}, "2",
			[]string{
				"pod head asks for 1.5 cpu on nodes without taints; pod worker asks for 1.5 cpu on nodes whose taints the pods " +
					"tolerate;"}},
		{"affinities", []func(*corev1.Node){bare, bare}, map[string][]change{"a": {notIn("n0")}, "b": {notIn("n1")}}, "2",
			[]string{"it could wait"}},
		{"five kinds", []func(*corev1.Node){bare},
			map[string][]change{"a": {asks("1", "1Gi")}, "b": {asks("2", "1Gi")}, "c": {asks("3", "1Gi")},
				"d": {asks("4", "1Gi")}, "e": {asks("5", "1Gi")}, "f": {asks("6", "1Gi")}}, "6",
			[]string{"pod d asks for 4 cpu, 1Gi memory; others for other things: 2 more kinds of pods;"}},

		{"alike", []func(*corev1.Node){gpuNode, gpuNode},
			map[string][]change{"master": {gpus("2", "8")}, "worker-0": {gpus("2", "8")}}, "2", nil},
		{"alike in other words", []func(*corev1.Node){bare},
			map[string][]change{"a": {asks("1", "1Gi")}, "b": {asks("1000m", "1024Mi")}}, "2", nil},
		{"one selects what all nodes have", []func(*corev1.Node){gpuNode, gpuNode},
			map[string][]change{"head": {}, "worker": {selects("pool", "gpu")}}, "2", nil},
		{"one tolerates what no node has", []func(*corev1.Node){gpuNode, bare},
			map[string][]change{"head": {}, "worker": {tolerates("nvidia.com/gpu")}}, "2", nil},
		{"one selects, and there are no nodes", nil, map[string][]change{"head": {}, "worker": {selects("pool", "gpu")}}, "2",
			nil},
		{"priorities", []func(*corev1.Node){bare}, map[string][]change{"a": {prioritized(5)}, "b": {}}, "2", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := newTester(t)
			for i, change := range tt.nodes {
				x.node(fmt.Sprint("n", i), change)
			}
			for _, name := range slices.Sorted(maps.Keys(tt.pods)) {
				x.pod(name, append([]change{group(tt.size)}, tt.pods[name]...)...)
			}
			j := x.only()
			if tt.want == nil {
				require.NoError(t, j.Problem)
				return
			}
			require.ErrorIs(t, j.Problem, errUnlike)
			require.NotErrorIs(t, j.Problem, adapters.ErrIncomplete)
			said := x.say(&adapters.Note{Job: &j, Err: j.Problem}).text
			for _, want := range tt.want {
				assert.Contains(t, said, want)
			}
			assert.NotContains(t, said, fits)
			assert.NotContains(t, said, "kubernetes: ")
		})
	}
}

// TestUnlikeGangOfJob: once there are pods, the template does not count, since an admission controller may have changed
// all pods alike.
func TestUnlikeGangOfJob(t *testing.T) {
	x := newTester(t)
	x.node("n")
	x.job(2)
	template := x.only().Spec
	limited := func(p *corev1.Pod) { gpus("2", "1")(p); tolerates("gpu")(p); prioritized(7)(p) }
	x.pod("j-0", ofJob("0"), limited)
	x.pod("j-1", ofJob("1"), limited)
	j := x.only()
	require.NoError(t, j.Problem)
	assert.Equal(t, sched.Resources{"cpu": 2, "nvidia.com/gpu": 1, "pods": 1}, j.Spec.Demand)
	assert.Equal(t, 7, j.Spec.Priority)
	assert.NotEqual(t, template.Required.String(), j.Spec.Required.String())
	x.pod("j-1", ofJob("1"))
	require.ErrorIs(t, x.only().Problem, errUnlike)
	x.job(2, func(j *batchv1.Job) { j.Annotations = map[string]string{GangAnnotation: "false"} })
	for _, j := range x.see(0).Jobs {
		require.NoError(t, j.Problem, "each is a job of its own")
	}
}

// TestUnlikeGangThatRuns: it stays counted, with the maximum of each resource, and is refused once it waits again.
func TestUnlikeGangThatRuns(t *testing.T) {
	x := newTester(t)
	x.node("n")
	bound := func(p *corev1.Pod) {
		p.Annotations[epochAnnotation], p.Annotations[attemptAnnotation], p.Annotations[sizeAnnotation] = "1", "1", "2"
	}
	for _, phase := range []corev1.PodPhase{corev1.PodRunning, corev1.PodSucceeded} { // as one ends, the gang is no other
		x.pod("launcher", group("2"), asks("1", "4Gi"), selects("name", "n"), prioritized(3), bound,
			on("n", corev1.PodRunning))
		x.pod("worker", group("2"), asks("2", "1Gi"), prioritized(9), bound, on("n", phase))
		j := x.only()
		require.NoError(t, j.Problem)
		assert.Len(t, j.Tasks, 2)
		assert.Equal(t, sched.Resources{"cpu": 2, "memory": 4 << 30, "pods": 1}, j.Spec.Demand, phase)
		assert.Equal(t, 9, j.Spec.Priority)
		assert.Contains(t, j.Spec.Required.Keys(), "name")
	}
}

// TestPriorityOfGang: it is the highest of its pods', in whatever order they were read.
func TestPriorityOfGang(t *testing.T) {
	for _, order := range [][]int32{{1, 5, 3}, {5, 3, 1}, {3, 1, 5}, {-2, -7, -3}} {
		x := newTester(t)
		x.node("n")
		most := order[0]
		for i, priority := range order {
			most = max(most, priority)
			x.pod(fmt.Sprint("p", i), group("3"), prioritized(priority))
		}
		for range 3 {
			j := x.only()
			require.NoError(t, j.Problem)
			assert.EqualValues(t, most, j.Spec.Priority, order)
			x.pod("p0", group("3"), prioritized(order[0]), func(p *corev1.Pod) { p.Labels["seen"] = "again" })
		}
	}
}

// TestMixedGangs: pods with different demands of nodes are alike as long as the same nodes suit them. They are reported
// again when nodes change.
func TestMixedGangs(t *testing.T) {
	x := newTester(t)
	x.node("a", gpuNode)
	x.pod("head", group("2"))
	x.pod("worker", group("2"), selects("pool", "gpu"))
	require.NoError(t, x.only().Problem)
	changed := func() adapters.Job {
		t.Helper()
		v := x.view(false, time.Now())
		require.Len(t, v.Jobs, 1)
		return v.Jobs[0]
	}
	x.node("b")
	require.ErrorIs(t, changed().Problem, errUnlike)
	x.node("b", gpuNode)
	require.NoError(t, changed().Problem)
	// Whether there is room does not matter here.
	x.node("b", func(n *corev1.Node) { gpuNode(n); n.Spec.Unschedulable = true })
	require.NoError(t, changed().Problem)
	x.pod("worker", group("2"))
	require.NoError(t, changed().Problem)
	x.node("b")
	assert.Empty(t, x.view(false, time.Now()).Jobs)
}
