package kubernetes

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
)

func TestHints(t *testing.T) {
	h, err := parseHints(map[string]string{
		DeadlineAnnotation: "90m", SpeedsAnnotation: "gpu=a100|h100,disk=* 1; other 0.5",
		CheckpointAnnotation: "true", UserAnnotation: "ann",
		UtilityAnnotation: `{"kind":"piecewise","points":[{"t":900,"v":100},{"t":900,"v":0}]}`, epochAnnotation: "7",
		AfterAnnotation: "fetch, split", "other/deadline": "never",
	})
	require.NoError(t, err)
	assert.Equal(t, 90*time.Minute, h.deadline.After)
	assert.Equal(t, "disk=*&gpu=a100|h100 1; other 0.5", h.speeds.String())
	assert.True(t, h.checkpoint)
	assert.Equal(t, "ann", h.user)
	assert.Equal(t, []string{"fetch", "split"}, h.after)
	assert.NotNil(t, h.utility)

	h, err = parseHints(map[string]string{DeadlineAnnotation: "2026-01-02T15:04:05Z", CheckpointAnnotation: "false"})
	require.NoError(t, err)
	assert.Equal(t, time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC), h.deadline.At)
	assert.False(t, h.checkpoint)
}

func TestHintsRefused(t *testing.T) {
	for _, tt := range []struct{ name, annotation, value, want string }{
		{"a day as a deadline", DeadlineAnnotation, "tomorrow", "a duration of at least 1s"},
		{"a negative deadline", DeadlineAnnotation, "-5m", "a duration of at least 1s"},
		{"no deadline", DeadlineAnnotation, "", "a duration of at least 1s"},
		{"a utility that is none", UtilityAnnotation, `{"kind":"wish"}`, "a utility"},
		{"labels without a key", SpeedsAnnotation, "=a 1", "expected labels like"},
		{"a speed above 1", SpeedsAnnotation, "gpu=a 1.5", "a speed from 1e-6 to 1"},
		{"a speed that is not a number", SpeedsAnnotation, "other NaN", "a speed from 1e-6 to 1"},
		{"a speed of nothing", SpeedsAnnotation, "2", "expected nodes and speeds like"},
		{"a deadline of nothing", DeadlineAnnotation, "1ns", "a duration of at least 1s"},
		{"a label without a value", SpeedsAnnotation, "gpu=a100,disk 1", "expected labels like"},
		{"values of nothing", SpeedsAnnotation, "gpu=| 1", "values that are not empty"},
		{"a utility of nothing", UtilityAnnotation, `{"kind":"piecewise","points":[{"t":0,"v":-5}]}`,
			"expected a utility that is above 0 at some time"},
		{"after nothing", AfterAnnotation, "a,", "expected names of jobs, each once"},
		{"perhaps a checkpoint", CheckpointAnnotation, "yes", `"true" or "false"`},
		{"a name that is misspelt", prefix + "dedline", "5m",
			"expected one of the names deadline, utility, speeds, checkpoint, user, gang"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parseHints(map[string]string{tt.annotation: tt.value})
			var hint *HintError
			require.True(t, errors.As(err, &hint), "%v", err)
			assert.Equal(t, tt.annotation, hint.Annotation)
			assert.Equal(t, tt.value, hint.Value)
			assert.Contains(t, err.Error(), tt.want)
		})
	}
}

// TestHintsOfRunningPod: whatever is written on a running pod, the next leader still knows the job, and the job's other
// hints count.
func TestHintsOfRunningPod(t *testing.T) {
	for _, tt := range []struct {
		name, value string
		least       float64
	}{
		{SpeedsAnnotation, "gpu=* 2", 1}, {SpeedsAnnotation, "other NaN", 1}, {SpeedsAnnotation, "fast", 1},
		{SpeedsAnnotation, "gpu=* 1; other 0.5", 0.5}, {SpeedsAnnotation, "=", 1}, {DeadlineAnnotation, "-5m", 0.25},
		{prefix + "dedline", "5m", 0.25},
	} {
		x := newTester(t)
		x.node("n")
		x.pod("a", on("n", corev1.PodRunning), func(p *corev1.Pod) {
			p.Annotations[epochAnnotation], p.Annotations[attemptAnnotation], p.Annotations[sizeAnnotation] = "1", "1", "1"
			p.Annotations[CheckpointAnnotation], p.Annotations[SpeedsAnnotation] = "true", "gpu=* 1; other 0.25"
			p.Annotations[tt.name] = tt.value
		})
		v := x.see(0)
		j := v.Jobs[0]
		require.Len(t, j.Tasks, 1)
		require.NoError(t, j.Problem, tt.value)
		require.NoError(t, j.Spec.Validate(), tt.value)
		assert.InDelta(t, tt.least, j.Spec.Speeds.Least(), 0, "%s=%s", tt.name, tt.value)
		assert.True(t, j.Spec.Checkpoint)

		c, err := adapters.New(viewer{v}, adapters.Options{Epoch: 2})
		require.NoError(t, err)
		events, err := c.Events(t.Context())
		require.NoError(t, err)
		started := func(e sched.Event) bool { return e.Kind == sched.Started && e.ID == j.Spec.ID }
		assert.True(t, slices.ContainsFunc(events, started), tt.value)
	}
}

