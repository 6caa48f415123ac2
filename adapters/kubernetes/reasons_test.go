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
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
)

// asks makes a pod ask for these amounts.
func asks(cpu, memory string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse(cpu),
			"memory": resource.MustParse(memory)}
	}
}

func selects(key, value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{key: value} }
}

// notIn makes a demand that labels alone cannot express.
func notIn(values ...string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Affinity = &corev1.Affinity{
			NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{
					{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "name", Operator: corev1.NodeSelectorOpNotIn,
						Values: values}}}}}}}
	}
}

// in demands names of nodes, which labels can express.
func in(values ...string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		notIn(values...)(p)
		required := p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		required.NodeSelectorTerms[0].MatchExpressions[0].Operator = corev1.NodeSelectorOpIn
	}
}

// TestObstacles: the reason of a job that fits nowhere says what holds it back. It mentions no label of the driver's
// own.
func TestObstacles(t *testing.T) {
	tainted := func(n *corev1.Node) {
		n.Spec.Taints = []corev1.Taint{{Key: "gpu", Effect: corev1.TaintEffectNoSchedule}}
	}
	big := func(n *corev1.Node) { n.Status.Allocatable["memory"] = resource.MustParse("8Gi") }
	cordoned := func(n *corev1.Node) { big(n); n.Spec.Unschedulable = true }
	for _, tt := range []struct {
		name  string
		nodes []func(*corev1.Node)
		pods  [][]func(*corev1.Pod)
		want  string
		never bool
	}{
		{"no nodes", nil, [][]func(*corev1.Pod){{}}, "there are no nodes for this scheduler", true},
		{"selector", []func(*corev1.Node){big, big}, [][]func(*corev1.Pod){{selects("disk", "ssd")}},
			"no node of 2 matches the selector and affinity disk=ssd", true},
		{"affinity", []func(*corev1.Node){big, big}, [][]func(*corev1.Pod){{notIn("n0", "n1")}},
			"no node of 2 matches the node affinity", true},
		{"taints", []func(*corev1.Node){tainted, tainted}, [][]func(*corev1.Pod){{}},
			"no node of 2 is without taints that the pods do not tolerate", true},
		{"contradiction of alike pods", []func(*corev1.Node){big, big},
			[][]func(*corev1.Pod){{selects("name", "n0"), in("n1")}, {selects("name", "n0"), in("n1")}},
			"selector and affinity contradict each other, so that no node can match both, in the values of name", true},
		{"contradiction of one pod", []func(*corev1.Node){big, big}, [][]func(*corev1.Pod){{selects("name", "n0"), in("n1")}},
			"selector and affinity contradict each other, so that no node can match both, in the values of name", true},
		{"request", []func(*corev1.Node){big, big}, [][]func(*corev1.Pod){{asks("9", "1Gi")}},
			"its pod asks for 9 cpu, and the most on the 2 nodes it may run on is 4 cpu", true},
		{"memory", []func(*corev1.Node){big}, [][]func(*corev1.Pod){{asks("1", "9Gi")}},
			"its pod asks for 9Gi memory, and the most on the 1 node it may run on is 8Gi memory", true},
		{"unknown", []func(*corev1.Node){big}, [][]func(*corev1.Pod){{func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Requests["x/gpu"] = resource.MustParse("1")
		}}},
			"its pod asks for 1 x/gpu, and the most on the 1 node it may run on is 0 x/gpu", true},
		{"gang", []func(*corev1.Node){big, big, tainted},
			[][]func(*corev1.Pod){{asks("3", "1Gi")}, {asks("3", "1Gi")}, {asks("3", "1Gi")}},
			"each of its 3 pods asks for 3 cpu, 1Gi memory, and there is room for 2 on the 2 nodes it may run on, even if " +
				"nothing else were there", true},
		{"ports", []func(*corev1.Node){big}, [][]func(*corev1.Pod){{port(80)}, {port(80)}},
			"each of its 2 pods asks for 1.5 cpu, host port TCP 80, and there is room for 1 on the 1 node it may run on, " +
				"even if nothing else were there", true},
		{"cordoned", []func(*corev1.Node){big, cordoned}, [][]func(*corev1.Pod){{asks("3", "1Gi")}, {asks("3", "1Gi")}},
			"each of its 2 pods asks for 3 cpu, 1Gi memory, and there is room for 1 on the 2 nodes it may run on: some are " +
				"cordoned or not ready, or pods of other schedulers are there", false},
		{"nothing", []func(*corev1.Node){big, big}, [][]func(*corev1.Pod){{asks("3", "1Gi")}, {asks("3", "1Gi")}},
			"no set of nodes can hold the gang on nodes without taints", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := newTester(t)
			for i, change := range tt.nodes {
				x.node(fmt.Sprint("n", i), change)
			}
			for i, change := range tt.pods {
				x.pod(fmt.Sprint("p", i), append([]func(*corev1.Pod){group(fmt.Sprint(len(tt.pods)))}, change...)...)
			}
			j := x.only()
			require.NoError(t, j.Problem)
			for _, code := range []sched.ReasonCode{sched.ReasonNoFeasibleSet, sched.ReasonTooLarge} {
				got := x.say(&adapters.Note{Job: &j, Reason: sched.Reason{Code: code, Set: j.Spec.Required.String(),
					Probability: sched.UnknownProbability}})
				want := tt.want
				if tt.name == "nothing" && code == sched.ReasonTooLarge { // the policy's own words
					want = "larger than the nodes it may run on, which are nodes without taints"
				}
				assert.Equal(t, want, got.text)
				assert.Equal(t, tt.never, got.never)
				assert.NotContains(t, got.text, fits)
			}
		})
	}
}

