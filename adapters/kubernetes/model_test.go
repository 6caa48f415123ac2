package kubernetes

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
)

// tester feeds a model with objects of increasing versions.
type tester struct {
	testing.TB
	*model
	version int
}

func newTester(t testing.TB) *tester {
	o := Options{}
	s, err := o.withDefaults()
	require.NoError(t, err)
	return &tester{TB: t, model: newModel(o, s)}
}

func (x *tester) next() string { x.version++; return fmt.Sprint(x.version) }

func (x *tester) pod(name string, change ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID("uid-" + name),
		Labels: map[string]string{}, Annotations: map[string]string{}},
		Spec: corev1.PodSpec{SchedulerName: "hedge", Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{"cpu": resource.MustParse("1500m")}}}}},
		Status: corev1.PodStatus{Phase: corev1.PodPending}}
	for _, c := range change {
		c(p)
	}
	x.put(p)
	return p
}

func (x *tester) put(p *corev1.Pod) {
	p.ResourceVersion = x.next()
	x.change(pods, p.DeepCopy(), false)
}

func (x *tester) node(name string, change ...func(*corev1.Node)) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"name": name}},
		Status: corev1.NodeStatus{
			Allocatable: corev1.ResourceList{"cpu": resource.MustParse("4"), "pods": resource.MustParse("110")},
			Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}}
	for _, c := range change {
		c(n)
	}
	n.ResourceVersion = x.next()
	x.change(nodes, n.DeepCopy(), false)
	return n
}

func (x *tester) see(after time.Duration) *adapters.View { return x.view(true, time.Now().Add(after)) }

// only is the only job.
func (x *tester) only() adapters.Job {
	x.Helper()
	v := x.see(0)
	require.Len(x, v.Jobs, 1)
	return v.Jobs[0]
}

func group(size string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Labels["scheduling.x-k8s.io/pod-group"], p.Labels["scheduling.x-k8s.io/min-available"] = "g", size
	}
}

func on(node string, phase corev1.PodPhase) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.NodeName, p.Status.Phase = node, phase }
}

func TestSinglePod(t *testing.T) {
	x := newTester(t)
	x.pod("a")
	j := x.only()
	require.NoError(t, j.Problem)
	assert.Equal(t, "ns/pod/a", j.Spec.ID)
	assert.Equal(t, sched.Resources{"cpu": 1.5, "pods": 1}, j.Spec.Demand)
	assert.Equal(t, 1, j.Spec.Tasks)
	require.NoError(t, j.Spec.Validate())
	assert.InDelta(t, 5, j.Spec.Utility.At(0), 0)
	assert.InDelta(t, 1, j.Spec.Utility.At(1e9), 0, "it is always worth something")
	x.pod("a", func(p *corev1.Pod) { p.Annotations[DeadlineAnnotation] = "1m" })
	j = x.only()
	assert.InDelta(t, 105, j.Spec.Utility.At(60), 0.01)
	assert.InDelta(t, 5, j.Spec.Utility.At(61), 0.01)
}

func TestGroupWaitsForItsPods(t *testing.T) {
	x := newTester(t)
	x.pod("a", group("2"))
	require.ErrorIs(t, x.only().Problem, adapters.ErrIncomplete)
	x.pod("b", group("2"))
	j := x.only()
	require.NoError(t, j.Problem)
	assert.Equal(t, 2, j.Spec.Tasks)
	x.pod("c", group("2"))
	require.ErrorContains(t, x.only().Problem, "has 3 pods, expected 2")
}

func TestGroupSizesThatMakeNoSense(t *testing.T) {
	for _, size := range []string{"", "0", "-1", "many", "99999999999999999999", "1001"} {
		x := newTester(t)
		x.pod("a", group(size))
		require.ErrorContains(t, x.only().Problem, "expected a number from 1", "%q", size)
	}
	x := newTester(t)
	x.pod("a", group("2"))
	x.pod("b", group("3"))
	require.ErrorContains(t, x.only().Problem, `of "2" and "3"`)
}

