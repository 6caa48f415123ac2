package kubernetes

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/hedgesched/hedge/sched"
)

// errUnlike is the problem of a gang whose pods ask for different things. It would have to be planned as if each pod
// asked for the maximum of everything, on nodes that suit all pods. So it could wait for ever although there is room
// for it.
var errUnlike = errors.New("kubernetes: all pods of a gang must ask for the same, and these do not")

// saidKinds is the maximum number of kinds of pods in a reason.
const saidKinds = 4

// podKind is the pods of a gang that ask for the same.
type podKind struct {
	shape *shape
	first string // the name of one pod
	pods  int
}

// members are the pods that determine what the gang asks for: those that wait for its start. Once some pods are bound,
// pods that hold room, and pods that may still be placed, count as well.
func members(all []*pod, owner types.UID, attempt int, bound bool) []*pod {
	var out []*pod
	for _, p := range all {
		waits := p.at() == "" && p.owner == owner && p.counts(attempt)
		if waits || bound && (!p.terminal() || p.counts(attempt)) {
			out = append(out, p)
		}
	}
	return out
}

// ask writes into the job what its pods ask for, or what the shape asks for if there are no pods. Pods of a waiting
// gang are alike. Pods of a running gang may differ, for example after some were resized. Then the job asks for the
// maximum of each resource, on nodes that suit all pods. A gang has the highest priority of its pods.
func ask(j *sched.Job, s *shape, pods []*pod) {
	if len(pods) > 0 {
		s = pods[0].shape
	}
	j.Demand, j.Priority, j.Required = maps.Clone(s.request), s.priority, s.class.required
	for _, p := range pods {
		j.Priority = max(j.Priority, p.shape.priority)
		for r, d := range p.shape.request {
			j.Demand[r] = max(j.Demand[r], d)
		}
		if !p.shape.samePlace(s) {
			j.Required = j.Required.And(p.shape.class.required)
		}
	}
}

// samePlace reports whether pods of both shapes have the same demands of nodes.
func (s *shape) samePlace(o *shape) bool {
	return s == o || s.class.required.String() == o.class.required.String()
}

// asked is a text that is equal for shapes that ask for the same, and only for those.
func (s *shape) asked() string {
	var text strings.Builder
	for _, r := range slices.Sorted(maps.Keys(s.request)) {
		fmt.Fprintf(&text, "%q=%v ", r, s.request[r])
	}
	return text.String() + s.class.required.String()
}

// unlike is an error if the gang's pods ask for different things. Demands of nodes count as different only if different
// existing nodes meet them.
func (m *model) unlike(g *gang, pods []*pod) error {
	var kinds []podKind
	g.mixed = false
	byShape, byAsked := map[*shape]int{}, map[string]int{} // indices in kinds
	for _, p := range pods {
		k, ok := byShape[p.shape]
		if !ok {
			asked := p.shape.asked()
			if k, ok = byAsked[asked]; !ok {
				k, kinds = len(kinds), append(kinds, podKind{shape: p.shape, first: p.name})
				byAsked[asked] = k
			}
			byShape[p.shape] = k
		}
		kinds[k].pods++
	}
	if len(kinds) < 2 {
		return nil
	}
	requests, places, against := false, false, kinds[0].shape.class.required
	for _, k := range kinds[1:] {
		requests = requests || !maps.Equal(k.shape.request, kinds[0].shape.request)
		if !k.shape.samePlace(kinds[0].shape) {
			g.mixed = true
			against = against.And(k.shape.class.required)
			places = places || !m.sameNodes(k.shape, kinds[0].shape)
		}
	}
	labels := newlyContradicted(against, kinds)
	if !requests && !places && len(labels) == 0 {
		return nil
	}
	return m.unlikeError(kinds, places || len(labels) > 0, labels)
}

// sameNodes reports whether the same existing nodes, at least one, suit both shapes. If no nodes exist, that alone
// keeps the gang waiting.
func (m *model) sameNodes(a, b *shape) bool {
	of := func(s *shape) []*place { return m.suiting(&sched.Job{Required: s.class.required}).places }
	some := of(a)
	return len(m.ground.places) == 0 || len(some) > 0 && slices.Equal(some, of(b))
}

// newlyContradicted are the labels for which each kind allows some value, but no value suits all kinds.
func newlyContradicted(all sched.EquivalenceSet, kinds []podKind) []string {
	labels := contradicted(all.String())
	for _, k := range kinds {
		own := contradicted(k.shape.class.required.String())
		labels = slices.DeleteFunc(labels, func(label string) bool { return slices.Contains(own, label) })
	}
	return labels
}

// unlikeError says what each kind of pods asks for, and on which nodes if those differ.
func (m *model) unlikeError(kinds []podKind, places bool, labels []string) error {
	var said []string
	for _, k := range kinds[:min(len(kinds), saidKinds)] {
		asks := fmt.Sprintf("pod %s asks for ", k.first)
		if k.pods > 1 {
			asks = fmt.Sprintf("%d pods as %s ask for ", k.pods, k.first)
		}
		asks += demanded(k.shape.request, slices.Sorted(maps.Keys(k.shape.request)))
		if places {
			asks += " on " + m.inWords(k.shape.class.required.String())
		}
		said = append(said, asks)
	}
	if more := len(kinds) - saidKinds; more > 0 {
		said = append(said, fmt.Sprintf("others for other things: %d more kinds of pods", more))
	}
	why := "planned by the most of each it could wait although there is room for them"
	if len(labels) > 0 {
		why = "no node can match the selectors of all, which contradict one another in the values of " +
			strings.Join(labels, ", ")
	}
	return fmt.Errorf(
		"%w: %s; %s. Give all pods the same requests and selectors, or leave those that differ out of the gang", errUnlike,
		strings.Join(said, "; "), why)
}
