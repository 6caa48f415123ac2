package kubernetes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
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

var (
	// errEarly means that it is too early to write a note.
	errEarly = errors.New("kubernetes: it is too early for a note")
	// errFull means that a note cannot be accepted, since too many wait to be written.
	errFull = errors.New("kubernetes: too many notes wait to be written")
)

const (
	// settle is how long a gang may wait for its pods before its user is told.
	settle = 30 * time.Second
	// longest is the maximum length of a written reason.
	longest = 1000
	// The actions of events.
	actionWaits, actionStops = "Wait", "Stop"
	// conditions is the maximum number of pods per gang whose condition is set.
	conditions = 100
	// rewrite is the wait before a failed write is tried again.
	rewrite = 2 * time.Second
)

// Explain writes why the job waits: as an event of the job, and as the condition PodScheduled of its pods, including
// pods that are created later. It does so in the background, and tries again if that fails, until the job has another
// note or is started. While too many notes wait to be written, it returns an error.
func (d *Driver) Explain(_ context.Context, n *adapters.Note) error {
	d.model.mu.Lock()
	defer d.model.mu.Unlock()
	g := d.model.gangs[n.Job.Spec.ID]
	if g == nil || g.shownUID != n.Job.UID {
		return nil
	}
	if (errors.Is(n.Err, adapters.ErrIncomplete) || errors.Is(n.Err, errUnbound)) &&
		time.Since(n.Job.Spec.Submitted) < settle {
		return errEarly
	}
	said := d.model.say(n)
	w := &words{gang: g, about: d.model.subject(g), kind: corev1.EventTypeNormal, reason: camel(string(n.Reason.Code)),
		text: said.text, why: said.why, action: actionWaits}
	var hint *HintError
	switch {
	case said.never:
		w.kind = corev1.EventTypeWarning
	case errors.As(n.Err, &hint):
		w.kind, w.reason = corev1.EventTypeWarning, "InvalidHint"
	case errors.Is(n.Err, adapters.ErrIncomplete):
		w.reason = "WaitsForPods"
	case n.Err != nil:
		w.kind, w.reason = corev1.EventTypeWarning, "NotStarted"
	}
	if !d.writer.add(w) {
		return errFull
	}
	g.note = w
	return nil
}

// unwritten are the current notes of the view's jobs that some new pods do not have yet.
func (m *model) unwritten(v *adapters.View) []*words {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []*words
	for i := range v.Jobs {
		g := m.gangs[v.Jobs[i].Spec.ID]
		if g == nil || g.note == nil {
			continue
		}
		if len(v.Jobs[i].Tasks) > 0 || v.Jobs[i].Over {
			g.note = nil // it no longer waits
		} else if len(g.lacking(g.note)) > 0 {
			out = append(out, g.note)
		}
	}
	return out
}

// lacking are the waiting pods that should have the note and do not.
func (g *gang) lacking(x *words) []podName {
	var out []podName
	with := 0
	for _, p := range g.pods {
		switch {
		case !p.ready():
		case p.conditionNote == x, p.conditionSum == x.sum:
			with++
		default:
			out = append(out, podName{p.namespace, p.name, p.revision, p.uid})
		}
	}
	slices.SortFunc(out, func(a, b podName) int { return strings.Compare(a.name, b.name) })
	return out[:max(0, min(len(out), conditions-with))]
}

// due reports whether the note is still current, and which pods lack it. If pods already say it, no event is needed. If
// no pod can say it, the event's name identifies it.
func (m *model) due(x *words) ([]podName, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if x.gang.note != x {
		return nil, false
	}
	said, some := x.gang.conditions(x)
	x.eventWritten, x.noCondition, x.changed = x.eventWritten || said, !some,
		x.gang.eventSum != 0 && x.gang.eventSum != x.sum
	if x.eventWritten {
		x.gang.eventSum = x.sum
	}
	return x.gang.lacking(x), true
}