// TestGroupHints: each hint may be on any pods of a group, and all pods that have it must agree.
func TestGroupHints(t *testing.T) {
	says := func(name, value string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Annotations[name] = value }
	}
	x := newTester(t)
	x.node("n")
	refused := func(annotation, want string) {
		t.Helper()
		var hint *HintError
		require.ErrorAs(t, x.only().Problem, &hint)
		assert.Equal(t, annotation, hint.Annotation)
		assert.ErrorContains(t, hint, want)
	}
	x.pod("a", group("3"))
	x.pod("b", group("3"), says(DeadlineAnnotation, "5m"))
	x.pod("c", group("3"), says(UserAnnotation, "ann"))
	j := x.only()
	require.NoError(t, j.Problem)
	assert.Equal(t, 5*time.Minute, j.Spec.Deadline)
	assert.Equal(t, "ann", j.Spec.Attributes["user"])
	x.pod("c", group("3"), says(DeadlineAnnotation, "50m"))
	refused(DeadlineAnnotation, `is "50m", expected "5m", as another pod of the gang says; it is on pod c`)
	x.pod("c", group("3"), says(DeadlineAnnotation, "garbage"))
	refused(DeadlineAnnotation, `"garbage", expected "5m"`)
	x.pod("c", group("3"), says(prefix+"dedline", "5m"))
	refused(prefix+"dedline", "one of the names deadline, ")
	x.pod("c", group("3"), says(DeadlineAnnotation, "5m"))
	again := x.only()
	require.NoError(t, again.Problem)
	assert.Equal(t, 5*time.Minute, again.Spec.Deadline)
	assert.NotEqual(t, j.Revision, again.Revision)

	x.pod("b", group("3"), says(DeadlineAnnotation, "garbage"), func(p *corev1.Pod) {
		now := metav1.Now()
		p.DeletionTimestamp = &now
	})
	x.pod("d", group("3"))
	require.NoError(t, x.only().Problem, "it goes")
	for _, name := range []string{"a", "c", "d"} {
		x.pod(name, group("3"), says(DeadlineAnnotation, name), on("n", corev1.PodRunning))
	}
	require.NoError(t, x.only().Problem, "it runs")
}

func TestShortGang(t *testing.T) {
	x := newTester(t)
	x.node("n")
	x.pod("a", group("2"), on("n", corev1.PodRunning))
	x.pod("b", group("2"))
	j := x.only()
	assert.True(t, j.Short)
	assert.Len(t, j.Tasks, 1)
	assert.NoError(t, j.Problem)
}

// TestOverlay: a pod that was bound counts as bound although the watch does not report it yet.
func TestOverlay(t *testing.T) {
	x := newTester(t)
	x.node("n")
	p := x.pod("a")
	before := x.only()
	x.bound("ns/pod/a", []binding{{pod: *x.pods[p.UID], node: "n"}})
	after := x.only()
	require.Len(t, after.Tasks, 1)
	assert.Equal(t, adapters.Requested, after.Tasks[0].State)
	assert.Greater(t, after.Version, before.Version)
	x.put(p) // as of before, or a change of its conditions
	require.Len(t, x.only().Tasks, 1)
	_, err := x.current(&before)
	require.ErrorIs(t, err, adapters.ErrStale)
}

// TestBindingsStay: a binding is conditional on the version of the decision, although the watch goes on meanwhile.
func TestBindingsStay(t *testing.T) {
	x := newTester(t)
	x.node("n")
	p := x.pod("a")
	j, before := x.only(), p.ResourceVersion
	bindings, attempt, err := x.candidates(&adapters.Start{Job: &j, Nodes: []sched.NodeTasks{{Node: "n", Tasks: 1}}})
	require.NoError(t, err)
	assert.Equal(t, 1, attempt)
	x.put(p) // only its version is another
	assert.NotEqual(t, before, x.pods[p.UID].revision)
	require.Len(t, bindings, 1)
	assert.Equal(t, before, bindings[0].pod.revision)
}

