package kubernetes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/adaptertest"
	"github.com/hedgesched/hedge/sched"
)

const (
	unit      = time.Second
	stopFor   = "hedge.test/stop"
	gate      = "hedge.test/ready"    // a scheduling gate: the world is not done with the pod
	runFor    = "hedge.test/duration" // kwok ends the pod after it
	works     = "hedge.test/works"    // what runFor will be once the whole gang runs
	exitCode  = "hedge.test/exit-code"
	worldName = "hedge.test/world"
	taskLabel = "hedge.test/task"
	jobLabel  = "hedge.test/job"
	badLabel  = "hedge.test/bad"
	endless   = "24h"
)

// world is a namespace and some nodes of a control plane for the suite. Its gangs are pods with the labels of a pod
// group, or Jobs. It recreates the pods of groups itself when they are gone, as some controller would. The Job
// controller handles Jobs.
type world struct {
	*server
	name          string
	shape         adaptertest.Shape
	traits        adaptertest.Traits
	asJobs        bool
	user          string        // of its drivers
	believes      time.Duration // CheckLease of its drivers
	lines         []*line
	drivers       []*Driver
	lineOf        map[*Driver]*line
	jobs          map[string]*submitted
	order         []string
	made          int
	down          bool
	hasPriorities bool
	killed        map[string]bool // nodes

	mu      sync.Mutex
	records map[types.UID]*record
	placed  []types.UID
	repeats map[string]int // by owner: attempts whose number was that of an earlier one
	faults  []string
	history []string // what the server told of pods that had a place, for whoever reads a failure
}

// submitted is a job that was handed in.
type submitted struct {
	adaptertest.Job
	id, owner string
	uid       types.UID
	tries     int // pods of task 0 so far
	gone      bool
}

// record is a pod that the world has seen.
type record struct {
	adaptertest.Record
	version uint64
	frozen  bool // its node has lost its power
	live    bool // by the order of events
}

func newWorld(t testing.TB, s adaptertest.Shape, asJobs bool) *world {
	return newWorldOn(t, controlPlane(t), s, asJobs)
}

// newWorldOn makes a world on a server that others may use, too. The namespace, nodes and lease are its own.
func newWorldOn(t testing.TB, c *server, s adaptertest.Shape, asJobs bool) *world {
	w := &world{server: c, name: fmt.Sprintf("w%d", c.worlds.Add(1)), shape: s, asJobs: asJobs,
		jobs:   map[string]*submitted{},
		lineOf: map[*Driver]*line{}, killed: map[string]bool{}, records: map[types.UID]*record{}, repeats: map[string]int{}}
	w.traits = adaptertest.Traits{
		Slot: sched.Resources{"cpu": 1}, Unit: unit, Patience: 8 * time.Minute, Exact: 2 * time.Second,
		Wide: min(200, s.Nodes*s.Slots),
		Missing: map[adaptertest.Ability]string{
			adaptertest.Garble: "events of a watch come in order, or the watch breaks, which is another case",
			adaptertest.Clear:  "there is nothing garbled to be cleared",
			adaptertest.Keep:   "what is kept is written on Jobs, of which another test is",

			adaptertest.FenceNotes: "notes are written by and by, without a look at the lease for each",
		},
	}
	if asJobs {
		for _, a := range []adaptertest.Ability{adaptertest.FailStarts, adaptertest.FailRuns, adaptertest.Hang} {
			w.traits.Missing[a] = "all pods of a Job are alike"
		}
		w.traits.Missing[adaptertest.Crash] = "it is done with pod groups, whose pods come back at once"
	}
	ctx := t.Context()
	_, err := c.client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.name}},
		metav1.CreateOptions{})
	require.NoError(t, err)
	if w.user = "hedge"; asJobs { // whose rights are those to one namespace
		w.user = lone
		require.NoError(t, c.loneRights(ctx, w.name))
	}
	require.NoError(t, c.leaseRights(ctx, w.user, w.name))
	for i := range s.Nodes {
		w.traits.Nodes = append(w.traits.Nodes, fmt.Sprintf("%s-n%d", w.name, i))
		w.addNode(t, w.traits.Nodes[i])
	}
	w.traits.Spare = []string{w.name + "-spare0", w.name + "-spare1"}
	list, err := c.client.CoreV1().Pods(w.name).List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	watching, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	f := &stream{from: list.ResourceVersion, watch: c.client.CoreV1().Pods(w.name).Watch,
		list: c.client.CoreV1().Pods(w.name).List}
	done.Go(func() { w.follow(watching, f) })
	t.Cleanup(func() {
		cancel()
		done.Wait()
		w.end(t)
	})
	return w
}