// eventWritten records that an event has the note.
func (m *model) eventWritten(x *words) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if x.gang != nil {
		x.gang.eventSum = x.sum
	}
}

// conditionWritten records that the pod's condition has the note.
func (m *model) conditionWritten(uid types.UID, x *words) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p := m.pods[uid]; p != nil {
		p.conditionNote, p.conditionSum = x, x.sum
	}
}

// conditions reports whether the condition of a waiting pod already says it, written by this or another instance, and
// whether there are such conditions at all.
func (g *gang) conditions(x *words) (said, some bool) {
	for _, p := range g.pods {
		if p.ready() {
			some = true
			said = said || p.conditionSum == x.sum
		}
	}
	return said, some
}

// checksum identifies a text. It is never 0.
func checksum(parts ...string) uint64 {
	h := fnv.New64a()
	for _, p := range parts {
		fmt.Fprintf(h, "%q", p)
	}
	return max(1, h.Sum64())
}

// subject is the object of the job's events: its Job, or one of its pods.
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

// camel converts a reason to the spelling of Kubernetes.
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

// words is a note: an event and, if the job waits, a condition of its pods. A note goes through these states:
//
//	state           meaning                                     next step
//	queued          it is gang.note and is in writer.queue      write makes the event, unless a condition already
//	                                                            says the same
//	event written   eventWritten is set, gang.eventSum is its   write sets the condition of each pod in gang.lacking
//	                sum
//	conditions set  each of these pods has it as conditionNote  unwritten queues it again once there are pods that
//	                                                            lack it
//	failed          the server has refused an event or a        tried again after every rewrite, from where it was
//	                condition
//	over            gang.note is another, or nil since the job  due says so, and nothing more of it is written
//	                was started
//
// An event alone, such as that of a stop, has no gang and no conditions. It is given up after some tries.
type words struct {
	gang               *gang // nil for an event alone
	about              corev1.ObjectReference
	kind, reason, text string
	action             string
	why                string // identifies the part that depends on the nodes

	sum          uint64 // of the text
	noCondition  bool   // no waiting pod's condition can say it
	changed      bool   // this instance has written another note of the job before
	eventWritten bool   // or can never be; only the writer uses it
	tries        int
}

// writer writes words in the background, one at a time.
type writer struct {
	client  kubernetes.Interface
	opt     Options
	model   *model
	queue   chan *words
	dropped atomic.Uint64
}

func newWriter(client kubernetes.Interface, o Options, m *model) *writer {
	return &writer{client: client, opt: o, model: m, queue: make(chan *words, o.Events)}
}

// add queues words without blocking. It reports whether there was room.
func (w *writer) add(x *words) bool {
	if len(x.text) > longest {
		x.text = strings.ToValidUTF8(x.text[:longest], "")
	}
	if x.sum == 0 {
		x.sum = checksum(x.text)
	}
	select {
	case w.queue <- x:
		return true
	default:
		return false
	}
}

// stopped writes an event about a stopped job.
func (w *writer) stopped(s *adapters.Stop, done []ending) {
	for i := range done {
		if p := done[i].pod; done[i].evicted {
			text := fmt.Sprintf("%s: %s", s.Cause, s.Reason.String())
			if s.Reason.Code == "" {
				text = string(s.Cause)
			}
			if !w.add(&words{
				about: corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: p.Namespace, Name: p.Name, UID: p.UID},
				kind:  corev1.EventTypeNormal, reason: camel(string(s.Cause)), text: text, action: actionStops,
			}) {
				w.dropped.Add(1)
			}
			return // one pod speaks for the gang
		}
	}
}