// TestForeignWork: everything on a node counts, except what has ended.
func TestForeignWork(t *testing.T) {
	x := newTester(t)
	other := func(p *corev1.Pod) {
		p.Spec.SchedulerName = "default-scheduler"
		p.Spec.InitContainers = []corev1.Container{
			{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("2")}}}}
		p.Spec.Overhead = corev1.ResourceList{"cpu": resource.MustParse("250m")}
		p.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80}}
	}
	x.pod("early", other, on("n", corev1.PodRunning)) // before its node is known
	x.node("n")
	x.pod("ours", on("n", corev1.PodRunning))
	x.pod("done", other, on("n", corev1.PodSucceeded))
	waiting := x.pod("waiting", other)
	v := x.see(0)
	require.Len(t, v.Nodes, 1)
	assert.Equal(t, sched.Resources{"cpu": 2.25, "pods": 1, hostPort("TCP", 80): 1}, v.Nodes[0].Foreign)
	on("n", corev1.PodPending)(waiting)
	x.put(waiting)
	v = x.view(false, time.Now())
	require.Len(t, v.Nodes, 1)
	assert.InDelta(t, 4.5, v.Nodes[0].Foreign["cpu"], 1e-9)
}

// TestEquivalenceSets: what a pod demands of nodes holds for the reported nodes.
func TestEquivalenceSets(t *testing.T) {
	taint := func(n *corev1.Node) {
		n.Spec.Taints = []corev1.Taint{{Key: "gpu", Value: "yes", Effect: corev1.TaintEffectNoSchedule}}
	}
	tolerate := corev1.Toleration{Key: "gpu", Operator: corev1.TolerationOpExists}
	require1 := func(op corev1.NodeSelectorOperator, values ...string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.Affinity = &corev1.Affinity{
				NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
					NodeSelectorTerms: []corev1.NodeSelectorTerm{
						{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "name", Operator: op, Values: values}}}}}}}
		}
	}
	for _, tt := range []struct {
		name   string
		change func(*corev1.Pod)
		want   []string
	}{
		{"anything", func(*corev1.Pod) {}, []string{"a", "b"}},
		{"tolerates the taint", func(p *corev1.Pod) {
			p.Spec.Tolerations = []corev1.Toleration{tolerate}
		}, []string{"a", "b", "c"}},
		{"selector", func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"name": "b"} }, []string{"b"}},
		{"in", require1(corev1.NodeSelectorOpIn, "a", "c"), []string{"a"}},
		{"not in", require1(corev1.NodeSelectorOpNotIn, "a"), []string{"b"}},
		{"exists", require1(corev1.NodeSelectorOpExists), []string{"a", "b"}},
		{"does not exist", require1(corev1.NodeSelectorOpDoesNotExist), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := newTester(t)
			x.node("a")
			x.node("b")
			x.node("c", taint)
			x.pod("p", tt.change)
			v := x.see(0)
			var fits []string
			for _, n := range v.Nodes {
				if v.Jobs[0].Spec.Required.Matches(n.Labels) {
					fits = append(fits, n.Name)
				}
			}
			assert.Equal(t, tt.want, fits)
		})
	}
}

// TestNewClassTellsNodes: nodes show a label that a new job asks for.
func TestNewClassTellsNodes(t *testing.T) {
	x := newTester(t)
	x.node("a")
	x.see(0)
	x.pod("p", func(p *corev1.Pod) {
		p.Spec.Tolerations = []corev1.Toleration{{Key: "k", Operator: corev1.TolerationOpExists}}
	})
	v := x.view(false, time.Now())
	require.Len(t, v.Nodes, 1)
	assert.True(t, v.Jobs[0].Spec.Required.Matches(v.Nodes[0].Labels))
}

