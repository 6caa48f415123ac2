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

// saying is what a user is told of why a job waits.
type saying struct {
	text  string
	never bool // that it can start on the nodes there are
	spec  *sched.Job
}

// say puts a policy's reason in words that say something to whoever knows pods and nodes, and nothing of labels that only this driver shows.
func (m *model) say(n *adapters.Note) saying {
	if n.Err != nil {
		return saying{text: packages.ReplaceAllString(n.Err.Error(), "$1")}
	}
	r := n.Reason
	switch r.Code {
	case sched.ReasonNoFeasibleSet, sched.ReasonTooLarge:
		if text, never := m.obstacle(n.Job.Spec); text != "" {
			return saying{text: text, never: never, spec: n.Job.Spec}
		}
	case sched.ReasonNoUtility:
		return saying{text: "by when it is expected to be done it is worth 0 or less, as " + UtilityAnnotation + " has it"}
	}
	r.Set, r.Partition = m.inWords(r.Set), cell(r.Partition)
	return saying{text: r.String()}
}

var (
	// packages are the names of packages that errors begin with.
	packages = regexp.MustCompile(`(^|: )(?:(?:kubernetes|adapters|sched): )+`)
	// fitsTerms are the labels of classes in sets and partitions.
	fitsTerms = regexp.MustCompile(`[& ]?` + regexp.QuoteMeta(fits) + `([0-9a-z]+)=(?:\*|true)`)
)

// inWords is a set without the labels of classes, and what these stand for.
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

// words are what the class stands for.
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

// cell is a partition's name without the labels of classes, "" if it has no other name.
func cell(name string) string {
	rest := strings.TrimSpace(fitsTerms.ReplaceAllString(name, ""))
	if strings.HasPrefix(rest, "#") {
		return ""
	}
	return rest
}

// obstacle is what keeps a job from all nodes there are, "" if nothing does that is known here, and whether that is so however empty they are.
func (m *model) obstacle(j *sched.Job) (text string, never bool) {
	some, text := m.suited(j)
	if text != "" {
		return text, true
	}
	pods, where := "its pod asks for", "on the "+counted(len(some))+" it may run on"
	if j.Tasks > 1 {
		pods = fmt.Sprintf("each of its %d pods asks for", j.Tasks)
	}
	names := slices.Sorted(maps.Keys(j.Demand))
	for _, name := range names {
		most := 0.0
		for _, n := range some {
			most = max(most, n.Capacity[name])
		}
		if d := j.Demand[name]; sched.Overcommits(most-d, most) {
			return fmt.Sprintf("%s %s, and the most %s is %s", pods, amount(name, d), where, amount(name, most)), true
		}
	}
	demand := demanded(j, names)
	if empty := holds(some, j, false); empty < j.Tasks {
		return fmt.Sprintf("%s %s, and there is room for %d %s, even if nothing else were there", pods, demand, empty, where), true
	}
	if now := holds(some, j, true); now < j.Tasks {
		return fmt.Sprintf("%s %s, and there is room for %d %s: some are cordoned or not ready, or pods of other schedulers are there", pods, demand, now, where), false
	}
	return "", false
}

// suited are the nodes that suit the job whatever they have room for, or why there are none.
func (m *model) suited(j *sched.Job) ([]adapters.Node, string) {
	var classes []*class
	open := map[string]string{} // on every node: what is not asked for by users
	for _, key := range j.Required.Keys() {
		if c := m.classes[key]; c != nil {
			classes = append(classes, c)
		}
		if strings.HasPrefix(key, fits) {
			open[key] = "true"
		}
	}
	all, labelled, wider := 0, 0, 0
	var some []adapters.Node
	for _, name := range slices.Sorted(maps.Keys(m.nodes)) {
		n := m.nodes[name]
		if !n.chosen {
			continue
		}
		all++
		if !j.Required.Matches(merge(n.labels, open)) {
			continue
		}
		labelled++
		if slices.ContainsFunc(classes, func(c *class) bool { return !c.likes(n) }) {
			continue
		}
		if wider++; !slices.ContainsFunc(classes, func(c *class) bool { return !c.tolerates(n) }) {
			some = append(some, m.node(n))
		}
	}
	set := strings.TrimPrefix(fitsTerms.ReplaceAllString(j.Required.String(), ""), "&")
	switch {
	case all == 0:
		return nil, "there are no nodes for this scheduler"
	case labelled == 0 && strings.Contains(set, "=!"):
		return nil, "its pods ask for different values of one label, and all pods of a gang run on nodes that suit them all: " + set
	case labelled == 0:
		return nil, fmt.Sprintf("no node of %d matches the selector %s", all, set)
	case wider == 0:
		return nil, fmt.Sprintf("no node of %d matches the node affinity", labelled)
	case len(some) == 0:
		return nil, fmt.Sprintf("no node of %d is without taints that the pods do not tolerate", wider)
	}
	return some, ""
}

func counted(n int) string {
	if n == 1 {
		return "1 node"
	}
	return strconv.Itoa(n) + " nodes"
}

// holds is how many tasks the nodes hold: empty, or as far as they are not cordoned and others leave room.
func holds(some []adapters.Node, j *sched.Job, now bool) int {
	sum := 0
	for i := range some {
		n, fit := &some[i], j.Tasks
		if now && n.Cordoned {
			continue
		}
		for name, d := range j.Demand {
			left := n.Capacity[name]
			if now {
				left -= n.Foreign[name]
			}
			if d > 0 {
				fit = min(fit, int(max(0, math.Floor(min(left/d+1e-9, float64(j.Tasks))))))
			}
		}
		sum += fit
	}
	return sum
}

// demanded is what each pod asks for, in words.
func demanded(j *sched.Job, names []string) string {
	var out []string
	for _, name := range names {
		if name != string(corev1.ResourcePods) {
			out = append(out, amount(name, j.Demand[name]))
		}
	}
	return cmp.Or(strings.Join(out, ", "), "a place")
}

// amount is so much of a resource, as users write it.
func amount(name string, v float64) string {
	if port, is := strings.CutPrefix(name, hostPorts); is {
		return "host port " + strings.ReplaceAll(port, "-", " ")
	}
	text := strconv.FormatFloat(v, 'f', -1, 64)
	if name == string(corev1.ResourceMemory) || name == string(corev1.ResourceEphemeralStorage) || strings.HasPrefix(name, corev1.ResourceHugePagesPrefix) {
		text = resource.NewQuantity(int64(min(v, math.MaxInt64/2)), resource.BinarySI).String()
	}
	return text + " " + name
}

// likes tells whether the node matches what labels alone cannot express, and tolerates whether it has no taint that keeps the pods away.
func (c *class) likes(n *node) bool {
	ok, err := c.affinity.Match(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.name, Labels: n.labels}})
	return err == nil && ok
}

func (c *class) tolerates(n *node) bool {
	_, bad := helpers.FindMatchingUntoleratedTaint(logr.Discard(), n.taints, c.tolerations, hard, false)
	return !bad
}

// outdated are the jobs whose note says what holds them back, and is another by now.
func (m *model) outdated() []string {
	var out []string
	for id, g := range m.gangs {
		if g.note == nil || g.note.spec == nil {
			continue
		}
		if text, _ := m.obstacle(g.note.spec); text != "" && text != g.note.text {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}
