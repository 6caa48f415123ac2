//go:build linux

package process_test

import (
	"fmt"
	"os"

	"github.com/hedgesched/hedge/adapters/live"
	"github.com/hedgesched/hedge/adapters/live/process"
)

// A command runs, and leaves no output behind since it ends well.
func Example() {
	dir, err := os.MkdirTemp("", "process-*")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }() // what stays is in the temporary folder
	e, err := process.New(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = e.Close() }()
	r, err := e.Start(live.Attempt{Job: "a", Command: live.Command{Args: []string{"/bin/sh", "-c", "echo $HEDGE_JOB"}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Wait())
	// Output: <nil>
}