func TestNotUnderstood(t *testing.T) {
	term := []corev1.PodAffinityTerm{{TopologyKey: "zone"}}
	for want, change := range map[error]func(*corev1.PodSpec){
		errSpread: func(s *corev1.PodSpec) {
			s.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{WhenUnsatisfiable: corev1.DoNotSchedule}}
		},
		errAffinity: func(s *corev1.PodSpec) {
			s.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: term}}
		},
		errDevices: func(s *corev1.PodSpec) { s.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu"}} },
		errEphemeral: func(s *corev1.PodSpec) {
			s.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}}}
		},
	} {
		x := newTester(t)
		x.pod("p", func(p *corev1.Pod) { change(&p.Spec) })
		require.ErrorIs(t, x.only().Problem, want)
		x.node("n")
		x.pod("p", on("n", corev1.PodRunning), func(p *corev1.Pod) { change(&p.Spec) })
		require.NoError(t, x.only().Problem, "somebody else has bound it")

		x = newTester(t)
		x.pod("a", group("3"))
		x.pod("b", group("3"))
		require.ErrorIs(t, x.only().Problem, adapters.ErrIncomplete)
		x.pod("c", group("3"), func(p *corev1.Pod) { change(&p.Spec) })
		require.ErrorIs(t, x.only().Problem, want, "not the first of its gang")
		require.ErrorContains(t, x.only().Problem, "pod c: ")
		x.pod("c", group("3"))
		require.NoError(t, x.only().Problem)
	}
}

// TestSilentNodes: pods are given up after their own patience, and not while most nodes are silent.
func TestSilentNodes(t *testing.T) {
	silent := func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionUnknown }
	patient := func(seconds int64) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.Tolerations = []corev1.Toleration{
				{Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute,
					TolerationSeconds: &seconds}}
		}
	}
	x := newTester(t)
	x.node("a", silent)
	x.node("b")
	x.pod("p", on("a", corev1.PodRunning), patient(3600))
	state := func(after time.Duration) adapters.TaskState { return x.see(after).Jobs[0].Tasks[0].State }
	assert.Equal(t, adapters.Running, state(10*time.Minute))
	assert.Equal(t, adapters.Lost, state(2*time.Hour))
	assert.True(t, x.see(0).Nodes[0].Cordoned, "nothing new is put there")
	x.node("b", silent)
	assert.Equal(t, adapters.Running, state(2*time.Hour), "the fault may be the server's")
	x.node("b")
	x.node("a")
	assert.Equal(t, adapters.Running, state(2*time.Hour), "it is back")
	gone := x.node("a")
	x.change(nodes, gone, true)
	assert.Equal(t, adapters.Lost, state(0), "it is gone for good")
}

// TestSilentSince: the time for which a node has been silent outlives the scheduler.
func TestSilentSince(t *testing.T) {
	x := newTester(t)
	state := func(ago time.Duration) adapters.TaskState {
		x.node("a", func(n *corev1.Node) {
			n.Status.Conditions[0].Status, n.Status.Conditions[0].LastTransitionTime = corev1.ConditionUnknown,
				metav1.NewTime(time.Now().Add(-ago))
		})
		x.node("b")
		x.pod("p", on("a", corev1.PodRunning))
		return x.only().Tasks[0].State
	}
	assert.Equal(t, adapters.Running, state(-time.Hour), "the server's clock is ahead")
	x = newTester(t)
	assert.Equal(t, adapters.Running, state(time.Minute))
	x = newTester(t)
	assert.Equal(t, adapters.Lost, state(10*time.Minute))
}