// end closes what is open, removes what was created, and reports what must not have happened.
func (w *world) end(t testing.TB) {
	for _, d := range w.drivers {
		d.Close()
	}
	w.up(t)
	ctx, zero := context.Background(), int64(0)
	if w.asJobs {
		background := metav1.DeletePropagationBackground
		_ = w.client.BatchV1().Jobs(w.name).DeleteCollection(ctx, metav1.DeleteOptions{PropagationPolicy: &background},
			metav1.ListOptions{})
	}
	for range 2 { // the Job controller may make some more
		list, err := w.client.CoreV1().Pods(w.name).List(ctx, metav1.ListOptions{})
		if err != nil {
			continue
		}
		for i := range list.Items {
			p := &list.Items[i]
			_, _ = w.client.CoreV1().Pods(w.name).Patch(ctx, p.Name, types.MergePatchType,
				[]byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
			_ = w.client.CoreV1().Pods(w.name).Delete(ctx, p.Name, metav1.DeleteOptions{GracePeriodSeconds: &zero})
		}
	}
	_ = w.client.CoreV1().Pods("default").DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: &zero},
		metav1.ListOptions{LabelSelector: worldName + "=" + w.name})
	_ = w.client.CoreV1().Nodes().DeleteCollection(ctx, metav1.DeleteOptions{},
		metav1.ListOptions{LabelSelector: worldName + "=" + w.name})
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.faults {
		t.Error(f)
	}
	if t.Failed() {
		t.Logf("what the server told:\n%s", strings.Join(w.history, "\n"))
	}
}

// follow judges the order of events: no node may hold more than it has room for.
func (w *world) follow(ctx context.Context, f *stream) {
	for ctx.Err() == nil {
		any, expired := f.follow(ctx, w.event)
		if any || expired && w.catchUp(ctx, f) {
			continue
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// catchUp lists everything if the watch cannot continue, and lets the watch continue from there.
func (w *world) catchUp(ctx context.Context, f *stream) bool {
	list, err := f.list(ctx, metav1.ListOptions{})
	if err != nil {
		return false
	}
	live := map[types.UID]bool{}
	for i := range list.Items {
		p := &list.Items[i]
		w.see(p, false)
		live[p.UID] = !terminal(p)
	}
	w.gone(list)
	w.mu.Lock()
	defer w.mu.Unlock()
	for uid, r := range w.records {
		r.live = live[uid] && !r.frozen
	}
	w.count(list.ResourceVersion)
	f.from = list.ResourceVersion
	return true
}

// gone records that what a list lacks no longer exists.
func (w *world) gone(list *corev1.PodList) {
	listed := map[types.UID]bool{}
	for i := range list.Items {
		listed[list.Items[i].UID] = true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for uid, r := range w.records {
		if !listed[uid] && r.Ended.IsZero() && r.version <= number(list.ResourceVersion) {
			r.over(time.Now())
		}
	}
}

// count records the nodes that hold more than they have room for, at a version.
func (w *world) count(version string) {
	on := map[string]int{}
	for _, o := range w.records {
		if o.live {
			on[o.Node]++
		}
	}
	for _, node := range slices.Sorted(maps.Keys(on)) {
		if on[node] > w.shape.Slots {
			w.faults = append(w.faults, fmt.Sprintf("%s: node %s holds %d pods at version %s", w.name, node, on[node], version))
		}
	}
}

func (w *world) Traits() adaptertest.Traits { return w.traits }
func (w *world) Now() time.Time             { return time.Now() }

func (w *world) addNode(t testing.TB, name string) {
	t.Helper()
	quantities := corev1.ResourceList{"cpu": *resource.NewQuantity(int64(w.shape.Slots), resource.DecimalSI),
		"memory": resource.MustParse("64Gi"), "pods": *resource.NewQuantity(int64(w.shape.Slots)+10, resource.DecimalSI)}
	_, err := w.client.CoreV1().Nodes().Create(t.Context(), &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{worldName: w.name, "name": name}},
		Status:     corev1.NodeStatus{Capacity: quantities, Allocatable: quantities},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		n, err := w.client.CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{})
		return err == nil && slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
			return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
		})
	}, patience, 50*time.Millisecond, "node %s is not ready; kwok: %s", name, w.Log("kwok"))
	w.mu.Lock()
	delete(w.killed, name)
	w.mu.Unlock()
	w.caughtUp(t)
}

