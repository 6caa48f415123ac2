package adapters

import (
	"fmt"
	"strings"

	"github.com/hedgesched/hedge/sched"
)

// ParseSet reads labels with their values, as "rack=r1|r2 & gpu=*" or "rack=r1|r2, gpu=*", where * is any value: nodes
// that have all of the labels. No value has a comma, "&" or "|" in it. The error names the label that makes no sense
// and wraps an [Expected] with the example, which is of labels that nodes of this kind of cluster have.
func ParseSet(text, example string) (sched.EquivalenceSet, error) {
	set := sched.AnyNode()
	for part := range strings.SplitSeq(strings.ReplaceAll(text, ",", "&"), "&") {
		label, values, ok := strings.Cut(strings.TrimSpace(part), "=")
		label = strings.TrimSpace(label)
		if !ok || label == "" || values == "" {
			return sched.AnyNode(), fmt.Errorf("%q, %w", part, Expected(fmt.Sprintf("labels, as %q", example)))
		}
		if strings.TrimSpace(values) == "*" {
			set = set.And(sched.NodesWith(label))
			continue
		}
		list, err := valuesOf(values)
		if err != nil {
			return sched.AnyNode(), fmt.Errorf("%q: %w", part, err)
		}
		set = set.And(sched.NodesWith(label, list...))
	}
	return set, nil
}

// valuesOf reads the values of a label, of which a node has one, as a100|h100. The error is an [Expected]: none of them
// is empty.
func valuesOf(text string) ([]string, error) {
	var out []string
	for v := range strings.SplitSeq(text, "|") {
		if v = strings.TrimSpace(v); v == "" {
			return nil, Expected("values that are not empty, as a100|h100")
		}
		out = append(out, v)
	}
	return out, nil
}
