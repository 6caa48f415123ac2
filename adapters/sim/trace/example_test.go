package trace_test

import (
	"errors"
	"fmt"
	"io"

	"github.com/hedgesched/hedge/adapters/sim/trace"
)

func ExampleOpen() {
	log, err := trace.Open("testdata/llnl-atlas.swf", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = log.Close() }()
	jobs := 0
	for {
		job, err := log.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		if jobs++; jobs == 1 {
			fmt.Println(job.ID, job.Tasks, job.Runtime, job.Requested, job.Outcome)
		}
	}
	fmt.Println(log.Format(), jobs, log.Skipped(), log.Header().MaxNodes)
	// Output:
	// 2634 512 15m22s 3h0m0s finished
	// swf 8 map[zero runtime:2] 1152
}

// Bad records are left out and counted; Options.Strict would refuse the log at line 2.
func ExampleReadAll() {
	log, err := trace.ReadAll("testdata/cases/s09_one_negative_runtime.swf", &trace.Options{MaxBad: 0.01})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(log.Jobs), "jobs")
	for _, b := range log.Bad {
		fmt.Printf("%d %s: line %d, %s\n", b.Count, b.Reason, b.First.Line, b.First.Found)
	}
	// Output:
	// 2 jobs
	// 1 wrong runtime: line 2, "-7"
}