// caughtUp waits until all drivers know what was done to the cluster so far.
func (w *world) caughtUp(t testing.TB) {
	t.Helper()
	if w.down {
		return
	}
	all, err := w.client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{LabelSelector: worldName + "=" + w.name})
	require.NoError(t, err)
	list, err := w.client.CoreV1().Pods(w.name).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	var newest [kinds]uint64
	for i := range all.Items {
		newest[nodes] = max(newest[nodes], number(all.Items[i].ResourceVersion))
	}
	for i := range list.Items {
		newest[pods] = max(newest[pods], number(list.Items[i].ResourceVersion))
	}
	for _, d := range w.living() {
		d.learns(t, nodes, newest[nodes])
		d.learns(t, pods, newest[pods])
	}
}

// learns waits until the driver knows everything of a kind up to a version, or will list everything. It does not wait
// for an object by name, which may be gone before.
func (d *Driver) learns(t testing.TB, k kind, version uint64) {
	t.Helper()
	for begun := time.Now(); !d.listsAll(); time.Sleep(20 * time.Millisecond) {
		d.model.mu.Lock()
		seen := d.model.seen[k]
		d.model.mu.Unlock()
		if seen >= version {
			return
		}
		if time.Since(begun) > patience {
			f := d.feeds[k]
			f.mu.Lock()
			defer f.mu.Unlock()
			t.Fatalf("a scheduler knows %s up to version %d, not %d; its watch is at %s, open since %v, broken since %v: %v", k,
				seen, version, f.from, f.up, f.down, f.err)
		}
	}
}

// listsAll reports whether the driver's next observation lists everything, since one of its watches cannot continue.
func (d *Driver) listsAll() bool {
	return slices.ContainsFunc(d.feeds, func(f *feed) bool {
		_, lost := f.lost()
		return lost
	})
}

// living are the drivers of instances that have not died at their gate. Those that have died learn nothing any more.
func (w *world) living() []*Driver {
	return slices.DeleteFunc(slices.Clone(w.drivers), func(d *Driver) bool {
		return w.lineOf[d] != nil && w.lineOf[d].pass("", false) != nil
	})
}

func (w *world) Open(t testing.TB, s adaptertest.Session) adaptertest.Instance {
	t.Helper()
	w.up(t)
	w.lead(t, s.Epoch)
	connect := func() *Driver {
		l := &line{conns: map[netConn]bool{}, gate: s.Gate}
		client, err := Client(l.through(w.account(w.user)))
		require.NoError(t, err)
		d, err := Open(t.Context(), client,
			Options{Namespace: w.name, NodeSelector: worldName + "=" + w.name, Lease: LeaseName{w.name, "hedge"},
				CheckLease: w.believes, Timeout: time.Minute}) // a busy machine is no outage
		require.NoError(t, err)
		w.lines, w.drivers, w.lineOf[d] = append(w.lines, l), append(w.drivers, d), l
		return d
	}
	d := connect()
	c, err := adapters.New(d, adapters.Options{Epoch: s.Epoch, StartTimeout: s.StartTimeout, LearntUntil: s.LearntUntil})
	require.NoError(t, err)
	second := connect()
	return adaptertest.Instance{Cluster: c, Driver: second, Close: func() {
		for _, x := range []*Driver{d, second} {
			x.Close()
			w.drivers = slices.DeleteFunc(w.drivers, func(o *Driver) bool { return o == x })
		}
	}}
}

