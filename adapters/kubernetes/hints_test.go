package kubernetes

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
)

func TestHints(t *testing.T) {
	h, err := parseHints(map[string]string{
		DeadlineAnnotation: "90m", PreferAnnotation: "gpu=a100|h100,disk", SlowdownAnnotation: "1.5", CheckpointAnnotation: "true", UserAnnotation: "ann",
		UtilityAnnotation: `{"kind":"piecewise","points":[{"t":900,"v":100},{"t":900,"v":0}]}`, epochAnnotation: "7", "other/deadline": "never",
	})
	require.NoError(t, err)
	assert.Equal(t, 90*time.Minute, h.deadline)
	assert.Equal(t, sched.NodesWith("gpu", "a100", "h100").And(sched.NodesWith("disk")).String(), h.preferred.String())
	assert.InDelta(t, 1.5, h.slowdown, 0)
	assert.True(t, h.checkpoint)
	assert.Equal(t, "ann", h.user)
	assert.NotNil(t, h.utility)

	h, err = parseHints(map[string]string{DeadlineAnnotation: "2026-01-02T15:04:05Z", CheckpointAnnotation: "false"})
	require.NoError(t, err)
	assert.Equal(t, time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC), h.until)
	assert.False(t, h.checkpoint)
}

func TestHintsRefused(t *testing.T) {
	for _, tt := range []struct{ name, annotation, value, want string }{
		{"a day as a deadline", DeadlineAnnotation, "tomorrow", "a duration above 0"},
		{"a negative deadline", DeadlineAnnotation, "-5m", "a duration above 0"},
		{"no deadline", DeadlineAnnotation, "", "a duration above 0"},
		{"a utility that is none", UtilityAnnotation, `{"kind":"wish"}`, "a utility"},
		{"labels without a key", PreferAnnotation, "=a", "labels as"},
		{"a slow-down below 1", SlowdownAnnotation, "0.5", "a number from 1"},
		{"a slow-down that is not a number", SlowdownAnnotation, "NaN", "a number from 1"},
		{"a slow-down of nothing", SlowdownAnnotation, "2", "only beside"},
		{"perhaps a checkpoint", CheckpointAnnotation, "yes", `"true" or "false"`},
		{"a name that is misspelt", prefix + "dedline", "5m", "no annotation of that name"},
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

func FuzzHints(f *testing.F) {
	f.Add("5m", "a=b|c,d", "2", "{}")
	f.Add("2026-01-02T15:04:05Z", ",", "1e400", "")
	f.Fuzz(func(t *testing.T, deadline, prefer, slowdown, utility string) {
		h, err := parseHints(map[string]string{DeadlineAnnotation: deadline, PreferAnnotation: prefer, SlowdownAnnotation: slowdown, UtilityAnnotation: utility})
		if err != nil {
			var hint *HintError
			require.ErrorAs(t, err, &hint)
			return
		}
		assert.True(t, h.deadline > 0 || !h.until.IsZero())
		assert.GreaterOrEqual(t, h.slowdown, 1.0)
	})
}