func (w *writer) run(ctx context.Context) {
	again := time.NewTicker(rewrite)
	defer again.Stop()
	var failed []*words
	for {
		select {
		case <-ctx.Done():
			return
		case x := <-w.queue:
			if !w.write(ctx, x) && !slices.Contains(failed, x) {
				failed = append(failed, x)
			}
		case <-again.C:
			tried := failed
			failed = nil
			for _, x := range tried {
				if !w.write(ctx, x) {
					failed = append(failed, x)
				}
			}
		}
		for len(failed) > w.opt.Events {
			failed = failed[1:]
			w.dropped.Add(1)
		}
	}
}

// patient is the number of tries for an event that is not of a current note.
const patient = 5

// write writes what is missing, and reports whether everything is written.
func (w *writer) write(ctx context.Context, x *words) bool {
	var some []podName
	if x.gang != nil {
		var stands bool
		if some, stands = w.model.due(x); !stands {
			return true
		}
	}
	if !x.eventWritten {
		err := w.event(ctx, x)
		x.tries++
		if x.eventWritten = err == nil || final(err) || x.gang == nil && x.tries >= patient; !x.eventWritten {
			return false
		}
		if w.model.eventWritten(x); err != nil {
			w.dropped.Add(1)
		}
	}
	all := true
	for _, p := range some {
		switch err := w.condition(ctx, &p, x); {
		case err == nil, apierrors.IsNotFound(err):
			w.model.conditionWritten(p.uid, x)
		case final(err):
			w.model.conditionWritten(p.uid, x)
			w.dropped.Add(1)
		case apierrors.IsConflict(err):
			all = false // the pod has changed: the watch will show how
		default:
			return false
		}
	}
	return all
}

// final reports whether the server would refuse every further try, too.
func final(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) ||
		apierrors.IsNotFound(err) || apierrors.IsRequestEntityTooLargeError(err)
}

func (w *writer) event(ctx context.Context, x *words) error {
	if x.about.Name == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, w.opt.Timeout)
	defer cancel()
	now := metav1.Now()
	event := &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{GenerateName: x.about.Name + ".", Namespace: x.about.Namespace},
		InvolvedObject: x.about, Type: x.kind, Reason: x.reason, Action: x.action, Message: x.text, FirstTimestamp: now,
		LastTimestamp: now, Count: 1,
		Source: corev1.EventSource{Component: w.opt.SchedulerName},
	}
	create := func() error {
		_, err := w.client.CoreV1().Events(x.about.Namespace).Create(ctx, event, metav1.CreateOptions{})
		return err
	}
	if !x.noCondition {
		return create()
	}
	generate := event.GenerateName
	base := strings.TrimRight(x.about.Name[:min(len(x.about.Name), 200)], ".-")
	event.GenerateName, event.Name = "", fmt.Sprintf("%s.%016x", base, checksum(string(x.about.UID), x.reason, x.text))
	err := create()
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	if !x.changed {
		return nil // the previous instance has written it
	}
	event.GenerateName, event.Name = generate, "" // this reason has come back after another one
	return create()
}

// condition sets a pod's condition: it is not scheduled, and why.
func (w *writer) condition(ctx context.Context, p *podName, x *words) error {
	patch, err := json.Marshal(map[string]any{
		// the patch fails if the pod has been bound meanwhile
		"metadata": map[string]any{"uid": p.uid, "resourceVersion": p.revision},
		"status": map[string]any{"conditions": []map[string]any{{
			"type": corev1.PodScheduled, "status": corev1.ConditionFalse, "reason": corev1.PodReasonUnschedulable,
			"message": x.text, "lastTransitionTime": metav1.Now(),
		}}},
	})
	if err != nil {
		return err
	}
	return w.patch(ctx, p, patch)
}

func (w *writer) patch(ctx context.Context, p *podName, patch []byte) error {
	ctx, cancel := context.WithTimeout(ctx, w.opt.Timeout)
	defer cancel()
	_, err := w.client.CoreV1().Pods(p.namespace).Patch(ctx, p.name, types.StrategicMergePatchType, patch,
		metav1.PatchOptions{}, "status")
	return err
}
