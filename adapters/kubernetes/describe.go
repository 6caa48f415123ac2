package kubernetes

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
)

// describe sets the job's specification for a gang of that size.
func (m *model) describe(out *adapters.Job, g *gang, all []*pod, b *batch, owner types.UID, size int) {
	var s *shape
	var submitted time.Time
	var annotations map[string]string
	var differ error
	ownName := g.id[strings.LastIndexByte(g.id, '/')+1:]
	if b != nil {
		s, submitted, out.Done = b.shape, b.created, b.work.before(out.Tasks)
		annotations = s.annotations
	} else {
		s, submitted = all[0].shape, all[0].created
		annotations, differ = m.hintsOf(all, owner, out.Attempt)
	}
	spec := &sched.Job{ID: g.id, Tasks: size, Attributes: maps.Clone(s.attributes)}
	for _, p := range all {
		if b == nil && p.created.Before(submitted) {
			submitted = p.created
		}
	}
	pods := members(all, owner, out.Attempt, len(out.Tasks) > 0)
	ask(spec, s, pods)
	h, err := parseHints(annotations)
	spec.Utility, spec.Speeds, spec.Checkpoint, spec.Submitted = h.utility, h.speeds, h.checkpoint, submitted
	deadline, past := h.from(submitted, m.made(all, b))
	spec.Deadline, err = deadline, cmp.Or(err, past)
	spec.Attributes["namespace"] = g.id[:strings.IndexByte(g.id, '/')]
	spec.Attributes["name"] = strings.TrimRight(ownName, "-0123456789")
	spec.Attributes["user"] = cmp.Or(h.user, spec.Attributes["namespace"])
	spec.Attributes["tasks"] = strconv.Itoa(size)
	for _, name := range h.after {
		spec.After = append(spec.After, g.id[:len(g.id)-len(ownName)]+name)
	}
	if spec.Utility == nil {
		spec.Utility = adapters.DefaultUtility(spec.Deadline)
	}
	out.Spec = spec
	if out.Problem == nil {
		if out.Problem = cmp.Or(differ, err); b != nil { // the Job's pods may not exist yet
			out.Problem = cmp.Or(err, s.problem)
		}
	}
	if len(out.Tasks) == 0 {
		if len(pods) > 0 {
			s = pods[0].shape
		}
		var wrong error
		out.Resize, wrong = h.bounds(s, size, failures(all))
		out.Problem = cmp.Or(out.Problem, m.unlike(g, pods), wrong)
	}
	for _, p := range all {
		if out.Problem == nil && p.ready() {
			out.Problem = cmp.Or(p.wish(), m.unbound(p.namespace, p.shape.claims))
		}
	}
	if len(out.Tasks) > 0 {
		out.Problem = nil
	}
	out.Revision = revision(spec, annotations)
}

// made is when the job was created: its Job, or its first pod if nothing recreates it. It is zero if that is not known.
func (m *model) made(all []*pod, b *batch) time.Time {
	if b != nil {
		return b.created
	}
	var first time.Time
	for _, p := range all {
		at := p.created
		if p.owner != "" {
			b := m.controller(p)
			if b == nil {
				return time.Time{}
			}
			at = b.created
		}
		if first.IsZero() || at.Before(first) {
			first = at
		}
	}
	return first
}

// hintsOf are the annotations that count for a pod or a pod group: those of all its pods together. Not every pod needs
// a hint, but all pods that have it must agree.
func (m *model) hintsOf(all []*pod, owner types.UID, attempt int) (map[string]string, error) {
	var counting []*pod
	for _, p := range all {
		if p.owner == owner && p.counts(attempt) {
			counting = append(counting, p)
		}
	}
	switch len(counting) {
	case 0:
		return m.hints(all[0]), nil
	case 1:
		return m.hints(counting[0]), nil
	}
	var err error
	out := map[string]string{}
	for i, p := range counting {
		if i > 0 && p.shape == counting[i-1].shape {
			continue
		}
		some := m.hints(p)
		for _, name := range slices.Sorted(maps.Keys(some)) {
			value, has := out[name]
			if !has {
				out[name] = some[name]
			} else if value != some[name] && err == nil {
				err = &HintError{Annotation: name, Value: some[name],
					Want: fmt.Sprintf("%.80q, as another pod of the gang says; it is on pod %s", value, p.name)}
			}
		}
	}
	return out, err
}

// counts reports whether the pod waits or belongs to the last attempt.
func (p *pod) counts(attempt int) bool {
	if p.at() == "" {
		return !p.terminal() && !p.deleting && !p.evicted
	}
	return !p.cleared && !p.stopped() && (!p.terminal() || p.attempt == attempt)
}

// wish is an error if the pod has a demand that hedge would violate.
func (p *pod) wish() error {
	if p.shape.problem == nil {
		return nil
	}
	return fmt.Errorf("pod %s: %w", p.name, p.shape.problem)
}

// revision differs for different specifications.
func revision(j *sched.Job, annotations map[string]string) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %d %s", j.Tasks, j.Priority, j.Required)
	for _, r := range slices.Sorted(maps.Keys(j.Demand)) {
		fmt.Fprintf(h, " %s=%v", r, j.Demand[r])
	}
	for _, name := range slices.Sorted(maps.Keys(annotations)) {
		fmt.Fprintf(h, " %q=%q", name, annotations[name])
	}
	return h.Sum64()
}
