package adapters

import (
	"fmt"
	"strings"

	"github.com/hedgesched/hedge/sched"
)

// ParseSet reads labels and their values, like "rack=r1|r2 & gpu=*" or "rack=r1|r2, gpu=*", where * stands for any
// value. The set has the nodes with all of these labels. Values must not contain a comma, "&" or "|". The error names
// the label that makes no sense. It wraps an [Expected] with the example, which should use labels of this kind of
// cluster.
func ParseSet(text, example string) (sched.EquivalenceSet, error) {
	set := sched.AnyNode()
	for part := range strings.SplitSeq(strings.ReplaceAll(text, ",", "&"), "&") {
		label, values, ok := strings.Cut(strings.TrimSpace(part), "=")
		label = strings.TrimSpace(label)
		if !ok || label == "" || values == "" {
			return sched.AnyNode(), fmt.Errorf("%q, %w", part, Expected(fmt.Sprintf("labels like %q", example)))
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

// valuesOf reads the alternative values of a label, like a100|h100. The error is an [Expected] if one of them is empty.
func valuesOf(text string) ([]string, error) {
	var out []string
	for v := range strings.SplitSeq(text, "|") {
		if v = strings.TrimSpace(v); v == "" {
			return nil, Expected("values that are not empty, like a100|h100")
		}
		out = append(out, v)
	}
	return out, nil
}
