package kubernetes

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/utility"
)

// prefix is that of every annotation of hedge.
const prefix = "hedgesched.github.io/"

// The annotations that users set.
const (
	DeadlineAnnotation   = prefix + "deadline"
	UtilityAnnotation    = prefix + "utility"
	PreferAnnotation     = prefix + "prefer"
	SlowdownAnnotation   = prefix + "slowdown"
	CheckpointAnnotation = prefix + "checkpoint"
	UserAnnotation       = prefix + "user"
	GangAnnotation       = prefix + "gang"
)

// The annotations that the driver sets on pods, and one on Jobs. They are its own: their names and values may change.
const (
	// epochAnnotation is the epoch of the instance that bound the pod, or last touched it.
	epochAnnotation = prefix + "epoch"
	// attemptAnnotation is which start of its gang the pod was bound in, sizeAnnotation how many pods that had.
	attemptAnnotation = prefix + "attempt"
	sizeAnnotation    = prefix + "gang-size"
	// clearedAnnotation marks a pod that has ended, and whose attempt is over.
	clearedAnnotation = prefix + "cleared"
	// fenceAnnotation changes whenever no earlier start of the pod must take effect any more.
	fenceAnnotation = prefix + "fence"
	// doneAnnotation is, of a Job with checkpoints, what it has done in attempts whose work is kept.
	doneAnnotation = prefix + "done"
)

// kept are the annotations that users do not set.
func kept() []string {
	return []string{epochAnnotation, attemptAnnotation, sizeAnnotation, clearedAnnotation, fenceAnnotation, doneAnnotation}
}

// reserved is the first annotation of a pod without a node that a driver writes only on others. Such a pod was made from what another was printed as.
func reserved(annotations map[string]string) error {
	for _, name := range []string{attemptAnnotation, clearedAnnotation, doneAnnotation, epochAnnotation, sizeAnnotation} {
		if value, has := annotations[name]; has {
			return &HintError{Annotation: name, Value: value, Want: "none on a pod that is not bound: the scheduler writes it"}
		}
	}
	return nil
}

// HintError is an annotation that makes no sense.
type HintError struct {
	// Annotation is its name, Value what it says, and Want what was expected.
	Annotation, Value, Want string
}

// Error names the annotation, what was found and what was expected.
func (e *HintError) Error() string {
	return fmt.Sprintf("kubernetes: annotation %s is %.80q, expected %s", e.Annotation, e.Value, e.Want)
}

// hints are what annotations say.
type hints struct {
	deadline   time.Duration
	until      time.Time // the deadline as a time
	utility    utility.Utility
	preferred  sched.EquivalenceSet
	slowdown   float64
	checkpoint bool
	user       string
}

// parseHints reads the annotations of an object, of which it looks only at hedge's own. The error is the first in the order of names.
func parseHints(annotations map[string]string) (hints, error) {
	var h hints
	for _, name := range slices.Sorted(maps.Keys(annotations)) {
		if !strings.HasPrefix(name, prefix) || slices.Contains(kept(), name) {
			continue
		}
		if want := h.parse(name, annotations[name]); want != "" {
			return h, &HintError{Annotation: name, Value: annotations[name], Want: want}
		}
	}
	if h.slowdown != 0 && h.preferred.IsAny() {
		return h, &HintError{Annotation: SlowdownAnnotation, Value: annotations[SlowdownAnnotation], Want: "it only beside " + PreferAnnotation}
	}
	return h, nil
}

// parse reads one annotation and tells what was expected, if that was not found.
func (h *hints) parse(name, value string) string {
	switch name {
	case DeadlineAnnotation:
		return h.parseDeadline(value)
	case UtilityAnnotation:
		u, err := utility.Unmarshal([]byte(value))
		if err != nil {
			return "a utility: " + err.Error()
		}
		h.utility = u
	case PreferAnnotation:
		set, ok := parseSet(value)
		if !ok {
			return "labels as gpu=a100|h100,disk"
		}
		h.preferred = set
	case SlowdownAnnotation:
		s, err := strconv.ParseFloat(value, 64)
		if err != nil || !(s >= 1 && s <= 1e6) {
			return "a number from 1 to 1e6"
		}
		h.slowdown = s
	case CheckpointAnnotation, GangAnnotation:
		if value != "true" && value != "false" {
			return `"true" or "false"`
		}
		h.checkpoint = h.checkpoint || name == CheckpointAnnotation && value == "true"
	case UserAnnotation:
		h.user = value
	default:
		return "no annotation of that name"
	}
	return ""
}

func (h *hints) parseDeadline(value string) string {
	if at, err := time.Parse(time.RFC3339, value); err == nil {
		h.until = at
		return ""
	}
	d, err := time.ParseDuration(value)
	if err != nil || d <= 0 {
		return "a duration above 0 as 90m, or a time as 2026-01-02T15:04:05Z"
	}
	h.deadline = d
	return ""
}

// parseSet reads a conjunction of labels: key=value|value, or key alone for any value.
func parseSet(text string) (sched.EquivalenceSet, bool) {
	set := sched.AnyNode()
	for term := range strings.SplitSeq(text, ",") {
		key, values, has := strings.Cut(strings.TrimSpace(term), "=")
		if key == "" {
			return set, false
		}
		if !has {
			set = set.And(sched.NodesWith(key))
			continue
		}
		set = set.And(sched.NodesWith(key, strings.Split(values, "|")...))
	}
	return set, true
}