// TestRemovedNodes: removed nodes are remembered while pods are on them.
func TestRemovedNodes(t *testing.T) {
	x := newTester(t)
	for i := range 100 {
		x.change(nodes, x.node(fmt.Sprint("n", i)), true)
	}
	p := x.pod("p", on("n0", corev1.PodRunning))
	x.progress(nodes, uint64(x.version)) // the nodes' watch comes after
	x.put(p)
	x.pod("q", on("m", corev1.PodRunning)) // whose node may yet be told
	v := x.see(0)
	assert.Equal(t, adapters.Lost, v.Jobs[0].Tasks[0].State)
	assert.Equal(t, adapters.Running, v.Jobs[1].Tasks[0].State)
	assert.Equal(t, map[string]struct{}{"n0": {}}, x.removed)
	x.put(p)
	assert.Equal(t, adapters.Lost, x.see(0).Jobs[0].Tasks[0].State, "still")
	x.change(pods, x.pod("p"), true)
	x.see(0)
	assert.Empty(t, x.removed)
}

func (x *tester) job(n int32, change ...func(*batchv1.Job)) {
	x.Helper()
	j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "j", UID: "uid-j", ResourceVersion: x.next()},
		Spec: batchv1.JobSpec{Parallelism: &n, Completions: &n}}
	j.Spec.Template.Spec.SchedulerName = "hedge"
	for _, c := range change {
		c(j)
	}
	x.change(batchJobs, j, false)
}

func ofJob(index string) func(*corev1.Pod) {
	yes := true
	return func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{
			{APIVersion: "batch/v1", Kind: "Job", Name: "j", UID: "uid-j", Controller: &yes}}
		p.Annotations[batchv1.JobCompletionIndexAnnotation] = index
	}
}

// TestJob: a Job's gang is what is left to be done, and its attempt is the number of starts in which pods were bound.
func TestJob(t *testing.T) {
	x := newTester(t)
	x.node("n")
	x.job(3)
	require.ErrorContains(t, x.only().Problem, "0 of 3")
	x = newTester(t)
	x.node("n")
	x.pod("j-0", ofJob("0")) // before its Job is known
	require.ErrorIs(t, x.only().Problem, adapters.ErrIncomplete)
	x.job(3)
	require.ErrorContains(t, x.only().Problem, "1 of 3")
	x.pod("j-1", ofJob("1"))
	x.pod("j-2", ofJob("2"))
	require.NoError(t, x.only().Problem)
	bound := func(p *corev1.Pod) {
		p.Annotations[epochAnnotation], p.Annotations[attemptAnnotation], p.Annotations[sizeAnnotation] = "1", "1", "3"
	}
	cleared := func(p *corev1.Pod) { p.Annotations[clearedAnnotation] = "true" }
	x.pod("j-0", ofJob("0"), bound, on("n", corev1.PodSucceeded))
	x.pod("j-1", ofJob("1"), bound, on("n", corev1.PodFailed))
	x.pod("j-2", ofJob("2"), bound, on("n", corev1.PodRunning))
	j := x.only()
	assert.Len(t, j.Tasks, 3)
	assert.Equal(t, 3, j.Spec.Tasks)
	assert.Equal(t, 1, j.Attempt)
	x.pod("j-0", ofJob("0"), bound, cleared, on("n", corev1.PodSucceeded))
	x.pod("j-1", ofJob("1"), bound, cleared, on("n", corev1.PodFailed))
	x.change(pods, x.pod("j-2"), true)
	x.pod("j-1b", ofJob("1"))
	x.pod("j-2b", ofJob("2"))
	j = x.only()
	require.NoError(t, j.Problem)
	assert.Empty(t, j.Tasks)
	assert.Equal(t, 2, j.Spec.Tasks, "one has done its work")
	x.job(3, func(j *batchv1.Job) {
		j.Status.Conditions = []batchv1.JobCondition{
			{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Message: "too often"}}
	})
	j = x.only()
	assert.True(t, j.Over)
	assert.ErrorContains(t, j.Err, "too often")
}

// TestWorkQueue: if a Job has more completions than parallelism, its pods are jobs of their own, even if they came
// first.
func TestWorkQueue(t *testing.T) {
	x := newTester(t)
	x.pod("j-x", ofJob("0"))
	x.see(0)
	x.job(2, func(j *batchv1.Job) { more := int32(10); j.Spec.Completions = &more })
	v := x.see(0)
	var told []string
	for _, j := range v.Jobs {
		if !j.Gone {
			told = append(told, j.Spec.ID)
		}
	}
	assert.Equal(t, []string{"ns/pod/j-x"}, told)
}

