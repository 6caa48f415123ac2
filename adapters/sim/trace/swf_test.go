package trace_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim/trace"
)

func read(t *testing.T, name, format, content string) *trace.Log {
	t.Helper()
	s, err := trace.NewReader(strings.NewReader(content), name, nil, &trace.Options{Format: format})
	require.NoError(t, err)
	log, err := trace.Collect(s)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	return log
}

func TestSWFRecordsBecomeJobs(t *testing.T) {
	log := read(t, "x", "", `; Computer: Tiny
; UnixStartTime: 1000
; MaxNodes: 10
; MaxProcs: 40

 1  5 2.5 100 8 -1 -1 16 3600 -1 1 7 3 9 2 1 -1 -1
 2  6  -1  50 8 -1 -1 -1   -1 -1 0 -1 -1 -1 -1 -1 -1 -1
 3  4   0  50 1 -1 -1  1   60 -1 5 7 3 -1 -1 -1 -1 -1
 4  7   0  -1 1 -1 -1  1   60 -1 5 7 3 -1 -1 -1 -1 -1
 5  8   0   0 1 -1 -1  1   60 -1 5 7 3 -1 -1 -1 -1 -1
 6  9   0   9 -1 -1 -1 -1  60 -1 1 7 3 -1 -1 -1 -1 -1
 7 -1   0   9 1 -1 -1 1  60 -1 1 7 3 -1 -1 -1 -1 -1
 7 10   0   9 1 -1 -1 1  60 -1 3 7 3 -1 -1 -1 -1 -1
`)
	require.Equal(t, trace.SWF, log.Format)
	require.Equal(t, trace.Header{Computer: "Tiny", UnixStart: 1000, MaxNodes: 10, MaxProcs: 40}, log.Header)
	require.Equal(t, []trace.Job{
		{ID: "3", Line: 8, Submit: 4 * time.Second, Runtime: 50 * time.Second, Tasks: 1, Requested: time.Minute,
			Outcome:    trace.Killed,
			Attributes: map[string]string{"user": "7", "group": "3", "requested": "60", "tasks": "1"}},
		{ID: "1", Line: 6, Submit: 5 * time.Second, Wait: 2500 * time.Millisecond, Runtime: 100 * time.Second, Tasks: 16,
			Requested: time.Hour, Outcome: trace.Finished, Attributes: map[string]string{"user": "7", "group": "3",
				"executable": "9", "queue": "2", "partition": "1", "requested": "3600", "tasks": "16"}},
		{ID: "2", Line: 7, Submit: 6 * time.Second, Wait: trace.WaitUnknown, Runtime: 50 * time.Second, Tasks: 8,
			Outcome:    trace.Failed,
			Attributes: map[string]string{"tasks": "8"}},
	}, log.Jobs)
	require.Equal(t, map[string]int{"no runtime": 1, "zero runtime": 1, "no processors": 1, "no submission time": 1,
		"part of a job": 1}, log.Skipped)
	require.Equal(t, 1, log.Reordered)
}

func TestSWFSubmissionsInUnixTimeAreCountedFromTheStart(t *testing.T) {
	log := read(t, "x.swf", "", "; UnixStartTime: 1000000\n1 1000005 -1 10 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1\n")
	require.Equal(t, 5*time.Second, log.Jobs[0].Submit)
}