// lead sets the lease's epoch, once the time for which its holder may still trust it is over: a real lease expires only
// after its holder has given up.
func (w *world) lead(t testing.TB, epoch uint64) {
	t.Helper()
	time.Sleep(w.believes)
	leases, n := w.client.CoordinationV1().Leases(w.name), int32(epoch)
	l, err := leases.Get(t.Context(), "hedge", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		_, err = leases.Create(t.Context(), &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "hedge"},
			Spec: coordinationv1.LeaseSpec{LeaseTransitions: &n}}, metav1.CreateOptions{})
	} else if err == nil {
		l.Spec.LeaseTransitions = &n
		_, err = leases.Update(t.Context(), l, metav1.UpdateOptions{})
	}
	require.NoError(t, err)
}

// up brings the server back if it is down: users and operators wait for it.
func (w *world) up(t testing.TB) {
	t.Helper()
	if w.down {
		require.NoError(t, w.Start(context.Background(), "kube-apiserver"))
		w.down = false
	}
}

func (w *world) Submit(t testing.TB, j adaptertest.Job) string {
	t.Helper()
	w.up(t)
	w.made++
	s := &submitted{Job: j, id: w.name + "/group/" + j.Spec.ID, owner: fmt.Sprintf("%s-%d", j.Spec.ID, w.made)}
	if w.asJobs {
		s.id = w.name + "/job/" + j.Spec.ID
		s.uid = w.submitJob(t, s)
	} else {
		o, err := w.client.CoreV1().ConfigMaps(w.name).Create(t.Context(),
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: s.owner}}, metav1.CreateOptions{})
		require.NoError(t, err)
		s.uid = o.UID
	}
	if w.jobs[s.id] == nil {
		w.order = append(w.order, s.id)
	}
	w.jobs[s.id] = s
	w.control(t)
	return s.id
}

// duration is how long a pod runs, in the form of its annotation.
func (s *submitted) duration() string {
	if s.Runtime > 50*unit { // no case waits for its end
		return endless
	}
	return s.Runtime.String()
}

func (w *world) template(s *submitted, duration string) corev1.PodTemplateSpec {
	one := int64(1)
	out := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{jobLabel: s.Spec.ID},
			Annotations: map[string]string{works: duration}},
		Spec: corev1.PodSpec{
			SchedulerName: "hedge", RestartPolicy: corev1.RestartPolicyNever, TerminationGracePeriodSeconds: &one,
			Containers: []corev1.Container{{Name: "c", Image: "none", Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{"cpu": resource.MustParse("1"), "memory": resource.MustParse("1Mi")}}}},
		},
	}
	if priority := int32(s.Spec.Priority); priority > 0 {
		out.Spec.PriorityClassName = fmt.Sprint("hedge-test-", priority)
	}
	if s.Malformed {
		out.Annotations[DeadlineAnnotation] = "tomorrow"
	}
	if s.Spec.Checkpoint {
		out.Annotations[CheckpointAnnotation] = "true"
	}
	if len(s.Spec.After) > 0 {
		out.Annotations[AfterAnnotation] = strings.Join(s.Spec.After, ", ")
	}
	if s.SlowStop {
		out.Annotations[stopFor] = "3s"
	}
	for _, key := range s.Spec.Required.Keys() {
		e := corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpExists}
		for _, value := range []string{"gold"} {
			if !s.Spec.Required.Matches(map[string]string{key: "-"}) && s.Spec.Required.Matches(map[string]string{key: value}) {
				e.Operator, e.Values = corev1.NodeSelectorOpIn, []string{value}
			}
		}
		out.Spec.Affinity = &corev1.Affinity{
			NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{e}}}}}}
	}
	return out
}

func (w *world) submitJob(t testing.TB, s *submitted) types.UID {
	t.Helper()
	w.priorities(t)
	// With a limit per index, the back-off does not double with each pod.
	n, limit, mode := int32(s.Spec.Tasks), int32(1000), batchv1.IndexedCompletion
	j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: s.Spec.ID}, Spec: batchv1.JobSpec{
		Parallelism: &n, Completions: &n, BackoffLimitPerIndex: &limit, Template: w.template(s, s.duration()),
		CompletionMode: &mode,
		PodFailurePolicy: &batchv1.PodFailurePolicy{
			Rules: []batchv1.PodFailurePolicyRule{{Action: batchv1.PodFailurePolicyActionIgnore,
				OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{
					{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}}}},
	}}
	var made *batchv1.Job
	require.Eventually(t, func() bool { // one of that name may be on its way out
		var err error
		made, err = w.client.BatchV1().Jobs(w.name).Create(t.Context(), j, metav1.CreateOptions{})
		require.True(t, err == nil || apierrors.IsAlreadyExists(err), "%v", err)
		return err == nil
	}, patience, 100*time.Millisecond)
	return made.UID
}

