package adapters

import (
	"crypto/rand"
	"os"
)

// NewHolder makes a name under which an instance may hold a [Lease]. [HeldError] shows it. It consists of the host's
// name, to help whoever looks for the leader, and a random word: "n1_Q4ZL6FVX2M5KJ7T3RBWCYAH5OD".
func NewHolder() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return host + "_" + rand.Text()
}