func port(number int32) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: number}} }
}

// TestReasonsInWords: no reason has the labels that the driver shows on nodes, or names of packages.
func TestReasonsInWords(t *testing.T) {
	x := newTester(t)
	x.node("a")
	x.pod("p", selects("name", "a"))
	x.pod("q", notIn("b"), func(p *corev1.Pod) {
		p.Spec.Tolerations = []corev1.Toleration{{Key: "gpu", Operator: corev1.TolerationOpExists}}
	})
	v := x.see(0)
	for i, want := range []string{
		"deferred to slot 2 on name=a and nodes without taints, behind ns/pod/z, bound by name=a; expected utility 3",
		"deferred to slot 2 on nodes whose taints the pods tolerate and that match their affinity, behind ns/pod/z, bound " +
			"by name=a; expected utility 3",
	} {
		r := sched.Reason{Code: sched.ReasonDeferred, Slot: 2, Set: v.Jobs[i].Spec.Required.String(),
			Ahead: []string{"ns/pod/z"}, Value: 3, Probability: sched.UnknownProbability}
		for label := range x.classes {
			r.Partition += label + "=true "
		}
		none := r
		none.Partition += "#3"
		r.Partition += "name=a"
		require.Contains(t, r.String(), fits)
		assert.Equal(t, want, x.say(&adapters.Note{Job: &v.Jobs[i], Reason: r}).text)
		assert.NotContains(t, x.say(&adapters.Note{Job: &v.Jobs[i], Reason: none}).text, "bound by")
		assert.Equal(t, want+"; room for 1 of 2 tasks",
			x.say(&adapters.Note{Job: &v.Jobs[i], Reason: r, Why: "room for 1 of 2 tasks"}).text)
	}
	err := fmt.Errorf("%w: pod ns/p: %w", adapters.ErrRefused, fmt.Errorf("kubernetes: it is %w", adapters.ErrStale))
	assert.Equal(t, "refused by the cluster: pod ns/p: it is adapters: the decision is out of date",
		x.say(&adapters.Note{Job: &v.Jobs[0], Err: err}).text)
	assert.Equal(t, `annotation a is "b", expected c`,
		x.say(&adapters.Note{Job: &v.Jobs[0], Err: &HintError{Annotation: "a", Value: "b", Want: "c"}}).text)
	assert.Contains(t, x.say(&adapters.Note{Job: &v.Jobs[0], Reason: sched.Reason{Code: sched.ReasonNoUtility}}).text,
		UtilityAnnotation)
}