// control does what a controller of the gangs would do, and makes tasks fail that are to fail.
func (w *world) control(t testing.TB) {
	t.Helper()
	if w.down {
		return
	}
	list, err := w.client.CoreV1().Pods(w.name).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	w.work(t, list.Items)
	has, ending := map[string]bool{}, map[string]bool{}
	for i := range list.Items {
		p := &list.Items[i]
		w.see(p, false)
		if p.DeletionTimestamp != nil && p.Spec.NodeName != "" && !terminal(p) {
			ending[owner(p)] = true
		}
	}
	for i := range list.Items {
		p := &list.Items[i]
		if p.Labels[badLabel] == "start" && p.Spec.NodeName != "" && p.Status.Phase == corev1.PodPending &&
			p.DeletionTimestamp == nil {
			w.status(t, p, `{"status":{"phase":"Failed","reason":"NoImage"}}`)
			continue
		}
		// A task that ended while its gang was stopped runs again with the others, but not before all have ended: they may
		// finish while they are told to stop.
		again := p.Annotations[clearedAnnotation] != "" && !w.asJobs && !ending[owner(p)]
		if p.DeletionTimestamp == nil && p.Status.Phase != corev1.PodFailed && !again {
			has[p.Labels[jobLabel]+"/"+p.Labels[taskLabel]+"/"+owner(p)] = true
		}
	}
	for _, id := range w.order {
		s := w.jobs[id]
		if w.asJobs || s.gone || w.done(s) {
			continue
		}
		for task := range s.Spec.Tasks {
			if !has[fmt.Sprintf("%s/%d/%s", s.Spec.ID, task, s.uid)] {
				w.makePod(t, s, task)
			}
		}
	}
}

// done reports whether all tasks of the job have finished in its last attempt. Controllers also count pods that finish
// while they are told to stop, whatever the scheduler has marked, and create no others.
func (w *world) done(s *submitted) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	last, attempt := map[string]*record{}, 0
	for _, uid := range w.placed {
		if r := w.records[uid]; r.UID == string(s.uid) {
			last[r.Task], attempt = r, max(attempt, r.Attempt)
		}
	}
	n := 0
	for _, r := range last {
		if r.State == adapters.Finished && r.Attempt == attempt {
			n++
		}
	}
	return n == s.Spec.Tasks
}

// work makes the pods of gangs that run whole end after their time, since tasks of a gang wait for one another.
func (w *world) work(t testing.TB, all []corev1.Pod) {
	t.Helper()
	gangs := map[string][]*corev1.Pod{}
	for i := range all {
		p := &all[i]
		w.mu.Lock()
		lost := w.killed[p.Spec.NodeName]
		w.mu.Unlock()
		// some may have been told before
		if (p.Status.Phase == corev1.PodRunning || p.Status.Phase == corev1.PodSucceeded) && p.DeletionTimestamp == nil &&
			!lost {
			key := owner(p) + "/" + p.Annotations[attemptAnnotation] + "/" + p.Annotations[sizeAnnotation]
			gangs[key] = append(gangs[key], p)
		}
	}
	var due []*corev1.Pod
	for _, pods := range gangs {
		if strconv.Itoa(len(pods)) == pods[0].Annotations[sizeAnnotation] {
			due = append(due, slices.DeleteFunc(pods, func(p *corev1.Pod) bool {
				return p.Annotations[runFor] != "" || p.Annotations[works] == endless
			})...)
		}
	}
	errs := make([]error, len(due))
	some := Driver{slots: make(chan struct{}, 16)}
	some.each(len(due), func(i int) {
		p := due[i]
		patch, err := annotate(p.UID, "", map[string]string{runFor: p.Annotations[works]})
		if err == nil {
			_, err = w.client.CoreV1().Pods(p.Namespace).Patch(t.Context(), p.Name, types.MergePatchType, patch,
				metav1.PatchOptions{})
		}
		if !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			errs[i] = err
		}
	})
	require.NoError(t, errors.Join(errs...))
}

