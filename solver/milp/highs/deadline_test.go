//go:build (linux || darwin) && (amd64 || arm64) && !nohighs

package highs

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/hedgesched/hedge/solver/milp"
)

func TestDeadline(t *testing.T) {
	began := time.Now()
	until := func(end time.Time) context.Context {
		ctx, cancel := context.WithDeadline(t.Context(), end)
		t.Cleanup(cancel)
		return ctx
	}
	assert.Zero(t, deadline(t.Context(), milp.Options{}, began))
	assert.Equal(t, began.Add(time.Hour), deadline(t.Context(), milp.Options{Time: time.Hour}, began))
	assert.Equal(t, began.Add(time.Minute), deadline(until(began.Add(time.Minute)), milp.Options{}, began))
	assert.Equal(t, began.Add(time.Minute), deadline(until(began.Add(time.Minute)), milp.Options{Time: time.Hour}, began))
	assert.Equal(t, began.Add(time.Hour), deadline(until(began.Add(24*time.Hour)), milp.Options{Time: time.Hour}, began))
}

// TestTimeLimit: of a solve that began an hour ago with two hours, one is left to each of its instances.
func TestTimeLimit(t *testing.T) {
	var limits []float64
	lib := &library{
		setDouble: func(_ uintptr, _ string, value float64) int32 { limits = append(limits, value); return 0 },
	}
	opts := milp.Options{Time: 2 * time.Hour}
	s := &solve{lib: lib, opts: opts, end: deadline(t.Context(), opts, time.Now().Add(-time.Hour))}
	s.setTimeLimit()
	s.setTimeLimit()
	(&solve{lib: lib}).setTimeLimit()
	assert.Len(t, limits, 3)
	assert.LessOrEqual(t, limits[0], 3600.0)
	assert.Positive(t, limits[0])
	assert.LessOrEqual(t, limits[1], limits[0])
	assert.Equal(t, math.Inf(1), limits[2])
	s.end = time.Now().Add(-time.Hour)
	s.setTimeLimit()
	assert.Zero(t, limits[3], "no time is left")
}