// TestObstaclesThatChange: after a full view, a reason is written again if the nodes or the job's demands have changed
// it. More nodes, or room for more of its pods, do not change a reason.
func TestObstaclesThatChange(t *testing.T) {
	cpu := func(most string) func(*corev1.Node) {
		return func(n *corev1.Node) { n.Status.Allocatable["cpu"] = resource.MustParse(most) }
	}
	var names []string
	for i := range 60 {
		names = append(names, fmt.Sprintf("worker-node-%03d.example.org", i))
	}
	for _, tt := range []struct {
		name   string
		pod    func(*corev1.Pod)
		change func(*tester)
		again  bool
	}{
		{"nothing", asks("9", "0"), func(*tester) {}, false},
		{"another node like those", asks("9", "0"), func(x *tester) { x.node("b") }, false},
		{"a larger node that is too small", asks("9", "0"), func(x *tester) { x.node("b", cpu("6")) }, true},
		{"a node that is large enough", asks("9", "0"), func(x *tester) { x.node("b", cpu("16")) }, true},
		{"a smaller request", asks("9", "0"), func(x *tester) { x.pod("p", asks("7", "0")) }, true},
		{"a node without the label", selects("disk", "ssd"), func(x *tester) { x.node("b") }, false},
		{"a node with the label", selects("disk", "ssd"), func(x *tester) {
			x.node("b", func(n *corev1.Node) { n.Labels["disk"] = "ssd" })
		}, true},
		{"a text that is cut off", in(names...), func(x *tester) { x.node("b") }, false},
		{"a node that is too small for what nothing kept from starting", asks("2", "0"), func(x *tester) {
			x.node("a", cpu("1"))
		}, true},
		{"a cordon", asks("2", "0"), func(x *tester) {
			x.node("a", func(n *corev1.Node) { n.Spec.Unschedulable = true })
		}, true},
		{"a hint that makes no sense", asks("9", "0"), func(x *tester) {
			x.pod("p", func(p *corev1.Pod) { p.Annotations[DeadlineAnnotation] = "soon" })
		}, false}, // it is told of that
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := newTester(t)
			x.node("a", func(n *corev1.Node) { n.Status.Allocatable["memory"] = resource.MustParse("8Gi") })
			x.pod("p", tt.pod)
			d := &Driver{model: x.model, opt: x.opt}
			d.writer = newWriter(nil, x.opt, x.model)
			says := func() {
				j := x.only()
				require.NoError(t,
					d.Explain(t.Context(), &adapters.Note{Job: &j, Reason: sched.Reason{Code: sched.ReasonNoFeasibleSet}}))
			}
			says()
			require.Empty(t, x.see(0).Unsaid)
			tt.change(x)
			if !tt.again {
				assert.Empty(t, x.see(0).Unsaid)
				return
			}
			assert.Empty(t, x.view(false, time.Now()).Unsaid, "only a full view looks")
			assert.Equal(t, []string{"ns/pod/p"}, x.see(0).Unsaid)
			says()
			assert.Empty(t, x.see(0).Unsaid)
		})
	}
}

// TestObstaclesOnce: jobs that ask for the same get one answer, until a node has changed.
func TestObstaclesOnce(t *testing.T) {
	x := newTester(t)
	x.node("a")
	for i := range 3 {
		x.pod(fmt.Sprint("p", i), asks("9", "0"))
		x.pod(fmt.Sprint("q", i), asks("8", "0"))
	}
	ask := func(v *adapters.View) {
		for i := range v.Jobs {
			assert.NotEmpty(t, x.obstacle(v.Jobs[i].Spec).text)
		}
	}
	v := x.see(0)
	ask(v)
	at := x.ground
	assert.Len(t, at.obstacles, 2)
	assert.Len(t, at.suited, 1)
	x.pod("p0", asks("7", "0"))
	x.view(false, time.Now())
	ask(v)
	assert.Same(t, at, x.ground, "no node has changed")
	x.node("b")
	ask(v)
	assert.Same(t, at, x.ground, "it was not told yet")
	x.view(false, time.Now())
	ask(v)
	assert.NotSame(t, at, x.ground)
	assert.Len(t, x.ground.places, 2)
}

