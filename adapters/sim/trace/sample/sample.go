// Package sample holds the log that is read when none is given: the jobs of the
// first 19 hours of Google's 2011 trace, built in. README.md says where it is from.
package sample

import (
	"bytes"
	"crypto/sha256"
	_ "embed"

	"github.com/hedgesched/hedge/adapters/sim/trace"
)

//go:embed google2011.csv.gz
var google2011 []byte

// Name is what errors and reports call the log.
const Name = "google2011 (built in)"

// Digest is the SHA-256 of the log, which differs where another version of this package has another log.
func Digest() [sha256.Size]byte { return sha256.Sum256(google2011) }

// Open returns a new reader of the log: 10,651 jobs in order of submission, with task
// counts, mean task runtimes, outcomes, requests and attributes. Each call's reader stands alone.
func Open() (trace.Reader, error) {
	s, err := trace.NewReader(bytes.NewReader(google2011), Name, nil, &trace.Options{Format: trace.HedgeCSV, Strict: true})
	if err != nil {
		return nil, err
	}
	return s, nil
}
