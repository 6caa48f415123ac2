package kubernetes

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hedgesched/hedge/adapters"
)

// fence refuses what an instance wants that leads no more: it asks the server for the lease, once for all that ask at the same time.
func (d *Driver) fence(ctx context.Context, epoch uint64) error {
	if d.opt.Lease.Name == "" {
		return nil
	}
	now, err := d.asking.ask(ctx, d.leader)
	switch {
	case err != nil:
	case now.epoch != epoch:
		err = fmt.Errorf("%w: an action of epoch %d, the lease is at %d", adapters.ErrFenced, epoch, now.epoch)
	case !d.sameLeader(now.leader):
		err = fmt.Errorf("%w: the lease of epoch %d is not the one it was, or another's: it is held by %q", adapters.ErrFenced, epoch, now.holder)
	}
	d.asking.believe(now, err)
	return err
}

// leader is who leads, as the lease says.
type leader struct {
	epoch  uint64
	lease  types.UID
	holder string
}

// sameLeader tells whether it is the leader that was seen first of all with its epoch. Another with the same epoch is one of a lease that was deleted and made anew.
func (d *Driver) sameLeader(now leader) bool {
	d.first.Lock()
	defer d.first.Unlock()
	if now.epoch != d.first.epoch {
		d.first.leader = now
	}
	return now == d.first.leader
}

// leader reads the lease.
func (d *Driver) leader(ctx context.Context) (leader, error) {
	ctx, cancel := context.WithTimeout(ctx, d.opt.Timeout)
	defer cancel()
	l, err := d.client.CoordinationV1().Leases(d.opt.Lease.Namespace).Get(ctx, d.opt.Lease.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return leader{}, fmt.Errorf("%w: lease %s is no more", adapters.ErrFenced, d.opt.Lease.Name)
	}
	if err != nil {
		return leader{}, failed("lease "+d.opt.Lease.Name, err)
	}
	out := leader{epoch: transitions(l), lease: l.UID}
	if l.Spec.HolderIdentity != nil {
		out.holder = *l.Spec.HolderIdentity
	}
	return out, nil
}

// asking shares answers among those who ask: each has one to a question that was put after it began to ask.
type asking struct {
	turn sync.Mutex // of the one whose question is under way
	mu   sync.Mutex
	next *answer // that is still to be asked for
	last seen    // that was well
	// asked is how many questions were put, and bad the number of the last that was answered by a refusal.
	asked, bad uint64
}

// seen is who led, when that was asked, and which question it was, from 1.
type seen struct {
	leader
	at time.Time
	no uint64
}

type answer struct {
	done chan struct{} // closed when it is there
	seen seen
	err  error
}

// believe keeps an answer that was well. A refusal has what was believed forgotten, and whatever was asked before it, in whichever order the answers are taken in.
func (a *asking) believe(s seen, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case errors.Is(err, adapters.ErrFenced):
		a.last, a.bad = seen{}, max(a.bad, s.no)
	case err == nil && s.no > max(a.bad, a.last.no):
		a.last = s
	}
}

// believed tells whether it was asked so recently who leads, and it was that epoch. A machine that was suspended meanwhile knows it by the time of day alone.
func (a *asking) believed(epoch uint64, most time.Duration, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	steady, day := now.Sub(a.last.at), now.Round(0).Sub(a.last.at.Round(0))
	return a.last.epoch == epoch && !a.last.at.IsZero() && min(steady, day) >= 0 && max(steady, day) < most
}

func (a *asking) ask(ctx context.Context, read func(context.Context) (leader, error)) (seen, error) {
	a.mu.Lock()
	mine, first := a.next, a.next == nil
	if first {
		mine = &answer{done: make(chan struct{})}
		a.next = mine
	}
	a.mu.Unlock()
	if !first {
		select {
		case <-mine.done:
			return mine.seen, mine.err
		case <-ctx.Done():
			return seen{}, failed("lease", ctx.Err())
		}
	}
	a.turn.Lock()
	defer a.turn.Unlock()
	a.mu.Lock()
	a.next = nil // who asks from now on needs another
	a.asked++
	mine.seen.at, mine.seen.no = time.Now(), a.asked
	a.mu.Unlock()
	mine.seen.leader, mine.err = read(ctx)
	close(mine.done)
	return mine.seen, mine.err
}

// binding is a pod to be bound.
type binding struct {
	pod  pod // as it was when that was decided; the watches go on
	node string
	err  error
}