// TestNextLeader: events and conditions of the previous leader are not written again. Different ones are, and so are
// those that were different in between.
func TestNextLeader(t *testing.T) {
	c := fake.NewClientset(machine(), jobOf(2, nil), podOf("j-0", "", corev1.PodPending, nil),
		podOf("j-1", "", corev1.PodPending, nil),
		&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "k", UID: "uid-k", ResourceVersion: "2",
			CreationTimestamp: metav1.NewTime(time.Unix(1e9, 0))},
			Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{SchedulerName: "hedge"}}}})
	named := 0
	c.PrependReactor("create", "events", func(a clienttesting.Action) (bool, runtime.Object, error) {
		// the server's part, which the fake leaves out
		if e := a.(clienttesting.CreateAction).GetObject().(*corev1.Event); e.Name == "" {
			named++
			e.Name = e.GenerateName + fmt.Sprint(named)
		}
		return false, nil, nil
	})
	term := func(wrong []string, events, patches int) {
		t.Helper()
		c.ClearActions()
		d, err := Open(t.Context(), c, Options{})
		require.NoError(t, err)
		d.Close() // and so nothing is written but here
		v, err := d.Observe(t.Context(), true)
		require.NoError(t, err)
		require.Len(t, v.Jobs, 2)
		write := func() {
			for len(d.writer.queue) > 0 {
				assert.True(t, d.writer.write(t.Context(), <-d.writer.queue))
			}
		}
		require.NoError(t, d.Explain(t.Context(), &adapters.Note{Job: &v.Jobs[0],
			Err: &HintError{Annotation: "a", Value: wrong[0], Want: "c"}}))
		write()
		for _, value := range wrong { // of the Job without pods
			for range 2 { // and nothing is told twice in a row
				require.NoError(t, d.Explain(t.Context(), &adapters.Note{Job: &v.Jobs[1],
					Err: &HintError{Annotation: "a", Value: value, Want: "c"}}))
				write()
			}
		}
		list, err := c.CoreV1().Events("ns").List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		assert.Len(t, list.Items, events)
		some := 0
		for _, a := range c.Actions() {
			if a.Matches("patch", "pods/status") {
				some++
			}
		}
		assert.Equal(t, patches, some)
	}
	term([]string{"b"}, 2, 2)
	term([]string{"b"}, 2, 0)
	term([]string{"x"}, 4, 2)
	term([]string{"x", "y", "x"}, 6, 0) // the instance before has told the first, and none the last after the second
}

// TestResized: if somebody has written a size on a bound pod, the reason for stopping its gang names the size.
func TestResized(t *testing.T) {
	x := newTester(t)
	x.node("n")
	bound := func(size string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Annotations[epochAnnotation], p.Annotations[attemptAnnotation], p.Annotations[sizeAnnotation] = "1", "1", size
		}
	}
	x.pod("a", group("2"), bound("2"), on("n", corev1.PodRunning))
	x.pod("b", group("2"), bound("2"), on("n", corev1.PodRunning))
	require.NoError(t, x.only().Err)
	x.pod("b", group("2"), bound("3"), on("n", corev1.PodRunning))
	j := x.only()
	require.True(t, j.Short)
	require.ErrorContains(t, j.Err, `annotation hedgesched.github.io/gang-size differs among the pods of one start: 2, 3;`)
	x = newTester(t) // of three, with one gone: that somebody has written the smaller one says nothing of the other
	x.node("n")
	x.pod("a", group("3"), bound("1"), on("n", corev1.PodRunning))
	x.pod("b", group("3"), bound("3"), on("n", corev1.PodRunning))
	require.ErrorContains(t, x.only().Err, `gang-size differs among the pods of one start: 1, 3;`)
	x = newTester(t)
	x.node("n")
	x.pod("a", group("3"), bound("3"), on("n", corev1.PodRunning))
	x.pod("b", group("3"), bound("3"), on("n", corev1.PodRunning))
	j = x.only()
	require.True(t, j.Short)
	require.NoError(t, j.Err, "nobody has written anything")
	x = newTester(t)
	x.node("n")
	x.pod("a", bound("7"), on("n", corev1.PodRunning))
	require.ErrorContains(t, x.only().Err, `is "7", expected 1`)
}

