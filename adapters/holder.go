package adapters

import (
	"crypto/rand"
	"os"
)

// NewHolder makes a name by which an instance may hold a [Lease], as [HeldError] tells it: that of its host, for who
// looks for the leader, and a random word, as in "n1_Q4ZL6FVX2M5KJ7T3RBWCYAH5OD".
func NewHolder() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return host + "_" + rand.Text()
}
