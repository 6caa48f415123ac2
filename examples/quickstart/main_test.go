package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
)

func TestReportGoesFirst(t *testing.T) {
	plan, err := run(time.Unix(0, 0))
	require.NoError(t, err)
	kinds := map[string]sched.Kind{}
	for _, d := range plan.Decisions {
		kinds[d.Job] = d.Kind
	}
	assert.Equal(t, map[string]sched.Kind{"report": sched.Start, "batch": sched.Defer}, kinds)
}
