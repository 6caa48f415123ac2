package main

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPreemptsAndRestarts runs real processes: batch jobs are killed for the report and started
// again, the archive waits for all of the machine. The story takes place in real time, so that a machine that is
// too busy for it may spoil the deadline; then it is played again.
func TestPreemptsAndRestarts(t *testing.T) {
	archiveWaits := regexp.MustCompile(`archive +waits: `)
	var log string
	for range 5 {
		log = played(t)
		if strings.Contains(log, "deadline met") && strings.Contains(log, "preempted for report") &&
			strings.Count(log, "will start again") >= 2 && archiveWaits.MatchString(log) {
			return
		}
	}
	t.Errorf("the story went otherwise five times; at last:\n%s", log)
}

// played is what the program says, of which some must be so on any machine.
func played(t *testing.T) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var out strings.Builder
	require.NoError(t, run(ctx, &out))
	log := out.String()
	for _, r := range requests() {
		assert.Regexp(t, r.id+` +submitted: .*predicted`, log)
		assert.Regexp(t, r.id+` +starts on slot-`, log)
		assert.Regexp(t, r.id+` +finished: ran [0-9.]+ s, predicted`, log)
	}
	assert.Regexp(t, `slot-2  [.abBrRA]+\n`, log)
	return log
}

func TestEndsWhenStopped(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	require.Error(t, run(ctx, &strings.Builder{}))
}