func owner(p *corev1.Pod) string {
	if c := metav1.GetControllerOf(p); c != nil {
		return string(c.UID)
	}
	return ""
}

func (w *world) status(t testing.TB, p *corev1.Pod, patch string) {
	_, err := w.client.CoreV1().Pods(w.name).Patch(t.Context(), p.Name, types.StrategicMergePatchType, []byte(patch),
		metav1.PatchOptions{}, "status")
	require.True(t, err == nil || apierrors.IsNotFound(err), "%v", err)
}

// makePod creates a pod of a gang. A pod that is to start badly, or not at all, is hidden from kwok, which makes pods
// ready.
func (w *world) makePod(t testing.TB, s *submitted, task int) {
	t.Helper()
	w.priorities(t)
	if task == 0 {
		s.tries++
	}
	duration, bad := s.duration(), ""
	switch {
	case s.tries <= s.FailStarts:
		duration, bad = endless, "start"
	case s.tries <= s.FailStarts+s.FailRuns:
		if duration = endless; task == 0 {
			duration = (s.Runtime / 2).String()
		}
	case s.tries <= s.Hang:
		duration, bad = endless, "hang"
	}
	w.made++
	template := w.template(s, duration)
	yes := true
	p := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	p.Name = fmt.Sprintf("%s-%d-%d", s.Spec.ID, task, w.made)
	p.Labels["scheduling.x-k8s.io/pod-group"] = s.Spec.ID
	p.Labels["scheduling.x-k8s.io/min-available"] = strconv.Itoa(s.Spec.Tasks)
	p.Labels[taskLabel] = strconv.Itoa(task)
	p.OwnerReferences = []metav1.OwnerReference{
		{APIVersion: "v1", Kind: "ConfigMap", Name: s.owner, UID: s.uid, Controller: &yes}}
	if s.FailRuns > 0 && task == 0 && s.tries > s.FailStarts && s.tries <= s.FailStarts+s.FailRuns {
		p.Annotations[exitCode] = "1"
	}
	hidden := bad != "" && task == 0
	if hidden {
		p.Labels[badLabel] = bad
		p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: gate}}
	}
	made, err := w.client.CoreV1().Pods(w.name).Create(t.Context(), p, metav1.CreateOptions{})
	require.NoError(t, err)
	if hidden {
		w.status(t, made, `{"status":{"conditions":[{"type":"Ready","status":"True"}]}}`)
		_, err = w.client.CoreV1().Pods(w.name).Patch(t.Context(), made.Name, types.MergePatchType,
			[]byte(`{"spec":{"schedulingGates":null}}`), metav1.PatchOptions{})
		require.NoError(t, err)
	}
}

func (w *world) Pass(t testing.TB) {
	time.Sleep(100 * time.Millisecond)
	w.control(t)
}

func (w *world) Notes(t testing.TB, job string) []string {
	if w.down {
		return nil
	}
	list, err := w.client.CoreV1().Events(w.name).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	slices.SortFunc(list.Items, func(a, b corev1.Event) int {
		return cmp.Compare(number(a.ResourceVersion), number(b.ResourceVersion))
	})
	var out []string
	s := w.jobs[job]
	for _, e := range list.Items {
		if e.Source.Component != "hedge" || e.Action != actionWaits {
			continue
		}
		if e.InvolvedObject.Kind == "Job" && e.InvolvedObject.Name == s.Spec.ID ||
			e.InvolvedObject.Kind == "Pod" && strings.HasPrefix(e.InvolvedObject.Name, s.Spec.ID+"-") {
			out = append(out, e.Message)
		}
	}
	return out
}

