package adapters_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
)

func TestFailures(t *testing.T) {
	failed := []sched.Event{{Kind: sched.StartFailed, Err: adapters.ErrStale},
		{Kind: sched.Withdrawn, Err: errors.New("exit code 1")},
		{Kind: sched.Withdrawn, Err: fmt.Errorf("%w: %w", adapters.ErrProblem, adapters.ErrIncomplete)},
		{Kind: sched.Withdrawn, Err: fmt.Errorf("%w: by its user", adapters.ErrCancelled)}}
	c := &sched.Cycle{Failed: failed}
	assert.Equal(t, failed[:2], adapters.Failures(c))
	assert.Len(t, c.Failed, 4, "the cycle stays as it was")
}
