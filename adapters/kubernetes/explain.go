package kubernetes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/hedgesched/hedge/adapters"
)

// errEarly is a note that is not worth writing yet.
var errEarly = errors.New("kubernetes: the pods may yet come")

const (
	// settle is how long the pods of a gang may take to come before its user is told.
	settle = 30 * time.Second
	// longest is how much of a reason is written.
	longest = 1000
	// What hedge does to what an event is about.
	actionWaits, actionStops = "Wait", "Stop"
	// conditions is of how many pods of a gang the condition is set.
	conditions = 100
)

// Explain writes why the job waits: as an event of the job and as the condition PodScheduled of its pods. It does so in the background.
func (d *Driver) Explain(_ context.Context, n *adapters.Note) error {
	d.model.mu.Lock()
	defer d.model.mu.Unlock()
	g := d.model.gangs[n.Job.Spec.ID]
	if g == nil || g.told != n.Job.UID {
		return nil
	}
	if (errors.Is(n.Err, errWaits) || errors.Is(n.Err, errUnbound)) && time.Since(n.Job.Spec.Submitted) < settle {
		return errEarly
	}
	w := &words{about: d.model.subject(g), kind: corev1.EventTypeNormal, reason: camel(string(n.Reason.Code)), text: n.String(), action: actionWaits}
	var hint *HintError
	switch {
	case errors.As(n.Err, &hint):
		w.kind, w.reason = corev1.EventTypeWarning, "InvalidHint"
	case errors.Is(n.Err, errWaits):
		w.reason = "WaitsForPods"
	case n.Err != nil:
		w.kind, w.reason = corev1.EventTypeWarning, "NotStarted"
	}
	for _, p := range g.pods {
		if p.ready() && len(w.pods) < conditions {
			w.pods = append(w.pods, podName{p.namespace, p.name, p.revision, p.uid})
		}
	}
	d.writer.add(w)
	return nil
}

// subject is what events of the job are about: its Job, or one of its pods.
func (m *model) subject(g *gang) corev1.ObjectReference {
	if b := m.batchOf(g.id); b != nil {
		return corev1.ObjectReference{APIVersion: "batch/v1", Kind: "Job", Namespace: b.namespace, Name: b.name, UID: b.uid}
	}
	var best *pod
	for _, p := range g.pods {
		if best == nil || p.name < best.name {
			best = p
		}
	}
	if best == nil {
		return corev1.ObjectReference{}
	}
	return corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: best.namespace, Name: best.name, UID: best.uid}
}

// camel is a reason as Kubernetes writes them.
func camel(code string) string {
	var b strings.Builder
	for part := range strings.FieldsFuncSeq(code, func(r rune) bool { return r == '-' || r == '_' || r == ' ' }) {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	if b.Len() == 0 {
		return "Waits"
	}
	return b.String()
}

type podName struct {
	namespace, name, revision string
	uid                       types.UID
}

// words are an event and, perhaps, a condition of pods.
type words struct {
	about              corev1.ObjectReference
	kind, reason, text string
	action             string
	pods               []podName
}

// writer writes words, one after the other, in the background.
type writer struct {
	client  kubernetes.Interface
	opt     Options
	queue   chan *words
	dropped atomic.Uint64
}

func newWriter(client kubernetes.Interface, o Options) *writer {
	return &writer{client: client, opt: o, queue: make(chan *words, o.Events)}
}

// add never waits.
func (w *writer) add(x *words) {
	if len(x.text) > longest {
		x.text = strings.ToValidUTF8(x.text[:longest], "")
	}
	select {
	case w.queue <- x:
	default:
		w.dropped.Add(1)
	}
}

// stopped tells of a job that was stopped.
func (w *writer) stopped(s *adapters.Stop, done []ending) {
	for i := range done {
		if p := done[i].pod; done[i].evicted {
			text := fmt.Sprintf("%s: %s", s.Cause, s.Reason.String())
			if s.Reason.Code == "" {
				text = string(s.Cause)
			}
			w.add(&words{
				about: corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: p.Namespace, Name: p.Name, UID: p.UID},
				kind:  corev1.EventTypeNormal, reason: camel(string(s.Cause)), text: text, action: actionStops,
			})
			return // one pod speaks for the gang
		}
	}
}

func (w *writer) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case x := <-w.queue:
			if err := errors.Join(w.event(ctx, x), w.condition(ctx, x)); err != nil {
				w.dropped.Add(1)
			}
		}
	}
}

func (w *writer) event(ctx context.Context, x *words) error {
	if x.about.Name == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, w.opt.Timeout)
	defer cancel()
	now := metav1.Now()
	_, err := w.client.CoreV1().Events(x.about.Namespace).Create(ctx, &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{GenerateName: x.about.Name + ".", Namespace: x.about.Namespace},
		InvolvedObject: x.about, Type: x.kind, Reason: x.reason, Action: x.action, Message: x.text, FirstTimestamp: now, LastTimestamp: now, Count: 1,
		Source: corev1.EventSource{Component: w.opt.SchedulerName},
	}, metav1.CreateOptions{})
	return err
}

// condition says on the pods that they are not scheduled, and why.
func (w *writer) condition(ctx context.Context, x *words) error {
	var errs []error
	for _, p := range x.pods {
		patch, err := json.Marshal(map[string]any{
			"metadata": map[string]any{"uid": p.uid, "resourceVersion": p.revision}, // it may be bound by now
			"status": map[string]any{"conditions": []map[string]any{{
				"type": corev1.PodScheduled, "status": corev1.ConditionFalse, "reason": corev1.PodReasonUnschedulable, "message": x.text, "lastTransitionTime": metav1.Now(),
			}}},
		})
		if err == nil {
			err = w.patch(ctx, &p, patch)
		}
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (w *writer) patch(ctx context.Context, p *podName, patch []byte) error {
	ctx, cancel := context.WithTimeout(ctx, w.opt.Timeout)
	defer cancel()
	_, err := w.client.CoreV1().Pods(p.namespace).Patch(ctx, p.name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}
