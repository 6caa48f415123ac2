package kubernetes

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hedgesched/hedge/adapters"
)

// Stop evicts the job's pods, as the server shows them now. Pods on lost nodes are deleted, since nothing on the node
// would do so.
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

// ending is the outcome for a pod that was to stop.
type ending struct {
	pod     *corev1.Pod // as last read
	evicted bool
	err     error
}

// evictAll stops the pods. It stops the first one alone: if that is refused, nothing was done. Once one pod was
// stopped, the job counts as stopped; the others are tried again later.
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

// clear marks ended pods as belonging to an attempt that is over, unless all of them have done their work.
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

// mark writes annotations on a pod, if the pod still exists. It uses the pod's status, so the driver needs no right to
// change what pods run.
func (d *Driver) mark(ctx context.Context, p *corev1.Pod, revision string, annotations map[string]string) error {
	ctx, cancel := context.WithTimeout(ctx, d.opt.Timeout)
	defer cancel()
	patch, err := annotate(p.UID, revision, annotations)
	if err == nil {
		_, err = d.client.CoreV1().Pods(p.Namespace).Patch(ctx, p.Name, types.MergePatchType, patch, metav1.PatchOptions{},
			"status")
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
		// A later instance has bound the pod, or somebody has written an epoch on it. Only the lease can tell: a later
		// instance held it before it bound the pod.
		if err := d.fence(ctx, s.Epoch); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// commonLabel is a label selector that finds the gang's pods, and perhaps others. It finds all pods if annotations name
// the gang.
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
	return p.Spec.SchedulerName == m.opt.SchedulerName &&
		m.gangID(p, &pod{group: first(&p.ObjectMeta, groupLabels())}) == id
}

// annotate is a patch of annotations, conditional on the UID and, if given, on the version.
func annotate(uid types.UID, revision string, annotations map[string]string) ([]byte, error) {
	meta := map[string]any{"uid": uid, "annotations": annotations}
	if revision != "" {
		meta["resourceVersion"] = revision
	}
	return json.Marshal(map[string]any{"metadata": meta})
}

// end stops one pod, or prevents an earlier start of it from taking effect.
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
	lost := slices.ContainsFunc(s.Job.Tasks, func(t adapters.Task) bool {
		return t.State == adapters.Lost && t.Node == p.Spec.NodeName
	})
	switch {
	case terminal(p), p.DeletionTimestamp != nil && !lost:
		return false, nil
	case p.Spec.NodeName == "" && len(s.Job.Tasks) < s.Job.Spec.Tasks:
		return false, d.mark(ctx, p, p.ResourceVersion, map[string]string{
			fenceAnnotation: strconv.FormatUint(s.Epoch, 10) + "." + p.ResourceVersion})
	case p.Spec.NodeName == "": // it was not part of the attempt
		return false, nil
	case lost:
		// The pod is marked as failed, as its node will never do so. The Job controller keeps the pod until then.
		failed := []byte(`{"metadata":{"uid":"` + string(p.UID) +
			`"},"status":{"phase":"Failed","reason":"NodeLost","conditions":[` +
			`{"type":"DisruptionTarget","status":"True","reason":"DeletionByHedge","message":"its node is lost"}]}}`)
		if _, err := d.client.CoreV1().Pods(p.Namespace).Patch(ctx, p.Name, types.StrategicMergePatchType, failed,
			metav1.PatchOptions{}, "status"); err != nil {
			return false, err
		}
		zero := int64(0)
		return true, d.client.CoreV1().Pods(p.Namespace).Delete(ctx, p.Name,
			metav1.DeleteOptions{GracePeriodSeconds: &zero, Preconditions: &metav1.Preconditions{UID: &p.UID}})
	}
	return true, d.client.PolicyV1().Evictions(p.Namespace).Evict(ctx, &policyv1.Eviction{
		ObjectMeta: metav1.ObjectMeta{Name: p.Name, Namespace: p.Namespace},
		DeleteOptions: &metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: &p.UID, ResourceVersion: &p.ResourceVersion}},
	})
}

// stopped applies what was done to the model, since the watches may lag behind.
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
