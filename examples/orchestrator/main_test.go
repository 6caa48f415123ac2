package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPreemptsAndRestarts runs real processes: the batch jobs are killed for the report and
// started again.
func TestPreemptsAndRestarts(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var out strings.Builder
	require.NoError(t, run(ctx, &out))
	log := out.String()
	assert.Contains(t, log, "report    finished")
	for _, id := range []string{"batch-1", "batch-2"} {
		assert.Contains(t, log, id+"   preempted")
		assert.Equal(t, 2, strings.Count(log, id+"   started"), log)
		assert.Contains(t, log, id+"   finished")
	}
}
