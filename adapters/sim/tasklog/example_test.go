package tasklog_test

import (
	"bytes"
	"fmt"
	"time"

	"github.com/hedgesched/hedge/adapters/sim/tasklog"
)

// A simulator tells a Writer what becomes of tasks; Check reads the log again.
func Example() {
	var file bytes.Buffer
	w := tasklog.NewWriter(&file, &tasklog.Header{Policy: "fifo", Workers: 1, Slots: 1})
	w.Observe(&tasklog.Record{Kind: tasklog.Submit, Durations: []time.Duration{time.Minute}})
	w.Observe(&tasklog.Record{Kind: tasklog.Start, At: time.Second})
	w.Observe(&tasklog.Record{Kind: tasklog.Finish, At: 51 * time.Second})
	if err := w.Close(new(tasklog.Figures)); err != nil {
		fmt.Println(err)
	}
	_, err := tasklog.Check(&file, nil)
	fmt.Println(err)
	// Output: task log: record 3: wrong runtime: task 0 of job 0 ends 10s too early, at 51s
}
