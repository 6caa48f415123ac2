package kubernetes

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	helpers "k8s.io/component-helpers/scheduling/corev1"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
)

// saying is what a user is told about a waiting job.
type saying struct {
	text  string
	never bool   // it can never start on the nodes that exist
	why   string // identifies the part that depends on the nodes
}

// say words a policy's reason for somebody who knows pods and nodes. It does not mention labels that only this driver
// shows.
func (m *model) say(n *adapters.Note) saying {
	if n.Err != nil {
		return saying{text: packages.ReplaceAllString(n.Err.Error(), "$1")}
	}
	r, why := n.Reason, ""
	switch r.Code {
	case sched.ReasonNoFeasibleSet, sched.ReasonTooLarge:
		o := m.obstacle(n.Job.Spec)
		if why = o.why; o.text != "" {
			return saying{o.text, o.never, why}
		}
	case sched.ReasonNoUtility:
		return saying{text: "by when it is expected to be done it is worth 0 or less, as " + UtilityAnnotation + " has it"}
	}
	r.Set, r.Partition = m.inWords(r.Set), cell(r.Partition)
	return saying{text: r.String() + n.More(), why: why}
}

var (
	// packages matches names of packages at the beginning of errors.
	packages = regexp.MustCompile(`(^|: )(?:(?:kubernetes|adapters|sched): )+`)
	// fitsTerms matches the labels of classes in sets and partitions.
	fitsTerms = regexp.MustCompile(`[& ]?` + regexp.QuoteMeta(fits) + `([0-9a-z]+)=(?:\*|true)`)
)

// inWords is a set in which the labels of classes are replaced by their meaning.
func (m *model) inWords(set string) string {
	var parts []string
	if rest := strings.TrimPrefix(fitsTerms.ReplaceAllString(set, ""), "&"); rest != "" {
		parts = append(parts, rest)
	}
	for _, found := range fitsTerms.FindAllStringSubmatch(set, -1) {
		if c := m.classes[fits+found[1]]; c != nil && !slices.Contains(parts, c.words()) {
			parts = append(parts, c.words())
		}
	}
	return strings.Join(parts, " and ")
}

// words is the meaning of the class.
func (c *class) words() string {
	taints := "nodes without taints"
	if len(c.tolerations) > 0 {
		taints = "nodes whose taints the pods tolerate"
	}
	if c.wider {
		taints += " and that match their affinity"
	}
	return taints
}

// cell is a partition's name without the labels of classes, and "" if nothing is left.
func cell(name string) string {
	rest := strings.TrimSpace(fitsTerms.ReplaceAllString(name, ""))
	if strings.HasPrefix(rest, "#") {
		return ""
	}
	return rest
}

// obstacle is what keeps a job from all nodes that exist.
type obstacle struct {
	why   string // identifies it, without the numbers of nodes or of tasks that fit
	text  string // "" if there is none that is known here
	never bool   // even if the nodes were empty
}

// ground is the nodes of a view and the obstacles on them. Each obstacle is computed once for all jobs that ask for the
// same.
type ground struct {
	places    []place
	suited    map[string]suited   // by required set
	obstacles map[string]obstacle // by everything that is asked for
}

// place is a node of this scheduler.
type place struct {
	*node
	shown   map[string]string // its labels, and the labels of all classes, whether it belongs to them or not
	foreign sched.Resources
}

// suited is the nodes that suit a job, whatever room they have, or the reason why there are none.
type suited struct {
	places []*place
	text   string
	kind   string
}

func (m *model) newGround() *ground {
	g := &ground{suited: map[string]suited{}, obstacles: map[string]obstacle{}}
	for _, name := range slices.Sorted(maps.Keys(m.nodes)) {
		if n := m.nodes[name]; n.chosen {
			shown := map[string]string{}
			maps.Copy(shown, n.labels)
			g.places = append(g.places, place{n, shown, n.foreign()})
		}
	}
	return g
}

// has is the amount of a resource on the empty node.
func (p *place) has(resource string) float64 {
	if strings.HasPrefix(resource, hostPorts) {
		return 1
	}
	return p.capacity[resource]
}

// obstacle is what keeps a job from all nodes of the last view.
func (m *model) obstacle(j *sched.Job) obstacle {
	some := m.suiting(j)
	names := slices.Sorted(maps.Keys(j.Demand))
	asks := fmt.Sprintf("%d %s", j.Tasks, j.Required)
	for _, name := range names {
		asks += fmt.Sprintf(" %s=%v", name, j.Demand[name])
	}
	o, known := m.ground.obstacles[asks]
	if !known {
		o = some.obstacle(j, names)
		o.why = asks + ": " + o.why
		m.ground.obstacles[asks] = o
	}
	return o
}

// obstacle is what keeps the job from these nodes. It checks the resources in order.
func (s *suited) obstacle(j *sched.Job, names []string) obstacle {
	if s.text != "" {
		return obstacle{s.kind, s.text, true}
	}
	pods, where := "its pod asks for", "on the "+counted(len(s.places))+" it may run on"
	if j.Tasks > 1 {
		pods = fmt.Sprintf("each of its %d pods asks for", j.Tasks)
	}
	for _, name := range names {
		most := 0.0
		for _, p := range s.places {
			most = max(most, p.has(name))
		}
		if d := j.Demand[name]; sched.Overcommits(most-d, most) {
			has := amount(name, most)
			return obstacle{"request, at most " + has,
				fmt.Sprintf("%s %s, and the most %s is %s", pods, amount(name, d), where, has), true}
		}
	}
	demand := demanded(j.Demand, names)
	if empty := s.holds(j, false); empty < j.Tasks {
		return obstacle{"room", fmt.Sprintf("%s %s, and there is room for %d %s, even if nothing else were there", pods,
			demand, empty, where), true}
	}
	if now := s.holds(j, true); now < j.Tasks {
		return obstacle{"room now",
			fmt.Sprintf(
				"%s %s, and there is room for %d %s: some are cordoned or not ready, or pods of other schedulers are there", pods,
				demand, now, where), false}
	}
	return obstacle{}
}

