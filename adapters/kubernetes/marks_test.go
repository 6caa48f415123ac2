package kubernetes

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/hedgesched/hedge/adapters"
)

// machine is node n, which is ready.
func machine() *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "uid-n", ResourceVersion: "2"},
		Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}}
}

// jobOf is a Job of a gang.
func jobOf(size int32, annotations map[string]string) *batchv1.Job {
	return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "j", UID: "uid-j", ResourceVersion: "2",
		Annotations: annotations},
		Spec: batchv1.JobSpec{Parallelism: &size, Completions: &size,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{SchedulerName: "hedge"}}}}
}

// podOf is a pod of that Job, on a node if that is not empty. Its version is the first that the fake server's lists may
// have: they count writes.
func podOf(name, node string, phase corev1.PodPhase, annotations map[string]string) *corev1.Pod {
	yes := true
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID("uid-" + name), ResourceVersion: "2",
			Annotations: annotations,
			Labels:      map[string]string{batchv1.JobNameLabel: "j"},
			OwnerReferences: []metav1.OwnerReference{
				{APIVersion: "batch/v1", Kind: "Job", Name: "j", UID: "uid-j", Controller: &yes}}},
		Spec:   corev1.PodSpec{SchedulerName: "hedge", NodeName: node, Containers: []corev1.Container{{Name: "c"}}},
		Status: corev1.PodStatus{Phase: phase},
	}
}

// leaseAt is a Lease at an epoch.
func leaseAt(epoch int32) *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "hedge-system", Name: "hedge", UID: "uid-lease"},
		Spec: coordinationv1.LeaseSpec{LeaseTransitions: &epoch}}
}

// TestCopiedEpoch: what was copied from a pod to another pod or its template concerns that job alone, and ends no
// leader's term.
func TestCopiedEpoch(t *testing.T) {
	name := LeaseName{"hedge-system", "hedge"}
	for what, copied := range map[string]*corev1.Pod{
		"before it was bound": podOf("j-1", "", corev1.PodPending, map[string]string{epochAnnotation: "7"}),
		"while it runs": podOf("j-1", "n", corev1.PodRunning,
			map[string]string{epochAnnotation: "7", attemptAnnotation: "1"}),
	} {
		t.Run(what, func(t *testing.T) {
			failed := podOf("j-0", "n", corev1.PodFailed, map[string]string{epochAnnotation: "3", attemptAnnotation: "1"})
			c := fake.NewClientset(leaseAt(4), jobOf(2, nil), machine(), failed, copied)
			d, err := Open(t.Context(), c, Options{Lease: name})
			require.NoError(t, err)
			defer d.Close()
			cluster, err := adapters.New(d, adapters.Options{Epoch: 4})
			require.NoError(t, err)
			for range 3 { // the gang has lost a pod and is stopped
				_, err = cluster.Events(t.Context())
				require.NoError(t, err)
			}
			_, err = d.live(t.Context(), "ns/job/j", &adapters.Stop{Epoch: 3})
			require.ErrorIs(t, err, adapters.ErrFenced, "it is another's lease")
		})
	}
}

// TestReserved: a pod that was created from the printed form of another one waits, and its user is told why.
func TestReserved(t *testing.T) {
	for _, name := range kept() {
		t.Run(name, func(t *testing.T) {
			x := newTester(t)
			x.pod("a", group("2"), func(p *corev1.Pod) { p.Annotations[name] = "1" })
			x.pod("b", group("2"))
			j := x.only()
			assert.Empty(t, j.Tasks)
			if name == fenceAnnotation { // which the driver writes on pods that wait
				require.NoError(t, j.Problem)
				return
			}
			var hint *HintError
			require.ErrorAs(t, j.Problem, &hint)
			assert.Equal(t, name, hint.Annotation)
			x.pod("a", group("2"))
			require.NoError(t, x.only().Problem, "it was taken away")
		})
	}
}

// TestForgedMarks: what holds room counts, whatever is written on it.
func TestForgedMarks(t *testing.T) {
	x := newTester(t)
	x.node("n")
	x.pod("a", on("n", corev1.PodRunning), func(p *corev1.Pod) { p.Annotations[clearedAnnotation] = "true" })
	require.Len(t, x.only().Tasks, 1)
	for _, epoch := range []string{"", "3"} {
		for _, size := range []string{"50000000", "-1", "many", "99999999999999999999"} {
			x.pod("a", on("n", corev1.PodRunning), func(p *corev1.Pod) {
				p.Annotations[sizeAnnotation], p.Annotations[attemptAnnotation] = size, size
				if epoch != "" {
					p.Annotations[epochAnnotation] = epoch
				}
			})
			j := x.only()
			assert.Equal(t, 1, j.Spec.Tasks, "%q %q", epoch, size)
			assert.GreaterOrEqual(t, j.Attempt, 0)
			assert.Len(t, j.Tasks, 1)
		}
	}
	x.pod("a", on("n", corev1.PodRunning), func(p *corev1.Pod) { p.Annotations[sizeAnnotation] = "2" })
	assert.Equal(t, 1, x.only().Spec.Tasks, "no binding wrote it")
}

// TestLargest: a Job with more pods than a gang may have waits.
func TestLargest(t *testing.T) {
	x := newTester(t)
	x.job(adapters.MaxTasks + 1)
	j := x.only()
	require.ErrorContains(t, j.Problem, "1001 pods at once")
	assert.Equal(t, 1, j.Spec.Tasks)
	x.job(adapters.MaxTasks)
	require.ErrorIs(t, x.only().Problem, adapters.ErrIncomplete)
}
