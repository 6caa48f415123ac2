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
