package milptest_test

import (
	"fmt"
	"testing"

	"github.com/hedgesched/hedge/solver/milp/milptest"
	"github.com/hedgesched/hedge/solver/milp/milptest/reference"
)

// A backend's test, at a time when its starts are not done yet.
func ExampleRun() {
	conformance := func(t *testing.T) { // TestConformance of the backend's package
		milptest.Run(t, reference.New(), milptest.Config{Skip: map[string]string{
			"call:start":         "starts are handed over, and not asked for",
			"call:partial start": "the solver takes whole points only",
		}})
	}
	_ = conformance
	fmt.Println(milptest.Cases()[0])
	// Output: lp:optimal
}