// TestGroupOfJob: a Job whose template names a pod group is no gang besides the group, whichever label or annotation
// names it.
func TestGroupOfJob(t *testing.T) {
	for _, name := range groupLabels() {
		for what, put := range map[string]func(*metav1.ObjectMeta){
			"label":      func(o *metav1.ObjectMeta) { o.Labels = map[string]string{name: "g"} },
			"annotation": func(o *metav1.ObjectMeta) { metav1.SetMetaDataAnnotation(o, name, "g") },
		} {
			t.Run(what+" "+name, func(t *testing.T) {
				x := newTester(t)
				x.job(2, func(j *batchv1.Job) {
					put(&j.Spec.Template.ObjectMeta)
					j.Annotations = map[string]string{DeadlineAnnotation: "5m"}
				})
				assert.Empty(t, x.see(0).Jobs)
				for _, pod := range []string{"j-0", "j-1"} {
					x.pod(pod, ofJob("0"), func(p *corev1.Pod) {
						put(&p.ObjectMeta)
						p.Annotations[sizeLabels()[0]] = "2"
					})
				}
				j := x.only()
				require.NoError(t, j.Problem)
				assert.Equal(t, "ns/group/g", j.Spec.ID)
				assert.Equal(t, 2, j.Spec.Tasks)
				assert.Equal(t, 5*time.Minute, j.Spec.Deadline, "the Job's hints are its pods'")
			})
		}
	}
}

// TestGroupOfTwo: pods of two controllers are no gang, and the reason says so.
func TestGroupOfTwo(t *testing.T) {
	x := newTester(t)
	of := func(job string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			ofJob("0")(p)
			p.OwnerReferences[0].Name, p.OwnerReferences[0].UID = job, types.UID(job)
		}
	}
	x.pod("a-0", group("4"), of("a"))
	x.pod("a-1", group("4"), of("a"))
	x.pod("b-0", group("4"), of("b"))
	x.pod("b-1", group("4"), of("b"))
	j := x.only()
	require.ErrorIs(t, j.Problem, adapters.ErrIncomplete)
	require.ErrorContains(t, j.Problem, "2 of 4; of another controller, where all must be of one: 2")
	x.pod("b-0", group("4"), of("a"))
	x.pod("b-1", group("4"), of("a"))
	require.NoError(t, x.only().Problem)
}

// TestWhyPodsDoNotCount: the reason of a waiting gang mentions pods that exist and cannot be bound.
func TestWhyPodsDoNotCount(t *testing.T) {
	gated := func(p *corev1.Pod) { p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "quota"}} }
	going := func(p *corev1.Pod) { now := metav1.Now(); p.DeletionTimestamp = &now }
	told := func(x *tester) string {
		t.Helper()
		p := x.only().Problem
		require.ErrorIs(t, p, adapters.ErrIncomplete)
		return p.Error()
	}
	x := newTester(t)
	x.pod("a", gated)
	assert.Contains(t, told(x), "0 of 1; with a scheduling gate: 1")
	x.pod("a", gated, going)
	assert.Contains(t, told(x), "0 of 1; being deleted: 1")
	x.pod("a")
	require.NoError(t, x.only().Problem)

	x = newTester(t)
	x.pod("a", group("4"), gated)
	x.pod("b", group("4"), going)
	x.pod("c", group("4"))
	assert.Contains(t, told(x), "1 of 4; with a scheduling gate: 1; being deleted: 1")

	x = newTester(t)
	yes := true
	x.job(2, func(j *batchv1.Job) { j.Spec.Suspend = &yes })
	assert.Contains(t, told(x), "0 of 2; the Job is suspended")
	x.job(2)
	assert.NotContains(t, told(x), "suspended")
}