// Start binds the gang's pods. The first is bound alone: if that is refused, nothing was done.
func (d *Driver) Start(ctx context.Context, s *adapters.Start) error {
	if !d.asking.believed(s.Epoch, d.opt.CheckLease, time.Now()) {
		if err := d.fence(ctx, s.Epoch); err != nil {
			return err
		}
	}
	bindings, attempt, err := d.model.candidates(s)
	if err != nil {
		return err
	}
	bind := func(b *binding) { b.err = d.bind(ctx, b, s.Epoch, attempt, len(bindings)) }
	bind(&bindings[0])
	if bindings[0].err == nil {
		d.each(len(bindings)-1, func(i int) { bind(&bindings[i+1]) })
	}
	d.model.bound(s.Job.Spec.ID, bindings)
	return bindings[0].err
}

// each runs f for 0 to n-1, several at a time, of all gangs together.
func (d *Driver) each(n int, f func(int)) {
	var all sync.WaitGroup
	for i := range n {
		d.slots <- struct{}{}
		all.Go(func() {
			defer func() { <-d.slots }()
			f(i)
		})
	}
	all.Wait()
}

// candidates are the pods to be bound, each with its node, if the job is as it was when that was decided.
func (m *model) candidates(s *adapters.Start) ([]binding, int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	g, err := m.current(s.Job)
	if err != nil {
		return nil, 0, err
	}
	now, _ := m.job(g, time.Now(), false)
	if len(now.Tasks) > 0 || now.Over || now.Problem != nil || now.Spec.Tasks != s.Job.Spec.Tasks {
		return nil, 0, fmt.Errorf("%w: job %q has %d tasks, or cannot be started any more", adapters.ErrStale, g.id, len(now.Tasks))
	}
	b := m.batchOf(g.id)
	var bindings []binding
	for _, p := range g.pods {
		if p.ready() && (b == nil || p.owner == b.uid) {
			bindings = append(bindings, binding{pod: *p})
		}
	}
	slices.SortFunc(bindings, func(a, b binding) int {
		return cmp.Or(cmp.Compare(a.pod.index, b.pod.index), strings.Compare(a.pod.name, b.pod.name))
	})
	k := 0
	for _, nt := range s.Nodes {
		for range nt.Tasks {
			if k < len(bindings) {
				bindings[k].node = nt.Node
			}
			k++
		}
	}
	if k != len(bindings) {
		return nil, 0, fmt.Errorf("%w: job %q has %d pods to be bound, the plan %d tasks", adapters.ErrStale, g.id, len(bindings), k)
	}
	return bindings, now.Attempt + 1, nil
}

// current finds the job that an action is about, unless it has changed since that was decided.
func (m *model) current(j *adapters.Job) (*gang, error) {
	g := m.gangs[j.Spec.ID]
	switch {
	case g == nil || g.told != j.UID:
		return nil, fmt.Errorf("%w: job %q (%s) is gone", adapters.ErrStale, j.Spec.ID, j.UID)
	case g.version != j.Version:
		return nil, fmt.Errorf("%w: job %q is at version %d, not %d", adapters.ErrStale, j.Spec.ID, g.version, j.Version)
	}
	if now, ok := m.job(g, time.Now(), false); !ok || now.UID != j.UID {
		return nil, fmt.Errorf("%w: job %q (%s) is gone", adapters.ErrStale, j.Spec.ID, j.UID)
	}
	return g, nil
}

// bound lays what was done over what the watches tell, which may lag behind it.
func (m *model) bound(id string, done []binding) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range done {
		p := m.pods[done[i].pod.uid]
		if p == nil || done[i].err != nil || done[i].node == "" {
			continue
		}
		m.detach(p)
		p.bound = done[i].node
		if g := m.gangs[p.gang]; g != nil {
			g.note = nil // a note that is still to be written would be wrong
		}
		m.attach(p)
	}
	m.acted(id)
}

// acted has the job be another version than the one that an action was decided on.
func (m *model) acted(id string) {
	if g := m.gangs[id]; g != nil {
		g.version++ // what the server made of it is newer than all that was known
		m.dirtyGangs[id] = true
	}
}

// bind binds one pod, on condition that it is as it was seen. A change that does not matter, as of a condition, has it tried again.
func (d *Driver) bind(ctx context.Context, b *binding, epoch uint64, attempt, size int) error {
	ctx, cancel := context.WithTimeout(ctx, d.opt.Timeout)
	defer cancel()
	p := &b.pod
	client := d.client.CoreV1().Pods(p.namespace)
	marks := map[string]string{
		epochAnnotation: strconv.FormatUint(epoch, 10), attemptAnnotation: strconv.Itoa(attempt), sizeAnnotation: strconv.Itoa(size),
	}
	revision, what := p.revision, "pod "+p.namespace+"/"+p.name
	for tries := 0; ; tries++ {
		err := client.Bind(ctx, &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: p.name, UID: p.uid, ResourceVersion: revision, Annotations: marks},
			Target:     corev1.ObjectReference{Kind: "Node", Name: b.node},
		}, metav1.CreateOptions{})
		if !apierrors.IsConflict(err) || tries == 3 {
			if err != nil {
				err = failed(what, err)
			}
			return err
		}
		now, err := client.Get(ctx, p.name, metav1.GetOptions{})
		if err != nil {
			return failed(what, err)
		}
		if now.UID != p.uid || now.Spec.NodeName != "" || now.DeletionTimestamp != nil || now.Annotations[fenceAnnotation] != p.fence ||
			!shapeOf(&now.ObjectMeta, &now.Spec).alike(p.shape) {
			return fmt.Errorf("%w: %s is not as it was", adapters.ErrStale, what)
		}
		revision = now.ResourceVersion
	}
}

