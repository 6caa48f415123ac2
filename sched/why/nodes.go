package why

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/place"
	"github.com/hedgesched/hedge/sched/whatif"
)

const (
	// maxNodes limits the nodes that a remedy adds.
	maxNodes = 4096
	// maxValues limits the further values of a label that a remedy considers.
	maxValues = 64
)

// grow adds nodes.
func (t *trial) grow(j *waiting, _ *Explanation) (*Remedy, error) {
	add, each, ok := t.template(j)
	if !ok {
		return nil, nil
	}
	change := func(size int) []whatif.Change {
		c := add
		c.Count = size
		return []whatif.Change{c}
	}
	guess := (j.job.Tasks - j.fits + each - 1) / each
	if t.opt.Plan == nil && (guess < 1 || guess > maxNodes) {
		return nil, nil
	}
	size, settled, err := t.least(guess, min(maxNodes, max(guess, t.tasks)), change)
	if size == 0 {
		return nil, err
	}
	text := fmt.Sprintf("with %s like %s", count(size, "more node"), add.Name)
	for _, key := range slices.Sorted(maps.Keys(add.Labels)) {
		text += fmt.Sprintf(" with %s=%s", key, add.Labels[key])
	}
	for _, name := range slices.Sorted(maps.Keys(add.Resources)) {
		text += fmt.Sprintf(" that offer %g %s", add.Resources[name], name)
	}
	return &Remedy{Kind: MoreNodes, Text: text, Changes: change(size), Size: size, Smallest: settled}, err
}

// template returns the change that adds nodes able to run tasks of the job, and how many tasks fit on each. The nodes
// are like the node that can hold most of them when empty. If no node can hold any, the labels and resources that the
// job asks for are added to a copy of an existing node.
func (t *trial) template(j *waiting) (add whatif.Change, each int, ok bool) {
	nodes := t.snap.Nodes
	if nodes.Len() == 0 {
		return add, 0, false
	}
	best := -1
	for i, n := range j.nodes {
		if j.demand == nil {
			break
		}
		if holds := nodes.Holds(j.demand, j.nodes[i:i+1]); holds > each {
			best, each = int(n), holds
		}
	}
	add = whatif.Change{Verb: whatif.AddNodes}
	if best >= 0 {
		add.Name = nodes.Node(best).Name
		return add, each, true
	}
	from := nodes.All()
	if len(j.nodes) > 0 {
		from = j.nodes
	}
	like := nodes.Node(int(from[0]))
	labels := maps.Clone(like.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	add.Name, add.Labels = like.Name, map[string]string{}
	for _, key := range j.job.Required.Keys() {
		others := j.job.Required
		for _, k := range others.Keys() {
			if k != key {
				others = others.Without(k)
			}
		}
		if others.Matches(labels) {
			continue
		}
		value := "yes" // the job asks for the label, whatever its value
		if values := j.job.Required.Values(key); len(values) > 0 {
			value = values[0]
		}
		add.Labels[key], labels[key] = value, value
	}
	if !j.job.Required.Matches(labels) {
		return add, 0, false // no node can match the set
	}
	add.Resources = sched.Resources{}
	for name, amount := range j.job.DemandOrNode() {
		if like.Capacity[name] < amount {
			add.Resources[name] = amount
		}
	}
	return add, 1, true
}

// anywhere widens the set of nodes that the job may run on.
func (t *trial) anywhere(j *waiting, _ *Explanation) (*Remedy, error) {
	if j.job.Required.IsAny() || j.demand == nil {
		return nil, nil
	}
	var best *Remedy
	for _, key := range j.job.Required.Keys() {
		r, err := t.relax(j, key)
		if r != nil && (best == nil || r.Size < best.Size) {
			best = r
		}
		if err != nil {
			return best, err
		}
	}
	if best != nil || len(j.job.Required.Keys()) < 2 {
		return best, nil
	}
	anyNode := whatif.Change{Verb: whatif.Require, Name: j.job.ID}
	ok, err := t.fits(j, anyNode)
	if !ok {
		return nil, err
	}
	return &Remedy{Kind: AnotherSet, Text: "if it could run on any node", Changes: []whatif.Change{anyNode},
		Size: len(j.job.Required.Keys()), Smallest: t.opt.Plan != nil && len(j.job.Required.Keys()) == 2}, err
}

// fits reports whether the job starts with this other set: by trial, or without a planner by the room beside the plan.
func (t *trial) fits(j *waiting, c whatif.Change) (bool, error) {
	if t.opt.Plan != nil {
		return t.starts(c)
	}
	return place.NewPlacer(t.left).FitsAtLeast(j.demand, t.snap.Nodes.NodesOf(c.Set), j.job.Tasks), nil
}

// relax allows further values of one label. If that is not enough, it drops the label.
func (t *trial) relax(j *waiting, key string) (*Remedy, error) {
	without := whatif.Change{Verb: whatif.Require, Name: j.job.ID, Set: j.job.Required.Without(key)}
	ok, err := t.fits(j, without)
	if !ok {
		return nil, err
	}
	own := j.job.Required.Values(key)
	values, guess := t.values(j, key, own)
	change := func(more []string) []whatif.Change {
		set := sched.NodesWith(key, slices.Concat(own, more)...)
		return []whatif.Change{{Verb: whatif.Require, Name: j.job.ID, Set: without.Set.And(set)}}
	}
	size := 0
	if len(own) > 0 {
		size, _, err = t.least(guess, len(values), func(size int) []whatif.Change { return change(values[:size]) })
	}
	if size == 0 {
		return &Remedy{Kind: AnotherSet, Text: fmt.Sprintf("if it could run whatever the label %s is", key),
			Changes: []whatif.Change{without}, Size: len(values) + 1, Smallest: t.opt.Plan != nil && err == nil}, err
	}
	left, settled := values[:size], false
	if err == nil && t.opt.Plan != nil {
		left, settled, err = t.needed(left, change)
	}
	slices.Sort(left)
	return &Remedy{Kind: AnotherSet, Changes: change(left), Size: len(left), Smallest: settled,
		Text: fmt.Sprintf("if it could also run on %s=%s", key, strings.Join(left, "|"))}, err
}

// values returns further values of a label, those with most room for the job first, and a guess of how many are needed.
func (t *trial) values(j *waiting, key string, own []string) (values []string, guess int) {
	room := map[string]int{}
	placer := place.NewPlacer(t.left)
	nodes := t.snap.Nodes.NodesOf(j.job.Required.Without(key))
	for i, n := range nodes {
		value, ok := t.snap.Nodes.Node(int(n)).Labels[key]
		if _, has := slices.BinarySearch(own, value); ok && !has {
			room[value] = min(room[value]+min(placer.Fits(j.demand, nodes[i:i+1]), maxRoom), maxRoom)
		}
	}
	values = slices.SortedFunc(maps.Keys(room), func(a, b string) int {
		return cmp.Or(cmp.Compare(room[b], room[a]), strings.Compare(a, b))
	})
	values = values[:min(len(values), maxValues)]
	for have := int64(j.fits); guess < len(values) && have < int64(j.job.Tasks); guess++ {
		have += int64(room[values[guess]])
	}
	return values, guess
}

// maxRoom limits sums of tasks, so that they do not overflow.
const maxRoom = 1 << 29