func (w *world) Records(t testing.TB) []adaptertest.Record {
	if !w.down {
		list, err := w.client.CoreV1().Pods(w.name).List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		for i := range list.Items {
			w.see(&list.Items[i], false)
		}
		w.gone(list)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make([]adaptertest.Record, 0, len(w.placed))
	for _, uid := range w.placed {
		out = append(out, w.records[uid].Record)
	}
	return out
}

// over records that a pod has gone.
func (r *record) over(at time.Time) { r.Ended, r.State = at, adapters.Stopping }

// event handles the world's watch events in order.
func (w *world) event(p *corev1.Pod, deleted bool) {
	w.see(p, deleted)
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.records[p.UID]
	if r == nil {
		return
	}
	r.live = !deleted && !terminal(p) && !r.frozen
	w.history = append(w.history,
		fmt.Sprintf("%s version %s pod %s on %s: attempt %s, %s, deleting %v, gone %v, cleared %q",
			time.Now().Format("15:04:05.000"), p.ResourceVersion,
			p.Name, p.Spec.NodeName, p.Annotations[attemptAnnotation], p.Status.Phase, p.DeletionTimestamp != nil, deleted,
			p.Annotations[clearedAnnotation]))
	w.count(p.ResourceVersion)
}

// see handles a pod as the server has it.
func (w *world) see(p *corev1.Pod, deleted bool) {
	if p.Spec.NodeName == "" || p.Spec.SchedulerName != "hedge" {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.records[p.UID]
	version := number(p.ResourceVersion)
	if r == nil {
		id := w.name + "/group/" + p.Labels[jobLabel]
		if w.asJobs {
			id = w.name + "/job/" + p.Labels[jobLabel]
		}
		r = &record{Record: adaptertest.Record{Job: id, UID: owner(p), Node: p.Spec.NodeName, Placed: time.Now(),
			Task: cmp.Or(p.Labels[taskLabel], p.Annotations[batchv1.JobCompletionIndexAnnotation])}}
		r.Attempt = w.attempt(p, r)
		for _, c := range p.Status.Conditions {
			if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionTrue {
				r.Placed = c.LastTransitionTime.Time
			}
		}
		w.records[p.UID] = r
		w.placed = append(w.placed, p.UID)
	}
	r.compare(p)
	// If a pod is evicted just when kwok is about to write that it has succeeded, kwok writes that, and right afterwards
	// that it was stopped. Controllers and schedulers see and use the last write. A kubelet never takes an end back.
	revoked := r.State == adapters.Finished && p.Status.Phase == corev1.PodFailed
	if version < r.version || r.frozen || !r.Ended.IsZero() && !revoked {
		return
	}
	r.version = version
	if w.killed[p.Spec.NodeName] {
		r.Ended, r.State, r.frozen, r.live = time.Now(), adapters.Lost, true, false
		return
	}
	var x pod
	x.phase = p.Status.Phase
	x.times(p)
	if r.Started.IsZero() {
		r.Started = x.started
	}
	switch {
	case p.Status.Phase == corev1.PodSucceeded:
		r.State, r.Ended = adapters.Finished, x.ended
	case p.Status.Phase == corev1.PodFailed:
		r.State, r.Ended = adapters.Failed, later(x.ended, r.Placed)
	case p.DeletionTimestamp != nil:
		r.State = adapters.Stopping
		if deleted {
			r.over(p.DeletionTimestamp.Time)
		}
	case p.Status.Phase == corev1.PodRunning:
		r.State = adapters.Running
	}
}

// attempt is the number of the start to which a pod belongs. The scheduler counts starts by the existing pods, and
// begins again when all are gone. Here each start has another number. In every start, the pod of the first task comes
// first.
func (w *world) attempt(p *corev1.Pod, r *record) int {
	told, last, again := int(number(p.Annotations[attemptAnnotation])), 0, false
	n := told + w.repeats[r.UID]
	for _, o := range w.records {
		if o.UID == r.UID {
			last, again = max(last, o.Attempt), again || o.Task == r.Task && o.Attempt == n
		}
	}
	if again {
		n = last + 1
		w.repeats[r.UID] = n - told
	}
	return n
}

// compare records by how much kwok contradicts itself: it may do a thing twice if it is late or has lost its server.
func (r *record) compare(p *corev1.Pod) {
	var again pod
	again.times(p)
	if !r.Started.IsZero() && !again.started.IsZero() {
		r.Unsure = max(r.Unsure, again.started.Sub(r.Started).Abs())
	}
	if r.State == adapters.Finished && p.Status.Phase == corev1.PodSucceeded {
		r.Unsure = max(r.Unsure, again.ended.Sub(r.Ended).Abs())
	}
}

var _ adaptertest.World = (*world)(nil)