// Stop evicts the job's pods, by what the server says of them now. Those on nodes that are lost are deleted, as nobody there would do so.
func (d *Driver) Stop(ctx context.Context, s *adapters.Stop) error {
	if err := d.fence(ctx, s.Epoch); err != nil {
		return err
	}
	d.model.mu.Lock()
	g, err := d.model.current(s.Job)
	d.model.mu.Unlock()
	if err != nil {
		return err
	}
	bindings, err := d.live(ctx, g.id, s)
	if err != nil {
		return err
	}
	if err := d.keepWork(ctx, g.id, s, time.Now()); err != nil {
		return err
	}
	done, err := d.evictAll(ctx, bindings, s)
	if err == nil && s.Cause != adapters.CauseOver {
		err = d.clear(ctx, g.id, done, s)
	}
	d.model.stopped(g.id, done)
	d.writer.stopped(s, done)
	return err
}

// ending is what became of a pod that was to stop.
type ending struct {
	pod     *corev1.Pod // as it was read last
	evicted bool
	err     error
}

// evictAll stops what runs. The first is stopped alone: if that is refused, nothing was done. Once one was stopped, the job is; others are tried again later.
func (d *Driver) evictAll(ctx context.Context, bindings []corev1.Pod, s *adapters.Stop) ([]ending, error) {
	done := make([]ending, len(bindings))
	k, did := 0, false
	for ; k < len(bindings) && !did; k++ {
		done[k] = d.end(ctx, &bindings[k], s)
		if done[k].err != nil {
			return done[:k], done[k].err
		}
		did = done[k].evicted
	}
	d.each(len(bindings)-k, func(i int) { done[k+i] = d.end(ctx, &bindings[k+i], s) })
	return done, nil
}

// clear marks pods that have ended as of an attempt that is over, unless all have done their work.
func (d *Driver) clear(ctx context.Context, id string, done []ending, s *adapters.Stop) error {
	finished, others := 0, 0
	var bindings []*ending
	for i := range done {
		e := &done[i]
		switch {
		case e.err != nil || !terminal(e.pod) || e.pod.Spec.NodeName == "" || e.pod.Annotations[clearedAnnotation] != "":
			if e.evicted || e.err != nil {
				others++
			}
			continue
		case e.pod.Status.Phase == corev1.PodSucceeded:
			finished++
		default:
			others++
		}
		bindings = append(bindings, e)
	}
	if finished == s.Job.Spec.Tasks && others == 0 {
		return fmt.Errorf("%w: job %q has finished", adapters.ErrStale, id)
	}
	d.each(len(bindings), func(i int) {
		p := bindings[i].pod
		bindings[i].err = d.mark(ctx, p, "", map[string]string{clearedAnnotation: "true"})
	})
	for _, e := range bindings {
		if e.err != nil {
			return failed("pod "+e.pod.Namespace+"/"+e.pod.Name, e.err)
		}
	}
	return nil
}

