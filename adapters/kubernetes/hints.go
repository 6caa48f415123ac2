package kubernetes

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/utility"
)

// prefix is the prefix of hedge's annotations.
const prefix = "hedgesched.github.io/"

// The annotations that users set.
const (
	DeadlineAnnotation   = prefix + "deadline"
	UtilityAnnotation    = prefix + "utility"
	SpeedsAnnotation     = prefix + "speeds"
	CheckpointAnnotation = prefix + "checkpoint"
	UserAnnotation       = prefix + "user"
	GangAnnotation       = prefix + "gang"
	// AfterAnnotation names Jobs of the same namespace that must have finished before this one starts. Of a group of pods
	// it names groups of pods.
	AfterAnnotation = prefix + "after"
	// ResizeAnnotation allows hedge, with "true", to bind the only pod of the job with the requests, and the limit of
	// memory, that it is forecast to need, instead of those that it asks for: never with more.
	ResizeAnnotation = prefix + "resize"
	// ResizeLeastAnnotation is the least memory that a resized pod requests, like 64Mi.
	ResizeLeastAnnotation = prefix + "resize-least"
)

// names are the annotations that users set, without the prefix.
func names() []string {
	var out []string
	for _, name := range []string{DeadlineAnnotation, UtilityAnnotation, SpeedsAnnotation, CheckpointAnnotation,
		UserAnnotation, GangAnnotation, AfterAnnotation, ResizeAnnotation, ResizeLeastAnnotation} {
		out = append(out, strings.TrimPrefix(name, prefix))
	}
	return out
}

// The annotations that the driver sets on pods, and one on Jobs. They are private: names and values may change.
const (
	// epochAnnotation is the epoch of the instance that bound the pod or last changed it.
	epochAnnotation = prefix + "epoch"
	// attemptAnnotation is the number of the start in which the pod was bound. sizeAnnotation is the gang's size in that
	// start.
	attemptAnnotation = prefix + "attempt"
	sizeAnnotation    = prefix + "gang-size"
	// clearedAnnotation marks an ended pod whose attempt is over.
	clearedAnnotation = prefix + "cleared"
	// fenceAnnotation is changed to prevent earlier starts of the pod from taking effect.
	fenceAnnotation = prefix + "fence"
	// doneAnnotation is the work of a checkpointing Job in attempts whose work is kept.
	doneAnnotation = prefix + "done"
)

// kept are the annotations that users do not set.
func kept() []string {
	return []string{epochAnnotation, attemptAnnotation, sizeAnnotation, clearedAnnotation, fenceAnnotation, doneAnnotation}
}

// reserved returns an error if a pod without a node has an annotation that the driver writes only on bound pods. Such a
// pod was created from the printed form of another one.
func reserved(annotations map[string]string) error {
	for _, name := range []string{attemptAnnotation, clearedAnnotation, doneAnnotation, epochAnnotation, sizeAnnotation} {
		if value, has := annotations[name]; has {
			return &HintError{Annotation: name, Value: value, Want: "none on a pod that is not bound: the scheduler writes it"}
		}
	}
	return nil
}

// HintError is the error of an annotation that makes no sense.
type HintError struct {
	// Annotation is the name of the annotation, Value is its text, and Want is what was expected.
	Annotation, Value, Want string
}

// Error names the annotation, what was found and what was expected.
func (e *HintError) Error() string {
	return fmt.Sprintf("kubernetes: annotation %s is %.80q, expected %s", e.Annotation, e.Value, e.Want)
}

// hints are the values of the annotations.
type hints struct {
	deadline   adapters.Deadline
	by         string // the deadline as it was written
	utility    utility.Utility
	speeds     sched.Speeds
	checkpoint bool
	user       string
	after      []string
	resize     bool
	least      float64 // bytes; 0 if the job says nothing
}

// parseHints reads hedge's annotations of an object. The error is about the first wrong one, by name. Wrong hints are
// left out, and the others are valid all the same: a job that runs goes on with those.
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
	return h, first
}

// want is what the error expected if it is an [adapters.Expected], and otherwise the error's text.
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

// parse reads one annotation. If it is wrong, parse returns what was expected and leaves h unchanged.
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
	case SpeedsAnnotation:
		h.speeds, err = adapters.ParseSpeeds(value, "gpu=a100|h100 1; gpu=v100 0.66; other 0.39")
	case CheckpointAnnotation, GangAnnotation, ResizeAnnotation:
		if value != "true" && value != "false" {
			return `"true" or "false"`
		}
		h.checkpoint = h.checkpoint || name == CheckpointAnnotation && value == "true"
		h.resize = h.resize || name == ResizeAnnotation && value == "true"
	case ResizeLeastAnnotation:
		q, err := resource.ParseQuantity(value)
		if err != nil || q.Sign() <= 0 {
			return "an amount of memory, like 64Mi"
		}
		h.least = q.AsApproximateFloat64()
	case AfterAnnotation:
		h.after, err = adapters.ParseAfter(value)
	case UserAnnotation:
		h.user = value
	default:
		return "one of the names " + strings.Join(names(), ", ")
	}
	return want(err)
}

// from is the deadline of a job that was submitted at that time. A time that had passed when the job was made is
// refused, unless it is not known when that was.
func (h *hints) from(submitted, made time.Time) (time.Duration, error) {
	if _, err := h.deadline.From(made); err != nil && !made.IsZero() {
		return 0, &HintError{Annotation: DeadlineAnnotation, Value: h.by, Want: want(err)}
	}
	d, err := h.deadline.From(submitted)
	if err != nil { // the pods were recreated after the deadline, which was missed
		return 1, nil
	}
	return d, nil
}
