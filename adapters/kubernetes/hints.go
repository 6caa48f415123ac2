package kubernetes

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hedgesched/hedge/adapters"
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

// names are those of the annotations that users set, without the prefix.
func names() []string {
	var out []string
	for _, name := range []string{DeadlineAnnotation, UtilityAnnotation, PreferAnnotation, SlowdownAnnotation,
		CheckpointAnnotation, UserAnnotation, GangAnnotation} {
		out = append(out, strings.TrimPrefix(name, prefix))
	}
	return out
}

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

// reserved is the first annotation of a pod without a node that a driver writes only on others. Such a pod was made
// from what another was printed as.
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
	deadline   adapters.Deadline
	by         string // the deadline as it is written
	utility    utility.Utility
	preferred  sched.EquivalenceSet
	slowdown   float64
	checkpoint bool
	user       string
}

// parseHints reads the annotations of an object, of which it looks only at hedge's own. The error is the first in the
// order of names. What makes sense is taken all the same: a job that runs goes on with it, and what does not is as if
// it were not there.
func parseHints(annotations map[string]string) (hints, error) {
	var h hints
	var first error
	for _, name := range slices.Sorted(maps.Keys(annotations)) {
		if !strings.HasPrefix(name, prefix) || slices.Contains(kept(), name) {
			continue
		}
		if want := h.parse(name, annotations[name]); want != "" && first == nil {
			first = &HintError{Annotation: name, Value: annotations[name], Want: want}
		}
	}
	if err := adapters.CheckPreferred(h.slowdown, h.preferred, PreferAnnotation); err != nil {
		h.slowdown = 0
		first = cmp.Or(first,
			error(&HintError{Annotation: SlowdownAnnotation, Value: annotations[SlowdownAnnotation], Want: want(err)}))
	}
	return h, first
}

// want is what was expected, of an error that says so, and else the error.
func want(err error) string {
	var e adapters.Expected
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e):
		return string(e)
	}
	return err.Error()
}

// parse reads one annotation and tells what was expected, if that was not found; nothing is taken of it then.
func (h *hints) parse(name, value string) string {
	var err error
	switch name {
	case DeadlineAnnotation:
		h.by = value
		h.deadline, err = adapters.ParseDeadline(value)
	case UtilityAnnotation:
		if h.utility, err = adapters.ParseUtility([]byte(value)); err != nil && !errors.As(err, new(adapters.Expected)) {
			return "a utility: " + err.Error()
		}
	case PreferAnnotation:
		h.preferred, err = adapters.ParseSet(value, "gpu=a100|h100, disk=*")
	case SlowdownAnnotation:
		h.slowdown, err = adapters.ParseSlowdown(value)
	case CheckpointAnnotation, GangAnnotation:
		if value != "true" && value != "false" {
			return `"true" or "false"`
		}
		h.checkpoint = h.checkpoint || name == CheckpointAnnotation && value == "true"
	case UserAnnotation:
		h.user = value
	default:
		return "one of the names " + strings.Join(names(), ", ")
	}
	return want(err)
}

// from is the deadline of a job that was submitted then. A time is refused that was over when the job was made, unless
// it is not known when that was.
func (h *hints) from(submitted, made time.Time) (time.Duration, error) {
	if _, err := h.deadline.From(made); err != nil && !made.IsZero() {
		return 0, &HintError{Annotation: DeadlineAnnotation, Value: h.by, Want: want(err)}
	}
	d, err := h.deadline.From(submitted)
	if err != nil { // its pods were made anew after the deadline, which was missed
		return 1, nil
	}
	return d, nil
}
