package ticks_test

import (
	"fmt"
	"os"
	"time"

	"github.com/hedgesched/hedge/adapters/live/ticks"
)

// Two attempts of a task leave one trace.
func ExamplePublish() {
	dir, err := os.MkdirTemp("", "ticks-*")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }() // what stays is in the temporary folder
	for range 2 {
		ticks.Work(3*time.Millisecond, time.Millisecond, time.Now, time.Sleep)
		if err := ticks.Publish(dir, "job", 7); err != nil {
			fmt.Println(err)
		}
	}
	entries, err := os.ReadDir(dir)
	fmt.Println(len(entries), entries[0].Name(), err)
	// Output: 1 job.7 <nil>
}
