package kubernetes

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hedgesched/hedge/adapters"
)

// binding is a pod to bind.
type binding struct {
	pod  pod // as it was at the decision; the watches go on
	node string
	err  error
}

// Start binds the gang's pods. It binds the first one alone: if that is refused, nothing was done.
func (d *Driver) Start(ctx context.Context, s *adapters.Start) error {
	if err := d.fenceStart(ctx, s.Epoch); err != nil {
		return err
	}
	bindings, attempt, err := d.model.candidates(s)
	if err != nil {
		return err
	}
	bind := func(b *binding) { b.err = d.bind(ctx, b, s, attempt, len(bindings)) }
	done := bindings[:1]
	if bind(&bindings[0]); bindings[0].err == nil {
		d.each(len(bindings)-1, func(i int) { bind(&bindings[i+1]) })
		done = bindings
	}
	d.model.bound(s.Job.Spec.ID, done)
	return bindings[0].err
}

// each calls f for 0 to n-1, several at a time. The limit is for all gangs together.
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

// candidates are the pods to bind and their nodes, if the job is as it was at the decision. It also returns the number
// of the attempt.
func (m *model) candidates(s *adapters.Start) ([]binding, int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	g, err := m.current(s.Job)
	if err != nil {
		return nil, 0, err
	}
	now, _ := m.job(g, time.Now(), false)
	if len(now.Tasks) > 0 || now.Over || now.Problem != nil || now.Spec.Tasks != s.Job.Spec.Tasks {
		return nil, 0,
			fmt.Errorf("%w: job %q has %d tasks, or can no longer be started", adapters.ErrStale, g.id, len(now.Tasks))
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
		return nil, 0,
			fmt.Errorf("%w: job %q has %d pods to be bound, the plan %d tasks", adapters.ErrStale, g.id, len(bindings), k)
	}
	return bindings, now.Attempt + 1, nil
}

// current finds the job of an action, unless it has changed since the decision.
func (m *model) current(j *adapters.Job) (*gang, error) {
	g := m.gangs[j.Spec.ID]
	switch {
	case g == nil || g.shownUID != j.UID:
		return nil, fmt.Errorf("%w: job %q (%s) is gone", adapters.ErrStale, j.Spec.ID, j.UID)
	case g.version != j.Version:
		return nil, fmt.Errorf("%w: job %q is at version %d, not %d", adapters.ErrStale, j.Spec.ID, g.version, j.Version)
	}
	if now, ok := m.job(g, time.Now(), false); !ok || now.UID != j.UID {
		return nil, fmt.Errorf("%w: job %q (%s) is gone", adapters.ErrStale, j.Spec.ID, j.UID)
	}
	return g, nil
}

// bound applies what was done to the model, since the watches may lag behind.
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
		if now := done[i].pod.shape; now != p.shape { // it was resized
			p.shape, p.request = now, now.request
		}
		if g := m.gangs[p.gang]; g != nil {
			g.note = nil // the note would be wrong
		}
		m.attach(p)
	}
	m.acted(id)
}

// acted gives the job another version than the one that an action was decided on.
func (m *model) acted(id string) {
	if g := m.gangs[id]; g != nil {
		g.version++ // the server's new version is higher than all known ones
		m.dirtyGangs[id] = true
	}
}

// bind resizes one pod, if that was decided, and binds it, on condition that it is unchanged. After a change that does
// not matter, for example of a condition, it tries again.
func (d *Driver) bind(ctx context.Context, b *binding, s *adapters.Start, attempt, size int) error {
	ctx, cancel := context.WithTimeout(ctx, d.opt.Timeout)
	defer cancel()
	p := &b.pod
	client := d.client.CoreV1().Pods(p.namespace)
	marks := map[string]string{
		epochAnnotation: strconv.FormatUint(s.Epoch, 10), attemptAnnotation: strconv.Itoa(attempt),
		sizeAnnotation: strconv.Itoa(size),
	}
	revision, what := p.revision, "pod "+p.namespace+"/"+p.name
	resize := s.Size
	for tries := 0; ; tries++ {
		var err error
		if revision, err = d.resize(ctx, p, revision, resize); err == nil {
			resize = nil // it is done
			err = client.Bind(ctx, &corev1.Binding{
				ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: p.name, UID: p.uid, ResourceVersion: revision,
					Annotations: marks},
				Target: corev1.ObjectReference{Kind: "Node", Name: b.node},
			}, metav1.CreateOptions{})
		}
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
		if now.UID != p.uid || now.Spec.NodeName != "" || now.DeletionTimestamp != nil ||
			now.Annotations[fenceAnnotation] != p.fence ||
			!shapeOf(&now.ObjectMeta, &now.Spec).alike(p.shape) {
			return fmt.Errorf("%w: %s has changed", adapters.ErrStale, what)
		}
		revision = now.ResourceVersion
	}
}