// TestHintsOfWorkQueue: the annotations of a Job that is no gang apply to each of its pods, before the pods' own. A
// wrong one is a problem of each pod.
func TestHintsOfWorkQueue(t *testing.T) {
	queue := func(deadline string) func(*batchv1.Job) {
		return func(j *batchv1.Job) {
			more := int32(10)
			j.Spec.Completions = &more
			j.Annotations = map[string]string{GangAnnotation: "false"}
			if deadline != "" {
				j.Annotations[DeadlineAnnotation] = deadline
			}
		}
	}
	x := newTester(t)
	x.node("n")
	x.job(2, queue("5m"))
	x.pod("j-x", ofJob("0"), func(p *corev1.Pod) { p.Annotations[UserAnnotation] = "ann" })
	j := x.only()
	require.NoError(t, j.Problem)
	assert.Equal(t, 5*time.Minute, j.Spec.Deadline)
	assert.Equal(t, "ann", j.Spec.Attributes["user"])
	changed := func() adapters.Job {
		t.Helper()
		v := x.view(false, time.Now())
		require.Len(t, v.Jobs, 1)
		return v.Jobs[0]
	}
	x.job(2, queue("50m"))
	again := changed()
	assert.Equal(t, 50*time.Minute, again.Spec.Deadline)
	assert.NotEqual(t, j.Revision, again.Revision)
	assert.Greater(t, again.Version, j.Version)
	x.job(2, queue("50m"))
	assert.Empty(t, x.view(false, time.Now()).Jobs)
	x.job(2, queue("garbage"))
	var hint *HintError
	require.ErrorAs(t, changed().Problem, &hint)
	assert.Equal(t, DeadlineAnnotation, hint.Annotation)
	x.pod("j-y", ofJob("0"), func(p *corev1.Pod) { p.Annotations[DeadlineAnnotation] = "5m" })
	require.ErrorAs(t, changed().Problem, &hint, "the Job's counts")
	x.pod("other", ofJob("0"), func(p *corev1.Pod) { p.OwnerReferences[0].UID = "another of that name" })
	require.NoError(t, changed().Problem)
	x.job(2, queue(""))
	v := x.see(0)
	require.Len(t, v.Jobs, 3)
	require.NoError(t, v.Jobs[0].Problem)
	assert.Zero(t, v.Jobs[0].Spec.Deadline)
	assert.Equal(t, 5*time.Minute, v.Jobs[1].Spec.Deadline)
}

// TestListAgain: a list removes what no longer exists. It neither brings back nor loses what the watch knows better.
func TestListAgain(t *testing.T) {
	x := newTester(t)
	a, b := x.pod("a"), x.pod("b")
	x.see(0)
	newer := x.pod("c")
	x.listing(pods)
	x.listed(pods, nil, number(b.ResourceVersion))
	v := x.see(0)
	require.Len(t, v.Jobs, 1)
	assert.Equal(t, "ns/pod/c", v.Jobs[0].Spec.ID)
	x.change(pods, a, false) // an event that comes late
	assert.Equal(t, "ns/pod/"+newer.Name, x.only().Spec.ID)
}

// TestListOvertaken: what the watch has reported as gone stays gone, although a list that began before still shows it.
func TestListOvertaken(t *testing.T) {
	x := newTester(t)
	a := x.pod("a", func(p *corev1.Pod) { p.Spec.NodeName = "n" })
	b := x.pod("b")
	x.listing(pods)
	version := b.ResourceVersion
	gone := a.DeepCopy()
	gone.ResourceVersion = x.next()
	x.change(pods, gone, true)
	listed := map[types.UID]bool{}
	require.NoError(t, x.page(pods, []runtime.Object{a, b}, listed, number(version)))
	x.listed(pods, listed, number(version))
	assert.Nil(t, x.pods[a.UID])
	assert.NotNil(t, x.pods[b.UID])
	assert.Empty(t, x.on, "no pod has a node")
	x.node("n")
	x.pod("c", func(p *corev1.Pod) { p.Spec.NodeName = "m" })
	x.node("m") // comes after its pod
	assert.Len(t, x.nodes["m"].on, 1)
	assert.Empty(t, x.nodes["n"].on)
}

