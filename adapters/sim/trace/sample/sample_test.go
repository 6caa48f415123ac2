package sample_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim/trace"
	"github.com/hedgesched/hedge/adapters/sim/trace/sample"
)

func TestTheLogIsWholeAndSmall(t *testing.T) {
	r, err := sample.Open()
	require.NoError(t, err)
	log, err := trace.Collect(r)
	require.NoError(t, err)
	require.Len(t, log.Jobs, 10_651)
	tasks, outcomes := 0, map[trace.Outcome]int{}
	for _, j := range log.Jobs {
		tasks += j.Tasks
		outcomes[j.Outcome]++
		require.NotEmpty(t, j.Attributes["user"])
		require.NotEmpty(t, j.Attributes["logical_name"])
		require.Zero(t, j.Submit%(10*time.Millisecond))
	}
	require.Equal(t, 285_591, tasks)
	require.Equal(t, map[trace.Outcome]int{trace.Finished: 9_569, trace.Killed: 1_047, trace.Failed: 34, trace.Unknown: 1},
		outcomes)
	require.Zero(t, log.Reordered)
	require.Equal(t, trace.Job{ID: "6251639646", Line: 2, Submit: 604_050 * time.Millisecond, Wait: trace.WaitUnknown,
		Runtime: 69_680 * time.Millisecond, Tasks: 1, Demand: map[string]float64{"cpu": 0.0625, "memory": 0.0159},
		Attributes: map[string]string{"user": "u81", "class": "1", "priority": "9", "name": "n3675", "logical_name": "l3591",
			"cpu": "0.0625", "memory": "0.0159", "tasks": "1"}, Outcome: trace.Finished}, log.Jobs[0])
	file, err := os.ReadFile("google2011.csv.gz")
	require.NoError(t, err)
	require.LessOrEqual(t, len(file), 500_000)
	require.Equal(t, sha256.Sum256(file), sample.Digest())
}

func ExampleOpen() {
	r, err := sample.Open()
	if err != nil {
		fmt.Println(err)
		return
	}
	job, err := r.Read()
	fmt.Println(job.ID, job.Tasks, job.Runtime, job.Attributes["user"], err)
	// Output: 6251639646 1 1m9.68s u81 <nil>
}
