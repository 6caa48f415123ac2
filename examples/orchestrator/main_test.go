package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPreemptsAndRestarts runs real processes: batch jobs are killed for the report and started
// again, the archive waits for all of the machine.
func TestPreemptsAndRestarts(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var out strings.Builder
	require.NoError(t, run(ctx, &out))
	log := out.String()
	for _, r := range requests() {
		assert.Regexp(t, r.id+` +submitted: .*predicted`, log)
		assert.Regexp(t, r.id+` +starts on slot-`, log)
		assert.Regexp(t, r.id+` +finished: ran [0-9.]+ s, predicted`, log)
	}
	assert.Contains(t, log, "deadline met")
	assert.Contains(t, log, "preempted for report")
	assert.GreaterOrEqual(t, strings.Count(log, "will start again"), 2)
	assert.Regexp(t, `archive +waits: `, log)
	assert.Regexp(t, `slot-2  [.abBrRA]+\n`, log)
}

func TestEndsWhenStopped(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	require.Error(t, run(ctx, &strings.Builder{}))
}