// TestVersion: a change that does not matter gives no new version, so no action is refused because of it. A change that
// matters does.
func TestVersion(t *testing.T) {
	x := newTester(t)
	x.job(1)
	p := x.pod("j-0", ofJob("0"))
	before := x.only()
	x.job(1, func(j *batchv1.Job) { j.Status.Active = 1 })
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse}}
	x.put(p)
	assert.Equal(t, before.Version, x.only().Version)
	assert.Equal(t, p.ResourceVersion, x.pods[p.UID].revision, "bindings are on condition of the newest")
	p.Annotations[fenceAnnotation] = "1.1"
	x.put(p)
	fenced := x.only()
	assert.Greater(t, fenced.Version, before.Version)
	x.job(1, func(j *batchv1.Job) { j.Annotations = map[string]string{DeadlineAnnotation: "5m"} })
	assert.Greater(t, x.only().Version, fenced.Version)
}

func TestNodesOfOthers(t *testing.T) {
	x := newTester(t)
	x.selector = labels.SelectorFromSet(labels.Set{"pool": "ours"})
	x.node("a", func(n *corev1.Node) { n.Labels["pool"] = "ours" })
	x.node("b")
	require.Len(t, x.see(0).Nodes, 1)
	x.node("a") // it is others' now
	v := x.view(false, time.Now())
	require.Len(t, v.Nodes, 1)
	assert.True(t, v.Nodes[0].Gone)
}

// BenchmarkLarge lists 20,000 pods in gangs of ten on 5,000 nodes, reports all, and then one changed pod.
func BenchmarkLarge(b *testing.B) {
	const count, gang = 5000, 10
	x := newTester(b)
	var all, machines []runtime.Object
	for i := range 4 * count {
		name := fmt.Sprint("p", i)
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name),
			ResourceVersion: x.next(), Labels: map[string]string{
				groupLabels()[0]: fmt.Sprint("g", i/gang), sizeLabels()[0]: fmt.Sprint(gang)},
			Annotations: map[string]string{epochAnnotation: "1", attemptAnnotation: "1", sizeAnnotation: fmt.Sprint(gang)}},
			Spec: corev1.PodSpec{SchedulerName: "hedge", NodeName: fmt.Sprint("n", i/4),
				Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{"cpu": resource.MustParse("1")}}}}},
			Status: corev1.PodStatus{Phase: corev1.PodRunning}}
		all = append(all, p)
	}
	for i := range count {
		name := fmt.Sprint("n", i)
		machines = append(machines, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name),
			ResourceVersion: x.next()}, Status: corev1.NodeStatus{
			Allocatable: corev1.ResourceList{"cpu": resource.MustParse("4")},
			Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}})
	}
	list := func(k kind, some []runtime.Object) {
		listed := map[types.UID]bool{}
		x.listing(k)
		require.NoError(b, x.page(k, some, listed, uint64(x.version)))
		x.listed(k, listed, uint64(x.version))
	}
	b.Run("list", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			o := Options{}
			s, err := o.withDefaults()
			require.NoError(b, err)
			x.model = newModel(o, s)
			list(pods, all)
			list(nodes, machines)
			v := x.view(true, time.Now())
			require.Len(b, v.Jobs, len(all)/gang)
			require.Len(b, v.Nodes, count)
		}
	})
	b.Run("change", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			p := all[0].(*corev1.Pod).DeepCopy()
			p.ResourceVersion, p.Annotations[epochAnnotation] = x.next(), x.next()
			x.change(pods, p, false)
			require.Len(b, x.view(false, time.Now()).Jobs, 1)
		}
	})
}