func terminal(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

// mark writes annotations on a pod; one that is no more needs none.
func (d *Driver) mark(ctx context.Context, p *corev1.Pod, revision string, annotations map[string]string) error {
	ctx, cancel := context.WithTimeout(ctx, d.opt.Timeout)
	defer cancel()
	patch, err := annotate(p.UID, revision, annotations)
	if err == nil {
		_, err = d.client.CoreV1().Pods(p.Namespace).Patch(ctx, p.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	}
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// live reads the job's pods from the server.
func (d *Driver) live(ctx context.Context, id string, s *adapters.Stop) ([]corev1.Pod, error) {
	ctx, cancel := context.WithTimeout(ctx, d.opt.Timeout)
	defer cancel()
	namespace, rest, _ := strings.Cut(id, "/")
	sort, name, _ := strings.Cut(rest, "/")
	client := d.client.CoreV1().Pods(namespace)
	var found []corev1.Pod
	switch sort {
	case "pod":
		p, err := client.Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("%w: job %q is gone", adapters.ErrStale, id)
		}
		if err != nil {
			return nil, failed("job "+id, err)
		}
		found = []corev1.Pod{*p}
	default:
		list, err := client.List(ctx, metav1.ListOptions{LabelSelector: d.model.commonLabel(id)})
		if err != nil {
			return nil, failed("job "+id, err)
		}
		found = list.Items
	}
	found = slices.DeleteFunc(found, func(p corev1.Pod) bool { return !d.model.isOf(&p, id) })
	later := func(p corev1.Pod) bool { return number(p.Annotations[epochAnnotation]) > s.Epoch }
	if slices.ContainsFunc(found, later) {
		// A later instance has bound it, or somebody has written an epoch on it. That the lease alone can tell: it was that instance's before the pod was.
		if err := d.fence(ctx, s.Epoch); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// commonLabel is a label selector that finds the gang's pods, and perhaps others: all where the gang is named by annotations.
func (m *model) commonLabel(id string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if b := m.batchOf(id); b != nil {
		return batchv1.JobNameLabel + "=" + b.name
	}
	if g := m.gangs[id]; g != nil {
		for _, p := range g.pods {
			return p.label
		}
	}
	return ""
}

func (m *model) isOf(p *corev1.Pod, id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return p.Spec.SchedulerName == m.opt.SchedulerName && m.gangID(p, &pod{group: first(&p.ObjectMeta, groupLabels())}) == id
}

// annotate is a patch of annotations, on condition of the UID and, if it is given, of the version.
func annotate(uid types.UID, revision string, annotations map[string]string) ([]byte, error) {
	meta := map[string]any{"uid": uid, "annotations": annotations}
	if revision != "" {
		meta["resourceVersion"] = revision
	}
	return json.Marshal(map[string]any{"metadata": meta})
}

// end stops one pod, or has an earlier start of it take no effect.
func (d *Driver) end(ctx context.Context, p *corev1.Pod, s *adapters.Stop) ending {
	ctx, cancel := context.WithTimeout(ctx, d.opt.Timeout)
	defer cancel()
	for tries := 0; ; tries++ {
		did, err := d.endOnce(ctx, p, s)
		if !apierrors.IsConflict(err) || tries == 5 {
			if apierrors.IsNotFound(err) {
				err = nil
			}
			if err != nil {
				err = failed("pod "+p.Namespace+"/"+p.Name, err)
			}
			return ending{p, did && err == nil, err}
		}
		now, err := d.client.CoreV1().Pods(p.Namespace).Get(ctx, p.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) || err == nil && now.UID != p.UID {
			return ending{pod: p}
		}
		if err != nil {
			return ending{pod: p, err: failed("pod "+p.Namespace+"/"+p.Name, err)}
		}
		p = now
	}
}

func (d *Driver) endOnce(ctx context.Context, p *corev1.Pod, s *adapters.Stop) (bool, error) {
	lost := slices.ContainsFunc(s.Job.Tasks, func(t adapters.Task) bool { return t.State == adapters.Lost && t.Node == p.Spec.NodeName })
	switch {
	case terminal(p), p.DeletionTimestamp != nil && !lost:
		return false, nil
	case p.Spec.NodeName == "" && len(s.Job.Tasks) < s.Job.Spec.Tasks:
		return false, d.mark(ctx, p, p.ResourceVersion, map[string]string{fenceAnnotation: strconv.FormatUint(s.Epoch, 10) + "." + p.ResourceVersion})
	case p.Spec.NodeName == "": // it was not part of the attempt
		return false, nil
	case lost:
		// It has failed, as the node will never say: the Job controller does not let go of a pod before.
		failed := []byte(`{"metadata":{"uid":"` + string(p.UID) + `"},"status":{"phase":"Failed","reason":"NodeLost","conditions":[` +
			`{"type":"DisruptionTarget","status":"True","reason":"DeletionByHedge","message":"its node is lost"}]}}`)
		if _, err := d.client.CoreV1().Pods(p.Namespace).Patch(ctx, p.Name, types.StrategicMergePatchType, failed, metav1.PatchOptions{}, "status"); err != nil {
			return false, err
		}
		zero := int64(0)
		return true, d.client.CoreV1().Pods(p.Namespace).Delete(ctx, p.Name,
			metav1.DeleteOptions{GracePeriodSeconds: &zero, Preconditions: &metav1.Preconditions{UID: &p.UID}})
	}
	return true, d.client.PolicyV1().Evictions(p.Namespace).Evict(ctx, &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Name: p.Name, Namespace: p.Namespace},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &p.UID, ResourceVersion: &p.ResourceVersion}},
	})
}

// stopped lays what was done over what the watches tell.
func (m *model) stopped(id string, done []ending) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range done {
		if p := m.pods[done[i].pod.UID]; p != nil && done[i].evicted {
			p.evicted = true
		}
	}
	m.acted(id)
}