// suiting are the nodes of the last view that suit the job.
func (m *model) suiting(j *sched.Job) suited {
	if m.ground == nil {
		m.ground = m.newGround()
	}
	set := j.Required.String()
	some, known := m.ground.suited[set]
	if !known {
		some = m.suits(j)
		m.ground.suited[set] = some
	}
	return some
}

// suits computes the nodes that suit the job.
func (m *model) suits(j *sched.Job) suited {
	var classes []*class
	for _, key := range j.Required.Keys() {
		if c := m.classes[key]; c != nil {
			classes = append(classes, c)
		}
		if strings.HasPrefix(key, fits) { // every node shows it, and users do not ask for it
			for i := range m.ground.places {
				m.ground.places[i].shown[key] = "true"
			}
		}
	}
	labelled, wider := 0, 0
	var some []*place
	for i := range m.ground.places {
		p := &m.ground.places[i]
		if !j.Required.Matches(p.shown) {
			continue
		}
		labelled++
		if slices.ContainsFunc(classes, func(c *class) bool { return !c.likes(p.node) }) {
			continue
		}
		if wider++; !slices.ContainsFunc(classes, func(c *class) bool { return !c.tolerates(p.node) }) {
			some = append(some, p)
		}
	}
	all := len(m.ground.places)
	set := strings.TrimPrefix(fitsTerms.ReplaceAllString(j.Required.String(), ""), "&")
	switch {
	case all == 0:
		return suited{kind: "no nodes", text: "there are no nodes for this scheduler"}
	case labelled == 0 && len(contradicted(set)) > 0:
		return suited{kind: "contradiction", text: contradiction(set)}
	case labelled == 0:
		return suited{kind: "labels", text: fmt.Sprintf("no node of %d matches the selector and affinity %s", all, set)}
	case wider == 0:
		return suited{kind: "affinity", text: fmt.Sprintf("no node of %d matches the node affinity", labelled)}
	case len(some) == 0:
		return suited{kind: "taints",
			text: fmt.Sprintf("no node of %d is without taints that the pods do not tolerate", wider)}
	}
	return suited{places: some}
}

// contradiction says that no node can be in a set. The set is that of each pod: the pods of a gang demand the same, or
// suit the same nodes.
func contradiction(set string) string {
	return "selector and affinity contradict each other, so that no node can match both, in the values of " +
		strings.Join(contradicted(set), ", ")
}

// contradicted are the labels of a set for which no value is left.
func contradicted(set string) []string {
	var out []string
	for term := range strings.SplitSeq(set, "&") {
		if key, empty := strings.CutSuffix(term, "=!"); empty {
			out = append(out, key)
		}
	}
	return out
}

func counted(n int) string {
	if n == 1 {
		return "1 node"
	}
	return strconv.Itoa(n) + " nodes"
}

// holds is the number of tasks that fit on the nodes: on empty nodes, or now, on nodes that are not cordoned and beside
// the work of others.
func (s *suited) holds(j *sched.Job, now bool) int {
	sum := 0
	for _, p := range s.places {
		if now && p.closed {
			continue
		}
		fit := j.Tasks
		for name, d := range j.Demand {
			left := p.has(name)
			if now {
				left -= p.foreign[name]
			}
			if d > 0 {
				fit = min(fit, int(max(0, math.Floor(min(left/d+1e-9, float64(j.Tasks))))))
			}
		}
		sum += fit
	}
	return sum
}

// demanded says what each pod asks for.
func demanded(demand sched.Resources, names []string) string {
	var out []string
	for _, name := range names {
		if name != string(corev1.ResourcePods) {
			out = append(out, amount(name, demand[name]))
		}
	}
	return cmp.Or(strings.Join(out, ", "), "a place")
}

// amount is an amount of a resource as users write it.
func amount(name string, v float64) string {
	if port, is := strings.CutPrefix(name, hostPorts); is {
		return "host port " + strings.ReplaceAll(port, "-", " ")
	}
	text := strconv.FormatFloat(v, 'f', -1, 64)
	if name == string(corev1.ResourceMemory) || name == string(corev1.ResourceEphemeralStorage) ||
		strings.HasPrefix(name, corev1.ResourceHugePagesPrefix) {
		text = resource.NewQuantity(int64(min(v, math.MaxInt64/2)), resource.BinarySI).String()
	}
	return text + " " + name
}

// likes reports whether the node matches the part of the affinity that labels cannot express. tolerates reports whether
// the pods tolerate all of the node's taints.
func (c *class) likes(n *node) bool {
	ok, err := c.affinity.Match(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.name, Labels: n.labels}})
	return err == nil && ok
}

func (c *class) tolerates(n *node) bool {
	_, bad := helpers.FindMatchingUntoleratedTaint(logr.Discard(), n.taints, c.tolerations, hard, false)
	return !bad
}

// outdated are the jobs of a full view whose note must be written again: it names an obstacle, or says that none is
// known, and the obstacle is another one by now.
func (m *model) outdated(jobs []adapters.Job) []string {
	var out []string
	for i := range jobs {
		j := &jobs[i]
		g := m.gangs[j.Spec.ID]
		if g == nil || g.note == nil || g.note.why == "" || len(j.Tasks) > 0 || j.Over || j.Problem != nil {
			continue
		}
		if m.obstacle(j.Spec).why != g.note.why {
			out = append(out, j.Spec.ID)
		}
	}
	return out
}
