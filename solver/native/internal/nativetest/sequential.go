package nativetest

import "testing"

// Sequential leaves out a test of one goroutine under the race detector, which slows it down ten times and can find
// nothing in it.
func Sequential(t *testing.T) {
	t.Helper()
	if raceDetector {
		t.Skip("one goroutine, in which nothing can race")
	}
}