// viewer is a driver of one view.
type viewer struct{ v *adapters.View }

func (v viewer) Observe(context.Context, bool) (*adapters.View, error) { return v.v, nil }
func (v viewer) Start(context.Context, *adapters.Start) error          { return nil }
func (v viewer) Stop(context.Context, *adapters.Stop) error            { return nil }

// TestAnyValue: the value "*" is any value, as on other clusters. No label has it.
func TestAnyValue(t *testing.T) {
	for _, text := range []string{"gpu=*", " gpu = * "} {
		h, err := parseHints(map[string]string{SpeedsAnnotation: text + " 1; other 0.5"})
		require.NoError(t, err)
		assert.InDelta(t, 1, h.speeds.On(map[string]string{"gpu": "a100"}), 0)
		assert.InDelta(t, 0.5, h.speeds.On(nil), 0)
	}
}

func FuzzHints(f *testing.F) {
	f.Add("5m", "a=b|c,d=* 1; other 0.5", "{}")
	f.Add("2026-01-02T15:04:05Z", ", 1e400", "")
	f.Fuzz(func(t *testing.T, deadline, speeds, utility string) {
		h, err := parseHints(map[string]string{DeadlineAnnotation: deadline, SpeedsAnnotation: speeds,
			UtilityAnnotation: utility})
		if err != nil {
			var hint *HintError
			require.ErrorAs(t, err, &hint)
			return
		}
		assert.True(t, h.deadline.After > 0 || !h.deadline.At.IsZero())
		assert.NoError(t, (&sched.Job{ID: "a", Tasks: 1, Speeds: h.speeds}).Validate())
	})
}

// TestDeadlinesInThePast: a time that had passed when the job was made is refused. A time that passed before pods were
// recreated was missed.
func TestDeadlinesInThePast(t *testing.T) {
	at := time.Date(2026, 1, 2, 15, 0, 0, 0, time.UTC)
	made := func(after time.Duration) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.CreationTimestamp = metav1.NewTime(at.Add(after))
			p.Annotations[DeadlineAnnotation] = at.Format(time.RFC3339)
		}
	}
	x := newTester(t)
	x.pod("a", made(-time.Minute))
	j := x.only()
	require.NoError(t, j.Problem)
	assert.Equal(t, time.Minute, j.Spec.Deadline)
	x = newTester(t)
	x.pod("a", made(0))
	var hint *HintError
	require.ErrorAs(t, x.only().Problem, &hint)
	assert.Equal(t, DeadlineAnnotation, hint.Annotation)
	assert.ErrorContains(t, hint, `"2026-01-02T15:00:00Z", expected a time after the submission at 2026-01-02T15:00:00Z`)

	x = newTester(t) // of a Job that was made before, and of one that was not
	queue := func(after time.Duration) func(*batchv1.Job) {
		return func(j *batchv1.Job) {
			more := int32(10)
			j.CreationTimestamp, j.Spec.Completions = metav1.NewTime(at.Add(after)), &more
		}
	}
	x.job(2, queue(-time.Minute))
	x.pod("j-0", ofJob("0"), made(time.Minute))
	j = x.only()
	require.NoError(t, j.Problem)
	assert.Equal(t, time.Duration(1), j.Spec.Deadline)
	x.job(2, queue(time.Second))
	require.ErrorAs(t, x.see(0).Jobs[0].Problem, &hint)

	x = newTester(t) // of what makes pods anew, and is not known
	x.pod("a", group("1"), made(time.Minute), func(p *corev1.Pod) {
		yes := true
		p.OwnerReferences = []metav1.OwnerReference{{Kind: "Other", Name: "o", UID: "uid-o", Controller: &yes}}
	})
	require.NoError(t, x.only().Problem)
}