// TestPodOfJobNotKnown: a pod that its annotation makes a job of its own also waits until its Job is known, since the
// Job's hints apply to it.
func TestPodOfJobNotKnown(t *testing.T) {
	x := newTester(t)
	alone := func(p *corev1.Pod) { p.Annotations[GangAnnotation] = "false" }
	x.pod("j-0", ofJob("0"), alone)
	require.ErrorIs(t, x.only().Problem, adapters.ErrIncomplete)
	waits := x.only()
	x.job(2, func(j *batchv1.Job) {
		j.Annotations = map[string]string{GangAnnotation: "false"}
	})
	v := x.view(false, time.Now())
	require.Len(t, v.Jobs, 1)
	require.NoError(t, v.Jobs[0].Problem)
	assert.Greater(t, v.Jobs[0].Version, waits.Version)
}

// TestPodOfJobOfOthers: a pod that is a job of its own does not wait for a Job of another API group, or one whose
// template names another scheduler. It has the hints of the latter.
func TestPodOfJobOfOthers(t *testing.T) {
	alone := func(p *corev1.Pod) { p.Annotations[GangAnnotation] = "false" }
	x := newTester(t)
	x.pod("v-0", ofJob("0"), alone, func(p *corev1.Pod) { p.OwnerReferences[0].APIVersion = "batch.volcano.sh/v1alpha1" })
	j := x.only()
	require.NoError(t, j.Problem)
	assert.Equal(t, "ns/pod/v-0", j.Spec.ID)

	x = newTester(t)
	x.pod("j-0", ofJob("0"), alone)
	waits := x.only()
	require.ErrorContains(t, waits.Problem, "its Job is not known")
	other := func(j *batchv1.Job) {
		j.Spec.Template.Spec.SchedulerName = "default-scheduler"
		j.Annotations = map[string]string{UserAnnotation: "ann"}
	}
	x.job(2, other)
	v := x.view(false, time.Now())
	require.Len(t, v.Jobs, 1)
	require.NoError(t, v.Jobs[0].Problem)
	assert.Greater(t, v.Jobs[0].Version, waits.Version)
	assert.Equal(t, "ann", v.Jobs[0].Spec.Attributes["user"])
	x.job(2, other)
	assert.Empty(t, x.view(false, time.Now()).Jobs, "nothing has changed")

	x.pod("j-0", ofJob("0"))
	j = x.only()
	require.ErrorIs(t, j.Problem, adapters.ErrIncomplete)
	require.ErrorContains(t, j.Problem, "names another scheduler")
	x.listed(batchJobs, nil, uint64(x.version))
	require.ErrorContains(t, x.only().Problem, "its Job is not known")
	assert.Empty(t, x.others)
}

// TestTwoFullGroups: if two controllers each have all pods of a group of the same name, neither is started, and both
// users are told why.
func TestTwoFullGroups(t *testing.T) {
	x := newTester(t)
	yes := true
	of := func(owner string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{Kind: "Set", Name: owner, UID: types.UID(owner), Controller: &yes}}
		}
	}
	x.pod("a-0", group("2"), of("a"))
	x.pod("a-1", group("2"), of("a"))
	require.NoError(t, x.only().Problem)
	x.pod("b-0", group("2"), of("b"))
	x.pod("b-1", group("2"), of("b"))
	j := x.only()
	require.ErrorIs(t, j.Problem, adapters.ErrIncomplete)
	require.ErrorContains(t, j.Problem,
		"pods of more than one controller wait in it, where all must be of one: of the newest 2, of others 2")
	g := x.gangs[j.Spec.ID]
	assert.Len(t, g.lacking(&words{gang: g, sum: 1}), 4)
}
